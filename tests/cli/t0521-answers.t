#!/bin/sh
# What a reader asks first of repetitions and sweeps: the median, the same machine, an interval that is possible, names, CSV, a dead server.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >noisy.sh <<'P'
n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n >n
case $n in 1) echo "latency: 9.4 ms" ;; 2) echo "latency: 0.02 ms" ;; *) echo "latency: 0.01 ms" ;; esac
P
"$BENCHWRAP" -q -e noisy -n noisy --repeat 3 -- sh noisy.sh >/dev/null 2>&1
"$BENCHWRAP" show >shown
like "show has the median, not the last repetition" "$(cat shown)" '^ *latency +20 us'
set -- mlruns/*/*/metrics/latency_s.median
is "… the run has it too" "$(cut -d' ' -f2 "$1")" 2e-05
set -- mlruns/*/*/metrics/latency_s.ci_low
ok "an interval that would reach below zero is no metric" [ ! -e "$1" ]
like "… but missing with the reason" "$("$BENCHWRAP" show --json | python3 -c 'import json, sys
for m in json.load(sys.stdin)["missing"]: print(m["key"], m["reason"])')" '^latency_s\.ci_low .*below zero'

mkdir scores && cp noisy.sh scores && cd scores || exit
cat >score.yaml <<'Y'
name: score
version: "1"
readers:
  - {name: score, regex: '^latency: (?<v>\S+)', metrics: [{name: score, cell: v, better: higher}, {name: share, cell: v, unit: percent, better: lower}, {name: offset, cell: v, better: none}, {name: part, cell: v, unit: percent, better: none}]}
  - {name: high, regex: '^hits: (?<v>\S+)', metrics: [{name: hits, cell: v, unit: percent, better: none}]}
Y
echo 'echo "hits: $((n == 1 ? 88 : 100))"' >>noisy.sh
"$BENCHWRAP" -q -e scores --repeat 3 --rules ./score.yaml -- sh noisy.sh >/dev/null 2>&1
is "… of a directed metric neither, whatever its unit" "$(ls mlruns/*/*/metrics | grep -c '^\(score\|share_percent\)\.ci_low')" 0
is "… of what may be negative it is" "$(ls mlruns/*/*/metrics | grep -c '^offset\.ci_low')" 1
is "… a share has none that reaches below zero or above 100 %" "$(ls mlruns/*/*/metrics | grep -c '^\(part\|hits\)_percent\.ci_')" 0
cd .. || exit

"$BENCHWRAP" -q -e swept -n points --repeat 3 --sweep size=1,2 -- sh -c 'echo "rate: {size}00 op/s"' >/dev/null 2>&1
"$BENCHWRAP" compare --by size -e swept >compared
like "after a sweep one machine is the same machine" "$(cat compared)" '^Hardware and settings: the same\.'
like "… only the swept input differs" "$(cat compared)" '^Inputs that differ: size\.$'
"$BENCHWRAP" -q -e noisy -n twice -- true && "$BENCHWRAP" -q -e noisy -n twice -- true
like "compare with a name: how to compare runs of that name" "$("$BENCHWRAP" compare twice noisy 2>&1)" 'no run with id "twice"; 2 runs have this name: benchwrap compare --by name'
rm -rf $(grep -l '^twice$' mlruns/*/*/tags/mlflow.runName | sed 's|/tags/.*||')

"$BENCHWRAP" ls --csv >runs.csv
is "ls --csv is CSV with a row for each run that ls shows" "$(python3 -c 'import csv, sys
rows = list(csv.DictReader(open("runs.csv")))
print(sorted(r["experiment"] for r in rows), {len(r["id"]) for r in rows}, [r["latency_s.median"] for r in rows if r["experiment"] == "noisy"])')" \
    "['noisy', 'swept'] {32} ['2e-05']"

like "ls counts runs and child runs for themselves" "$(python3 "$ROOT/tests/lib/on-pty.py" "size 24 120" -- "$BENCHWRAP" ls)" '2 runs and 9 child runs, times'

# Samples of one run are no repetitions.
for run in 1 2; do
    "$BENCHWRAP" -q -e course -- sh -c 'echo "lat: 10 ms"; "$0" log --step 1 lat=1; "$0" log --step 2 lat=2' "$BENCHWRAP" >/dev/null 2>&1
done
"$BENCHWRAP" compare last~1 last >compared
like "samples of a run are not counted as repetitions" "$(cat compared)" '1 run of course +base$'
like "… nor in the answer" "$(cat compared)" '^One run on each side cannot tell'
is "… nor in JSON" "$("$BENCHWRAP" compare --json last~1 last | python3 -c 'import json, sys
print([g["samples"] for m in json.load(sys.stdin)["metrics"] if m["key"] == "lat" for g in m["groups"]])')" "['samples', 'samples']"

like "--by with a key that no run has: one number of runs" "$("$BENCHWRAP" compare --by nonsense -e course 2>&1 | tr '\n' ' ')" \
    'ignored 2 runs without .*expected two groups, got 0; no input differs between these runs *$'

# A run that was disturbed says so beside the answer.
noisy=$("$BENCHWRAP" ls --json | python3 -c 'import json, sys; print([r["path"] for r in json.load(sys.stdin) if r["experiment"] == "course"][0])')
echo "steal time 12 %" >"$noisy/tags/benchwrap.noisy"
quiet=$("$BENCHWRAP" ls --json | python3 -c 'import json, sys; print([r["path"] for r in json.load(sys.stdin) if r["experiment"] == "course"][1])')
rm -f "$quiet/tags/benchwrap.noisy"
measured() { # VALUE: what the other run has measured of other programs; "": nothing
    python3 -c 'import json, sys
path, value = sys.argv[1] + "/artifacts/benchwrap.json", sys.argv[2]
v = json.load(open(path))
v["metrics"].pop("noise.other_processors", None)
if value: v["metrics"]["noise.other_processors"] = {"value": float(value)}
json.dump(v, open(path, "w"))' "$quiet" "$1"
    "$BENCHWRAP" compare last~1 last
}
like "compare says which runs were disturbed" "$(measured 0)" '^! Disturbed by the hypervisor \(steal\): B 1 of 1 runs; repeat later\.$'
like "… and which were not judged" "$(measured '')" '^! Disturbed by the hypervisor \(steal\): A 0 of 1 \(1 not known\), B 1 of 1 runs; repeat later\.$'
is "… in JSON, too" "$("$BENCHWRAP" compare last~1 last --json | jq -c '[.groups[] | [.disturbed, .unjudged]]')" "[[0,1],[1,0]]"
cp "$noisy/tags/benchwrap.noisy" before
echo "work waited for memory 5 % of the time; the kernel killed 1 process of the node because memory was exhausted" >"$noisy/tags/benchwrap.noisy"
like "… two reasons with one cause are one" "$(measured 0)" '^! Disturbed by a lack of memory: B 1 of 1 runs; repeat with more\.$'
echo "the program was stopped, as in a suspended job, for 5.0 s or more, which run.wall_s and rates contain" >"$noisy/tags/benchwrap.noisy"
like "… a stop of the program is a cause" "$(measured 0)" '^! Disturbed by a stop of the program: B 1 of 1 runs; repeat without one\.$'
cp before "$noisy/tags/benchwrap.noisy"
series=$(echo mlruns/*/*/metrics/series.noisy)
set -- $series
for file in "$@"; do echo "1 2 0" >"$file"; echo "1 1 0" >"${file%noisy}unjudged"; done
like "… of a series how many repetitions" "$("$BENCHWRAP" compare --all "$(basename "$(dirname "$(dirname "$1")")")" last)" '^! Disturbed (mostly )?by [^:]+: A 2 of [36] \(1 not known\), B 1 of 1 runs; repeat [a-z ]+\.$'

"$BENCHWRAP" -q -e spread -- sh -c '"$0" log --unit us t_us.mean=8 t_us.p99=13 u_us.mean=7; "$0" log -t benchwrap.headline=t_us.p99' "$BENCHWRAP" >/dev/null 2>&1
run=$(dirname "$(dirname "$(ls mlruns/*/*/metrics/t_us.p99)")")
printf %s t_us.p99 >"$run/tags/benchwrap.headline"
"$BENCHWRAP" show >shown
like "show has the headline statistic as the value, and names it" "$(cat shown)" '^ *t\.p99 +13 us +mean 8$'
like "… and says which value is a mean" "$(cat shown)" '^ *u mean +7 us$'

# Two sweeps: their points are no repetitions, and runs of several situations in one group are named.
"$BENCHWRAP" -q -e other --sweep size=1,2 --sweep mode=1,2 -- sh -c 'echo "rate: {size}{mode}0 op/s"' >/dev/null 2>&1
sweeps=$("$BENCHWRAP" ls --json | python3 -c 'import json, sys
runs = json.load(sys.stdin)
print(*(next(r["id"] for r in runs if r["experiment"] == e and not r["parent"]) for e in ("swept", "other")))')
"$BENCHWRAP" compare $sweeps >compared
like "of a sweep the points are counted" "$(cat compared)" '^A .* 1 run of swept, 2 points, 3 repetitions'
like "... and what two sweeps do not share is not compared" "$(tr -s '\n ' ' ' <compared)" 'B against A: the runs share no metric: the names and points differ\. A has rate\.median @1 100 op/s, rate\.median @2 200 op/s, B has size_1\.'
is "... nor the wall times of all their points" "$(grep -c '^run.wall ' compared)" 0
swept=$(echo "$sweeps" | cut -d' ' -f1)
like "show of a sweep has no line of a process: a median over different points says nothing" "$("$BENCHWRAP" show "$swept" | grep -c '^Process ')" '^0$'
like "... of repetitions it has" "$("$BENCHWRAP" show "$("$BENCHWRAP" ls --json -e noisy | jq -r '.[0].id')")" '^Process +wall '
like "... --all has how many values there are, and their range" "$("$BENCHWRAP" show --all "$swept")" '^run\.wall_s +- +s +lower +6 +[0-9.e-]+ +[0-9.e-]+$'
like "... nor a median of the statistics of the points" "$("$BENCHWRAP" show --all "$swept")" '^rate_op_per_s\.median +- +op_per_s .*2 +100 +200$'
is "... in JSON too" "$("$BENCHWRAP" show --json "$swept" | jq -c '[.metrics[] | select(.key == "run.wall_s" or .key == "rate_op_per_s.median") | .median]')" '[null,null]'
like "... but the next step is named" "$(cat compared)" 'hint: benchwrap compare --by size -e swept'
like "runs of several situations in a group are named" "$("$BENCHWRAP" compare --by size -e other | tr -s '\n ' ' ')" \
    '! The runs of A, B differ among themselves in mode: the medians are over several situations\.'
like "other programs without a common metric" "$("$BENCHWRAP" compare "$(echo "$sweeps" | cut -d' ' -f1)" "$("$BENCHWRAP" ls --json -e noisy | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["id"])')")" \
    '^B against A: the runs share no metric'
like "a narrow screen without the interval says where the verdict comes from" "$(COLUMNS=44 python3 "$ROOT/tests/lib/on-pty.py" "size 24 44" -- "$BENCHWRAP" compare --by size -e swept)" \
    'verdicts by the 95 %'

# What was swept is in the order of its numbers, not of its digits.
for run in 1 2; do
    "$BENCHWRAP" -q -e sizes -- sh -c '"$0" log --unit op/s b1024.rate=1 b16.rate=2 b1m.rate=3 b4k.rate=4; for i in 10 9; do echo x >$i; "$0" log -a $i; done' "$BENCHWRAP" >/dev/null 2>&1
done
order() { grep -vE '^  sh |mlflow|command' | grep -oE '(^ *|key": ")b[0-9]+[km]?\.rate' | grep -oE 'b[0-9].*' | uniq | tr '\n' ' '; }
sizes="b16.rate b1024.rate b4k.rate b1m.rate "
is "show sorts sizes by their numbers" "$("$BENCHWRAP" show | order)" "$sizes"
is "... so do show --all" "$("$BENCHWRAP" show --all | order)" "$sizes"
is "... compare" "$("$BENCHWRAP" compare --all last~1 last | grep '^b' | order)" "$sizes"
is "... and JSON" "$("$BENCHWRAP" show --json | order)" "$sizes"
is "files too" "$("$BENCHWRAP" show --all | grep -oE 'files/(9|10) ' | tr -d '\n')" "files/9 files/10 "
"$BENCHWRAP" -q -e order --repeat 3 --sweep size=1,16,4,8k,2k -- sh -c 'echo "rate: 10 op/s"; : {size}' >/dev/null 2>&1
is "groups of compare --by follow the base in that order" "$("$BENCHWRAP" compare --by size -e order | grep -oE '^[A-E]  size=[0-9k]+' | cut -d= -f2 | tr '\n' ' ')" "1 4 16 2k 8k "

# Why a program failed.
cat >fails.sh <<'P'
printf 'one\ntwo\n\n' >&2
printf 'a \033[31mred\033[0m word, api_key=%s\n' "$SECRET_KEY" >&2
printf '%0500d\n\n' 7 >&2
exit 3
P
SECRET_KEY=hunter2hunter2xyz "$BENCHWRAP" -e fails -- sh fails.sh 2>all >/dev/null
grep '^benchwrap:' all >err
like "the summary of a failed run has the program's last lines" "$(tr '\n' ' ' <err)" 'stderr: +two benchwrap: +a red word, .* benchwrap: +0{197,200} '
is "... no more" "$(grep -c 'stderr: *one' err)" 0
is "... without secrets" "$(grep -c hunter2 err)" 0
"$BENCHWRAP" show >shown
like "show has them too" "$(cat shown)" '^stderr +two$'
like "... without escape sequences, the last one cut" "$(tr '\n' ' ' <shown)" 'a red word, .* {12}0{190,200}\.\.\. '
is "... without secrets" "$(grep -c hunter2 shown)" 0
"$BENCHWRAP" -q -e fails -- sh -c 'echo "it ends here"; exit 4' >/dev/null 2>err
like "without standard error it is the output's end" "$("$BENCHWRAP" show)" '^output +it ends here$'
"$BENCHWRAP" -q -e fails -- sh -c 'exit 4' >/dev/null 2>err
is "a silent program has none" "$("$BENCHWRAP" show | grep -cE '^(stderr|output) ')" 0
"$BENCHWRAP" -q -e fails -- sh -c 'echo "a warning" >&2' >/dev/null 2>err
is "nor has one that did not fail" "$("$BENCHWRAP" show | grep -cE '^(stderr|output) ')" 0

# Reasons and warnings of --all.
mkdir whole && cd whole || exit 1
"$BENCHWRAP" -q -e whole -- true
python3 - mlruns/*/*/artifacts/benchwrap.json <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
d["missing"] = [{"key": "itl.p50_ms", "reason": 'printed "null"'}]
d["warnings"] = [{"text": "a warning " + "with many words " * 80 + "and an end"}]
json.dump(d, open(sys.argv[1], "w"))
P
like "a JSON null is a reason that a reader understands" "$("$BENCHWRAP" show --all)" '^itl\.p50_ms +the program reports no value for it \(null\)$'
python3 "$ROOT/tests/lib/on-pty.py" "size 24 80" -- "$BENCHWRAP" show --all >shown
is "warnings are wrapped" "$(python3 -c 'import ast
text = b"".join(ast.literal_eval(l[7:]) for l in open("shown") if l.startswith("shown: ")).decode()
lines = text.replace("\r", "").split("\n")
at = next(i for i, l in enumerate(lines) if "Warnings" in l)
print(max(len(l) for l in lines[at + 1:at + 5]) <= 80, "and an end" in text.replace("\r\n  ", " "))')" "True True"
cd ..

# What earlier runs with the same inputs measured.
cat >usual.yaml <<'Y'
name: usual
version: "1"
readers:
  - {name: speed, regex: '^speed: (?<v>\S+)', metrics: [{name: speed, cell: v, unit: MB_per_s, better: higher}]}
  - {name: delay, regex: '^delay: (?<v>\S+)', metrics: [{name: delay, cell: v, unit: s, better: lower}]}
Y
usual() { echo "speed: $1" >out; echo "delay: $2" >>out; "$BENCHWRAP" -e usual -r ./usual.yaml -- cat out 2>&1 >/dev/null; }
export BENCHWRAP_FINISH_WAIT=60s # a busy machine needs more than 0.3 s for the history
for v in 100 101 99 100.5; do usual $v 0.001 >/dev/null; done
is "four earlier runs make no range" "$(usual 99.5 0.001 | grep -c 'earlier runs')" 0
usual 100.2 0.0012 >err
like "five do: from the lowest to the highest" "$(cat err)" 'speed +100 MB/s +5 earlier runs: 99 … 101$'
like "... in the unit of the value" "$(cat err)" 'delay +1\.2 ms +(high, )?5 earlier runs: 1 … 1$'
usual 60 0.0011 >err
like "a value outside of what they lead one to expect is named" "$(cat err)" 'speed +60 MB/s +low, 6 earlier runs: 99 … 101$'
is "... by the method of compare --history" "$("$BENCHWRAP" compare --history --json | python3 -c 'import json, sys
print([(m["verdict"], m["n"], m["min"], m["max"]) for m in json.load(sys.stdin)["metrics"] if m["key"] == "speed_MB_per_s"])')" "[('regression', 6, 99, 101)]"
echo "speed: 20" >out
like "... on a terminal in red" "$(python3 "$ROOT/tests/lib/on-pty.py" "size 24 80" -- "$BENCHWRAP" -e usual -r ./usual.yaml -- cat out)" '31mlow, 7 earlier runs: 60 '
is "runs with other inputs do not count" "$("$BENCHWRAP" -e usual -r ./usual.yaml -p more=1 -- cat out 2>&1 | grep -c 'earlier runs')" 0
is "-q prints none" "$("$BENCHWRAP" -q -e usual -r ./usual.yaml -- cat out 2>&1 >/dev/null)" ""

# Earlier runs that cannot be read delay the end by no more than 0.3 s, unless --finish-wait is given. -q does not read them. The fastest of each kind are compared, measured in turn, until they agree.
unset BENCHWRAP_FINISH_WAIT
took() { # OPTION…: in ms
    from=$(date +%s%N)
    "$BENCHWRAP" -e usual -r ./usual.yaml "$@" -- cat out >/dev/null 2>&1
    echo $((($(date +%s%N) - from) / 1000000))
}
set -- mlruns/*/*/metrics/delay_s
hung=$(dirname "$(dirname "$(dirname "$1")")")/ffffffffffffffffffffffffffffffff
mkdir "$hung"
"$BUILD/tests/lib/hung-mount" "$hung" >mounted 2>&1 &
mount=$!
wait_until '[ -s mounted ] || has_ended $mount'
if grep -q mounted mounted; then
    plain=99999 slow=99999
    for try in 1 2 3 4 5 6 7 8 9 10 11 12; do
        plain=$({ echo $plain; took -q; } | sort -n | head -1) slow=$({ echo $slow; took; } | sort -n | head -1)
        [ $((slow - plain)) -ge 600 ] || break
    done
    ok "a history that hangs delays the end by no more than 0.3 s ($plain ms, $slow ms)" [ $((slow - plain)) -lt 600 ]
    reads_history() { grep -qzxF "WORK=$WORK" $(pgrep -f -- "--history.*--tree $WORK/mlruns" | sed 's,.*,/proc/&/environ,') /dev/null; }
    "$BENCHWRAP" --finish-wait 60s -e usual -r ./usual.yaml -- cat out >/dev/null 2>late &
    late=$!
    wait_until reads_history
    sleep 0.5
    kill $mount
    wait $late
    like "with --finish-wait the end waits for it" "$(cat late)" 'speed +20 MB/s .*[0-9]+ earlier runs: '
else
    skip_here "a history that hangs delays the end by no more than 0.3 s" "no FUSE"
fi
kill $mount 2>/dev/null
wait
umount -l "$hung" 2>/dev/null

# A number and its noun agree.
"$BENCHWRAP" -q -e counted -p job.scheduler=slurm -p job.nodes=1 -p job.tasks=1 -p step.nodes=1 -p step.tasks=2 -- true
"$BENCHWRAP" show >shown
like "show: one node, one task" "$(cat shown)" '^Job +slurm, 1 node, 1 task$'
like "show: one node, two tasks" "$(cat shown)" '^Step +1 node, 2 tasks$'

# A bad value in the environment is named once, also with repetitions; the runs keep the warning.
like "a bad variable: the warning names it" "$(BENCHWRAP_TIMEOUT=soon "$BENCHWRAP" -q -t bad -- true 2>&1)" '^benchwrap: BENCHWRAP_TIMEOUT: timeout: expected a duration .*, got "soon"; ignored$'
is "... once" "$(BENCHWRAP_TIMEOUT=soon "$BENCHWRAP" -t bad --repeat 2 -- true 2>&1 | grep -c BENCHWRAP_TIMEOUT)" 1
is "... and each run has it" "$(grep -l 'BENCHWRAP_TIMEOUT: timeout' bad/mlruns/*/*/artifacts/benchwrap.json | wc -l)" 4

# A database is no server that benchwrap knows: the run is in the tree, and the message says what to do.
like "MLFLOW_TRACKING_URI=sqlite: says what to do" "$(MLFLOW_TRACKING_URI=sqlite:///x.db "$BENCHWRAP" -q -e lite -- true 2>&1)" \
    '^benchwrap: MLFLOW_TRACKING_URI: sqlite: is not supported; the run is in the local tree. Start "mlflow server" and use its http address$'
is "... and the run is there" "$("$BENCHWRAP" ls --json -e lite | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')" 1
is "... once with repetitions" "$(MLFLOW_TRACKING_URI=sqlite:///x.db "$BENCHWRAP" -q -e lite --repeat 2 -- true 2>&1 | grep -c sqlite)" 1

"$BENCHWRAP" -q -e drafted --repeat 2 -- sh -c 'echo "bogo rate 12.5 MB/s"' >/dev/null 2>&1
like "rules new --from a series reads the output of its newest run" "$("$BENCHWRAP" rules new --from last 2>&1)" 'bogo_?rate'

port=$(free_port)
BENCHWRAP_FINISH_WAIT=5s "$BENCHWRAP" -q --to "http://127.0.0.1:$port" -- true 2>err
is "-q with a dead server: two lines" "$(wc -l <err)" 2
like "… the reason" "$(cat err)" "not sent to http://127\.0\.0\.1:$port: connection refused"
like "… and the next step" "$(cat err)" 'the run is complete in .*send it later: benchwrap sync --to http'
# Runs of several sites in one tree, as after a merge.
mkdir "$WORK/sites" && cd "$WORK/sites" || exit
for site in alpha alpha; do "$BENCHWRAP" -q -e e --site $site -- true; done
is "ls of one site names none" "$("$BENCHWRAP" ls | grep -c SITE)" 0
"$BENCHWRAP" -q -e other --site beta -- true
is "ls of several sites names them in each table" "$("$BENCHWRAP" ls | grep -c ' SITE ') $("$BENCHWRAP" ls | awk '/alpha|beta/ { print $5 }' | sort | tr '\n' ' ')" "2 alpha alpha beta "
"$BENCHWRAP" -q -e none -- true; rm -f mlruns/*/"$("$BENCHWRAP" ls --json -e none | jq -r '.[0].id')"/tags/site
is "... where one run has no site, too" "$("$BENCHWRAP" ls -e e | grep -c SITE) $("$BENCHWRAP" ls | grep -c ' alpha ')" "0 2"
is "... and so do JSON and CSV" "$("$BENCHWRAP" ls --json | jq -c '[.[].site]') $("$BENCHWRAP" ls --csv | python3 -c 'import csv, sys; print(*[r["site"] for r in csv.DictReader(sys.stdin)], sep=",")')" '[null,"beta","alpha","alpha"] ,beta,alpha,alpha'
done_testing
