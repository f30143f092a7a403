#!/bin/bash
# benchwrap grafana: dashboards and rules are complete documents, their names are those that exporters make; annotations. tests/long/grafana.t has the real ones.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
export BENCHWRAP_FINISH_WAIT=60s # a busy machine finishes a record later
config=$HOME/.config/benchwrap/config.yaml
mkdir -p "$(dirname "$config")" "$WORK"/{d,e} && cd "$WORK/d" || exit 1
"$BENCHWRAP" grafana --output out >written
is "everything is written" "$(xargs <written)" "out/runs.json out/sites.json out/llm.json out/nodes.json out/slurm.json out/campaign.json out/rules.yaml out/provider.yaml"
is "dashboards have uid, variables and panels with queries" "$(jq -c '[.uid, (.panels | length), ([.panels[].targets | length] | min), (.templating.list[0].type)]' out/{runs,sites,llm,nodes,slurm,campaign}.json)" '["benchwrap-runs",8,1,"datasource"]
["benchwrap-sites",5,1,"datasource"]
["benchwrap-llm",15,1,"datasource"]
["benchwrap-nodes",8,1,"datasource"]
["benchwrap-slurm",8,1,"datasource"]
["benchwrap-campaign",8,1,"datasource"]'
is "panels do not overlap" "$(python3 - <<'P'
import glob, json
bad = 0
for f in glob.glob("out/*.json"):
    cells = set()
    for p in json.load(open(f))["panels"]:
        g = p["gridPos"]
        for x in range(g["x"], g["x"] + g["w"]):
            for y in range(g["y"], g["y"] + g["h"]):
                bad += (x, y) in cells or x > 23
                cells.add((x, y))
print(bad)
P
)" 0
is "a dashboard to standard output is the file" "$("$BENCHWRAP" grafana llm | cmp - out/llm.json && "$BENCHWRAP" grafana rules | cmp - out/rules.yaml && echo same)" same
is "each alert has what Prometheus requires" "$(grep -c '^      - alert: ' out/rules.yaml) $(grep -c '^        expr: "' out/rules.yaml) $(grep -c '^          summary: "' out/rules.yaml)" "6 6 6"
is "the list" "$("$BENCHWRAP" grafana --json | jq -c '[.[].name]')" '["runs","sites","llm","nodes","slurm","campaign"]'
is "wrong words" "$(for a in nope "runs sites" "runs --output x"; do
    # shellcheck disable=SC2086 # words
    "$BENCHWRAP" grafana $a >/dev/null 2>&1; echo $?; done | xargs)" "125 125 125"
# Names of series that the dashboards use, of those that a run of this machine makes.
printf 'exporters:\n- {type: openmetrics, folder: %s, wait: 60s}\n' "$WORK/e" >"$config"
printf 'references:\n  - benchmark: ior\n    metrics:\n      write.bw_MiB_per_s.max: [99999, -0.05, 0.1, MiB/s]\n' >refs.yaml
printf '#!/bin/sh\nsleep 0.5\ncat "%s/stdout"\n' "$ROOT/benchmarks/catalogue/ior/samples/3.0.1-human-reps3-fpp" >ior && chmod +x ior
"$BENCHWRAP" -q --sample 100ms -R refs.yaml -- ./ior >/dev/null
"$BENCHWRAP" grafana queries | cut -f 3 | grep -oE 'benchwrap_(run|reference|node_process|node_system|node_cpu)_[a-z_]+' | sort -u >used
sed -n 's/^# TYPE \([a-z_]*\) .*/\1/p' "$WORK"/e/*.prom | sort -u >made
is "the names of series are those that exporters make" "$(comm -23 used made | xargs) $([ "$(wc -l <used)" -gt 8 ] && echo many)" " many"
# Annotations, by the lines of the howto.
python3 "$TESTLIB/http-endpoint.py" "$WORK/e" 2>/dev/null & endpoint=$!
trap 'kill $endpoint 2>/dev/null; wait $endpoint 2>/dev/null; tap_exit' EXIT
wait_until '[ -e "$WORK/e/port" ]'
sed -n '/^    name: annotations/,/^```/p' "$ROOT/docs/howto-exporter.md" | grep -v '^```' | sed "s,https://grafana.example.org,http://127.0.0.1:$(cat "$WORK/e/port")/ok,; s,{file: [^}]*},{env: GRAFANA}," | { printf 'exporters:\n  - type: httpjson\n    wait: 60s\n'; cat; } >"$config"
GRAFANA=glsa_x "$BENCHWRAP" -q -- ./ior >/dev/null
is "a run is an annotation" "$(jq -c '[.path, .headers.authorization, (.body | [.tags[0], .tags[1], (.timeEnd - .time > 400), (.text | length > 20)])]' "$WORK/e/got.jsonl")" '["/ok/api/annotations","Bearer glsa_x",["benchwrap","ior",true,true]]'
done_testing
