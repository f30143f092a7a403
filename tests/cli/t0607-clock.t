#!/bin/sh
# A wall clock that is set while a program runs: no wait becomes longer. (Ends of runs: tests/unit/base/clock.c.)
# sanitizer: no, because a preloaded library sets the clock
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/llmfake.sh"
. "$TESTLIB/set_clock.sh"
cd "$WORK" || exit 1
if ! set_clock_ready; then
    skip 'a clock that is set' 'a compiler'
    done_testing
    exit
fi

# An hour ahead of the kernel's: a wait until a time of this clock would last an hour longer.
llm_start "$FAKE" --ttft 1ms --itl 1ms
set_clock 3600 0 sh -c 'echo $$ >load; exec "$@"' - timeout -s KILL 100 "$LOAD" --url "$url" -c 1 -d 600s --max-tokens 4 -q --records records >out 2>err &
wait_until '[ -s records ]'
kill -TERM "$(cat load)"
wait $!
is "llmload: a signal ends the load" "$? $(grep -c 'ended early: a signal' out)" "143 1"
llm_stop
set_clock 3600 0 timeout -s KILL 100 "$BUILD/bin/taskrate" local -n 2 --payload 'sleep 300' --task-timeout 0.3s -r 1 --warmup 0 --chain 0 >out 2>err
status=$?
is "taskrate: tasks that hang are killed" "$([ $status != 137 ] && echo ended) $(cat out err | grep -c -m 1 'task-timeout')" "ended 1"
done_testing
