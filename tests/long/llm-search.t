#!/bin/sh
# Ten searches of a server that serves 3,200 requests a second: Poisson arrivals, and seeds of their own. Each answer is within 5 %, or the client was late.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/llmfake.sh"

real() { chrt -f "$@" 2>/dev/null; } # before the machine's other work, where that is allowed
if real 1 true; then run="chrt -f 1" serve="chrt -f 2"; else run='' serve=''; fi
found=0
for seed in 1 2 3 4 5 6 7 8 9 10; do
    # shellcheck disable=SC2086 # words
    llm_start $serve "$FAKE" --ttft 5ms --slots 16
    # shellcheck disable=SC2086
    $run "$LOAD" --url "$url" --max-tokens 1 --rate 100 -d 2s --search --goodput ttft:50 --seed $seed --json -q >"$WORK/out.json" 2>"$WORK/err"
    llm_stop
    if jq -e '.late_max_ms > 20' "$said" >/dev/null; then
        skip "search $seed" "the machine is busy: the server itself was $(jq .late_max_ms "$said") ms late"
        continue
    fi
    is "search $seed: $(jq -c '.sweep | [.highest_rate, .inconclusive, (.points | length)]' "$WORK/out.json")" \
        "$(jq '.sweep | .inconclusive == "the client was late" or (.found and (.highest_rate / 3200 - 1 | fabs) < 0.05)' "$WORK/out.json")" true
    found=$((found + $(jq 'if .sweep.found then 1 else 0 end' "$WORK/out.json")))
done
[ -z "$run" ] || ok "some were found" test $found -gt 0
done_testing
