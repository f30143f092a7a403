#!/bin/bash
# TaskProlog and TaskEpilog of docs/howto-slurm.md under a real Slurm: every batch job is archived without its user's help, once, and closed to others.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/slurm.sh"
cd "$WORK" || exit 1
unset "${!SLURM_@}" BENCHWRAP_JOB_ARCHIVE 2>/dev/null
root=$WORK/logs
script() # NAME: that of the page, with our paths
{
    sed -n "/^\`\/etc\/slurm\/$1\`:/,/^\`\`\`\$/p" "$ROOT/docs/howto-slurm.md" | sed '1,/^```sh$/d; /^```$/d' |
        sed "s,^root=.*,root=$root,; s,benchwrap redact,$BENCHWRAP redact,; s,^most=.*,most=2000," >"$1"
    chmod 755 "$1"
}
script job-archive-prolog
script job-archive-epilog
ok "the page has both scripts" [ "$(wc -l <job-archive-prolog)" -gt 10 ] && [ "$(wc -l <job-archive-epilog)" -gt 20 ]
if command -v shellcheck >/dev/null 2>&1; then
    ok "shellcheck finds nothing" shellcheck job-archive-prolog job-archive-epilog
fi
# shellcheck disable=SC2034 # for slurm_start
slurm_more="TaskProlog=$WORK/job-archive-prolog
TaskEpilog=$WORK/job-archive-epilog"
if ! slurm_start 1; then
    skip "Slurm" "$slurm_why"
    done_testing
    exit 0
fi
trap 'slurm_stop; tap_exit' EXIT
chmod 755 "$WORK"; install -d -m 1777 "$root"
me=$(id -un)
ended() { wait_until "! squeue -h -j $1 2>/dev/null | grep -q ."; sleep 1; }
printf '#!/bin/sh\n#SBATCH -o %s/o.%%j -e %s/e.%%j\necho out; echo err >&2; srun -n 1 echo step\nexport A=1\n' "$WORK" "$WORK" >job.sh
job=$(MY_API_TOKEN=sk-secretsecret123 WHAT=this sbatch --parsable job.sh); ended "$job"
is "a batch job: script, environment, output, errors" "$(cd "$root/$me" && ls | paste -sd' ')" "job_$job.env job_$job.err job_$job.out job_$job.sh"
is "... as they were" "$(cmp "$root/$me/job_$job.sh" job.sh && paste -sd' ' "$root/$me/job_$job.out" "$root/$me/job_$job.err" | paste -sd' ')" "out step err"
is "... with the job's variables, and no secret" "$(grep -c "^SLURM_JOB_ID=$job\$" "$root/$me/job_$job.env") $(grep -c '^WHAT=this' "$root/$me/job_$job.env") $(grep -c secretsecret "$root/$me/job_$job.env") $(grep -c '^MY_API_TOKEN=' "$root/$me/job_$job.env")" "1 1 0 1"
is "modes" "$(stat -c %a "$root/$me" "$root/$me"/* | sort | uniq -c | tr -s ' ' | paste -sd' ')" " 4 600  1 700"
job=$(sbatch --parsable --array=3-4 job.sh); ended "$job"; wait_until "[ -e $root/$me/job_${job}_4.err ]"
is "tasks of an array have their own files" "$(cd "$root/$me" && ls -d job_"${job}"_*.out | paste -sd' ')" "job_${job}_3.out job_${job}_4.out"
job=$(BENCHWRAP_JOB_ARCHIVE=no sbatch --parsable job.sh); ended "$job"
is "a user can opt out" "$(ls "$root/$me" | grep -c "job_${job}[.]")" 0
printf '#!/bin/sh\n#SBATCH -o %s/long.%%j\nseq 5000; sleep 60\n' "$WORK" >long.sh
job=$(sbatch --parsable long.sh); wait_until "[ -s $WORK/long.$job ]"; sleep 1; scancel "$job"; ended "$job"
is "a cancelled job is archived too, a long output with its beginning and end" "$(head -n 1 "$root/$me/job_$job.out") $(grep -c 'bytes are left out' "$root/$me/job_$job.out") $(ls "$root/$me/job_$job".* | wc -l)" "1 1 3"
rm -rf "${root:?}/$me"; ln -s "$WORK" "$root/$me"
before=$(ls "$WORK" | wc -l)
job=$(sbatch --parsable -o /dev/null -e /dev/null job.sh); ended "$job"
is "a link in place of the folder gets nothing" "$(ls "$WORK" | grep -c "job_${job}[.]")" 0
is "jobs are not disturbed" "$(sacct -h 2>/dev/null; cat "$WORK"/e.* | sort | uniq -c | tr -s ' ')" " 4 err"
done_testing
