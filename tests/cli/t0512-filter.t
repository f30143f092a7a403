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
