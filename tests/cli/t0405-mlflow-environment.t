#!/bin/sh
# Variables of MLflow's client that say something of the run, not of the server: tags, an experiment's number.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit

MLFLOW_RUN_CONTEXT='{"team": "x y", "n": 5, "benchwrap.format": "no", "mlflow.source.type": "no", "list": [1]}' "$BENCHWRAP" -e context -- true 2>err
is "the program's status" $? 0
tags=$(echo mlruns/*/*/tags)
is "tags of the context" "$(cat "$tags/team" 2>&1)" "x y"
is "MLflow's own stay" "$(cat "$tags/mlflow.source.type")" LOCAL
is "ours stay" "$(grep -c no "$tags/benchwrap.format")" 0
is "what is no text is none" "$(cd "$tags" && echo n* list*)" "n* list*"
mkdir other && cd other || exit
MLFLOW_RUN_CONTEXT='[1' "$BENCHWRAP" -e context -- true 2>err
is "a context that is none: the program's status" $? 0
like "it is said" "$(cat err)" "MLFLOW_RUN_CONTEXT is no JSON object"

MLFLOW_TRACKING_URI=http://127.0.0.1:1 MLFLOW_EXPERIMENT_ID=7 "$BENCHWRAP" --finish-wait 0s -- true 2>err
like "an experiment by number is said not to count" "$(cat err)" "MLFLOW_EXPERIMENT_ID is ignored"
MLFLOW_TRACKING_URI=http://127.0.0.1:1 MLFLOW_EXPERIMENT_ID=7 MLFLOW_EXPERIMENT_NAME=named "$BENCHWRAP" --finish-wait 0s -- true 2>err
is "not where it has a name" "$(grep -c MLFLOW_EXPERIMENT_ID err)" 0
for name in MLFLOW_TRACKING_AUTH=plugin MLFLOW_TRACKING_AWS_SIGV4=true; do
    env MLFLOW_TRACKING_URI=http://127.0.0.1:1 $name "$BENCHWRAP" --finish-wait 0s -- true 2>err
    like "what cannot be done is reported at the run: $name" "$(cat err)" "${name%=*}.*: the request is sent"
done
done_testing
