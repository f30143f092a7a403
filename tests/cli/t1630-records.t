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
refused() { for seconds in 1 5 20; do timeout -s INT $seconds "$BENCHWRAP" exporter send x --lines in | grep 'connection refused' && break; done; } # a busy machine may have made no attempt
like "nothing listens: the rest is not delivered, with the reason" "$(refused)" '^x: 0 lines delivered, 0 refused; the rest is not delivered: .*connection refused'

# ---- _bulk of Elasticsearch: an outcome for each document ----
mkdir "$WORK/b"
python3 "$TESTLIB/bulk-endpoint.py" "$WORK/b" 2>/dev/null &
bulk_pid=$!
finish_here() { kill $endpoint_pid $bulk_pid 2>/dev/null; wait $endpoint_pid $bulk_pid 2>/dev/null; tap_exit; }
wait_until '[ -e "$WORK/b/port" ]'
bulk=http://127.0.0.1:$(cat "$WORK/b/port")
stored() { jq -c '.[]' "$WORK/b/$1.json"; }
exporter "type: httpjson, url: '$bulk/{{stream}}/_bulk', bulk: yes, max-body: 20k"
is "bulk: every line is a document, in order" "$(send --lines in --stream plain) $(stored plain | cmp - in)" "x: 5000 lines delivered, 0 refused "
ok "... in requests of many, none longer than max-body" awk '$1 > 20480 || (NR < 10 && $2 < 50) { bad = 1 } END { exit bad }' "$WORK/b/requests"
is "... what is refused is named, and the others arrive" "$(send --lines mixed --stream mixed 2>err) $(stored mixed | cmp - <(grep -v bad mixed)) $(sed 's/was refused: the document has status 400: document_parsing_exception: failed to parse field .bad.$/refused/' err | tr '\n' ' ')" "x: 500 lines delivered, 2 refused  benchwrap: line 301 refused benchwrap: line 502 refused "
echo 2 >"$WORK/b/busy"
is "... documents that it has no time for come again, and none twice" "$(send --lines mixed --stream busy 2>/dev/null) $(stored busy | jq -s length)" "x: 500 lines delivered, 2 refused 500"
touch "$WORK/b/break"; head -n 100 in >few
is "... nor do those whose reply is lost" "$(send --lines few --stream lost) $(stored lost | cmp - few)" "x: 100 lines delivered, 0 refused "
is "... equal lines are documents of their own" "$(for i in 1 2 3; do echo '{"same":1}'; done | send --lines - --stream same) $(stored same | jq -s length)" "x: 3 lines delivered, 0 refused 3"
exporter "type: httpjson, url: '$url/bytes/x', bulk: yes"
no_outcome() { for seconds in 1 5 20; do timeout -s INT $seconds "$BENCHWRAP" exporter send x --lines few | grep 'address of _bulk' && break; done; }
like "... an address that names no outcomes delivers nothing" "$(no_outcome)" '^x: 0 lines delivered, 0 refused; the rest is not delivered: .*is this the address of _bulk'
exporter "type: httpjson, url: '$bulk/runs/_bulk', bulk: yes, wait: 60s"
"$BENCHWRAP" -q -e io -- true; id=$("$BENCHWRAP" show --json last | jq -r .id)
is "bulk: a run is a document with its id, once" "$("$BENCHWRAP" exporter send x last) $(jq -c "keys, (.[\"$id\"].experiment)" "$WORK/b/runs.json" | tr '\n' ' ')" "x: 1 of 1 run delivered [\"$id\"] \"io\" "
like "bulk and array exclude each other" "$(exporter "type: httpjson, url: '$bulk/a/_bulk', bulk: yes, array: yes"; "$BENCHWRAP" exporter list 2>&1)" 'bulk: expected neither array nor method: PUT'

done_testing
