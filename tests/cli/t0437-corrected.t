#!/bin/bash
# sanitizer: no, because a real MLflow server takes long
# A run that was retracted or amended says so on an MLflow server: in a tag and in its description. Its files in the tree stay as they were.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/mlflow_server.sh"
cd "$WORK" || exit
python=$(venv_mlflow 3.17.2) || { skip "corrected runs in MLflow" "$python"; done_testing; exit; }
trap 'mlflow_server_stop server; tap_exit' EXIT
port=$(free_port) && mlflow_server_start server "$python" "$port" --backend-store-uri sqlite:///m.db || { tap_fail "the server starts" "$(tail -n 5 server/log)"; done_testing; exit; }
export MLFLOW_TRACKING_URI=
sync() { "$BENCHWRAP" sync --to "http://127.0.0.1:$port" "$@" >out.txt 2>&1; }
# tags ID KEY…: of the server's run of ours; "-" where it has none.
tags()
{
    "$python" - "http://127.0.0.1:$port" "$@" <<'END'
import sys
from mlflow import MlflowClient
c = MlflowClient(sys.argv[1])
found = c.search_runs([e.experiment_id for e in c.search_experiments()], "tags.`benchwrap.run_id` = '%s'" % sys.argv[2])
print(len(found), *[found[0].data.tags.get(k, "-") for k in sys.argv[3:]], sep="|")
END
}
record() { "$BENCHWRAP" -q -e e "$@" >/dev/null 2>&1; "$BENCHWRAP" ls --json | jq -r '.[0].id'; }
for n in first second; do
    printf 'name: prog\nversion: "%s"\nreaders:\n  - name: line\n    regex: "^result (?<first>\\\\S+) (?<second>\\\\S+)"\n    metrics:\n      - {name: speed, cell: %s, unit: MB_per_s, from: MB/s, better: higher, headline: max}\n' $n $n >$n.yaml
done

late=$(record -- true) noted=$(record --note "my own words" -- true)
sync; is "runs are sent" "$? $(tags "$late" benchwrap.corrected mlflow.note.content)" "0 1|-|-"
find mlruns -path "*$late*" -type f | sort | xargs sha256sum >before.txt
"$BENCHWRAP" retract --why "the disk was half full" "$late" "$noted" >/dev/null
early=$(record -- true); "$BENCHWRAP" retract --why "wrong node" "$early" >/dev/null
sync; is "a retraction marks the run that was sent before" "$? $(tags "$late" benchwrap.corrected mlflow.note.content)" "0 1|Retracted: the disk was half full|Retracted: the disk was half full"
is "… one that is sent with it" "$(tags "$early" benchwrap.corrected mlflow.note.content)" "1|Retracted: wrong node|Retracted: wrong node"
is "… and leaves the user's own description" "$(tags "$noted" benchwrap.corrected mlflow.note.content)" "1|Retracted: the disk was half full|my own words"
is "… and the files of the run" "$(find mlruns -path "*$late*" -type f | sort | xargs sha256sum)" "$(cat before.txt)"
by=$(basename "$(dirname "$(dirname "$(grep -l "$late" mlruns/*/*/tags/benchwrap.retracts)")")")
is "the retraction has a description, too" "$(tags "$by" mlflow.note.content)" "1|Retracts the run $late: the disk was half full"
sync; like "the next sync sends nothing" "$(cat out.txt)" ": nothing to send, 6 runs up to date"

amended=$(record --rules first.yaml -- echo result 10 20)
"$BENCHWRAP" reparse --rules second.yaml "$amended" >/dev/null 2>&1; by=$("$BENCHWRAP" ls --json | jq -r '.[0].id')
sync; is "an amended run names the one that amends it" "$? $(tags "$amended" benchwrap.corrected mlflow.note.content)" "0 1|Amended by the run $by|Amended by the run $by"
"$BENCHWRAP" retract --why "still wrong" "$amended" >/dev/null
sync; is "… until it is retracted" "$? $(tags "$amended" benchwrap.corrected mlflow.note.content)" "0 1|Retracted: still wrong|Retracted: still wrong"

# A parent run whose statistics ignore a correction, as after the merge of two branches; then one that is corrected itself.
"$BENCHWRAP" -q -e series --repeat 2 -- true >/dev/null 2>&1; parent=$("$BENCHWRAP" ls -e series --json | jq -r '.[0].id')
sync; child=$("$BENCHWRAP" ls -e series -c --json | jq -r '.[] | select(.name | endswith("#1")).id'); "$BENCHWRAP" retract --why "disk full" "$child" >/dev/null 2>&1
amends=$(grep -l "$parent" mlruns/*/*/tags/benchwrap.amends); mkdir aside; mv "${amends%/tags/*}" aside
sync; is "a parent run whose statistics ignore a retraction is marked" "$? $(tags "$parent" benchwrap.stale)" "0 1|1 of 2 child runs is amended or retracted, which these statistics ignore"
sync; like "… once" "$(cat out.txt)" ": nothing to send"
mv aside/* "${amends%/*/tags/*}"
sync; is "… until it is amended" "$? $(tags "$parent" benchwrap.stale benchwrap.corrected | cut -c1-22)" "0 1|-|Amended by the run"

mkdir pulled && (cd pulled && "$BENCHWRAP" pull --from "http://127.0.0.1:$port" e >../out.txt 2>&1)
is "a pulled run is as it was recorded" "$? $(ls pulled/mlruns/*/"$late"/tags/benchwrap.corrected 2>/dev/null)$(ls -d pulled/mlruns/*/"$late" | wc -l)" "0 1"

git init -q repository && cp -r mlruns repository/ && cd repository || exit
git add -A && git -c user.name=a -c user.email=a@b commit -qm runs
mlflow_server_stop server; rm -rf ../server
mlflow_server_start server "$python" "$port" --backend-store-uri sqlite:///m.db
sync --ref HEAD; is "a sync of a commit marks, too" "$? $(tags "$late" benchwrap.corrected) $(tags "$amended" benchwrap.corrected)" "0 1|Retracted: the disk was half full 1|Retracted: still wrong"
done_testing
