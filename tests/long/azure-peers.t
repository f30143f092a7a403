#!/bin/bash
# Azure's official Python client and the exporter send the same rows to one endpoint: requests, batches and tokens are equal. Kusto's own language service
# accepts the queries of azure-setup on the tables that it makes, and a parser of Bicep the template.
# sanitizer: no, because other programs are what is waited for; t1600-azure walks the same code
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
config=$HOME/.config/benchwrap/config.yaml
mkdir -p "$(dirname "$config")" "$WORK/d" "$WORK/e" && cd "$WORK/d" || exit 1
"$BENCHWRAP" exporter azure-setup az >az.sh; "$BENCHWRAP" exporter azure-setup bicep >b.bicep; "$BENCHWRAP" exporter azure-setup kql >q.kql

# ---- the official client ----
if python=$(venv_python azure-2 600 azure-monitor-ingestion==1.1.0 azure-identity==1.27.0 pycep-parser==0.7.1); then
    python3 "$TESTLIB/azure-endpoint.py" "$WORK/e" 2>/dev/null &
    endpoint_pid=$!
    trap 'kill $endpoint_pid 2>/dev/null; wait $endpoint_pid 2>/dev/null; tap_exit' EXIT
    wait_until '[ -e "$WORK/e/port" ]'
    tls=https://localhost:$(cat "$WORK/e/port") got=$WORK/e/requests.jsonl
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=app -keyout k.pem -out c.pem 2>/dev/null; (umask 077; cat c.pem k.pem >app.pem)
    (umask 077; echo FEDERATED.JWT >federated)
    python3 -c 'import json
for i in range(3): print(json.dumps({"TimeGenerated": "2026-11-20T17:03:05Z", "RawData": "x%d\u00e9\"" % i + "y" * 700000, "Computer": "n1", "FilePath": "/var/log/slurmctld.log"}))' >rows
    cat >theirs.py <<'P'
import json, os, sys
from azure.identity import CertificateCredential, ClientSecretCredential, WorkloadIdentityCredential
from azure.monitor.ingestion import LogsIngestionClient
tls, kind = sys.argv[1:3]
more = {"authority": tls, "disable_instance_discovery": True, "connection_verify": os.environ["CA"]}
credential = {"secret": lambda: ClientSecretCredential("my-tenant", "my-client", "s3cr3t/+=&", **more),
              "certificate": lambda: CertificateCredential("my-tenant", "my-client", "app.pem", **more),
              "workload": lambda: WorkloadIdentityCredential(tenant_id="my-tenant", client_id="my-client", token_file_path="federated", **more)}[kind]()
with LogsIngestionClient(tls, credential, connection_verify=os.environ["CA"]) as client:
    client.upload("dcr-ok", "Custom-Text-slurmctld_raw_CL", [json.loads(l) for l in open("rows")])
P
    cat >compare.py <<'P'
import base64, json, re, sys
load = lambda name: [json.loads(l) for l in open(name)]
part = lambda jwt, i: json.loads(base64.urlsafe_b64decode(jwt.split(".")[i] + "=="))
def ingest(all):
    return [{"method": r["method"], "path": r["path"], "body": r["body"], "authorization": re.sub(r"TOKEN-\d+", "TOKEN", r["headers"]["authorization"]),
             "type": r["headers"]["content-type"], "encoding": r["headers"]["content-encoding"],
             "id": bool(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", r["headers"]["x-ms-client-request-id"]))} for r in all if r["path"].startswith("/dataC")]
def token(all):
    r = [r for r in all if r["path"].endswith("/token")][-1]
    form = {k: v for k, v in r["body"].items() if k != "client_info"} # a hint for MSAL's cache
    form["scope"] = form["scope"].replace("com//", "com/")
    if "client_assertion" in form and form["client_assertion"].count(".") == 2 and len(form["client_assertion"]) > 100:
        head, claims = part(form["client_assertion"], 0), part(form["client_assertion"], 1)
        # azure-identity still signs RS256 and names the certificate by SHA-1. PS256 and SHA-256 are MSAL's newer form, which Entra recommends.
        form["client_assertion"] = bool({"x5t", "x5t#S256"} & set(head)), head["alg"][1:], {"nbf"} | set(claims), claims["aud"], claims["iss"], claims["sub"]
    else:
        form["client_assertion"] = form.get("client_assertion", "").strip()
    return r["method"], r["path"], r["headers"]["content-type"], form
theirs, ours = load("theirs.jsonl"), load("ours.jsonl")
print(len(ingest(theirs)), ingest(theirs) == ingest(ours), token(theirs) == token(ours))
if token(theirs) != token(ours):
    print(token(theirs), token(ours), sep="\n", file=sys.stderr)
P
    export CA=$WORK/e/ca.pem AZURE_AUTHORITY_HOST=$tls CS='s3cr3t/+=&'
    compare() # KIND KEYS
    {
        rm -f "$got"; "$python" theirs.py "$tls" "$1" >theirs.out 2>&1; mv "$got" theirs.jsonl
        printf 'exporters:\n- {type: azure, name: x, endpoint: "%s", rule: dcr-ok, ca-file: %s, tenant: my-tenant, client: my-client, %s}\n' "$tls" "$CA" "$2" >"$config"
        "$BENCHWRAP" exporter send x --lines rows --stream Custom-Text-slurmctld_raw_CL >/dev/null; mv "$got" ours.jsonl
        is "$1: rows, requests and the token's request are those of the official client" "$("$python" compare.py)" "3 True True"
    }
    compare secret 'client-secret: {env: CS}'
    compare certificate "client-certificate: $PWD/app.pem"
    compare workload "federated-token: $PWD/federated"
    is "a parser of Bicep accepts the template" "$("$python" -c 'from pycep import BicepParser
d = BicepParser().parse(text=open("b.bicep").read())
print(len(d["resources"]), sorted(d["outputs"]))')" "24 ['endpoint', 'rawRule', 'rule', 'workspace']"
else
    skip "Azure's official client" "$python"
fi

# ---- the queries ----
if command -v npm >/dev/null 2>&1 && mkdir -p "$CACHE/kusto-12" && { [ -e "$CACHE/kusto-12/node_modules/@kusto" ] ||
    timeout 300 npm install --silent --prefix "$CACHE/kusto-12" @kusto/language-service-next@12.4.1 >npm.log 2>&1; }; then
    cat >check.js <<'J'
const fs = require("fs"), base = process.argv[2] + "/node_modules/@kusto/language-service-next/";
require(base + "bridge.js");
require(base + "Kusto.Language.Bridge.js");
const K = globalThis.Kusto.Language, types = {string: "string", datetime: "datetime", real: "real", long: "long", dynamic: "dynamic", boolean: "bool"};
const tables = fs.readFileSync("az.sh", "utf8").replace(/\\\n/g, " ").split("\n").map(l => /^table (\S+) (.*)$/.exec(l)).filter(Boolean);
const columns = text => "(" + text.trim().split(/\s+/).map(c => c.split("=")).map(([n, t]) => n + ":" + types[t]).join(", ") + ")";
const db = new K.Symbols.DatabaseSymbol.$ctor1("db", tables.map(m => K.Symbols.TableSymbol.From(columns(m[2])).WithName(m[1])));
const globals = K.GlobalState.Default.WithDatabase(db);
let queries = 0, bad = 0;
for (const q of fs.readFileSync(process.argv[3], "utf8").split(/\n\n/)) {
  const found = K.KustoCode.ParseAndAnalyze(q, globals).GetDiagnostics();
  queries++;
  for (let i = 0; i < found.Count; i++, bad++) console.error(q.split("\n")[0], found.getItem(i).Message);
}
console.log(tables.length, queries, bad);
J
    is "Kusto's language service accepts every query on the 18 tables" "$(node check.js "$CACHE/kusto-12" q.kql)" "18 11 0"
    sed 's/RunStart/RunBegin/' q.kql >wrong.kql
    is "... and would find a wrong column" "$(node check.js "$CACHE/kusto-12" wrong.kql 2>/dev/null | awk '{ print ($3 > 3) }')" 1
else
    skip "Kusto's language service" "npm cannot install it"
fi
done_testing
