#!/bin/bash
# Metrics that slurmctld serves itself (25.11 and newer), read from a real one of Debian's newest suite (slurm_root.sh).
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/slurm_root.sh"
slurm_root sid "$@"
. "$TESTLIB/slurm.sh"
cd "$WORK" || exit 1
# shellcheck disable=SC2034 # for slurm_start
slurm_more="MetricsType=metrics/openmetrics"
if ! slurm_start 3; then
    tap_fail "Slurm starts" "$slurm_why"
    done_testing
    exit 0
fi
like "the version" "$(scontrol --version)" 'slurm-wlm (25\.11|2[6-9])'
for _ in 1 2; do sbatch -Q -N1 -n1 -o /dev/null --wrap 'sleep 300'; done
sbatch -Q -H -o /dev/null --wrap true
wait_until '[ "$(squeue -h -t R | wc -l)" = 2 ]'
"$BENCHWRAP" slurm-stats --max-age 0 --slurmctld "http://127.0.0.1:$slurm_ports" >m 2>err
is "slurmctld's metrics are read" "$? $(cat err)" "0 "
of() { sed -n "s/^$1 //p" m; }
is "jobs and nodes are those of the cluster" "$(of slurm_jobs_running) $(of slurm_jobs_pending) $(of slurm_nodes)" "2 1 3"
"$BENCHWRAP" slurm-stats --max-age 0 >ours 2>err
is "the commands of this version are read, too" "$(sed -n 's/^slurm_queue_running //p' ours) $(sed -n 's/^slurm_queue_pending //p' ours) $(sed -n 's/^slurm_cpus_total //p' ours) $(grep -c '^benchwrap_slurm_source_up{.* 1$' ours)" "2 1 24 4"
slurm_stop
done_testing
