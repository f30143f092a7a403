#!/bin/bash
# Every signal, to the launcher's pid and to its group: the program sees each exactly once.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/launch.sh"
compile count-signals
leader='' tries=0 walk_us=0
set -m # each background job is a process group of its own

# CONT first and alone: the kernel drops a waiting CONT when a stop signal comes, and the other way round
signals="18 1 2 3 4 5 6 7 8 10 11 12 13 14 15 16 20 21 22 23 24 25 26 27 28 29 30 31 34 35 50 63 64"
expected() # TIMES
{
    for s in $signals; do echo "$s $1"; done | sort -n
}

arrived() # the program has seen all that was sent, and no process of the job has a signal still before it, but where it is stopped
{
    [ "$(cat "$WORK/counts.total")" -ge $sent ] || return
    for p in $target $(pgrep -P $target); do
        grep -q '^State:.T' "/proc/$p/status" || ! grep -q '^S[hi][dg]Pnd:.*[1-9a-f]' "/proc/$p/status" || return
    done
}
# run NAME ROUNDS SENDER COMMAND…: SENDER PID SIGNAL sends one signal to the job
run()
{
    name=$1 rounds=$2 sender=$3 walk_us=0
    shift 3
    rm -f "$WORK"/counts*
    "$@" 2>"$WORK/err" &
    job=$!
    wait_until '[ -s "$WORK/counts.ready" ]' || { tap_fail "$name" "did not start: $(cat "$WORK/err")"; kill -9 -$job; return; }
    sleep 0.1
    target=$job
    [ -z "$leader" ] || target=$(ps -o ppid= -p "$(cat "$WORK/counts.ready")")
    sent=0
    for _ in $(seq "$rounds"); do
        for s in $signals; do
            $sender $target "$s"
            sent=$((sent + 1))
            [ "$s" != 18 ] || { wait_until arrived && sleep 0.3; }
        done
        wait_until arrived # or the same signal of the next round would be one with it
        sleep 0.4
    done
    touch "$WORK/counts.stop"
    wait $job
    if [ "$walk_us" -gt 1500000 ] && [ $((tries += 1)) -lt 5 ]; then # this machine held the sender up for longer than the launcher waits
        run "$name" "$rounds" "$sender" "$@"
        return
    fi
    is "$name" "$(expected "$rounds" | diff - "$WORK/counts" 2>&1)" ""
}
to_pid() { kill -"$2" "$1"; }
to_group() { kill -"$2" -- -"$1"; }
# one after the other, as slurmstepd does it: launcher, its children, in either order
to_each() { walk "$2" "$1" $(pgrep -P "$1"); }
to_each_held_up() { hold_us=600000 walk "$2" "$1" $(pgrep -P "$1"); }
to_each_reversed() { walk "$2" $(pgrep -P "$1" | tac) "$1"; }
walk() # SIGNAL PID…: $hold_us behind the first; walk_us is the longest time that it took
{
    start=${EPOCHREALTIME/./}
    kill -"$1" "$2"
    while ((${EPOCHREALTIME/./} < start + ${hold_us:-0})); do :; done
    for p in "${@:3}"; do kill -"$1" "$p"; done
    took=$((${EPOCHREALTIME/./} - start))
    [ "$took" -le "$walk_us" ] || walk_us=$took
}

run "pid alone" 3 to_pid "$LAUNCH" -q -- "$WORK/count-signals" "$WORK/counts"
run "group" 3 to_group "$LAUNCH" -q -- "$WORK/count-signals" "$WORK/counts"
run "pid by pid" 2 to_each "$LAUNCH" -q -- "$WORK/count-signals" "$WORK/counts"
run "pid by pid, launcher last" 2 to_each_reversed "$LAUNCH" -q -- "$WORK/count-signals" "$WORK/counts"
signals_all=$signals
signals="10 15"
run "pid by pid, by a sender that is held up on the way" 1 to_each_held_up "$LAUNCH" -q -- "$WORK/count-signals" "$WORK/counts"
signals=$signals_all
FAKE_MODE=stop run "pid alone, recorder stopped" 1 to_pid "$LAUNCH" -q --finish-wait 0.1 -- "$WORK/count-signals" "$WORK/counts"
signals_all=$signals
signals="1 2 3 10 12 14 15 34 64" # CONT and the stop signals would move the stopped recorder
FAKE_MODE=stop run "group, recorder stopped" 1 to_group "$LAUNCH" -q --finish-wait 0.1 -- "$WORK/count-signals" "$WORK/counts"
signals=$signals_all
FAKE_MODE=die run "pid alone, recorder dead" 2 to_pid "$LAUNCH" -q -- "$WORK/count-signals" "$WORK/counts"
FAKE_MODE=die run "group, recorder dead" 2 to_group "$LAUNCH" -q -- "$WORK/count-signals" "$WORK/counts"
run "pid alone, unrecorded with time limit" 2 to_pid "$BARE" -q -T 60 -- "$WORK/count-signals" "$WORK/counts"
run "group, unrecorded with time limit" 2 to_group "$BARE" -q -T 60 -- "$WORK/count-signals" "$WORK/counts"
run "pid alone, unrecorded" 2 to_pid "$BARE" -q -- "$WORK/count-signals" "$WORK/counts"
run "group, unrecorded" 2 to_group "$BARE" -q -- "$WORK/count-signals" "$WORK/counts"
run "group, program has left it" 2 to_group "$LAUNCH" -q -- "$WORK/count-signals" "$WORK/counts" group
leader=1
run "as session leader, pid alone" 2 to_pid setsid -w "$LAUNCH" -q -- "$WORK/count-signals" "$WORK/counts"
run "as session leader, group" 2 to_group setsid -w "$LAUNCH" -q -- "$WORK/count-signals" "$WORK/counts"

# Signals that come before the program exists reach it too.
FAKE_MODE=silent "$LAUNCH" -q --probe-wait 5 -- bash -c 'echo alive; sleep 1' >"$WORK/out" 2>&1 &
job=$!
sleep 0.3
kill -USR1 $job
wait $job
is "a signal during the probes ends a program that does not catch it" $? 138
is "... before it said anything" "$(cat "$WORK/out")" ""

# A program that ends with 0 after a signal of the scheduler, such as at a preemption, may have measured a part only.
cd "$WORK" || exit 1
cp /bin/sh slurmstepd
./slurmstepd -c '"$BENCHWRAP" -q -t early -- sh -c "trap \"exit 0\" TERM; touch up; while :; do sleep 0.05; done" & p=$!
until [ -e up ]; do sleep 0.05; done; kill -TERM $p $(cat /proc/$p/task/$p/children); wait $p'
is "the scheduler's TERM, and status 0" "$("$BENCHWRAP" show -t early --json | jq -r '.status, (.warnings[] | .text? // . | select(test("scheduler")))' | xargs)" \
    "FINISHED the scheduler sent SIGTERM before the program ended with status 0: its results may be incomplete"
# Other signals, as of sbatch --signal=USR1, request a checkpoint or an early end: they are known, and no end is inferred from them.
noticed() # TRAP… as the program's first line
{
    rm -f up
    ./slurmstepd -c '"$BENCHWRAP" -q -t notice -- sh -c "$1; touch up; while :; do sleep 0.05; done" & p=$!
    until [ -e up ]; do sleep 0.05; done; kill -USR1 $p $(cat /proc/$p/task/$p/children); wait $p' sh "$1" 2>/dev/null
    "$BENCHWRAP" show -t notice --json | jq -r '[.status, .tags["benchwrap.ended"], .tags["job.notice"], (.warnings[] | .text? // . | select(test("scheduler")))] | join("|")'
}
is "the scheduler's USR1 ends the program" "$(noticed :)" "KILLED|ended by signal USR1, sent by the scheduler|SIGUSR1"
is "  a handler fails" "$(noticed 'trap "exit 7" USR1')" "FAILED|exit status 7, after SIGUSR1 from the scheduler|SIGUSR1"
like "  a handler succeeds" "$(noticed 'trap "exit 0" USR1')" "^FINISHED\\|[^|]*\\|SIGUSR1\\|the scheduler sent SIGUSR1 before the program ended with status 0: its results may be incomplete"
like "  it is ignored" "$(noticed 'trap "" USR1; (sleep 1; kill -9 $$) & :')" "^KILLED\\|ended by signal KILL\\|\$"
done_testing
