#!/bin/bash
# Metrics of runs in real components: Prometheus by backfill and remote write, node exporter, the Pushgateway. What Prometheus answers is compared
# with the record: each metric, its value in base units and its time.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/mlflow_server.sh"
. "$TESTLIB/prometheus.sh"
if ! prometheus_ready; then
    skip "metrics in Prometheus" "$prometheus_why"
    done_testing
    exit
fi
unset http_proxy https_proxy all_proxy
finish_here() { prometheus_stop; tap_exit; }
trap finish_here EXIT
config=$HOME/.config/benchwrap/config.yaml
mkdir -p "$(dirname "$config")" "$WORK"/{d,text,back,write,backfill} && cd "$WORK/d" || exit 1
bw() { "$BENCHWRAP" -q --cluster 'my cluster/ä' --site lab "$@"; }
printf 'storage: {tsdb: {out_of_order_time_window: 30d}}\n' >"$WORK/write/prometheus.yml"
prometheus_start "$WORK/write" --web.enable-remote-write-receiver
write_url=$prometheus_url
pushgateway_start "$WORK"
cat >"$config" <<C
exporters:
- {type: openmetrics, name: text, folder: $WORK/text, wait: 20s}
- {type: openmetrics, name: back, folder: $WORK/back, wait: 20s, format: backfill}
- {type: pushgateway, name: gate, url: '$pushgateway_url/', wait: 20s}
- {type: remote-write, name: write, url: '$write_url/api/v1/write', wait: 20s}
- {type: jsonl, name: raw, samples: yes, file: $WORK/raw, wait: 20s}
C
mkdir -p bin
printf '#!/bin/sh\nsleep 1\ncat "%s/stdout"\n' "$ROOT/benchmarks/catalogue/ior/samples/3.0.1-human-reps3-fpp" >bin/ior && chmod +x bin/ior
printf 'references:\n  - benchmark: ior\n    metrics:\n      write.bw_MiB_per_s.max: [99999, -0.05, 0.1, MiB/s]\n' >refs.yaml
bw --sample 200ms -R refs.yaml -- ./bin/ior >/dev/null
bw --sample 200ms -p size=4 -R refs.yaml -- ./bin/ior >/dev/null
bw --sample 200ms -- ./bin/ior >/dev/null
bw -e other -- sh -c 'echo "rate: 3.25 op/s"; echo "latency: 3.5 us"; exit 4'
is "each exporter has delivered each run" "$("$BENCHWRAP" exporter list --json | jq -c '.[] | [.name, .delivered, .pending, .dead_letters]')" '["text",4,0,0]
["back",4,0,0]
["gate",4,0,0]
["write",4,0,0]
["raw",4,0,0]'

# What the record has: each metric of the runs, with step where it has several samples; then what Prometheus has of all times.
cat >compare.py <<'P'
import json, sys, time, urllib.parse, urllib.request
url, raw = sys.argv[1:3]
exact = {"MiB_per_s": 2.0**20, "GiB": 2.0**30, "MiB": 2.0**20, "KiB": 1024.0, "MB_per_s": 1e6, "B_per_s": 1.0, "op_per_s": 1.0, "s": 1.0, "": 1.0, "J": 1.0, "W": 1.0, "Hz": 1.0}
divide = {"ms": 1e3, "us": 1e6, "ns": 1e9, "percent": 100.0}
machine = {"_megabytes_per_second": 1e6, "_megabytes": 1e6, "_percentage": -100, "_megahertz": 1e6}
def base(m, v):
    if m["key"].startswith("system/"):
        for end, f in machine.items():
            if m["key"].endswith(end):
                return v / -f if f < 0 else v * f
        return v
    return v * exact[m["unit"]] if m["unit"] in exact else v / divide[m["unit"]]
want = set()
for line in open(raw):
    r = json.loads(line)
    for m in r["metrics"]:
        several = len(m["samples"]) > 1 and not m["key"].startswith("system/")
        for s in m["samples"]:
            want.add((r["experiment"], m["key"], str(s["step"]) if several else "", s["time_ms"], base(m, s["value"])))
def get(path, **query):
    return json.load(urllib.request.urlopen(url + path + "?" + urllib.parse.urlencode(query)))["data"]
got, stale = set(), 0
# A range selector returns samples as they are stored.
for s in get("/api/v1/query", query='{__name__=~"benchwrap_.*",key!="",__name__!~"benchwrap_reference.*"}[30d]', time=str(time.time() + 60))["result"]:
    for t, v in s["values"]:
        got.add((s["metric"]["experiment"], s["metric"]["key"], s["metric"].get("step", ""), round(t * 1000), float(v)))
print(len(want) > 300, sorted(want - got)[:3], sorted(got - want)[:3])
runs = {r["run"] if "run" in r else r["id"] for r in map(json.loads, open(raw))}
info = get("/api/v1/query", query="last_over_time(benchwrap_run_info[30d])", time=str(time.time() + 60))["result"]
print({i["metric"]["run"] for i in info} == runs, sorted({i["metric"]["cluster"] + " " + i["metric"]["job"] + " " + i["metric"]["verdict"] for i in info}))
P
sleep 1
is "remote write: all samples of all runs, with value and time" "$(python3 compare.py "$write_url" "$WORK/raw")" "True [] []
True ['my cluster/ä benchwrap fail', 'my cluster/ä benchwrap pass']"
is "... a node's series ends with the run" "$(curl -s "$write_url/api/v1/query" --data-urlencode 'query=count(benchwrap_node_process_threads)' --data-urlencode "time=$(($(date +%s) + 5))" | jq -c .data.result)" "[]"
"$BENCHWRAP" exporter send write -e ior >sent
is "a resend changes nothing" "$(cat sent; python3 compare.py "$write_url" "$WORK/raw" | sed -n 1p)" "write: 3 of 3 runs delivered
True [] []"
(cat "$WORK"/back/*.om | grep -v '^# EOF'; echo '# EOF') >all.om
promtool tsdb create-blocks-from openmetrics all.om "$WORK/backfill/data" >blocks 2>&1
prometheus_start "$WORK/backfill"
is "backfill: the same by promtool's blocks" "$(python3 compare.py "$prometheus_url" "$WORK/raw")" "True [] []
True ['my cluster/ä benchwrap fail', 'my cluster/ä benchwrap pass']"

# ---- InfluxDB and VictoriaMetrics ----
influx_start "$WORK"
victoria_start "$WORK"
cat >>"$config" <<C
- {type: influx, name: influx, url: '$influx_url', db: runs}
- {type: influx, name: lines, url: '$victoria_url', db: any}
- {type: remote-write, name: victoria, url: '$victoria_url/api/v1/write', labels: {way: remote}}
C
for name in influx lines victoria; do "$BENCHWRAP" exporter send $name -e ior; "$BENCHWRAP" exporter send $name -e ior; done >sent
is "InfluxDB and VictoriaMetrics accept the runs, and a resend" "$(sort -u sent)" "influx: 3 of 3 runs delivered
lines: 3 of 3 runs delivered
victoria: 3 of 3 runs delivered"
query='SELECT write_bw_max_bytes_per_second FROM benchwrap WHERE "key" = '"'write.bw_MiB_per_s.max'"
is "InfluxDB: a value of each run, with its time" "$(curl -s -G "$influx_url/query" --data-urlencode db=runs --data-urlencode epoch=ms --data-urlencode "q=$query" | jq -c '.results[0].series[0].values')" \
    "$(jq -c 'select(.experiment == "ior") | .metrics[] | select(.key == "write.bw_MiB_per_s.max") | [.time_ms, .value * 1048576]' "$WORK/raw" | jq -cs 'sort')"
curl -s "$victoria_url/internal/force_flush"
sleep 1
victoria() { curl -s "$victoria_url/api/v1/export" --data-urlencode "match[]=benchwrap_write_bw_max_bytes_per_second{way$1}" | jq -cs '[.[] | [.timestamps, .values] | transpose[]] | sort | unique'; }
expected=$(jq -c 'select(.experiment == "ior") | .metrics[] | select(.key == "write.bw_MiB_per_s.max") | [.time_ms, .value * 1048576]' "$WORK/raw" | jq -cs 'sort')
is "VictoriaMetrics: the same by remote write, and by line protocol under the same name" "$(victoria '="remote"')
$(victoria '=""')" "$expected
$expected"

# ---- node exporter and promtool ----
is "promtool accepts each file" "$(for f in "$WORK"/text/*.prom; do promtool check metrics <"$f" 2>&1 || echo "$f"; done)" ""
node_port=$(free_port)
prometheus-node-exporter --web.listen-address="127.0.0.1:$node_port" --collector.disable-defaults --collector.textfile --collector.textfile.directory="$WORK/text" >"$WORK/node.log" 2>&1 &
prometheus_pids="$prometheus_pids $!"
prometheus_wait "http://127.0.0.1:$node_port/metrics"
curl -s "http://127.0.0.1:$node_port/metrics" >node.txt
is "node exporter shows all series of both files" "$(grep -c '^benchwrap_' node.txt) $(grep '^node_textfile_scrape_error' node.txt)" "$(cat "$WORK"/text/*.prom | grep -c '^benchwrap_') node_textfile_scrape_error 0"
while [ ! -e enough ]; do bw -e other -- true; done & loop=$!
for _ in $(seq 100); do curl -s "http://127.0.0.1:$node_port/metrics" | grep '^node_textfile_scrape_error'; done | sort | uniq -c >errors
touch enough; wait $loop
is "... and finds no part of a file while runs replace them" "$(awk '{ print $2, $3 }' errors)" "node_textfile_scrape_error 0"

# ---- Pushgateway ----
gate() { curl -s "$pushgateway_url/metrics" | grep "$@"; }
is "a group for each site, cluster and benchmark" "$(curl -s "$pushgateway_url/api/v1/metrics" | jq -r '.data[].labels | [.job, .site, .cluster, .benchmark] | join(" ")' | sort)" "benchwrap lab my cluster/ä ior
benchwrap lab my cluster/ä sh
benchwrap lab my cluster/ä true"
is "... with the latest run" "$(gate -c '^benchwrap_write_bw_max_bytes_per_second{.*cluster="my cluster/ä"')" 1
is "... and its outcome" "$(gate '^benchwrap_run_finished{.*benchmark="sh"' | sed 's/.* //')" 0
kill $pushgateway_pid; wait $pushgateway_pid 2>/dev/null
bw -- ./bin/ior >/dev/null
is "an outage: the run waits" "$("$BENCHWRAP" exporter list --json | jq -c '.[] | select(.name == "gate") | [.pending, .dead_letters]')" "[1,0]"
pushgateway_start "$WORK"
sed -i "s,url: 'http[^']*/'\, wait,url: '$pushgateway_url'\, wait," "$config"
"$BENCHWRAP" sync >/dev/null
is "... and is delivered after it" "$("$BENCHWRAP" exporter list --json | jq -c '.[] | select(.name == "gate") | [.pending, .dead_letters]') $(gate -c '^benchwrap_run_info{')" "[0,0] 1"
done_testing
