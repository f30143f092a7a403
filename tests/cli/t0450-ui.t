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
export MLFLOW_TRACKING_USERNAME=benchwrap MLFLOW_TRACKING_PASSWORD=
ui=
trap '[ -z "$ui" ] || kill -KILL "$ui"; tap_exit' EXIT

start() # [OPTION…]: $ui is its process; waits for the link
{
    rm -f link
    setsid "$BENCHWRAP" ui --port "$port" "$@" >link 2>notes &
    ui=$!
    wait_until '[ -s link ] || has_ended "$ui"' 300
    MLFLOW_TRACKING_PASSWORD=$(sed -n 's,^http://benchwrap:\([^@]*\)@.*,\1,p' link)
    [ -s link ]
}

ask() # CURL'S ARGUMENTS…: as the user who has the link
{
    curl -s -u "benchwrap:$MLFLOW_TRACKING_PASSWORD" "$@"
}

runs() # how many runs the server has
{
    ask -X POST "$url/api/2.0/mlflow/runs/search" -H 'Content-Type: application/json' -d '{"experiment_ids":["1","2","3","4","5"],"max_results":1000}' | grep -c '"run_id"'
}

wait_runs() # COUNT
{
    expected_runs=$1
    wait_until '[ "$(runs)" = "$expected_runs" ]'
}

processes() # of this server
{
    pgrep -f -- "--port $port" | wc -l
}

"$BENCHWRAP" -q -e outer -p lr=2 -- true >/dev/null
for i in $(seq 51); do "$BENCHWRAP" -q -e outer -p lr=1 -- true >/dev/null; done
"$BENCHWRAP" -q -e stream --rules stream -- sh -c 'cat "$0"' "$ROOT/benchmarks/catalogue/stream/samples/5.10-zen/stdout" >/dev/null
"$BENCHWRAP" -q -e other --repeat 2 -- true >/dev/null
"$BENCHWRAP" -q -e user -p lr=1 -- sh -c 'for i in 7 5 3; do "$BENCHWRAP" log metric loss=0.$i; done' >/dev/null
"$BENCHWRAP" -q -e user -p lr=2 -- sh -c '"$BENCHWRAP" log metric loss=0.4' >/dev/null
"$BENCHWRAP" -q -e grid -- sh -c '"$0" log best=1; "$0" -q -e grid -- sh -c "\"\$0\" log fit1=1 fit2=1 fit3=1 fit4=1 fit5=1 fit6=1" "$0"' "$BENCHWRAP" >/dev/null
start
ok "a server is started" [ -s link ]
like "the link leads to the runs of the newest run's experiment" "$(cat link)" "^http://benchwrap:[0-9a-f]{32}@127.0.0.1:$port/\\?enter#/experiments/[0-9]+/runs\\?viewStateShareKey=benchwrap&workflowType=machine_learning\$"
ok "the runs come" wait_runs 60
is "… as rows, not by requests" "$(grep -c 'sent one by one' notes)" 0
ok "… and equal the tree, fact by fact, files too" "$python" "$ROOT/tests/mlruns/compare_server.py" --apart --user "benchwrap:$MLFLOW_TRACKING_PASSWORD" mlruns "$url"
view=$(ask "$url/api/2.0/mlflow/experiments/get-by-name?experiment_name=stream")
like "the table opens with the headline metrics" "$view" 'selectedColumns.*metrics.`triad.bw_MB_per_s.max`.*tags.`benchwrap.verdict`'
user=$(ask "$url/api/2.0/mlflow/experiments/get-by-name?experiment_name=user")
like "… also with a metric that the program logged, and the param that differs" "$user" 'selectedColumns.*metrics.`loss.median`.*params.`lr`'
like "… of the runs that ls shows before those of their child runs" "$(ask "$url/api/2.0/mlflow/experiments/get-by-name?experiment_name=grid")" 'selectedColumns.*metrics.`best`.*metrics.`fit1`'
outer=$(ask "$url/api/2.0/mlflow/experiments/get-by-name?experiment_name=outer")
like "… and one in which only a run before the newest fifty differs" "$outer" 'selectedColumns.*params.`lr`'
columns() # EXPERIMENT: of metrics
{
    jq -r '.experiment.tags[] | select(.key | startswith("mlflow.shared")).value' <<<"$1" | grep -o 'metrics.[^,]*' | tr -d '\\"\`' | xargs
}
charts() # EXPERIMENT: the metrics of its runs that MLflow's page "Model metrics" has charts of, all but system/
{
    ask -X POST "$url/api/2.0/mlflow/runs/search" -H 'Content-Type: application/json' -d "{\"experiment_ids\":[\"$(jq -r .experiment.experiment_id <<<"$1")\"]}" |
        jq -r '[.runs[].data.metrics[].key | select(startswith("system/") | not)] | unique | join(" ")'
}
is "the model metrics are the user's, and the wall time" "$(charts "$user")" "loss loss.median run.wall_s"
is "… a metric of which one run has several samples has one column, the median" "$(columns "$user")" "metrics.loss.median"
shown() # EXPERIMENT METRIC: what MLflow's table shows of it, of each run
{
    ask -X POST "$url/api/2.0/mlflow/runs/search" -H 'Content-Type: application/json' -d "{\"experiment_ids\":[\"$(jq -r .experiment.experiment_id <<<"$1")\"]}" |
        jq -r "[.runs[].data.metrics[] | select(.key == \"$2\").value] | join(\" \")"
}
is "a metric with several samples shows the median, as ls does" "$(shown "$user" loss.median) $("$BENCHWRAP" ls -e user --json | jq '.[].headline_1' | xargs)" "0.4 0.5 0.4 0.5"
other=$(ask "$url/api/2.0/mlflow/experiments/get-by-name?experiment_name=other")
is "repetitions and their parent run have one column" "$(columns "$other")" "metrics.run.wall_s.median"
is "... each with a value" "$(shown "$other" run.wall_s.median | wc -w)" 3
is "... and no column of the machine, whose facts the parent run has" "$(jq -r '.experiment.tags[] | select(.key | startswith("mlflow.shared")).value' <<<"$other" | grep -c 'params.')" 0
like "… and on the runs" "$(tr -d '\n ' <<<"$view")" '"mlflow.experimentKind","value":"custom_model_development"'
is "the tree knows nothing of that" "$(grep -rl sharedViewState mlruns)" ""
file=$(cd mlruns && echo */*/artifacts/stdout.log | cut -d ' ' -f 1)
is "artifacts take no room: two names of one file" "$(stat -c %h "mlruns/$file")" "$(($(find .benchwrap -samefile "mlruns/$file" | wc -l) + 1))"
"$BENCHWRAP" -q -e stream -- true >/dev/null
ok "a run recorded meanwhile comes too" wait_runs 61
is "a second one shows the same link" "$("$BENCHWRAP" ui 2>/dev/null)" "$(cat link)"
# Other users of the machine, with and without root's help: every route, every way to say who one is.
link=$(cat link)
is "the link leads on without the secret" "$(ask -o /dev/null -w '%{http_code} %{redirect_url}' "$url/?enter")" "303 $url/"
is "… and that page is MLflow's" "$(ask "$url/" | grep -ic '<title>mlflow')" 1
routes=$("$python" - 2>/dev/null <<'P'
import mlflow.server.fastapi_app as f, mlflow.server as s
paths = {r.rule for r in s.app.url_map.iter_rules()}
paths |= {r.path for r in f.create_fastapi_app().routes if hasattr(r, "path")}
import re
print("\n".join(sorted(re.sub(r"[<{][^>}]*[>}]", "1", p) for p in paths)))
P
)
like "the routes of this MLflow are known" "$(wc -l <<<"$routes")" '^[0-9]{2,}$'
for route in / /health /version /static-files/index.html "/get-artifact?path=stdout.log&run_uuid=1" /graphql /ajax-api/2.0/mlflow/experiments/search /api/2.0/mlflow-artifacts/artifacts /v1/traces $routes; do
    for method in GET POST PUT DELETE; do printf 'url = "%s%s"\nrequest = %s\noutput = /dev/null\nwrite-out = "%%{http_code}\\n"\n' "$url" "$route" $method; done
done >asked
is "of $(grep -c ^url asked) requests to all routes none is answered without the secret" "$(curl -s -K asked | sort | uniq -c | sed 's/^ *//')" "$(grep -c ^url asked) 401"
for wrong in "benchwrap:" "benchwrap:wrong" "admin:password1234" ":$MLFLOW_TRACKING_PASSWORD" "other:$MLFLOW_TRACKING_PASSWORD" "benchwrap:${MLFLOW_TRACKING_PASSWORD}0" "benchwrap:${MLFLOW_TRACKING_PASSWORD%?}"; do
    is "refused: another user or secret" "$(curl -s -o /dev/null -w '%{http_code}' -u "$wrong" "$url/version")" 401
done
is "accepted: as a token" "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $MLFLOW_TRACKING_PASSWORD" "$url/version")" 200
echo "$MLFLOW_TRACKING_PASSWORD" >password
is "the secret stands in no command line" "$(grep -alFf password /proc/[0-9]*/cmdline 2>/dev/null)" ""
is "… and in no log" "$(grep -l "$MLFLOW_TRACKING_PASSWORD" .benchwrap/ui/server.log)" ""
is "its folder is closed" "$(stat -c '%a' .benchwrap/ui)" 700
git init -q "$WORK/plain" && is "git status does not show it, also in a plain clone" "$(git --git-dir="$WORK/plain/.git" --work-tree="$WORK" status --porcelain -- .benchwrap/ui)" ""
is "MLflow has no port of its own" "$(cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk -v at="$(printf ':%04X' "$port")" '$2 ~ at "$" && $4 == "0A"' | wc -l)" 1
python3 - "$port" <<'P' >flood.out &
import socket, sys, time
held = []
for i in range(600):
    try:
        s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
        s.send(b"GET / HT")
        held.append(s)
    except OSError:
        break
print(len(held), flush=True)
time.sleep(20)
P
flood=$!
wait_until '[ -s flood.out ]'
is "600 connections that say nothing keep nobody out" "$(ask -m 20 -o /dev/null -w '%{http_code}' "$url/version")" 200
kill "$flood"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chmod 755 "$WORK"
    other="setpriv --reuid=30018 --regid=30018 --clear-groups --"
    is "another user cannot reach MLflow's socket" "$($other curl -s -o /dev/null -w '%{http_code}' --unix-socket "$WORK/.benchwrap/ui/mlflow.sock:$port" "$url/version")" 000
    is "… nor read the folder" "$($other cat .benchwrap/ui/lock .benchwrap/ui/server.log 2>/dev/null)" ""
else
    skip "another user at the socket" "root, setpriv"
fi
is "the link is still the same" "$(cat link)" "$link"
kill -INT "$ui"
wait "$ui"
is "Ctrl-C ends it: status" "$?" 0
ui=
wait_until '[ "$(processes)" = 0 ]'
is "… and nothing is left of the server" "$(processes)" 0

echo "my-own-secret-0123456789" >secret
chmod 644 secret
like "a secret that others can read is refused" "$("$BENCHWRAP" ui --secret-file secret 2>&1)" "secret can be read by others"
chmod 600 secret
start -e stream --secret-file secret
is "a secret of the user's own is taken" "$MLFLOW_TRACKING_PASSWORD" my-own-secret-0123456789
ok "it starts again" [ -s link ]
like "… with the same runs" "$(runs)" '^61$'
like "… and the link of the experiment asked for" "$(cat link)" "^http://benchwrap:[^@]*@127.0.0.1:$port/\\?enter#/experiments/[0-9]+/runs"
kill -KILL "$ui"
wait "$ui" 2>/dev/null
ui=
wait_until '[ "$(processes)" = 0 ]'
is "killed without a chance, it leaves nothing either" "$(processes)" 0

if long_tests; then
    "$python" -c 'import sqlite3; c = sqlite3.connect(".benchwrap/ui/mlflow.db"); c.execute("update alembic_version set version_num = \"beefbeefbeef\""); c.commit()'
    start
    ok "a database of another version" [ -s link ]
    like "… is made again" "$(cat notes)" 'made again from the tree'
    ok "… with all runs" wait_runs 61
    kill -INT "$ui"
    wait "$ui"
    ui=
fi

python3 -c 'import socket,sys,time; s=socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen(); print(flush=True); time.sleep(100)' "$port" >busy &
holder=$!
wait_until '[ -s busy ]'
text=$(timeout -s INT 120 "$BENCHWRAP" ui --port "$port" 2>&1) status=$?
kill "$holder"
is "a port in use: status" "$status" 1
like "… and words" "$text" "port $port of 127.0.0.1 is in use"
text=$("$BENCHWRAP" ui -e nothing 2>&1) status=$?
is "an experiment without runs: status" "$status" 1
done_testing
