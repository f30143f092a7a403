#!/bin/bash
# --share-run: the tree has what the program's own MLflow client logged: from a private store where there is no server, else from the server, at once or later.
# sanitizer: long, because a real server and real clients are what is waited for
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/mlflow_server.sh"
unset MLFLOW_EXPERIMENT_ID BENCHWRAP_SHARED_RUN

if ! python=$(venv_mlflow 3.17.2) || ! old=$(venv_mlflow_client 2.22.5); then
    skip "clients of MLflow 3.17.2 and 2.22.5" "$python $old"
    done_testing
    exit
fi
trap 'mlflow_server_stop server; tap_exit' EXIT
cd "$WORK" || exit
cat >train.py <<'P'
import os, sys
import mlflow
told = os.environ.get("MLFLOW_RUN_ID")
with mlflow.start_run() as run:
    print(run.info.run_id == told, flush=True)
    mlflow.log_param("rate", 0.1)
    mlflow.log_param("token", "ghp_abcdefghijklmnopqrstuvwxyz0123456789")
    for i in range(20):
        mlflow.log_metric("loss", 1 / (i + 1), step=i)
    mlflow.log_metric("bad", float("nan"))
    mlflow.log_metric("endless", float("inf"))
    mlflow.set_tag("phase", "train")
    mlflow.log_text("weights\n", "deep/er/model.txt")
    mlflow.log_text("mine\n", "stdout.log")
    if len(sys.argv) > 2:
        mlflow.log_input(mlflow.data.from_pandas(__import__("pandas").DataFrame({"a": [1]}), name="ds"))
        with mlflow.start_run(nested=True, run_name="inner"):
            mlflow.log_metric("acc", 0.5)
if len(sys.argv) > 2:
    with mlflow.start_run(run_name="second"):
        mlflow.log_metric("z", 3)
        mlflow.log_text("two\n", "two.txt")
if sys.argv[1] != "0":
    import signal
    os.killpg(int(sys.argv[1]), signal.SIGSTOP)
sys.exit(4)
P
main() { dirname "$(grep -lF "$1" mlruns/*/*/meta.yaml)"; } # NAME
has_all() # RUN NAME: what every client's run has
{
    is "$2: params" "$(cat "$1/params/rate")" 0.1
    is "$2: no secret is kept" "$(grep -rlF ghp_abcdefghijklmnopqrstuvwxyz0123456789 "$1" .benchwrap)" ""
    is "$2: a metric with its steps" "$(awk '{print $2, $3}' "$1/metrics/loss" | sed -n '1p;20p;$=' | tr '\n' ' ')" "1 0 0.05 19 20 "
    is "$2: NaN" "$(awk '{print $2}' "$1/metrics/bad")" nan
    like "$2: an infinity is missing, with the reason" "$(cat "$1/artifacts/benchwrap.json")" '"key": "endless", "reason": "the value is infinite"'
    is "$2: tags" "$(cat "$1/tags/phase")" train
    is "$2: files" "$(cat "$1/artifacts/deep/er/model.txt")" weights
    is "$2: one of the name of ours is kept beside it" "$(cat "$1/artifacts/mlflow/stdout.log") $(head -n 1 "$1/artifacts/stdout.log")" "mine True"
    is "$2: ours too" "$(awk '{print $2}' "$1/metrics/run.exit_status")" 4
}

# ---- without a server: a private store ----
for client in "$python" "$old"; do
    version=$(basename "$(dirname "$(dirname "$client")")")
    mkdir "$WORK/$version" && cd "$WORK/$version" || exit
    "$BENCHWRAP" -e alone -n main --share-run -- "$client" "$WORK/train.py" 0 more >out 2>err
    is "$version: the program's status" $? 4
    is "$version: the client got the run" "$(head -n 1 out)" True
    run=$(main main)
    has_all "$run" "$version"
    is "$version: nothing was written elsewhere" "$(find . -name mlflow.db -o -name mlartifacts; ls)" "err
mlruns
out"
    is "$version: the client's other runs are runs of the tree" "$(find mlruns -path '*/tags/mlflow.runName' -exec cat {} + -exec echo \; | tr -s '\n' ' ' | grep -c 'inner\|second')" 1
    inner=$(main inner) second=$(main second)
    is "$version: … the nested one below it" "$(cat "$inner/tags/mlflow.parentRunId")" "$(basename "$run")"
    is "$version: … with their values and files" "$(awk '{print $2}' "$inner/metrics/acc" "$second/metrics/z") $(cat "$second/artifacts/two.txt")" "0.5
3 two"
    ok "$version: the data set is kept" test -d "$run/artifacts/mlflow/datasets"
    # The median of 1, 1/2, … 1/20 is the mean of 1/10 and 1/11.
    like "$version: ls shows what the program logged" "$("$BENCHWRAP" ls)" "main.*loss 0.0955"
    is "$version: the format's judge accepts them" "$("$BENCHWRAP" check mlruns >check.out 2>&1; echo $?; grep -c ' refused ' check.out)" "0
0"
    touch -d '5 minutes ago' .benchwrap/spool/*/published
    "$BENCHWRAP" sync --local >/dev/null
    is "$version: the store goes with the spool" "$(ls -A .benchwrap/spool)" ""
done

# ---- a program that names experiment or store itself: MLflow refuses, as docs/howto-server.md says, and the run has that status ----
mkdir "$WORK/own" && cd "$WORK/own" || exit
for call in 'set_experiment("theirs")' 'set_tracking_uri("sqlite:///own.db")'; do
    "$BENCHWRAP" -e own -n "${call%%(*}" --share-run -- "$python" -c "import mlflow; mlflow.$call; mlflow.start_run()" >/dev/null 2>err
    is "$call: the status is the program's" $? 1
    like "… and MLflow explains why" "$(cat err)" 'does not match environment run ID|Run with id=[0-9a-f]+ not found'
    is "… the run has failed" "$(sed -n 's/^status: //p' "$(main "${call%%(*}")/meta.yaml")" 4
done

# ---- its recorder is killed: the next sync has what the client logged ----
mkdir "$WORK/killed" && cd "$WORK/killed" || exit
cat >kill.py <<'P'
import mlflow, os, signal, subprocess
with mlflow.start_run():
    mlflow.log_metric("before", 1)
    for pid in subprocess.run(["pgrep", "-P", str(os.getppid()), "-f", "--", "--recorder"], capture_output=True, text=True).stdout.split():
        os.kill(int(pid), signal.SIGKILL)
    mlflow.log_metric("after", 2)
print("whole")
P
is "the program goes on" "$("$BENCHWRAP" -e killed -n killed --share-run -- "$python" kill.py 2>err)" whole
"$BENCHWRAP" sync --local >/dev/null 2>&1
is "the run is closed with all of it" "$(awk '{print $2}' "$(main killed)"/metrics/{before,after} | tr '\n' ' ')" "1 2 "

# ---- with a server ----
mkdir "$WORK/with" && cd "$WORK/with" || exit
port=$(free_port)
url=http://127.0.0.1:$port
mlflow_server_start server "$python" "$port" --backend-store-uri "sqlite:///$WORK/server/mlflow.db" --artifacts-destination "$WORK/server/artifacts" ||
    { tap_fail "the server starts" "$(tail -n 5 "$WORK/server/log")"; done_testing; exit; }
group=$(cat "$WORK/server/pid")
share() # NAME ARGUMENT…: until the server was fast enough to make the run; $shared is its status
{
    for n in 1 2 3 4 5; do
        name=$1$n
        MLFLOW_TRACKING_URI=$url "$BENCHWRAP" --finish-wait "${wait:-60s}" -e "$name" -n "$name" --tag "long=$(printf %09000d)" --share-run -- "$python" "$WORK/train.py" "${@:2}" >out 2>err
        shared=$?
        grep -q 'private store' err || return 0
        kill -CONT "-$group" # this one stopped it
    done
    return 1
}
if share main 0; then
    is "with a server: the program's status" $shared 4
    run=$(main "$name")
    has_all "$run" "with a server"
    is "no tag of benchwrap's own is said to be the client's" "$("$BENCHWRAP" show -e "$name" --json | jq '[.warnings[] | select(.text | test("client set is left out"))]')" "[]"
    ok "the run is not marked as incomplete" test ! -e "$run/tags/benchwrap.incomplete"
    like "sync finds all of it there" "$("$BENCHWRAP" sync --to "$url" -e "$name" 2>&1)" ": nothing to send, 1 run up to date"
    is "no sample is there twice" "$("$python" -c 'import mlflow, sys
c = mlflow.MlflowClient(sys.argv[1])
print(len(c.get_metric_history(sys.argv[2], "loss")))' "$url" "$(cat "$run/tags/benchwrap.shared_run")")" 20
else
    skip_here "with a server" "the machine is too busy: the server needs more than 2 s for a run"
fi
if [ -n "${BENCHWRAP_LONG:-}" ]; then
    cat >many.py <<'P'
import mlflow, os
from mlflow.entities import Metric
c, run = mlflow.MlflowClient(), os.environ["MLFLOW_RUN_ID"]
for b in range(20):
    c.log_batch(run, metrics=[Metric("m%d" % (i % 5), float(b * 1000 + i), 1700000000000 + i, b * 1000 + i) for i in range(1000)])
c.log_metric(run, "run.wall_s", 1e9)
c.set_terminated(run, "FAILED")
P
    MLFLOW_TRACKING_URI=$url "$BENCHWRAP" --finish-wait 60s -e many -n many --share-run -- "$python" many.py >/dev/null 2>many.err
    is "20,000 samples: all are there" "$("$BENCHWRAP" export --long --format csv -e many | grep -c ',m[0-4],')" 20000
    like "a metric that benchwrap records itself is left out, and named" "$(cat many.err)" "the metric run.wall_s that the program's MLflow client logged is left out"
    like "a status against the exit status is named" "$(cat many.err)" "MLflow client set the status FAILED"
fi
if wait=6s share stopped "$group"; then
    run=$(main "$name") id=$(basename "$(main "$name")")
    is "the server stopped: the run is marked" "$(cat "$run/tags/benchwrap.incomplete")" mlflow
    like "… the summary says it" "$(cat err)" "! incomplete: .*benchwrap sync"
    like "… ls" "$("$BENCHWRAP" ls -e "$name")" "FAILED, incomplete"
    like "… show" "$("$BENCHWRAP" show "$id")" "incomplete: what the program's own MLflow client logged"
    is "… ls --json" "$("$BENCHWRAP" ls -e "$name" --json | field 0/incomplete)" mlflow
    kill -CONT "-$group"
    like "pull does not take it for there" "$("$BENCHWRAP" pull "$url" "$name" --dry-run)" "would pull .*it completes run"
    cp -r "$WORK/with" "$WORK/copy" && cd "$WORK/copy" || exit
    like "pull completes it" "$("$BENCHWRAP" pull "$url" "$name")" ": 1 pulled, 0 already there"
    cd "$WORK/with" || exit
    "$BENCHWRAP" sync --to "$url" -e "$name" >sync.out 2>&1
    is "sync completes it: status" $? 0
    like "… and says so" "$(cat sync.out)" "run ${id:0:8} was incomplete; mlruns/.* completes it"
    completed=mlruns/$(sed -n 's,.*incomplete; mlruns/\(.*\) completes it,\1,p' sync.out)
    has_all "$completed" "completed"
    is "the incomplete run is as it was" "$(diff -r "$run" "$WORK/copy/$run")" ""
    is "its id is not the other's" "$(cat "$completed/tags/benchwrap.amends")" "$id"
    is "ls shows the complete one alone" "$("$BENCHWRAP" ls -e "$name" --json | jq -r '.[].id')" "$(basename "$completed")"
    like "again: nothing to do" "$("$BENCHWRAP" sync --to "$url" 2>&1)" ": nothing to send, [0-9]+ runs up to date"
    is "the server has one run" "$("$python" "$ROOT/tests/mlruns/live_server.py" "$url" count "$name")" 1
    like "pull: already there" "$("$BENCHWRAP" pull "$url" "$name")" "0 pulled, 1 already there"
    is "check accepts both" "$("$BENCHWRAP" check mlruns >check.out 2>&1; echo $?; grep -c ' refused ' check.out)" "0
0"
    is "pull made the same run" "$(diff -r "$WORK/copy/$completed" "$completed")" ""
else
    kill -CONT "-$group"
    skip_here "a server that stops" "the machine is too busy: the server needs more than 2 s for a run"
fi
# Repetitions that lack what the server has of them: their parent run is amended, too.
kill -CONT "-$group"
mkdir "$WORK/repeated" && cd "$WORK/repeated" || exit
"$BENCHWRAP" -q --repeat 3 -e repeated -- true >/dev/null 2>&1
"$python" -c 'import mlflow, sys
mlflow.set_tracking_uri(sys.argv[1])
mlflow.set_experiment("repeated")
for n in range(1, 4):
    with mlflow.start_run() as run:
        mlflow.log_metric("acc", n * n)
    print(run.info.run_id)' "$url" 2>/dev/null | grep -xE '[0-9a-f]{32}' >ids
"$BENCHWRAP" ls -c -e repeated --json | jq -r '.[] | select(.parent).path' | paste - ids | while read -r run id; do
    printf mlflow >"$run/tags/benchwrap.incomplete"
    printf %s "$id" >"$run/tags/benchwrap.shared_run"
done
parent=$("$BENCHWRAP" ls -e repeated --json | jq -r '.[].id')
acc() { "$BENCHWRAP" show "$parent" --json 2>/dev/null | jq -r '.metrics[] | select(.key == "acc.median").value'; }
is "incomplete repetitions: the parent run has nothing that the client logged" "$(acc)" ""
cp -r "$WORK/repeated" "$WORK/pulled"
"$BENCHWRAP" sync --to "$url" -e repeated >sync.out 2>&1
like "sync amends the parent run after its child runs" "$(cat sync.out)" "amends ${parent:0:8}: its statistics are those of the completed child runs"
is "... with the median of 1, 4, 9" "$(acc)" 4
like "... and sends what it made" "$("$BENCHWRAP" sync --to "$url" -e repeated 2>&1)" ": nothing to send, 8 runs up to date"
done_testing
