#!/bin/bash
# Real readers judge queries and exports: the newest MLflow's client on file store and SQLite, its migration, pandas, pyarrow, DuckDB.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
cd "$WORK" || exit 1
if ! python=$(venv_python mlflow-newest 1200 mlflow jsonschema pyyaml duckdb); then
    skip "the newest MLflow's client chooses the same runs" "$python"
    done_testing
    exit
fi
PATH=$(dirname "$python"):$PATH
report() # COMMAND…
{
    while IFS= read -r line; do
        case $line in
        ok\ *) tap_pass "${line#ok }" ;;
        \#*) echo "$line" ;;
        *) tap_fail "$1" "$line" ;;
        esac
    done < <(env -u MLFLOW_ALLOW_FILE_STORE "${@:2}" 2>&1)
}
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
