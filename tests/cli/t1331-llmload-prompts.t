#!/bin/sh
# t1331: what llmload sends and writes beside its result: prompts of every source, scoring, readiness, the server's figures, records, CSV, plots, compare.
# sanitizer: long, because a Python server answers
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/llm.sh"
cd "$WORK" || exit 1
command -v jq >/dev/null || { skip "llmload's prompts" "jq is not installed"; done_testing; exit; }
load() { timeout 300 "$LLMLOAD" --url "$url" -c 2 --max-tokens 5 "$@" 2>err; }
get() { jq -r "$1" out; }

llm_server --log sent --slow-start 0.5
load -n 12 --wait-ready 20s --scrape 100ms --scrape-file readings --records rec.jsonl --csv rec.csv --plots plots --input-tokens 20-30 --output-tokens 3 --json >out
is "status" "$?" 0
is "all completed" "$(get .completed)" 12
is "tokens are the server's own" "$(get .server_metrics.generation_tokens)/$(get .server_metrics.prompt_tokens)" "$(get .total_output_tokens)/$(get .total_input_tokens)"
is "answers as long as was asked" "$(get .total_output_tokens)" 36
ok "gates in order, the slow one waited for" jq -e '.server_ready_connect_s < .server_ready_health_s and .server_ready_health_s > 0.1 and .server_ready_first_answer_s >= .server_ready_model_s' out
is "kind, version, settings; no keys" "$(get '.server_kind, .server_version, .server_settings.max_model_len, .server_settings.api_key' | tr '\n' ' ')" "vllm 0.99.1 4096 null "
is "no setting whose name says secret in any case" "$(get '.server_settings | [.tokenizer, (.[] | select(. == "secret"))] | tojson')" '["auto"]'
is "the model was found" "$(get .model_id)" tiny
is "gauges of several label sets are added" "$(get '.server_metrics.requests_running.min >= 1')" true
is "lines of the page that are no metric are counted" "$(get '.server_lines_malformed > 0')" true
ok "readings are JSON lines" jq -e '."vllm:kv_cache_usage_perc" == 0.25' readings
is "records: one a request, in AIPerf's form" "$(jq -r '[.metadata.benchmark_phase, .metrics.output_sequence_length.value, (.metrics.inter_chunk_latency.value | length), (if .metadata.first_token_early_ns then "ms" else .metrics.time_to_first_token.unit end), .error] | join(" ")' rec.jsonl | sort | uniq -c | tr -s ' ')" " 12 profiling 3 2 ms "
is "CSV: a head and a line each" "$(wc -l <rec.csv) $(awk -F, '{print NF}' rec.csv | sort -u)" "13 32"
ok "plots are XML" "${PYTHON:-python3}" -c 'import sys, xml.dom.minidom as m; [m.parse("plots/%s.svg" % n) for n in ("ttft", "itl", "tpot", "e2el", "time", "tokens")]'
is "prompts had 20 to 30 words" "$(sed 1d sent | jq -r '.messages[0].content | split(" ") - [""] | length' | awk '$1 < 20 || $1 > 30' | wc -l)" 0
cp out a.json

load -n 12 --wait-ready 5s --input-tokens 20-30 --output-tokens 3 --records rec2.jsonl --json >out
is "the same seed sends the same" "$(sed -n 2,13p sent | jq -c .messages | sort | sha256sum)" "$(sed -n 15,26p sent | jq -c .messages | sort | sha256sum)"
like "compare: a table" "$("$LLMLOAD" compare a.json out)" '^request.throughput +op/s +[0-9]'
is "compare: conditions are the same" "$("$LLMLOAD" compare --json a.json out | jq -c .keys.differing.measured)" "[]"
jq -c '.mean_ttft_ms //= 1' a.json >known.json # a busy client does not know it
jq -c '.request_throughput /= 2 | .mean_ttft_ms *= 3' known.json >slow.json
"$LLMLOAD" compare --gate known.json slow.json >/dev/null 2>&1
is "compare: --gate on a regression" "$?" 3
echo '{}' >bad.json
like "compare: what is no result" "$("$LLMLOAD" compare a.json bad.json 2>&1)" 'bad.json: no rules know this output'

cat >rows.jsonl <<'E'
{"prompt": "one", "output_tokens": 2}
{"messages": [{"role": "user", "content": "two"}, {"role": "assistant", "content": "old answer"}]}
{"conversations": [{"from": "human", "value": "three"}, {"from": "gpt", "value": "x"}]}
E
: >sent
load -n 6 --dataset rows.jsonl --json >out
is "a data set, each row twice" "$(jq -r '.messages[-1].content' sent | sort | uniq -c | tr -s ' ' | tr '\n' ' ')" " 2 one  2 three  2 two "
is "its name and hash are in the result" "$(get .load.dataset_sha256)" "$(sha256sum rows.jsonl | cut -d' ' -f1)"
# What a row says of its request goes with it: also of a whole body, for Ollama under its names; options of llmload go before.
cat >tools.jsonl <<'E'
{"messages": [{"role": "user", "content": "t"}], "tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "auto", "temperature": 0.25, "id": 7}
{"body": {"model": "x", "messages": [{"role": "user", "content": "b"}], "response_format": {"type": "json_object"}, "max_tokens": 3, "seed": 5, "stream": false}}
{"conversations": [{"from": "human", "value": "s"}], "tools": "[{\"type\": \"function\"}]", "top_p": 0.5}
{"messages": [{"role": "user", "content": "c"}, {"role": "assistant", "tool_calls": [{"id": "1"}]}, {"role": "tool", "tool_call_id": "1", "content": "r"}]}
E
: >sent
load -n 4 --dataset tools.jsonl --json >out
is "rows keep tools, tool_choice, temperature, the form of the answer, sampling" "$(jq -c '[.messages[0].content, (.tools | length), .tool_choice, .temperature, .response_format.type, .seed, .top_p, .max_tokens, .model, .stream, .id]' sent | sort)" \
    '["b",0,null,null,"json_object",5,null,3,"tiny",true,null]
["c",0,null,null,null,null,null,5,"tiny",true,null]
["s",1,null,null,null,null,0.5,5,"tiny",true,null]
["t",1,"auto",0.25,null,null,null,5,"tiny",true,null]'
echo '{"question": "q", "choices": ["x", "y"], "temperature": 1, "seed": 9, "min_tokens": 2, "stop_token_ids": [7], "ignore_eos": true, "logprobs": true}' >choices.jsonl
: >sent
load -n 1 --dataset choices.jsonl --json >out
is "... so do rows of choices that are not scored" "$(jq -c '[.messages[0].content, .temperature, .seed, .min_tokens, .stop_token_ids, .ignore_eos, .logprobs]' sent)" '["q",1,9,2,[7],true,true]'
: >sent
load -n 2 --dataset tools.jsonl --temperature 1 --body '{"tool_choice": "none"}' --json >out
is "... unless an option says it for all" "$(jq -c '[.temperature, .tool_choice]' sent | sort -u)" '[1,"none"]'
load -n 4 --dataset tools.jsonl --api openai-completions >out
like "... and what an API does not have is named with its line" "$(cat err)" 'tools.jsonl, line 1: "tools": the completions API has no such member'
printf '{"prompt": "o", "response_format": {"type": "json_schema"}}\n' >form.jsonl
load --api ollama-chat --model tiny --dataset form.jsonl -n 1 >out
like "a form of the answer that Ollama does not have is refused" "$(cat err)" 'form.jsonl, line 1: "response_format": Ollama.s own API has json_schema with a schema, json_object and text, got type "json_schema"'
printf '{"body": {"messages": [{"role": "user", "content": "o"}], "response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}, "temperature": 0.5, "repetition_penalty": 2}}\n' >ollama.jsonl
load --api ollama-chat --model tiny --dataset ollama.jsonl -n 1 --path /v1/gateway/chat/completions >out
is "... by Ollama's names" "$(tail -n 1 sent | jq -c '[.format, .options]')" '[{"type":"object"},{"num_predict":5,"temperature":0.5,"repeat_penalty":2}]'
printf '{"prompt": "a"}\n{"prompt": }\n' >bad.jsonl
load -n 2 --dataset bad.jsonl >out
is "a malformed row: status" "$?" 1
like "a malformed row: line and column" "$(cat err)" 'bad.jsonl, line 2: column 12: not valid JSON'
llm_end
llm_server --metrics-fail 1
load -n 12 --scrape 100ms --json >out
is "counters of a part of the run are missing, with the reason" "$(get '[.server_metrics.generation_tokens, .server_readings_failed, .server_counters_missing] | tojson')" \
    '[null,1,"the reading before the load failed: a part of it is not counted"]'
# Requests that the user does not say are no two the same, nor those of two levels: the server's cache has none of them. One prompt for all is in it.
llm_end
llm_server --cache --log sent
: >sent
load -n 30 --json >out
is "default prompts: few words come from the server's cache" "$(get '[.tokens.cached < 10, .tokens.cached_share < 0.05, .metrics.ttft.cached_prompt_share == .tokens.cached_share] | all') $(jq -r '.messages[0].content' sent | sort -u | wc -l) $(jq -r '.messages[0].content | length' sent | sort -u | wc -l)" "true 30 1"
load -n 5 --sweep 1,2 --input-tokens 40 --json >out
is "... nor those of the next level of a sweep" "$(get '.tokens.cached < 10')" true
load -n 5 --prompt "one text" >out
like "... and what came from the cache is printed with the first token" "$(cat out)" '^  first token: 80 % of the prompt tokens came from the server.s cache$'
llm_end
llm_server --log sent
load -n 2 --dataset rows.jsonl --input-tokens 5
is "two sources: status" "$?" 125
: >sent
load -n 1 --wait-ready 20s --max-field max_completion_tokens >out
is "the request that waits asks by --max-field too" "$(jq -s -c 'map([.max_completion_tokens, .max_tokens])' sent)" "[[1,null],[5,null]]"

printf '%s\n' '{"question": "q", "choices": ["x", "y"], "answer": "B"}' '{"question": "r", "choices": ["x", "y"], "answer": 0}' >choices.jsonl
load --dataset choices.jsonl --score letters --json >out
is "scored by letters" "$(get '[.score_scored, .score_accuracy] | join(" ")')" "2 0.5"
printf '%s\n' '{"ctx": "a b", "endings": ["wrong way", "right way"], "label": 1}' '{"ctx": "a b", "endings": ["right one", "wrong one"], "label": "1"}' >endings.jsonl
load --api openai-completions --dataset endings.jsonl --score endings --json >out
is "scored by endings" "$(get '[.completed, .score_scored, .score_accuracy, .score_accuracy_norm] | join(" ")')" "4 2 0.5 0.5"
load --dataset endings.jsonl --score endings 2>err
is "endings need echo: status" "$?" 125

cat >tok.json <<'E'
{"model": {"type": "BPE", "vocab": {"w": 0, "o": 1, "r": 2, "d": 3, "Ġ": 4, "wo": 5, "rd": 6, "word": 7}, "merges": ["w o", "r d", "wo rd"]},
 "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true}}
E
llm_end
llm_server --no-usage
load -n 3 --tokenizer tok.json --prompt "word word" --json >out
is "no usage: the tokenizer counts" "$(get '[.tokens.output_source, .total_output_tokens, .tokens.input_source, .total_input_tokens] | join(" ")')" "tokenizer 30 tokenizer 9"
load -n 3 --json >out
is "no usage, no tokenizer: chunks count" "$(get '[.tokens.output_source, .total_output_tokens, .tokens.input_source, .total_input_tokens] | join(" ")')" "chunks 15 unknown "
load -n 3 --wait-ready 1s --api ollama-chat >out
is "not the right API: status" "$?" 1
like "not the right API: told" "$(cat err)" '/api/chat answers 404'

llm_end
if long_tests; then
    llm_server --die-after 6
    begin=$(date +%s)
    load -d 60s --server-pid "$server_pid" --json >out
    is "the server dies: the run ends" "$(($(date +%s) - begin < 30)) $(get '.client.ended_early, .completed' | tr '\n' ' ')" "1 the server is gone 6 "
    like "and it says why" "$(get .server_gone)" 'is gone'
fi
# One that accepts and says nothing: waiting ends in time, and at once by a signal.
cat >silent.py <<'P'
import socket, time
s = socket.create_server(("127.0.0.1", 0))
open("silent.port.new", "w").write(str(s.getsockname()[1]))
import os; os.rename("silent.port.new", "silent.port")
time.sleep(300)
P
"${PYTHON:-python3}" silent.py &
silent=$!
wait_until '[ -s silent.port ]'
timeout 300 "$LLMLOAD" --url "http://127.0.0.1:$(cat silent.port)" -n 2 --wait-ready 1s >out 2>err
is "a server that says nothing: status" "$?" 1
like "a server that says nothing: told" "$(cat err)" 'not ready within 1 s: waiting for its health: it has not answered'
"$LLMLOAD" --url "http://127.0.0.1:$(cat silent.port)" -n 2 --wait-ready 200s >out 2>err &
waiter=$!
wait_until 'grep "^SigCgt:.*[1-9a-f]" "/proc/$waiter/status"'
sleep 0.3
begin=$(date +%s)
kill -TERM "$waiter"
wait "$waiter"
is "a signal ends the waiting" "$? $(($(date +%s) - begin < 60))" "143 1"
kill "$silent"
wait "$silent" 2>/dev/null
load -n 2 --wait-ready 1500ms >out
is "nobody there: status" "$?" 1
like "nobody there: told, with the gate" "$(cat err)" 'not ready within 1.5 s: waiting for a connection'
llm_server --key sesame
load -n 2 --wait-ready 20s >out
like "a wrong key ends the waiting at once" "$(cat err)" 'not usable: asking for a first answer: .*answers 401'
# ---- the service's own energy, of a page of its own, in the record ----
llm_server --key k
for _ in 1 2 3; do # a machine that is too busy for the readings has none
    KEY=k timeout 300 "$BENCHWRAP" -q -- "$LLMLOAD" --url "$url" --key-env KEY --rate 20 -d 2s --max-tokens 5 --scrape 50ms --scrape-url "$url/triton" --scrape-file energy --json >out 2>err
    [ "$(get .server_energy_J)" = null ] || break
done
"$BENCHWRAP" show --json last >shown
is "energy for each token is that of the service, in the window" "$(jq -r '.metrics | map({key, value: .value}) | from_entries | [.["energy.mean_W"] > 80, .["energy.mean_W"] < 120, (.["output.throughput.energy_J_per_token"] * .["output.throughput_token_per_s"] / .["energy.mean_W"] - 1 | fabs) < 1e-6] | map(tostring) | join(" ")' shown) $(jq -r '.tags | .["energy.window"] + " " + .["energy.parts"]' shown)" "true true true measured service"
is "... no key went to that page" "$(jq -r .seen_key energy | sort -u)" 0
like "... which needs --scrape" "$(load -n 1 --scrape-url "$url/triton"; cat err)" '--scrape-url: expected --scrape T too'
done_testing
