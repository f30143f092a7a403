#!/bin/bash
# The archive of a job: job/ with the run, --archive DIR, `benchwrap archive`; in a real Slurm job; secrets, links, other people's scripts, names taken.
# sanitizer: long, because of the private Slurm
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/slurm.sh"
cd "$WORK" || exit 1
unset "${!SLURM_@}" "${!PMI_@}" "${!PMIX_@}" "${!OMPI_@}" 2>/dev/null
export BENCHWRAP_FINISH_WAIT=60s # on a busy machine
me=$(id -un)
secret=hunter2hunter2hunter2x
fresh() { rm -rf mlruns .benchwrap arch; }
job_dir() { echo mlruns/*/*/artifacts/job; }
sums() { (cd "$1" && jq -r '.files[] | .sha256 + "  " + .path' "$2" | sha256sum -c --quiet 2>&1); } # FOLDER MANIFEST

# no scheduler: a program that is no benchmark, every byte and its status; nothing read from it
printf 'bw: 5 MiB/s\nb\0\377\n' >bytes
MY_TOKEN=$secret "$BENCHWRAP" archive -q --archive arch -- sh -c "cat bytes; echo e >&2; exit 7" >out 2>err
is "archive: status, bytes" "$? $(cmp out bytes 2>&1) $(cat err)" "7  e"
is "archive: job/ of the run" "$(ls "$(job_dir)" | xargs)" "environment.txt manifest.json result.json stderr.log stdout.log"
is "archive: job/ is private" "$(stat -c %a "$(job_dir)" "$(job_dir)"/[!s]* | sort -u | xargs)" "600 700"
is "archive: no rules" "$("$BENCHWRAP" show --json | jq -r '.tags["benchwrap.rules"], .verdict' | xargs)" "null fail"
is "archive: result" "$(jq -r '.status, .exit_status' "$(job_dir)/result.json" | xargs)" "FAILED 7"
is "archive: sums of job/" "$(cd "$(job_dir)/.." && jq -r '.files[] | .sha256 + "  " + .path' job/manifest.json | sha256sum -c --quiet 2>&1)" ""
id=$(basename mlruns/*/????????????????????????????????)
is "DIR: names" "$(cd "arch/$me" && echo *)" "job_$id.env job_$id.err job_$id.json job_$id.out"
is "DIR: private" "$(stat -c %a "arch/$me" "arch/$me"/* | sort -u | xargs)" "600 700"
is "DIR: bytes, sums" "$(cmp "arch/$me/job_$id.out" bytes 2>&1)$(sums "arch/$me" "job_$id.json")" ""
like "DIR: environment without its secret" "$(cat "arch/$me/job_$id.env")" '^MY_TOKEN=\[redacted\]'
is "the secret is nowhere" "$(grep -rl "$secret" mlruns arch .benchwrap 2>/dev/null)" ""

# a job by its environment and slurmd's spool folder
mkdir -p spool/n1/job00042
printf 'ClusterName=x\nslurmdspooldir = %s/spool/%%n # here\n' "$WORK" >slurm.conf
printf '#!/bin/sh\nexport API_TOKEN=%s\n./steps.sh\n' $secret >spool/n1/job00042/slurm_script
as_job() { env SLURM_CONF="$WORK/slurm.conf" SLURM_JOB_ID=42 SLURMD_NODENAME=n1 BENCHWRAP_NO_SCONTROL=1 BENCHWRAP_NO_COLLECT=1 "$@"; }
why_no_script() { jq -r '.missing[] | select(.part == "script").reason' "$(job_dir)/manifest.json"; }
fresh
as_job "$BENCHWRAP" -q --archive arch -- echo one
like "a run in a job: the script" "$(cat "$(job_dir)/script.sh")" '^./steps.sh'
is "its secret is nowhere" "$(grep -rl "$secret" mlruns arch .benchwrap 2>/dev/null)" ""
cp "arch/$me/job_42.out" first
as_job "$BENCHWRAP" -q --archive arch -- echo two
as_job SLURM_RESTART_COUNT=1 SLURM_STEP_ID=0 "$BENCHWRAP" -q --archive arch -- true
as_job SLURM_ARRAY_JOB_ID=40 SLURM_ARRAY_TASK_ID=2 SLURM_CLUSTER_NAME=../../x "$BENCHWRAP" -q --archive arch -- true
is "DIR: run, restart, step, array task have names of their own" "$(cd "arch/$me" && ls *.json | sed 's/-[0-9a-f]\{32\}/-ID/' | xargs)" "job_40_2.json job_42-ID.json job_42.json job_42.r1.s0.json"
is "DIR: nothing was overwritten" "$(cmp first "arch/$me/job_42.out") $(cat "arch/$me"/job_42-*.out)" " two"
fresh
mv spool/n1/job00042/slurm_script real
ln -s "$WORK/real" spool/n1/job00042/slurm_script
as_job "$BENCHWRAP" -q -- true
like "a link is not followed" "$(why_no_script)" 'slurm_script: '
fresh
rm spool/n1/job00042/slurm_script
mkfifo spool/n1/job00042/slurm_script
as_job "$BENCHWRAP" -q -- true
like "a FIFO is not read" "$(why_no_script)" 'not a regular file of yours'
if [ "$(id -u)" = 0 ]; then
    fresh
    rm spool/n1/job00042/slurm_script
    install -o 12345 -m 600 real spool/n1/job00042/slurm_script
    as_job "$BENCHWRAP" -q -- true
    like "another owner's script is left alone" "$(why_no_script)" 'not a regular file of yours'
fi
fresh
rm -f spool/n1/job00042/slurm_script
{ echo '#!/bin/sh'; head -c 3000000 /dev/zero | tr '\0' '#'; echo; echo tail; } >spool/n1/job00042/slurm_script
as_job "$BENCHWRAP" -q -- true
is "a long script: head and tail" "$(head -n 1 "$(job_dir)/script.sh"; tail -n 1 "$(job_dir)/script.sh"; grep -c 'bytes are not kept here' "$(job_dir)/script.sh")" "#!/bin/sh
tail
1"
fresh
as_job "$BENCHWRAP" -q --profile public --archive arch -- echo x
is "public: no job/, no script" "$(ls -d mlruns/*/*/artifacts/job arch/*/*.sh 2>/dev/null)" ""

# what cannot be written: one warning, the program and the run as always
fresh
: >file
"$BENCHWRAP" -q --archive file/x -- sh -c 'echo out; exit 3' >out 2>err
is "DIR cannot be made: status, output, one warning, the run" "$? $(cat out) $(grep -c . err) $(ls -d mlruns/*/*/meta.yaml | wc -l)" "3 out 1 1"
like "the warning" "$(cat err)" '^benchwrap: --archive .*/file/x: .*Not a directory; the run itself is recorded'
mkdir -p arch else
ln -s ../else "arch/$me"
"$BENCHWRAP" -q --archive arch -- true 2>err
is "a link in the place of the user's folder" "$(grep -c . err) $(ls else)" "1 "

# a full disk: nothing under a name that anybody reads, nothing left
if mkdir small && mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
    "$BENCHWRAP" -q --archive small -- sh -c 'seq 100000; exit 3' >out 2>err
    is "a full disk: status, one warning, nothing torn, nothing left" "$? $(grep -c . err) $(find small -type f | wc -l) $(ls -A "small/$me")" "3 1 0 "
    like "a full disk: the warning" "$(cat err)" '^benchwrap: --archive .*/small: .*No space left on device; the run itself is recorded'
    umount small
else
    skip_here "a full disk" "no tmpfs can be mounted"
fi
# runs of one job at once: each whole, under a name of its own; what a killed one has left goes after an hour
fresh
mkdir -p "arch/$me/.unfinished/old" "arch/$me/.unfinished/young"
chmod -R go-w arch
touch "arch/$me/.unfinished/old/.out"
touch -d '2 hours ago' "arch/$me/.unfinished/old"
for i in 1 2 3 4 5; do as_job "$BENCHWRAP" -q --archive arch -- seq 1000 >/dev/null & done
wait
is "five runs of a job at once" "$(cd "arch/$me" && ls *.json *.out | sed 's/-[0-9a-f]\{32\}/-ID/' | LC_ALL=C sort | uniq -c | xargs)" "4 job_42-ID.json 4 job_42-ID.out 1 job_42.json 1 job_42.out"
is "each is whole" "$(for m in "arch/$me"/*.json; do jq -r .complete "$m"; sums "arch/$me" "$(basename "$m")"; done | sort | uniq -c | xargs) $(ls -A "arch/$me/.unfinished")" "5 true young"
if long_tests; then
    # a folder that hangs; with "take" not even KILL ends who waits for it
    for kind in "" take; do
        fresh
        mkdir -p dead
        # shellcheck disable=SC2086 # no word, or one
        "$BUILD/tests/lib/hung-mount" "$WORK/dead" $kind >mounted 2>why &
        hung=$!
        wait_until '[ -s mounted ] || has_ended $hung'
        if [ -s mounted ]; then
            timeout 300 "$BENCHWRAP" -q --archive "$WORK/dead/x" -- sh -c 'echo out; exit 3' >out 2>err
            is "a hung folder ($kind): status, output, the run" "$? $(cat out) $(ls -d mlruns/*/*/meta.yaml | wc -l)" "3 out 1"
            like "a hung folder ($kind): the warning" "$(cat err)" '^benchwrap: --archive .*/dead/x: not done within 5 s; the run itself is recorded'
            kill $hung
        else
            skip_here "a hung folder ($kind)" "no FUSE here: $(cat why)"
        fi
        wait $hung
    done
fi
like "no program: usage" "$("$BENCHWRAP" archive true 2>&1; echo $?)" "^125$"

# a real job: the last line of its script becomes benchwrap
if ! slurm_start 1; then
    skip "Slurm" "$slurm_why"
    done_testing
    exit 0
fi
chmod 755 "$WORK"
fresh
cat >steps.sh <<S
#!/bin/sh
echo out; echo err >&2
"$BENCHWRAP" -q -- echo inner
exit 5
S
cat >batch.sh <<S
#!/bin/bash
#SBATCH --job-name=x
# a remark of the script
exec "$BENCHWRAP" archive --archive "$WORK/arch" -q -- ./steps.sh
S
chmod +x steps.sh
timeout 60 sdiag -r >/dev/null 2>&1
job=$(sbatch --parsable -o job.out -e job.err batch.sh)
ok "Slurm: the archive is whole" wait_until "jq -e .complete 'arch/$me/job_$job.json' >/dev/null 2>&1"
is "Slurm: script, out, err" "$(cmp batch.sh "arch/$me/job_$job.sh" 2>&1)$(cat "arch/$me/job_$job.out" "arch/$me/job_$job.err" | xargs)" "out inner err"
is "Slurm: the job's own files have the same" "$(cat job.out job.err | xargs)" "out inner err"
is "Slurm: result, cluster, sums" "$(jq -r '.result.exit_status, .cluster, .job_id' "arch/$me/job_$job.json" | xargs)$(sums "arch/$me" "job_$job.json")" "5 ci $job"
is "Slurm: the run inside has no archive of its own" "$(ls -d mlruns/*/*/artifacts/job | wc -l) $(ls -d mlruns/*/*/meta.yaml | wc -l)" "1 2"
is "Slurm: one question, none for the script" "$(timeout 60 sdiag | sed -n '/by message type/,/by user/p' | grep -cE 'REQUEST_BATCH_SCRIPT') $(timeout 60 sdiag | sed -n '/by message type/,/by user/p' | sed -n 's/.*REQUEST_JOB_INFO_SINGLE *([ 0-9]*) count:\([0-9]*\).*/\1/p')" "0 1"
if long_tests; then
    fresh
    cat >array.sh <<S
#!/bin/sh
"$BENCHWRAP" -q --archive "$WORK/arch" -- echo task \$SLURM_ARRAY_TASK_ID
S
    job=$(sbatch --parsable -a 1-2 -o /dev/null array.sh)
    ok "array: each task has its own" wait_until "[ \"\$(cat arch/$me/job_${job}_[12].json 2>/dev/null | grep -c 'complete\": true')\" = 2 ]"
    is "array: script and output" "$(cmp array.sh "arch/$me/job_${job}_2.sh" 2>&1)$(cat "arch/$me/job_${job}_2.out")" "task 2"
    fresh
    timeout 300 srun -Q -n1 "$BENCHWRAP" -q --archive arch -- echo step
    like "srun without a script: the reason" "$(jq -r '.missing[] | select(.part == "script").reason' "arch/$me"/job_*.s0.json)" 'no script'
    fresh
    cat >stop.sh <<S
#!/bin/sh
exec "$BENCHWRAP" archive -q --archive "$WORK/arch" -- sh -c 'echo begun; touch began; sleep 100'
S
    job=$(sbatch --parsable -o /dev/null stop.sh)
    wait_until "[ -e began ]"
    timeout 60 scancel "$job"
    ok "scancel: the archive is whole" wait_until "\"$BENCHWRAP\" sync --local >/dev/null 2>&1; jq -e .complete 'arch/$me/job_$job.json' >/dev/null 2>&1"
    is "scancel: KILLED, with what was written" "$(jq -r .result.status "arch/$me/job_$job.json") $(cat "arch/$me/job_$job.out")" "KILLED begun"
fi
slurm_stop
done_testing
