#!/bin/bash
# llmload against a real server, llama.cpp's, with a model of random weights: its counts, its times, its readiness, its death. Nothing here depends on how
# fast the machine is: what is compared are counts, and times that the one must contain the other.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/llmfake.sh"
cd "$WORK" || exit
if ! python=$(venv_python llama 900 xllamacpp==2026.10.11549 gguf==0.19.0); then
    skip "llama.cpp's server is measured" "$python"
    done_testing
    exit
fi
ok "a model of random weights" "$python" "$TESTLIB/llama-model.py" model.gguf
port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
serve() { llm_start env OMP_NUM_THREADS=1 "$python" "$TESTLIB/llama-serve.py" model.gguf "$port"; }
load() { timeout 900 "$LOAD" --url "http://127.0.0.1:$port" -q "$@"; }
server_has() { curl -s --max-time 60 "http://127.0.0.1:$port/metrics" | awk -v name="llamacpp:$1" '$1 == name {print $2}'; }
totals() # what the server has counted: prompts' tokens (those of its cache too), answers' tokens, seconds for either
{
    echo "$(($(server_has prompt_tokens_total) + $(server_has prompt_tokens_cached_total))) $(server_has tokens_predicted_total)" \
        "$(server_has prompt_seconds_total) $(server_has tokens_predicted_seconds_total)"
}

# ---- readiness: llmload is there before the server ----
timeout 900 "$LOAD" --url "http://127.0.0.1:$port" -q -n 4 --max-tokens 8 --wait-ready 10m --json >waited.json 2>waited.err & # no function: its end would be this script's
waiter=$!
sleep 1
serve
ok "the server listens" [ -n "$url" ]
wait "$waiter"
is "a load that waited for the server" "$? $(jq -c '[.completed, .failed, .model_id, .server_kind]' waited.json)" '0 [4,0,"model.gguf","llama.cpp"]'
ok "  its gates were passed one after the other, at the first try none" \
    jq -e '.server_ready_tries > 4 and 0 < .server_ready_connect_s and .server_ready_connect_s <= .server_ready_health_s and
        .server_ready_health_s <= .server_ready_model_s and .server_ready_model_s < .server_ready_first_answer_s' waited.json

# ---- both APIs, streamed and not, one and four at a time: the server's totals are ours ----
for api in openai-chat openai-completions; do
    for stream in '' --no-stream; do
        for c in 1 4; do
            read -r in0 out0 prompt0 answer0 <<<"$(totals)"
            # shellcheck disable=SC2086 # an option or nothing
            load --api $api $stream -c $c -n 12 --input-tokens 5-40 --max-tokens 24 --json >out.json 2>err
            status=$?
            read -r in1 out1 prompt1 answer1 <<<"$(totals)"
            what="$api ${stream:-streamed}, $c at a time"
            is "$what: all completed, tokens are the server's own" \
                "$status $(jq -r '[.completed, .failed, .total_input_tokens, .total_output_tokens, .tokens.input_source, .tokens.output_source] | join(" ")' out.json)" \
                "0 12 0 $((in1 - in0)) $((out1 - out0)) usage usage"
            [ $c = 1 ] || continue
            # What the server says it worked lies within what the client saw; 10 ms for the server's rounding. A client that was late states no mean.
            ok "$what: the server's seconds are within the client's" \
                jq -e --argjson p "$prompt1" --argjson p0 "$prompt0" --argjson a "$answer1" --argjson a0 "$answer0" \
                '(.mean_e2el_ms == null and .client.was_bottleneck) or (.mean_e2el_ms * .completed / 1000 + 0.01) as $all | $p - $p0 > 0 and $all >= ($p - $p0) + ($a - $a0)' out.json
            [ -n "$stream" ] || ok "$what: so are those before the first token; gaps are of the server's size" \
                jq -e --argjson p "$prompt1" --argjson p0 "$prompt0" --argjson a "$answer1" --argjson a0 "$answer0" \
                '((.mean_ttft_ms == null or .mean_tpot_ms == null) and .client.was_bottleneck) or
                    (.mean_ttft_ms * .completed / 1000 + 0.01 >= $p - $p0 and (.mean_tpot_ms * (.total_output_tokens - .completed) / 1000 / ($a - $a0) | . > 0.1 and . < 10))' out.json
        done
    done
done
load -n 2 --input-tokens 5000 --json >out.json 2>err
is "prompts that are too long for it: refused by it, and told" "$? $(jq -c '[.completed, .failed, .endings]' out.json)" '1 [0,2,{"http_4xx":2}]'
like "  in its words" "$(jq -r '.first_errors.http_4xx' out.json)" 'exceed.*context|context size'
timeout 900 "$LOAD" --url "http://127.0.0.1:$port/v1?api-version=1" -n 2 --max-tokens 2 --wait-ready 60s -q --json >out.json 2>err
is "an address with /v1 and a query" "$? $(jq -c '[.completed, .failed, .url, .server_ready_health_s > 0]' out.json)" "0 [2,0,\"http://127.0.0.1:$port/v1?…\",true]"

# ---- its own figures, read while it works ----
load -n 30 -c 4 --max-tokens 16 --scrape 100ms --scrape-file readings --json >out.json 2>err
is "its /metrics is read, and agrees" "$? $(jq -c '[.server_readings_failed, .server_metrics.prompt_tokens == .total_input_tokens, .server_metrics.generation_tokens == .total_output_tokens,
    .server_metrics.decode_s > 0, .server_metrics.requests_running.max >= 0, .server_kind]' out.json)" '0 [0,true,true,true,true,"llama.cpp"]'

# ---- it dies in the middle ----
timeout 900 "$LOAD" --url "http://127.0.0.1:$port" -q -c 4 -n 100000 --max-tokens 16 --server-pid "$server" --records records --json >out.json 2>err &
loader=$!
wait_until '[ -e records ] && [ "$(wc -l <records)" -gt 8 ]' 600
kill -KILL "$server"
wait "$loader"
is "the server is killed: the run ends early, with what it has" "$? $(jq -c '[.completed > 8, .completed < 100000, .client.ended_early]' out.json)" '0 [true,true,"the server is gone"]'
like "  and says why" "$(jq -r .server_gone out.json)" 'is gone|refused'
is "  each request has its record" "$(jq -r .metadata.benchmark_phase records | wc -l)" "$(jq '.endings | add' out.json)"
done_testing
