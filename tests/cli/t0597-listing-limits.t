#!/bin/bash
# What listings and `show` make of many experiments, many metrics, deep chains of child runs and values that are no numbers.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >make.py <<'END'
# made.py TREE: run(experiment, name, metrics={key: lines}, tags={}) writes a run and returns its id.
import os, sys, zlib
root, count = sys.argv[1], 0
def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
def run(experiment, name, metrics={}, tags={}, status=3):
    global count
    count += 1
    number = str(zlib.crc32(experiment.encode()))
    where, id = f"{root}/{number}", f"{count:032x}"
    put(f"{where}/meta.yaml", f"artifact_location: ''\ncreation_time: 1\nexperiment_id: '{number}'\nlast_update_time: 1\nlifecycle_stage: active\nname: '{experiment}'\n")
    put(f"{where}/{id}/meta.yaml", f"artifact_uri: ''\nend_time: {2000 + 10 * count}\nentry_point_name: ''\nexperiment_id: '{number}'\nlifecycle_stage: active\nrun_id: {id}\n"
        f"run_name: '{name}'\nsource_name: ''\nsource_type: 4\nsource_version: ''\nstart_time: {1000 + 10 * count}\nstatus: {status}\ntags: []\nuser_id: u\n")
    for key, lines in metrics.items():
        put(f"{where}/{id}/metrics/{key}", lines)
    for key, text in tags.items():
        put(f"{where}/{id}/tags/{key}", text)
    return id
END
make() { cat make.py - >made.py; python3 made.py "$1/mlruns"; } # FOLDER of mlruns

make names <<'END'
for n in range(15): run(f"e{n:02}", "x")
END
like "15 experiments: the rest is counted" "$("$BENCHWRAP" ls -t names -e nosuch 2>&1)" 'there are: e14, .*, e03 and 3 more$'
make twelve <<'END'
for n in range(12): run(f"e{n:02}", "x")
END
like "... and nothing is added to exactly 12" "$("$BENCHWRAP" ls -t twelve -e nosuch 2>&1)" 'there are: e11, .*, e00$'

make wide <<'END'
for n in range(60):
    keys = [f"m{n:02}x{k}" for k in range(8)]
    run("wide", "x", {key: f"1 {k}.5 0\n" for k, key in enumerate(keys)}, {"benchwrap.headline": " ".join(keys)})
END
is "CSV has a column for each of 480 metrics" "$("$BENCHWRAP" ls -t wide --last 100 --csv | head -n 1 | tr , '\n' | grep -c '^m')" 480
is "... with its value" "$("$BENCHWRAP" ls -t wide --last 100 --csv | grep -cF ,7.5)" 60

make deep <<'END'
above = None
for n in range(5): above = run("deep", f"level {n}", {}, {"mlflow.parentRunId": above} if above else {})
END
like "child runs are counted at any depth" "$("$BENCHWRAP" ls -t deep)" 'level 0, 4 child runs'
make chain <<'END'
above = None
for n in range(5000): above = run("chain", "x", {}, {"mlflow.parentRunId": above} if above else {})
END
is "a chain of 5000 runs is listed" "$( (ulimit -s 200; "$BENCHWRAP" ls -t chain --all -c --columns run_id --csv 2>&1 || echo "failed $?") | wc -l) $( (ulimit -s 200; "$BENCHWRAP" ls -t chain -c >/dev/null 2>&1); echo $?)" "5001 0"

make odd <<'END'
run("odd", "x", {"lost": "1 nan 0\n2 nan 1\n", "some": "1 3 0\n2 nan 1\n3 5 2\n"}, status=4)
put(f"{root}/{zlib.crc32(b'odd')}/{count:032x}/artifacts/stderr.log", "é" * 300 + "\n")
END
like "a metric without a number has no range" "$("$BENCHWRAP" show -t odd | grep -c inf) $("$BENCHWRAP" show -t odd | grep some)" '^0 .*median of 2, 3 . 5'
out=$("$BENCHWRAP" show -t odd)
is "a long last line is cut between characters, and the cut is marked" "$(printf '%s' "$out" | iconv -f UTF-8 -t UTF-8 >/dev/null 2>&1; echo $?) $(printf '%s' "$out" | tr -d ' \n' | grep -o 'é*\.\.\.' | wc -m)" "0 204"

# Pages: 105 sites, of which two differ only behind the 200th byte of a param, in 150 params and in the 300th; 310 inputs on one machine.
make paged <<'END'
def one(site, value, params):
    id = run("io", "x", {"speed_MB_per_s": f"1 {value} 0\n"}, {"benchwrap.headline": "speed_MB_per_s", "benchmark": "io", "benchwrap.verdict": "pass", **({"site": site} if site else {})})
    for key, text in {"node.type": "0123abcd", **params}.items():
        put(f"{root}/{zlib.crc32(b'io')}/{id}/params/{key}", text)
for site in range(105):
    one(f"s{site:03}", 100 + site, {"size": "1", "os.long": "x" * 300 + str(site), **{f"env.n{n:03}": str(site if n < 150 else 7) for n in range(250)}, "step.last": str(site)})
for size in range(310): one("s000", 5, {"size": str(1000 + size)})
END
"$BENCHWRAP" pages -t paged -o web >out 2>&1
text() { sed 's/<[^>]*>/ /g' "$1" | tr -s '\n ' ' '; }
like "pages: sites that are not listed are counted" "$(text web/index.html)" ' 5 more sites: see the JSON'
page=$(grep -l 'id="differences"' web/measurement/*.html | head -n 1)
like "... sites that are not compared" "$(text "$page")" 'The first 12 of 105 sites\.'
like "... differences behind the 200th byte of a value" "$(text "$page")" 'os\.long x+\.\.\. \([0-9a-f]{8}\) x+\.\.\. \([0-9a-f]{8}\)'
like "... and conditions that differ and are not listed" "$(text "$page")" ' 32 more conditions differ\.'
machine=$(ls -S web/machine/*.html | head -n 1)
like "... results of a machine" "$(text "$machine")" ' 11 more measurements: see the JSON'
is "... which has them" "$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["results"]))' "${machine%html}json")" 311
done_testing
