#!/bin/bash
# A run is sent to a real MLflow server while it goes on: live curves, shared and foreign runs, whatever is killed.
# early, because it takes long
# sanitizer: long, because a real server is what is waited for; the client's unit tests walk the same code
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/mlflow_server.sh"

if ! python=$(venv_mlflow 3.17.2); then
    skip "live to MLflow 3.17.2" "$python"
    done_testing
    exit
fi
if ! ldconfig -p 2>/dev/null | grep -q 'libcurl.*\.so\.4'; then
    skip "live to MLflow 3.17.2" "libcurl is not installed"
    done_testing
    exit
fi
port=$(free_port)
url=http://127.0.0.1:$port
start_server()
{
    mlflow_server_start server "$python" "$port" --backend-store-uri "sqlite:///$WORK/server/mlflow.db" --artifacts-destination "$WORK/server/artifacts" ||
        { tap_fail "the server starts" "$(tail -n 5 "$WORK/server/log")"; done_testing; exit; }
}
trap 'mlflow_server_stop server; tap_exit' EXIT
start_server
cd "$WORK" || exit
export MLFLOW_TRACKING_URI=$url BENCHWRAP_FINISH_WAIT=60s
look() { "$python" "$ROOT/tests/mlruns/live_server.py" "$url" "$@"; }
equal() { ok "$1" "$python" "$ROOT/tests/mlruns/compare_server.py" mlruns "$url" "${@:2}"; }
sender() { pgrep -f -- "--send live .* $WORK/.*$1"; } # RUN: of that run
local_id() { basename "$(dirname "$(grep -lF "$1" mlruns/*/*/meta.yaml)")"; } # NAME
spooled() { for d in .benchwrap/spool/*/; do head -c 4000 "$d/journal" | head -n 1 | grep -q "\"run_name\":\"$1\"" && basename "$d"; done; } # NAME: while it runs

cat >curve.sh <<'P'
i=0
until [ -e "$1" ] || [ $i = 1200 ]; do
    i=$((i + 1))
    "$BENCHWRAP" log metric curve="$i" --step "$i"
    "$BENCHWRAP" log tag phase="$i"
    sleep 0.5
done
exit "$2"
P
cat >share.py <<'P'
import os, sys
told = os.environ.get("MLFLOW_RUN_ID") # the client takes it out of the environment
if not told:
    sys.exit(9)
import mlflow
with mlflow.start_run() as run:
    mlflow.log_metric("loss", 0.5, step=1)
    mlflow.log_param("rate", 0.1)
    print(run.info.run_id, told, flush=True)
raise SystemExit(3)
P

# ---- while it goes on; a sender and a recorder that are killed ----

"$BENCHWRAP" -e live -n curve -- sh curve.sh stop-curve 0 >/dev/null 2>curve.err &
curve=$!
"$BENCHWRAP" -e live -n orphan -- sh curve.sh stop-orphan 5 >/dev/null 2>orphan.err &
orphan=$!
run=$(look wait live curve curve 2)
like "the run is on the server while the program runs" "$run" '^[0-9a-f]{32}$'
is "its status is RUNNING" "$(look get "$run" status)" RUNNING
is "it has no end yet" "$(look get "$run" end)" none
lost=$(look wait live orphan curve 1)
ok "the recorder of another run is killed" kill -KILL "$(pgrep -P $orphan -f -- --recorder)"
lag=$(look lag "$run" curve 5 3)
if [ "$lag" = busy ]; then
    skip_here "samples are seen within 5 s" "the machine is too busy"
else
    is "samples are seen within 5 s" "$lag" yes
fi
like "system metrics under MLflow's names" "$(look get "$run" metric:system/cpu_utilization_percentage)" '^[0-9.]+$'
like "the sender has the lowest priority, and a session of its own" \
    "$(ps -o cls=,sid=,pid= -p "$(sender "$(spooled curve)")")" ' *IDL +([0-9]+) +\1'
ok "the sender is killed" kill -KILL "$(sender "$(spooled curve)")"
touch stop-orphan stop-curve
wait $orphan
is "without its recorder the program's status is its own" $? 5
wait $curve
is "without its sender too" $? 0
like "it is told where the run is" "$(cat curve.err)" "sent to $url/#/experiments/[0-9]+/runs/$run"
is "its end is seen" "$(look get "$run" status)" FINISHED
is "every sample once" "$(look get "$run" samples:curve)" "$(look get "$run" metric:curve | sed 's/\.0$//')"
equal "what was sent live is what the tree has" "$(local_id curve)"
wait_until '[ "$(look get "$lost" status)" = KILLED ]' 300 # the sender has the lowest priority there is
is "the killed recorder's run was closed by its sender" "$(look get "$lost" status)" KILLED
equal "and is equal" "$(local_id orphan)"

# ---- a client inside ----

for n in 1 2 3 4 5; do # the server has 2 s to make the run, which is little on a busy machine
    MLFLOW_EXPERIMENT_NAME=other "$BENCHWRAP" -e shared$n -n shared$n --share-run -- "$python" share.py >share.out 2>share.err
    shared=$?
    [ $shared = 9 ] || break
done
if [ $shared = 9 ]; then
    skip_here "--share-run" "the machine is too busy: the server needs more than 2 s for a run"
else
    is "--share-run: the program's status" $shared 3
    inside=$(sed -n 's/^\([0-9a-f]\{32\}\) \1$/\1/p' share.out)
    like "the client inside got the run" "$inside" '^[0-9a-f]{32}$'
    is "it has the client's metric" "$(look get "$inside" metric:loss)" 0.5
    is "and ours" "$(look get "$inside" metric:run.exit_status)" 3.0
    is "our status is the last" "$(look get "$inside" status)" FAILED
    is "our end time too" "$(look get "$inside" end)" "$(sed -n 's/^end_time: //p' "mlruns/"*"/$(local_id shared$n)/meta.yaml")"
    is "there is one run" "$(look count shared$n)" 1
    like "it is told" "$(cat share.err)" "runs/$inside"
fi
"$BENCHWRAP" -e nothing --share-run -- ./not-there 2>/dev/null
is "a program that cannot be started: status" $? 127
is "and no run stays" "$(look count nothing)" 0

# ---- somebody else's run ----

theirs=$(look make theirs owner)
MLFLOW_RUN_ID=$theirs "$BENCHWRAP" -q -t appended -e mine -p a=1 -- echo one >/dev/null 2>append.err
MLFLOW_RUN_ID=$theirs "$BENCHWRAP" -q -t appended -e mine -p a=2 -- echo two >/dev/null 2>append.err
is "MLFLOW_RUN_ID: no run of our own is made" "$(look count mine)" 0
is "both are in the named one" "$(look get "$theirs" samples:run.wall_s)" 2
is "its status is its owner's" "$(look get "$theirs" status) $(look get "$theirs" name) $(look get "$theirs" user)" "RUNNING owner somebody"
like "a param that differs is told" "$(cat append.err)" 'the param a is "1" on the server and "2" here'
is "files do not meet" "$(look get "$theirs" files | tr ' ' '\n' | grep -c 'benchwrap/[0-9a-f]*/stdout.log')" 2
like "sync finds all of it there" "$("$BENCHWRAP" sync --tree appended 2>&1)" ": nothing to send, 2 runs up to date$"

# ---- the server goes away ----

export BENCHWRAP_FINISH_WAIT=10s
"$BENCHWRAP" -e outage -n middle -- sh curve.sh stop-middle 7 >/dev/null 2>middle.err &
middle=$!
look wait outage middle curve 1 >/dev/null
mlflow_server_stop server
start=$(date +%s)
BENCHWRAP_FINISH_WAIT=60s "$BENCHWRAP" -e outage -n down -- sh -c 'exit 4' 2>down.err
is "no server at all: the program's status" $? 4
like "said once, and where the run is" "$(cat down.err)" "^benchwrap:   ! not sent to http.*: connection refused$"
is "a server without listener delays no program" "$(($(date +%s) - start < 45))" 1
like "--share-run: the program gets a private store" "$("$BENCHWRAP" -q -e outage -n unshared --share-run -- sh -c 'echo "$MLFLOW_TRACKING_URI $MLFLOW_RUN_ID"' 2>unshared.err)" '^file:///.* [0-9a-f]{32}$'
like "which is said" "$(cat unshared.err)" "share-run: .*connection refused; the program's MLflow client logs to a private store"
touch stop-middle
wait $middle
is "a server that went away in the middle: the program's status" $? 7
like "it is said at the end" "$(cat middle.err)" "send it later: benchwrap sync"
wait_until '! pgrep -f -- "--send [a-z]+ .* $WORK/"' 120
is "no secret process stays" "$(pgrep -fc -- "--send [a-z]+ .* $WORK/")" 0
start_server
out=$("$BENCHWRAP" sync 2>&1)
is "the next sync completes them: status" $? 0
like "one is new to the server in part" "$out" "(sent|updated) [0-9]+ run"
is "each is there once" "$(look count outage)" 3
equal "and is equal" "$(local_id middle)" "$(local_id down)" "$(local_id unshared)"
if [ -x "$ROOT/../shared/tools/mlflow-check-server" ]; then
    ok "a second judge finds nothing" "$python" "$ROOT/../shared/tools/mlflow-check-server" "$url" live
fi
like "doctor tells the server" "$("$BENCHWRAP" doctor)" "server +$url.*: answers"
done_testing
