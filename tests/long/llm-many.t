#!/bin/sh
# Twenty thousand streams at once on one machine, from two agents to two services: all complete, and every token is accounted for.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/llm.sh"
cd "$WORK" || exit 1
fake=$BUILD/bin/llmfake
hard=$(ulimit -Hn)
if [ "$hard" != unlimited ] && [ "$hard" -lt 12000 ]; then
    skip_here "twenty thousand streams" "only $hard open files are allowed"
    done_testing
    exit
fi
LLMLOAD_TOKEN=abcdefghijklmnopqrstuvwx
export LLMLOAD_TOKEN
services=
for i in 1 2; do
    "$fake" --ttft 4s --itl 500ms >"address.$i" 2>"said.$i" &
    services="$services $!"
    llm_wait "$WORK/address.$i" || tap_stop "llmfake starts: $(cat "said.$i")"
done
llm_pids="$llm_pids $services"
llm_agent one
agents=$agent
llm_agent two
# A ramp, and then answers as long as the ramp twice over: all are under way at once.
timeout 600 "$LLMLOAD" --agents "$agents,$agent" --url "$(cat address.1)" --url "$(cat address.2)" -c 0-20000@5s,20000 -n 30000 --max-tokens 16 --json >out.json 2>err
is "20,000 streams: exit status" "$? $(cat err)" "0 "
is "  every request is complete, every token counted" "$(jq -c '[.completed, .failed, .total_output_tokens, .max_concurrent_requests]' out.json)" '[30000,0,480000,20000]'
is "  each agent had its half" "$(jq -c '[.agents[].completed]' out.json)" '[15000,15000]'
# shellcheck disable=SC2086 # numbers
kill $services
# shellcheck disable=SC2086
wait $services
is "  the services say the same" "$(jq -sc '[(map(.requests) | add), (map(.output_tokens) | add)]' said.1 said.2)" '[30000,480000]'
ok "  no first token before its time" jq -e '.metrics.ttft.min >= 3999' out.json
echo "# TTFT $(jq -c '[.median_ttft_ms, .p99_ttft_ms]' out.json) (4,000 is true), gaps $(jq -c '[.median_itl_ms, .p99_itl_ms]' out.json) (500)"
done_testing
