#!/bin/bash
# t1334: every task of an srun is an agent, the first one leads: one result, one schedule.
# sanitizer: no, because Slurm is real
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
if ! long_tests; then skip_here "llmload under srun" "in the slow tier"; done_testing; exit; fi
. "$TESTLIB/slurm.sh"
. "$TESTLIB/llm.sh"
if ! slurm_start 2; then skip "llmload under srun" "$slurm_why"; done_testing; exit; fi
trap 'llm_end; slurm_kill; tap_exit' EXIT
llm_server
LLMLOAD_TOKEN=abcdefghijklmnopqrstuvwx
export LLMLOAD_TOKEN
# The nodes are virtual: their names mean nothing but to Slurm, and libcurl takes every name below .localhost for this machine.
port=$(slurm_free_port 4)
timeout 120 srun -N 1 -n 4 "$LLMLOAD" --agents srun --agent-suffix .localhost --agent-port "$port" --url "$url" --rate 40 -d 2s --max-tokens 4 --json >out 2>err
is "status" "$?" 0
is "one document" "$(jq -s length out)" 1
is "four agents, each with its share" "$(jq '[.agents[] | select(.completed > 0 and .counted)] | length' out)" 4
is "shares add up" "$(jq '[.agents[].completed] | add' out)" "$(jq .completed out)"
is "one schedule" "$(jq -r '.client.trouble' out)" null
port=$(slurm_free_port 4)
env -u LLMLOAD_TOKEN timeout 120 srun -N 1 -n 4 "$LLMLOAD" --agents srun --agent-suffix .localhost --agent-port "$port" --url "$url" -c 4 -n 8 --max-tokens 4 --json >out 2>err
is "without a token: they generate one in the home" "$? $(jq .completed out) $(stat -c %a "$HOME/.config/llmload/agent-token")" "0 8 600"
begin=$(date +%s)
timeout 300 srun -N 1 -n 3 "$LLMLOAD" --agents srun --agent-suffix .localhost --agent-port "$port" --url http://127.0.0.1:1 --wait-ready 1s -c 3 -n 5 >out 2>err
is "the leader fails: the others end soon" "$(($(date +%s) - begin < 40))" 1
like "and it says why" "$(cat err)" 'not ready within 1 s'
slurm_stop
done_testing
