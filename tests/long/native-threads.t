#!/bin/sh
# llmload, its agents, llmfake and taskrate with several threads under the thread sanitizer: no data race.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/llmfake.sh"

build=$WORK/thread
if ! make -s -C "$ROOT" O="$build" SAN=thread "$build/bin/llmload" "$build/bin/llmfake" "$build/bin/taskrate" "$build/libexec/benchwrap/taskrate-stub" >"$WORK/make.log" 2>&1; then
    skip 'the thread sanitizer' "it cannot be built: $(tail -n 1 "$WORK/make.log")"
    done_testing
    exit
fi
# Its shadow memory wants addresses that are not spread too widely.
command -v setarch >/dev/null 2>&1 && fixed='setarch -R ' || fixed=
LOAD=$fixed$build/bin/llmload FAKE=$fixed$build/bin/llmfake
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
    wait_until '[ -s "$WORK/agent$i" ]'
    agents=$agents,127.0.0.1:$(cat "$WORK/agent$i")
done
loads 'two agents' --agents "${agents#,}" -c 20 -d 2s --threads 2
# shellcheck disable=SC2086 # words
ok 'selftest' $LOAD selftest --streams 20 --json
llm_stop
printf '#!/no/such/interpreter\n' >"$WORK/broken" && chmod +x "$WORK/broken"
tasks() # STATUS OPTIONS…
{
    expected=$1
    shift
    # shellcheck disable=SC2086 # words
    timeout 100 $fixed"$build/bin/taskrate" local -r 1 --warmup 0 --chain 3 "$@" >"$WORK/out" 2>"$WORK/err"
    is "taskrate local $*" "$?" "$expected"
}
tasks 0 -n 1000 -s 2
tasks 0 -n 300 -s 64 -d 2ms --out "$WORK/tasks"
tasks 0 -n 2000 --payload call -s 4
tasks 1 -n 50 -s 8 --payload false
tasks 1 -n 8 -s 4 --payload 'sleep 60' --task-timeout 0.3s
tasks 1 -n 1000 -s 4 --payload "$WORK/broken"
is 'no data race' "$(cat "$WORK"/race.* 2>/dev/null | grep SUMMARY | sort | uniq -c)" ''
done_testing
