#!/bin/sh
# sync under random cuts of network, client and server: every run is on the server exactly once, equal fact by fact.
# sanitizer: no, because a client that is killed at random tells nothing of leaks
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
MLFLOW=3.17.2

if ! python=$(venv_mlflow "$MLFLOW"); then
    skip "sync under random cuts" "$python"
    done_testing
    exit
fi
cuts="$python $ROOT/tests/faults/server_cuts.py --python $python"
export TMPDIR="$WORK"

campaign() # NAME ARGUMENT…
{
    campaign_name=$1
    shift
    # shellcheck disable=SC2086 # words
    if $cuts "$@" "$BUILD" >cuts.txt 2>&1; then
        tap_pass "$campaign_name: $(tail -n 1 cuts.txt)"
    else
        tap_fail "$campaign_name" "$(cat cuts.txt)"
    fi
}

cd "$WORK" || exit
if [ ! -x "$BUILD/tests/server/fault-server" ]; then
    skip "random cuts" "libmicrohttpd is not installed"
elif long_tests; then
    campaign "a server in memory" --runs 40 --cuts 40 --rounds 12
else
    campaign "a server in memory" --runs 10 --cuts 10 --rounds 1
fi
if long_tests; then
    campaign "MLflow $MLFLOW" --real "${python%/*}/mlflow" --runs 12 --cuts 20 --rounds 2
    old=$(venv_mlflow 2.22.5) && campaign "MLflow 2.22.5" --real "${old%/*}/mlflow" --runs 12 --cuts 20 --rounds 1
fi
done_testing
