#!/bin/bash
# `export-tree --absolute`: MLflow's client lists and reads the artifacts of the copy from any working directory; of the tree itself only beside it.
# sanitizer: long, because a real client is what is waited for
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
cat >"$WORK/look.py" <<'P'
import os, sys, tempfile
import mlflow
os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
mlflow.set_tracking_uri(sys.argv[1])
c = mlflow.MlflowClient()
for e in c.search_experiments():
    for r in c.search_runs([e.experiment_id]):
        files = sorted(f.path for f in c.list_artifacts(r.info.run_id))
        text = open(c.download_artifacts(r.info.run_id, "stdout.log", tempfile.mkdtemp())).read().strip() if "stdout.log" in files else "none"
        print(e.name, r.info.run_name, len(files) > 3, text)
P
mkdir -p "$WORK/a b%41ä/here" "$WORK/elsewhere" && cd "$WORK/a b%41ä/here" || exit
"$BENCHWRAP" -q -e one -n first -- echo hello >/dev/null
"$BENCHWRAP" -q -e two -n second -- echo again >/dev/null
ok "a plain tree is copied" "$BENCHWRAP" export-tree --absolute "$WORK/a b%41ä/copy"
cp -r mlruns before
sum() { (cd "$1" && find . -type f ! -name meta.yaml ! -name manifest.json -exec sha256sum {} + | sort); }
is "but for locations the copy is the same" "$(sum "$WORK/a b%41ä/copy/mlruns")" "$(sum mlruns)"
is "the manifest has the new sum" "$(for m in "$WORK/a b%41ä/copy/mlruns"/*/*/meta.yaml; do grep -c "$(sha256sum <"$m" | cut -c1-64)" "$(dirname "$m")/artifacts/manifest.json"; done | tr '\n' ' ')" "1 1 "
is "benchwrap reads it" "$("$BENCHWRAP" ls -t "$WORK/a b%41ä/copy/mlruns" --json | jq -r '.[].name' | sort | tr '\n' ' ')" "first second "
like "again: nothing is written" "$("$BENCHWRAP" export-tree --absolute "$WORK/a b%41ä/copy")" "^0 runs written to .*, 2 there already"
is "a new run comes to it" "$("$BENCHWRAP" -q -e one -n third -- echo third >/dev/null; "$BENCHWRAP" export-tree --absolute "$WORK/a b%41ä/copy")" "1 run written to $WORK/a b%41ä/copy/mlruns, 2 there already"
like "a copy with relative locations is another one" "$("$BENCHWRAP" export-tree "$WORK/a b%41ä/copy" 2>&1)" "is another experiment than the one to be exported"
like "the tree itself is refused" "$("$BENCHWRAP" export-tree --absolute . 2>&1)" "is the tree itself"
is "it is as it was" "$(diff -r before mlruns | grep -v '^Only in mlruns')" ""
uri() { python3 -c 'import sys, urllib.parse; print("file://" + urllib.parse.quote(sys.argv[1]))' "$1"; }
for version in 3.17.2 2.22.5; do
    case $version in 2.*) make=venv_mlflow_client ;; *) make=venv_mlflow ;; esac
    if ! python=$($make $version); then
        skip "MLflow $version reads the copy" "$python"
        continue
    fi
    cd "$WORK/elsewhere" || exit
    is "MLflow $version elsewhere: no artifacts of the tree" "$("$python" "$WORK/look.py" "$(uri "$WORK/a b%41ä/here/mlruns")" 2>err | sort | uniq | grep -c 'False none')" 3
    is "MLflow $version elsewhere: those of the copy" "$("$python" "$WORK/look.py" "$(uri "$WORK/a b%41ä/copy/mlruns")" 2>err | sort)" "one first True hello
one third True third
two second True again"
done
if command -v git >/dev/null; then
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    cd "$WORK" && "$BENCHWRAP" init --site here results >init.out 2>&1
    cd results && "$BENCHWRAP" -q -e repo -n committed -- echo kept >/dev/null 2>&1
    "$BENCHWRAP" commit >/dev/null 2>&1
    ref=$(git for-each-ref --format='%(refname:short)' refs/heads/benchwrap | head -n 1)
    ok "a commit is copied" "$BENCHWRAP" export-tree --absolute "$ref" "$WORK/of-commit"
    is "… with absolute locations" "$(sed -n 's/^artifact_uri: "\(.*\)\/mlruns.*/\1/p' "$WORK"/of-commit/mlruns/*/*/meta.yaml | sort -u)" "file://$WORK/of-commit"
fi
done_testing
