#!/bin/bash
# sanitizer: long, because a real server is what is waited for
# A run that `pull` fetched from another client's run of a server is not sent there again; another server gets it.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/mlflow_server.sh"
MLFLOW=3.17.2

if ! python=$(venv_mlflow "$MLFLOW"); then
    skip "runs are pulled from MLflow $MLFLOW" "$python"
    done_testing
    exit
fi
trap 'mlflow_server_stop server; tap_exit' EXIT
port=$(free_port)
url=http://127.0.0.1:$port
cd "$WORK" || exit
if ! mlflow_server_start server "$python" "$port" --backend-store-uri sqlite:///m.db --artifacts-destination ./artifacts; then
    tap_fail "the server starts" "$(tail -n 5 server/log)"
    done_testing
    exit
fi
api() { curl -sS -X POST "$url/api/2.0/mlflow/$1" -H 'Content-Type: application/json' -d "$2"; }
experiment=$(api experiments/create '{"name": "two"}' | jq -r .experiment_id)
id=$(api runs/create "{\"experiment_id\": \"$experiment\", \"run_name\": \"theirs\", \"start_time\": 1700000000000}" | jq -r .run.info.run_id)
api runs/log-metric "{\"run_id\": \"$id\", \"key\": \"loss\", \"value\": 0.5, \"timestamp\": 1700000000001, \"step\": 0}" >/dev/null
api runs/update "{\"run_id\": \"$id\", \"status\": \"FINISHED\", \"end_time\": 1700000001000}" >/dev/null
on_server() { api runs/search "{\"experiment_ids\": [\"$experiment\"], \"max_results\": 100}" | jq -r '.runs[].info.run_id'; }
"$BENCHWRAP" pull "$url" two >out 2>&1
is "a run of another client is pulled" "$? $(ls -d mlruns/*/"$id" | wc -l)" "0 1"
like "a dry sync would not send it" "$("$BENCHWRAP" sync --to "$url" --dry-run 2>&1)" '1 run up to date'
"$BENCHWRAP" sync --to "$url" >out 2>&1
is "sync does not send it to the server that has it" "$? $(on_server)" "0 $id"
"$BENCHWRAP" sync --to "$url" >out 2>&1
is "... nor does the next one" "$? $(on_server)" "0 $id"
api runs/delete "{\"run_id\": \"$id\"}" >/dev/null
rm -rf .benchwrap
"$BENCHWRAP" sync --to "$url" >out 2>&1
is "a server that lacks it gets it" "$? $(on_server | wc -l)" "0 1"
done_testing
