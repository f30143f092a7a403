#!/bin/bash
# The exporters otlp and influx: OTLP read by the strict parser of opentelemetry-proto, line protocol by a parser of its own; what answers do.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
export BENCHWRAP_FINISH_WAIT=60s # a busy machine finishes a record later
. "$TESTLIB/venv.sh"
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
exporter otlp "url: '$url/ok/'"
export BENCHWRAP
bw -p "in put=a\"b" --cluster 'c d' -e io -- sh -c 'sleep 0.4; echo "rate: 3.25 op/s"; "$BENCHWRAP" log nan=nan; exit 3'
is "metrics, then spans" "$(jq -r '[.method, .path, .headers."content-type"] | join(" ")' "$got")" "POST /ok/v1/metrics application/json
POST /ok/v1/traces application/json"
metric() { jq -c --arg n "$1" '.body.resourceMetrics[]?.scopeMetrics[].metrics[] | select(.name == $n)' "$got"; }
resource() { jq -r --arg n "$1" '.body.resourceMetrics[]?.resource.attributes[] | select(.key == $n) | .value.stringValue' "$got"; }
is "a metric has unit, value and key" "$(metric benchwrap_rate_operations_per_second | jq -c '[.unit, .gauge.dataPoints[0].asDouble, (.gauge.dataPoints[0].attributes[] | select(.key == "key") | .value.stringValue)]')" '["{operation}/s",3.25,"rate_op_per_s"]'
is "the run is the resource" "$(resource service.name) $(resource service.instance.id) $(resource benchwrap.status) $(resource benchwrap.cluster) $(resource 'benchwrap.param.in put')" "benchwrap $("$BENCHWRAP" show --json last | jq -r .id) FAILED c d a\"b"
is "the program is a span of the run, which failed" "$(jq -r '.body.resourceSpans[]?.scopeSpans[].spans | [(map(.name) | join(",")), .[0].status.code, .[2].parentSpanId == .[0].spanId, ((.[2].endTimeUnixNano | tonumber) - (.[2].startTimeUnixNano | tonumber) > 4e8), (map(.traceId | length) | unique[]), (map(.spanId) | unique | length)] | map(tostring) | join(" ")' "$got" | sed 's/^[^,]*,/NAME,/')" \
    "NAME,before the program,program,after the program 2 true true 32 4"
if python=$(venv_python otlp-1.45 120 opentelemetry-proto==1.45.2); then
    cat >strict.py <<'P'
import json, sys
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest as M
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest as T
import base64, math
for line in open(sys.argv[1]):
    r = json.loads(line)
    text = json.dumps(r["body"])
    if r["path"].endswith("metrics"):
        m = Parse(text, M())
        points = [p for rm in m.resource_metrics for sm in rm.scope_metrics for x in sm.metrics for p in x.gauge.data_points]
        print(len(points) > 50, all(p.time_unix_nano > 1e18 for p in points), sum(math.isnan(p.as_double) for p in points))
    else:
        for rs in r["body"]["resourceSpans"]:  # OTLP has ids in hexadecimal, protobuf's JSON in base64
            for ss in rs["scopeSpans"]:
                for s in ss["spans"]:
                    for k in ("traceId", "spanId", "parentSpanId"):
                        if k in s:
                            s[k] = base64.b64encode(bytes.fromhex(s[k])).decode()
        t = Parse(json.dumps(r["body"]), T())
        spans = [s for x in t.resource_spans for y in x.scope_spans for s in y.spans]
        print(len(spans), all(len(s.trace_id) == 16 and len(s.span_id) == 8 and s.end_time_unix_nano >= s.start_time_unix_nano for s in spans))
P
    is "opentelemetry-proto accepts both, strictly" "$("$python" strict.py "$got" 2>&1)" "True True 1
4 True"
else
    skip "opentelemetry-proto accepts both" "$python"
fi
exporter otlp "url: '$url/ok', signals: traces"; "$BENCHWRAP" exporter send x last >/dev/null
is "signals: traces" "$(jq -r .path "$got")" "/ok/v1/traces"
exporter otlp "url: '$url/ok'"; bw --sweep s=1,2 --keep-going -e sw -- sh -c 'exit {s}' 2>/dev/null
is "a sweep is one trace" "$(jq -r '.body.resourceSpans[]?.scopeSpans[].spans[].traceId' "$got" | sort -u | wc -l) $(jq -c '[.body.resourceSpans[]?.scopeSpans[].spans[0] | select(.parentSpanId)]' "$got" | grep -c spanId)" "1 2"
rm -rf .benchwrap mlruns
exporter otlp "url: '$url/partial'"; bw -- true
is "a part that a collector rejects makes a dead letter" "$(state) $("$BENCHWRAP" exporter dead-letter x | grep -c 'rejected 2 of .*no room')" "[0,0,1] 1"
exporter otlp "url: '$url/status/503', deadline: 1s"; bw -- true; is "503: it waits" "$(state)" "[0,1,1]"
exporter otlp "url: '$url/ok', signals: logs"; bw -- true 2>err; is "a wrong signal" "$(grep -c 'this exporter is ignored' err)" 1

# ---- line protocol ----
rm -rf .benchwrap mlruns
exporter influx "url: '$url/bytes/', bucket: 'my bucket', org: 'a&b', token: {env: T}, token-scheme: Token, gzip: yes, labels: {odd: 'a b,c=d\\'}"
T=secret bw --cluster 'c, d=e' -e io -- sh -c 'sleep 0.3; echo "rate: 3.25 op/s"; "$BENCHWRAP" log nan=nan'
is "InfluxDB 2: address and token" "$(jq -r '[.method, .path, .headers.authorization] | join(" ")' "$got" | sort -u)" "POST /bytes/api/v2/write?precision=ns&bucket=my%20bucket&org=a%26b Token secret"
jq -r .body "$got" | python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))' >lines
cat >lines.py <<'P'
import re, sys
tag = r"((?:[^ ,=\\]|\\[ ,=])+)=((?:[^ ,=\\]|\\[ ,=])+)"
n = 0
for line in open(sys.argv[1], newline="\n"):
    m = re.fullmatch(r"benchwrap((?:,%s)*) ([a-z0-9_]+)=(-?[0-9.e+-]+) (\d{19})\n" % tag, line)
    assert m, line
    tags = [t for t in re.findall("," + tag, m[1])]
    assert [t[0] for t in tags] == sorted(t[0] for t in tags)
    d = {k: re.sub(r"\\(.)", r"\1", v) for k, v in tags}
    n += 1
    if d.get("key") == "rate_op_per_s":
        print(d["cluster"], "|", d["odd"], "|", m[m.lastindex - 2], float(m[m.lastindex - 1]))
print(n > 50)
P
is "line protocol" "$(python3 lines.py lines 2>&1)" "c, d=e | a b,c=d | rate_operations_per_second 3.25
True"
exporter influx "url: '$url/bytes', db: runs"; "$BENCHWRAP" exporter send x last >/dev/null
is "InfluxDB 1" "$(jq -r .path "$got" | sort -u)" "/bytes/write?precision=ns&db=runs"
is "--dry-run prints no secret" "$(exporter influx "url: '$url/x', token: {env: T}, token-scheme: Token"; T=secret "$BENCHWRAP" exporter send x last --dry-run | sed -n '1,2p')" "POST $url/x
Authorization: Token ***"
bad() { exporter influx "$1"; bw -- true 2>err; grep -c "this exporter is ignored" err; }
is "wrong keys" "$(bad "url: '$url', db: a, bucket: b") $(bad "url: '$url', org: b") $(bad "url: '$url', token: {env: T}, token-scheme: 'a b'")" "1 1 1"
done_testing
