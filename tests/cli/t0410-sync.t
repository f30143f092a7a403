#!/bin/sh
# benchwrap sync to a real MLflow server: equal fact by fact, exactly once, whatever is cut, killed, delayed or done twice.
# sanitizer: long, because a real server is what is waited for; the client's unit tests walk the same code
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/mlflow_server.sh"

if ! python=$(venv_mlflow 3.17.2); then
    skip "sync to MLflow 3.17.2" "$python"
    done_testing
    exit
fi
if ! ldconfig -p 2>/dev/null | grep -q 'libcurl.*\.so\.4'; then
    skip "sync to MLflow 3.17.2" "libcurl is not installed"
    done_testing
    exit
fi
port=$(free_port)
url=http://127.0.0.1:$port
mlflow_server_start server "$python" "$port" --backend-store-uri "sqlite:///$WORK/server/mlflow.db" --artifacts-destination "$WORK/server/artifacts" ||
    { tap_fail "the server starts" "$(tail -n 5 "$WORK/server/log")"; done_testing; exit; }
proxies=
stop_all()
{
    mlflow_server_stop server
    for p in $proxies; do kill "$p" 2>/dev/null; done
}
trap 'stop_all; tap_exit' EXIT
cd "$WORK" || exit
export MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR=0.1 MLFLOW_HTTP_REQUEST_BACKOFF_JITTER=0.1

sync_to() # DIR OPTION…
{
    sync_dir=$1
    shift
    (cd "$sync_dir" && "$BENCHWRAP" sync "$@" 2>&1)
}
equal() # NAME DIR [RUN…]: the server has what the tree has
{
    equal_name=$1 equal_dir=$2
    shift 2
    ok "$equal_name" "$python" "$ROOT/tests/mlruns/compare_server.py" "$equal_dir/mlruns" "$url" "$@"
}
proxy() # RULE…: sets $through
{
    proxy_port=$(free_port)
    python3 "$TESTLIB/meddling-proxy.py" "$proxy_port" "$port" "$@" >"proxy.$proxy_port" 2>&1 &
    proxies="$proxies $!"
    wait_until 'grep -qs ready "proxy.$proxy_port"'
    through=http://127.0.0.1:$proxy_port
}
# An own tree in a folder: the named experiment, one run (params, metrics, tags, files) and what a hook adds to its folder.
experiments=0
own_tree() # DIR COUNT
{
    experiments=$((experiments + 1))
    mkdir -p "$1"
    python3 "$ROOT/tests/mlruns/foreign_tree.py" "$1/mlruns" "$experiments" "$2"
}

# ---- equal, and nothing twice ----

"$BUILD/tests/lib/write-tree" tree keys >/dev/null && "$BUILD/tests/lib/write-tree" tree series >/dev/null
out=$(sync_to tree --to "$url" --dry-run)
like "dry run tells how many" "$out" "^$url: would send [0-9]+ runs$"
is "dry run makes nothing" "$(curl -s "$url/api/2.0/mlflow/experiments/search?max_results=100" | grep -c '"name": "keys"')" 0
out=$(sync_to tree --to "$url")
is "sync of all keys, Unicode, long and empty values, long series: status" $? 0
like "it says how many were sent" "$out" "^$url: sent [0-9]+ runs$"
equal "the server has the tree's facts, every sample and file" tree
out=$(sync_to tree --to "$url")
like "a second sync sends nothing" "$out" "^$url: nothing to send, [0-9]+ runs up to date$"
rm -rf tree/.benchwrap/sync
out=$(sync_to tree --to "$url")
like "nor does one that has lost its notes" "$out" "^$url: nothing to send, [0-9]+ runs up to date$"
cp -r tree again && rm -rf again/.benchwrap && (cd again && git init -q && git add -A -f && git -c user.name=t -c user.email=t@example.org commit -q -m runs && mv mlruns aside)
out=$(sync_to again --to "$url" --ref HEAD)
like "nor one of the same runs from a commit, without a checkout" "$out" "^$url: nothing to send, [0-9]+ runs up to date$"
is "the commit's files are cleared away" "$(ls -A again/.benchwrap)" sync
own_tree branch 2
(cd branch && git init -q && git add -A -f && git -c user.name=t -c user.email=t@example.org commit -q -m runs && mv mlruns aside)
out=$(sync_to branch --to "$url" --ref HEAD)
like "new runs come from a commit" "$out" "^$url: sent 2 runs$"
mv branch/aside branch/mlruns
equal "and are equal" branch
if [ -x "$ROOT/../shared/tools/mlflow-check-server" ] && "$python" -c 'import requests' 2>/dev/null; then
    ok "a second judge finds nothing" "$python" "$ROOT/../shared/tools/mlflow-check-server" "$url" series
fi

# ---- runs of others: what is cut, renamed, not a number ----

own_tree foreign 1
run=$(echo foreign/mlruns/[1-9]*/[0-9a-f]*)
awk 'BEGIN { for (i = 0; i < 6100; i++) printf "é" }' >"$run/params/long"
awk 'BEGIN { for (i = 0; i < 9000; i++) printf "x" }' >"$run/tags/long"
printf '1700000000000 inf 0\n1700000000001 nan 1\n1700000000002 -inf 2\n' >"$run/metrics/odd"
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%d %.17g %d\n", 1700000000000 + i, i / 7, i }' >"$run/metrics/series"
printf 'größe' >"$run/params/größe ünd"
: >"$run/artifacts/empty.txt"
mkdir -p "$run/artifacts/deep/er" && echo x >"$run/artifacts/deep/er/a b ü.txt"
out=$(sync_to foreign --to "$url")
is "a run of others: status" $? 0
equal "long values are cut and named, NaN and infinities arrive, 3,000 steps, an empty file" foreign
echo 'hash' >"$run/artifacts/a#b.txt"
echo 'back' >"$run/artifacts/a\\b.txt"
out=$(sync_to foreign --to "$url")
like "a changed run is completed" "$out" ": updated 1 run$"
like "names that the server refuses are made legal, and it is said" "$out" 'rejects the file name "a#b.txt": it is "a_b-[0-9a-f]{8}.txt" there'
is "both are there" "$(find server/artifacts -name 'a_b-*.txt' | wc -l)" 2
own_tree large 1
run=$(echo large/mlruns/[1-9]*/[0-9a-f]*)
head -c 31457280 /dev/urandom >"$run/artifacts/large.bin"
sync_to large --to "$url" >/dev/null
equal "an artifact of 30 MB" large
own_tree damaged 4
for run in damaged/mlruns/[1-9]*/[0-9a-f]*; do twice=$broken broken=$run; done
echo 'not a sample' >"$broken/metrics/m0"
mkdir damaged/mlruns/77 && sed 's/^experiment_id: .*/experiment_id: "77"/; s/^name: .*/name: "again"/' "${twice%/*}/meta.yaml" >damaged/mlruns/77/meta.yaml
cp -r "$twice" damaged/mlruns/77/ && sed -i 's/^experiment_id: .*/experiment_id: "77"/' "damaged/mlruns/77/${twice##*/}/meta.yaml"
out=$(sync_to damaged --to "$url")
is "a damaged run stays here, the others go: status 1" $? 1
like "which is said" "$out" "m0:1 is not a sample"
like "and that a run stands in two experiments" "$out" "${twice##*/}: this run id is in two experiments"
like "and counted" "$out" ": sent 2 runs, 3 cannot be read$"

# ---- --follow: what comes meanwhile ----

mkdir follow
(cd follow && exec "$BENCHWRAP" sync --follow --to "$url" >../follow.txt 2>&1) &
follower=$!
proxies="$proxies $follower"
own_tree meanwhile 2
for run in meanwhile/mlruns/[1-9]*/[0-9a-f]*; do :; done
echo 'not a sample' >"$run/metrics/m0"
mv meanwhile/mlruns follow/
wait_until 'grep -q "not a sample" follow.txt' 120
own_tree later 1
last=$(basename later/mlruns/[1-9]*/[0-9a-f]*)
mv later/mlruns/* follow/mlruns/
wait_until '[ -n "$(find follow/.benchwrap/sync -name "$last")" ]' 120
kill -TERM $follower
wait $follower
is "--follow ends when it is told to: a run cannot be read, status 1" $? 1
like "it counts what all its looks did" "$(cat follow.txt)" ": sent 2 runs, 1 cannot be read$"
is "what stands in the way at every look is said once" "$(grep -c "not a sample" follow.txt)" 1

# ---- parents, deleted ones, selection ----

own_tree family 3
set -- family/mlruns/[1-9]*/[0-9a-f]*
parent=${1##*/} child=${2##*/} orphan=${3##*/}
sed -i 's/^start_time: .*/start_time: 1700009999000/; s/^end_time: .*/end_time: 1700009999500/' "$1/meta.yaml" # begins after its children
printf %s "$parent" >"$2/tags/mlflow.parentRunId"
mkdir -p aside && mv "$1" aside/
printf %s "$parent" >"$3/tags/mlflow.parentRunId"
out=$(sync_to family --to "$url" "$orphan")
like "a child whose parent is not there yet" "$out" ": sent 1 run$"
mv "aside/$parent" "$(dirname "$3")/"
out=$(sync_to family --to "$url" "$child")
like "a parent goes with its child" "$out" "^$url: sent 2 runs$"
equal "children hang on the server's parent, those that came before it too" family
own_tree gone 2
out=$(sync_to gone --to "$url")
id=$(curl -s "$url/api/2.0/mlflow/experiments/get-by-name?experiment_name=foreign%20$experiments" | sed -n 's/.*"experiment_id": *"\([0-9]*\)".*/\1/p' | head -n 1)
first=$(curl -s -H 'Content-Type: application/json' -d "{\"experiment_ids\":[\"$id\"]}" "$url/api/2.0/mlflow/runs/search" | sed -n 's/.*"run_id": *"\([0-9a-f]*\)".*/\1/p' | head -n 1)
curl -s -H 'Content-Type: application/json' -d "{\"run_id\":\"$first\"}" "$url/api/2.0/mlflow/runs/delete" >/dev/null
rm -rf gone/.benchwrap/sync
out=$(sync_to gone --to "$url")
is "a run deleted on the server stays deleted: status" $? 0
like "and it is said" "$out" ": nothing to send, 1 run up to date, 1 deleted there \\(--restore sends them again\\)$"
out=$(sync_to gone --to "$url" --restore)
like "--restore brings it back" "$out" ": (updated 1 run, 1|nothing to send, 2 runs) up to date$"
equal "as it was" gone
curl -s -H 'Content-Type: application/json' -d "{\"experiment_id\":\"$id\"}" "$url/api/2.0/mlflow/experiments/delete" >/dev/null
rm -rf gone/.benchwrap/sync
sync_to gone --to "$url" >/dev/null
equal "a deleted experiment is restored" gone
own_tree chosen 3
out=$(sync_to chosen --to "$url" --since 2001-01-01 -e "foreign $experiments")
like "chosen by experiment and time" "$out" ": sent 3 runs$"
out=$(sync_to chosen --to "$url" --since 1h)
like "by age" "$out" ": nothing to send$"
sync_to chosen --to "$url" -e nothing >/dev/null
is "an experiment that is not there" $? 1
sync_to chosen --to ftp://x >/dev/null
is "no address of a server" $? 1
sync_to chosen --since 1h >/dev/null
is "chosen, but no server named" $? 125
out=$(sync_to chosen --to "$url" --json)
ok "JSON" python3 -c 'import json, sys; d = json.loads(sys.argv[1]); assert d["server"]["there"] == 3 and d["server"]["sent"] == 0' "$out"

# ---- the server goes away ----

own_tree away 2
proxy refuse:runs/log-batch:0
out=$(MLFLOW_HTTP_REQUEST_MAX_RETRIES=1 sync_to away --to "$through")
is "an outage: status 2" $? 2
like "the rest is kept, said once" "$out" '1 run refused or failed, 1 not tried; all is kept: repeat "benchwrap sync"'
proxy drop:runs/create:2 drop:log-batch:1 cut:runs/search:1 drop:artifacts:2 drop:runs/update:1
out=$(sync_to away --to "$through")
is "lost replies of every call: status" $? 0
equal "each run is there once, and equal" away
own_tree again_away 1
is "a dead server: status 2" "$(MLFLOW_HTTP_REQUEST_MAX_RETRIES=0 sync_to again_away --to http://127.0.0.1:9 >dead; echo $?)" 2

# ---- two at once, through delays of either reply ----

race() # NAME RULE_A RULE_B COUNT
{
    race_name=$1
    own_tree "race$experiments" "$4"
    race_dir=race$((experiments - 1))
    cp -r "$race_dir" "$race_dir-other"
    proxy "$2"
    a=$through
    proxy "$3"
    sync_to "$race_dir" --to "$a" >a.out & race_pid=$!
    sync_to "$race_dir-other" --to "$through" >b.out
    race_b=$?
    wait $race_pid
    is "$race_name: both end well" "$? $race_b" "0 0"
    equal "$race_name: one complete run each" "$race_dir"
}
doubles() # how many runs of the newest experiment were made twice and deleted
{
    doubles_id=$(curl -s "$url/api/2.0/mlflow/experiments/get-by-name?experiment_name=foreign%20$experiments" | sed -n 's/.*"experiment_id": *"\([0-9]*\)".*/\1/p' | head -n 1)
    curl -s -H 'Content-Type: application/json' -d "{\"experiment_ids\":[\"$doubles_id\"],\"run_view_type\":\"DELETED_ONLY\"}" "$url/api/2.0/mlflow/runs/search" | grep -c '"run_uuid"'
}
race "the search before the creation is late" delay:runs/search:3:0.5-1 delay:runs/search:3:0.5-1 1
race "the creation is late" hold:runs/create:0:0.5-1 delay:runs/create:0:0.3-0.8 1
settled=$(doubles) # both found nothing before they created: delays make that likely, not certain
if [ "${settled:-0}" -gt 0 ]; then tap_pass "there was something to settle"; else skip_here "there was something to settle" "the race did not come about this time"; fi
if long_tests; then
    race "either reply, at random" delay:runs/:0:0-0.3 delay:runs/:0:0-0.3 2
    for i in 1 2 3 4 5 6 7 8 9 10; do
        race "random delays, round $i" delay:runs/:0:0-0.4 hold:runs/:0:0-0.4 3
    done
fi

# ---- killed in the middle, again and again ----

rounds=8
long_tests && rounds=100
own_tree killed 6
i=0
while [ $i -lt $rounds ]; do
    i=$((i + 1))
    (cd killed && exec timeout -s KILL "0.$(awk -v s=$i 'BEGIN { srand(s * 7919); printf "%03d", 20 + int(rand() * 500) }')" "$BENCHWRAP" sync --to "$url" >/dev/null 2>&1) 2>/dev/null
    [ $((i % 5)) -ne 0 ] || rm -rf killed/.benchwrap/sync
done
out=$(sync_to killed --to "$url")
is "after $rounds kills: status" $? 0
equal "each run is there once, and equal" killed

done_testing
