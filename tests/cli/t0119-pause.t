#!/bin/bash
# A program that was stopped while it ran has a wall time with the pause in it: the run is disturbed.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
samples() { cat .benchwrap/spool/*/journal 2>/dev/null | grep -ac system/process_count; }
more() { n=$(($(samples) + $1)); wait_until '[ "$(samples)" -ge $n ]'; } # COUNT
begin() # starts a run: $run, with $program and $recorder below it
{
    rm -rf mlruns .benchwrap up go
    "$BENCHWRAP" -q --sample 100ms -- sh -c 'touch up; until [ -e go ]; do sleep 0.05; done' &
    run=$!
    wait_until '[ -e up ]'
    more 2
    program=$(pgrep -P $run -x sh) recorder=$(pgrep -P $run benchwrap)
    [ "$program" ] && [ "$recorder" ] || tap_fail "the processes of the run" "$(ps -eo pid,ppid,comm | grep -w $run)"
}
finish() # sets $result: the status, the warning and the reasons, without numbers
{
    touch go
    wait $run
    result=$("$BENCHWRAP" show --json | jq -r '.status, ([.warnings[] | .text? // . | select(test("stopped"))] | join("+"))' | sed 's/[0-9.]* s or more/N s or more/' | paste -sd '|')
}
words="the program was stopped, as in a suspended job, for N s or more, which run.wall_s and rates contain"
begin
kill -STOP $program
more 10
kill -CONT $program
finish
like "the program alone was stopped" "$result" "^FINISHED\|disturbed: $words\$"
begin
kill -STOP $run $program $recorder
sleep 2
kill -CONT $run $program $recorder
more 1
finish
like "all were stopped, as a scheduler does it" "$result" "^FINISHED\|disturbed: $words\$"
begin
kill -CONT $run $program $recorder
more 2
finish
like "a CONT without a stop" "$result" "^FINISHED\|$"
done_testing
