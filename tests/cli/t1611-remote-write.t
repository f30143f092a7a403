#!/bin/bash
# The exporters pushgateway and remote-write: what they send, read by a decoder of its own, and what answers do. tests/long/prometheus.t has the real ones.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
export BENCHWRAP_FINISH_WAIT=60s # a busy machine finishes a record later
config=$HOME/.config/benchwrap/config.yaml
mkdir -p "$(dirname "$config")" "$WORK"/{d,e} && cd "$WORK/d" || exit 1
python3 "$TESTLIB/http-endpoint.py" "$WORK/e" 2>/dev/null &
endpoint_pid=$!
finish_here() { kill $endpoint_pid 2>/dev/null; wait $endpoint_pid 2>/dev/null; tap_exit; }
trap finish_here EXIT
wait_until '[ -e "$WORK/e/port" ]'
url=http://127.0.0.1:$(cat "$WORK/e/port")
got=$WORK/e/got.jsonl
exporter() { printf 'exporters:\n- {type: %s, name: x, wait: 60s, %s}\n' "$1" "$2" >"$config"; rm -f "$got"; }
state() { "$BENCHWRAP" exporter list --json | jq -c '.[] | [.delivered, .pending, .dead_letters]'; }
bw() { "$BENCHWRAP" -q --sample 100ms "$@"; }
unhex() { python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))'; }
cat >decode.py <<'P'
"""The samples of remote-write requests: Snappy's block format and protobuf, by their specifications."""
import json, struct, sys
def varint(b, i):
    v = s = 0
    while True:
        v |= (b[i] & 127) << s
        s += 7
        i += 1
        if b[i - 1] < 128:
            return v, i
def snappy(b):
    size, i = varint(b, 0)
    out = bytearray()
    while i < len(b):
        tag = b[i]
        i += 1
        if tag & 3 == 0:
            n = tag >> 2
            if n >= 60:
                k = n - 59
                n = int.from_bytes(b[i:i + k], "little")
                i += k
            out += b[i:i + n + 1]
            i += n + 1
        else:
            raise SystemExit("copies are not expected")
    assert len(out) == size, (len(out), size)
    return bytes(out)
def fields(b):
    i = 0
    while i < len(b):
        tag, i = varint(b, i)
        if tag & 7 == 2:
            n, i = varint(b, i)
            yield tag >> 3, b[i:i + n]
            i += n
        elif tag & 7 == 1:
            yield tag >> 3, struct.unpack("<d", b[i:i + 8])[0]
            i += 8
        else:
            v, i = varint(b, i)
            yield tag >> 3, v
for line in open(sys.argv[1]):
    request = json.loads(line)
    h = request["headers"]
    assert (h["content-type"], h["content-encoding"], h["x-prometheus-remote-write-version"]) == ("application/x-protobuf", "snappy", "0.1.0")
    n = 0
    for number, series in fields(snappy(bytes.fromhex(request["body"]))):
        assert number == 1
        labels, samples = [], []
        for number, part in fields(series):
            d = dict(fields(part))
            if number == 1:
                labels.append((d[1].decode(), d[2].decode()))
            else:
                samples.append((d[2], d[1]))
        assert labels == sorted(labels) and all(v for _, v in labels) and len({k for k, _ in labels}) == len(labels), labels
        assert all(a[0] < b[0] for a, b in zip(samples, samples[1:])), samples
        n += len(samples)
        for t, v in samples:
            print(json.dumps({"labels": dict(labels), "t": t, "v": None if v != v else v}))
    assert n <= 2300, n
P
exporter remote-write "url: '$url/bytes/write'"
long=$(printf '%0300d' 0)
bw -p "size=$long" --cluster 'c d' -e io -- sh -c 'n=0; until [ "$(cat .benchwrap/spool/*/journal | grep -c system/process_threads)" -gt 3 ] || [ $((n += 1)) = 600 ]; do sleep 0.1; done; echo "rate: 3.25 op/s"; echo "latency: 3.5 us"'
python3 decode.py "$got" >samples || cat samples
is "a result has its name, labels, value" "$(jq -c 'select(.labels.key == "latency_s") | [.labels.__name__, .labels.job, .labels.cluster, .labels.experiment, .v == 0.0000035]' samples)" '["benchwrap_latency_seconds","benchwrap","c d","io",true]'
is "... and time" "$(jq 'select(.labels.key == "latency_s") | .t' samples)" "$("$BENCHWRAP" exporter send --dry-run x last | awk '/key=latency_s/ { print $NF }')"
ok "samples of the machine have run and node, and end" sh -c '[ "$(jq -s "[.[] | select(.labels.key == \"system/process_threads\")] | (length > 3) and (.[-1].v == null) and (.[0].v != null) and (.[0].labels.run | length == 32) and (.[0].labels.node | length > 0)" samples)" = true ]'
exporter remote-write "url: '$url/bytes/write', metrics: results, labels: {size: param.size}"; "$BENCHWRAP" exporter send x last >/dev/null
is "metrics: results, and a label, which is cut" "$(python3 decode.py "$got" | jq -r '.labels | select(.__name__ | startswith("benchwrap_node")) | .key') $(python3 decode.py "$got" | jq -r '.labels.size | length' | sort -u)" " 200"
export BENCHWRAP; bw --finish-wait 60s -e many -- sh -c 'i=0; while [ $i -lt 3000 ]; do echo m$i=$i; i=$((i+1)); done | xargs "$BENCHWRAP" log'
is "many metrics are several requests, each metric once" "$(python3 decode.py "$got" | jq -r 'select(.labels.experiment == "many") | .labels.key // "" | select(test("^m[0-9]+$"))' | sort | uniq -c | awk '{ print $1 }' | sort | uniq -c | awk '{ print $1, $2 }') $([ "$(wc -l <"$got")" -gt 2 ] && echo several)" "3000 1 several"
for code in 400:1 429:0 500:0 503:0; do
    rm -rf .benchwrap mlruns; exporter remote-write "url: '$url/status/${code%:*}', deadline: 1s, metrics: results"; bw -- true
    is "answer ${code%:*}" "$(state)" "$([ "${code#*:}" = 1 ] && echo '[0,0,1]' || echo '[0,1,0]')"
done

# ---- Pushgateway ----
rm -rf .benchwrap mlruns
exporter pushgateway "url: '$url/bytes/gw/', gzip: yes"
bw --cluster 'c/d "ä"' --site lab -e io -- sh -c 'echo "rate: 3.25 op/s"'
is "PUT for each site, cluster and benchmark" "$(jq -r '[.method, .headers."content-type"] | join(" ")' "$got") $(jq -r .path "$got" | tr / '\n' | while read -r w; do case $w in *@base64 | bytes | gw | metrics | '') echo "$w" ;; *) echo "$w==" | tr _- /+ | base64 -d 2>/dev/null; echo ;; esac; done | tr '\n' ' ')" \
    'PUT text/plain; version=0.0.4; charset=utf-8  bytes gw metrics job@base64 benchwrap site@base64 lab cluster@base64 c/d "ä" benchmark@base64 sh '
is "labels of the group are in no line" "$(jq -r .body "$got" | unhex | grep -v '^#' | grep -cE 'site=|cluster=|benchmark=|job=')" 0
is "... the others are" "$(jq -r .body "$got" | unhex | grep -c '^benchwrap_rate_operations_per_second{config="[0-9a-f]*",experiment="io",key="rate_op_per_s"} 3.25$')" 1
exporter pushgateway "url: '$url/status/400'"; bw -- true; is "a group that is refused" "$(state)" "[1,0,1]"
bad() { exporter "$1" "$2"; bw -- true 2>err; grep -c "this exporter is ignored" err; }
is "wrong keys" "$(bad pushgateway "url: 'gw:9091'") $(bad pushgateway "url: '$url', job: ''") $(bad remote-write "url: '$url', labels: {'1a': b}") $(bad remote-write 'metrics: all') $(bad remote-write "url: '$url', gzip: yes")" "1 1 1 1 1"
done_testing
