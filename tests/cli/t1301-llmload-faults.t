#!/bin/sh
# llmload tells what went wrong, counts it, and ends accordingly; what was measured is never lost.
# early, because it waits long
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/llmfake.sh"

ended() # NAME EXPECTED-STATUS EXPECTED ARGUMENTS…: [completed, failed, endings]
{
    name=$1 status=$2 expected=$3
    shift 3
    "$LOAD" --url "$url" "$@" --json >"$WORK/out.json" 2>"$WORK/err"
    is "$name" "$? $(jq -c '[.completed, .failed, .endings]' "$WORK/out.json")" "$status $expected"
}

# One run with one fault each, all of one server at once: every request failed, so did the run.
llm_start "$FAKE" --itl 100us
faults='429:http_429 503:http_503 500:http_5xx 401:http_auth 404:http_4xx html:content_type in-band:in_band truncate:truncated close:closed reset:closed
    refuse:closed garbage:malformed bad-json:malformed huge:too_long empty:empty'
slow='stall:stalled hang:stalled drip:timeout'
pids=
for row in $faults; do
    "$LOAD" --url "$url/fault/${row%:*}/v1" -m fake -n 6 -c 2 --max-tokens 6 --json >"$WORK/${row%:*}.json" 2>/dev/null &
    pids="$pids $row=$!"
done
for row in $slow; do
    "$LOAD" --url "$url/fault/${row%:*}/v1" -m fake -n 2 -c 2 --max-tokens 6 --stall-timeout 300ms --ttft-timeout 800ms --json >"$WORK/${row%:*}.json" 2>/dev/null &
    pids="$pids $row=$!"
done
for row in $pids; do
    wait "${row#*=}"
    status=$? fault=${row%%:*} end=${row%=*} n=6 failed=6
    case $fault in stall | hang | drip) n=2 failed=2 ;; empty) failed=0 ;; esac # answers without text measure nothing
    is "fault $fault" "$status $(jq -c '[.completed, .failed, .endings]' "$WORK/$fault.json")" "1 [$((n - failed)),$failed,{\"${end#*:}\":$n}]"
done
ended 'short answers are counted' 0 '[6,0,{"ok":6}]' -n 6 -c 2 --path /fault/short/v1/chat/completions --max-tokens 10 --ignore-eos
is '  and told' "$(jq .tokens.short_answers "$WORK/out.json")" 6
ended 'llmfake answers a path with a query' 0 '[2,0,{"ok":2}]' -n 2 --max-tokens 2 --path '/v1/chat/completions?api-version=2'
like 'a fault is told to people too' "$("$LOAD" --url "$url/fault/in-band/v1" -m fake -n 3 --max-tokens 6)" '^llmload: no request succeeded: .*engine died in the middle'
ended 'an answer of one token fails in band' 1 '[0,2,{"in_band":2}]' -n 2 --max-tokens 1 --path /fault/in-band/v1/chat/completions
llm_stop

# A flood of mixed faults: the sum is right.
llm_start "$FAKE" --itl 50us --close --fault 503:0.2 --fault in-band:0.2 --fault reset:0.2 --fault garbage:0.1
"$LOAD" --url "$url" -n 400 -c 20 --max-tokens 6 --json >"$WORK/out.json" 2>/dev/null
is 'a mixture of faults: all are accounted for' "$? $(jq -c '[.completed + .failed, ([.endings[]] | add), (.failed > 200 and .failed < 340), (.endings | keys)]' "$WORK/out.json")" \
    '0 [400,400,true,["closed","http_503","in_band","malformed","ok"]]'
llm_stop

# llmfake's random choices are those of its seed: whoever asks, on which thread, and whatever else is asked. Times are drawn like faults.
cat >"$WORK/posts.py" <<'P'
import http.client, sys
for i in range(24):
    c = http.client.HTTPConnection(sys.argv[1].removeprefix("http://"))
    if sys.argv[2] == "more": c.request("GET", "/health"); c.getresponse().read()
    c.request("POST", "/v1/chat/completions", '{"max_tokens": 1}')
    print(c.getresponse().status, end=" ")
P
drawn() # OF-LLMFAKE OF-CLIENT
{
    # shellcheck disable=SC2086 # words
    llm_start "$FAKE" --fault 503:0.5 --ttft 1ms:1 $1
    python3 "$WORK/posts.py" "$url" "$2"
    llm_stop
}
five=$(drawn '--seed 5' alone)
is 'llmfake: the same seed, the same choices' "$(drawn '--threads 3 --seed 5' more)" "$five"
ok '  another seed, others' test "$(drawn '--seed 6' alone)" != "$five"

# The keep-alive race: the server closes after each answer though it promised not to.
llm_start "$FAKE" --close
"$LOAD" --url "$url" -n 300 -c 16 --max-tokens 3 --json >"$WORK/out.json" 2>/dev/null
is 'connections that were closed meanwhile cost no request' "$? $(jq -c '[.completed, .failed, .client.connections == 300]' "$WORK/out.json")" '0 [300,0,true]'
llm_stop

# For the servers below: a socket that listens, and the request that has come to a connection, b"" where it was closed.
cat >"$WORK/asked.py" <<'P'
import socket
def listen():
    s = socket.create_server(("127.0.0.1", 0))
    print(s.getsockname()[1], flush=True)
    return s
def asked(c):
    got = b""
    while b"\r\n\r\n" not in got or not got.endswith(b"}"):
        more = c.recv(65536)
        if not more:
            return b""
        got += more
    return got
P

# A kept connection that is closed without a reply: sent again, on a connection that has its own --connect-timeout, and counted once.
cat >"$WORK/closes.py" <<'P'
import time
from asked import asked, listen
s = listen()
body = b'{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}'
def answer(c):
    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
first, _ = s.accept()
asked(first), answer(first), asked(first)
time.sleep(1.6)
first.close()
second, _ = s.accept()
asked(second), answer(second)
s.close()
P
llm_start python3 "$WORK/closes.py"
"$LOAD" --url "$url" -m tiny -n 2 -c 1 --no-stream --connect-timeout 1500ms --json >"$WORK/out.json" 2>/dev/null
is 'closed without a reply after longer than --connect-timeout: asked again' "$? $(jq -c '[.completed, .failed, .client.reconnects, .client.connections]' "$WORK/out.json")" '0 [2,0,1,2]'
llm_stop

# The server's end comes with the answer's last bytes, and it keeps the socket without reading it any more, as llama.cpp's does.
cat >"$WORK/halves.py" <<'P'
import socket
from asked import asked, listen
s = listen()
body = b'{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}'
kept = []
while True:
    c, _ = s.accept()
    asked(c)
    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nKeep-Alive: timeout=5\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    c.shutdown(socket.SHUT_WR)
    kept.append(c)
P
llm_start python3 "$WORK/halves.py"
"$LOAD" --url "$url" -m tiny -n 30 -c 2 --no-stream --stall-timeout 20s --json >"$WORK/out.json" 2>/dev/null
is 'half closed after each answer: none goes out on such a connection' "$? $(jq -c '[.completed, .failed]' "$WORK/out.json")" '0 [30,0]'
llm_stop

# Compressed answers that nobody asked for: undone, or told, never counted as something else.
cat >"$WORK/coded.py" <<'P'
import gzip, zlib
from asked import asked, listen
s = listen()
text = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n' * 3 + b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
whole = gzip.compress(text)
bodies = {"gzip": ("gzip", whole), "deflate": ("deflate", zlib.compress(text)), "members": ("gzip", gzip.compress(text[:70]) + gzip.compress(text[70:])),
          "damaged": ("gzip", whole[:-8] + b"12345678"), "br": ("br", text), "busy": ("br", text), "bomb": ("gzip", gzip.compress(b'data: "' + bytes(40000000)))}
while True:
    c, _ = s.accept()
    got = asked(c)
    if not got: continue
    status = 503 if b"/busy/" in got else 200
    coding, body = bodies[got.split(b"/")[1].decode()]
    try: c.sendall(b"HTTP/1.1 %d X\r\nContent-Type: text/event-stream\r\nConnection: close\r\nContent-Encoding: " % status + coding.encode() + b"\r\n\r\n" + body)
    except OSError: pass # it may have heard enough
    c.close()
P
llm_start python3 "$WORK/coded.py"
for row in gzip:0:2,0:ok deflate:0:2,0:ok members:0:2,0:ok damaged:1:0,2:encoding br:1:0,2:encoding busy:1:0,2:http_503 bomb:1:0,2:too_long; do
    IFS=: read -r how status counts end <<-X
	$row
	X
    ended "compressed: $how" "$status" "[$counts,{\"$end\":2}]" -m tiny -n 2 --path "/$how/x"
done
llm_stop

# Heads and bodies at the edge of what is allowed.
cat >"$WORK/odd.py" <<'P'
import time
from asked import asked, listen
s = listen()
def event(delta, more="", finish="null"): return b'data: {"choices":[{"delta":{%s},"finish_reason":%s}]%s}\n\n' % (delta.encode(), finish.encode(), more.encode())
def usage(n): return ',"usage":{"prompt_tokens":3,"completion_tokens":%d}' % n
text, end, done = '"content":"a"', event("", finish='"stop"'), b"data: [DONE]\n\n"
plain = event(text) * 3 + end + done
sse = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
length = b"Content-Length: %d" % len(plain)
replies = {
    "lists": sse + length + b", %d\r\n\r\n" % (len(plain) + 1) + plain,
    "folded": sse + b"X-Long: a\r\n\tb c\r\n" + length + b"\r\n\r\n" + plain,
    "error": sse + b"\r\n" + event(text) * 2 + event("", finish='"error"') + done,
    "abort": sse + b"\r\n" + event(text, finish='"abort"'),
    "prefix": sse + b"Transfer-Encoding: chunked\r\n\r\n0x5\r\nabcde\r\n",
    "upgrade": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
    "moved": b"HTTP/1.1 307 X\r\nLocation: /v2\r\nContent-Length: 0\r\n\r\n",
    "cut": sse + b"\r\n" + plain[:100],
    "held": sse + b"\r\n" + event(text, usage(1)) + event('"content":""', usage(2)) + event(text, usage(3)) + event("", usage(3), '"stop"') + done,
    "total": sse + b"\r\n" + event(text) * 2 + event(text, usage(24), '"stop"'),
    "late": sse + b"\r\n" + event(text, finish='"stop"') + b"|" + done,
    "null": sse + b"\r\n" + event(text, finish='"null"') * 3,
    "late-hidden": sse + b"\r\n" + event(text) + b"|" + event(text) + b"|" + event("", ',"usage":{"completion_tokens":22,"completion_tokens_details":{"reasoning_tokens":20}}', '"stop"') + done,
    "late-shown": sse + b"\r\n" + event('"reasoning":"a"') + b"|" + event(text) + b"|" + event("", ',"usage":{"completion_tokens":5,"completion_tokens_details":{"reasoning_tokens":3}}', '"stop"') + done,
    "late-choices": sse + b"\r\n" + b"|".join(event(text).replace(b'{"delta"', b'{"index":%d,"delta"' % i) for i in (0, 1, 0, 1)) + event("", usage(4), '"stop"') + done,
    "whole": b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}',
    "thought": sse + b"\r\n" + event('"reasoning":"ab"') + event('"reasoning":"a","content":""') + event('"content":"ba"') + end + done,
}
while True:
    c, _ = s.accept()
    got = asked(c)
    if not got: continue
    if b"slow" in got: time.sleep(1.1)
    for piece in replies[got.split(b"/")[1].decode()].split(b"|"):
        c.sendall(piece)
        if b"late" in got: time.sleep(0.1)
    if b"upgrade" in got: c.recv(1)
    c.close()
P
llm_start python3 "$WORK/odd.py"
for row in error:1:0,2:in_band abort:1:0,2:in_band prefix:1:0,2:malformed lists:1:0,2:malformed folded:0:2,0:ok upgrade:1:0,2:http_other moved:1:0,2:http_other cut:1:0,2:truncated null:1:0,2:truncated; do
    IFS=: read -r how status counts end <<-X
	$row
	X
    ended "$how" "$status" "[$counts,{\"$end\":2}]" -m tiny -n 2 --path "/$how/x" --stall-timeout 30s
done
like 'a redirect: what to do' "$("$LOAD" --url "$url" -m tiny --path /moved/x -n 1 --json | jq -r .first_errors.http_other)" '307.*as --url'
figures() # WHAT CASE OPTIONS…
{
    what=$1 path=/$2/x
    shift 2
    "$LOAD" --url "$url" -m tiny --path "$path" -n 1 --json "$@" | jq -c "$what"
}
is 'tokens held back belong to the chunk that brings them' "$(figures '[.total_output_tokens, .max_output_tokens_per_s]' held/slow)" '[3,3]'
is 'a total in the last chunk is not of that chunk alone' "$(figures '[.total_output_tokens, .max_output_tokens_per_s]' total/slow)" '[24,3]'
is 'the end is the last text, not the end of the body' "$(figures '.metrics | .e2el.max == .ttft.max' late)" true
is 'reasoning that is counted and not sent is no part of the time per token' "$(figures '[.metrics | .tpot, .output_rate_per_user | .n, .max > 60]' late-hidden)" '[1,true,1,false]'
is '  reasoning that is sent is' "$(figures '.metrics | [.tpot.n, ((.e2el.max - .ttft.max) / .tpot.max - 4 | fabs < 0.1)]' late-shown)" '[1,true]' # 5 tokens
is 'several choices: no gap between their chunks is one between tokens' "$(figures '[.metrics | .ttft.n, .itl.n, .tpot.n, .ttst.n]' late-choices --goodput tpot:9999)" '[1,0,0,0]'
is '  nor is an objective of such gaps met, and a warning has the reason' "$(figures '[.goodput.good, (.warnings[] | select(test("choices")))]' late-choices --goodput itl:9999)" '[0,"1 answer has several choices: times between their tokens are left out"]'
is 'an answer in one piece where a stream was requested: a warning' "$(figures '[.metrics.ttft.n, (.warnings[] | select(test("stream")))]' whole)" '[0,"1 answer came in one piece, without a stream: no time of a first token"]'
printf '%s' '{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}}' >"$WORK/tok.json"
is 'a tokenizer counts thinking too' "$(figures '[.total_output_tokens, .tokens.output_source]' thought --tokenizer "$WORK/tok.json")" '[5,"tokenizer"]'
llm_stop

# No server, no name, wrong words.
url=http://127.0.0.1:9
ended 'nobody listens' 1 '[0,4,{"connect":4}]' -n 4 -c 2
like '  and why' "$(jq -r .first_errors.connect "$WORK/out.json")" 'refused'
"$LOAD" --url http://no-such-host.invalid/ -n 1 >"$WORK/out" 2>&1
is 'a name without address' "$?" 1
like '  and why' "$(cat "$WORK/out")" 'looking up no-such-host.invalid'
for bad in '--rate x' '--rate 5 --trace /dev/null' '--concurrency 3-' '--cancel 2@1s' '--slo nothing' '--url ftp://x' '--body [1]' '--goodput speed:3' '--no-stream --goodput tpot:9' '--turns 3 --api openai-completions' '--duration 0s' '-n 5 -c 0' '-n 5 -c 4@1s,0' '--rate 9 -n 5 -c 0' '--rate 1e9 -d 1s' '--rate 5 -n 999999999999' '-d 1s -c 0' '--arrivals constant -n 3' '--think 3s -n 1' '--cooldown 3s -n 1' '-n 1 --turns 4294967297' '--rate 0.5 -d 1s --search --goodput ttft:9'; do
    # shellcheck disable=SC2086 # words
    "$LOAD" --url "$url" $bad >"$WORK/out" 2>&1
    is "refused: $bad" "$? $(wc -l <"$WORK/out")" '125 1'
done
"$LOAD" --url "$url" -n 1 -H 'X-A: b' >"$WORK/out" 2>&1
is "a header of one's own" "$?" 1
like 'an address of another machine to come from' "$("$LOAD" --url "$url" -n 1 --source 192.0.2.1 2>&1)" 'source 192.0.2.1: .*Cannot assign'
(ulimit -n 100; "$LOAD" --url "$url" -c 5000 -n 5000) >"$WORK/out" 2>&1
is 'too few descriptors are told before the start' $? 1
like '  with the remedy' "$(cat "$WORK/out")" 'ulimit -n 5032'
"$LOAD" --url "$url" -c 500000 -n 500000 >"$WORK/out" 2>&1
like 'too few ports, or descriptors, for half a million' "$(cat "$WORK/out")" '--source|ulimit -n'

# Ended early: what was measured is printed.
llm_start "$FAKE" --ttft 1ms --itl 1ms
for row in TERM:15 USR1:10 INT:2; do
    signal=${row%:*}
    "$LOAD" --url "$url" -c 4 --duration 60s --max-tokens 5 --records "$WORK/$signal" --json >"$WORK/out.json" 2>/dev/null &
    pid=$!
    wait_until '[ -s "$WORK/$signal" ]' # a request has ended
    kill -"$signal" "$pid" 2>/dev/null || true
    wait "$pid"
    is "$signal: partial results, status 128 + n" "$? $(jq -c '[.completed > 0, .client.ended_early]' "$WORK/out.json")" "$((128 + ${row#*:})) [true,\"a signal\"]"
done
"$LOAD" --url "$url" -c 4 --duration 300s --max-tokens 5 --records "$WORK/records" --json >/dev/null 2>&1 &
pid=$!
wait_until '[ -s "$WORK/records" ]'
kill -9 "$pid"
wait "$pid" 2>/dev/null
is 'KILL: the records until then are there' "$(head -n 1 "$WORK/records" | jq -r .metadata.ending)" ok
"$LOAD" --url "$url" -q -n 3 --json >/dev/full 2>"$WORK/err"
is 'a full disk is noticed' "$? $(cat "$WORK/err")" '1 llmload: writing the result: No space left on device'
kill -9 "$server"
llm_stop

# A server that repeats the client's key and headers in its answers: no output holds them.
cat >"$WORK/echo.py" <<'END'
import http.server, json
class Echo(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    count = 0
    def log_message(self, *args): pass
    def reply(self):
        Echo.count += 1 # the words of every second reply are cut within the key
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        text = json.dumps({"error": {"message": "no key %s, %s%s%s" % (self.headers["Authorization"], self.headers["X-Key"], "." * (218 + Echo.count % 2 * 12), self.headers["X-Key"])}}).encode()
        self.send_response(401)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    do_GET = do_POST = reply
server = http.server.HTTPServer(("127.0.0.1", 0), Echo)
print("http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
END
mkfifo "$WORK/echo"
python3 "$WORK/echo.py" >"$WORK/echo" & server=$!
read -r url <"$WORK/echo"
echo plain-key-of-mine >"$WORK/key" && chmod 600 "$WORK/key"
echo 'X-Key: Token other-plain-value' >"$WORK/headers"
for arguments in "--json" "--details" "--wait-ready 1s" "--json --records $WORK/echoed --csv $WORK/echoed.csv"; do
    # shellcheck disable=SC2086 # words
    "$LOAD" --url "$url" -m m -n 2 --key-file "$WORK/key" -H "@$WORK/headers" $arguments >>"$WORK/said" 2>&1
done
"$LOAD" --url "$url" -H 'X-Key plain-key' >>"$WORK/said" 2>&1
like 'a header without a colon is not repeated' "$(tail -n 1 "$WORK/said")" '^llmload: --header: expected "Name: value", got a text without a colon$'
like 'a server repeats secrets: its words are shown' "$(cat "$WORK/said")" 'no key Bearer \*{17}, Token? ?\*+|no key Bearer \*{17}'
is '… and the secrets are not, complete or cut' "$(cat "$WORK/said" "$WORK/echoed" "$WORK/echoed.csv" | grep -cE 'plain-key|other-plain|other-p')" 0
kill "$server"
done_testing
