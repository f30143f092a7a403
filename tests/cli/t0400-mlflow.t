#!/bin/sh
# Trees of ours are opened by the real MLflow, newest release: file store, migration, web server on a fresh git clone.
# sanitizer: long, because MLflow is what is tested
# early, because it takes long
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
MLFLOW=3.17.2

from_python() # turns "ok NAME" and "not ok NAME: why" into test lines
{
    while IFS= read -r line; do
        case $line in
        "ok "*) tap_pass "${line#ok }" ;;
        "not ok "*) tap_fail "${line#not ok }" ;;
        *) echo "$line" ;;
        esac
    done
}

if ! python=$(venv_mlflow "$MLFLOW"); then
    skip "MLflow $MLFLOW opens our trees" "$python"
    done_testing
    exit
fi
write=$BUILD/tests/lib/write-tree
cd "$WORK" || exit
ok "trees are written: keys" "$write" tree keys
ok "trees are written: series" "$write" tree series
many=40 # in ten experiments
! long_tests || many=300
ok "trees are written: $many runs" "$write" tree many $many

git init -q clonee >/dev/null 2>&1 && cp -r tree/mlruns clonee/ && echo '* -text' >clonee/.gitattributes
(cd clonee && git add -A && git -c user.name=t -c user.email=t@example.org commit -q -m runs) >/dev/null
ok "a fresh clone" git clone -q clonee clone
is "the clone has the same files" "$(cd clone/mlruns && find . -type f | LC_ALL=C sort | xargs -d '\n' cat | cksum)" \
    "$(cd tree/mlruns && find . -type f | LC_ALL=C sort | xargs -d '\n' cat | cksum)"

"$python" "$ROOT/tests/mlruns/check_tree.py" clone tree/expect.jsonl >read.txt 2>read.err || tap_fail "check_tree.py runs" "$(tail -n 5 read.err)"
from_python <read.txt
rm -rf clone && git clone -q clonee clone
"$python" "$ROOT/tests/mlruns/check_server.py" clone >server.txt 2>server.err || tap_fail "check_server.py runs" "$(tail -n 5 server.err)"
from_python <server.txt
is "looking leaves the clone as it was" "$(cd clone && git status --porcelain --untracked-files=all)" ""

if [ -x "$ROOT/../shared/tools/mlflow-check-tree" ]; then
    ok "a second judge finds nothing" "$python" "$ROOT/../shared/tools/mlflow-check-tree" tree/mlruns --strict
fi
mkdir howto && cd howto && "$BENCHWRAP" -q -e one -- true && "$BENCHWRAP" -q -e two -- true
out=$(pandas_howto "$python")
is "the lines of the howto load the runs into pandas" "$? $(printf '%s\n' "$out" | grep -c ' FINISHED ')" "0 2"
done_testing
