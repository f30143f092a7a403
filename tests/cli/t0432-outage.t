#!/bin/bash
# A server that misbehaves while a program runs: the program's output, start, end and status are its own in every case, the wait at the end is
# bounded, one sentence says what became of the run, and the next sync completes it, once.
# sanitizer: long, because a real server is what is waited for; the client's unit tests walk the same code
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
fault=$BUILD/tests/server/fault-server
[ -x "$fault" ] || { skip "programs under outages" "libmicrohttpd is not installed"; done_testing; exit; }
python=$(venv_mlflow 3.17.2) || python=
servers=

finish()
{
    # shellcheck disable=SC2086 # numbers
    [ -z "$servers" ] || kill $servers 2>/dev/null
    wait 2>/dev/null
    tap_exit
}
trap finish EXIT
cd "$WORK" || exit
cat >program <<'P'
date +%s%N >"$1/began"
printf 'to stdout\n\033[31m without an end'
echo 'to stderr' >&2
sleep 1.5
date +%s%N >"$1/ended"
exit 7
P

# Every request meets the fault; those after "-" only from the third on: the sender has made its run by then.
kinds='hang_60 slow close reset half-head garbage 401 403-host 403 404 404-json 405 409 413 429_3600 500-json 500-html 500-state 501 502 503 504
    html empty cut-json cut-body bad-chunk huge bomb_100 redirect_307_http://127.0.0.1:1 after-close after-reset after-500-html
    -hang_60 -reset -503 -after-reset -html -401'
[ -n "${BENCHWRAP_LONG:-}" ] || kinds='hang_60 slow reset garbage 401 404 413 429_3600 500-html 503 html cut-body huge after-reset -hang_60 -after-reset'

one() # KIND: in a folder of that name
{
    dir=$WORK/run-$1
    uri=http://127.0.0.1:$(sed 's/port //' "$dir/port")
    date +%s%N >"$dir/asked"
    env -u http_proxy -u https_proxy MLFLOW_TRACKING_URI="$uri" "$BENCHWRAP" --finish-wait 3s --tree "$dir/mlruns" -e outage -- sh "$WORK/program" "$dir" >"$dir/out" 2>"$dir/err"
    echo $? >"$dir/rc"
    date +%s%N >"$dir/done"
}
n=0
for kind in $kinds; do
    dir=$WORK/run-$kind
    mkdir "$dir"
    case $kind in -*) echo "* 3- ${kind#-}" ;; *) echo "* 1- $kind" ;; esac | tr _ ' ' >"$dir/script"
    "$fault" --script "$dir/script" >"$dir/port" &
    servers="$servers $!"
    for _ in $(seq 100); do [ -s "$dir/port" ] && break; sleep 0.02; done
    one "$kind" &
    waiting="${waiting:-} $!"
    n=$((n + 1))
    # shellcheck disable=SC2086 # numbers
    [ $((n % 4)) != 0 ] || { wait $waiting; waiting=; }
done
# shellcheck disable=SC2086 # numbers
[ -z "$waiting" ] || wait $waiting

ms() { echo $((($(cat "$1/$3") - $(cat "$1/$2")) / 1000000)); } # FOLDER FROM UNTIL
for kind in $kinds; do
    dir=$WORK/run-$kind
    is "$kind: output and status are the program's" "$(cat "$dir/rc") $(od -An -c "$dir/out") $(grep -c '^to stderr$' "$dir/err")" \
        "7 $(printf 'to stdout\n\033[31m without an end' | od -An -c) 1"
    # Bounds for a machine with thirty times more to do than processors; what waits for the server waits for a minute at least.
    ok "$kind: it begins at once ($(ms "$dir" asked began) ms)" test "$(ms "$dir" asked began)" -lt 30000
    ok "$kind: the wait at the end is bounded ($(ms "$dir" ended "done") ms)" test "$(ms "$dir" ended "done")" -lt 45000
    is "$kind: it is in the tree" "$(find "$dir/mlruns" -mindepth 2 -maxdepth 2 -name '????????????????????????????????' | wc -l)" 1
    is "$kind: one sentence says what became of it" "$(grep -c 'retry with "benchwrap sync"' "$dir/err")" 1
    is "$kind: nothing of the server's reaches the terminal raw" "$(LC_ALL=C grep -c "$(printf '\033')" "$dir/err")" 0
done

# ---- the outage is over ----

for kind in $kinds; do
    dir=$WORK/run-$kind
    uri=http://127.0.0.1:$(sed 's/port //' "$dir/port")
    curl -s -d '' "$uri/fault/script"
    ok "$kind: sync completes it" "$BENCHWRAP" sync --to "$uri" --tree "$dir/mlruns"
    if [ -n "$python" ] && case $kind in *after* | -*) true ;; *) long_tests ;; esac; then
        ok "$kind: once, and equal" "$python" "$ROOT/tests/mlruns/compare_server.py" "$dir/mlruns" "$uri"
    fi
done
[ -n "$python" ] || skip "comparing fact by fact" "MLflow's virtual environment cannot be made"
done_testing
