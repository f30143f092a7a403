#!/bin/bash
# How a series can end early: Ctrl-C, signals to its pid or group, SIGKILL of its driver, a missing core.
# sanitizer: long, because t0700 walks the same code
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/launch.sh"
compile count-signals
cd "$WORK" || exit
record() # EXPRESSION: Python over r, the series' record, and kids
{
    python3 - "$1" <<'P'
import glob, json, sys
runs = [json.load(open(f)) for f in glob.glob("mlruns/*/*/artifacts/benchwrap.json")]
tag = lambda r, k: r["tags"].get(k, {}).get("value")
r = next((r for r in runs if tag(r, "benchwrap.series")), None)
kids = [k for k in runs if r and tag(k, "mlflow.parentRunId") == r["run"]["id"]]
metric = lambda r, k: r["metrics"].get(k, {}).get("value")
print(eval(sys.argv[1]))
P
}

shown=$(python3 "$TESTLIB/on-pty.py" 'expect go; wait 0.3; send \x03' -- "$BENCHWRAP" --repeat 5 -- sh -c 'echo go; exec sleep 20')
like "Ctrl-C: the series dies of it" "$shown" '^status: signal 2'
is "one run was made" "$(record 'len(kids)')" 1
is "both are closed as KILLED" "$(record '[x["run"]["status"] for x in (r, *kids)]')" "['KILLED', 'KILLED']"
like "the reason" "$(record 'r["verdict"]["reason"]')" 'signal INT'
rm -rf mlruns .benchwrap
shown=$(python3 "$TESTLIB/on-pty.py" 'expect go; wait 0.2; send \x1a; stopped; wait 0.2; cont; wait 0.2; send \x03' -- "$BENCHWRAP" --repeat 5 -- sh -c 'echo go; exec sleep 20')
like "Ctrl-Z stops the job, as the shell sees it" "$shown" '^stopped 20'
like "and it goes on" "$shown" '^status: signal 2'

# A program that catches the signal: how often has it come, and does the series go on?
set -m
for to in pid group; do
    for s in TERM INT HUP USR1; do
        rm -rf mlruns .benchwrap counts*
        "$BENCHWRAP" --repeat $([ $s = USR1 ] && echo 1 || echo 2) -q -- "$WORK/count-signals" "$WORK/counts" 2>err &
        job=$!
        wait_until '[ -s counts.ready ]' || tap_fail "$to $s: it starts"
        sleep 0.2
        case $to in pid) kill -$s $job ;; group) kill -$s -- -$job ;; esac
        wait_until '[ "$(cat counts.total)" -ge 1 ]'
        sleep 1 # two processes decide in turn; each may wait 50 ms for its witness, more on a busy machine
        touch counts.stop
        wait $job 2>/dev/null
        status=$?
        number=$(kill -l $s)
        is "$s to the $to: the program sees it once" "$(cat counts 2>/dev/null)" "$number 1"
        if [ $s = USR1 ]; then
            is "USR1 to the $to: it is no end" "$status $(record '[x["run"]["status"] for x in (r, *kids)]')" "0 ['FINISHED', 'FINISHED']"
        else
            is "$s to the $to: it ends the series though the program lives on" "$status $(record 'len(kids)')" "$((128 + number)) 1"
            is "$s to the $to: the series is KILLED, the run is not" "$(record '[x["run"]["status"] for x in (r, *kids)]')" "['KILLED', 'FINISHED']"
        fi
    done
done
set +m

# The recorder of a run hangs: its record is waited for, and a signal ends that.
rm -rf mlruns .benchwrap
"$BENCHWRAP" --finish-wait 0s --repeat 5 -- sh -c '
    for p in $(cat /proc/$PPID/task/$PPID/children); do
        case $(cat /proc/$p/comm) in benchwrap-*) kill -STOP $p; echo $p >hung ;; esac
    done' >out 2>err &
job=$!
wait_until '[ -s hung ]'
wait_until '[ -z "$(cat /proc/$job/task/$job/children | xargs -n 1 -I P cat /proc/P/comm 2>/dev/null | grep -v witness)" ]'
(for _ in $(seq 120); do sleep 1; [ -e goes-on ] && exit; done; kill -CONT "$(cat hung)") & # later it would be there after all
sleep 0.5
ok "it is waited for" kill -TERM $job
wait $job 2>/dev/null
is "TERM while a hung recorder is waited for ends the series" "$? $(record '"its record was not there" in str(r["warnings"])')" "143 True"
touch goes-on
kill -KILL "$(cat hung)"

# The driver is killed: the run that goes on ends by itself, the series is closed by whoever comes next, with what it had.
rm -rf mlruns .benchwrap ended seen second
"$BENCHWRAP" -q --repeat 5 -- sh -c 'n=0
    if [ -e started ]; then touch second; while [ ! -e seen ] && [ $n -lt 1200 ]; do sleep 0.05; n=$((n + 1)); done; touch ended; fi; touch started' 2>err &
job=$!
wait_until '[ "$(find .benchwrap -name repetitions.jsonl -exec grep -c "\"order\":1" {} +)" = 1 ]'
wait_until '[ -e second ]'
# The recorder of the first run closes what dead processes have left, also this series once its driver is dead: until it has ended.
recorders() { for p in $(pgrep -f -- --recorder); do [ "$(readlink "/proc/$p/cwd")" != "$PWD" ] || tr '\0' ' ' <"/proc/$p/cmdline"; done 2>/dev/null | grep -c -- "--name=sh #$1"; }
wait_until '[ "$(recorders 1) $(recorders 2)" = "0 1" ]'
kill -9 $job
wait $job 2>/dev/null
is "nothing of the series is in the tree yet" "$(record 'r')" None
touch seen
ok "the run that goes on is left alone" wait_until '[ -e ended ]'
wait_until '"$BENCHWRAP" sync --local; [ "$(record "bool(r)")" = True ]' # the run that went on is still being recorded for a moment
is "KILLED, with the repetition that was complete" "$(record '(r["run"]["status"], metric(r, "run.wall_s.n"), metric(r, "series.runs"))')" "('KILLED', 1, 1)"
like "said" "$(record 'r["verdict"]["reason"]')" 'killed'
is "its end is that of its last run" "$(record 'r["run"]["end_ms"] >= min(k["run"]["end_ms"] for k in kids)')" True

# No core: the program is run once; not where its arguments are unknown.
is "without the core it runs once" "$("$BARE" --repeat 3 -- echo once 2>err)" once
like "and that is said" "$(cat err)" 'running it once'
"$BARE" --sweep n=1,2 -- touch 'made-{n}' 2>err
is "a sweep cannot: 125" "$? $(ls made* 2>/dev/null)" "125 "
"$BARE" --strict --repeat 2 -- touch made 2>err
is "--strict: 125" "$? $(ls made* 2>/dev/null)" "125 "
mkdir -p broken/bin broken/libexec/benchwrap
cp "$BENCHWRAP" broken/bin/
printf '#!/bin/sh\nexit 127\n' >broken/libexec/benchwrap/benchwrap-core # as the loader ends where a library is missing
chmod +x broken/libexec/benchwrap/benchwrap-core
is "with a core that does not start, too" "$(broken/bin/benchwrap --repeat 3 -- echo once 2>err)" once

# No place for a record: the repetitions are run all the same.
mkdir locked && chmod 555 locked
if [ "$(id -u)" = 0 ]; then
    is "no spool: the repetitions are run" "$(HOME=/proc/x XDG_STATE_HOME=/proc/y "$BENCHWRAP" -q -t /proc/z/mlruns --repeat 2 -- echo run 2>err)" "run
run"
else
    is "no spool: the repetitions are run" "$(HOME=/proc/x "$BENCHWRAP" -q -t "$WORK/locked/x/mlruns" --repeat 2 -- echo run 2>err)" "run
run"
fi
done_testing
