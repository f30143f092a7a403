#!/bin/sh
# t1335: llmload's agent and other users of the machine: without the token they start, read and stop nothing.
# sanitizer: long, because a Python server answers
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/users.sh"
users_required "llmload's agents and other users"
. "$TESTLIB/llm.sh"
cd "$WORK" || exit 1
for tool in jq curl; do command -v $tool >/dev/null || { skip "llmload's agents" "$tool is not installed"; done_testing; exit; }; done
mkdir program
cp "$LLMLOAD" program/llmload
chmod -R a+rX program
LLMLOAD=$WORK/program/llmload
mine() { as_alice curl -s -m 20 -K "$HOMES/alice/curl" "$@"; }

llm_server
# shellcheck disable=SC2016 # the shell of alice
as_alice sh -c 'echo $$ >"$HOME/pid"; exec "$0" agent --listen 127.0.0.1:0 --port-file "$HOME/port" 2>"$HOME/err"' "$LLMLOAD" &
llm_wait "$HOMES/alice/pid"
pid=$(cat "$HOMES/alice/pid")
llm_pids="$llm_pids $pid"
if ! llm_wait "$HOMES/alice/port"; then
    skip "llmload's agents" "$(cat "$HOMES/alice/err")"
    done_testing
    exit
fi
agent=http://127.0.0.1:$(cat "$HOMES/alice/port")
token=$HOMES/alice/.config/llmload/agent-token
is "the token is alice's alone" "$(stat -c '%U %a' "$token")" "alice 600"
# shellcheck disable=SC2016
as_alice sh -c 'umask 077; printf "header = \"Authorization: Bearer %s\"\n" "$(cat "$0")" >"$HOME/curl"' "$token"
is "alice steers her agent" "$(mine "$agent/status" | jq -r .state)" idle

# ---- bob listens where alice expects her agent ----
cat >listen.py <<'END'
import hashlib, hmac, socket, sys
# listen.py PORT-FILE GOT-FILE [PORT]: keeps what a leader sends; with PORT it passes the requests on to the agent there
server = socket.create_server(("127.0.0.1", 0))
server.settimeout(60)
open(sys.argv[1], "w").write(str(server.getsockname()[1]))
while True:
    leader = server.accept()[0]
    leader.settimeout(60)
    try:
        request = leader.recv(65536)
        open(sys.argv[2], "ab").write(request)
        if len(sys.argv) > 3:
            agent = socket.create_connection(("127.0.0.1", int(sys.argv[3])))
            agent.sendall(request)
            leader.sendall(agent.recv(65536))
        else:
            leader.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 44\r\n\r\n" + b'{"at":"127.0.0.1 1","signature":"","host":1}')
    except OSError:
        pass
    leader.close()
END
chmod a+r listen.py
for way in "" "$(cat "$HOMES/alice/port")"; do
    rm -f "$HOMES/bob/port" "$HOMES/bob/got"
    # shellcheck disable=SC2086 # none or one
    as_bob "${PYTHON:-/usr/bin/python3}" "$WORK/listen.py" "$HOMES/bob/port" "$HOMES/bob/got" $way >/dev/null 2>&1 & listener=$!
    llm_pids="$llm_pids $listener"
    llm_wait "$HOMES/bob/port"
    as_alice timeout 120 "$LLMLOAD" "$url" -m m -n 2 -H 'X-Secret: of-alice' --agents "127.0.0.1:$(cat "$HOMES/bob/port")" --agent-wait 2s >said 2>&1
    is "bob listens${way:+ and passes on}: the leader refuses" "$?" 1
    like "… and says why" "$(cat said)" "$([ "$way" ] && echo "passes requests on to 127.0.0.1 $way" || echo 'no agent that knows the token')"
    is "… and bob has neither token nor load" "$(grep -c -e "$(cat "$token")" -e of-alice "$HOMES/bob/got"; grep -aE '^(GET|POST) ' "$HOMES/bob/got" | grep -vc /hello)" "0
0"
    kill "$listener"
done
is "the signature is HMAC-SHA-256" "$(python3 - "$token" "$HOMES/bob/got" <<'END'
import hashlib, hmac, re, sys
token = open(sys.argv[1], "rb").read().strip()
nonce, signature = re.search(rb"Authorization: Llmload (\w{32}) (\w{64})", open(sys.argv[2], "rb").read()).groups()
parts = [b"request", nonce, b"", b"GET", b"/hello", b""]
print(hmac.new(token, b"".join(b"%d:%s" % (len(p), p) for p in parts), hashlib.sha256).hexdigest().encode() == signature)
END
)" True
stolen=$(sed -n 's/^Authorization: \([^\r]*\).*/\1/p' "$HOMES/bob/got" | head -n 1 | tr -d '\r')
for path in status start stop health; do
    is "bob's copy of a signature opens no /$path" "$(as_bob curl -s -o /dev/null -w '%{http_code}' -m 5 -H "Authorization: $stolen" "$agent/$path")" 401
done

asked() # every request of a stranger, with all that a stranger can send
{
    body="{\\\"args\\\":[\\\"--url=$url\\\",\\\"--requests=1\\\",\\\"--records=$HOMES/alice/got\\\"],\\\"end\\\":true}"
    for path in /health /status /metrics /metrics/prometheus /start /stop / /nothing; do
        common="url = \"$agent$path\"\noutput = /dev/null\nwrite-out = \"%%{http_code}\\\\n\"\nmax-time = 20\n"
        for method in GET POST PUT DELETE OPTIONS; do
            # shellcheck disable=SC2059
            printf "${common}request = $method\ndata = \"%s\"\nnext\n" "$body"
        done
        # shellcheck disable=SC2059
        printf "${common}head\nnext\n"
        for header in "Authorization: Bearer" "Authorization: Bearer  " "Authorization: Bearer 00000000000000000000000000000000" "Authorization: Basic YWxpY2U6" "Authorization: bearer" "Cookie: token=1" "X-Forwarded-For: 127.0.0.1"; do
            # shellcheck disable=SC2059
            printf "${common}header = \"%s\"\nnext\n" "$header"
        done
    done | sed '$d' >curl-all
    chmod 644 curl-all
    as_carol curl -s -K curl-all
}
asked >codes
is "a stranger: $(wc -l <codes) requests, all refused" "$(sort codes | uniq -c | sed 's/^ *//')" "$(wc -l <codes) 401"
is "nothing was started" "$(mine "$agent/status" | jq -r .state)" idle
is "a stranger cannot read the token" "$(as_carol cat "$token" "$HOMES/alice/err" "/proc/$pid/environ" 2>/dev/null)" ""
like "a stranger's coordinator is refused" "$(as_carol timeout 300 "$LLMLOAD" --agents "${agent#http://}" --url "$url" -n 1 2>&1)" "the agent has another token"
mine -d "{\"args\":[\"--url=$url\",\"--duration=60s\",\"--concurrency=1\"]}" "$agent/start" >/dev/null
wait_until '[ "$(mine "$agent/status" | jq -r .state)" = running ]'
asked >codes
is "while a load runs: nothing is read" "$(sort codes | uniq -c | sed 's/^ *//')" "$(wc -l <codes) 401"
is "and nothing is stopped" "$(mine "$agent/status" | jq -r .state)" running
is "the load has no token in its environment" "$(for p in $(cat "/proc/$pid"/task/*/children); do tr '\0' '\n' <"/proc/$p/environ" | grep -c LLMLOAD_TOKEN; done)" 0
is "no core dump would hold the token" "$(awk '/^Max core file size/ { print $5, $6 }' "/proc/$pid/limits") $(stat -c %U "/proc/$pid/environ")" "0 0 root"
mine -d '' "$agent/stop" >/dev/null

# What a stranger plants where alice keeps a token.
as_carol sh -c 'umask 077; echo 00000000000000000000000000000000 >"$0"/closed; umask 022; echo 00000000000000000000000000000000 >"$0"/open; ln -s "$1" "$0"/dangling' "$STICKY" "$HOMES/alice/planted"
for planted in closed open dangling; do
    as_alice timeout 120 "$LLMLOAD" agent --listen 127.0.0.1:0 --token-file "$STICKY/$planted" >said 2>&1
    is "a token file that a stranger planted is refused: $planted" "$?" 1
done
is "nothing was created through the link" "$(ls "$HOMES/alice/planted" 2>/dev/null)" ""
done_testing
