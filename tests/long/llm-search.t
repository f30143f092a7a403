#!/bin/sh
# Ten searches of a server that serves 400 requests a second: Poisson arrivals, runs of ten seconds, and seeds of their own, five at once. Each answer is within 5 %, or the client was late.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/llmfake.sh"

real() { chrt -f "$@" 2>/dev/null; } # before the machine's other work, where that is allowed
if real 1 true; then run="chrt -f 1" serve="chrt -f 2"; else run='' serve=''; fi
search() # SEED: $WORK/SEED.json, and what the server said of itself in $WORK/SEED.server
{
    # shellcheck disable=SC2086 # words
    $serve "$FAKE" --ttft 40ms --slots 16 >"$WORK/$1.address" 2>"$WORK/$1.server" &
    searched=$!
    address=$WORK/$1.address
    wait_until '[ -s "$address" ]'
    # shellcheck disable=SC2086
    $run "$LOAD" --url "$(cat "$address")" --max-tokens 1 --rate 50 -d 10s --search --goodput ttft:400 --seed "$1" --json -q >"$WORK/$1.json" 2>"$WORK/$1.err"
    kill $searched
    wait $searched 2>/dev/null
}
found=0
for seeds in '301 302 303 304 305' '306 307 308 309 310'; do
    searches=
    for seed in $seeds; do
        search "$seed" &
        searches="$searches $!"
    done
    # shellcheck disable=SC2086
    wait $searches
    for seed in $seeds; do
        if jq -e '.late_max_ms > 100' "$WORK/$seed.server" >/dev/null; then
            skip "search $seed" "the machine is busy: the server itself was $(jq .late_max_ms "$WORK/$seed.server") ms late"
            continue
        fi
        is "search $seed: $(jq -c '.sweep | [.highest_rate, .inconclusive, (.points | length)]' "$WORK/$seed.json")" \
            "$(jq '.sweep | .inconclusive == "the client was late" or (.found and (.highest_rate / 400 - 1 | fabs) < 0.05)' "$WORK/$seed.json")" true
        found=$((found + $(jq 'if .sweep.found then 1 else 0 end' "$WORK/$seed.json")))
    done
done
[ -z "$run" ] || ok "some were found" test $found -gt 0
done_testing
