#!/bin/bash
# ship-logs to Azure Monitor: streams of the tables, batches, an expired token, an outage, a refused line; and to an OpenTelemetry collector.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
mkdir -p "$WORK/e" "$WORK/l" && cd "$WORK" || exit 1
command -v openssl >/dev/null 2>&1 || { skip "Azure" "openssl is not installed"; done_testing; exit; }
python3 "$TESTLIB/azure-endpoint.py" "$WORK/e" >/dev/null 2>&1 &
endpoint_pid=$!
finish_here() { kill $endpoint_pid $otlp_pid 2>/dev/null; wait $endpoint_pid 2>/dev/null; tap_exit; }
trap finish_here EXIT
wait_until '[ -e e/port ]'
tls=https://localhost:$(cat e/port)
export AZURE_AUTHORITY_HOST=$tls MY_SECRET=s
ship() # RULE [OPTIONS]
{
    printf 'to: {type: azure, endpoint: "%s/", rule: %s, ca-file: %s, tenant: t, client: c, client-secret: {env: MY_SECRET}, timeout: 120s}\nstate: %s\nlogs:\n- {path: %s/l/slurmdbd.log}\n- {path: "%s/l/job_*", name: slurmjobs}\n- {path: %s/l/slurmctld.log, form: parsed}\n' "$tls" "$1" "$WORK/e/ca.pem" "$WORK/state" "$WORK" "$WORK" "$WORK" >c.yaml
    "$BENCHWRAP" ship-logs --once --config c.yaml --wait 130s "${@:2}"
}
rows() { jq -c 'select(.path | startswith("/dataC")) | (.path | split("/")[4] | split("?")[0]) as $s | .body[] | [$s, (keys | sort | join(",")), (.RawData // .Message)]' e/requests.jsonl; }
echo 'dbd line' >l/slurmdbd.log; echo '#!/bin/sh' >l/job_7.sh; echo '[2025-09-08T21:11:35.869] error: sched/backfill: x' >l/slurmctld.log
is "three streams" "$(ship dcr-ok)" "3 records delivered"
is "... with the columns of their tables" "$(rows | sort)" '["Custom-Text-slurmdb_raw_CL","Computer,FilePath,RawData,TimeGenerated","dbd line"]
["Custom-Text-slurmjobs_raw_CL","Computer,FilePath,RawData,TimeGenerated","#!/bin/sh"]
["Custom-slurmctld_CL","Component,Computer,FilePath,Level,Message,TimeGenerated","x"]'
rm -f e/requests.jsonl
echo again >>l/slurmdbd.log
is "an outage ends: the line arrives" "$(ship dcr-first-503-1 2>err) $(grep -c 'accepts log lines again' err)" "1 record delivered 1"
rm -f e/requests.jsonl
seq -f 'line %g of many, with some text behind it to fill a request' 30000 >>l/slurmdbd.log
is "requests stay below 1 MB" "$(ship dcr-ok) $(jq -s '[.[] | select(.path | startswith("/dataC")) | .body | length] | add' e/requests.jsonl) $(jq -s '[.[] | select(.path | startswith("/dataC")) | (.body | tostring | length) <= 1048576] | all' e/requests.jsonl)" "30000 records delivered 30000 true"
printf 'fine\npoison\nalso fine\n' >>l/slurmdbd.log
is "a refused line is stored, the others arrive" "$(ship dcr-refuse-poison) $(jq -r .record.RawData state/dead.jsonl)" "2 records delivered, 1 refused (they are in dead.jsonl of the state folder) poison"
echo late >>l/slurmdbd.log
is "an expired token is renewed" "$(ship dcr-once; echo later >>l/slurmdbd.log; ship dcr-once)" "1 record delivered
1 record delivered"

# ---- OpenTelemetry ----
mkdir o
python3 "$TESTLIB/http-endpoint.py" "$WORK/o" >/dev/null 2>&1 & otlp_pid=$!
wait_until '[ -e o/port ]'
printf 'to: {type: otlp, url: "http://127.0.0.1:%s/ok/"}\nstate: %s\nform: parsed\nlogs:\n- {path: %s/l/slurmctld.log}\n' "$(cat o/port)" "$WORK/state2" "$WORK" >o.yaml
TZ=UTC "$BENCHWRAP" ship-logs --once --config o.yaml >/dev/null
is "a line is a log record with time, severity and attributes" "$(jq -c '.path, (.body.resourceLogs[0].scopeLogs[0].logRecords[0] | [.timeUnixNano, .severityNumber, .severityText, .body.stringValue, (.attributes | map(.key) | sort | join(","))])' o/got.jsonl)" '"/ok/v1/logs"
["1757365895869000000",17,"error","x","Component,host.name,log.file.path"]'
if . "$TESTLIB/venv.sh" && python=$(venv_python otlp-1.45 120 opentelemetry-proto==1.45.2); then
    is "the strict parser of opentelemetry-proto reads it" "$("$python" -c 'import json, sys
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest as L
r = Parse(json.dumps(json.loads(open(sys.argv[1]).readline())["body"]), L())
print(r.resource_logs[0].scope_logs[0].log_records[0].body.string_value)' o/got.jsonl)" x
else
    skip "OTLP's strict parser" "opentelemetry-proto cannot be installed"
fi
done_testing
