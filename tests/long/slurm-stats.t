#!/bin/bash
# benchwrap slurm-stats of a real Slurm: what it counts is what the jobs and nodes are; promtool accepts it.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/slurm.sh"
. "$TESTLIB/prometheus.sh"
cd "$WORK" || exit 1
unset "${!SLURM_@}" 2>/dev/null
if ! slurm_start 4; then
    skip "Slurm" "$slurm_why"
    done_testing
    exit 0
fi
for _ in 1 2; do sbatch -Q -N1 -n1 -o /dev/null --wrap 'sleep 300'; done
sbatch -Q -d afterok:1 -o /dev/null --wrap true
sbatch -Q -H -o /dev/null --wrap true
wait_until '[ "$(squeue -h -t R | wc -l)" = 2 ]'
metrics() { "$BENCHWRAP" slurm-stats --max-age 0; }
metrics >m
of() { sed -n "s/^$1 //p" m; }
is "jobs" "$(of slurm_queue_running) $(of slurm_queue_pending) $(of slurm_queue_pending_dependency) $(of "slurm_user_jobs_running{user=\"$(id -un)\"}")" "2 2 1 2"
is "nodes are all counted" "$(awk '/^slurm_nodes_/ { n += $2 } END { print n }' m) $(grep -c '^slurm_node_cpu_total{' m)" "4 4"
is "CPUs are all counted" "$(of slurm_cpus_total)" "$(sinfo -h -o %C | awk -F/ '{ n += $4 } END { print n }')"
is "every command answers" "$(grep -c '^benchwrap_slurm_source_up{.* 1$' m)" 4
scontrol update nodename=n4 state=drain reason=test
wait_until 'metrics >m; [ "$(of slurm_nodes_drain)" = 1 ]'
is "a drained node" "$(of slurm_nodes_drain)" 1
if prometheus_ready; then
    is "promtool accepts the text" "$(promtool check metrics <m 2>&1; echo $?)" 0
else
    skip "promtool" "$prometheus_why"
fi
slurm_stop
is "no controller: an error, soon" "$(metrics >m 2>err; echo $?) $(grep -c 'no command of Slurm answers' err)" "1 1"
done_testing
