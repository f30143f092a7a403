#!/bin/bash
# --repeat and --warmup: child runs, statistics over those that count, failing repetitions, exit statuses, standard input, steps, gate.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit
cat >rules.yaml <<'R'
name: toy
version: "1"
summary: "toy: prints a rate"
programs: [toy]
headlines: [rate]
readers:
  - name: rate
    regex: '^rate: (?<v>\S+)'
    metrics:
      - {name: rate, cell: v, unit: MB_per_s, better: higher, headline: max}
checks:
  - {expect: "samples(rate) > 0", reason: "no rate was printed"}
R
# toy FILE: prints the next line of FILE as rate, or does what it says
cat >toy <<'R'
#!/bin/sh
n=$(cat count 2>/dev/null || echo 0); n=$((n + 1)); echo $n >count
line=$(sed -n "${n}p" "$1")
case $line in
exit*|kill*) eval "$line" ;;
*) echo "rate: $line" ;;
esac
R
chmod +x toy
tree() # EXPRESSION: Python over the last series: r (its record), kids (their records by order), metric(r, key)
{
    python3 - "$1" <<'P'
import glob, json, os, sys
runs = [json.load(open(f)) for f in glob.glob("mlruns/*/*/artifacts/benchwrap.json")]
tag = lambda r, k: r["tags"].get(k, {}).get("value")
series = [r for r in runs if tag(r, "benchwrap.series") and not tag(r, "mlflow.parentRunId")]
r = max(series, key=lambda r: r["run"]["start_ms"])
kids = sorted((k for k in runs if tag(k, "mlflow.parentRunId") == r["run"]["id"]), key=lambda k: int(tag(k, "benchwrap.order")))
metric = lambda r, k: r["metrics"].get(k, {}).get("value")
def samples(r, key):
    with open(glob.glob("mlruns/*/%s/metrics/%s" % (r["run"]["id"], key))[0]) as f:
        return [(int(l.split()[2]), float(l.split()[1])) for l in f]
missing = lambda r, k: next((m["reason"] for m in r["missing"] if m["key"] == k), None)
print(eval(sys.argv[1]))
P
}
series() # FILE OPTIONS…: fresh tree
{
    rm -rf mlruns .benchwrap count
    file=$1
    shift
    "$BENCHWRAP" --rules ./rules.yaml "$@" -- ./toy "$file" >out 2>err </dev/null
    status=$?
}

printf '%s\n' 1000 10 12 11 15 >values
series values --repeat 4 --warmup 1
is "five runs: exit status" "$status" 0
is "output passes as it is" "$(tr '\n' ' ' <out)" "rate: 1000 rate: 10 rate: 12 rate: 11 rate: 15 "
is "children: four repetitions and the warm-up, which says so" "$(tree '[(tag(k, "benchwrap.warmup"), tag(k, "benchwrap.repetition")) for k in kids]')" \
    "[('1', None), (None, '1'), (None, '2'), (None, '3'), (None, '4')]"
is "the parent has the values by repetition, without the warm-up" "$(tree 'samples(r, "rate_MB_per_s")')" "[(1, 10.0), (2, 12.0), (3, 11.0), (4, 15.0)]"
is "n" "$(tree 'metric(r, "rate_MB_per_s.n")')" 4
is "median, mean, min, max" "$(tree '[metric(r, "rate_MB_per_s." + s) for s in ("median", "mean", "min", "max")]')" "[11.5, 12, 10, 15]"
is "standard deviation" "$(tree 'round(metric(r, "rate_MB_per_s.sd"), 9)')" "$(python3 -c 'import statistics as s; print(round(s.stdev([10, 12, 11, 15]), 9))')"
is "confidence interval: t with 3 degrees of freedom" "$(tree '[round(metric(r, "rate_MB_per_s.ci_" + s), 8) for s in ("low", "high")]')" \
    "$(python3 -c 'import statistics as s; v=[10, 12, 11, 15]; h=3.18244630528371*s.stdev(v)/2; print([round(12-h, 8), round(12+h, 8)])')"
is "each repetition's wall time is a sample, too" "$(tree 'metric(r, "run.wall_s.n")')" 4
is "verdict and status of the series" "$(tree '(r["verdict"]["word"], r["run"]["status"])')" "('pass', 'FINISHED')"
is "counts" "$(tree '[metric(r, "series." + k) for k in ("runs", "counted", "failed", "warmup")]')" "[5, 4, 0, 1]"
is "children are in the parent's experiment" "$(tree '{k["run"]["experiment"]["name"] for k in kids}')" "{'toy'}"
like "how many finished" "$(cat err)" '^benchwrap: toy, 4 of 4 repetitions finished in [0-9.]+ m?s, 1 for warm-up$'
like "median, range and interval" "$(cat err)" '^benchwrap:   rate max +11\.5 MB/s +10 … 15 +8\.56 … 15\.4$'
like "and where it is stored" "$(cat err)" '^benchwrap:   run [0-9a-f]{8} in ./mlruns'
like "show has the median, not the last repetition" "$("$BENCHWRAP" show)" '^  rate max +11\.5 MB/s +10 … 15 +8\.56 … 15\.4$'
is "and no derived keys" "$("$BENCHWRAP" show | grep -cE '\.(ci_low|ci_high|sd|n)')" 0
like "ls counts the children" "$("$BENCHWRAP" ls)" '5 runs +11\.5 '
is "ls has one line for a series" "$("$BENCHWRAP" ls | grep -cE '^[0-9a-f]{8} ')" 1
is "show --children lists them" "$("$BENCHWRAP" show --children | grep -cE '^[0-9a-f]{8} ')" 5
like "ls --children lists them below it" "$("$BENCHWRAP" ls --children)" '  #4 +15 '
like "points.csv" "$(cat mlruns/*/*/artifacts/points.csv)" '^"rate_MB_per_s",max,MB_per_s,higher,4,11.5,12,'

series values --repeat 3 --finish-wait 0s
is "a launcher that waits for no record: each is counted all the same" "$(tree 'samples(r, "rate_MB_per_s")')" "[(1, 1000.0), (2, 10.0), (3, 12.0)]"
series values --repeat 2
is "two samples: no interval" "$(tree 'metric(r, "rate_MB_per_s.ci_low")')" None
is "and the reason" "$(tree 'missing(r, "rate_MB_per_s.ci_low")')" "too few samples: 2, 3 are needed"
series values --repeat 1
is "one sample: no standard deviation" "$(tree '(metric(r, "rate_MB_per_s.sd"), missing(r, "rate_MB_per_s.sd"))')" "(None, 'too few samples: 1, 2 are needed')"
is "but a median, so that one column compares all" "$(tree 'metric(r, "rate_MB_per_s.median")')" 1000

printf '%s\n' 10 'exit 3' 12 'exit 4' 14 >values
series values --repeat 5
is "a failing repetition ends the series" "$status $(wc -l <out)" "3 1"
is "what was measured stays" "$(tree '(metric(r, "rate_MB_per_s.n"), r["run"]["status"], r["verdict"]["word"], len(kids))')" "(1, 'FAILED', 'fail', 2)"
like "said" "$(cat err)" 'stopped at the first run that failed, run 2; --keep-going continues after it'
series values --repeat 5 --keep-going
is "--keep-going: the first failure's exit status" "$status" 3
is "the failed ones are in no statistics" "$(tree 'samples(r, "rate_MB_per_s")')" "[(1, 10.0), (3, 12.0), (5, 14.0)]"
is "and counted" "$(tree '(metric(r, "series.failed"), r["verdict"]["word"])')" "(2, 'fail')"
like "with the reason" "$(tree 'r["verdict"]["reason"]')" '2 of 5 repetitions failed; repetition 2: .*exit status 3'

printf '%s\n' 10 'kill -TERM $$' >values
series values --repeat 3
is "a program that dies of a signal" "$status" 143
printf '%s\n' 10 'echo nothing; exit 0' 12 >values
series values --repeat 3 --keep-going
is "a repetition that printed no rate is failed and not counted" "$(tree '(metric(r, "rate_MB_per_s.n"), metric(r, "series.failed"))')" "(2, 1)"
printf '%s\n' 'sleep 3; exit 0' >values; sed -i 's/exit\*|kill\*/exit*|kill*|sleep*/' toy
series values --repeat 2 --timeout 0.3
is "the time limit is each repetition's" "$status" 124

rm -rf mlruns .benchwrap
"$BENCHWRAP" --repeat 3 -- ./no-such-program 2>err
is "a program that is not there: exit status" "$?" 127
is "it is tried once" "$(grep -c 'no-such-program' err)" 1
is "and no run is left" "$(find mlruns .benchwrap/spool -mindepth 2 2>/dev/null)" ""

is "standard input is empty" "$(echo line | "$BENCHWRAP" -q --repeat 2 -- cat)" ""
echo line >input
is "--input: each repetition reads it from its start" "$("$BENCHWRAP" -q --repeat 2 --input input -- cat)" "line
line"
is "descriptors of the caller are passed on" "$("$BENCHWRAP" -q --repeat 1 -- sh -c 'cat <&7' 7<input)" "line"
like "-q: nothing is said" "$("$BENCHWRAP" -q --repeat 2 -- true 2>&1; echo "end $?")" '^end 0$'

printf '%s\n' 10 12 >values
series values --repeat 2 --as steps
is "--as steps: one run" "$(find mlruns -name meta.yaml | wc -l)" 2
is "with the values" "$(tree 'samples(r, "rate_MB_per_s")')" "[(1, 10.0), (2, 12.0)]"
is "and the outputs" "$(cat mlruns/*/*/artifacts/runs/run-0002-stdout.log)" "rate: 12"
is "nothing else is left" "$(find . -name steps)" ""
rm -rf mlruns .benchwrap
"$BENCHWRAP" -q --repeat 3 --as steps --log-max 100k --artifact-max 20k -- sh -c '[ -e large ] && echo small || { : >large; head -c 50000 /dev/zero | tr "\0" x; }' >/dev/null
is "a log that is too large leaves the space to the next ones" "$(cd mlruns/*/*/artifacts/runs && echo *)" "run-0002-stdout.log run-0003-stdout.log"
rm -f large

rm -rf mlruns .benchwrap
"$BENCHWRAP" -q --gate --repeat 2 -- true
is "--gate: 3 when a verdict is not pass" "$?" 3
printf '%s\n' 10 12 >values
series values --repeat 2 --gate
is "--gate: 0 when all pass" "$status" 0

refused() # NAME PATTERN OPTIONS…
{
    name=$1 pattern=$2
    shift 2
    "$BENCHWRAP" "$@" >out 2>err
    is "$name: 125" "$?" 125
    like "$name: why" "$(cat err)" "$pattern"
}
rm -rf mlruns .benchwrap
refused "no repetition" 'a number from 1' --repeat 0 -- true
refused "a modifier alone" '--keep-going: this is for several runs' --keep-going -- true
refused "a seed without an order" '--interleave' --repeat 2 --seed 1 -- true
refused "--until-stable without percent" 'for example 2%, got "2"' --until-stable 2 -- true
refused "--input that is not there" '^benchwrap: --input: cannot read nothing: ' --repeat 2 --input nothing -- true
mkfifo fifo
refused "--input of a pipe, which nobody writes" 'expected a file that each repetition can read from its start, got the pipe "fifo"' --repeat 2 --input fifo -- cat
refused "--input of a directory" 'got the directory "[.]"' --repeat 2 --input . -- cat
PMI_RANK=0 PMI_SIZE=2 refused "every rank would repeat" "benchwrap --repeat N -- srun" --repeat 2 -- true
PMI_RANK=1 PMI_SIZE=2 "$BENCHWRAP" --repeat 2 -- echo x >out 2>&1
is "the other ranks end as silently" "$? $(cat out)" "125 "
is "one rank alone may" "$(PMI_RANK=0 PMI_SIZE=1 "$BENCHWRAP" -q --repeat 2 -- echo x)" "x
x"
is "what was refused left nothing behind" "$(ls mlruns 2>/dev/null | wc -l)" 1

# Inputs of a series: what all its runs share. Two series are compared by them, and by the command line where no rules explain it.
mkdir -p inputs && cd inputs || exit
cat >rules.yaml <<'R'
name: toy
version: "1"
summary: "toy: prints a rate"
programs: [toy]
headlines: [rate]
arguments:
  options:
    - {flags: [--depth], param: depth}
readers:
  - name: rate
    regex: '^rate: (?<v>\S+) (?<other>\S+)'
    metrics:
      - {name: rate, cell: v, unit: MB_per_s, better: higher}
      - {name: other, cell: other, unit: MB_per_s, better: higher}
R
printf '#!/bin/sh\nn=$(($(cat n 2>/dev/null) + 1)); echo $n >n; echo "rate: $((${#2} * 100 + n)) $((${#2} * 200 + n))"\n' >toy; chmod +x toy
for depth in 1 222; do "$BENCHWRAP" -q --repeat 4 --rules rules.yaml -- ./toy --depth $depth >/dev/null; done
"$BENCHWRAP" compare last~1 last >compared
like "series with different inputs: compare names them" "$(cat compared)" '^Inputs that differ: depth\.$'
like "… and their values" "$(cat compared)" '^ *depth +1 +222$'
like "the answer is about the headline metric" "$(cat compared)" '^B against A: rate is [12][0-9][0-9] % higher \('
is "… and about no other" "$(grep -c '^other ' compared)" 0
"$BENCHWRAP" show last >shown
like "show has the inputs of a series" "$(cat shown)" '^  depth 222$'
is "check finds no error" "$("$BENCHWRAP" check 2>&1 | grep -c '^error')" 0
printf '#!/bin/sh\necho "rate: $1.5 MB/s"\n' >a.sh; cp a.sh b.sh; chmod +x a.sh b.sh
for line in "./a.sh 1" "./a.sh 2" "sh a.sh 2" "sh b.sh 2" "./b.sh 2"; do "$BENCHWRAP" -q --repeat 2 -- $line >/dev/null; done
like "an argument that nothing explains is an input" "$("$BENCHWRAP" compare last~4 last~3)" '^Inputs that differ: argument\.1\.$'
like "so is an interpreter's script" "$("$BENCHWRAP" compare last~2 last~1)" '^ +argument\.1 +a\.sh +b\.sh$'
like "so is the program" "$("$BENCHWRAP" compare last~3 last)" '^Inputs that differ: program\.$'
like "the same inputs are still the same" "$("$BENCHWRAP" compare last last)" '^A and B have the same inputs\.$'
cd .. || exit
if long_tests; then
    like "a long series shows in a log that it is alive" "$("$BENCHWRAP" -t alive --repeat 2 -- sleep 10 2>&1 >/dev/null)" '^benchwrap: \[2/2\] repetition 2$'
    is "... not with -q" "$("$BENCHWRAP" -q -t alive --repeat 2 -- sleep 10 2>&1 >/dev/null)" ""
fi
is "... a short one does not" "$("$BENCHWRAP" -t alive --repeat 2 -- true 2>&1 >/dev/null | grep -c '\[2/2\]')" 0
done_testing
