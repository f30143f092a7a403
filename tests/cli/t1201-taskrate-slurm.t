#!/bin/bash
# taskrate on a real Slurm: its counts against a line that each task leaves and against the controller's own; losses, doubles, clean-up, every bad state.
# sanitizer: long, because it starts a whole Slurm
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/slurm.sh"
cd "$WORK" || exit
if ! slurm_start 2; then
    skip "taskrate on Slurm" "$slurm_why"
    done_testing
    exit
fi
T=$BUILD/bin/taskrate
export SLURM_TIME_FORMAT=%s # a user's own
get() { jq -c "$1" out.json; }
run() { timeout 250 "$T" --json "$@" >out.json 2>err; rc=$?; }
queue() { timeout 120 squeue -h -r | wc -l; }
state=$HOME/.local/state/benchwrap/taskrate
total() { timeout 120 sdiag | sed -n "s/^Jobs $1: *//p"; }

# The independent counts: each task leaves a line with its end; the controller counts what it was given and what is done.
cat >task.sh <<END
#!/bin/sh
printf '%s %s\n' \${SLURM_ARRAY_TASK_ID:-x} \$(date +%s%N) >>$WORK/counted
END
chmod +x task.sh
agree() { # NAME: the last batch's jobs a second against the lines (first submission from our own table, end from theirs) and sdiag's deltas
    "$T" table out/tasks.trt >/dev/null || return 1
    python3 - out.json counted "$1" <<'P'
import json, sys
doc = json.load(open(sys.argv[1]))
batch = doc["configurations"][0]["batches"][-1]
lines = [l.split() for l in open(sys.argv[2])]
ends = sorted(int(e) / 1e9 for _, e in lines if e)
last = [e for e in ends if e * 1e3 >= batch["started_ms"] - 1]
ran, distinct = len(last), batch["ended"]
rate = distinct / (last[-1] - batch["started_ms"] / 1e3)
counts = batch["scheduler_counts"]
off = abs(rate / batch["ended_per_s"] - 1)
print("%s: %d lines, %d ended, %d twice, %d lost; %.2f/s by lines, %.2f/s told (%.2f %% apart); sdiag %s submitted, %s completed" %
      (sys.argv[3], ran, distinct, batch["duplicated"], batch["lost"], rate, batch["ended_per_s"], off * 100, counts["jobs_submitted"], counts["jobs_completed"]), file=open("agreed", "w"))
assert ran == distinct + batch["duplicated"], "lines"
assert abs(counts["jobs_submitted"] - batch["submitted"]) <= 0.02 * batch["submitted"], "submitted"
assert abs(counts["jobs_completed"] - batch["submitted"]) <= 0.02 * batch["submitted"], "completed"
assert off <= 0.02, "rate"
P
}
agrees() { ok "$1" agree "$2"; echo "# $(cat agreed)"; }
run slurm-array -n 20 -r 1 --warmup 0 --chain 0 --no-floor --payload ./task.sh -d 100ms --out out
is "an array: all ended, nothing is left" "$rc $(get '[.configurations[0].batches[0]|.ended,.lost,.duplicated]') $(queue) $(ls "$state" | wc -l)" "0 [20,0,0] 0 0"
agrees "the figure agrees with a line for each task and with sdiag" array
is "what decides the figure is told" "$(get '[.scheduler.SchedulerType, .scheduler.MinJobAge, .slots]')" '["sched/backfill","300 sec",16]'
"$T" slurm-array -n 30 -d 60s --no-floor --warmup 0 -r 1 >/dev/null 2>&1 &
pid=$!
wait_until '[ "$(queue)" = 30 ]'
kill -KILL $pid; wait $pid 2>/dev/null
is "killed with -9 it leaves its jobs" "$(queue)" 30
run slurm-step -n 4 -r 1 --warmup 0 --chain 0 --no-floor --clients 4
like "the next start ends them" "$(queue) $(get .notes)" '^0 \["a run that was killed had left taskrate-[0-9a-f]{16}; what it had in the queue was cancelled"'
is "steps in an allocation of its own, which is given back" "$rc $(get '[.configurations[0].batches[0]|.ended,.lost], .slots_from') $(queue)" '0 [4,0]
"tasks of an allocation that taskrate made" 0'
run slurm-step -n 16 --width 8 -r 1 --warmup 0 --chain 0 --no-floor --clients 1
is "wide steps: several tasks of one srun" "$rc $(get '[.configurations[0].batches[0]|.ended,.lost,.submit_calls]')" '0 [16,0,2]'
long_tests || { slurm_stop; done_testing; exit; }

timeout 300 salloc -Q -n 3 "$T" --json slurm-step -n 6 -r 1 --warmup 0 --chain 2 --no-floor >out.json 2>err
is "steps in the allocation that surrounds it" "$? $(get '[.configurations[0].batches[0].ended, .slots_from]')" '0 [6,"SLURM_NTASKS of the allocation"]'
cat >lossy.sh <<END
#!/bin/sh
i=\${SLURM_ARRAY_TASK_ID:-\$(echo "\$1" | cut -d, -f2)}
[ \$((i % 10)) = 3 ] && exit 0
$BUILD/libexec/benchwrap/taskrate-stub "\$@"
[ \$((i % 7)) = 5 ] && $BUILD/libexec/benchwrap/taskrate-stub "\$@"
exit 0
END
chmod +x lossy.sh
settings() { # slots a node, SchedulerParameters
    slurm_stop
    sed -i "s/ CPUs=[0-9]* / CPUs=$1 /; /^SchedulerParameters/d" "$SLURM_CONF"
    [ -z "$2" ] || echo "SchedulerParameters=$2" >>"$SLURM_CONF"
    slurm_again || { tap_fail "Slurm with $1 and $2" "$slurm_why"; done_testing; exit; }
}
for cpus in 4 32; do # two nodes: 8 and 64 slots
    for parameters in '' batch_sched_delay=0; do
        settings $cpus "$parameters"
        for provider in slurm-array slurm-batch; do
            : >counted
            run $provider -n 100 -r 1 --warmup 0 --chain 0 --no-floor --payload ./task.sh --out out
            is "$provider, $((2 * cpus)) slots, ${parameters:-defaults}: complete" "$rc $(get '[.configurations[0].batches[0]|.ended,.lost], .slots')" "0 [100,0]
$((2 * cpus))"
            agrees "$provider, $((2 * cpus)) slots, ${parameters:-defaults}: within 2 % of the counts" "$provider $((2 * cpus)) ${parameters:-default}"
            : >counted
            run $provider -n 100 -r 1 --warmup 0 --chain 0 --no-floor --payload ./task.sh --stub "$WORK/lossy.sh" --out out
            is "$provider, $((2 * cpus)) slots, ${parameters:-defaults}: 10 lost, 13 twice, no throughput" "$rc $(get '[.configurations[0].batches[0]|.ended,.lost,.duplicated,.throughput_per_s]')" "1 [90,10,13,null]"
            agrees "$provider, $((2 * cpus)) slots, ${parameters:-defaults}: what ended is within 2 % of the counts" "$provider $((2 * cpus)) ${parameters:-default} lossy"
        done
    done
done

# Limits of the controller.
slurm_stop
printf 'MaxArraySize=11\nMaxStepCount=5\n' >>"$SLURM_CONF"
slurm_again || { tap_fail "Slurm with small limits" "$slurm_why"; done_testing; exit; }
run slurm-array -n 25 -r 1 --warmup 0 --chain 0 --no-floor
is "an array greater than MaxArraySize is several" "$rc $(get '[.configurations[0].batches[0]|.ended,.lost,.duplicated,.submit_calls]')" "0 [25,0,0,3]"
run slurm-step -n 6 -r 1 --warmup 0 --chain 0 --no-floor
like "more steps than a job may have: refused" "$rc $(queue) $(cat err)" '^2 0 taskrate: .*6 steps.*5 .MaxStepCount'
slurm_stop
sed -i '/^MaxArraySize/d; /^MaxStepCount/d' "$SLURM_CONF"
slurm_again || { tap_fail "Slurm with its own limits" "$slurm_why"; done_testing; exit; }

# Ctrl-C at any time.
for after in 0.2 0.6 1 1.5 2.2 3; do
    for provider in slurm-step slurm-batch slurm-array; do
        timeout --preserve-status -s INT -k 60 $after "$T" $provider -n 60 -d 1s --no-floor -r 1 --json >out.json 2>err; rc=$?
        is "$provider: Ctrl-C after $after s leaves nothing" "$rc $(queue) $(ls "$state" | wc -l)" "130 0 0"
    done
done

# Bad states.
timeout 120 scontrol update nodename=n[1-2] state=drain reason="being tested"
run slurm-array -n 5 --no-floor
like "all nodes drained: refused, with the reason" "$rc $(cat err)" '^2 taskrate: no node of partition .*being tested.*nothing was submitted'
timeout 120 scontrol update nodename=n1 state=resume; sleep 2
run slurm-array -n 5 --no-floor -r 1 --chain 0
like "one drained: measured on the other, and told" "$rc $(get .notes)" '^0 .*nodes that take no jobs: 1 of 2'
timeout 120 scontrol update nodename=n2 state=resume; sleep 2
run slurm-batch -n 5 --no-floor -r 1 --stall 5s -- --hold
like "jobs that are held: given up with the queue's word" "$rc $(queue) $(get '.warmups[0].reason')" '^1 0 .*JobHeldUser'
timeout 120 scontrol update partitionname=debug state=down
run slurm-batch -n 5 --no-floor
like "a partition that is down" "$rc $(cat err)" '^2 .*partition that is not up'
timeout 120 scontrol update partitionname=debug state=up
run slurm-array -n 9000 --max-tasks 9000 --no-floor
like "more jobs than the controller keeps: refused" "$rc $(cat err)" '^2 .*MaxJobCount'
(sleep 4; kill -STOP $(cat "$slurm_dir/run/slurmctld.pid"); sleep 15; kill -CONT $(cat "$slurm_dir/run/slurmctld.pid")) &
run slurm-batch -n 200 --rate 20 --no-floor --warmup 0 -r 1 --client-timeout 4s --stall 10s
wait $!
like "a controller that hangs in the middle: given up" "$rc $(get '.configurations[0].batches[0].reason')" '^1 .*(did not return within|no report for|refused)'
wait_until '[ "$(queue)" = 0 ]'
"$T" clean-up >/dev/null; is "… and nothing is left" "$(queue) $(ls "$state" | wc -l)" "0 0"
kill -STOP $(cat "$slurm_dir/run/slurmctld.pid")
began=$SECONDS
timeout --preserve-status -s INT -k 60 2 "$T" --json slurm-array -n 5 --no-floor >out.json 2>err; rc=$?
kill -CONT $(cat "$slurm_dir/run/slurmctld.pid")
like "Ctrl-C while a controller that hangs is asked: at once, and said" "$rc $((SECONDS - began < 9)) $(tail -n 1 err)" '^130 1 taskrate: .*stopped before .* answered'
(sleep 3; kill $(cat "$slurm_dir/run/slurmctld.pid")) &
run slurm-array -n 60 -d 20s --no-floor --warmup 0 -r 1 --stall 15s
wait $!
like "a controller that dies in the middle: a partial result, and what may be left is said" "$rc $(get .notes)" '^1 .*jobs may be left in the queue'
run slurm-array -n 5 --no-floor
like "a dead controller at the start: refused" "$rc $(tail -n 1 err)" '^2 .*controller was asked'
setsid slurmctld -D </dev/null >>"$slurm_dir/log/ctld.out" 2>&1 & slurm_pids="$slurm_pids $!"
wait_until 'timeout 5 scontrol ping 2>/dev/null | grep -q UP'
"$T" clean-up >swept; like "when it is back the sweep ends them" "$(queue) $(cat swept)" '^0 .*was cancelled'
mkdir tiny
if mount -t tmpfs -o size=64k none tiny 2>/dev/null; then
    head -c 60000 /dev/zero >tiny/fill
    run slurm-array -n 200 --no-floor --warmup 0 -r 1 --chain 0 --report-dir "$WORK/tiny/reports"
    is "a disk that is full on the nodes: what could not be told is lost, not counted as done" "$rc $(get '.configurations[0].batches[0] | [.lost > 0, .throughput_per_s]')" '1 [true,null]'
    umount tiny
else
    skip_here "a disk that is full on the nodes" "mounting is not allowed here"
fi
slurm_stop
done_testing
