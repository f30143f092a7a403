#!/bin/bash
# llmload against a real Ollama with a model of random weights: its own two APIs and the one it shares with others, streamed and not. The counts are those of
# an independent client for the same prompt, and nothing here depends on how fast the machine is.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/llmfake.sh"
. "$TESTLIB/ollama.sh"
cd "$WORK" || exit
if ! python=$(venv_python llama 900 xllamacpp==2026.10.11549 gguf==0.19.0); then
    skip "Ollama is measured" "$python"
    done_testing
    exit
elif ! ollama_ready; then
    skip "Ollama is measured" "$ollama_why"
    done_testing
    exit
fi
"$python" "$TESTLIB/llama-model.py" model.gguf
port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
export OLLAMA_HOST=127.0.0.1:$port OLLAMA_MODELS=$WORK/models OLLAMA_NOHISTORY=1 OLLAMA_NO_CLOUD=1 HOME=$WORK
"$ollama" serve >serve.out 2>&1 &
server=$!
llm_pids="$llm_pids $server"
wait_until 'curl -s "http://$OLLAMA_HOST/api/version" >version'
printf 'FROM ./model.gguf\nPARAMETER num_ctx 1024\n' >Modelfile
ok "Ollama takes a model of random weights" timeout 300 "$ollama" create tiny -f Modelfile
load() { timeout 900 "$LOAD" --url "http://$OLLAMA_HOST" -m tiny -q "$@"; }

ok "readiness: its gates are passed" sh -c 'timeout 900 "$1" --url "http://$OLLAMA_HOST" -m tiny --api ollama-chat -q -n 2 --max-tokens 4 --wait-ready 5m --json >ready.json 2>err' sh "$LOAD"
is "… and it is known" "$(jq -r '[.completed, .server_kind, .server_version] | join(" ")' ready.json)" "2 ollama $(jq -r .version version)"

# What an independent client gets for one prompt, at temperature 0: tokens of prompt and answer.
echo '{"prompt":"ka lo mi ter shi ran"}' >prompts.jsonl
curl -s "http://$OLLAMA_HOST/api/generate" -d '{"model":"tiny","prompt":"ka lo mi ter shi ran","stream":false,"options":{"num_predict":24,"temperature":0,"seed":1}}' >one.json
prompt_tokens=$(jq .prompt_eval_count one.json) answer_tokens=$(jq .eval_count one.json)
ok "an independent client is answered ($prompt_tokens and $answer_tokens tokens)" [ "${answer_tokens:-0}" -gt 0 ]
for api in ollama-generate ollama-chat openai-chat openai-completions; do
    for stream in '' --no-stream; do
        # shellcheck disable=SC2086 # an option or nothing
        load --api $api $stream -c 2 -n 6 --dataset prompts.jsonl --max-tokens 24 --json >out.json 2>err
        status=$?
        what="$api ${stream:-streamed}"
        is "$what: all completed, tokens by its own count" "$status $(jq -c '[.completed, .failed, .tokens.input_source, .tokens.output_source]' out.json)" '0 [6,0,"usage","usage"]'
        case $api in
        ollama-generate) is "$what: prompts have the tokens that the other client was told" "$(jq .total_input_tokens out.json)" $((6 * prompt_tokens)) ;;
        *) ok "$what: every prompt has tokens" jq -e '.total_input_tokens >= 6' out.json ;;
        esac
        ok "$what: no answer is longer than was asked for" jq -e '.total_output_tokens > 0 and .total_output_tokens <= 6 * 24' out.json
        [ -n "$stream" ] || ok "$what: the first token comes before the last" jq -e '.mean_ttft_ms > 0 and .mean_ttft_ms <= .mean_e2el_ms' out.json
    done
done
load --api ollama-chat -n 8 -c 2 --input-tokens 5 --max-tokens 8 --scrape 100ms --json >out.json 2>err
is "what it has loaded is read (/api/ps)" "$? $(jq -c '[.completed, .server_readings_failed]' out.json)" '0 [8,0]'
load -m other --api ollama-chat -n 2 --max-tokens 4 --json >out.json 2>err
is "a model that is not there: refused, and told" "$? $(jq -c '[.completed, .failed]' out.json)" '1 [0,2]'
like "… in its words" "$(jq -r '.first_errors[]' out.json)" 'not found'
kill "$server"
wait "$server" 2>/dev/null
load --api ollama-chat -n 2 --json >out.json 2>err
is "a server that has gone" "$? $(jq -c '[.completed, .failed]' out.json)" '1 [0,2]'
done_testing
