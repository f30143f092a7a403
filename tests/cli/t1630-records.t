#!/bin/bash
# Records that are no runs: lines of a file reach a file, a socket and an HTTP endpoint, in order, and what is refused is named.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
export BENCHWRAP_FINISH_WAIT=60s # a busy machine finishes a record later
config=$HOME/.config/benchwrap/config.yaml
mkdir -p "$(dirname "$config")" "$WORK/d" "$WORK/e" && cd "$WORK/d" || exit 1
python3 "$TESTLIB/http-endpoint.py" "$WORK/e" 2>/dev/null &
endpoint_pid=$!
finish_here() { kill $endpoint_pid 2>/dev/null; wait $endpoint_pid 2>/dev/null; tap_exit; }
trap finish_here EXIT
wait_until '[ -e "$WORK/e/port" ]'
url=http://127.0.0.1:$(cat "$WORK/e/port")
got=$WORK/e/got.jsonl
exporter() { printf 'exporters:\n- {name: x, %s}\n' "$1" >"$config"; rm -f "$got"; }
send() { "$BENCHWRAP" exporter send x "$@"; }
records() { seq "$1" | sed 's/.*/{"n":&,"text":"line & of a log"}/'; }

records 5000 >in
exporter "type: jsonl, file: $WORK/out.jsonl"
is "lines to a file" "$(send --lines in)" "x: 5000 lines delivered, 0 refused"
ok "... as they were" cmp in "$WORK/out.jsonl"
is "of a pipe, with blank lines" "$(printf '\n{"a":1}\n\n{"b":2}' | send --lines - --json) $(tail -n 2 "$WORK/out.jsonl" | tr '\n' ' ')" '{"exporter": "x", "delivered": 2, "refused": 0, "why": ""} {"a":1} {"b":2} '
printf '{"n":1' >>"$WORK/out.jsonl"
echo '{"n":2}' | send --lines - >/dev/null
is "what a kill cut is removed" "$(tail -n 2 "$WORK/out.jsonl" | tr '\n' ' ')" '{"b":2} {"n":2} '
like "a line that is no JSON object is named" "$(printf '{"a":1}\n\n[3]\n' | send --lines - 2>&1)" 'line 3: expected a JSON object'
like "... or no JSON" "$(printf '{"a":1}\n{"a":\n' | send --lines - 2>&1)" '-: line 2: '

exporter "type: httpjson, url: '$url/array/{{stream}}', array: yes, max-body: 20k"
is "lines to an endpoint, as arrays" "$(send --lines in --stream 'a b')" "x: 5000 lines delivered, 0 refused"
is "... each once, in order, to the stream" "$(jq -c '.body[]' "$got" | cmp - <(jq -c . in); jq -r .path "$got" | sort -u)" "/array/a%20b"
ok "... none is longer than max-body" [ "$(jq '.headers."content-length" | tonumber' "$got" | sort -n | tail -n 1)" -le 20480 ]
exporter "type: httpjson, url: '$url/refuse/bad', array: yes"
{ records 300; echo '{"bad":1}'; records 200; echo '{"bad":2}'; } >mixed
is "two bad records among 502: both are found and named, the others arrive" "$(send --lines mixed 2>err) $(jq -c '.body[]' "$got" | cmp - <(grep -v bad mixed | jq -c .)) $(sed 's/was refused.*status 400.*/refused/' err | tr '\n' ' ')" "x: 500 lines delivered, 2 refused  benchwrap: line 301 refused benchwrap: line 502 refused "
is "... status 1" "$(send --lines mixed >/dev/null 2>&1; echo $?)" 1
exporter "type: httpjson, url: '$url/first/503/1/x', array: yes"
is "an endpoint that is overloaded gets them later" "$(send --lines in) $(jq '.body | length' "$got" | jq -s add)" "x: 5000 lines delivered, 0 refused 5000"
exporter "type: httpjson, url: 'http://127.0.0.1:9/'"
refused() { for seconds in 1 5 20; do timeout -s INT $seconds "$BENCHWRAP" exporter send x --lines in | grep refused: && break; done; } # a busy machine may have made no attempt
like "nothing listens: the rest is not delivered, with the reason" "$(refused)" '^x: 0 lines delivered, 0 refused; the rest is not delivered: .*connection refused'

done_testing
