#!/bin/sh
# benchwrap sync and pull with other servers than the newest on SQL: MLflow 2.22.5 on SQL and on files, the newest on files; 1,000 runs (slow tier).
# sanitizer: long, because a real server is what is waited for
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/mlflow_server.sh"

if ! long_tests; then
    skip_here "sync to other servers" "slow: make check-long"
    done_testing
    exit
fi
trap 'mlflow_server_stop server; tap_exit' EXIT
cd "$WORK" || exit
export MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR=0.1 MLFLOW_HTTP_REQUEST_BACKOFF_JITTER=0.1

with_server() # VERSION STORE: what the tree has is there, nothing twice, and comes back as the same bytes
{
    if ! python=$(venv_mlflow "$1"); then
        skip "sync to MLflow $1" "$python"
        return
    fi
    rm -rf server tree back
    port=$(free_port) url=
    case $2 in sql) store=sqlite:///$WORK/server/m.db ;; *) store=$WORK/server/files ;; esac
    ok "MLflow $1 on $2 starts" mlflow_server_start server "$python" "$port" --backend-store-uri "$store" --artifacts-destination "$WORK/server/artifacts" || { tail -n 5 server/log | sed 's/^/# /'; return; }
    url=http://127.0.0.1:$port
    mkdir tree back
    "$BUILD/tests/lib/write-tree" tree keys >/dev/null && "$BUILD/tests/lib/write-tree" tree series >/dev/null
    (cd tree && "$BENCHWRAP" -q -e own -- sh -c 'echo live' >/dev/null)
    out=$(cd tree && "$BENCHWRAP" sync --to "$url" 2>&1)
    is "MLflow $1 on $2: sync" $? 0
    like "MLflow $1 on $2: all are new" "$out" ": sent [0-9]+ runs$"
    ok "MLflow $1 on $2: equal fact by fact" "$python" "$ROOT/tests/mlruns/compare_server.py" tree/mlruns "$url"
    out=$(cd tree && rm -rf .benchwrap/sync && "$BENCHWRAP" sync --to "$url" 2>&1)
    like "MLflow $1 on $2: nothing twice" "$out" ": nothing to send, [0-9]+ runs up to date$"
    ok "MLflow $1 on $2: a live run arrives" sh -c "cd tree && MLFLOW_TRACKING_URI=$url '$BENCHWRAP' -q -e live -- sh -c 'sleep 2'"
    ok "MLflow $1 on $2: … with its facts" "$python" "$ROOT/tests/mlruns/compare_server.py" tree/mlruns "$url"
    ok "MLflow $1 on $2: pull" sh -c "cd back && '$BENCHWRAP' pull '$url' own keys >/dev/null"
    for e in own keys; do
        id=$(basename "$(dirname "$(grep -l "^name: \"$e\"" tree/mlruns/*/meta.yaml)")")
        is "MLflow $1 on $2: $e comes back as the same bytes" "$(diff -r "tree/mlruns/$id" "back/mlruns/$id" 2>&1 | head -n 20)" ""
    done
    mlflow_server_stop server
}
with_server 2.22.5 sql
with_server 2.22.5 files
with_server 3.17.2 files

# ---- a thousand runs ----
if python=$(venv_mlflow 3.17.2); then
    rm -rf server tree
    port=$(free_port)
    url=http://127.0.0.1:$port
    ok "a server for a thousand runs starts" mlflow_server_start server "$python" "$port" --backend-store-uri "sqlite:///$WORK/server/m.db" --artifacts-destination "$WORK/server/artifacts"
    mkdir tree && "$BUILD/tests/lib/write-tree" tree many 1000 >/dev/null
    ok "a thousand runs are sent" sh -c "cd tree && '$BENCHWRAP' sync --to '$url'"
    ok "… and are there fact by fact" "$python" "$ROOT/tests/mlruns/compare_server.py" tree/mlruns "$url"
    like "… once" "$(cd tree && rm -rf .benchwrap/sync && "$BENCHWRAP" sync --to "$url" 2>&1)" ": nothing to send, 1000 runs up to date$"
    mlflow_server_stop server
fi
done_testing
