#!/bin/bash
# What a browser shows of a tree in `benchwrap ui`: the runs table with its metrics, a run's metrics, a chart, an artifact, nested runs, and the curve of a
# program that is still running.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/mlflow_server.sh"
MLFLOW=3.17.2
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$browser" ]; then
    skip_here "a browser shows the runs" "no Chromium"
    done_testing
    exit
fi
if ! python=$(venv_mlflow "$MLFLOW"); then
    skip "runs are shown by MLflow $MLFLOW" "$python"
    done_testing
    exit
fi
cd "$WORK" || exit
PATH=$PATH:$(dirname "$python")
port=$(free_port)
url=http://127.0.0.1:$port
ui='' program=''
trap 'kill -KILL $ui $program 2>/dev/null; tap_exit' EXIT

look() # NAME WANT ADDRESS TEXT[;TEXT…]: pictures stay where UI_PICTURES says
{
    shown=$(python3 "$ROOT/tests/mlruns/ui_look.py" "${UI_PICTURES:-$WORK/pictures}" "$1" "$3" "$4" 2>&1)
    if [ "${shown%% *}" = ok ]; then tap_pass "$2"; else tap_fail "$2" "$shown"; fi
}
id_of() # RUN NAME OR TAG: the run of the experiment
{
    basename mlruns/*/$1*
}

"$BENCHWRAP" -q -e stream --rules stream -- sh -c 'cat "$0"' "$ROOT/benchmarks/catalogue/stream/samples/5.10-zen/stdout" >/dev/null
stream=$(id_of '[0-9a-f]')
experiment=$(basename "$(dirname "$(echo mlruns/*/"$stream")")")
"$BENCHWRAP" -q -e nested --repeat 2 -- sh -c 'echo speed: 3.5 GB/s' >/dev/null
nested=$(basename "$(dirname "$(grep -l '^name: "nested"' mlruns/*/meta.yaml)")")
setsid "$BENCHWRAP" ui --port "$port" >link 2>notes &
ui=$!
wait_until '[ -s link ]' 120
ok "the server is there" [ -s link ]
url=$(sed 's|/?enter.*||' link) # with the secret
runs() { curl -s -X POST "$url/api/2.0/mlflow/runs/search" -H 'Content-Type: application/json' -d '{"experiment_ids":["1","2"],"max_results":1000}' | grep -c '"run_id"'; }
wait_until '[ "$(runs)" -ge 4 ]'
server_id() # TREE'S RUN: the server's id of it
{
    curl -s -X POST "$url/api/2.0/mlflow/runs/search" -H 'Content-Type: application/json' \
        -d "{\"experiment_ids\":[\"1\",\"2\",\"3\"],\"filter\":\"tags.\`benchwrap.run_id\` = '$1'\"}" |
        python3 -c 'import json, sys; i = json.load(sys.stdin)["runs"][0]["info"]; print(i["experiment_id"], i["run_id"])'
}
read -r on_server run <<<"$(server_id "$stream")"
name=$(sed -n 's/^run_name: "\(.*\)"/\1/p' "mlruns/$experiment/$stream/meta.yaml")
triad=$(cut -d ' ' -f 2 "mlruns/$experiment/$stream/metrics/triad.bw_MB_per_s.max" | cut -d . -f 1)
look table "a runs table opens with the run, its verdict and the headline metric" "$url/?enter#/experiments/$on_server/runs?viewStateShareKey=benchwrap" "$name;triad.bw_MB_per_s.max;pass"
look run "a run's page shows its metrics and params" "$url/?enter#/experiments/$on_server/runs/$run" "triad.bw_MB_per_s.max;$triad"
look chart "the program's own metrics and the wall time have charts" "$url/?enter#/experiments/$on_server/runs/$run/model-metrics" "copy.bw_MB_per_s.max;(17)"
look chart-drawn "… which are drawn" "$url/?enter#/experiments/$on_server/runs/$run/model-metrics" '!.js-plotly-plot .barlayer path'
look system "what was measured of the machine has its charts on the page of system metrics" "$url/?enter#/experiments/$on_server/runs/$run/system-metrics" "host.uptime_s;fs.used_start_percent"
look artifact "an artifact is shown as text" "$url/?enter#/experiments/$on_server/runs/$run/artifacts/stdout.log" "STREAM version;Triad"
parent=$(grep -l . mlruns/"$nested"/*/tags/mlflow.parentRunId | head -n 1 | xargs cat)
look nested "the link leads to the newest run's table, where a series' runs are nested" "$(cat link)" "$(sed -n 's/^run_name: "\(.*\)"/\1/p' "mlruns/$nested/$parent/meta.yaml")"

# ---- while a program runs ----
cat >slow.sh <<'S'
for i in $(seq 1 600); do
    "$1" log metric loss=$((1000 - i)) --step "$i"
    sleep 0.5
    [ ! -e stop ] || exit 0
done
S
MLFLOW_TRACKING_URI=$url "$BENCHWRAP" -q -e live --name running -- bash slow.sh "$BENCHWRAP" >/dev/null 2>live.err &
program=$!
has_live_run() # sets $live and $live_run
{
    live=$(curl -s "$url/api/2.0/mlflow/experiments/get-by-name?experiment_name=live" | sed -n 's/.*"experiment_id": *"\([0-9]*\)".*/\1/p' | head -n 1)
    [ -z "$live" ] || live_run=$(curl -s -X POST "$url/api/2.0/mlflow/runs/search" -H 'Content-Type: application/json' -d "{\"experiment_ids\":[\"$live\"]}" | sed -n 's/.*"run_id": *"\([0-9a-f]*\)".*/\1/p' | head -n 1)
    [ -n "${live_run:-}" ]
}
wait_until has_live_run
ok "the run is on the server while its program runs" [ -n "${live_run:-}" ]
look live-run "… its page shows the metric" "$url/?enter#/experiments/$live/runs/$live_run" "loss"
look live-curve "… and its curve" "$url/?enter#/experiments/$live/runs/$live_run/model-metrics" '!.js-plotly-plot .scatterlayer path'
ok "… and the program still runs" kill -0 "$program"
: >stop
wait "$program"
is "it ends as it would" $? 0
program=
kill -INT "$ui"
wait "$ui"
ui=
done_testing
