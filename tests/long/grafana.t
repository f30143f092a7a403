#!/bin/bash
# Dashboards and alert rules: a round trip through Grafana's own SDK; every query has an answer of a live Prometheus that holds benchwrap's series;
# alert rules fire and stay silent by promtool; annotations by httpjson.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/mlflow_server.sh"
. "$TESTLIB/prometheus.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/llmfake.sh"
if ! prometheus_ready; then
    skip "dashboards" "$prometheus_why"
    done_testing
    exit
fi
stats=
finish_here() { [ -z "$stats" ] || kill "$stats" 2>/dev/null; prometheus_stop; llm_end; }
trap finish_here EXIT
config=$HOME/.config/benchwrap/config.yaml
mkdir -p "$(dirname "$config")" "$WORK"/{d,p,bin,out,lib} && cd "$WORK/d" || exit 1

# ---- Grafana's own model of a dashboard ----
"$BENCHWRAP" grafana --output "$WORK/out" >/dev/null
if python=$(venv_python grafana-sdk-10 200 'grafana-foundation-sdk==1769699998!10.1.0'); then
    cat >trip.py <<'P'
import glob, json
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard
def lost(a, b, path=""):
    if isinstance(a, dict):
        for k, v in a.items():
            if not isinstance(b, dict) or k not in b:
                yield path + "/" + k
            else:
                yield from lost(v, b[k], path + "/" + k)
    elif isinstance(a, list):
        if not isinstance(b, list) or len(a) != len(b):
            yield path
        else:
            for i, (x, y) in enumerate(zip(a, b)):
                yield from lost(x, y, "%s/%d" % (path, i))
    elif a != b:
        yield "%s: %r became %r" % (path, a, b)
ids = set()
for f in sorted(glob.glob("../out/*.json")):
    text = json.load(open(f))
    again = json.loads(json.dumps(Dashboard.from_json(text), cls=JSONEncoder))
    for x in lost(text, again):
        print(f, x)
    ids.add(text["uid"])
    for p in text["panels"]:
        assert p["gridPos"]["x"] + p["gridPos"]["w"] <= 24 and p["targets"], p["title"]
print(len(ids))
P
    is "Grafana's SDK reads each dashboard, and loses no key" "$("$python" trip.py 2>&1 | tail -n 20)" 6
else
    skip "Grafana's SDK" "$python"
fi

# ---- a live Prometheus with series of runs, nodes, GPUs, an LLM service and Slurm ----
printf '#!/bin/sh\nprintf "RUNNING|None|64|2|gpu:a100:4|gpu|phys|ada\\nPENDING|Resources|16|1|N/A|cpu|chem|bob\\n"\n' >"$WORK/bin/squeue"
printf '#!/bin/sh\nprintf "n1|mixed|8/56/0/64|cpu|gpu:a100:4|gpu:a100:2|256000|16000|\\n"\n' >"$WORK/bin/sinfo"
printf '#!/bin/sh\nprintf "Server thread count: 3\\nMain schedule statistics\\n\\tLast cycle: 74\\nBackfilling stats\\n\\tLast cycle: 9\\n"\n' >"$WORK/bin/sdiag"
printf '#!/bin/sh\nprintf "phys|0.5\\n"\n' >"$WORK/bin/sshare"
chmod +x "$WORK"/bin/*
stats_port=$(free_port)
PATH=$WORK/bin:$PATH "$BENCHWRAP" slurm-stats --max-age 0 --serve "$stats_port" 2>stats.log &
stats=$!
printf 'global: {scrape_interval: 1s}\nrule_files: [%s/out/rules.yaml]\nscrape_configs:\n- {job_name: slurm, static_configs: [{targets: ["127.0.0.1:%s"]}]}\n' "$WORK" "$stats_port" >"$WORK/p/prometheus.yml"
prometheus_start "$WORK/p" --web.enable-remote-write-receiver
printf 'exporters:\n- {type: remote-write, url: "%s/api/v1/write", wait: 30s}\n' "$prometheus_url" >"$config"
begin=$(date +%s)
${CC:-cc} -shared -fPIC -o "$WORK/lib/libnvidia-ml.so.1" "$TESTLIB/fake/nvml.c" || exit 1
bw() { LD_LIBRARY_PATH=$WORK/lib FAKE_NVML='' "$BENCHWRAP" -q --sample 200ms --cluster tst --site lab "$@"; }
printf '#!/bin/sh\nsleep 3\ncat "%s/stdout"\n' "$ROOT/benchmarks/catalogue/ior/samples/3.0.1-human-reps3-fpp" >ior && chmod +x ior
printf 'references:\n  - benchmark: ior\n    metrics:\n      write.bw_MiB_per_s.max: [99999, -0.05, 0.1, MiB/s]\n' >refs.yaml
bw -R refs.yaml -- ./ior >/dev/null
bw --sample 100ms -- dd if=/dev/zero of=big bs=1M count=300 oflag=direct 2>/dev/null
bw -- sh -c 'dd if=/dev/zero of=big bs=1M count=300 conv=fsync 2>/dev/null; dd if=big of=/dev/null bs=1M iflag=direct 2>/dev/null; sleep 1'
llm_start "$FAKE"
bw -- "$LOAD" --url "$url" --rate 100 -d 3s --max-tokens 40 --json >llm.out 2>llm.err
"$BENCHWRAP" ls --json | jq -r '.[] | [.experiment, .status] | @tsv' >runs
sleep 2
"$BENCHWRAP" grafana queries | grep -v "^campaign	" >queries # that of a campaign's load has no campaign here: t1501
cat >ask.py <<'P'
import json, sys, time, urllib.parse, urllib.request
url, begin = sys.argv[1], int(sys.argv[2])
n = 0
for line in open("queries"):
    dashboard, panel, query = line.rstrip("\n").split("\t")
    for name in "site", "cluster", "benchmark", "node":
        query = query.replace("$" + name, ".*")
    query = query.replace("$metric", "write.bw_MiB_per_s.max" if dashboard in ("runs", "sites") else ".*").replace("$__range", "1h").replace("$__interval", "15s")
    answer = json.load(urllib.request.urlopen(url + "/api/v1/query_range?" + urllib.parse.urlencode({"query": query, "start": begin, "end": time.time() + 5, "step": 1})))
    n += 1
    if answer["status"] != "success" or not answer["data"]["result"]:
        print("no answer:", dashboard, "|", panel, "|", query)
print(n > 50)
P
is "every query of every dashboard has an answer" "$(python3 ask.py "$prometheus_url" "$begin" 2>&1)" True
curl -sG "$prometheus_url/api/v1/label/key/values" --data-urlencode 'match[]={__name__=~"benchwrap_.+",__name__!~"benchwrap_(node|reference)_.+",key!="",benchmark=~".*"}' >keys
ok "the variable of metrics has them" [ "$(jq '.data | index("write.bw_MiB_per_s.max") != null' keys)" = true ]
is "Prometheus has loaded the rules, and the missed reference fires" "$(wait_until 'curl -s "$prometheus_url/api/v1/alerts" | jq -r ".data.alerts[].labels.alertname" | grep -x BenchwrapRegression' 100 && echo fires)" fires

# ---- each alert by promtool: it fires, and it does not ----
cat >alerts.yaml <<'A'
rule_files: [../out/rules.yaml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {series: 'benchwrap_reference_missed{benchmark="ior",cluster="a",key="bw"}', values: '0x10 1x10'}
      - {series: 'benchwrap_reference_missed{benchmark="ior",cluster="b",key="bw"}', values: '0x20'}
      - {series: 'benchwrap_run_finished{benchmark="ior",cluster="a"}', values: '1x10 0x10'}
    alert_rule_test:
      - {eval_time: 5m, alertname: BenchwrapRegression, exp_alerts: []}
      - eval_time: 15m
        alertname: BenchwrapRegression
        exp_alerts: [{exp_labels: {severity: warning, benchmark: ior, cluster: a, key: bw}, exp_annotations: {summary: "ior on a missed its reference", description: "bw of the last run is out of its band."}}]
      - {eval_time: 5m, alertname: BenchwrapRunFailed, exp_alerts: []}
      - eval_time: 15m
        alertname: BenchwrapRunFailed
        exp_alerts: [{exp_labels: {severity: warning, benchmark: ior, cluster: a}, exp_annotations: {summary: "ior on a failed", description: "The last run failed: benchwrap ls shows it."}}]
  - interval: 1h
    input_series:
      - {series: 'benchwrap_run_end_time_seconds{site="s",cluster="a",benchmark="ior"}', values: '0 _x60'}
      - {series: 'benchwrap_run_end_time_seconds{site="s",cluster="b",benchmark="ior"}', values: '0+3600x60'}
    alert_rule_test:
      - {eval_time: 20h, alertname: BenchwrapRunMissing, exp_alerts: []}
      - eval_time: 40h
        alertname: BenchwrapRunMissing
        exp_alerts: [{exp_labels: {severity: warning, site: s, cluster: a, benchmark: ior}, exp_annotations: {summary: "ior on a has not run for 1d 16h 0m 0s", description: "A benchmark that ran within two weeks has had no run for 36 hours."}}]
  - interval: 1m
    input_series:
      - {series: 'push_time_seconds{job="benchwrap",site="s",cluster="a",benchmark="ior"}', values: '10000x10'}
      - {series: 'benchwrap_run_end_time_seconds{site="s",cluster="a",benchmark="ior",config="1"}', values: '2800x10'}
      - {series: 'push_time_seconds{job="benchwrap",site="s",cluster="b",benchmark="ior"}', values: '10000x10'}
      - {series: 'benchwrap_run_end_time_seconds{site="s",cluster="b",benchmark="ior",config="1"}', values: '9990x10'}
    alert_rule_test:
      - eval_time: 5m
        alertname: BenchwrapExporterBehind
        exp_alerts: [{exp_labels: {severity: warning, job: benchwrap, site: s, cluster: a, benchmark: ior}, exp_annotations: {summary: "Runs of ior on a arrive late", description: "The Pushgateway received a run 2h 0m 0s after its end: benchwrap exporter list shows what waits."}}]
  - interval: 1m
    input_series:
      - {series: 'benchwrap_node_cpu_utilization_ratio{node="n1",run="r"}', values: '0.9x30'}
      - {series: 'benchwrap_node_cpu_utilization_ratio{node="n2",run="r"}', values: '0.9x30'}
      - {series: 'benchwrap_node_cpu_utilization_ratio{node="n3",run="r"}', values: '0.9x30'}
      - {series: 'benchwrap_node_cpu_utilization_ratio{node="n4",run="r"}', values: '0.3x30'}
      - {series: 'benchwrap_node_cpu_utilization_ratio{node="n5",run="two"}', values: '0.9x30'}
      - {series: 'benchwrap_node_cpu_utilization_ratio{node="n6",run="two"}', values: '0.1x30'}
      - {series: 'benchwrap_node_gpu_power_usage_watts{node="n1",gpu="0",run="r"}', values: '600x30'}
      - {series: 'benchwrap_node_gpu_power_usage_watts{node="n1",gpu="1",run="r"}', values: '600x30'}
      - {series: 'benchwrap_node_gpu_power_usage_watts{node="n1",gpu="2",run="r"}', values: '600x30'}
      - {series: 'benchwrap_node_gpu_power_usage_watts{node="n1",gpu="3",run="r"}', values: '200x30'}
    alert_rule_test:
      - eval_time: 20m
        alertname: BenchwrapNodeUnlikePeers
        exp_alerts: [{exp_labels: {severity: warning, node: n4, run: r}, exp_annotations: {summary: "n4 differs from the other nodes of its run", description: "Its processors are used by 45% more or less than the mean of the nodes."}}]
      - eval_time: 20m
        alertname: BenchwrapGpuUnlikePeers
        exp_alerts: [{exp_labels: {severity: warning, node: n1, gpu: "3", run: r}, exp_annotations: {summary: "GPU 3 of n1 differs from the other GPUs of its run", description: "Its power differs by 60% from their mean."}}]
A
is "alert rules fire where they should, and nowhere else" "$(promtool test rules alerts.yaml 2>&1 | tail -n 40; promtool check rules "$WORK/out/rules.yaml" | tail -n 2 | xargs)" "Unit Testing:  alerts.yaml
  SUCCESS

SUCCESS: 6 rules found"
done_testing
