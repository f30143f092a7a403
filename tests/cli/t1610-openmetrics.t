#!/bin/bash
# The exporter openmetrics: text for node exporter, OpenMetrics and backfill, read by the strict parser of Prometheus's Python client.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
export BENCHWRAP_FINISH_WAIT=60s # a busy machine finishes a record later
. "$TESTLIB/venv.sh"
config=$HOME/.config/benchwrap/config.yaml
mkdir -p "$(dirname "$config")" "$WORK"/{d,text,open,back} && cd "$WORK/d" || exit 1
cat >"$config" <<C
exporters:
- {type: openmetrics, name: text, folder: $WORK/text, wait: 60s, labels: {size: param.size, team: hpc}}
- {type: openmetrics, name: open, folder: $WORK/open, wait: 60s, format: openmetrics}
- {type: openmetrics, name: back, folder: $WORK/back, wait: 60s, format: backfill}
C
bw() { "$BENCHWRAP" -q --cluster tst --site 'lab' "$@"; }
mkdir -p bin && printf '#!/bin/sh\nsleep 0.5\ncat "%s/stdout"\n' "$ROOT/benchmarks/catalogue/ior/samples/3.0.1-human-reps3-fpp" >bin/ior && chmod +x bin/ior
bw --sample 200ms -p size=4 -- ./bin/ior >/dev/null
is "one file for each site, cluster and benchmark, or run" "$(cd "$WORK" && ls text open) $(cd "$WORK/back" && ls | sed 's/[0-9a-f]\{32\}/ID/; s/[0-9]\{13\}/MS/')" "open:
benchwrap-lab-tst-ior.om

text:
benchwrap-lab-tst-ior.prom benchwrap-MS-ID.om"
text=$WORK/text/benchwrap-lab-tst-ior.prom
like "a value in base units, with labels" "$(grep '^benchwrap_write_bw_max_bytes' "$text")" '\{benchmark="ior",cluster="tst",config="[0-9a-f]{8}",experiment="ior",key="write.bw_MiB_per_s.max",site="lab",size="4",team="hpc"\} 1988781670\.4$'
like "samples of the machine have a node" "$(grep '^benchwrap_node_cpu_utilization_ratio' "$text")" "node=\"$(uname -n)\""
is "no sample has a time, which node exporter rejects" "$(grep -v '^#' "$text" | awk '{ n = gsub(/"[^"]*"/, ""); print NF }' | sort -u)" 2
if python=$(venv_python prometheus-client-0.26 120 prometheus_client==0.26.0); then
    cat >read.py <<'P'
import glob, json, subprocess, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain
units = {"MiB_per_s": 2**20, "GiB": 2**30, "MiB": 2**20, "B": 1, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "percent": 0.01, "": 1, "J": 1, "op_per_s": 1}
run = json.loads(subprocess.check_output([sys.argv[1], "show", "--json", "last"]))
series = json.loads(subprocess.check_output([sys.argv[1], "exporter", "send", "--dry-run", "raw", "last"]).decode().splitlines()[-1])
want = {}
for m in series["metrics"]:
    if not m["key"].startswith("system/"):
        for s in m["samples"] if len(m["samples"]) > 1 else [{**m["samples"][0], "step": None}]:
            want[(m["key"], s["step"])] = (s["value"] * units[m["unit"]], s["time_ms"])
for name, parse in ("text", plain), ("open", open_metrics), ("back", open_metrics):
    (path,) = glob.glob("../%s/*" % name)
    got = {}
    for family in parse(open(path, newline="").read()):
        for s in family.samples:
            key = s.labels.get("key", "")
            if key and not key.startswith("system/") and "reference" not in s.name:
                step = s.labels.get("step")
                got[(key, None if step is None else int(step))] = (s.value, s.timestamp)
    same = set(got) == set(want) and all(abs(got[k][0] - want[k][0]) <= 1e-12 * abs(want[k][0]) for k in want)
    times = name != "back" or all(abs(float(got[k][1]) * 1000 - want[k][1]) < 0.5 for k in want)
    print(name, len(got) > 50, same, times)
P
    printf -- '- {type: jsonl, name: raw, samples: yes, file: %s/raw, wait: 1ms}\n' "$WORK" >>"$config"
    is "strict parsers find each metric, its value and its time" "$("$python" read.py "$BENCHWRAP" 2>&1)" "text True True True
open True True True
back True True True"
else
    skip "strict parsers find each metric" "$python"
fi
bw -p size=8 -- sh -c 'echo "size_mb: 3"; exit 3'
like "a failed run" "$(grep -h 'run_finished' "$WORK"/text/*-sh.prom)" '"sh".* 0$'
bw -p "size=a\"b\\c$(printf '\001\377')d" -e '.. a b' -- true
is "names of files have letters, digits and dots" "$(ls "$WORK/text")" "benchwrap-lab-tst-ior.prom
benchwrap-lab-tst-sh.prom
benchwrap-lab-tst-true.prom"
like "... and values are escaped" "$(grep -h run_finished "$WORK/text/benchwrap-lab-tst-true.prom")" 'size="a\\"b\\\\c .*d"'
ok "a resend leaves the same file" sh -c "before=\$(ls '$WORK/back'; md5sum '$WORK'/back/*) && '$BENCHWRAP' exporter send back last >/dev/null && [ \"\$before\" = \"\$(ls '$WORK/back'; md5sum '$WORK'/back/*)\" ]"
bad() { printf 'exporters:\n- {type: openmetrics, name: x, %s}\n' "$1" >"$config"; bw -- true 2>err; grep -c "this exporter is ignored" err; }
is "wrong keys" "$(bad 'folder: rel') $(bad "folder: $WORK/text, labels: {a-b: x}") $(bad "folder: $WORK/text, labels: {key: x}") $(bad "folder: $WORK/text, format: html")" "1 1 1 1"
printf 'exporters:\n- {type: openmetrics, name: x, wait: 5s, folder: %s/none}\n' "$WORK" >"$config"; bw -- true
is "no such folder: the run waits" "$("$BENCHWRAP" exporter list --json | jq -c '.[] | [.delivered, .pending]')" "[0,1]"
mkdir "$WORK/none"; "$BENCHWRAP" sync >/dev/null; is "... until it is there" "$(ls "$WORK/none" | wc -l)" 1
is "no temporary file is left" "$(ls -A "$WORK"/text "$WORK"/open "$WORK"/back "$WORK"/none | grep -vE '\.prom$|\.om$|^$|:$')" ""
"$BENCHWRAP" exporter send x last --dry-run >printed
is "--dry-run prints the path of the file" "$(head -n 1 printed)" "$WORK/none/benchwrap-lab-tst-true.prom"
like "... and the file" "$(sed -n 3p printed)" '^# HELP benchwrap_[a-z_]+ Metric of benchwrap runs, in base units; the label key has its name in the record\.$'
done_testing
