#!/bin/bash
# Every key that a run records is defined in docs/keys.md, and every row of samples in docs/howto-sampling.md; a key that is new needs a row.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >defined.py <<'P'
import fnmatch, os, re, sys
root = sys.argv[1]
def names(text):
    for cell in re.findall(r"^\| (`[^|]*) \|", text, re.M):
        for name in re.findall(r"`([^`]+)`", cell):
            braces = re.search(r"\{([^}]*)\}", name)
            for word in braces.group(1).split(",") if braces else [""]:
                yield re.sub(r"<[^>]*>", "*", name.replace(braces.group(0), word) if braces else name)
keys = list(names(open(root + "/docs/keys.md").read()))
samples = ["system/" + n.replace("…", "*") for n in names(open(root + "/docs/howto-sampling.md").read())]
assert len(keys) > 60 and len(samples) > 20
def known(key):
    if key.startswith("system/"):
        return any(fnmatch.fnmatchcase(key, s) for s in samples)
    return any(fnmatch.fnmatchcase(key, k) for k in keys)
for key in sorted(set(sys.stdin.read().split())):
    if not known(key):
        print(key)
P
undefined() { python3 defined.py "$ROOT"; }
"$BENCHWRAP" -q --sample 0.1 --counters -- sh -c 'head -c 50M /dev/zero >f; sync; sleep 1; (sleep 5 >/dev/null 2>&1 &) ' 2>/dev/null
run=$(dirname "$(echo mlruns/*/*/meta.yaml)")
{ ls "$run/params"; ls "$run/tags"; (cd "$run/metrics" && find . -type f | cut -c3-); jq -r '.missing[].key' "$run/artifacts/benchwrap.json"; } >keys
ok "a full run has many keys" [ "$(wc -l <keys)" -gt 120 ]
is "a full run: each key is defined" "$(undefined <keys)" ""
cat "$ROOT"/tests/probes/*/expect | sed -n 's/^probe:[a-z_]* [a-z]* \([^ ]*\) = .*/\1/p' >captured
ok "captured machines have many keys" [ "$(sort -u captured | wc -l)" -gt 180 ]
is "captured machines: each key is defined" "$(undefined <captured)" ""
is "a key without a row is found" "$(echo run.nonsense_s system/nonsense | undefined | xargs)" "run.nonsense_s system/nonsense"
# A row for all keys of a family defines none of them; only names that are not ours (variables, libraries, mounts) are families.
# shellcheck disable=SC2016 # the quotes of Markdown
is "no row for a family, but for names that are not ours" "$(grep -oE '`[a-z]+\.\*`' "$ROOT/docs/keys.md" | tr -d '\140' | sort | xargs)" "benchwrap.* env.* fs.* lib.* mlflow.* probe.*"
# What the sources name: also of hardware that this machine does not have.
(cd "$ROOT" && grep -rhoE '"(kernel|net|gpu|dimm|cloud|machine|software|limits|energy|counters|memory|numa|cpu|cache|mpi|slurm|pbs|lsf)\.[a-z][A-Za-z0-9_]*"' probes wrapper --include=*.c --include=*.def) |
    tr -d '"' | grep -vxE 'memory\.(current|events|max|high|limit_in_bytes|usage_in_bytes|oom_control|total)|gpu\.memory|net\.card|net\.fabric|numa\.memory|cpu\.(max|stat)' >named
ok "the sources name many keys" [ "$(sort -u named | wc -l)" -gt 150 ]
is "the sources: each key is defined" "$(undefined <named | xargs)" ""
done_testing
