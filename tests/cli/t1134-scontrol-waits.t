#!/bin/bash
# An scontrol that is silent, drips, dies in the middle of its answer, or does not end, delays the end of a run by no more than 0.3 s.
# Who sets --finish-wait gets its answer.
# sanitizer: long, because it is about time
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
unset "${!SLURM_@}" 2>/dev/null
mkdir bin
export PATH=$WORK/bin:$PATH SLURM_JOB_NUM_NODES=1 SLURM_NTASKS=1
fastest() # NUMBER: of five runs, in ms: no matter of the machine's load. Each is a job of its own: one answer is kept for all runs of a job
{
    for n in 1 2 3 4 5; do
        export SLURM_JOB_ID=$1$n
        rm -rf mlruns .benchwrap
        from=$(date +%s%N)
        timeout 300 "$BENCHWRAP" -q -- sh -c 'echo out; exit 7' >out 2>err
        [ "$? $(cat out)" = "7 out" ] || echo 99999
        echo $((($(date +%s%N) - from) / 1000000))
    done | sort -n | head -n 1
}
left() { for p in $(cat pids); do has_ended "$p" || echo "$p"; done; }
plain=$(BENCHWRAP_NO_SCONTROL=1 fastest 1)
case=1
while IFS='|' read -r name body; do
    printf '#!/bin/bash\necho $$ >>%s/pids\n%s\n' "$WORK" "$body" >bin/scontrol && chmod +x bin/scontrol
    : >pids
    case=$((case + 1))
    took=$(fastest $case)
    ok "$name: nobody waits for the answer; the bound is 0.3 s, the margin this machine's ($plain ms, $took ms)" [ $((took - plain)) -lt 2500 ]
    ok "$name: scontrol was asked" [ -s pids ]
    wait_until '[ -z "$(left)" ]'
    is "$name: no scontrol is left" "$(left)" ""
done <<'L'
silent|exec sleep 60
silent, TERM ignored|trap "" TERM HUP INT; while :; do sleep 1; done
dripping|while :; do printf J; sleep 1; done
dies in its answer|printf 'JobId=$3 JobName=x\n   UserId='; kill -9 $$
half an answer, then silent|printf 'JobId=$3 JobName=x\n   UserId='; exec sleep 60
output closed, goes on|exec >&- 2>&-; exec sleep 60
it ends, but a child holds the pipe|sleep 20 & exit 1
standard error without end|while :; do echo no controller >&2; done
L
rm -rf mlruns .benchwrap
printf '#!/bin/sh\nsleep 1; exec cat %s\n' "$ROOT/tests/slurm/24.11-running/reply.json" >bin/scontrol
SLURM_JOB_ID=6368 SLURM_JOB_NAME=wrap "$BENCHWRAP" -q --finish-wait 60s -- true
is "an answer after a second: --finish-wait waits for it" "$("$BENCHWRAP" show --json | jq -r '.params["slurm.version"]')" 24.11.5
for p in $(cat pids); do kill -9 "$p" 2>/dev/null; done
done_testing
