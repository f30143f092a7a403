#!/bin/sh
# llmload against a service of known timing that shares no code with it: counts, tokens and times are the service's own.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/llmfake.sh"

TIMED=$BUILD/tests/lib/llm-timed
long_tests && levels='100 1000 10000' || levels=40
for n in $levels; do
    itl=10 tokens=20 rounds=3
    [ "$n" -lt 10000 ] || itl=400 # 25,000 events per second
    llm_start "$TIMED" 50 $itl $tokens "$WORK/log"
    "$LOAD" --url "$url" -m timed --concurrency "0-$n@1s,$n" --requests $((n * rounds)) --max-tokens $tokens --records "$WORK/records" --json >"$WORK/out.json" 2>"$WORK/err"
    is "$n streams: exit status" $? 0
    llm_stop
    python3 "$TESTLIB/llm-compare.py" "$WORK/records" "$WORK/log" >"$WORK/compare.json"
    is "$n streams: every request was counted, tokens are the service's" \
        "$(jq -c '[.completed, .failed, .total_output_tokens, .total_input_tokens]' "$WORK/out.json")" \
        "[$((n * rounds)),0,$(jq .server_tokens "$WORK/compare.json"),$((n * rounds * 11))]"
    is "$n streams: the service says the same" "$(jq -c '[.server_requests, .missing]' "$WORK/compare.json")" "[$((n * rounds)),0]"
    # Medians: single events may be late on a busy machine, on either side.
    ok "$n streams: gaps are right to 0.1 ms" jq -e '.compared > 20 and .error_median_ms < 0.1' "$WORK/compare.json"
    ok "$n streams: no token before its time" jq -e '.median_ttft_ms >= 50 and .metrics.ttft.min >= 49.9' "$WORK/out.json"
    ! long_tests || ok "$n streams: throughput is the service's within 5 %" jq -e --slurpfile s "$WORK/compare.json" '(.duration / ($s[0].server_span_s + 0.05) - 1) | fabs < 0.05' "$WORK/out.json"
    [ -z "${LLM_SHOW:-}" ] || cat "$WORK/compare.json"
done

is 'vLLM names of the result' "$(jq -c '[has("date","model_id","request_rate","max_concurrency","duration","completed","failed","total_input_tokens","request_throughput",
    "output_throughput","median_ttft_ms","mean_ttft_ms","p99_ttft_ms","mean_tpot_ms","mean_itl_ms","p99_itl_ms","std_itl_ms","mean_e2el_ms")] | unique' "$WORK/out.json")" '[true]'
is 'every figure has its definition' "$(jq '[.metrics[] | .definition | length > 10] | all' "$WORK/out.json")" true

# All dialects and framings, from llmfake: nothing is lost, nothing counted twice. All at once: only counts are compared.
pids='' n=0
for how in '--split 7 --line-end crlf' '--line-end cr --by-close --comments' '--close --usage every --reasoning' '--usage with-choices --no-done --per-chunk 3 --role none'; do
    # shellcheck disable=SC2086 # words
    llm_start "$FAKE" --ttft 1ms --itl 200us $how
    n=$((n + 1))
    eval "how$n=\$how said$n=\$said server$n=\$server"
    for api in openai-chat openai-completions ollama-chat ollama-generate triton-generate; do
        "$LOAD" --url "$url" --api $api --model m -c 3 -n 20 --max-tokens 12 --json >"$WORK/$n.$api" 2>/dev/null &
        pids="$pids $!"
    done
done
# shellcheck disable=SC2086 # several
wait $pids
for n in 1 2 3 4; do
    eval "how=\$how$n said=\$said$n server=\$server$n"
    llm_stop
    is "five APIs, llmfake $how" "$(cd "$WORK" && jq -r '"\(.completed) \(.failed) \(.total_output_tokens) \(.tokens.output_source)"' $n.openai-chat $n.openai-completions $n.ollama-chat $n.ollama-generate $n.triton-generate | tr '\n' ' ' | sed 's/20 0 80 chunks $/20 0 240 chunks /')" '20 0 240 usage 20 0 240 usage 20 0 240 usage 20 0 240 usage 20 0 240 chunks '
    is '  and llmfake counted the same' "$(jq -c '[.requests >= 100, .output_tokens >= 1200]' "$said")" '[true,true]'
done
"$LOAD" selftest --streams 20 --json >"$WORK/selftest" 2>&1 &
selftest=$!
llm_start "$FAKE" --unix "$WORK/socket"
"$LOAD" --url "unix:$WORK/socket" -c 2 -n 20 --max-tokens 5 --no-stream --json >"$WORK/out.json"
is 'a percentile from too few samples is not told, and why' "$(jq -c '[.metrics.e2el["p99.9"].value, (.metrics.e2el["p99.9"].reason | test("needed"))]' "$WORK/out.json")" '[null,true]'
is '  under the names of vLLM readers find numbers all the same' "$(jq -c '.metrics.e2el as $m | [.["p99.9_e2el_ms"], .p99_e2el_ms, .p90_e2el_ms | if $m.not_known > 0 then . // 0 else . end] + [.std_e2el_ms, .burstiness, .duration, .total_input_tokens] | map(type) | unique' "$WORK/out.json")" '["number"]'
is 'an answer in one piece has no first token' "$(jq -c '[.median_ttft_ms, .metrics.ttfo.n, .median_e2el_ms > 0 or .metrics.e2el.not_known > 0]' "$WORK/out.json")" '[null,0,true]'
is 'a Unix socket, not streamed' "$(jq -c '[.completed, .total_output_tokens, .client.clock]' "$WORK/out.json")" \
    '[20,100,"after the read"]'
llm_stop
like '--define says what the metrics are' "$(llm_start "$FAKE"; "$LOAD" --url "$url" -n 20 --max-tokens 4 --define; llm_stop)" '^  ttft +time to first token: actual send'

# Every figure computed anew, from what is written down of each request.
llm_start "$FAKE" --ttft 20ms:0.4 --itl 3ms:0.6 --fault 503:0.05 --fault short:0.1
"$LOAD" --url "$url" --rate 120 --arrivals constant -c 40 -w 500ms -d 2s --max-tokens 20 --ignore-eos --goodput ttft:30,tpot:4 --threads 2 \
    --records "$WORK/records" --csv "$WORK/rows" --schedule-out "$WORK/arrivals" --json >"$WORK/out.json" 2>"$WORK/err"
is 'counts, percentiles, intervals, goodput, concurrency: as computed from the records' "$? $(python3 "$TESTLIB/llm-recount.py" "$WORK/out.json" "$WORK/records" "$WORK/rows" "$WORK/arrivals" 2>&1)" '0 '
llm_stop

wait "$selftest"
is 'selftest compares llmload with llmfake' "$(jq -c '[.selftest[0].completed > 0, .selftest[0].failed, .selftest[0].gaps > 50, .selftest[0].itl_error_mean_ms != null]' "$WORK/selftest")" '[true,0,true,true]'
done_testing
