#!/bin/bash
# How the scheduler ends runs: preemption, requeue, scancel, the time limit, a batch script and a step: each is one complete and true record, and
# what is run again is another one.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/slurm.sh"
cd "$WORK" || exit 1
unset "${!SLURM_@}" 2>/dev/null
slurm_killwait=20
slurm_more="PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=grace Nodes=ALL PreemptMode=CANCEL GraceTime=6 PriorityTier=1 MaxTime=INFINITE State=UP
PartitionName=urgent Nodes=ALL PriorityTier=10 MaxTime=INFINITE State=UP"
if ! slurm_start 2; then
    skip "Slurm" "$slurm_why"
    done_testing
    exit 0
fi
chmod 755 "$WORK"
me=$(id -un)
fresh() { rm -rf mlruns .benchwrap arch began.* again urgent.*; }
# The program of a job: the first time it goes on until it is ended; once "again" is there it comes to its end.
cat >work.sh <<'S'
#!/bin/sh
echo "pass ${SLURM_RESTART_COUNT:-0}"
touch "began.${SLURM_RESTART_COUNT:-0}"
[ ! -e again ] || exit 0
for i in $(seq 600); do sleep 0.2; done
S
cat >batch.sh <<S
#!/bin/bash
#SBATCH -p debug -o job.out --open-mode=append
"$BENCHWRAP" -q -e ends --archive "$WORK/arch" -- ./work.sh
echo "status \$?" >>statuses
S
cat >last.sh <<S
#!/bin/bash
#SBATCH -p debug -o job.out --open-mode=append
exec "$BENCHWRAP" -q -e ends --archive "$WORK/arch" -- ./work.sh
S
chmod +x work.sh
runs() { for r in $("$BENCHWRAP" ls --json | jq -r '.[].id'); do "$BENCHWRAP" show "$r" --json; done | jq -rs "sort_by(.params[\"slurm.restart_count\"] // \"0\") | .[] | $1"; }
whole() # every file of a run is as its manifest says
{
    for m in mlruns/*/*/artifacts/manifest.json; do
        (cd "$(dirname "$m")/.." && jq -r '.files[] | .sha256 + "  " + .path' artifacts/manifest.json | sha256sum -c --quiet 2>&1) || echo "$m"
    done
}
by_scheduler='(ended by signal TERM|exit status 143), sent by the scheduler(: (preempted|requeued|cancelled|step cancelled, the job continues))?'
start_now() { timeout 10 scontrol update jobid="$1" StartTime=now >/dev/null 2>&1; timeout 10 squeue -h -j "$1" -o %T 2>/dev/null | grep -q RUNNING; }

for kind in preemption requeue; do
    for script in batch.sh last.sh; do
        fresh
        job=$(sbatch --parsable -N2 --exclusive --requeue "$script")
        ok "$kind, $script: it runs" wait_until "[ -e began.0 ] && [ -n \"\$(ls .benchwrap/spool)\" ]" 120
        if [ $kind = preemption ]; then
            sbatch -Q -N2 -p urgent -o /dev/null --wrap 'touch urgent.done'
            ok "$kind, $script: the other job runs" wait_until "[ -e urgent.done ]" 120
        else
            timeout 10 scontrol requeue "$job"
        fi
        ok "$kind, $script: the run is there" wait_until "[ -e mlruns/*/*/meta.yaml ]" 120
        touch again
        ok "$kind, $script: it runs again" wait_until "start_now $job; [ -e began.1 ]" 120
        ok "$kind, $script: and ends" wait_until "[ \"\$(ls -d mlruns/*/*/meta.yaml | wc -l)\" = 2 ] && [ -z \"\$(timeout 10 squeue -h -j $job 2>/dev/null)\" ]" 120
        like "$kind, $script: the first" "$(runs '[.status, .tags["job.id"], (.params["slurm.restart_count"] // "0"), .tags["benchwrap.ended"]] | join(" ")' | head -n 1)" "^KILLED $job 0 $by_scheduler\$"
        like "$kind, $script: the second" "$(runs '[.status, .tags["job.id"], .params["slurm.restart_count"]] | join(" ")' | tail -n 1)" "^FINISHED $job 1\$"
        is "$kind, $script: both outputs" "$(cat mlruns/*/*/artifacts/stdout.log | sort | xargs)" "pass 0 pass 1"
        is "$kind, $script: both are whole" "$(whole)" ""
        is "$kind, $script: both archives" "$(cat "arch/$me/job_$job.out" "arch/$me/job_$job.r1.out" | xargs) $(jq -r '.result.status, .restart, .complete' "arch/$me/job_$job.json" "arch/$me/job_$job.r1.json" | xargs)" "pass 0 pass 1 KILLED null true FINISHED 1 true"
    done
done

for script in batch.sh last.sh; do
    fresh
    job=$(sbatch --parsable -N1 "$script")
    wait_until "[ -e began.0 ] && [ -n \"\$(ls .benchwrap/spool)\" ]" 120
    timeout 10 scancel "$job"
    ok "scancel, $script: the run is there" wait_until "[ -e mlruns/*/*/meta.yaml ]" 120
    like "scancel, $script" "$(runs '[.status, .tags["job.id"], .tags["benchwrap.ended"]] | join(" ")')" "^KILLED $job $by_scheduler\$"
    is "scancel, $script: whole" "$(whole)$(cat mlruns/*/*/artifacts/stdout.log)" "pass 0"
done

fresh
job=$(sbatch --parsable -N1 -t 1 last.sh)
ok "time limit: the run is there" wait_until "[ -e mlruns/*/*/meta.yaml ]" 120
like "time limit" "$(runs '[.status, .tags["job.id"], .tags["benchwrap.ended"]] | join(" ")')" "^KILLED $job (ended by signal TERM|exit status 143): the end of the allocation \(its time limit\) was reached\$"
is "time limit: whole" "$(whole)$(cat mlruns/*/*/artifacts/stdout.log)" "pass 0"

# below benchwrap srun alone is ended: Slurm's reason comes from its own words
cat >below.sh <<S
#!/bin/bash
"$BENCHWRAP" -q -e ends -- srun ./work.sh
touch below.done
S
for kind in step grace node; do
    fresh
    rm -f below.done urgent.done
    partition=debug
    [ $kind != grace ] || partition=grace
    job=$(sbatch --parsable -p $partition -N2 -n2 --exclusive --no-requeue -o below.out below.sh)
    wait_until "[ -e began.0 ]" 120
    case $kind in
    step) timeout 10 scancel "$(timeout 10 squeue -h -s -j "$job" -o '%i %j' | awk '$2 == "work.sh" { print $1 }')" ;;
    grace) sbatch -Q -N2 --exclusive -p urgent -o /dev/null --wrap true ;;
    node) timeout 10 scontrol update nodename=n2 state=DOWN reason=test ;;
    esac
    ok "below, $kind: the run is there" wait_until "[ -e mlruns/*/*/meta.yaml ]" 120
    case $kind in
    step) reason='exit status [0-9]+, ended by Slurm: step cancelled, the job continues' ;;
    grace) reason='exit status [0-9]+, ended by Slurm: preempted' ;;
    node) reason='(ended by signal TERM|exit status [0-9]+), (sent by the scheduler|ended by Slurm): node failure' ;;
    esac
    like "below, $kind: KILLED, with Slurm's reason" "$(runs '[.status, .tags["benchwrap.ended"]] | join(" ")')" "^KILLED $reason\$"
    wait_until '[ -z "$(timeout 10 squeue -h 2>/dev/null)" ]' 120
done
slurm_stop
done_testing
