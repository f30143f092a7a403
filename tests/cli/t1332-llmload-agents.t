#!/bin/sh
# t1332: agents: the control API, one load from two of them, what is lost with one, who may steer.
# sanitizer: long, because a Python server answers
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/llm.sh"
cd "$WORK" || exit 1
for tool in jq curl; do command -v $tool >/dev/null || { skip "llmload's agents" "$tool is not installed"; done_testing; exit; }; done
LLMLOAD_TOKEN=abcdefghijklmnopqrstuvwx
export LLMLOAD_TOKEN
call() { method=$1 path=$2; shift 2; curl -s -m 20 -X "$method" -H "Authorization: Bearer $LLMLOAD_TOKEN" "http://$agent$path" "$@"; }
code() { curl -s -m 20 -o reply -w '%{http_code}' "$@"; }
state() { call GET /status | jq -r .state; }
until_state() { expected_state=$1; wait_until '[ "$(state)" = "$expected_state" ]'; state; }

llm_server
llm_agent one
first=$agent first_pid=$agent_pid
is "health" "$(call GET /health | jq -r '.status, (.mono_ns > 0)' | tr '\n' ' ')" "ok true "
is "idle" "$(state)" idle
is "no result yet" "$(code -H "Authorization: Bearer $LLMLOAD_TOKEN" "http://$agent/metrics")" 404
is "no token" "$(code "http://$agent/status")" 401
is "a wrong token" "$(code -H 'Authorization: Bearer abcdefghijklmnopqrstuvwy' "http://$agent/status")" 401
is "a web page" "$(code -H "Authorization: Bearer $LLMLOAD_TOKEN" -H 'Origin: http://evil' "http://$agent/status")" 403
is "no such page, wrong method" "$(code -H "Authorization: Bearer $LLMLOAD_TOKEN" "http://$agent/x") $(code -H "Authorization: Bearer $LLMLOAD_TOKEN" "http://$agent/start")" "404 405"
is "garbage" "$(call POST /start -d '{' | jq -r '.error | test("not valid JSON")')" true
is "options in pieces are not taken" "$(call POST /start -d '{"args":["--records","x"]}' | jq -r '.error != null')" true
is "started by hand" "$(call POST /start -d "{\"args\":[\"--url=$url\",\"--concurrency=2\",\"--requests=8\",\"--max-tokens=4\"]}" | jq -r .state)" preparing
is "done" "$(until_state done)" done
is "its result" "$(call GET /metrics | jq -c '[.metrics.measure[0], .metrics.output_tokens, .metrics.histograms.ttft.n + .metrics.first_unknown]')" "[8,32,8]"
like "for Prometheus" "$(call GET /metrics/prometheus)" '^llmload_requests_completed_total 8$'
like "percentiles have buckets" "$(call GET /metrics/prometheus)" '^llmload_request_seconds_bucket.le="[+]Inf". 8$'
llm_agent own --service my-vllm -- --url "$url" --concurrency 2 --requests 6 --max-tokens 4
like "before a load" "$(call GET /metrics/prometheus)" '^my_vllm_workload_running 0$'
is "a start without a body begins the agent's own load" "$(call POST /start | jq -r .state) $(until_state done)" "preparing done"
call GET /metrics/prometheus >page
is "with the names of the toolkit" "$(grep -cE '^my_vllm_(workload_running 0|throughput_rps 0|requests_total 6|errors_total 0|tokens_per_request 4|request_latency_seconds_count 6|request_latency_seconds_bucket[{]le="[+]Inf"[}] 6)$' page)" 7
is "and again, with an empty object" "$(call POST /start -d '{}' | jq -r .state) $(until_state done)" "preparing done"
agent=$first
if long_tests; then
    call POST /start -d '{"args":["--url=http://127.0.0.1:1","--nonsense"]}' >/dev/null
    is "a wrong option fails" "$(until_state failed)" failed
    like "and says why" "$(call GET /status | jq -r .error)" 'nonsense'
    call POST /start -d "{\"args\":[\"--url=$url\",\"--duration=60s\"]}" >/dev/null
    until_state running >/dev/null
    is "one at a time" "$(call POST /start -d "{\"args\":[\"--url=$url\"]}" | jq -r .error | cut -d: -f1)" "a load is being made"
    call POST /stop >/dev/null
    is "stopped: the result is what there was" "$(until_state done) $(call GET /metrics | jq -r .why_early)" "done a signal"
fi

llm_agent two
timeout 300 "$LLMLOAD" --agents "$first,$agent" --url "$url" --rate 40 -d 1s --max-tokens 4 --scrape 500ms --records rec --seed 3 --json >both 2>err
is "two agents: status" "$?" 0
timeout 300 "$LLMLOAD" --url "$url" --rate 40 -d 1s --max-tokens 4 --seed 3 --json >single 2>err
is "as many requests as alone, of the same schedule" "$(jq -c '[.num_prompts, .completed, .load.schedule_sha256]' both)" "$(jq -c '[.num_prompts, .completed, .load.schedule_sha256]' single)"
is "each made its share" "$(jq '[.agents[].completed] | add' both) $(jq '.agents | length' both)" "$(jq .completed both) 2"
is "tokens are the server's own" "$(jq .server_metrics.generation_tokens both)" "$(jq .total_output_tokens both)"
is "histograms are added" "$(jq ".metrics.ttft.n + .client.first_tokens_unknown" both)" "$(jq .completed both)"
is "records of each, all indexes once" "$(cat rec.0 rec.1 | jq .metadata.request_index | sort -n | uniq | wc -l)" "$(jq .completed both)"
ok "clocks: on one machine they agree" jq -e 'all(.agents[]; (.clock_offset_ns | fabs) <= .round_trip_ns)' both
timeout 300 "$LLMLOAD" --agents "$first,$agent" --url "$url" -c 4 -n 9 --max-tokens 4 --json >both 2>err
is "a closed loop is shared too" "$(jq -c '[.completed, ([.agents[].completed] | sort)]' both)" "[9,[4,5]]"

if long_tests; then
    (sleep 2.5; kill -9 "$first_pid") &
    timeout 300 "$LLMLOAD" --agents "$first,$agent" --url "$url" --rate 20 -d 30s --max-tokens 4 --json >lost 2>err
    is "an agent is killed: what the other has counts" "$(jq -r '.client.ended_early, (.completed > 0), ([.agents[].counted] | tostring)' lost | tr '\n' ' ')" "an agent was lost true [false,true] "
    llm_agent three --idle 1s
    wait "$agent_pid"
    is "nobody asks: it ends" "$?" 0
    llm_agent four --once
    timeout 300 "$LLMLOAD" --agents "$agent" --url http://127.0.0.1:1 --wait-ready 500ms -n 1 >/dev/null 2>&1
    is "the leader fails" "$?" 1
    wait "$agent_pid"
    is "an agent for one load ends then" "$?" 0
    llm_agent five
    timeout 300 "$LLMLOAD" --agents "$agent" --url "$url" --rate 5 -d 60s >/dev/null 2>&1 &
    leader=$!
    until_state running >/dev/null
    kill -9 $leader
    wait $leader 2>/dev/null
    sleep 31
    is "the leader is killed: its load is ended" "$(until_state done)" done
    like "nobody there" "$(timeout 300 "$LLMLOAD" --agents 127.0.0.1:1 --agent-wait 300ms --url "$url" -n 1 2>&1)" 'an agent was not found: agent 127.0.0.1:1'
fi
like "another token" "$(LLMLOAD_TOKEN=0123456789abcdef0 timeout 300 "$LLMLOAD" --agents "$agent" --url "$url" -n 1 2>&1)" "the agent has another token"
llm_end

like "a short token" "$(LLMLOAD_TOKEN=abc timeout 120 "$LLMLOAD" agent --listen 127.0.0.1:0 2>&1)" 'at least 16 characters'
unset LLMLOAD_TOKEN

# Without a token of the user's own: one is generated, also at loopback; coordinator and agents find it in the home.
cd "$HOME" || exit 1
llm_server
llm_agent six
token=.config/llmload/agent-token
is "a token is generated, in a closed file of a closed folder" "$(stat -c %a "$token" .config/llmload | tr '\n' ' ')" "600 700 "
like "it is random" "$(cat "$token")" '^[0-9a-f]{32}$'
is "no request without it" "$(code "http://$agent/health") $(code -d '{"args":["--records=x"]}' "http://$agent/start") $(code -d '' "http://$agent/stop")" "401 401 401"
like "the agent names the file" "$(cat "$WORK/.six-err")" "token: .*/$token\$"
is "the token is in no command line, and not in the agent's output" "$(grep -alFf "$token" /proc/[0-9]*/cmdline "$WORK/.six-err" 2>/dev/null)" ""
first=$agent kept=$(cat "$token")
llm_agent seven
is "a second agent has the same" "$(cat "$token")" "$kept"
timeout 300 "$LLMLOAD" --agents "$first,$agent" --url "$url" -c 2 -n 4 --max-tokens 4 --json >both 2>err
is "the coordinator finds it" "$? $(jq .completed both)" "0 4"
rm "$token"
for i in 1 2 3 4 5 6; do
    "$LLMLOAD" agent --listen 127.0.0.1:0 --port-file "race$i" --token-file raced/token 2>>racers &
    llm_pids="$llm_pids $!"
done
for i in 1 2 3 4 5 6; do llm_wait "race$i" || tap_stop "agents start: $(cat racers)"; done
is "agents that start at once agree" "$(for i in 1 2 3 4 5 6; do curl -s -o /dev/null -w '%{http_code} ' -H "Authorization: Bearer $(cat raced/token)" "http://127.0.0.1:$(cat "race$i")/health"; done)" "200 200 200 200 200 200 "
is "and leave the one file" "$(ls -A raced)" token
chmod 644 raced/token
like "a token that others can read" "$(timeout 120 "$LLMLOAD" agent --listen 127.0.0.1:0 --token-file raced/token 2>&1)" 'raced/token can be read by others'
like "no home" "$(env -u HOME timeout 120 "$LLMLOAD" agent --listen 127.0.0.1:0 2>&1)" 'hint: set HOME, or use --token-file'
done_testing
