#!/bin/sh
# --share-run without a server: what the client's store says against the record is named. The program writes the store itself, as MLflow's client does.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >client <<'P'
#!/bin/sh
run=$(echo "${MLFLOW_TRACKING_URI#file://}"/*/"$MLFLOW_RUN_ID")
sed -i "s/^status: 1$/status: $1/" "$run/meta.yaml"
echo "1700000000000 1000000000 0" >"$run/metrics/run.wall_s"
echo "1700000000000 0.25 0" >"$run/metrics/loss"
printf '1700000000009 9 2\n1700000000009 8 2\n1700000000001 1 0\n' >"$run/metrics/late"
exit "$2"
P
chmod +x client
share() { "$BENCHWRAP" -e "$1 $2" --share-run -- ./client "$1" "$2" 2>&1; }
against="the program's MLflow client set the status FAILED; the status of this run is that of the program"
out=$(share 4 0)
like "the client set FAILED, the program exits with 0: a warning" "$out" "$against"
like "... a metric that benchwrap records itself is left out, and named" "$out" "the metric run.wall_s that the program's MLflow client logged is left out"
is "... the status is the program's" "$("$BENCHWRAP" ls --json -e "4 0" | jq -r '.[].status')" FINISHED
like "... the rest is there" "$out" "loss *0.25"
is "... samples keep their time, and of equal times MLflow's value stays the last" "$(tr '\n' , <"$(echo mlruns/*/*/metrics/late)")" "1700000000001 1 0,1700000000009 8 2,1700000000010 9 2,"
is "both failed: no warning" "$(share 4 3 | grep -c 'set the status')" 0
is "the client set FINISHED: no warning" "$(share 3 0 | grep -c 'set the status')" 0
cat >folders <<'P'
#!/bin/sh
run=$(echo "${MLFLOW_TRACKING_URI#file://}"/*/"$MLFLOW_RUN_ID")
mkdir -p "$run/metrics/val/top" "$run/metrics/system"
printf '1700000000000 0.1 0\n1700000000001 0.7 1\n1700000000002 0.9 2\n' >"$run/metrics/val/acc"
echo "1700000000000 5 0" >"$run/metrics/val/top/k"
echo "1700000000000 1 0" >"$run/metrics/system/cpu_utilization_percentage"
P
chmod +x folders
"$BENCHWRAP" -q -e folders --share-run -- ./folders
is "metrics whose names have folders are headline metrics, with their median; those of the machine are not" \
    "$("$BENCHWRAP" ls -e folders --json | jq -r '.[] | "\(.headline) \(.headline_1) \(.headline_2)"')" "val/acc val/top/k 0.7 5"
cat >names <<'P'
#!/bin/sh
run=$(echo "${MLFLOW_TRACKING_URI#file://}"/*/"$MLFLOW_RUN_ID")
echo "1700000000000 7 0" >"$run/metrics/run.loss"
printf pass >"$run/tags/benchwrap.verdict"
printf 0123456789abcdef0123456789abcdef >"$run/tags/benchwrap.retracts"
printf hpl >"$run/tags/benchmark"
printf someone >"$run/tags/mlflow.user"
printf mine >"$run/tags/phase"
P
chmod +x names
"$BENCHWRAP" -q -e names --share-run -- ./names
is "tags of benchwrap's own names are left out, and named, and only these" "$("$BENCHWRAP" show -e names last --json | jq -r '.warnings[].text' |
    sed -n 's/^the tag \([a-z.]*\) that .*/\1/p' | sort | tr '\n' ' ')" "benchmark benchwrap.retracts benchwrap.verdict "
tags=$(dirname mlruns/*/*/tags/phase)
is "... whose values are benchwrap's" "$(cat "$tags/benchwrap.verdict" "$tags/benchmark" "$tags/phase")" nonenamesmine
is "... a metric whose name only begins as benchwrap's is stored" "$(cat mlruns/*/*/metrics/run.loss)" "1700000000000 7 0"
cat >named <<'P'
#!/bin/sh
run=$(echo "${MLFLOW_TRACKING_URI#file://}"/*/"$MLFLOW_RUN_ID")
printf theirs >"$run/tags/mlflow.runName"
printf 'their text' >"$run/tags/mlflow.note.content"
printf other >"$run/tags/mlflow.source.git.branch"
P
chmod +x named
kept() { "$BENCHWRAP" show -e "$1" last --json | jq -r '[.name, .tags["mlflow.note.content"], .tags["mlflow.source.git.branch"]] | join(",")'; }
left_out() { "$BENCHWRAP" show -e "$1" last --json | jq -r '.warnings[].text' | sed -n 's/^the tag \([A-Za-z.]*\) that .* an option of this run sets it$/\1/p' | sort | tr '\n' ' '; }
"$BENCHWRAP" -q -e named -n mine --note 'my text' --tag mlflow.source.git.branch=main --share-run -- ./named
is "a name, a note and a tag that options set take precedence" "$(kept named)" "mine,my text,main"
is "... with a warning for each of the client's" "$(left_out named)" "mlflow.note.content mlflow.runName mlflow.source.git.branch "
BENCHWRAP_RUN_NAME=mine "$BENCHWRAP" -q -e variable --share-run -- ./named
is "... so does a name by the environment" "$(kept variable | cut -d, -f1) $(left_out variable)" "mine mlflow.runName "
"$BENCHWRAP" -q -e client --share-run -- ./named
is "without these options the client's count" "$(kept client | cut -d, -f1,2) $(left_out client)" "theirs,their text "
"$BENCHWRAP" -q -e same -n theirs --note 'their text' --share-run -- ./named
is "equal ones are no news" "$(left_out same)" ""
cat >learns <<'P'
#!/bin/sh
run=$(echo "${MLFLOW_TRACKING_URI#file://}"/*/"$MLFLOW_RUN_ID")
mkdir -p "$run/metrics/system"
echo "1700000000000 5 0" >"$run/metrics/loss"
echo "1700000000000 $$ 0" >"$run/metrics/system/cpu_utilization_percentage"
P
chmod +x learns
like "repetitions: what the client logged is the headline metric, not the wall time" "$("$BENCHWRAP" -e learns --share-run --until-stable 2% --max-repeat 6 -- ./learns 2>&1)" '  loss +5 '
is "... which they are repeated for" "$("$BENCHWRAP" ls -e learns --json | jq -r '.[].headline')" loss.median
"$BENCHWRAP" -q -e blank -- "$BENCHWRAP" log 'val loss=3'
is "a logged metric with a blank in its name is shown" "$("$BENCHWRAP" ls -e blank --json | jq -r '.[] | "\(.headline) \(.headline_1)"')" "val loss 3"
cat >deletes <<'P'
#!/bin/sh
store=${MLFLOW_TRACKING_URI#file://} id=00000000000000000000000000000001
run=$(echo "$store"/*/"$MLFLOW_RUN_ID")
cp -r "$run" "${run%/*}/$id"
sed -i "s/$MLFLOW_RUN_ID/$id/; s/lifecycle_stage: .*/lifecycle_stage: deleted/" "${run%/*}/$id/meta.yaml"
[ "$1" = other ] || sed -i "s/lifecycle_stage: .*/lifecycle_stage: deleted/" "$run/meta.yaml"
P
chmod +x deletes
out=$("$BENCHWRAP" -q -e deletes --share-run -- ./deletes other && "$BENCHWRAP" show --json)
like "a run that the client deleted is left out, and named" "$out" "1 run that the program's MLflow client deleted is left out"
cat >experiment <<'P'
#!/bin/sh
store=${MLFLOW_TRACKING_URI#file://} id=00000000000000000000000000000001
run=$(echo "$store"/*/"$MLFLOW_RUN_ID")
mkdir -p "$store/.trash/77" && cp -r "$run" "$store/.trash/77/$id" && cp "${run%/*}/meta.yaml" "$store/.trash/77/"
sed -i "s/$MLFLOW_RUN_ID/$id/" "$store/.trash/77/$id/meta.yaml"
P
chmod +x experiment
like "... and those of an experiment that it deleted" "$("$BENCHWRAP" -q -e deletes --share-run -- ./experiment && "$BENCHWRAP" show --json)" "1 run that the program's MLflow client deleted is left out"
like "... the program's own is stored" "$("$BENCHWRAP" -q -e deletes --share-run -- ./deletes own && "$BENCHWRAP" show --json)" "the program's MLflow client deleted this run, which is stored all the same"
cat >files <<'P'
#!/bin/sh
store=${MLFLOW_TRACKING_URI#file://}
run=$(echo "$store"/*/"$MLFLOW_RUN_ID") experiment=${run%/*}
deep=$run/artifacts$(printf '/d%.0s' $(seq 40))
mkdir -p "$run/artifacts/mlflow" "$run/artifacts/job" "$deep" "$experiment/tags" "$store/77/00000000000000000000000000000077"
echo one >"$run/artifacts/stdout.log"
echo two >"$run/artifacts/mlflow/stdout.log"
echo client >"$run/artifacts/job/result.json"
echo lost >"$deep/x"
printf 'of the experiment' >"$experiment/tags/mlflow.note.content"
printf 'by itself' >"$experiment/tags/mlflow.experimentKind"
sed "s/^experiment_id: .*/experiment_id: \"77\"/; s/^name: .*/name: far/; s,^artifact_location: .*,artifact_location: file:///far," "$experiment/meta.yaml" >"$store/77/meta.yaml"
sed "s/$MLFLOW_RUN_ID/00000000000000000000000000000077/; s/^experiment_id: .*/experiment_id: \"77\"/; s,^artifact_uri: .*,artifact_uri: file:///far/77/artifacts," \
    "$run/meta.yaml" >"$store/77/00000000000000000000000000000077/meta.yaml"
P
chmod +x files
"$BENCHWRAP" -q -e files --archive-job --share-run -- ./files
artifacts=$(dirname mlruns/*/*/artifacts/mlflow/stdout.log)/..
run=$(basename "${artifacts%/artifacts/*}")
is "two files of the client that need one name are both stored" "$(cat "$artifacts/mlflow/stdout.log" "$artifacts/mlflow/mlflow/stdout.log" | sort | xargs)" "one two"
is "... also one that the archive of the job needs" "$(jq -r .status "$artifacts/job/result.json") $(cat "$artifacts/mlflow/job/result.json")" "FINISHED client"
missing() { "$BENCHWRAP" show "$1" --json | jq -r '.missing[] | select(.source == "mlflow") | "\(.key): \(.reason)"'; }
like "a folder that is too deep is missing, with the reason" "$(missing "$run" | tail -n 1)" "^(d/)+d: .* it is too deep$"
is "tags of the experiment are stored, but for those that MLflow sets" "$(cat "$artifacts"/mlflow/experiments/*/tags/*)" "of the experiment"
is "a run whose files are outside the store names their place" "$(missing 00000000000000000000000000000077)" \
    "artifacts: the program's MLflow client stores the files, models and traces of this run's experiment at file:///far/77/artifacts"
cat >leaves <<'P'
#!/bin/sh
setsid sh -c 'echo >began; while [ -e began ] && [ ! -e go ]; do sleep 0.1; done' >/dev/null 2>&1 </dev/null &
while [ ! -e began ]; do sleep 0.1; done
P
chmod +x leaves
like "a process that goes on may log later: in no record" "$("$BENCHWRAP" -q -e leaves --share-run -- ./leaves && "$BENCHWRAP" show --json)" "what (it logs|they log) by MLflow after the program's end is in no record"
: >go
done_testing
