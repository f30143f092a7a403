#!/bin/sh
# Trees of ours are opened by the last MLflow 2 (slow tier).
# sanitizer: long, because MLflow is what is tested
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
MLFLOW=2.22.5

if ! long_tests; then
    skip_here "MLflow $MLFLOW opens our trees" "slow: make check-long"
    done_testing
    exit
fi
if ! python=$(venv_mlflow "$MLFLOW"); then
    skip "MLflow $MLFLOW opens our trees" "$python"
    done_testing
    exit
fi
write=$BUILD/tests/lib/write-tree
cd "$WORK" || exit
ok "a tree is written" sh -c "$write tree keys && $write tree series && $write tree many 100"
"$python" "$ROOT/tests/mlruns/check_tree.py" tree tree/expect.jsonl >read.txt 2>read.err || tap_fail "check_tree.py runs" "$(tail -n 5 read.err)"
while IFS= read -r line; do
    case $line in
    "ok "*) tap_pass "${line#ok }" ;;
    "not ok "*) tap_fail "${line#not ok }" ;;
    *) echo "$line" ;;
    esac
done <read.txt
mkdir howto && cd howto && "$BENCHWRAP" -q -e one -- true && "$BENCHWRAP" -q -e two -- true
out=$(pandas_howto "$python")
is "the lines of the howto load the runs into pandas" "$? $(printf '%s\n' "$out" | grep -c ' FINISHED ')" "0 2"
done_testing
