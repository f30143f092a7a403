#!/bin/sh
# llmload against a service in Python (mockllm on uvicorn): framing and closing of another family of servers than llama.cpp's. Its answers are counted
# by Python's own HTTP client too.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/llmfake.sh"
cd "$WORK" || exit
if ! python=$(venv_python mockllm 900 mockllm==0.0.8); then
    skip "mockllm is measured" "$python"
    done_testing
    exit
fi
printf 'responses:\n  "hello": "one two three four"\ndefaults:\n  unknown_response: "no such words"\nsettings:\n  lag_enabled: false\n' >responses.yml
port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
"${python%/*}/mockllm" start --responses responses.yml --host 127.0.0.1 --port "$port" >mock.log 2>&1 &
llm_pids="$llm_pids $!"
url=http://127.0.0.1:$port
wait_until 'curl -s -o /dev/null "$url/"' 120
ok "it listens" curl -s -o /dev/null "$url/"
cat >count.py <<'P'
import json, sys, urllib.request
body = {"model": "gpt-4", "messages": [{"role": "user", "content": "hello"}], "stream": True, "max_tokens": 128, "stream_options": {"include_usage": True}}
with urllib.request.urlopen(urllib.request.Request(sys.argv[1] + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})) as reply:
    events = [json.loads(line[5:]) for line in reply if line.startswith(b"data:") and b"[DONE]" not in line]
print(sum(1 for e in events for c in e["choices"] if c["delta"].get("content")))
P
chunks=$(python3 count.py "$url")
ok "its answer has several pieces" [ "${chunks:-0}" -gt 1 ]
for c in 1 6; do
    timeout 600 "$LOAD" --url "$url" -m gpt-4 -p hello -c $c -n 60 --json -q >out.json 2>err
    is "streamed, $c at a time: every piece of every answer" "$? $(jq -c '[.completed, .failed, .tokens.chunks, .total_output_tokens, .tokens.output_source]' out.json)" "0 [60,0,$((60 * chunks)),$((60 * chunks)),\"chunks\"]"
    timeout 600 "$LOAD" --url "$url" -m gpt-4 -p hello -c $c -n 60 --no-stream --json -q >out.json 2>err
    is "in one piece, $c at a time: its own counts" "$? $(jq -c '[.completed, .failed, .total_output_tokens, .tokens.output_source]' out.json)" '0 [60,0,240,"usage"]'
done
timeout 600 "$LOAD" --url "$url" --api openai-completions -n 3 --json -q >out.json 2>err
is "what it does not have is refused by it" "$? $(jq -c '[.completed, .failed, .endings]' out.json)" '1 [0,3,{"http_4xx":3}]'
done_testing
