#!/bin/sh
# llmload, its agents and llmfake with several threads under the thread sanitizer: no data race.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/llmfake.sh"

build=$WORK/thread
if ! make -s -C "$ROOT" O="$build" SAN=thread "$build/bin/llmload" "$build/bin/llmfake" >"$WORK/make.log" 2>&1; then
    skip 'the thread sanitizer' "it cannot be built: $(tail -n 1 "$WORK/make.log")"
    done_testing
    exit
fi
# Its shadow memory wants addresses that are not spread too widely.
command -v setarch >/dev/null 2>&1 && LOAD="setarch -R $build/bin/llmload" FAKE="setarch -R $build/bin/llmfake" || LOAD=$build/bin/llmload FAKE=$build/bin/llmfake
TSAN_OPTIONS="halt_on_error=0 log_path=$WORK/race"
export TSAN_OPTIONS

# shellcheck disable=SC2086 # words
llm_start $FAKE --threads 3 --ttft 3ms --itl 1ms --fault 503:0.05 --fault reset:0.05
loads() # NAME OPTIONS…
{
    name=$1
    shift
    # shellcheck disable=SC2086 # words
    $LOAD --url "$url" --max-tokens 8 --json -q "$@" >"$WORK/out.json" 2>"$WORK/err"
    ok "$name: it has made requests" jq -e '.completed > 10' "$WORK/out.json"
}
loads 'closed loop' -c 40 -d 2s --threads 4 --records "$WORK/r" --csv "$WORK/c" --plots "$WORK/plots" --scrape 200ms
loads 'open loop with sessions and cancellations' --rate 200 -d 2s --threads 4 --turns 3 --think 20ms --cancel 0.1@4ms
loads 'a sweep' --sweep 2,8 -d 500ms --threads 3
agents=
for i in 1 2; do
    # shellcheck disable=SC2086 # words
    $LOAD agent --listen 127.0.0.1:0 --port-file "$WORK/agent$i" --once 2>/dev/null &
    llm_pids="$llm_pids $!"
    for try in $(seq 400); do [ -s "$WORK/agent$i" ] && break; sleep 0.05; done
    agents=$agents,127.0.0.1:$(cat "$WORK/agent$i")
done
loads 'two agents' --agents "${agents#,}" -c 20 -d 2s --threads 2
# shellcheck disable=SC2086 # words
ok 'selftest' $LOAD selftest --streams 20 --json
llm_stop
is 'no data race' "$(cat "$WORK"/race.* 2>/dev/null | grep SUMMARY | sort | uniq -c)" ''
done_testing
