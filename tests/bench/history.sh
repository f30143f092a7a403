# shellcheck shell=bash
# history.sh: part of run: the search for change points, and explain, over many runs. Sourced; uses its functions and variables.

# A tree of N runs with 20 metrics each, one of which changes; of 100,000 the records are shared by links. Texts of the environment always are, as far as the file system can.
many_histories() # N
{
    "$BW" -- sh -c 'echo a line' >/dev/null || return 1
    python3 - "$(ls -d mlruns/[1-9]*/*/meta.yaml)" "$1" <<'P'
import json, os, random, shutil, sys
run, count = os.path.dirname(sys.argv[1]), int(sys.argv[2])
base, old = os.path.split(run)
with open(run + "/meta.yaml") as f: meta = f.read()
with open(run + "/artifacts/benchwrap.json") as f: record = json.load(f)
first, records = record["run"]["start_ms"] - count * 60000 - 10**7, []
random.seed(1)
for i in range(count):
    id = f"{i * 2654435761 % 2**32:08x}{i:024x}"
    to, start = f"{base}/{id}", first + i * 60000
    os.makedirs(to + "/artifacts")
    for name in ("environment.txt", "libraries.txt"): # a file has 65,000 names at most
        if i % 50000: os.link(f"{last}/artifacts/{name}", f"{to}/artifacts/{name}")
        else: shutil.copy(f"{run}/artifacts/{name}", f"{to}/artifacts/{name}")
    if i % 50000 == 0: last = to
    with open(to + "/meta.yaml", "w") as f:
        for line in meta.replace(old, id).splitlines():
            f.write(f"start_time: {start}\n" if line.startswith("start_time") else f"end_time: {start + 1000}\n" if line.startswith("end_time") else line + "\n")
    if i >= 10000:
        os.link(records[i % 10000], to + "/artifacts/benchwrap.json")
        continue
    record["run"].update(id=id, start_ms=start, end_ms=start + 1000)
    for k in range(20):
        value = 1000 * (1 + .02 * random.gauss(0, 1)) * (.95 if k == 0 and i >= count // 2 else 1)
        record["metrics"][f"m{k}_MB_per_s"] = {"value": value, "unit": "MB_per_s", "direction": "higher", "source": "rule:demo:r", "samples": 1}
    records.append(to + "/artifacts/benchwrap.json")
    with open(records[-1], "w") as f: json.dump(record, f, indent=1)
print(f"{0:08x}{0:024x}", f"{1 * 2654435761 % 2**32:08x}{1:024x}")
P
}

if wanted history; then
    for many in 10000 ${BENCH_BIG:+100000}; do
        [ -z "${BENCH_QUICK:-}" ] || many=1000
        bar="<=$([ "$many" = 100000 ] && echo 10 || echo 1)"
        mkdir "history$many" && cd "history$many" && pair=$(many_histories "$many") || exit 1
        # shellcheck disable=SC2086 # two ids
        t=$("$M" time -n "$(rounds 5)" -w 1 -- "$BW" history --- "$BW" explain $pair) || exit 1
        mapfile -t r <<<"$t"
        otava=$("${OTAVA_PYTHON:-python3}" - "$many" 2>/dev/null <<'P'
import random, sys, time
from otava.series import Metric, Series
n = int(sys.argv[1])
random.seed(1)
data = {f"m{k}": [1000 * (1 + .02 * random.gauss(0, 1)) for _ in range(n)] for k in range(20)}
series = Series("t", None, list(range(n)), {m: Metric(1, 1.0) for m in data}, data, {})
start = time.time()
series.analyze()
print(f"s: Otava's search alone, without reading {time.time() - start:.2f}")
P
        )
        row history "history of $many runs with 20 metrics, warm" "$(calc "$(first "${r[0]}")/1e3")" s "$bar" "${otava:--}"
        [ "$many" = 100000 ] || row history "explain two runs of $many, warm" "$(calc "$(first "${r[1]}")/1e3")" s '<=1' "-"
        if [ "$many" -le 10000 ]; then
            mcp_calls "history {}" "explain {\"base\":[\"${pair% *}\"],\"other\":[\"${pair#* }\"]}" || exit 1
            row history "an agent's call over $many runs, warm: history" "${calls[0]}" s '<=0.2' "-"
            row history "an agent's call over $many runs, warm: explain" "${calls[1]}" s '<=0.2' "-"
        fi
        cd "$work" && rm -rf "history$many"
        [ -z "${BENCH_QUICK:-}" ] || break
    done
fi
