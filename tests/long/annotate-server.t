#!/bin/bash
# Annotations on an MLflow server: tags, note and name that are set, changed and removed after the run was sent; the annotation itself is not sent.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/mlflow_server.sh"
cd "$WORK" || exit
python=$(venv_mlflow 3.17.2) || { skip "annotations in MLflow" "$python"; done_testing; exit; }
trap 'mlflow_server_stop server; tap_exit' EXIT
port=$(free_port) && mlflow_server_start server "$python" "$port" --backend-store-uri sqlite:///m.db || { tap_fail "the server starts" "$(tail -n 5 server/log)"; done_testing; exit; }
export MLFLOW_TRACKING_URI=
sync() { "$BENCHWRAP" sync --to "http://127.0.0.1:$port" "$@" >out.txt 2>&1; }
# tags ID KEY…: name and tags of the server's run of ours; "-" where it has none.
tags()
{
    "$python" - "http://127.0.0.1:$port" "$@" <<'END2'
import sys
from mlflow import MlflowClient
c = MlflowClient(sys.argv[1])
found = c.search_runs([e.experiment_id for e in c.search_experiments()], "tags.`benchwrap.run_id` = '%s'" % sys.argv[2])
print(len(found), found[0].info.run_name, *[found[0].data.tags.get(k, "-") for k in sys.argv[3:]], sep="|")
END2
}
"$BENCHWRAP" -q -e e -n one --tag team=a -- true; one=$("$BENCHWRAP" ls --json | jq -r '.[0].id')
sync; is "sent" "$(tags "$one" team quality mlflow.note.content)" "1|one|a|-|-"
"$BENCHWRAP" annotate "$one" --tag quality=good --remove team --note "<b>note</b>" --name renamed >/dev/null
sync; is "an annotation changes the server's run" "$? $(tags "$one" team quality mlflow.note.content)" "0 1|renamed|-|good|<b>note</b>"
like "… and is no run there" "$(cat out.txt)" ": updated 1 run$"
sync; like "the next sync sends nothing" "$(cat out.txt)" ": nothing to send, 1 run up to date$"
"$BENCHWRAP" annotate "$one" --tag team=b --remove quality --note "" --name "" >/dev/null
sync; is "changed again: tags and note removed, the recorded name" "$? $(tags "$one" team quality mlflow.note.content)" "0 1|one|b|-|-"
"$BENCHWRAP" -q -e e -n two -- true; two=$("$BENCHWRAP" ls --json | jq -r '.[0].id')
"$BENCHWRAP" annotate "$two" --tag quality=new >/dev/null
sync; is "annotated before it was sent" "$? $(tags "$two" quality)" "0 1|two|new"
git init -q repository && cp -r mlruns repository/ && (cd repository && git add -A && git -c user.name=a -c user.email=a@b commit -qm runs)
"$BENCHWRAP" annotate "$two" --tag quality=later >/dev/null; rm -rf repository/mlruns && cp -r mlruns repository/ && (cd repository && git add -A && git -c user.name=a -c user.email=a@b commit -qm more && sync --ref HEAD)
is "a sync of a commit applies annotations, too" "$(tags "$two" quality)" "1|two|later"
ok "MLflow's client reads the tree with the annotations as child runs" "$python" -W ignore -c "
import mlflow, os
os.environ['MLFLOW_ALLOW_FILE_STORE'] = 'true'
c = mlflow.MlflowClient('file:' + os.path.abspath('mlruns'))
runs = c.search_runs([e.experiment_id for e in c.search_experiments()])
notes = [r for r in runs if 'benchwrap.annotates' in r.data.tags]
assert len(runs) == 6 and len(notes) == 4, (len(runs), len(notes))
assert all(r.data.tags['mlflow.parentRunId'] == r.data.tags['benchwrap.annotates'] for r in notes)
"
done_testing
