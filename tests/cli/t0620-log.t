#!/bin/bash
# `benchwrap log` from within the program: what is benchwrap's own is not mixed with what the program tells.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1

is "a metric of the program" "$("$BENCHWRAP" -q -- sh -c "'$BENCHWRAP' log loss=0.5 runs=2" 2>&1)" ""
is "has its value" "$(cut -d' ' -f2 mlruns/*/*/metrics/loss mlruns/*/*/metrics/runs | paste -sd' ')" "0.5 2"
rm -r mlruns
like "run.wall_s is refused" "$("$BENCHWRAP" -q -- sh -c "'$BENCHWRAP' log run.wall_s=5; echo status \$?" 2>&1 | paste -sd' ')" "benchwrap itself measures.*status 1"
is "and stays one value, benchwrap's" "$(wc -l <"$(echo mlruns/*/*/metrics/run.wall_s)")" 1
rm -r mlruns
# shellcheck disable=SC2016 # the inner program's variable
"$BENCHWRAP" -q -- python3 -c 'import os, socket
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"{\"metric\":\"run.wall_s\",\"value\":5}", os.environ["BENCHWRAP_SOCKET"].replace("@", "\0", 1))' 2>"$WORK/err"
is "the same without the command" "$(cat "$WORK/err")$(wc -l <"$(echo mlruns/*/*/metrics/run.wall_s)")" 1
like "is told in the record" "$("$BENCHWRAP" show --all last)" 'run.wall_s" was left out'
# A recorder that takes nothing delays the calls of a run by half a second together, and the record counts what was lost.
"$BENCHWRAP" -q -t slow -- sh -c 'touch up; until [ -e go ]; do sleep 0.05; done; from=$(date +%s%N); for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "$BENCHWRAP" log a=$i --step $i b=$i 2>>said; done
    echo $((($(date +%s%N) - from) / 1000000)) >took; touch done' &
run=$!
wait_until '[ -e up ]'
recorder=$(pgrep -P $run -f -- '--recorder')
kill -STOP "$recorder"
touch go
wait_until '[ -e done ]'
kill -CONT "$recorder"
wait $run
ok "a stopped recorder: twenty calls wait less than two seconds each ($(cat took) ms)" test "$(cat took)" -lt 8000
kept=$(($(cat slow/mlruns/*/*/metrics/a slow/mlruns/*/*/metrics/b | wc -l)))
is "  what was lost is counted" "$("$BENCHWRAP" show -t slow --json | jq -r '.tags["benchwrap.log_lost"], (.warnings[] | .text? // . | select(test("lost")))' | xargs)" "$((40 - kept)) log: $((40 - kept)) facts of the program were lost: the recorder was too slow"
rm -r slow
# The kind as a word, several at once, and outside a run.
echo data >kept.txt
"$BENCHWRAP" -q -t words/mlruns -- sh -c '"$BENCHWRAP" log metric loss=0.25 --step 4 && "$BENCHWRAP" log param lr=0.1 net=big && "$BENCHWRAP" log tag phase=two && "$BENCHWRAP" log artifact kept.txt'
run=$(echo words/mlruns/*/*/params | sed 's|/params$||')
is "log metric" "$(cut -d' ' -f2- "$run/metrics/loss")" "0.25 4"
is "log param, two of them" "$(cat "$run/params/lr") $(cat "$run/params/net")" "0.1 big"
is "log tag" "$(cat "$run/tags/phase")" two
is "log artifact" "$(cat "$run/artifacts/files/kept.txt")" data
is "outside a run it is silent and succeeds" "$(unset BENCHWRAP_SOCKET; "$BENCHWRAP" log metric loss=1 2>&1; echo $?)" 0
tty() { script -qec "$1" /dev/null </dev/null | tr -d '\r'; }
like "on a terminal it says so" "$(unset BENCHWRAP_SOCKET; tty "'$BENCHWRAP' log loss=1; echo status \$?" | paste -sd' ')" 'nothing recorded: no run is being recorded here.* status 0$'
is "unless it is to be quiet" "$(unset BENCHWRAP_SOCKET; tty "'$BENCHWRAP' log -q loss=1; echo status \$?")" "status 0"
like "a step behind the value" "$("$BENCHWRAP" log loss=1@2 2>&1; echo $?)" 'its step is an option: --step N'
like "but what is wrong with the line is said" "$("$BENCHWRAP" log metric loss=much 2>&1; echo $?)" "a metric is a number"
like "a word alone is nothing to log" "$("$BENCHWRAP" log metric 2>&1; echo $?)" "nothing to log"
# A recorder that is gone: a script under `set -e` goes on.
gone()
{
    BENCHWRAP_SOCKET=@nobody-$$ sh -ec '"$BENCHWRAP" log "$@" loss=1; echo goes on' - "$@" 2>&1 | paste -sd' '
}
like "a recorder that is gone ends no script, and is told" "$(gone)" "benchwrap: log: the recorder of this run does not answer, nothing was logged.* goes on$"
is "unless that is asked for" "$(gone --strict | grep -c 'goes on')" 0
like "what is wrong with the line fails then too" "$(BENCHWRAP_SOCKET=@nobody-$$ "$BENCHWRAP" log loss=much 2>/dev/null; echo "status $?")" "status 1"
"$BENCHWRAP" -q -t many/mlruns -- sh -c 'for i in 1 2 3 4 5 6 7 8; do (for j in 1 2 3 4 5; do "$BENCHWRAP" log metric m$i=$j --step $j; done) & done; wait'
is "eight processes at once lose nothing" "$(cat many/mlruns/*/*/metrics/m[1-8] | wc -l)" 40
done_testing
