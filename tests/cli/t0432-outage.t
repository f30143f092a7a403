#!/bin/bash
# A server that misbehaves while a program runs: the program's output, start, end and status are its own in every case, the wait at the end is
# bounded, one sentence says what became of the run, and the next sync completes it, once.
# sanitizer: long, because a real server is what is waited for; the client's unit tests walk the same code
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/doc.sh"
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
[ -n "${BENCHWRAP_LONG:-}" ] || kinds='hang_60 slow reset garbage 401 404-json 413 429_3600 500-html 503 html cut-body huge after-reset -hang_60 -after-reset'

folder() { echo "$WORK/run-$1" | sed 's,\(/run-.*\)://,\1-,'; } # KIND
one() # FOLDER [SERVER]
{
    date +%s%N >"$1/asked"
    env -u http_proxy -u https_proxy ${2:+MLFLOW_TRACKING_URI="$2"} "$BENCHWRAP" --finish-wait 3s --tree "$1/mlruns" -e outage -- sh "$WORK/program" "$1" >"$1/out" 2>"$1/err"
    echo $? >"$1/rc"
    date +%s%N >"$1/done"
}
n=0
for kind in $kinds; do
    dir=$(folder "$kind")
    mkdir "$dir"
    case $kind in -*) echo "* 3- ${kind#-}" ;; *) echo "* 1- $kind" ;; esac | tr _ ' ' >"$dir/script"
    "$fault" --script "$dir/script" >"$dir/port" &
    servers="$servers $!"
    wait_until '[ -s "$dir/port" ]'
    if [ $((n % 4)) = 0 ]; then # at the same moment one that knows no server
        mkdir "$WORK/alone-$n"
        one "$WORK/alone-$n" &
        waiting=$!
    fi
    one "$dir" "http://127.0.0.1:$(sed 's/port //' "$dir/port")" &
    waiting="$waiting $!"
    n=$((n + 1))
    # shellcheck disable=SC2086 # numbers
    [ $((n % 4)) != 0 ] || wait $waiting
done
# shellcheck disable=SC2086 # numbers
wait $waiting

ms() { echo $((($(cat "$1/$3") - $(cat "$1/$2")) / 1000000)); } # FOLDER FROM UNTIL
middle_ms() # FROM UNTIL KIND…
{
    from=$1 until=$2
    shift 2
    for kind in "$@"; do ms "$(folder "$kind")" "$from" "$until"; done | sort -n | sed -n "$((($# + 1) / 2))p"
}
slowest_ms() # FROM UNTIL: of those that know no server
{
    for dir in "$WORK"/alone-*; do ms "$dir" "$1" "$2"; done | sort -n | tail -n 1
}

# What a server may cost is bounded beside programs that ran at the same time without one: a machine that is far behind makes both wait. One program
# may be unlucky; half of them are not.
begin=$(slowest_ms asked began) end=$(slowest_ms ended "done")
# shellcheck disable=SC2086 # words
{
    half=$(middle_ms asked began $kinds)
    ok "programs begin as without a server (half within $half ms; without within $begin ms)" test "$half" -lt $((2000 + 2 * begin))
    half=$(middle_ms ended "done" $kinds)
    ok "the wait at the end is that of --finish-wait (half within $half ms; without a server $end ms)" test "$half" -lt $((3000 + 2000 + 2 * end))
}
for kind in $kinds; do
    dir=$(folder "$kind")
    is "$kind: output and status are the program's" "$(cat "$dir/rc") $(od -An -c "$dir/out") $(grep -c '^to stderr$' "$dir/err")" \
        "7 $(printf 'to stdout\n\033[31m without an end' | od -An -c) 1"
    ok "$kind: it begins at once ($(ms "$dir" asked began) ms)" test "$(ms "$dir" asked began)" -lt $((8000 + 3 * begin))
    ok "$kind: the wait at the end is bounded ($(ms "$dir" ended "done") ms)" test "$(ms "$dir" ended "done")" -lt $((3000 + 8000 + 3 * end))
    is "$kind: it is in the tree" "$(find "$dir/mlruns" -mindepth 2 -maxdepth 2 -name '????????????????????????????????' | wc -l)" 1
    is "$kind: one sentence says what became of it" "$(grep -cE '(it is kept.*"|send it later: )benchwrap sync' "$dir/err")" 1 # of the server, or, far behind, of the record
    is "$kind: nothing of the server's reaches the terminal raw" "$(LC_ALL=C grep -c "$(printf '\033')" "$dir/err")" 0
done

# ---- the outage is over ----

for kind in $kinds; do
    dir=$(folder "$kind")
    uri=http://127.0.0.1:$(sed 's/port //' "$dir/port")
    curl -s -d '' "$uri/fault/script"
    ok "$kind: sync completes it" "$BENCHWRAP" sync --to "$uri" --tree "$dir/mlruns"
    if [ -n "$python" ] && case $kind in *after* | -*) true ;; *) long_tests ;; esac; then
        ok "$kind: once, and equal" "$python" "$ROOT/tests/mlruns/compare_server.py" "$dir/mlruns" "$uri"
    fi
done
[ -n "$python" ] || skip "comparing fact by fact" "MLflow's virtual environment cannot be made"

# The page's own words: sent, not sent, and later.
"$fault" --idle 600 >"$WORK/howto.port" & servers="$servers $!"
wait_until '[ -s "$WORK/howto.port" ]'
read -r _ port <"$WORK/howto.port"
doc_here() { doc_places "$1" http://tracking.example.org:5000 "http://127.0.0.1:$port"; }
export PATH="$(dirname "$BENCHWRAP"):$PATH"
mkdir "$WORK/howto" && cd "$WORK/howto" || exit
doc_follow howto-server.md "Send runs while they run"
doc_follow howto-server.md "Send runs later"
done_testing
