#!/bin/bash
# A selection of export-tree brings along what else says something about its runs: a copy has no value that the tree has corrected.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit
unset BENCHWRAP_TREE
export BENCHWRAP_SITE=alpha
for cell in a b; do
    printf 'name: x\nversion: "1"\nreaders:\n  - {name: v, regex: "^v (?<a>.*) (?<b>.*)", metrics: [{name: speed, cell: %s, unit: MB_per_s, better: higher}]}\n' $cell >$cell.yaml
done
for v in 10 20 30 40; do "$BENCHWRAP" -q -e e -n n$v -r a.yaml -- echo v $v ${v}0 >/dev/null; done
id() { "$BENCHWRAP" ls --json | jq -r ".[] | select(.name == \"$1\").id"; } # NAME
a=$(id n10) b=$(id n20) c=$(id n30)
{
    "$BENCHWRAP" reparse --rules b.yaml "$a" && "$BENCHWRAP" retract --why bad "$b"
    "$BENCHWRAP" annotate --note cold "$c"
    "$BENCHWRAP" retract --why oops "$(basename "$(dirname "$(dirname mlruns/*/*/tags/benchwrap.annotates)")")"
    "$BENCHWRAP" annotate --tag kind=new "$a"
} >out.txt 2>&1
rows() { "$BENCHWRAP" ls -t "$1/mlruns" --columns run_name,metrics.speed_MB_per_s,tags.kind,tags.mlflow.note.content --format csv --sort run_name | tail -n +2 | tr -d '\r' | xargs; } # TREE
is "the tree" "$(rows .)" "n10,100,new, n30,30,, n40,40,,"
"$BENCHWRAP" export-tree --filter "metrics.speed_MB_per_s < 45" low >out.txt
is "runs that others correct: with the corrections" "$(rows low)" "n10,100,new, n30,30,, n40,40,,"
"$BENCHWRAP" export-tree --filter "metrics.speed_MB_per_s > 45" high >out.txt
is "a run that amends another one: with its annotations" "$(rows high)" "n10,100,new,"
"$BENCHWRAP" export-tree --filter "run_name = 'n30'" one >out.txt
is "an annotation that was retracted stays so" "$(rows one)" "n30,30,,"
like "once more there is nothing to write" "$("$BENCHWRAP" export-tree --filter "run_name = 'n30'" one)" '^0 runs written to one/mlruns, 3 there already'
"$BENCHWRAP" export-tree --last 1 last >out.txt
is "--last: no more than it says" "$("$BENCHWRAP" ls -t last/mlruns --all --json | jq length)" "$("$BENCHWRAP" export-tree --json --last 1 last | jq .already_there)"
done_testing
