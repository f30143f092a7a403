#!/bin/sh
# t0930: each claim that docs/claims.md quotes stands in its document, and its test has the check that is named.
# without the program: it reads documents and tests
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cat >"$WORK/claims.py" <<'P'
import re, sys
root, path = sys.argv[1:]
plain = lambda text: re.sub(r"\s+", " ", text)
rows, bad = 0, 0
for line in open(path):
    cells = [c.strip() for c in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
    if len(cells) != 5 or cells[0] in ("claim",) or set(cells[0]) <= set("-"):
        continue
    rows += 1
    claim, document, test, check, _ = cells
    read = lambda name: open(f"{root}/{name}", encoding="utf-8").read()
    if plain(claim) not in plain(read(document)):
        print(f"{document} does not say: {claim}"); bad += 1
    if not any(check in line and re.match(r"\s*(.*[;&|]\s*)?(is|like|ok|look|\[.*\]|static void)\s", line) for line in read(test).splitlines()):
        print(f"{test} has no check: {check}"); bad += 1
print(f"{rows > 0} {bad}")
P
is "every claim stands in its document, and has its test" "$(python3 "$WORK/claims.py" "$ROOT" "$ROOT/docs/claims.md")" "True 0"
# What would not be found by a test that cannot fail.
{ cat "$ROOT/docs/claims.md"; echo '| benchwrap never fails. | README.md | tests/cli/t0100-exit.t | $way: exit $n | |'; } >"$WORK/false.md"
like "a sentence that no document has is found" "$(python3 "$WORK/claims.py" "$ROOT" "$WORK/false.md")" 'README.md does not say: benchwrap never fails'
{ cat "$ROOT/docs/claims.md"; echo '| If recording fails, the job continues. | README.md | tests/cli/t0100-exit.t | no such check | |'; } >"$WORK/untested.md"
like "a check that no test has is found" "$(python3 "$WORK/claims.py" "$ROOT" "$WORK/untested.md")" 't0100-exit.t has no check: no such check'
# Sentences that trials have contradicted stay out of the documents.
is "contradicted sentences are gone" "$(grep -nE 'nothing of it can make the job fail|output .* as without benchwrap|Secrets are in no record|stay below 4 ms|about fifteen milliseconds|costs\]\(docs/benchmarks.md\) about' "$ROOT/README.md" "$ROOT"/docs/*.md | grep -v '^[^:]*/claims.md')" ""
# Numbers that look alike: each is recorded under that key, has a unit and a definition, and names keys that exist.
cat >"$WORK/pairs.py" <<'P'
import os, re, sys
root = sys.argv[1]
text = open(f"{root}/docs/howto-sampling.md", encoding="utf-8").read().split("## Numbers that look alike")[1]
source = "".join(open(os.path.join(d, f), encoding="utf-8").read() for part in ("probes", "wrapper") for d, _, names in os.walk(f"{root}/{part}") for f in names if f.endswith((".c", ".def", ".h")))
rows = [[c.strip() for c in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| `")]
known = {k for row in rows for k in re.findall("`([^`]+)`", row[0])}
formed = lambda key: re.sub("_(start|end)_|_<name>_receive_", lambda m: "_%s_%s_" if "<" in m[0] else "_%s_", key.removeprefix("fs.")) # a key that is put together
for key, unit, definition, others in rows:
    if not unit or len(definition) < 20: print("no definition:", key)
    for k in re.findall("`([^`]+)`", key + others):
        if not any(f'"{w}"' in source for w in (k, formed(k), k.removeprefix("system/"))): print("not recorded:", k)
print(len(rows) > 15)
P
is "numbers that look alike are defined" "$(python3 "$WORK/pairs.py" "$ROOT")" True
done_testing
