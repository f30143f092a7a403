#!/bin/bash
# The exporter azure: rows, batches, tokens of every source and their renewal, and what each answer of Azure does to a run.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
export BENCHWRAP_FINISH_WAIT=60s # a busy machine finishes a record later
config=$HOME/.config/benchwrap/config.yaml
mkdir -p "$(dirname "$config")" "$WORK/d" "$WORK/e" && cd "$WORK/d" || exit 1
command -v openssl >/dev/null 2>&1 || { skip "Azure" "openssl is not installed"; done_testing; exit; }
python3 "$TESTLIB/azure-endpoint.py" "$WORK/e" 2>"$WORK/e/err" &
endpoint_pid=$!
finish_here() { kill $endpoint_pid 2>/dev/null; wait $endpoint_pid 2>/dev/null; tap_exit; }
trap finish_here EXIT
wait_until '[ -e "$WORK/e/port" ]'
tls=https://localhost:$(cat "$WORK/e/port") plain=http://127.0.0.1:$(cat "$WORK/e/plain")
got=$WORK/e/requests.jsonl
# AZURE_AUTHORITY_HOST and AZURE_POD_IDENTITY_AUTHORITY_HOST are Azure's own variables.
export AZURE_AUTHORITY_HOST=$tls AZURE_POD_IDENTITY_AUTHORITY_HOST=$plain
exporter() # RULE [KEYS]
{
    printf 'exporters:\n- {type: azure, name: x, wait: 60s, endpoint: "%s/", rule: %s, ca-file: %s%s}\n' "$tls" "$1" "$WORK/e/ca.pem" "${2:+, $2}" >"$config"
    rm -f "$got"
}
static="token: {env: MY_TOKEN}"
export MY_TOKEN=STATIC
bw() { "$BENCHWRAP" -q "$@"; }
send() { "$BENCHWRAP" exporter send x "$@"; }
state() { "$BENCHWRAP" exporter list --json | jq -c '.[] | [.delivered, .pending, .dead_letters]'; }
problem() { "$BENCHWRAP" exporter list --json | jq -r '.[].problem'; }
fresh() { rm -rf .benchwrap mlruns; }
run_id() { basename "$(dirname "$(ls -t mlruns/*/*/meta.yaml | head -n 1)")"; }
rows() { jq -c 'select(.path | startswith("/dataC")).body[]' "$got"; }

# ---- rows ----
exporter dcr-ok "$static"
bw -e io --cluster tst --tag "q=a\"b" -p size=4 -- sh -c 'echo "bandwidth: 12.5 MB/s"'
is "a run is a row for each metric, and one for itself" "$(rows | jq -r '[.Metric, .Value, .Unit, .Cluster, .Experiment, .Status] | join(" ")' | sed 's/^\(run.wall_s\) [0-9.]*/\1 T/' | sort)" "bandwidth_MB_per_s 12.5 MB_per_s tst io FINISHED
run.wall_s T s tst io FINISHED"
is "... of which one has params and tags" "$(rows | jq -c 'select(.Params) | [.Metric, .Params.size, .Tags.q]')" '["run.wall_s","4","a\"b"]'
is "... with ids and times" "$(rows | jq -r 'select(.Metric == "run.wall_s") | [.RecordId, (.TimeGenerated | test("^20[0-9-]{8}T[0-9:]{8}[.][0-9]{3}Z$")), .TimeGenerated == .RunEnd, .RunStart < .RunEnd] | @csv')" "\"$(run_id)/run.wall_s\",true,true,true"
is "columns are those of the table" "$(rows | jq -r keys[] | sort -u)" "$(sed -n 's/^AZURE_COLUMN(\([A-Za-z]*\),.*/\1/p' "$ROOT/wrapper/exporters/azure_columns.def" | sort)"
is "the request" "$(jq -r '[.method, .path, (.headers | .authorization, ."content-type", ."content-encoding", (."x-ms-client-request-id" | test("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$")))] | join(" ")' "$got")" "POST /dataCollectionRules/dcr-ok/streams/Custom-BenchwrapRuns_CL?api-version=2023-01-01 Bearer STATIC application/json gzip true"
is "a failed run has a row too" "$(rm "$got"; bw -e io -- false; rows | jq -r '[.Metric, .Status] | join(" ")')" "run.wall_s FAILED"
is "--dry-run shows the request without the token" "$(send last --dry-run | head -n 4 | tr '\n' ' ')$(send last --dry-run | tail -n +6 | jq -r '.[0].Status') $(send last --dry-run | grep -c STATIC)" "POST $tls/dataCollectionRules/dcr-ok/streams/Custom-BenchwrapRuns_CL?api-version=2023-01-01 Authorization: Bearer *** Content-Type: application/json Content-Encoding: gzip FAILED 0"
exporter dcr-ok "$static, record: reframe-lines, stream: Custom-Perf_CL, extra: {facility: reframe}"
send last >/dev/null
is "ReFrame's form, with its time" "$(jq -r '.path' "$got" | grep -o 'Custom-[A-Za-z_]*') $(rows | jq -r '[.check_name, .facility, (.TimeGenerated | type)] | join(" ")')" "Custom-Perf_CL false reframe string"

# ---- batches ----
fresh
exporter dcr-status-503 "$static"
for i in 1 2 3 4 5 6; do bw -e io -- sh -c "echo 'bandwidth: $i MB/s'"; done
exporter dcr-ok "$static"
is "six runs that waited go out in one request" "$("$BENCHWRAP" sync >/dev/null; grep -c . "$got") $(rows | jq -r 'select(.Unit == "MB_per_s").Value' | paste -sd' ') $(state)" "1 1 2 3 4 5 6 [6,0,0]"
exporter dcr-max-1000000 "$static"
python3 -c 'import json
for i in range(4000): print(json.dumps({"TimeGenerated": "2026-11-20T17:03:05Z", "RawData": "x%06d" % i * 100, "Computer": "n1", "FilePath": "/var/log/slurmctld.log"}))' >big
is "3 MB of log lines: in order, in requests of at most 1 MB" "$(send --lines big --stream Custom-Text-slurmctld_raw_CL) $(jq -r .path "$got" | uniq -c | awk '{ print ($1 <= 5) }') $(rows | jq -r '.RawData[0:7]' | sort -c && rows | wc -l)" "x: 4000 lines delivered, 0 refused 1 4000"
exporter dcr-max-30000 "$static"
is "413: the request is divided" "$(head -n 300 big | send --lines -) $(rows | wc -l)" "x: 300 lines delivered, 0 refused 300"
exporter dcr-refuse-x000007 "$static"
is "400: the record at fault is found" "$(head -n 20 big | send --lines - 2>err) $(rows | wc -l) $(grep -o 'line 8 was refused.*a record is wrong' err | cut -c 1-18)" "x: 19 lines delivered, 1 refused 19 line 8 was refused"
fresh
exporter dcr-status-503 "$static"
for i in 1 2 3; do bw -e io -n "run$i" -- true; done
exporter dcr-refuse-run2 "$static"; "$BENCHWRAP" sync >/dev/null
is "400 for one run of three: it alone is a dead letter" "$(state) $(rows | jq -r .RunName | sort -u | paste -sd' ')" "[2,0,1] run1 run3"
exporter dcr-ok "$static, rules: {Custom-A_CL: dcr-other}"
is "a stream with a rule of its own" "$(echo '{}' | send --lines - --stream Custom-A_CL >/dev/null; jq -r .path "$got")" "/dataCollectionRules/dcr-other/streams/Custom-A_CL?api-version=2023-01-01"

# ---- tokens ----
token_requests() { jq -c 'select(.path | startswith("/dataC") | not) | [.at, .path, .body]' "$got"; }
application="tenant: my-tenant, client: my-client"
scope=https://monitor.azure.com/.default
fresh; bw -- true
exporter dcr-ok "$application, client-secret: {env: CS}"
is "a client secret" "$(CS='s3cr3t/+=&' send last) $(token_requests)" "x: 1 of 1 run delivered [\"tls\",\"/my-tenant/oauth2/v2.0/token\",{\"client_id\":\"my-client\",\"grant_type\":\"client_credentials\",\"scope\":\"$scope\",\"client_secret\":\"s3cr3t/+=&\"}]"
exporter dcr-ok
is "... of Azure's variables" "$(AZURE_TENANT_ID=t1 AZURE_CLIENT_ID=c1 AZURE_CLIENT_SECRET=envsecret-1 send last) $(token_requests | grep -c envsecret-1)" "x: 1 of 1 run delivered 1"
is "... which no record has" "$(AZURE_TENANT_ID=t1 AZURE_CLIENT_ID=c1 AZURE_CLIENT_SECRET=envsecret-1 bw -- true; grep -rl envsecret-1 mlruns .benchwrap | wc -l)" 0
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=app -keyout k.pem -out c.pem 2>/dev/null; (umask 077; cat c.pem k.pem >app.pem); cat c.pem k.pem >open.pem
exporter dcr-ok "$application, client-certificate: $PWD/app.pem"
is "a client certificate" "$(send last) $(token_requests | jq -r '.[2] | [.client_assertion_type, (.client_assertion | split(".") | length)] | @csv')" 'x: 1 of 1 run delivered "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",3'
token_requests | jq -r '.[2].client_assertion' >jwt
part() { cut -d. -f"$1" jwt | tr '_-' '/+' | awk '{ while (length($0) % 4) $0 = $0 "="; print }' | base64 -d; }
part 3 >signature; printf %s "$(cut -d. -f1,2 jwt)" >statement
openssl x509 -in c.pem -noout -pubkey >public.pem
like "... whose signature openssl verifies" "$(openssl dgst -sha256 -verify public.pem -signature signature -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32 statement 2>&1)" 'Verified OK'
is "... and which names certificate, application and address" "$(part 1 | jq -r '.alg + " " + ."x5t#S256"' | tr '_-' '/+') $(part 2 | jq -r '[.iss, .sub, .aud, .exp - .nbf] | join(" ")')" "PS256 $(openssl x509 -in c.pem -outform der | openssl dgst -sha256 -binary | base64 | tr -d =) my-client my-client $tls/my-tenant/oauth2/v2.0/token 600"
(umask 077; echo FEDERATED.JWT.X >federated)
exporter dcr-ok
is "a workload identity, by Azure's variables" "$(AZURE_TENANT_ID=t2 AZURE_CLIENT_ID=c2 AZURE_FEDERATED_TOKEN_FILE=$PWD/federated send last) $(token_requests | jq -r '.[1] + " " + .[2].client_assertion')" "x: 1 of 1 run delivered /t2/oauth2/v2.0/token FEDERATED.JWT.X"
touch "$WORK/e/metadata"
exporter dcr-ok
is "the managed identity, where nothing is configured" "$(send last) $(token_requests)" "x: 1 of 1 run delivered [\"plain\",\"/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fmonitor.azure.com\",null]"
exporter dcr-ok "identity: user-1"
is "a user-assigned one" "$(send last) $(token_requests | jq -r '.[1]' | grep -o 'client_id=.*')" "x: 1 of 1 run delivered client_id=user-1"
is "... as containers have it" "$(IDENTITY_ENDPOINT=$plain/msi IDENTITY_HEADER=hidden-header send last) $(token_requests | jq -r '.[1]' | tail -n 1)" "x: 1 of 1 run delivered /msi?api-version=2019-08-01&resource=https%3A%2F%2Fmonitor.azure.com&client_id=user-1"
rm "$WORK/e/metadata"
mkdir -p bin; printf '#!/bin/sh\necho "$*" >az.args\n[ -z "$AZ_FAILS" ] || { echo "Please run az login" >&2; exit 1; }\necho "{\\"accessToken\\": \\"STATIC\\", \\"expires_on\\": 4000000000}"\n' >bin/az; chmod +x bin/az
exporter dcr-ok "credential: az"
is "az" "$(PATH=$PWD/bin:$PATH send last) $(cat az.args)" "x: 1 of 1 run delivered account get-access-token --scope $scope -o json"
exporter dcr-ok
is "az, where nothing is configured and no service of the machine answers" "$(AZURE_POD_IDENTITY_AUTHORITY_HOST=http://127.0.0.1:9 PATH=$PWD/bin:$PATH send last)" "x: 1 of 1 run delivered"
exporter dcr-ok "token: {command: [echo, STATIC]}"
is "a command" "$(send last)" "x: 1 of 1 run delivered"
for cloud in government:us china:cn; do
    exporter dcr-ok "$application, client-secret: {env: CS}, cloud: ${cloud%:*}"
    is "the cloud of ${cloud%:*}" "$(CS=x send last >/dev/null; token_requests | jq -r '.[2].scope')" "https://monitor.azure.${cloud#*:}/.default"
done
exporter dcr-ok "$application, client-secret: {env: CS}"; sed -i 's,https://localhost:[0-9]*/,https://x.eastus-1.ingest.monitor.azure.us,' "$config"
is "the endpoint names the cloud" "$(CS=x "$BENCHWRAP" exporter check x >/dev/null 2>&1 & wait_until '[ -n "$(token_requests)" ]'; kill $!; wait $! 2>/dev/null; token_requests | jq -r '.[2].scope')" "https://monitor.azure.us/.default"

# ---- renewal ----
exporter dcr-once "$application, client-secret: {env: CS}, max-body: 300k"
is "401: a new token, and the rows arrive once" "$(CS=x send --lines big) $(rows | wc -l) $(token_requests | wc -l | awk '{ print ($1 > 5) }')" "x: 4000 lines delivered, 0 refused 4000 1"
echo 4 >"$WORK/e/expires"
exporter dcr-ok "$application, client-secret: {env: CS}"
is "a token is renewed before it expires" "$( (head -n 1 big; wait_until '[ -n "$(rows)" ]'; sleep 2.5; head -n 1 big) | CS=x send --lines -) $(token_requests | wc -l)" "x: 2 lines delivered, 0 refused 2"
rm "$WORK/e/expires"

# ---- answers ----
answer() # NAME RULE STATE [PATTERN [KEYS [DEADLINE]]]
{
    fresh; exporter "$2" "${5:-$static}, timeout: 2s, deadline: ${6:-4s}"
    bw -- true
    is "$1" "$(state)" "$3"
    [ -z "${4:-}" ] || like "$1: the reason" "$(problem; "$BENCHWRAP" exporter dead-letter x)" "$4"
}
answer "400: a dead letter" dcr-status-400 "[0,0,1]" 'status 400'
answer "403: it waits" dcr-status-403 "[0,1,0]" 'status 403.*lack the right'
like "... and check names the role" "$("$BENCHWRAP" exporter check x)" 'Monitoring Metrics Publisher'
answer "404: it waits" dcr-status-404 "[0,1,0]" 'status 404'
answer "429: it waits, as long as Azure asks" dcr-status-429-3600 "[0,1,0]" 'status 429'
answer "503 twice, with Retry-After 1: it arrives in the same pass" dcr-first-503-2 "[1,0,0]" "" "" 20s
answer "500: it waits" dcr-status-500 "[0,1,0]" 'status 500'
MY_TOKEN=old-token-7; answer "401 for good: it waits" dcr-ok "[0,1,0]" 'status 401.*expired'
ok "... and no file has the token" sh -c '! grep -rq old-token-7 .benchwrap mlruns'
MY_TOKEN=STATIC
export CS=secret-in-reply
answer "a wrong client secret: it waits" dcr-ok "[0,1,0]" 'no access token from a client secret: .*/wrong/oauth2.*status 401' "tenant: wrong, client: c, client-secret: {env: CS}"
ok "... a reply that repeats the secret is not shown" sh -c '! grep -rq secret-in-reply .benchwrap mlruns'
answer "an unknown tenant: it waits, and Entra's words say why" dcr-ok "[0,1,0]" "AADSTS90002: Tenant 'unknown' not found" "tenant: unknown, client: c, client-secret: {env: CS}"
answer "no source of a token: it waits" dcr-ok "[0,1,0]" 'no access token from the managed identity: .*status 404' "credential: auto"
answer "az that fails: it waits" dcr-ok "[0,1,0]" 'no access token: ' "credential: az"
answer "a certificate that others can read: it waits" dcr-ok "[0,1,0]" 'can be read by others' "$application, client-certificate: $PWD/open.pem"
exporter dcr-ok "$static"; sed -i 's/, ca-file: [^,]*//' "$config"; fresh; bw -- true; like "an untrusted certificate: it waits" "$(state) $(problem)" '^\[0,1,0\] .*certificate'
exporter dcr-ok "$static"; "$BENCHWRAP" sync >/dev/null; is "recovery: it is delivered" "$(state) $(rows | jq -r .RunId | sort -u)" "[1,0,0] $(run_id)"
like "exporter check: good" "$("$BENCHWRAP" exporter check x)" 'good +a token from the key token; the rule answers an empty array with status 204'
bad() { exporter dcr-ok "$1"; bw -- true 2>err; grep -c "this exporter is ignored" err; }
is "wrong keys are named" "$(bad 'token: abc') $(bad 'credential: token') $(bad 'stream: "a b"') $(bad 'client-certificate: k.pem') $(exporter 'dcr/x'; bw -- true 2>err; grep -c 'rule: expected' err) $(exporter dcr-ok; sed -i 's,https://localhost,http://example.org,' "$config"; bw -- true 2>err; grep -c 'endpoint: expected' err)" "1 1 1 1 1 1"

# ---- reading back ----
exporter dcr-ok "$application, client-secret: {env: CS}, workspace: 1111-2222, query-host: $tls"
like "check --read-back: a record is sent and found" "$(CS=x "$BENCHWRAP" exporter check x --read-back)" 'good .*a record was sent, and read back after [0-9]+ s'
is "... by a token for queries" "$(jq -r 'select(.path | endswith("/token")).body.scope' "$got" | paste -sd' ')" "https://monitor.azure.com/.default https://api.loganalytics.io/.default"
exporter dcr-ok "$static, workspace: 1111-2222, query-host: $tls"
like "... a token without that right" "$("$BENCHWRAP" exporter check x --read-back)" 'failed +https://localhost:[0-9]+: status 403.*insufficient'
exporter dcr-ok "$static"
like "... or no workspace" "$("$BENCHWRAP" exporter check x --read-back)" 'failed +to read a record back, configure the key workspace'

# ---- an outage ----
fresh; exporter dcr-ok "$static"; sed -i "s,$tls,https://localhost:9,; s/wait: 60s, //" "$config"
for _ in $(seq 20); do bw -- true; done
exporter dcr-ok "$static"
wait_until '"$BENCHWRAP" sync; [ "$(state)" = "[20,0,0]" ]' # a background sender of the outage may still have the queue
is "20 runs during an outage all arrive, once" "$(rows | jq -r .RunId | sort | uniq -c | awk '{ print $1 }' | sort | uniq -c | tr -s ' ') $(state)" " 20 1 [20,0,0]"
done_testing
