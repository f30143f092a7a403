#!/bin/bash
# recipe-slurm-kills: a campaign of 20 points or more on two nodes is ended at random moments by SIGKILL of benchwrap, scancel, the loss of a node,
# and the loss of a node that Slurm does not notice, in turn. It resumes each time, and ends with the same points, none measured twice, and nothing left. ENDS: how often (30). SEED: of the
# moments, as a run before has printed it.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/slurm.sh"
cd "$WORK" || exit 1
mark=$((600000 + $$ % 100000)) ends=${ENDS:-30} seed=${SEED:-$$}
RANDOM=$seed
mkdir "$mark" # in the command line of servers, too
points=$((ends > 10 ? 3 * ends : 20))
left() { pgrep -fa "$mark" | grep -vc benchwrap-core; }
if ! slurm_start 4; then
    skip "campaigns on Slurm end at random moments" "$slurm_why"
    done_testing
    exit
fi
cat >many.yaml <<Y
version: 1
name: many
sweep: {grid: {n: 1..$points}}
roles:
  server: {command: [sh, -c, "exec python3 -m http.server {port} --bind {host} --directory $WORK/$mark"], ports: {http: 0}, ready: {http: /}}
  client: {command: [sh, -c, "sleep 1.8; echo rate {n} op/s", "$mark"]}
grace: 1s
node_timeout: 3s
Y
# SIGTERM to the campaign, and its end: $longest is the longest of them, in ms.
longest=0
terminate()
{
    local before took
    before=$(date +%s%N)
    kill -TERM "$1" 2>/dev/null || return
    wait_until 'has_ended $campaign' 60
    took=$((($(date +%s%N) - before) / 1000000))
    [ $took -le $longest ] || longest=$took
}
done_points() { "$BENCHWRAP" recipe report many --json 2>/dev/null | jq '[.[] | select(.outcome == "valid")] | length'; }
steps() { squeue -h -s -o %j 2>/dev/null | grep -c bw-; }
declare -A count=()
lost=0
for i in $(seq "$ends"); do
    salloc -Q --no-kill -N2 "$BENCHWRAP" recipe run many.yaml >out.$i 2>&1 &
    victim=$!
    sleep "$((RANDOM % 10 + 1)).$((RANDOM % 90 + 10))"
    job=$(squeue -h -t RUNNING -o %A | head -n 1)
    campaign=$(pgrep -P $victim -f 'recipe run' | head -n 1)
    how=$(printf '%s\n' kill cancel node silent | sed -n "$((i % 4 + 1))p")
    case $how in
    kill) pkill -KILL -P $victim -f 'recipe run' ;;
    cancel) [ -z "$job" ] || scancel "$job" ;;
    node | silent)
        node=$([ -z "$job" ] || scontrol show hostnames "$(squeue -h -j "$job" -o %N)" | sed -n "$((RANDOM % 2 + 1))p")
        [ -z "$node" ] || slurm_kill_node "$node" # as by a power failure: slurmd, the steps and all of their processes end at once
        # A node that is only set down can be left with a task that Slurm itself does not end ("Kill task failed"), where the node is lost while
        # the task starts.
        [ -z "$node" ] || [ "$how" != node ] || scontrol update nodename="$node" state=down reason=lost
        ;;
    esac
    count[$how]=$((${count[$how]:-0} + 1))
    case $how in
    node)
        [ $((RANDOM % 2)) = 0 ] || wait_until 'has_ended $victim' 10 # it may have noticed the loss itself
        [ -z "$campaign" ] || terminate "$campaign"
        kill -TERM $victim 2>/dev/null
        ;;
    silent)
        wait_until 'has_ended $victim' 60
        has_ended $victim || { lost=$((lost + 1)); tap_fail "end $i: a node that is lost holds a point" "$(cat out.$i)"; }
        kill -TERM $victim 2>/dev/null
        ;;
    esac
    wait $victim 2>/dev/null
    case $how in node | silent) [ -z "$node" ] || slurm_restart_node "$node" ;; esac
    wait_until '[ "$(left)" = 0 ] && [ "$(steps)" = 0 ]'
    [ "$(left) $(steps)" = "0 0" ] || { lost=$((lost + 1)); tap_fail "end $i by $how leaves something" "$(pgrep -fa "$mark"; squeue -s; cat out.$i)"; }
    [ "$(done_points)" != $points ] || break
done
echo "# the longest tear-down after the loss of a node: $longest ms"
echo "# seed $seed, $points points; ended: kill ${count[kill]:-0}, scancel ${count[cancel]:-0}, node lost ${count[node]:-0}, unnoticed ${count[silent]:-0}"
for _ in 1 2 3; do # a node that was lost may still be coming back
    salloc -Q -N2 "$BENCHWRAP" recipe run many.yaml >out 2>err && break
done
is "it was ended so often" "$i" "$ends"
is "the last execution ends it" "$(done_points)" "$points"
# A run whose service did not answer any more at its end is no measurement: its node was lost, and the point is measured again.
is "none was measured to its end twice" "$(jq -r 'select(.event == "end" and .exit == 0 and .invalid == "") | .label' .benchwrap/campaigns/many/points.jsonl | sort | uniq -d)" ""
is "under one run" "$(jq -r 'select(.parent) | .parent' .benchwrap/campaigns/many/points.jsonl | sort -u | wc -l) $(ls -d mlruns/*/*/tags/benchwrap.series | wc -l)" "1 1"
is "check accepts it" "$("$BENCHWRAP" check | grep -c error)" 0
is "nothing is left" "$(left) $(steps) $lost" "0 0 0"
ok "SIGTERM after the loss of a node ends the campaign within 5 s" [ "$longest" -lt 5000 ]
slurm_stop
done_testing
