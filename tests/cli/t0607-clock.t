#!/bin/sh
# A wall clock that is set while a program runs: no wait becomes longer, no duration either. (Ends of runs: tests/unit/base/clock.c.)
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

# An hour is set forward while the program runs: durations are those of CLOCK_MONOTONIC.
of_minutes() { awk '{ n++; if ($2 < 0 || $2 > 1800) print "wrong:", FILENAME, $2 } END { if (!n) print "none" }' "$@"; } # FILE…
mkdir killed
for who in launcher recorder both; do
    mkdir "killed/$who"
    (cd "killed/$who" && set_clock_at "$PWD/set" 3600 "$BENCHWRAP" -q --sample 0.1 -- sh -c 'echo $$ >pid; until [ -e go ]; do sleep 0.05; done') 2>/dev/null &
    wait_until '[ -s killed/$who/pid ] && grep -qs "\"started\"" killed/$who/.benchwrap/spool/*/journal'
    launcher=$(ps -o ppid= -p "$(cat "killed/$who/pid")" | tr -d " ")
    recorder=$(pgrep -P "$launcher" -f -- --recorder)
    touch "killed/$who/set"
    lines=$(cat killed/$who/.benchwrap/spool/*/journal | wc -l)
    wait_until '[ "$(cat killed/$who/.benchwrap/spool/*/journal | wc -l)" -gt $((lines + 20)) ]' # samples
    [ "$who" = launcher ] || kill -KILL "$recorder"
    [ "$who" = recorder ] || kill -KILL "$launcher"
    touch "killed/$who/go"
    wait $!
    wait_until 'has_ended "$recorder"'
    (cd "killed/$who" && "$BENCHWRAP" sync --local >/dev/null 2>&1)
    like "a run whose $who was killed: the time is missing, with a lower bound" "$("$BENCHWRAP" show --tree "killed/$who/mlruns" --json | jq -r '([.metrics[] | select(.key == "run.wall_s")] | length), (.missing[] | select(.key == "run.wall_s").reason)' | paste -sd ' ')" \
        "^0 the (recording was killed|launcher ended) [0-9.]{1,5} s after the start, and the program may have run longer$"
done
mkdir active && (cd active && set_clock_at "$PWD/set" 3600 "$BENCHWRAP" -q -- sh -c 'until [ -e go ]; do sleep 0.05; done') 2>/dev/null &
wait_until 'grep -qs "\"started\"" active/.benchwrap/spool/*/journal'
touch active/set
is "a run in progress" "$(cd active && set_clock_at "$PWD/set" 3600 "$BENCHWRAP" watch --json | jq -c 'map(.elapsed_s >= 0 and .elapsed_s < 1800)')" "[true]"
like "  in the table" "$(cd active && set_clock_at "$PWD/set" 3600 "$BENCHWRAP" watch --once)" ', [0-9.]+ m?s, '
touch active/go
wait $!
mkdir series && (cd series && set_clock_at "$PWD/set" 3600 "$BENCHWRAP" --repeat 2 -- touch set >out 2>err)
is "repetitions" "$(of_minutes series/mlruns/*/*/metrics/series.wall_s)" ""
is "  and their table" "$(grep -cE ' in [0-9.]+ m?s' series/err)" 1
mkdir recipe
cat >recipe/r.yaml <<'Y'
version: 1
name: r
sweep: {list: [{n: 1}]}
roles:
  client: {command: [sh, -c, "touch set; echo rate 5 op/s"]}
Y
(cd recipe && set_clock_at "$PWD/set" 3600 "$BENCHWRAP" recipe run --local r.yaml >out 2>err)
is "a point of a recipe" "$(of_minutes recipe/mlruns/*/*/metrics/series.point_s)" ""
is "  and what is printed of it" "$(cat recipe/out recipe/err | grep -cE 'valid in [0-9]{1,3}[.]')" 1
done_testing
