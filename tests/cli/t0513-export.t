#!/bin/bash
# export: runs and samples as CSV, JSON lines and Parquet, for pandas and spreadsheets; every value is the tree's.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
cd "$WORK" || exit 1
PATH=$(dirname "$BENCHWRAP"):$PATH
bw() { "$BENCHWRAP" "$@" 2>"$WORK/err"; }
csv() { bw export "$@" | tr -d '\r'; }

for i in 1 2; do bw -q -e io --name "r$i" -p size=$i -- sh -c "for s in 0 1; do benchwrap log --unit MiB/s --step \$s speed=\$((${i}0 + s)); done"; done
bw -q -e odd --name '=HYPERLINK("http://x")' -p 'a=-2+3' -p 'b=-2' -- true

is "the facts that are asked for, in an order" "$(csv -e io --sort run_name --columns 'run_name,params.size,metrics.speed')" "run_name,params.size,metrics.speed
r1,1,11
r2,2,21"
is "a filter" "$(csv --filter 'metrics.speed > 15' --columns run_name)" "run_name
r2"
is "the newest" "$(csv -e io --last 1 --columns run_name | tail -n 1)" r2
is "all facts: the first columns" "$(csv | head -n 1 | cut -d, -f 1-9)" run_id,experiment,experiment_id,run_name,status,start_time,end_time,user_id,artifact_uri
is "--long: samples with unit and direction" "$(csv --long --filter "run_name = 'r1'" | grep ',speed,' | cut -d, -f 2-4,6-)" "io,speed,0,10,MiB_per_s,
io,speed,1,11,MiB_per_s,"
is "a direction" "$(csv --long --last 1 | grep ",run.wall_s," | cut -d, -f 7-)" "s,lower"
is "JSON lines leave out what a run lacks" "$(bw export --columns run_name,metrics.speed,params.a --sort run_name --format jsonl | tail -n 1)" '{"run_name": "r2", "metrics.speed": 21}'
is "no formula in CSV" "$(csv -e odd --columns run_name,params.a,params.b | tail -n 1)" "\"'=HYPERLINK(\"\"http://x\"\")\",'-2+3,-2"
bw -q -t marks/mlruns -e marks -- true # recorded names have no such characters, those of other clients may
sed -i 's/^run_name: .*/run_name: "x\\x1b[31m\\u202ey"/' marks/mlruns/*/*/meta.yaml
marks() { grep -acP '\x1b\[31m|\xe2\x80\xae'; }
for command in "ls --csv" "ls --format csv" "ls --json" "ls --format jsonl" "ls --format csv --columns run_name" "show last --json" "export" "export --format jsonl"; do
    script -qec "$BENCHWRAP $command -t marks/mlruns" /dev/null >shown 2>/dev/null
    is "$command: harmless on a terminal" "$(marks <shown) $(grep -acF 'u202ey' shown)" "0 1"
done
is "CSV elsewhere has the bytes as they are, JSON the same text" "$(csv -t marks/mlruns --columns run_name | marks) $(bw export -t marks/mlruns --format jsonl | jq -r .run_name | marks)" "1 1"
bw export --long --columns run_name >out; is "--long has its own columns" "$?" 125
bw export --format xlsx >out; is "an unknown form is refused" "$?" 125
like "export-tree is named in the help" "$(bw export --help)" 'export-tree'
like "and names export" "$(bw export-tree --help)" '"benchwrap export" writes'
is "no run: the header alone" "$(csv --filter 'metrics.speed > 1000' --columns run_name)" run_name
like "and the reason" "$(cat err)" 'no runs that pass --filter'

# damage and growth
run=$(dirname "$(dirname "$(grep -lx 1 mlruns/*/*/params/size)")")
printf 'x\n' >"$run/metrics/speed"
bw export --columns run_name,metrics.speed >out; is "a damaged run: status 1" "$?" 1
is "with the rest of it, and all others" "$(tr -d '\r' <out | sort | tr '\n' ' ')" "\"'=HYPERLINK(\"\"http://x\"\")\", r1, r2,21 run_name,metrics.speed "
like "named" "$(cat err)" 'damaged: metrics/speed:1 is not a sample'

# memory does not grow with the number of runs
mkdir many && "$BUILD/tests/lib/write-tree" many bulk 300 >/dev/null
peak() { # COMMAND…: KiB
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}
few=$(peak "$BENCHWRAP" export --tree many/mlruns --long --last 10) all=$(peak "$BENCHWRAP" export --tree many/mlruns --long)
if nm "$BUILD/lib/libmlruns.a" 2>/dev/null | grep -q '__asan_'; then skip_here "memory is that of one run" "a sanitizer keeps freed memory"
else
    ok "memory is that of one run ($few KiB for 10 runs, $all for 300)" test "$all" -lt $((few + 1500))
fi

if python=$(venv_mlflow 3.17.2); then
    mkdir awkward
    "$python" "$ROOT/tests/mlruns/filters.py" "$BENCHWRAP" "$WORK/awkward" 7 0 >/dev/null 2>&1
    while IFS= read -r line; do
        case $line in
        ok\ *) tap_pass "${line#ok }" ;;
        *) tap_fail "the tables equal the tree" "$line" ;;
        esac
    done < <("$python" "$ROOT/tests/mlruns/tables.py" "$BENCHWRAP" "$WORK/awkward" 2>&1)
else
    skip "the tables equal the tree" "$python"
fi
done_testing
