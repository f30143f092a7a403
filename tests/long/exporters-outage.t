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
- {type: openmetrics, folder: $4/om, format: backfill, metrics: results}
- {type: pushgateway, url: '$1/bytes/gate', metrics: results}
- {type: remote-write, url: '$1/bytes/write', metrics: results}
- {type: otlp, url: '$1/ok/otlp'}
- {type: influx, url: '$1/bytes/influx', metrics: results}
C
}
configure http://127.0.0.1:9 https://localhost:9 http://no-such-host.invalid "$WORK/gone"
for i in $(seq 100); do
    "$BENCHWRAP" -q -e outage -n "run $i" -- sh -c "echo 'bandwidth: $i MB/s'" >/dev/null 2>&1
done
is "every kind of exporter takes part" "$(jq -nr --rawfile c "$config" '$c | [scan("type: ([a-z-]+)")[0]] | unique | join(" ")')" \
    "$("$BENCHWRAP" exporter types | awk '/^[a-z]/ { print $1 }' | sort | paste -sd' ')"
waits() { "$BENCHWRAP" exporter list --json | jq -c '[.[] | [.delivered, .pending, .dead_letters]] | unique'; }
is "during the outage every run waits" "$(waits)" "[[0,100,0]]"
mkdir -p "$WORK/gone/om"
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
# Of each run in a request's body: what the pattern's group has.
in_bodies() # PATH PATTERN
{
    python3 -c 'import json, re, sys
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["path"].startswith(sys.argv[2]):
        for found in re.findall(sys.argv[3].encode(), bytes.fromhex(r["body"])): print(found.decode())' "$WORK/e/got.jsonl" "$@"
}
rates=$(seq 100 | sed 's/$/000000/')
is "openmetrics: a file of each run" "$(cat "$WORK"/gone/om/*.om | sed -n 's/^benchwrap_bandwidth_bytes_per_second{.*} \([0-9]*\) .*/\1/p' | sort -n)" "$rates"
is "pushgateway: each once, in order" "$(in_bodies /bytes/gate 'benchwrap_bandwidth_bytes_per_second\{[^}]*\} ([0-9]+)\n')" "$rates"
is "remote-write: each once" "$(in_bodies /bytes/write 'run\x12 ([0-9a-f]{32})' | once)" "100 1"
is "influx: each once" "$(in_bodies /bytes/influx 'bandwidth_bytes_per_second=([0-9]+)' | sort -n)" "$rates"
is "otlp: metrics and spans of each once" "$(for kind in Metrics Spans; do jq -r --arg k "resource$kind" 'select(.path | startswith("/ok/otlp")) | .body[$k][]?.resource.attributes[] | select(.key == "service.instance.id").value.stringValue' "$WORK/e/got.jsonl" | once; done | paste -sd' ')" "100 1 100 1"
done_testing
