#!/bin/bash
# sanitizer: no, because it kills after so many milliseconds
# `benchwrap pull`: runs of a real MLflow server become runs of a tree: ours as they were, anybody's by the format's rules.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/mlflow_server.sh"
MLFLOW=3.17.2

if ! python=$(venv_mlflow "$MLFLOW"); then
    skip "runs are pulled from MLflow $MLFLOW" "$python"
    done_testing
    exit
fi
trap 'mlflow_server_stop server; mlflow_server_stop second; tap_exit' EXIT
port=$(free_port)
url=http://127.0.0.1:$port

mkdir -p "$WORK/ours" "$WORK/back" && cd "$WORK/ours" || exit
"$BENCHWRAP" -q -e stream -p long="$(head -c 7000 /dev/zero | tr '\0' a)" --tag site=here -- sh -c 'cat "$0"' "$ROOT"/benchmarks/catalogue/stream/samples/5.10-zen/stdout >/dev/null 2>&1
"$BENCHWRAP" -q -e stream -- sh -c "$BENCHWRAP log metric x=1 --step 1; $BENCHWRAP log metric x=nan --step 2; $BENCHWRAP log metric y=inf; exit 3" >/dev/null 2>&1
"$BENCHWRAP" -q -e stream --repeat 2 -- true >/dev/null 2>&1
"$BUILD/tests/lib/write-tree" "$WORK/made" series >/dev/null
cp -r "$WORK"/made/mlruns/[1-9]* mlruns/
grep -rl -- ' -0 ' mlruns/*/*/metrics | sed 's,/metrics/.*,,' | sort -u | xargs rm -r # SQLite keeps no sign of a zero

if ! mlflow_server_start server "$python" "$port" --backend-store-uri sqlite:///m.db --artifacts-destination ./artifacts; then
    tap_fail "the server starts" "$(tail -n 5 "$WORK/server/log")"
    done_testing
    exit
fi
ok "a tree is sent" "$BENCHWRAP" sync --to "$url"
experiments=$(sed -n 's/^name: "\(.*\)"$/\1/p' mlruns/*/meta.yaml)
cd "$WORK/back" || exit
mapfile -t names <<<"$experiments"

# ---- runs of ours ----
text=$("$BENCHWRAP" pull "$url" stream --dry-run)
like "a dry run says what it would do" "$text" '5 would be pulled'
is "… and writes nothing" "$(ls -A)" ""
ok "pull writes the runs of all experiments" "$BENCHWRAP" pull --from "$url" "${names[@]}"
is "the tree is as it was, byte for byte" "$(diff -r "$WORK/ours/mlruns" mlruns 2>&1 | head -n 20)" ""
is "nothing is left in the spool" "$(ls -A .benchwrap/spool)" ""
text=$("$BENCHWRAP" pull "$url" "${names[@]}") status=$?
is "again: status" "$status" 0
like "… and nothing is written" "$text" ': 0 pulled, [0-9]+ already there, 0 still running, 0 failed'
ok "the tree equals the server, fact by fact" "$python" "$ROOT/tests/mlruns/compare_server.py" mlruns "$url"

# ---- killed at any time, and repeated ----
mkdir "$WORK/killed" && cd "$WORK/killed" || exit
kills=0
for ms in 020 040 060 080 100 130 160 200 250 300; do
    { timeout -s KILL "0.$ms" "$BENCHWRAP" pull "$url" "${names[@]}"; } >/dev/null 2>&1
    [ $? = 137 ] && kills=$((kills + 1))
done
ok "it was killed several times ($kills)" [ "$kills" -ge 2 ]
ok "repeating finishes it" "$BENCHWRAP" pull "$url" "${names[@]}"
is "… with every run whole and once" "$(diff -r "$WORK/ours/mlruns" mlruns 2>&1 | head -n 20)" ""

# ---- runs of others ----
mkdir "$WORK/foreign" && cd "$WORK/foreign" || exit
read -r outer inner failed running <<<"$("$python" "$ROOT/tests/mlruns/foreign_runs.py" "$url" "my training/2")"
text=$("$BENCHWRAP" pull "$url" "my training/2" --artifact-max 200K) status=$?
is "foreign runs: status" "$status" 0
like "… three have ended" "$text" ': 3 pulled, 0 already there, 1 still running, 0 failed'
like "… the one that has not is told" "$text" "^${running:0:8} +running "
run=$(echo mlruns/*/"$outer")
ok "a run keeps the server's id" [ -f "$run/meta.yaml" ]
is "name, status, user and times are the server's" "$(grep -E '^(run_name|status|user_id|start_time|end_time):' "$run/meta.yaml" | tr '\n' ' ')" \
    'end_time: 1700005000000 run_name: "outer" start_time: 1700000000000 status: 3 user_id: "ann" '
is "the experiment's name is made legal" "$(sed -n 's/^name: //p' mlruns/*/meta.yaml)" '"my training_2"'
is "… and the wanted one is kept" "$(cat "$run/tags/benchwrap.experiment")" "my training/2"
is "params, a key made legal" "$(cat "$run/params/lr" "$run/params/a_b")" "0.1colon"
is "keys that differ in case are two files" "$(find "$run/params" -iname 'zed*' | wc -l)" 2
is "an infinity is no value" "$(ls "$run/metrics")" "big
loss
nan
same
zero"
like "… but missing, with the reason" "$(cat "$run/artifacts/benchwrap.json")" '"key": "inf", "reason": "the value is infinite"'
is "samples of one time stay apart and in order" "$(cat "$run/metrics/same")" "1700000000000 0 0
1700000000001 1 1
1700000000002 2 2
1700000000003 3 3
1700000000004 4 4"
is "NaN, large values, a time before all" "$(cat "$run"/metrics/{nan,big,zero})" "1700000000000 nan 0
1700000000000 1e+300 0
1700000000000 1 0"
is "all samples of a long series are kept" "$(tr '[' '\n' <"$run/artifacts/series.jsonl" | grep -c '^1[0-9]*,[0-9]*,')" 1200
is "artifacts are fetched" "$(cat "$run/artifacts/dir/hello.txt")" "hello"
ok "… with names of all languages" [ -f "$run/artifacts/über uns.txt" ]
like "a larger one is named as missing" "$(cat "$run/artifacts/benchwrap.json")" '"key": "big.bin", "reason": "not pulled: with its 300000 bytes'
like "its data set is kept" "$(cat "$run/artifacts/inputs.json")" '"name":"ds"'
is "the child's parent is there" "$(cat mlruns/*/"$inner"/tags/mlflow.parentRunId)" "$outer"
like "a failed run failed" "$(cat mlruns/*/"$failed"/meta.yaml)" '^status: 4$'
ok "a run that has not ended is taken when asked for" "$BENCHWRAP" pull "$url" "my training/2" --all --artifact-max 200K
like "… as KILLED at its last fact" "$(tr '\n' ' ' <mlruns/*/"$running"/meta.yaml)" 'end_time: 1700000007777 .*status: 5 '
like "runs are chosen by time" "$("$BENCHWRAP" pull "$url" "my training/2" --since 1d)" ': 0 pulled, 0 already there'
ok "JSON is JSON" sh -c "'$BENCHWRAP' pull '$url' 'my training/2' --json | python3 -c 'import json,sys; assert len(json.load(sys.stdin)) == 4'"
if [ -x "$ROOT/../shared/tools/mlflow-check-tree" ] && long_tests; then
    ok "a second judge finds nothing" "$python" "$ROOT/../shared/tools/mlflow-check-tree" mlruns --strict
fi

# ---- to another server and back ----
if long_tests; then
    second=$(free_port)
    ok "a second server starts" mlflow_server_start second "$python" "$second" --backend-store-uri sqlite:///m.db --artifacts-destination ./artifacts
    ok "what was pulled is sent there" "$BENCHWRAP" sync --to "http://127.0.0.1:$second"
    ok "… and is there fact by fact" "$python" "$ROOT/tests/mlruns/compare_server.py" mlruns "http://127.0.0.1:$second"
    mkdir "$WORK/there" && cd "$WORK/there" || exit
    ok "it is pulled from there" "$BENCHWRAP" pull "http://127.0.0.1:$second" "my training_2"
    is "… as the same bytes" "$(diff -r "$WORK/foreign/mlruns" mlruns 2>&1 | head -n 20)" ""
fi

# ---- refusals ----
text=$("$BENCHWRAP" pull "$url" nothing-here 2>&1) status=$?
is "an experiment that is not there: status" "$status" 1
like "… and words" "$text" 'there is no experiment "nothing-here"'
text=$("$BENCHWRAP" pull "$url" 2>&1) status=$?
is "no experiment: usage" "$status" 125
mlflow_server_stop server
text=$(MLFLOW_HTTP_REQUEST_MAX_RETRIES=0 "$BENCHWRAP" pull "$url" stream 2>&1) status=$?
is "no server: status" "$status" 1
like "… and words" "$text" "server.*$port"
done_testing
