#!/bin/bash
# Real readers judge queries and exports: the newest MLflow's client on file store and SQLite, its migration, pandas, pyarrow, DuckDB.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
cd "$WORK" || exit 1
report() # NAME COMMAND…: a check for each line that the command prints
{
    while IFS= read -r line; do
        case $line in
        ok\ *) tap_pass "${line#ok }" ;;
        \#*) echo "$line" ;;
        *) tap_fail "$1" "$line" ;;
        esac
    done < <(env -u MLFLOW_ALLOW_FILE_STORE "${@:2}" 2>&1)
}

# Every number of reports, computed again from the files of the tree by another program.
mkdir numbers && cd numbers || exit 1
cat >numbers.sh <<'X'
awk -v s="$1" -v k="$2" 'BEGIN { srand(s * 100 + k)
    for (i = 0; i < 5; i++) printf "rate: %.3f\n", 500 * s * (0.9 + rand() * 0.2)
    for (i = 0; i < 4; i++) printf "wait: %.6f\n", 0.04 * s * (0.5 + rand())
    printf "share: %.2f\ncount: %d\nodd: %.3g\n", 50 + 10 * rand(), 1e9 * rand(), 1e-7 * rand() }'
X
cat >rules.yaml <<'R'
name: numbers
version: "1"
headlines: [rate, wait]
readers:
  - {name: rate, regex: '^rate: (?<v>\S+)', metrics: [{name: rate, cell: v, unit: MB_per_s, better: higher, headline: median}]}
  - {name: wait, regex: '^wait: (?<v>\S+)', metrics: [{name: wait, cell: v, unit: s, better: lower, headline: median}]}
  - {name: share, regex: '^share: (?<v>\S+)', metrics: [{name: share, cell: v, unit: percent, better: none}]}
  - {name: count, regex: '^count: (?<v>\S+)', metrics: [{name: count, cell: v, better: none}]}
  - {name: odd, regex: '^odd: (?<v>\S+)', metrics: [{name: odd, cell: v, unit: s, better: lower}]}
R
cat >scale.sh <<'X'
awk -v n="$1" -v k="$2" -v w="$3" 'BEGIN { srand(n * 10 + k); t = (w == "weak" ? 0.3 * (1 + 0.03 * n) : 2.4 / n * (1 + 0.05 * n)) * (0.98 + 0.04 * rand())
    printf "elapsed: %.5f s\nrate: %.3f MB/s\n", t, (w == "weak" ? n : 1) * 100 / t }'
X
for s in 1 2 4; do for k in 1 2 3 4; do "$BENCHWRAP" -q -e numbers -n "s$s-$k" -p size=$s --tag team=t$k --rules ./rules.yaml -- sh numbers.sh $s $k >/dev/null 2>&1; done; done
for w in strong weak; do for n in 1 2 4 8; do for k in 1 2 3; do
    "$BENCHWRAP" -q -e $w -p scaling=$w -p step.nodes=$n -p step.tasks=$((16 * n)) -- sh scale.sh $n $k $w >/dev/null 2>&1; done; done; done
"$BENCHWRAP" -q -e swept --sweep size=1,2,4 --repeat 4 --rules ./rules.yaml -- sh -c 'sh numbers.sh {size} $$' >/dev/null 2>&1
report "the numbers of reports" python3 "$ROOT/tests/mlruns/report_numbers.py" "$BENCHWRAP" "$PWD"
cd "$WORK" || exit 1

# extremes: a series of 100,000 samples, 5,000 metrics, a line of 3 MB; and a tree that grows while it is read
mkdir extremes && cd extremes || exit 1
for _ in 1 2; do "$BENCHWRAP" -q -e big -- true; done
python3 - <<'P'
import glob
run = glob.glob("mlruns/*/*/meta.yaml")[0].rsplit("/", 1)[0]
with open(run + "/metrics/long_s", "w") as f:
    f.writelines("%d %r %d\n" % (1767225600000 + i, i * 0.5, i) for i in range(100000))
for i in range(5000):
    with open(run + "/metrics/m%04d" % i, "w") as f: f.write("1767225600000 %d 0\n" % i)
with open(run + "/artifacts/stdout.log", "w") as f: f.write("x" * 3000000 + "\nneedle\n")
P
for command in "pages -o web" "export --format parquet -o a.parquet" "export --long --format sqlite -o a.db" "export -o a.csv" "grep needle" "compare last~1 last" "ls --filter metrics.long_s>1"; do
    ok "extremes: $command" timeout 120 "$BENCHWRAP" $command
done
is "every sample is exported" "$(python3 -c 'import sqlite3; print(sqlite3.connect("a.db").execute("select count(*) from samples where metric = \"long_s\"").fetchone()[0])' 2>/dev/null)" 100000
ok "the page of such a run stays small" [ "$(find web/run -name '*.html' -size +500k | wc -l)" = 0 ]
mkdir grow && cd grow || exit 1
for _ in 1 2 3 4 5 6 7 8 9; do "$BENCHWRAP" -q -e g -- true; done
mkdir hold; experiment=$(ls -d mlruns/*/)
for run in $(ls -d "$experiment"*/ | tail -n +2); do mv "$run" hold; done
(for run in hold/*; do mv "$run" "$experiment"; sleep 0.05; done) &
grown=0
for _ in 1 2 3 4 5 6 7 8; do
    "$BENCHWRAP" pages -o web >out 2>err && "$BENCHWRAP" export -o runs.csv 2>>err || grown=$((grown + 1))
done
wait
is "a tree that grows: no failure" "$grown $(cat err)" "0 "
"$BENCHWRAP" pages -o web >out
like "... and in the end all runs" "$(cat out)" '^9 runs'

cd "$WORK" || exit 1
if ! python=$(venv_python mlflow-newest 1200 mlflow jsonschema pyyaml duckdb); then
    skip "the newest MLflow's client chooses the same runs" "$python"
    done_testing
    exit
fi
PATH=$(dirname "$python"):$PATH
mkdir filters
# 1,800 generated filters, of which both accept more than 1,000
report "MLflow's client" "$python" "$ROOT/tests/mlruns/filters.py" "$BENCHWRAP" "$WORK/filters" "${SEED:-1}" "${FILTERS:-1800}" sqlite
mkdir tables && cd tables || exit 1
report "the tables equal the tree" "$python" "$ROOT/tests/mlruns/tables.py" "$BENCHWRAP" "$WORK/filters"
cd "$WORK" || exit 1
"$BENCHWRAP" -q -e io --repeat 3 -- sh -c 'echo "rate: 100 op/s"' >/dev/null 2>&1
"$BENCHWRAP" export --mlflow-db store.db >counts 2>err; is "MLflow's own migration writes every run" "$?" 0
is "... which its client finds" "$("$python" -c 'import logging; logging.disable(logging.WARNING)
from mlflow import MlflowClient
c = MlflowClient("sqlite:///store.db")
print(len(c.search_runs([e.experiment_id for e in c.search_experiments()])))' 2>/dev/null)" 4
run=$(ls -d mlruns/*/*/ | head -n 1)
: >"$run/meta.yaml"
"$BENCHWRAP" export --mlflow-db less.db >counts 2>err; is "a run that the migration drops: status 1" "$?" 1
like "... is named" "$(cat err)" "$(basename "$run")"
done_testing
