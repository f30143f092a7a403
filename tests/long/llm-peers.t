#!/bin/sh
# llmload and vLLM's own bench client ask the same server: the same names, the same counts, and where the definitions are the same the same figures.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/llmfake.sh"
. "$TESTLIB/vllm.sh"
cd "$WORK" || exit
if ! vllm_ready; then
    skip "vLLM's client is compared with" "$vllm_why"
    done_testing
    exit
fi

# No role chunk, which vLLM takes for a first token. Times are so long that what an interpreter on a busy machine adds to them stays small beside them.
llm_start "$FAKE" --ttft 2s --itl 60ms --role none
real="chrt -f 1" # before the machine's other work, where that is allowed
$real true 2>/dev/null || real=
for attempt in 1 2 3 4 5; do
    vllm_bench "$url" theirs.json --num-prompts 8 --max-concurrency 4 --output-len 20 --save-detailed >theirs.log 2>&1
    status=$?
    # shellcheck disable=SC2086 # words
    $real "$LOAD" --url "$url" -m fake -c 4 -n 8 --max-tokens 20 --json -q >ours.json 2>err
    status="$status $?"
    is_late=$(jq .client.was_bottleneck ours.json)
    [ "$is_late" != true ] || continue # it states no means
    jq -n --slurpfile a ours.json --slurpfile b theirs.json '[("mean_ttft_ms", "median_ttft_ms", "mean_tpot_ms", "median_tpot_ms", "mean_itl_ms", "mean_e2el_ms", "duration", "request_throughput",
        "output_throughput") | {key: ., value: ($a[0][.] / $b[0][.] - 1 | fabs)}] | from_entries' >apart.json
    jq -e 'all(.[]; . < 0.2)' apart.json >/dev/null && break
done
is "both have ended well" "$status" '0 0'
counts='[.completed, .failed, .total_output_tokens, .num_prompts, .model_id, .request_rate, .max_concurrency]'
is "the same counts, in the same words" "$(jq -c "$counts" ours.json)" "$(jq -c "$counts" theirs.json)"
if [ "$is_late" = true ]; then
    skip_here "times and rates are less than a fifth apart" "the machine is busy: $(jq -r .client.bottleneck ours.json)"
else
    is "times and rates are less than a fifth apart" "$(jq -c 'with_entries(select(.value >= 0.2))' apart.json)" '{}'
fi
ok "its means are what our definitions make of its own times" jq -e 'def mean: add / length; def is(a): (. / a - 1 | fabs) < 1e-6;
    (.mean_ttft_ms | is($r.ttfts | mean * 1e3)) and (.mean_itl_ms | is([$r.itls[][]] | mean * 1e3)) and (.request_throughput | is($r.completed / $r.duration)) and
    (.mean_tpot_ms | is([range($r.completed) as $i | ($r.itls[$i] | add) / ($r.output_lens[$i] - 1)] | mean * 1e3)) and (.output_throughput | is($r.total_output_tokens / $r.duration))' \
    --argjson r "$(cat theirs.json)" theirs.json
# Not ours: its name for the API, a free label, its tokenizer, seconds of audio.
is "every figure of its result stands in ours, under its name" \
    "$(jq -rn --slurpfile a ours.json --slurpfile b theirs.json '$b[0] | to_entries[] | select(.value | type != "array") | .key as $k | select($a[0] | has($k) | not) | $k' | tr '\n' ' ')" \
    'endpoint_type label tokenizer_id rtfx '
echo "# shares apart, in attempt $attempt: $(jq -c . apart.json 2>/dev/null)"

# In-band errors: vLLM's client counts them as completed, llmload does not.
llm_stop
llm_start "$FAKE" --fault in-band
vllm_bench "$url" theirs.json --num-prompts 6 --max-concurrency 2 --output-len 8 >theirs.log 2>&1
"$LOAD" --url "$url" -m fake -c 2 -n 6 --max-tokens 8 --json -q >ours.json 2>err
is "requests that all failed in-band are failed requests" "$(jq -c '[.completed, .failed]' ours.json)" '[0,6]'
echo "# vLLM's client: $(jq -c '{completed, failed}' theirs.json)"
llm_stop
done_testing
