#!/bin/bash
# A scontrol that lies, stops halfway, says too much or nothing: the run is recorded as ever, and says why there is no allocation in it.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
unset "${!SLURM_@}" 2>/dev/null
export BENCHWRAP_FINISH_WAIT=60s # a busy machine needs more than 0.3 s for the answers
mkdir fake
run() # JOB [NAME]: a run in that job with fake/scontrol in PATH; what is missing
{
    rm -rf mlruns .benchwrap
    PATH=$WORK/fake:$PATH SLURM_JOB_ID=$1 SLURM_JOB_NAME=${2-wrap} "$BENCHWRAP" -q -- true 2>err
    "$BENCHWRAP" show --json | jq -r '(.missing[] | select(.key == "job.allocation").reason) // empty' | cut -c1-120
}
param() { cat mlruns/*/*/params/"$1" 2>/dev/null; }
fake() { { echo '#!/bin/sh'; cat; } >fake/scontrol; chmod +x fake/scontrol; }
json=$ROOT/tests/slurm/24.11-running/reply.json
text=$ROOT/tests/slurm/text-22.05/reply.txt

fake <<S
echo "\$*" >>'$WORK/asked'
[ "\$SLURM_TIME_FORMAT" = %s ] || exit 9
cat '$json'
S
is "JSON: nothing is missing" "$(SLURM_TIME_FORMAT=nonsense run 6368)" ""
is "JSON: its fields" "$(param slurm.version) $(param job.time_limit_s) $(cat mlruns/*/*/tags/job.nodelist)" "24.11.5 120 cn3"
is "JSON: asked once" "$(cat asked)" "show job 6368 --json"
is "another run of the job has the same" "$(run 6368)$(param slurm.version)" "24.11.5"
is "and nobody asked again" "$(wc -l <asked)" 1
fake <<S
sed 's/"RUNNING"/"COMPLETED"/' '$json'
S
warned() { "$BENCHWRAP" show --json | jq -r '[.warnings[] | .text? // . | select(test("not of this run"))] | join("+")'; }
ended="the job of the environment had ended when the run began (COMPLETED)"
is "the job had ended: its variables are those of a shell that is left" "$(SLURM_RESTART_COUNT=1 run 6368) $(warned)" "$ended $ended: job.* is of that job, and not of this run"
gpus() { "$BENCHWRAP" -q -- true; "$BENCHWRAP" show --json | jq -r '.params | (.["step.gpus_per_node"] // .["job.gpus_per_node"] // "-") | tostring'; }
export SLURM_JOB_NUM_NODES=2 SLURM_GPUS_ON_NODE=4
is "GPUs on two nodes: --gpus=5, --gpus=8" "$(SLURM_JOB_ID=5 SLURM_GPUS=5 gpus) $(SLURM_JOB_ID=5 SLURM_GPUS=8 gpus)" "- 4"
export SLURM_JOB_ID=5 SLURM_STEP_ID=0 SLURM_STEP_NUM_NODES=2 SLURM_GPUS_PER_TASK=1
is "... --gpus-per-task=1 with tasks 4,1 and 4,4" "$(SLURM_STEP_TASKS_PER_NODE=4,1 gpus) $(SLURM_STEP_TASKS_PER_NODE='4(x2)' gpus)" "- 4"
unset "${!SLURM_@}"
# A job that srun makes: its variables count the GPUs of this node alone.
fake <<S
case "\$*" in *--json*) echo "scontrol: unrecognized option '--json'" >&2; exit 1 ;; esac
sed "s,gres/gpu=4,gres/gpu=\$GPUS,; s,JobId=5 ,JobId=\$SLURM_JOB_ID ," '$ROOT/tests/slurm/text-22.05-gpus/reply.txt'
S
dealt() # JOB GPUS VARIABLE=VALUE...: the warning about them
{
    (export GPUS=$2 SLURM_JOB_NUM_NODES=2 "${@:3}" && run "$1") >out
    "$BENCHWRAP" show --json | jq -r '[.warnings[] | .text? // . | select(test("GPUs on"))] | join("+")'
}
in_step="SLURM_STEP_ID=0 SLURM_STEP_NUM_NODES=2"
# shellcheck disable=SC2086 # several
is "srun --gpus=5: a warning" "$(dealt 201 5 $in_step SLURM_GPUS_ON_NODE=3)" "the job has 5 GPUs on 2 nodes: others may have another number than this one in step.gpus_per_node (3)"
# shellcheck disable=SC2086
is "... 4 and 2: a warning; 2 and 2, and a step with a part of the job's: none" "$(dealt 202 6 $in_step SLURM_GPUS_ON_NODE=4 | grep -c 'job has 6') $(dealt 203 4 $in_step SLURM_GPUS_ON_NODE=2)$(dealt 204 4 $in_step SLURM_GPUS_ON_NODE=1)" "1 "
is "... of the allocation: a warning" "$(dealt 205 6 SLURM_GPUS_ON_NODE=2 | grep -o 'job.gpus_per_node (2)')" "job.gpus_per_node (2)"
# A site that does not account for GPUs: the devices of each node show them.
fake <<S
jq --argjson id "\$SLURM_JOB_ID" --argjson gres "\$GPUS" '.jobs[0] += {job_id: \$id, tres_alloc_str: "cpu=4,mem=8G,node=2,billing=4", gres_detail: \$gres}' '$json'
S
# shellcheck disable=SC2086 # several
is "GPUs that are not in the TRES, 3 and 2: a warning; 2 and 2: none" \
    "$(dealt 206 '["gpu:a100:3(IDX:0-1,4)","gpu:2(IDX:0-1)"]' $in_step SLURM_GPUS_ON_NODE=3) $(dealt 207 '["gpu:2(IDX:0,3)","gpu:2(IDX:0-1)"]' $in_step SLURM_GPUS_ON_NODE=2)" \
    "the job has 5 GPUs on 2 nodes: others may have another number than this one in step.gpus_per_node (3) "
fake <<S
case "\$*" in *--json*) echo "scontrol: unrecognized option '--json'" >&2; exit 1 ;; esac
sed "s,\,gres/gpu=4,,; s,JobId=5 ,JobId=\$SLURM_JOB_ID ,; s,JOB_GRES=.*,JOB_GRES=gpu:a100:\$GPUS," '$ROOT/tests/slurm/text-22.05-gpus/reply.txt' |
    case "\$*" in *-d*) cat ;; *) grep -v GRES ;; esac
S
# shellcheck disable=SC2086 # several
is "... in the text form: 3 and 2, 2 and 2" "$(dealt 208 5 $in_step SLURM_GPUS_ON_NODE=3 | grep -o 'job has 5 GPUs on 2') $(dealt 209 4 $in_step SLURM_GPUS_ON_NODE=2)" "job has 5 GPUs on 2 "
fake <<S
echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1
S
for again in first cached; do
    is "Slurm has forgotten the job ($again)" "$(run 107 >out; warned)" "Slurm does not know the job of the environment, which may have ended: job.* is of that job, and not of this run"
done
fake <<S
case "\$*" in *--json*) echo "scontrol: unrecognized option '--json'" >&2; exit 1 ;; esac
cat '$text'
S
is "an older one: text" "$(run 2 'ior sweep: xfer=2M, blk=2M')$(param slurm.licenses) $(param slurm.tres)" "matlab:2 cpu=8,mem=8000M,node=2,billing=8,license/matlab=2"
name() { run "$@" >out; cat mlruns/*/*/tags/job.name 2>/dev/null || "$BENCHWRAP" show --json | jq -r '.missing[] | select(.key == "job.name").reason'; }
is "srun -J step: the job's name is Slurm's, not the step's" "$(SLURM_STEP_ID=0 name 2 step)" "ior sweep: xfer=2M, blk=2M"
is "... which a batch script knows by its variable" "$(name 2 wrap)" wrap
is "... and a step does not" "$(SLURM_STEP_ID=0 BENCHWRAP_NO_SCONTROL=1 name 2 step)" "in a step SLURM_JOB_NAME may be the name of the step, and Slurm did not report the job's"
fake <<S
head -c 9000 '$json'
S
like "half of it" "$(run 101)" "^scontrol: scontrol's JSON: line .*not valid JSON"
fake <<S
case "\$*" in *--json*) echo "no JSON support" >&2; exit 1 ;; esac
sed 's/JobId=2 /JobId=102 /' '$text' | head -c 600
S
is "half of the text" "$(run 102 'ior sweep: xfer=2M, blk=2M')$(param slurm.qos)" "scontrol: scontrol's reply ends too early"
fake <<S
cat '$json'
S
is "another job" "$(run 103)$(param slurm.version)" "scontrol: scontrol's reply is not about the job 103"
fake <<S
printf '\033]0;owned\007\033[2J error: \377 no\nsecond line\n' >&2; exit 1
S
is "escape bytes" "$(run 104)" 'scontrol: \x1b]0;owned\x07\x1b[2J error: \xff no'
is "in the public profile its words are withheld" "$(BENCHWRAP_PROFILE=public run 124; grep -rl owned mlruns .benchwrap)" "scontrol: failed (its words are withheld: the profile is public)"
is "... also after a private run of the same job" "$(run 125 >/dev/null; BENCHWRAP_PROFILE=public run 125; grep -rl owned mlruns .benchwrap)" "scontrol: failed (its words are withheld: the profile is public)"
fake <<S
exec head -c 60000000 /dev/zero
S
is "too much" "$(run 105)" "scontrol: its answer is longer than 32 MiB (or out of memory)"
fake <<S
head -c 300000 /dev/urandom; kill -9 \$\$
S
is "killed" "$(run 106)" "scontrol: it failed and printed no message"
rm fake/scontrol
# how Slurm ended what the program had started: by its own line in the output, and its state of the job; nothing is inferred from an exit status
fake <<S
sed '/^   StartTime=/a\   PreemptEligibleTime=1795445590 PreemptTime=1795445595' '$text'
S
ended() # JOB STATUS LINE PROGRAM…
{
    rm -rf mlruns .benchwrap
    PATH=$WORK/fake:$PATH SLURM_JOB_ID=$1 SLURM_JOB_NAME='ior sweep: xfer=2M, blk=2M' "$BENCHWRAP" -q -- sh -c 'echo "$1" >&2; exit "$2"' sh "${3//NOW/$(date +%FT%T)}" "$2" 2>err
    "$BENCHWRAP" show --json | jq -r '[.status, .tags["benchwrap.ended"], .tags["job.end"]] | join("|")'
}
slurmstepd="slurmstepd-n1: error: *** STEP 2.1 ON n1 CANCELLED AT NOW"
is "Slurm's line names the cause" "$(ended 2 143 "$slurmstepd DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***")" "KILLED|exit status 143, ended by Slurm: node failure|node failure"
is "Slurm's line without a cause: scontrol names it" "$(ended 2 143 "$slurmstepd ***")" "KILLED|exit status 143, ended by Slurm: preempted|preempted"
is "another job's line" "$(ended 3 143 "$slurmstepd ***")" "FAILED|exit status 143|"
is "the time of another zone" "$(ended 2 143 "slurmstepd: error: *** STEP 2.1 ON n1 CANCELLED AT $(TZ=X-5:45 date +%FT%T) DUE TO NODE FAILURE ***")" \
    "KILLED|exit status 143, ended by Slurm: node failure|node failure"
is "a line of an earlier step, which the program prints" "$(ended 2 143 "slurmstepd: error: *** STEP 2.0 ON n1 CANCELLED AT $(date -d '-2 minutes' +%FT%T) DUE TO NODE FAILURE ***")" \
    "FAILED|exit status 143|"
is "a line without a time" "$(ended 2 143 "slurmstepd: error: *** STEP 2.0 ON n1 CANCELLED AT noon DUE TO NODE FAILURE ***")" "FAILED|exit status 143|"
is "a status of the program's own" "$(ended 2 3 "$slurmstepd ***")" "FAILED|exit status 3|"
is "srun itself ended the step of a failed rank (--kill-on-bad-exit)" \
    "$(ended 2 143 "srun: error: n2: task 1: Exited with exit code 7
srun: launch/slurm: _step_signal: Terminating StepId=2.1
$slurmstepd ***")" "FAILED|exit status 143|"
is "a rank had failed before Slurm ended the step" "$(ended 2 143 "srun: error: n2: task 1: Exited with exit code 7
$slurmstepd ***")" "KILLED|exit status 143, ended by Slurm: preempted|preempted"
is "a node of a step with --no-kill failed" "$(ended 2 137 "srun: error: Node failure on n3
srun: error: n3: task 2: Killed")" "KILLED|exit status 137, ended by Slurm: node failure|node failure"
is "no line" "$(ended 2 143 "Terminated")" "FAILED|exit status 143|"
# the end that was known when the job began is here: was it the time limit, as Slurm has it now?
for ran in 00:02:53 00:29:59; do
    fake <<S
sed 's/RunTime=00:02:53/RunTime=$ran/' '$text'
S
    for seconds in 2 4 8 16; do # on a busy machine benchwrap may begin after that end, which then is none
        rm -rf mlruns .benchwrap
        ends=$(($(date +%s) + seconds))
        PATH=$WORK/fake:$PATH SLURM_JOB_ID=2 SLURM_JOB_NAME='ior sweep: xfer=2M, blk=2M' SLURM_JOB_END_TIME=$ends \
            "$BENCHWRAP" -q -- sh -c "while [ \"\$(date +%s)\" -lt $ends ]; do sleep 0.1; done; kill -KILL \$\$" 2>err
        got=$("$BENCHWRAP" show --json | jq -r '[.status, .tags["benchwrap.ended"]] | join("|")')
        expected="KILLED|ended by signal KILL$([ $ran = 00:02:53 ] || echo ': the end of the allocation (its time limit) was reached')"
        [ "$got" != "$expected" ] || break
    done 2>/dev/null
    is "ran $ran of 00:30:00" "$got" "$expected"
done
fake <<S
touch '$WORK/was asked'
S
is "not asked" "$(BENCHWRAP_NO_SCONTROL=1 run 108)" "scontrol was not called (--no-scontrol)"
is "not asked by tasks of an array" "$(SLURM_ARRAY_JOB_ID=109 SLURM_ARRAY_TASK_ID=1 run 110)" "tasks of an array do not call scontrol: there may be thousands"
for id in '5; touch x' '--help' '../7' '' 99999999999999999999999; do run "$id" >/dev/null; done
ok "an id that is no number never reaches a command" test ! -e "was asked"
# the allocation ends in 61 s: a second from now everything is synced, the streams too
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    for ends in 62 6000; do
        rm -rf mlruns .benchwrap
        SLURM_JOB_END_TIME=$(($(date +%s) + ends)) BENCHWRAP_NO_SCONTROL=1 SLURM_JOB_ID=5 ASAN_OPTIONS=detect_leaks=0 strace -f -y -s 200 -o "trace.$ends" -e trace=fsync,syncfs,sync_file_range "$BENCHWRAP" -q -- sh -c 'echo hello; sleep 3' >/dev/null
    done
    is "60 s before the end of the allocation the record is safe" "$(grep -o 'fsync([0-9]*<[^>]*/\(journal\|stdout.log\)>' trace.62 | sed 's,.*/,,' | sort -u | xargs)" "journal> stdout.log>"
    is "and not before" "$(grep -c 'fsync(.*stdout.log' trace.6000)" 0
else
    skip_here "60 s before the end of the allocation the record is safe" "no strace here"
fi
SLURM_JOB_END_TIME=$(($(date +%s) + 61)) SLURM_JOB_ID=x "$BENCHWRAP" -q -- true
is "an end of the allocation without a job" $? 0
done_testing
