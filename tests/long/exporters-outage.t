#!/bin/bash
# An outage of every endpoint during 100 runs, then recovery: every run arrives at every destination, once, and none waited for the outage.
# sanitizer: no, because it waits for a hundred runs; t0461, t1600 and t1602 walk the same code
. "$(dirname "$0")/../lib/tap.sh"
config=$HOME/.config/benchwrap/config.yaml
mkdir -p "$(dirname "$config")" "$WORK/d" "$WORK/e" "$WORK/z" "$WORK/s" && cd "$WORK/d" || exit 1
pids=
finish_here() { kill $pids 2>/dev/null; wait 2>/dev/null; tap_exit; }
trap finish_here EXIT
for one in http-endpoint:e azure-endpoint:z sns-endpoint:s; do
    python3 "$TESTLIB/${one%:*}.py" "$WORK/${one#*:}" 2>/dev/null &
    pids="$pids $!"
done
wait_until '[ -e "$WORK/e/port" ] && [ -e "$WORK/z/port" ] && [ -e "$WORK/s/port" ]'
export AWS_ACCESS_KEY_ID=KEY AWS_SECRET_ACCESS_KEY='SE/CR+ET=' MY_TOKEN=STATIC
configure() # HTTP AZURE SNS FOLDER
{
    cat >"$config" <<C
exporters:
- {type: jsonl, name: lake, file: $4/lake.jsonl}
- {type: httpjson, name: api, url: '$1/ok/run'}
- {type: httpjson, name: chat, url: '$1/ok/chat', preset: slack}
- {type: httpjson, name: lines, url: '$1/array/metrics', record: metric, metrics: all, array: yes}
- {type: azure, endpoint: '$2', rule: dcr-ok, ca-file: $WORK/z/ca.pem, token: {env: MY_TOKEN}}
- {type: sns, endpoint: '$3/', topic: 'arn:aws:sns:eu-west-1:123456789012:runs'}
C
}
configure http://127.0.0.1:9 https://localhost:9 http://no-such-host.invalid "$WORK/gone"
for i in $(seq 100); do
    "$BENCHWRAP" -q -e outage -n "run $i" -- sh -c "echo 'bandwidth: $i MB/s'" >/dev/null 2>&1
done
waits() { "$BENCHWRAP" exporter list --json | jq -c '[.[] | [.delivered, .pending, .dead_letters]] | unique'; }
is "during the outage every run waits" "$(waits)" "[[0,100,0]]"
mkdir "$WORK/gone"
configure "http://127.0.0.1:$(cat "$WORK/e/port")" "https://localhost:$(cat "$WORK/z/port")" "http://127.0.0.1:$(cat "$WORK/s/port")" "$WORK/gone"
"$BENCHWRAP" sync >sync.out 2>&1
wait_until '[ "$(waits)" = "[[100,0,0]]" ] || { "$BENCHWRAP" sync >>sync.out 2>&1; false; }'
is "after it every run is delivered everywhere" "$(waits)" "[[100,0,0]]"
once() { sort | uniq -c | awk '{ n[$1]++ } END { for (i in n) print n[i], i }'; }
is "jsonl: each once" "$(jq -r .id "$WORK/gone/lake.jsonl" | once)" "100 1"
is "httpjson: each once" "$(jq -r 'select(.path == "/ok/run").body.id' "$WORK/e/got.jsonl" | once) $(jq -r 'select(.path == "/ok/chat").body.text' "$WORK/e/got.jsonl" | grep -c '^run ')" "100 1 100"
is "httpjson: each metric once" "$(jq -r 'select(.path == "/array/metrics").body[] | .run + .key' "$WORK/e/got.jsonl" | once | awk '{ print ($1 > 300), $2 }') $(jq -r 'select(.path == "/array/metrics").body[] | select(.key == "bandwidth_MB_per_s").value' "$WORK/e/got.jsonl" | sort -n | md5sum)" "1 1 $(seq 100 | md5sum)"
is "azure: each row once, in few requests" "$(jq -r '.body[].RecordId' "$WORK/z/requests.jsonl" | once) $(grep -c . "$WORK/z/requests.jsonl" | awk '{ print ($1 <= 3) }')" "200 1 1"
is "sns: each message once" "$(jq -r .form.Message "$WORK/s/got.jsonl" | grep -o '^run [0-9]*' | once)" "100 1"
done_testing
