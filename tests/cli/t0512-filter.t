#!/bin/bash
# --filter: MLflow's search syntax chooses runs for ls, compare, export-tree, reference and reparse; the rows are those of MLflow's client.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
cd "$WORK" || exit 1
PATH=$(dirname "$BENCHWRAP"):$PATH
bw() { "$BENCHWRAP" "$@" 2>"$WORK/err"; }
names() { bw ls --all --json "$@" | python3 -c 'import json, sys; print(" ".join(sorted(r["name"] for r in json.load(sys.stdin))))'; }

for i in 1 2 3; do bw -q -e io --name "r$i" -p size=$i --tag "team=t$i" -- sh -c "benchwrap log --unit MiB/s speed=${i}0; [ $i != 3 ]"; done
bw -q -e io --name mute -p size=1 -- true
bw -q -e other --name r4 -p size=4 -- sh -c 'benchwrap log --unit MiB/s speed=40'
speed='metrics.speed'

is "a metric" "$(names --filter "$speed > 15")" "r2 r3 r4"
is "a run without the metric is in no comparison" "$(names --filter "$speed != 10")" "r2 r3 r4"
is "several comparisons" "$(names --filter "$speed > 5 AND params.size = '1'")" r1
is "attributes" "$(names --filter "status = 'FAILED' and run_name LIKE 'r%'")" r3
is "a missing param" "$(names --filter 'tags.team IS NULL')" "mute r4"
is "--filter and -e: both" "$(names -e io --filter "$speed > 15")" "r2 r3"
is "--filter, --status and --tag: all" "$(names --status finished --tag team=t2 --filter "$speed > 5")" r2
is "an empty filter chooses all" "$(names --filter '')" "mute r1 r2 r3 r4"
bw ls --filter "metrics.sped > 1" >out; is "no run is no failure" "$?" 0
like "the key that no run has, and the nearest" "$(cat err)" 'no run has metrics\.sped; the nearest key is metrics\.speed$'
bw ls --filter "params.team = 't1'" >out
like "a key of another kind" "$(cat err)" 'no run has params\.team; the nearest key is tags\.team$'
bw ls --filter "$speed > 10 OR params.size = '1'" >out; is "what MLflow refuses is refused" "$?" 125
is "with the place" "$(sed -n '2,3p' err)" "  metrics.speed > 10 OR params.size = '1'
                     ^"
bw ls --filter "params.$(printf 'a\033[31mb') = '$(printf 'x\ny')'" >out
is "what is shown of it is harmless" "$(LC_ALL=C tr -d '\n[:print:]' <err | wc -c)" 0

like "compare --by takes it" "$(bw compare --by size --filter "$speed < 25" --json)" '"runs"'
is "with the runs that it chooses" "$(bw compare --by size --filter "$speed < 25" --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["groups"]))')" 2
like "export-tree takes it" "$(bw export-tree --filter "$speed > 15" copy)" '^3 runs written'
bw reparse --dry-run --filter "$speed > 15" >out; like "reparse takes it" "$(cat out)" '3 skipped' 
bw reference --filter "$speed > 15" >out; like "reference takes it" "$(cat out)" 'from 3 runs'

# order, columns, form
order() { bw ls --all --json "$@" | python3 -c 'import json, sys; print(" ".join(r["name"] for r in json.load(sys.stdin)))'; }
is "--sort: the least first, then those without a value" "$(order --sort "$speed")" "r1 r2 r3 r4 mute"
is "--sort DESC" "$(order --sort "$speed desc")" "r4 r3 r2 r1 mute"
is "two keys" "$(order --sort 'tags.team' --sort "params.size DESC")" "r1 r2 r3 r4 mute"
is "the first of all, not of the newest 30" "$(bw ls --sort "$speed" --last 2 --json | grep -c '"name": "r1"')" 0
bw ls --sort "$speed UP" >out; is "a wrong direction is refused" "$?" 125
like "with the reason" "$(cat err)" '^benchwrap: ls: --sort: expected ASC, DESC or nothing behind the key$'
is "--columns, --format csv" "$(bw ls -e io --sort run_name --columns 'run_name, metrics.speed, tags.`team`' --format csv | tr -d '\r')" "run_name,metrics.speed,tags.team
mute,,
r1,10,t1
r2,20,t2
r3,30,t3"
is "--format jsonl" "$(bw ls --filter "$speed = 40" --columns 'run_name,metrics.speed,params.nothing' --format jsonl)" '{"run_name": "r4", "metrics.speed": 40, "params.nothing": null}'
is "wildcards" "$(bw ls --filter "$speed = 40" --columns 'metrics.sp?ed,params.s?z*' --format csv | head -n 1 | tr -d '\r')" "metrics.speed,params.size"
bw -q -e odd --name '=HYPERLINK("http://x")' -p 'a=-2+3' -p 'b=-2' --tag 'x=<b>|`c`' -- true
is "csv has no formula" "$(bw ls -e odd --columns run_name,params.a,params.b --format csv | tail -n 1 | tr -d '\r')" "\"'=HYPERLINK(\"\"http://x\"\")\",'-2+3,-2"
is "markdown has no markup" "$(bw ls -e odd --columns tags.x --format markdown | tail -n 1)" "| <code>&#60;b&#62;&#124;&#96;c&#96;</code> |"
like "a table has the columns" "$(bw ls --columns run_name,metrics.speed)" '^r4 +40$'
bw ls --format csv --json >out; is "--format and --json: one of them" "$?" 125
bw ls --columns 'metrc.x' >out; is "a column that is none" "$?" 125

# the same options of other commands
clean() { tr -d '\r' <"$1"; }
bw show --columns 'run_name,metrics.sp*' --format csv "$(bw ls --filter "$speed = 40" --columns run_id --format csv | tail -n 1 | tr -d '\r')" >out
is "show --columns" "$(clean out)" "run_name,metrics.speed
r4,40"
bw show --format csv "$(bw ls --filter "$speed = 40" --columns run_id --format csv | tail -n 1 | tr -d '\r')" >out
is "show --format csv: a row for each fact" "$(clean out | grep -c '^metric,speed,40,MiB_per_s\|^param,size,4,\|^attribute,run_name,r4,\|^tag,benchwrap.verdict,')" 4
bw show --sort run_name >out; is "show --sort without --children is refused" "$?" 125
bw -q -e par --sweep n=1,2,3 -- sh -c 'echo "rate: {n} MB/s"' >out
is "show --children --sort --columns" "$(bw show --children --sort 'metrics.rate_MB_per_s DESC' --columns metrics.rate_MB_per_s --format jsonl | tr -d '\n')" \
    '{"metrics.rate_MB_per_s": 3}{"metrics.rate_MB_per_s": 2}{"metrics.rate_MB_per_s": 1}'
is "show --children --format csv has what --json has" "$(bw show --children --format csv | cut -d, -f1 | tail -n +2 | tr -d '\r' | tr '\n' ' ')" \
    "$(bw show --children --json | python3 -c 'import json, sys; print("".join(r["id"] + " " for r in json.load(sys.stdin)))')"
bw compare --by size -e io --format csv >out
is "compare --format csv has what --json has" "$(clean out | python3 -c 'import csv, sys; print(sorted((r["metric"], r["group"], float(r["median"])) for r in csv.DictReader(sys.stdin) if r["median"]))')" \
    "$(bw compare --by size -e io --json | python3 -c 'import json, sys
v = json.load(sys.stdin)
print(sorted((m["key"], v["groups"][s["group"]]["name"], float(s["median"])) for m in v["metrics"] for s in m["groups"] if s["median"] is not None))')"
bw compare last --history --format jsonl >out
is "compare --history --format jsonl has what --json has" "$(python3 -c 'import json; print([(r["metric"], r["value"], r["verdict"]) for r in map(json.loads, open("out"))])')" \
    "$(bw compare last --history --json | python3 -c 'import json, sys; print([(m["key"], m["value"], m["verdict"]) for m in json.load(sys.stdin)["metrics"]])')"
is "history --format csv without a change: the header" "$(bw history -e io --format csv | tr -d '\r' | cut -d, -f1-4)" experiment,measured,system,metric
bw compare last~1 last --format csv --json >out; is "one form" "$?" 125
for line in "compare --sort x last" "history --columns x" "plot --sort x" "pages --columns x -o w" "explain --format csv" "export-tree --sort x d" "reparse --format csv" "reference --sort x"; do
    bw $line >out; like "$line: which command has it" "$? $(cat err)" '^125 .*: unknown option .*; .+'
done

id=$(bw ls --all --json --filter "run_name = 'r2'" | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["id"])')
run=$(ls -d mlruns/*/"$id")
printf 'x\n' >"$run/metrics/speed"
is "a run whose metric is damaged is not chosen" "$(names --filter "$speed > 15")" "r3 r4"
bw ls --filter "$speed > 15" >out; is "the command says so by its status" "$?" 1
like "and which run it is" "$(cat err)" "$id: damaged: metrics/speed:1 is not a sample"

if python=$(venv_mlflow 3.17.2); then
    mkdir filters
    while IFS= read -r line; do
        case $line in
        ok\ *) tap_pass "MLflow's client: ${line#ok }" ;;
        *) tap_fail "MLflow's client" "$line" ;;
        esac
    done < <(env -u MLFLOW_ALLOW_FILE_STORE "$python" "$ROOT/tests/mlruns/filters.py" "$BENCHWRAP" "$WORK/filters" "${SEED:-1}" "$([ "${BENCHWRAP_LONG:-}" = 1 ] && echo 1000 || echo 60)" 2>&1)
else
    skip "MLflow's client chooses the same runs" "$python"
fi
done_testing
