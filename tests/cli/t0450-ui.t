#!/bin/bash
# `benchwrap ui`: the runs of a tree in a local MLflow: all there, new ones come, nothing is left behind. What a browser shows: tests/long/ui.t.
# sanitizer: long, because a real server is what is waited for; the client's unit tests walk the same code
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/mlflow_server.sh"
MLFLOW=3.17.2

if ! python=$(venv_mlflow "$MLFLOW"); then
    skip "runs are shown by MLflow $MLFLOW" "$python"
    done_testing
    exit
fi
cd "$WORK" || exit
PATH=$PATH:$(dirname "$python")
port=$(free_port)
url=http://127.0.0.1:$port
ui=
trap '[ -z "$ui" ] || kill -KILL "$ui"; tap_exit' EXIT

start() # [OPTION…]: $ui is its process; waits for the link
{
    rm -f link
    setsid "$BENCHWRAP" ui --port "$port" "$@" >link 2>notes &
    ui=$!
    for _ in $(seq 3000); do
        [ -s link ] || ! kill -0 "$ui" 2>/dev/null || { sleep 0.1; continue; }
        break
    done
    [ -s link ]
}

runs() # how many runs the server has
{
    curl -s -X POST "$url/api/2.0/mlflow/runs/search" -H 'Content-Type: application/json' -d '{"experiment_ids":["1","2"],"max_results":1000}' | grep -c '"run_id"'
}

wait_for() # COUNT
{
    for _ in $(seq 300); do
        [ "$(runs)" = "$1" ] && return
        sleep 0.1
    done
    return 1
}

processes() # of this server
{
    pgrep -f -- "--port $port" | wc -l
}

"$BENCHWRAP" -q -e stream --rules stream -- sh -c 'cat "$0"' "$ROOT/benchmarks/catalogue/stream/samples/5.10-zen/stdout" >/dev/null
"$BENCHWRAP" -q -e other --repeat 2 -- true >/dev/null
start
ok "a server is started" [ -s link ]
like "the link leads to the runs of the newest run's experiment" "$(cat link)" "^$url/#/experiments/[0-9]+/runs\\?viewStateShareKey=benchwrap\$"
ok "the runs come" wait_for 4
ok "… and equal the tree, fact by fact, files too" "$python" "$ROOT/tests/mlruns/compare_server.py" mlruns "$url"
view=$(curl -s "$url/api/2.0/mlflow/experiments/get-by-name?experiment_name=stream")
like "the table opens with the headline metrics" "$view" 'selectedColumns.*metrics.`triad.bw_MB_per_s.max`.*tags.`benchwrap.verdict`'
like "… and on the runs" "$(tr -d '\n ' <<<"$view")" '"mlflow.experimentKind","value":"custom_model_development"'
is "the tree knows nothing of that" "$(grep -rl sharedViewState mlruns)" ""
file=$(cd mlruns && echo */*/artifacts/stdout.log | cut -d ' ' -f 1)
is "artifacts take no room: two names of one file" "$(stat -c %h "mlruns/$file")" "$(($(find .benchwrap -samefile "mlruns/$file" | wc -l) + 1))"
"$BENCHWRAP" -q -e stream -- true >/dev/null
ok "a run recorded meanwhile comes too" wait_for 5
is "a second one shows the same link" "$("$BENCHWRAP" ui 2>/dev/null)" "$(cat link)"
kill -INT "$ui"
wait "$ui"
is "Ctrl-C ends it: status" "$?" 0
ui=
is "… and nothing is left of the server" "$(processes)" 0

start -e stream
ok "it starts again" [ -s link ]
like "… with the same runs" "$(runs)" '^5$'
like "… and the link of the experiment asked for" "$(cat link)" "^$url/#/experiments/[0-9]+/runs"
kill -KILL "$ui"
wait "$ui" 2>/dev/null
ui=
for _ in $(seq 100); do [ "$(processes)" = 0 ] || sleep 0.1; done
is "killed without a chance, it leaves nothing either" "$(processes)" 0

if long_tests; then
    "$python" -c 'import sqlite3; c = sqlite3.connect(".benchwrap/ui/mlflow.db"); c.execute("update alembic_version set version_num = \"beefbeefbeef\""); c.commit()'
    start
    ok "a database of another version" [ -s link ]
    like "… is made anew" "$(cat notes)" 'made anew from the tree'
    ok "… with all runs" wait_for 5
    kill -INT "$ui"
    wait "$ui"
    ui=
fi

python3 -c 'import socket,sys,time; s=socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen(); print(flush=True); time.sleep(100)' "$port" >busy &
holder=$!
for _ in $(seq 100); do [ -s busy ] || sleep 0.1; done
text=$(timeout -s INT 20 "$BENCHWRAP" ui --port "$port" 2>&1) status=$?
kill "$holder"
is "a port in use: status" "$status" 1
like "… and words" "$text" "port $port of 127.0.0.1 is in use"
text=$("$BENCHWRAP" ui -e nothing 2>&1) status=$?
is "an experiment without runs: status" "$status" 1
done_testing
