#!/bin/bash
# The index of a tree: commands use it without being asked, and answer as without it: after changes in place, of a damaged index, for another user's cache.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
export XDG_CACHE_HOME=$PWD/cache
for i in 1 2 3; do "$BENCHWRAP" -q -e io -- sh -c "echo rate: $i MB/s" >/dev/null 2>&1; done
python3 - <<'P'
import glob, os, shutil
runs = sorted(os.path.dirname(f) for f in glob.glob("mlruns/[1-9]*/*/meta.yaml"))
for i in range(20):
    old, new = os.path.basename(runs[i % 3]), "%032x" % (i + 4096)
    to = os.path.join(os.path.dirname(runs[0]), new)
    shutil.copytree(runs[i % 3], to)
    with open(to + "/meta.yaml") as f: meta = f.read()
    with open(to + "/meta.yaml", "w") as f: f.write(meta.replace(old, new))
P
# Facts of the records are kept as soon as they are so many. Most are those of the run before, a param, a tag, a number of samples or a kind of run is not.
mkdir many
python3 - <<'P'
import glob, json, os
base = os.path.dirname(min(glob.glob("mlruns/[1-9]*/*/meta.yaml")))
os.makedirs("many/mlruns/1")
with open(base + "/meta.yaml") as f: meta = f.read()
with open(base + "/artifacts/benchwrap.json") as f: record = json.load(f)
first = record["run"]["start_ms"] - 10**8
for i in range(300):
    id, at, kind = "%032x" % i, first + i * 60000, i % 12 // 2 # two of a kind follow each other: the second has the same special facts
    run = json.loads(json.dumps(record))
    run["run"].update(id=id, start_ms=at, end_ms=at + 1000)
    run["metrics"]["rate_MB_per_s"]["value"] = 5 + i % 7 + 10 * (i > 200)
    if kind == 1: run["params"]["kernel.thp"] = {"value": ["never", "always"][i > 200]}
    if kind == 2: run["tags"]["benchwrap.warmup"] = {"value": "yes"}
    if kind == 3: run["metrics"]["rate_MB_per_s"]["samples"] = 1 + i % 2
    if kind == 4: run["tags"].update({"mlflow.parentRunId": {"value": "%032x" % (i // 12 * 12)}, "benchwrap.repetition": {"value": "1"}})
    os.makedirs(f"many/mlruns/1/{id}/artifacts")
    os.makedirs(f"many/mlruns/1/{id}/metrics")
    with open(f"many/mlruns/1/{id}/metrics/rate_MB_per_s", "w") as f: f.write(f"{at} {50 + i % 5} 0\n")
    with open(f"many/mlruns/1/{id}/artifacts/benchwrap.json", "w") as f: json.dump(run, f)
    with open(f"many/mlruns/1/{id}/meta.yaml", "w") as f:
        for line in meta.replace(os.path.basename(base), id).splitlines():
            f.write(f"{line.split(':')[0]}: {at + 1000 * line.startswith('end')}\n" if line.startswith(("start_time", "end_time")) else line + "\n")
P
both() # DESCRIPTION: the answers with and without the index are the same
{
    for to in with without; do
        { [ $to = with ] || export BENCHWRAP_NO_INDEX=1
          "$BENCHWRAP" export --format csv; "$BENCHWRAP" ls --all --json; "$BENCHWRAP" ls --filter "metrics.rate_MB_per_s >= 2"
          "$BENCHWRAP" export --long --format jsonl; "$BENCHWRAP" history
          cd many && "$BENCHWRAP" history --json && "$BENCHWRAP" explain --json "$(printf %032x 2)" "$(printf %032x 243)"; cd ..; } >$to.txt 2>$to.err
        unset BENCHWRAP_NO_INDEX
    done
    ok "$1" sh -c 'cmp with.txt without.txt && cmp with.err without.err && test -s with.txt'
}
both "at first"
sleep 5
both "when the runs have settled"
ok "the index is in the user's cache, which no other user reads, and not in the tree" sh -c 'test "$(stat -c %a cache/benchwrap/index cache/benchwrap/index/* | tr "\n" " ")" = "700 600 600 " && test -z "$(find mlruns -newer cache/benchwrap/index -name "*index*")"'
both "with an index"
ok "which has the facts of many runs" grep -qra "facts 1" cache/benchwrap/index
python3 - <<'P'
import glob, os
for i, f in enumerate(sorted(glob.glob("mlruns/[1-9]*/*/metrics/rate_MB_per_s"))):
    st = os.stat(f)
    with open(f, "r+") as o: # in place, of the same size, with the old time
        old = o.read()
        o.seek(0)
        o.write(old.replace(old.split()[1], str(7 + i % 2)))
    os.utime(f, ns=(st.st_atime_ns, st.st_mtime_ns))
for f in sorted(glob.glob("mlruns/[1-9]*/*/params/cpu.cores"))[:5]: os.remove(f)
P
both "after changes in place and removed files"
ok "which are in the answers" grep -q ',[78],' with.txt
for index in cache/benchwrap/index/*; do printf 'damaged' | dd of="$index" bs=1 seek=5000 conv=notrunc 2>/dev/null; done
both "with a damaged index"
for index in cache/benchwrap/index/*; do : >"$index"; done
both "with an empty index"
done_testing
