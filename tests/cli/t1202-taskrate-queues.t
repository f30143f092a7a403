#!/bin/bash
# taskrate's providers without a live system here (for Flux there is tests/long/flux.t): Flux, PBS, LSF and Kubernetes by commands that behave as their documents say, with faults.
# sanitizer: long, because Python starts for each task
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit
T=$BUILD/bin/taskrate
mkdir bin
for c in flux qsub qselect qdel qstat pbsnodes bsub bjobs bkill bhosts bparams lsid kubectl; do ln -s "$TESTLIB/fake-queue" bin/$c; done
PATH=$WORK/bin:$PATH
export FAKE_QUEUE=$WORK/queue FAKE_FAULT=
run() { # PROVIDER [OPTIONS]: a short measurement; out.json, err, $rc
    rm -rf "$FAKE_QUEUE"
    timeout 300 "$T" "$@" --no-floor --warmup 0 --chain 0 -r 1 --rate 0 --json $([ "${1:-}" = kubernetes ] && echo --image busybox) >out.json 2>err
    rc=$?
}
get() { jq -c "$1" out.json; }
left() { ls "$FAKE_QUEUE" 2>/dev/null | grep -c '^job'; }
all='flux pbs lsf kubernetes'
long_tests || all=kubernetes # the others take the same ways through taskrate
for p in $all; do
    run $p -n 5 --array
    is "$p: one submission of many" "$rc $(get '[.configurations[0].batches[0]|.ended,.lost,.submit_calls,.slots > 6]')" '0 [5,0,1,true]'
    [ $p = flux ] || like "$p: said to be untried" "$(get .notes)" 'not yet tried on a live system'
    like "$p: and its version is told" "$(get .provider)" '"version":"[^"]*[0-9]'
done
long_tests || { done_testing; exit; }
FAKE_FAULT=hold run flux -n 4 --array --stall 2s
is "jobs that are held: given up, and none is left" "$rc $(get '[.configurations[0].batches[0]|.ended,.cancelled,.throughput_per_s]') $(left)" "1 [0,4,null] 0"
like "… and the queue's word is in the reason" "$(get '.configurations[0].batches[0].reason')" '4 of them wait'

for p in $all; do
    run $p -n 6 --clients 4
    is "$p: every task ended, once" "$rc $(get '[.configurations[0].batches[0]|.submitted,.ended,.lost,.failed,.duplicated]')" "0 [6,6,0,0,0]"
    is "$p: as many were started" "$(sort -n "$FAKE_QUEUE/ran" | tr '\n' ' ')" "0 1 2 3 4 5 "
    FAKE_FAULT=dead run $p -n 4
    is "$p: a dead server is a refusal" "$rc $(wc -c <out.json)" "2 0"
    like "$p: … that says so" "$(cat err)" 'nothing was submitted'
    FAKE_FAULT=down run $p -n 4
    like "$p: no node that takes jobs" "$rc $(tail -n 1 err)" '^2 .*nothing was submitted'
    FAKE_FAULT=hold run $p -n 4 --array --stall 2s
    is "$p: jobs that are held: given up, and none is left" "$rc $(get '[.configurations[0].batches[0]|.ended,.cancelled,.throughput_per_s]') $(left)" "1 [0,4,null] 0"
    FAKE_FAULT=lose run $p -n 10 --array
    is "$p: tasks that never ran are lost" "$rc $(get '[.configurations[0].batches[0]|.ended,.lost,.throughput_per_s]') $(left)" "1 [8,2,null] 0"
done
FAKE_FAULT=twice run flux -n 8 --array
is "tasks that ran twice are counted" "$rc $(get '[.configurations[0].batches[0]|.ended,.duplicated]')" "0 [8,2]"
FAKE_FAULT=limit run pbs -n 5 --clients 1
is "a refusal that passes is tried again, and the batch is called throttled" "$rc $(get '[.configurations[0].batches[0]|.ended,.retried,.throttled]')" "0 [5,1,true]"
FAKE_FAULT=die run lsf -n 40 --clients 1 --stall 5s
like "a server that dies in the middle: given up" "$rc $(get '[.configurations[0].batches[0]|.throughput_per_s,.reason]')" '^1 \[null,".*LSF is down'
like "… and said that jobs may be left" "$(get .notes)" 'jobs may be left in the queue'
FAKE_FAULT='' run lsf -n 2 --array
like "… which the next start sees to" "$(get .notes)" 'what it had in the queue was cancelled'
FAKE_FAULT=fail run flux -n 60 --clients 1
is "growing refusals stop it" "$rc $(get '.configurations[0].batches[0]|[.refused > 2, .submitted < 40]')" "1 [true,true]"
done_testing
