#!/bin/bash
# --share-run with a server: the models that the client logged come into the tree, what stays on the server is named, and no id stands for two contents.
# sanitizer: long, because a real server and real clients are what is waited for
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/mlflow_server.sh"
unset MLFLOW_EXPERIMENT_ID BENCHWRAP_SHARED_RUN

if ! python=$(venv_mlflow 3.17.2); then
    skip "a client of MLflow 3.17.2" "$python"
    done_testing
    exit
fi
trap 'mlflow_server_stop server; tap_exit' EXIT
cd "$WORK" || exit
port=$(free_port)
url=http://127.0.0.1:$port
mlflow_server_start server "$python" "$port" --backend-store-uri "sqlite:///$WORK/server/mlflow.db" --artifacts-destination "$WORK/server/artifacts" ||
    { tap_fail "the server starts" "$(tail -n 5 "$WORK/server/log")"; done_testing; exit; }
group=$(cat "$WORK/server/pid")
cat >more.py <<'P'
import mlflow
class Net(mlflow.pyfunc.PythonModel):
    def predict(self, context, model_input):
        return model_input
with mlflow.start_run():
    mlflow.pyfunc.log_model(name="net", python_model=Net(), pip_requirements=[])
    with mlflow.start_run(nested=True, run_name="inner"):
        mlflow.log_metric("acc", 0.5)
    with mlflow.start_span("step"):
        pass
mlflow.flush_trace_async_logging()
P
cat >stop.py <<'P'
import mlflow, os, signal, sys
with mlflow.start_run():
    mlflow.log_param("rate", 0.1)
os.killpg(int(sys.argv[1]), signal.SIGSTOP)
P
cat >wide.py <<'P'
import mlflow, os
c, run = mlflow.MlflowClient(), os.environ["MLFLOW_RUN_ID"]
c.log_text(run, "theirs\n", "stdout.log")
c.log_text(run, "lost\n", "d/" * 40 + "x.txt")
c.create_run(c.get_run(run).info.experiment_id, run_name="sibling")
print("ours!!")
P
share() # NAME WAIT PROGRAM…: until the server was fast enough to make the run
{
    for n in 1 2 3 4 5; do
        name=$1$n
        MLFLOW_TRACKING_URI=$url "$BENCHWRAP" --finish-wait "$2" -e "$name" -n "$name" --share-run -- "$python" "${@:3}" >out 2>err
        grep -q 'private store' err || return 0
        kill -CONT "-$group" # this one stopped it
    done
    return 1
}
main() { dirname "$(grep -lF "$1" "${2:-mlruns}"/*/*/meta.yaml)"; } # NAME [TREE]

if share more 60s more.py; then
    run=$(main "$name")
    is "a model that the client logged is stored" "$(cd "$run/artifacts/mlflow/models" && ls */model.json */artifacts/MLmodel | sed 's,^[^/]*/,,' | xargs)" "artifacts/MLmodel model.json"
    warned=$("$BENCHWRAP" show -e "$name" --json | jq -r '.warnings[].text')
    like "runs below the shared one are named" "$warned" "^1 run that the program's MLflow client started below this one is on the server only: benchwrap pull"
    like "traces, too" "$warned" "^the traces that the program's MLflow client logged are on the server only"
    like "pull fetches that run" "$("$BENCHWRAP" pull "$url" "$name")" ": 1 pulled, 1 already there"
    is "... below its parent run" "$(cat "$(dirname "$(grep -lF '"inner"' "${run%/*}"/*/meta.yaml)")/tags/mlflow.parentRunId")" "$(basename "$run")"
    "$BENCHWRAP" pull --tree other/mlruns "$url" "$name" >/dev/null
    is "another tree has the complete run under its id" "$(basename "$(main "$name" other/mlruns)")" "$(basename "$run")"
else
    skip_here "models, further runs" "the machine is too busy: the server needs more than 2 s for a run"
fi
if share wide 60s wide.py; then
    run=$(main "$name")
    like "a run of the experiment that began while the program ran is named" "$("$BENCHWRAP" show -e "$name" --json | jq -r '.warnings[].text')" \
        "^while the program ran, 1 other run of its experiment began on the server, .* benchwrap pull fetches it$"
    deep() { jq -r '.missing[] | "\(.key) \(.reason)"' "$1/artifacts/benchwrap.json" | grep -c "^d/d/[d/]* $2this folder is too deep"; }
    is "a folder that is too deep is missing, with the reason" "$(deep "$run" '')" 1
    server_id=$(cat "$run/tags/benchwrap.shared_run")
    there() { curl -s "$url/get-artifact?run_id=$server_id&path=$1"; }
    is "of two files of one name and size, each has the same content here and there" \
        "$(cd "$run/artifacts" && cat stdout.log mlflow/stdout.log | xargs) $(there stdout.log) $(there mlflow/stdout.log)" "ours!! theirs ours!! theirs"
    "$BENCHWRAP" pull --tree wide/mlruns "$url" "$name" >/dev/null
    is "pull names the folder, too" "$(deep "$(main "$name" wide/mlruns)" 'not pulled: ')" 1
else
    skip_here "further names" "the machine is too busy: the server needs more than 2 s for a run"
fi
if share stopped 6s stop.py "$group"; then
    run=$(main "$name") server_run=$(cat "$(main "$name")/tags/benchwrap.shared_run")
    kill -CONT "-$group"
    is "the server stopped: the run is incomplete" "$(cat "$run/tags/benchwrap.incomplete") $(ls "$run/params/rate" 2>/dev/null)" "mlflow "
    for when in before after; do
        "$BENCHWRAP" pull --tree $when/mlruns "$url" "$name" >/dev/null
        is "another tree, $when sync completes it: the server's run under the server's id" "$(basename "$(main "$name" $when/mlruns)") $(cat $when/mlruns/*/*/params/rate)" "$server_run 0.1"
        [ $when = after ] || "$BENCHWRAP" sync --to "$url" -e "$name" >sync.out 2>&1
    done
    like "sync has completed it" "$(cat sync.out)" "was incomplete; mlruns/.* completes it"
    is "the tree's own run is as it was" "$(ls "$run/params/rate" 2>/dev/null)" ""
else
    kill -CONT "-$group"
    skip_here "a server that stops" "the machine is too busy: the server needs more than 2 s for a run"
fi
done_testing
