#!/bin/bash
# taskrate on this machine: counts, times and words of the local provider, of parallel and exec; losses, signals, damaged results.
# sanitizer: long, because many tasks are started
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit
T=$BUILD/bin/taskrate
get() { jq -c "$1" out.json; }
run() { timeout 300 "$T" "$@" --json >out.json 2>err; rc=$?; }

# An independent count: every task leaves a line.
cat >count.sh <<END
#!/bin/sh
echo x >>$WORK/counted
END
chmod +x count.sh
run local -n 30 --payload ./count.sh --chain 0 -r 2 --warmup 1
is "as many tasks ran as were told" "$rc $(wc -l <counted) $(get '[.warmups[0].ended, .configurations[0].batches[].ended]')" '0 90 [30,30,30]'
is "a payload that does not stamp itself has no start latency, and why" "$(get '.configurations[0].batches[0].latency.start')" '{"n":0,"missing":"the payload does not stamp itself (--wrap has it started by the stub)"}'
run local -n 20 --payload ./count.sh --wrap --chain 5 -r 1
is "started by the stub it has one" "$rc $(get '.configurations[0].batches[0].latency.start.n')" '0 20'

# Times that are known beforehand: 40 tasks of 50 ms, 20 at once, take 100 ms and little more; no sum of times can be greater than the slots had.
run local -n 40 -d 50ms -s 20 -r 1 --warmup 0 --chain 0
is "durations, concurrency, efficiency" "$(get '.configurations[0].batches[0] | [.latency.run.p50_s >= 0.05, .makespan_s >= 0.1, .concurrency_max <= 20, .concurrency_max >= 2, .idle >= 0, .throughput_per_s <= 400]')" '[true,true,true,true,true,true]'
is "the quantiles are in order, and the parts make the whole" "$(get '.configurations[0].batches[0].latency | [.start.p50_s <= .start.p90_s, .start.p90_s <= .start.p99_s, .start.p99_s <= .start.max_s, (.start.mean_s + .run.mean_s + .completion.mean_s - .turnaround.mean_s | fabs < 1e-6)]')" '[true,true,true,true]'
cat >members.py <<'P'
import json, re, sys
page = open(sys.argv[1]).read()
page = page[page.index("## The document"):page.index("## The table of tasks")]
words = set(re.findall("[a-z0-9_]+", page.split("```")[1]))
def names(x):
    for v in x.values() if isinstance(x, dict) else x:
        if isinstance(v, (dict, list)):
            yield from names(v)
    if isinstance(x, dict):
        yield from x
print(*sorted(set(names(json.load(open(sys.argv[2])))) - words))
P
is "every member of the document is in its description" "$(python3 members.py "$ROOT/docs/howto-taskrate.md" out.json)" ""
run local -n 1000 --payload call
is "a call in this process is named as such" "$(get '[.payload.kind, .payload.in_process, .provider.path]')" '["call",true,"client (a function call, no process)"]'

# What fails is no throughput.
run local -n 10 --payload false -r 1 --chain 0
is "tasks that fail" "$rc $(get '.configurations[0].batches[0] | [.failed, .throughput_per_s, .no_throughput]')" '1 [10,null,"tasks failed: this is no throughput"]'
printf '#!/no/such/interpreter\n' >broken && chmod +x broken
run local -n 10 --payload ./broken -r 1 --chain 0
like "tasks that cannot be started" "$rc $(get '.configurations[0].batches[0] | [.refused, .reason]')" '^1 \[10,"tasks could not be started: .*No such file'
run local -n 100000 --payload ./broken -r 1 --warmup 0 --chain 0
like "… and too many of them end it" "$rc $(get '.configurations[0].batches[0] | [.refused < 1000, .reason]')" '^1 \[true,".*no more were tried'
run local -n 3 --payload 'sleep 60' --task-timeout 0.3s -r 1 --warmup 0 --chain 0
like "tasks that hang are ended" "$rc $(get '.configurations[0].batches[0] | [.failed, .reason]')" '^1 \[3,"tasks ran for longer than 0.3 s'
{ wait_until '[ -s interrupted ] && pgrep -P "$(cat interrupted)"'; kill -INT "$(cat interrupted)"; } & # once it has started tasks
sh -c 'echo $$ >interrupted; exec "$@"' - "$T" local -n 1000 -d 100ms --json >out.json 2>err
is "Ctrl-C: a partial result, marked as such, and the signal's own end" "$? $(get '[.complete, .reason]')" '130 [false,"interrupted"]'
own_ms=$((70000 + $$ % 30000)) # by which this test knows its tasks, whose environment is empty
tasks() { pgrep -f "taskrate-stub s[0-9]+,[0-9]+,${own_ms}000000" | wc -l; }
"$T" local -n 100 -d "${own_ms}ms" -s 4 >/dev/null 2>&1 &
pid=$!
wait_until '[ "$(tasks)" -ge 4 ]'; begun=$(tasks); kill -KILL $pid; wait $pid 2>/dev/null
wait_until '[ "$(tasks)" = 0 ]'
is "killed, it leaves no task behind" "$((begun >= 4)) $(tasks)" "1 0"

# A launcher that loses some tasks and runs some twice.
cat >lossy.sh <<'END'
#!/bin/sh
i=$(echo "$2" | cut -d, -f2)
[ $((i % 10)) = 3 ] && exit 0
"$@"
[ $((i % 7)) = 5 ] && "$@"
exit 0
END
chmod +x lossy.sh
run exec --submit './lossy.sh {task}' -n 20 --rate 0 --no-floor -r 1 --warmup 0 --chain 0
is "lost and doubled tasks are counted, and there is no throughput" "$rc $(get '.configurations[0].batches[0] | [.ended, .lost, .duplicated, .throughput_per_s]')" '1 [18,2,3,null]'
run exec --submit "sh -c \"{task}\"" -n 5 --report-dir "$WORK/reports" --rate 0 --no-floor -r 1 --warmup 0 --chain 0
is "{task} in quotes is one word; reports through a file, which is taken away" "$rc $(get '.configurations[0].batches[0].ended') $(ls reports | wc -l)" '0 5 0'
run exec --submit /bin/sh --bulk -n 9 --rate 0 --no-floor -r 1 --warmup 0
is "tasks as lines for one command" "$rc $(get '.configurations[0].batches[0] | [.ended, .submit_calls]')" '0 [9,1]'
printf '#!/bin/sh\nrm -f %s/once.sh\nexec "$@"\n' "$WORK" >once.sh && chmod +x once.sh
run exec --submit "$WORK/once.sh {task}" -n 5 --clients 1 --rate 0 --no-floor --warmup 0 -r 1 --chain 0
is "a command that cannot be started again: its task is refused" "$rc $(get '.configurations[0].batches[0] | [.submitted, .ended, .refused, .cancelled]')" '1 [1,1,1,0]'
cat >busy.sh <<END
#!/bin/sh
[ -e tried ] || { touch tried; echo 'Socket timed out: Try Again' >&2; exit 1; }
exec "\$@"
END
chmod +x busy.sh
run exec --detached --submit "$WORK/busy.sh {task}" -n 2 --clients 1 --rate 0 --no-floor --warmup 0 -r 1 --chain 0
is "a refusal that passes is one in capital letters, too" "$rc $(get '.configurations[0].batches[0] | [.ended, .retried, .refused]')" '0 [2,1,0]'
run exec --submit 'sh -c "exit 3" {task}' -n 30 --rate 0 --no-floor --warmup 0
like "a launcher that always fails is given up" "$rc $(get '.configurations[0].batches[0] | [.failed, .reason]')" '^1 \[1[0-9],"10 commands failed one after the other'
    mkdir stand-in
    cat >stand-in/xargs <<END
#!/bin/sh
[ "\$1" = --version ] && exec $(command -v xargs) --version
trap 'echo asked >>$WORK/asked; exit 7' TERM
while :; do sleep 0.1; done
END
    chmod +x stand-in/xargs
    PATH=$WORK/stand-in:$PATH run parallel --with xargs -n 5 -r 1 --warmup 0 --no-floor --stall 2.1s
    is "a tool that --stall ends is asked to end, once" "$rc $(cat asked) $(get '.configurations[0].batches[0].reason[:19]')" '1 asked "no report for 2.1 s"'
cat >stand-in/parallel <<'END'
#!/bin/bash
# As GNU parallel does: a shell runs the words, which -q quotes.
[ "$1" = --version ] && { echo 'GNU parallel 1'; exit; }
[ "$1 $3" = '-j --will-cite' ] || exit 99
shift 3
command=$*
[ "$1" = -q ] && shift && printf -v command '%q ' "$@"
command=${command//\\\{\\\}/{\}}
while read -r line; do sh -c "${command//\{\}/$line}"; done
END
chmod +x stand-in/parallel
PATH=$WORK/stand-in:$PATH run parallel --payload "/bin/sh -c 'exit 3'" -n 3 -r 1 --warmup 0 --no-floor
is "the words of a payload are what parallel's shell runs" "$rc $(get '.configurations[0].batches[0] | [.ended, .failed]')" '1 [3,3]'
if long_tests; then
    run exec --submit '{task}' -n 12 --rate 20 --no-floor -r 1 --warmup 0 --chain 0
    is "the rate that is allowed has its burst" "$(get '.configurations[0].batches[0].throttled')" false
    run exec --submit '{task}' -n 12 --rate 5 --no-floor -r 1 --warmup 0 --chain 0
    is "… and what was held back is called throttled" "$(get '.configurations[0].batches[0] | [.throttled, .throughput_per_s < 12]')" '[true,true]'
    run exec --submit 'true {task}' -n 2 --no-floor -r 1 --warmup 0 --chain 0
    like "where no task reports, how they could is said" "$rc $(get '.configurations[0].batches[0] | [.ended, .lost, .reason]')" '^1 \[0,2,"the commands have ended without a report from 2 tasks .*--report-dir'
    run parallel --with xargs -n 100 -r 1 --warmup 0
    is "xargs, beside the floor" "$rc $(get '[.configurations[0].batches[0].ended, .floor_per_s > 0, .configurations[0].batches[0].over_floor > 0]')" '0 [100,true,true]'
fi

# The line.
for bad in 'local --tasks 0' 'local --tasks 5,5' 'local --duration x' 'local --slots 0' 'local --submit x' 'local more' 'exec' 'exec --submit true' 'nobody' 'slurm-batch --tasks 100000' 'local --stub relative' 'local --payload true -d 1ms' 'local --repeat 0'; do
    timeout 120 "$T" $bad >out 2>err </dev/null
    is "$bad: refused" "$? $(wc -c <out) $(wc -l <err)" "125 0 1"
done

ok "the stub for other processors, on the C library" ${CC:-cc} -std=gnu11 -O2 -I"$ROOT" -Wall -Wextra -Werror -DSTUB_HOSTED -o hosted "$ROOT/benchmarks/native/taskrate-stub/stub.c"
run local -n 5 --stub "$WORK/hosted" -r 1 --chain 0
is "… runs tasks" "$rc $(get '.configurations[0].batches[0] | [.self_stamped, .failed]')" '0 [5,0]'

# What is written beside, and comparing.
run local -n 100 -r 3 --out a; run local -n 100 -r 3 --out b
is "a table of all tasks" "$("$T" table a/tasks.trt | awk 'NR > 1 {n++; if ($4 != "-" && $6 > 0 && $7 >= $6 && $8 >= $7) good++} END {print n, good}')" "600 600"
head -c -4 a/tasks.trt >short.trt
"$T" table short.trt >/dev/null 2>err; rc=$?
like "a table whose last bytes are missing is not a complete one" "$rc $(cat err)" '^2 taskrate: short.trt: .*damaged or not complete'
is "drawings that are XML" "$(python3 -c 'import sys, xml.dom.minidom as m; [m.parse(f) for f in sys.argv[1:]]; print("good")' a/histogram.svg a/timeline.svg)" good
"$T" compare a/taskrate.json b/taskrate.json --json >compare.json; rc=$?
is "a ratio with its interval" "$rc $(jq -c '.metrics[] | select(.key == "throughput_op_per_s") | [.groups[0].n, (.groups[1] | .ratio_low <= .ratio and .ratio <= .ratio_high)]' compare.json)" '0 [3,true]'
head -c 900 a/tasks.trt >torn; printf '{"taskrate":1' >torn.json; echo '{"taskrate":"x","schema":9,"configurations":[]}' >other.json
timeout 120 "$T" table torn >/dev/null 2>err; is "a torn table" "$? $(grep -c 'taskrate: torn: ' err)" "2 1"
timeout 120 "$T" compare torn.json a/taskrate.json 2>err; like "a torn result" "$? $(cat err)" '^1 benchwrap: compare: torn.json: no rules know this output'
timeout 120 "$T" compare a/taskrate.json other.json 2>err; like "a result of another program" "$? $(cat err)" '^1 benchwrap: compare: other.json: no rules know this output'
(ulimit -f 16; "$T" local -n 500 --out full >out 2>err; echo $? >rc)
like "a full disk: the numbers are there, and it is said" "$(cat err out)" "the table of tasks (is not complete|ends here): full/tasks.trt: File too large"

timeout 120 "$T" local -n 20 >/dev/full 2>err; like "no room on standard output: the numbers are there" "$? $(tr "\n" " " <err)" '^2 taskrate .*METG50.*No space left'
"$T" local -n 100 -d 77s --out held >/dev/null 2>&1 &
pid=$!
wait_until '[ -e held/tasks.trt ]'
timeout 120 "$T" local -n 5 --out held >/dev/null 2>err; like "a folder that another taskrate writes to" "$? $(cat err)" '^2 taskrate: held: another taskrate'
kill $pid; wait $pid 2>/dev/null

# Recorded by benchwrap, without --json too.
"$BENCHWRAP" -q -e t -- "$T" local -n 100 >/dev/null 2>&1
is "a run with the repetition as step" "$(cut -d' ' -f3 mlruns/*/*/metrics/throughput_op_per_s | tr '\n' ' ') $(cat mlruns/*/*/params/path)" "0 1 2  client -> process"
if long_tests; then
    # A million processes: memory is the book's 64 bytes a task and what the program is anyway.
    "$T" local -n 1000000 -r 1 --warmup 0 --chain 0 --json >out.json 2>err &
    pid=$! most=0
    while kill -0 $pid 2>/dev/null; do
        now=$(awk '/^VmHWM/ {print $2}' /proc/$pid/status 2>/dev/null); [ "${now:-0}" -gt $most ] && most=$now
        sleep 1
    done
    wait $pid
    is "a million tasks: all ended" "$? $(get '.configurations[0].batches[0] | [.ended, .lost, .self_stamped]')" '0 [1000000,0,1000000]'
    ok "… in at most 64 bytes a task and 8 MB (greatest resident size $most KB)" [ "$most" -gt 1000 -a "$most" -lt $((64 * 1000000 / 1024 + 8192)) ]
fi

# --slots limits commands that wait for their tasks; where others start more tasks, no share of the slots is printed.
run exec --no-floor --submit '{task}' --clients 8 --slots 2 -n 20 --duration 20ms,40ms -r 1 --warmup 0 --chain 0
is "--slots: at most so many commands that wait run at once" "$(get '[.configurations[].batches[].concurrency_max <= 2] | all') $(get '[.configurations[].efficiency > 1] | any')" "true false"
run exec --no-floor --detached --submit 'sh -c "{task} &"' --slots 2 -n 40 --duration 400ms,800ms -r 1 --warmup 0 --chain 0
is "more tasks than slots: neither share nor METG50" "$(get '[.configurations[].efficiency, .metg50.seconds]')" "[null,null,null]"
done_testing
