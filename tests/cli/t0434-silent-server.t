#!/bin/bash
# sanitizer: long, because a server that does not answer is what is waited for
# A server that accepts connections and never answers, falls silent, or drips: neither the start nor the end of a job waits for it, and no command hangs.
. "$(dirname "$0")/../lib/tap.sh"
fault=$BUILD/tests/server/fault-server
[ -x "$fault" ] || { skip "silent servers" "libmicrohttpd is not installed"; done_testing; exit; }
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
cat >server.py <<'P'
import socket, sys, threading, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(64)
print(s.getsockname()[1], flush=True)
held = []
def drip(c):
    try:
        c.recv(65536)
        for b in b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{" + b" " * 99999:
            c.send(bytes([b]))
            time.sleep(1)
    except OSError:
        pass
while True:
    c = s.accept()[0]
    held.append(c)
    if sys.argv[1] == "drip":
        threading.Thread(target=drip, args=(c,), daemon=True).start()
P
serve() # KIND: sets $url
{
    python3 server.py "$1" >"port-$1" &
    servers="$servers $!"
    port_file=port-$1
    wait_until '[ -s "$port_file" ]'
    url=http://127.0.0.1:$(cat "$port_file")
}
serve drip
drip=$url
(
    begin=$(date +%s)
    timeout 200 "$BENCHWRAP" pull "$drip" x >pull.out 2>&1
    echo "$? $(($(date +%s) - begin))" >pull.rc
) &
pulling=$!
(
    "$BENCHWRAP" -q --tree dripped -e x -- true
    begin=$(date +%s)
    timeout 200 "$BENCHWRAP" sync --tree dripped --to "$drip" >sync.out 2>&1
    echo "$? $(($(date +%s) - begin))" >sync.rc
) &
syncing=$!
serve silent

run_ms() # [OPTION…]: how long the run takes, in ms; its words are in err
{
    begin=$(date +%s%N)
    "$BENCHWRAP" -e x "$@" 2>err >out
    echo $((($(date +%s%N) - begin) / 1000000))
}
fastest() # OPTION…: of runs in turn without a server ($alone) and with it ($asked), until they agree: the fastest are no matter of the machine's load
{
    asked=99999
    for _ in 1 2 3 4 5 6 7 8; do
        alone=$({ echo "$alone"; run_ms -- true; } | sort -n | head -n 1)
        asked=$({ echo "$asked"; MLFLOW_TRACKING_URI=$url run_ms "$@"; } | sort -n | head -n 1)
        [ "$asked" -ge $((1500 + 3 * alone)) ] || break
    done
}
alone=99999
fastest -- true
ok "a silent server delays the end by about 0.3 s ($asked ms; without a server $alone ms)" test "$asked" -lt $((1500 + 3 * alone))
like "it is reported" "$(cat err)" "! not sent yet to $url: no answer within 0.3 s; a background process keeps trying"
like "… with what to do" "$(cat err)" "the run is complete in .*; what has not arrived is sent by: benchwrap sync$"
like "… and how to see whether it arrived" "$(cat err)" "once it has arrived, benchwrap show prints its link"
is "… it has none yet" "$("$BENCHWRAP" show | grep -c "^Server ")" 0
fastest --share-run -- sh -c 'echo "$MLFLOW_TRACKING_URI"'
ok "with --share-run start and end together ($asked ms)" test "$asked" -lt $((1500 + 3 * alone))
like "the program gets a private store" "$(cat out)" '^file:///'
asked=$(MLFLOW_TRACKING_URI=$url run_ms --finish-wait 3s -- true)
ok "who sets --finish-wait waits as long for the server ($asked ms)" test "$asked" -ge 2500

# ---- one that answered, and falls silent while the program runs ----
"$fault" >fault.port &
servers="$servers $!"
wait_until '[ -s fault.port ]'
url=http://127.0.0.1:$(sed 's/port //' fault.port)
cat >slow <<'P'
sleep 3
curl -s -d '* 1- hang 60' "$1/fault/script"
sleep 1
date +%s%N >ended
P
for _ in 1 2 3 4; do
    wait_until idle && rm -rf fallen
    MLFLOW_TRACKING_URI=$url run_ms --tree fallen -- sh slow "$url" >/dev/null
    asked=$((($(date +%s%N) - $(cat ended)) / 1000000))
    [ $asked -ge $((1500 + 3 * alone)) ] || break
    curl -s -d '' "$url/fault/script"
done
ok "one that falls silent delays the end as little ($asked ms)" test "$asked" -lt $((1500 + 3 * alone))
curl -s -d '' "$url/fault/script"
ok "sync completes the run" timeout 300 "$BENCHWRAP" sync --to "$url" --tree fallen
wait_until '! pgrep -f -- "--send finish .*$WORK"'
is "the process in the background ends" "$(pgrep -fc -- "--send finish .*$WORK")" 0
like "and it is there once" "$("$BENCHWRAP" sync --to "$url" --tree fallen)" ": nothing to send, 1 run up to date$"
like "show has the link of the server" "$("$BENCHWRAP" show --tree fallen)" "^Server +$url/#/experiments/[0-9]+/runs/[0-9a-f]{32}$"
like "… with --all too" "$("$BENCHWRAP" show --all --tree fallen)" "^server +$url/#/experiments/[0-9]+/runs/[0-9a-f]{32}$"
there=$("$BENCHWRAP" show --tree fallen | sed -n 's|^Server.*/runs/||p')
here=$("$BENCHWRAP" show --json --tree fallen | jq -r .id)
is "… and the server's id finds the run" "$("$BENCHWRAP" show --json --tree fallen "$there" 2>named | jq -r .id)" "$here"
like "… which is said" "$(cat named)" "^benchwrap: the server's run $there is $(echo "$here" | cut -c 1-8) in "
like "… so does its beginning, in every command" "$("$BENCHWRAP" compare --tree fallen "$(echo "$there" | cut -c 1-10)" "$here" 2>&1)" '^A +[0-9a-f]{8} .*base$'
curl -s -d '* 1- close' "$url/fault/script"
like "one that closes the connection may have the run" "$(MLFLOW_TRACKING_URI=$url "$BENCHWRAP" -e x -- true 2>&1)" "! not confirmed by $url: the server closed the connection without an answer"
curl -s -d '' "$url/fault/script"

# ---- one that drips a byte a second ----
wait $pulling $syncing
read -r rc seconds <pull.rc
ok "pull from a server that drips ends ($seconds s)" test "$seconds" -lt 100
is "… with a status" "$rc" 1
like "… the reason" "$(cat pull.out)" "the reply came slower than 1 KiB/s for 15 s"
like "… and a next step" "$(cat pull.out)" "^hint: check the server or the proxy before it, then repeat the command"
read -r rc seconds <sync.rc
ok "sync to one that drips ends ($seconds s)" test "$seconds" -lt 100
is "… with a status" "$rc" 2
like "… and a next step" "$(cat sync.out)" "hint: check the server or the proxy before it, then repeat the command"
done_testing
