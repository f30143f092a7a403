#!/bin/bash
# taskrate's provider flux in a real instance of Flux: single jobs, many by one --cc, a stopped and a disabled queue, and what a killed run left.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit
if ! command -v flux >/dev/null 2>&1; then
    skip "Flux" "flux-core is not installed, and Debian has no package of it"
    done_testing
    exit
fi
export T=$BUILD/bin/taskrate
cat >inside.sh <<'X'
measure() { "$T" flux --warmup 0 --chain 0 -r 1 --no-floor --json "$@"; }
left() { flux jobs -n -f pending,running | wc -l; }
measure -n 6 -r 2 | jq -c '.configurations[0].batches | map([.ended, .lost])' >single
measure -n 20 --array | jq -c '.configurations[0].batches[0] | [.ended, .lost, .submit_calls, .slots]' >array
flux queue stop -a >/dev/null 2>&1
measure -n 4 --array --stall 3s 2>/dev/null | jq -c '.configurations[0].batches[0] | [.ended, .cancelled, .reason]' >held; left >held.left
flux queue start -a >/dev/null 2>&1
flux queue disable -m no >/dev/null 2>&1
measure -n 4 >/dev/null 2>disabled; echo $? >>disabled
flux queue enable >/dev/null 2>&1
"$T" flux --warmup 0 --chain 0 -r 1 --no-floor -n 8 -d 60s --array >/dev/null 2>&1 & p=$!
wait_until '[ "$(left)" = 8 ]'
kill -9 $p; wait 2>/dev/null
wait_until '"$T" clean-up >swept; grep -q cancelled swept'
wait_until '[ "$(left)" = 0 ]'
left >swept.left
X
timeout 300 flux start -s 2 bash inside.sh >out 2>&1
is "single jobs: every task ended once" "$(cat single)" "[[6,0],[6,0]]"
like "many by one submission" "$(cat array)" '^\[20,0,1,[1-9][0-9]*\]$'
like "a stopped queue: given up with its word, and nothing is left" "$(cat held held.left | paste -sd ' ')" '^\[0,4,"no report .*4 of them wait: state S.* 0$'
like "a disabled queue is a refusal" "$(paste -sd ' ' disabled)" 'submission is disabled.* 2$'
like "what a killed run left is cancelled" "$(cat swept swept.left | paste -sd ' ')" 'was cancelled cleaned up 1 run 0$'
done_testing
