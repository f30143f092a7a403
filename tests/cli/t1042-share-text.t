#!/bin/bash
# sanitizer: long, because each of its shares starts git several times
# The title and the text of a pull request: what does not fit is counted, and no name is too long.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/forge.sh"
command -v git >/dev/null 2>&1 || { skip "share" "git is not installed"; done_testing; exit; }
cd "$WORK" || exit
OUT=$WORK/out.txt
share() { "$BENCHWRAP" share "$@" >"$OUT" 2>"$WORK/err.txt"; }
said() { cat "$OUT" "$WORK/err.txt"; }
forge_start github
forge_clone clone && cd clone || exit

git config remote.away.pushurl "$HUB"
share --remote away; like "a remote that has no address: the next step" "$? $(said)" "^1 .*the remote away has no address: git config remote.away.url ADDRESS"
git config --remove-section remote.away

# Names of 46 characters with three bytes each, as MLflow accepts them.
export GITHUB_TOKEN=w
git config benchwrap.site "$(printf 'a%.0s' {1..40})"
for n in 1 2 3 4 5; do "$BENCHWRAP" -q -e "plain $n" -- echo "rate: 5 MB/s" >/dev/null 2>&1; done
sed -i "s/plain/$(printf '速%.0s' {1..44})/" mlruns/*/meta.yaml
share --no-check "renamed with MLflow"; like "long names: a request is opened" "$? $(said | tail -n 1)" "^0 pull request #1 opened"
is "... its title names the first experiments, and is no longer than forges accept" \
    "$(forge_pulls '(p["title"][:13], p["title"].count("速"), p["title"][-11:], len(p["title"]) <= 255)')" "('5 runs of aaa', 112, ' and 1 more', True)"

# The first run is in the site's branch only.
git config benchwrap.site alpha
forge_do merge/1/merge >/dev/null; git pull -q
"$BENCHWRAP" -q -e disk -- echo "rate: 5 MB/s" >/dev/null 2>&1; share
counted() { forge_pulls 'p["state"] == "open" and p["text"].split("**, ")[1].split(" file")[0]'; }
files_of() { find mlruns/*/"$1" -type f | wc -l; }
last() { "$BENCHWRAP" ls --json -e disk | jq -r '.[0].id'; }
first=$(last); files=$(files_of "$first")
is "the files of a run are counted" "$(counted)" "$files"
rm -r mlruns/*/"$first"
"$BENCHWRAP" -q -e disk -- echo "rate: 6 MB/s" >/dev/null 2>&1; share
is "... also where it is only in the site's branch" "$(said | grep -c 'up to date') $(counted)" "1 $((files + $(files_of "$(last)")))"

# 300 experiments, whose runs have errors so that the findings fill the text.
forge_do merge/2/merge >/dev/null; git pull -q
python3 - <<'END'
import glob, os, shutil, uuid
run = os.path.dirname(glob.glob("mlruns/*/*/artifacts")[0])
for n in range(300):
    experiment, id = str(700000000000 + n), uuid.uuid4().hex
    os.mkdir(f"mlruns/{experiment}")
    old = os.path.dirname(run)
    meta = open(f"{old}/meta.yaml").read().replace(os.path.basename(old), experiment)
    name = next(line for line in meta.splitlines() if line.startswith("name:"))
    open(f"mlruns/{experiment}/meta.yaml", "w").write(meta.replace(name, "name: '" + f"{n:03} " + "x" * 40 + "'"))
    shutil.copytree(run, f"mlruns/{experiment}/{id}")
    meta = open(f"{run}/meta.yaml").read().replace(os.path.basename(run), id).replace(os.path.basename(old), experiment)
    open(f"mlruns/{experiment}/{id}/meta.yaml", "w").write(meta)
END
share --no-check "copies"; like "300 experiments go" "$? $(tail -n 1 "$OUT")" "^0 pull request #3 opened"
forge_pulls 'p["number"] == 3 and p["text"]' >"$WORK/text.md"
shown=$(sed -n '/^| experiment | benchmark/,/^$/p' "$WORK/text.md" | grep -c xxx)
more=$(sed -n 's/^… and \([0-9]*\) more experiments\.$/\1/p' "$WORK/text.md")
is "... and the text counts those that it does not list" "$((shown + more))" 300
forge_stop
done_testing
