#!/bin/sh
# `benchwrap check` accepts every run that benchwrap itself records: each sample of the catalogue as a program with its arguments, imports, series, retractions
# and corrections, in both profiles, with and without a site.
# sanitizer: long, because it records hundreds of runs
# early, because it takes long
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
export GIT_CONFIG_GLOBAL="$WORK/gitconfig" GIT_CONFIG_NOSYSTEM=1
printf '[user]\nname = Site\nemail = site@users.noreply.github.com\n[init]\ndefaultBranch = main\n' >gitconfig
each=40
long_tests && each=1

# Errors, and identities of any severity, of the range main..new, each finding with one example. Two belong to the replay: an output of a cluster is beyond this node's bounds, and some samples are
# made from others.
errors()
{
    "$BENCHWRAP" check --json --range main..new "$1" >"$WORK/report.json" 2>"$WORK/report.err"
    python3 - "$WORK/report.json" "$1" <<'END'
import json, os, subprocess, sys
try:
    j = json.load(open(sys.argv[1]))
except ValueError:
    print("no report")
    sys.exit()
bad, shown = [f for f in j["findings"] if f["severity"] == "error" and f["finding"] not in ("bound", "copy") or f["finding"].startswith("personal")], {}
for f in bad:
    run = "/".join(f["path"].split("/")[:3])
    name = subprocess.run(["git", "-C", sys.argv[2], "show", "new:%s/tags/benchmark" % run], capture_output=True, text=True).stdout
    shown.setdefault((f["finding"], f["text"]), "%s %s: %s (%s)" % (f["finding"], "/".join(f["path"].split("/")[3:]), f["text"], name))
print(len(bad), "of", j["runs"] > 0, *list(shown.values())[:12], sep="\n" if bad else " ")
END
}

# record DIR PROFILE SITE REMOTE
honest()
{
    git init -q "$1" && cd "$1" || exit 1
    printf 'profile: %s\n' "$2" >benchwrap.yaml
    [ -z "$3" ] || git config benchwrap.site "$3"
    printf '/.replay/\n/.benchwrap/\n' >.git/info/exclude
    git add -A && git commit -qm main && git checkout -q -b new
    python3 "$ROOT/tests/check/replay.py" "$BENCHWRAP" "$each" "$ROOT"/benchmarks/catalogue/*/samples/* >"$WORK/count"
    long_tests || python3 "$ROOT/tests/check/replay.py" "$BENCHWRAP" 1 "$ROOT"/benchmarks/catalogue/nccl-tests/samples/made-two-types >/dev/null # several programs in an output
    "$BENCHWRAP" -q -- sh -c 'echo plain' >/dev/null 2>&1
    "$BENCHWRAP" -q -- sh -c 'exit 3' >/dev/null 2>&1
    "$BENCHWRAP" -q -- sh -c 'kill -TERM $$' >/dev/null 2>&1
    "$BENCHWRAP" -q --timeout 200ms -- sleep 30 >/dev/null 2>&1
    "$BENCHWRAP" -q -- no-such-program --password hunter2horse --home "$HOME/x" --to /home/user/x --mail jo@site.org --by /home/jdoe/x >/dev/null 2>&1
    "$BENCHWRAP" -q -- sh -c '"$BENCHWRAP" log a.rate_MiB_per_s=5 x=nan; "$BENCHWRAP" log --param p=1 --tag t=2' >/dev/null 2>&1
    odd=$(printf 'a\033[31mred\302\205 \342\200\256gnp\177\tb\nc\001')
    SLURM_JOB_ID=7 SLURM_JOB_PARTITION=$odd "$BENCHWRAP" -q -n "$odd" --note "$odd" --tag "k=$odd" -p "q=$odd" --cluster "$odd" -- sh -c 'echo "$1"; "$BENCHWRAP" log --param "p=$1" --tag "t=$1"' - "$odd" >/dev/null 2>&1
    "$BENCHWRAP" -q --repeat 3 --warmup 1 -- sh -c 'echo "rate 5 MiB/s"' >/dev/null 2>&1
    "$BENCHWRAP" -q --sweep n=1,2 -- sh -c 'echo {n} done' >/dev/null 2>&1
    # In a repository of all samples an import is a copy of the run that printed it.
    long_tests || find "$ROOT"/benchmarks/catalogue/*/samples -name stdout -size +0 | LC_ALL=C sort | awk -v e="$each" 'NR % e == 3' | tr '\n' '\0' |
        xargs -0 "$BENCHWRAP" import >/dev/null 2>&1
    printf '#!/bin/sh\necho "speed 9 GB/s"\n' >.benchwrap/own && chmod +x .benchwrap/own
    "$BENCHWRAP" -q -e again -- .benchwrap/own >/dev/null 2>&1
    "$BENCHWRAP" rules new --from last -o .benchwrap/own.yaml 2>/dev/null
    "$BENCHWRAP" reparse --rules .benchwrap/own.yaml last >"$WORK/amended" 2>&1
    "$BENCHWRAP" -q -e withdrawn -- sh -c 'echo wrong' >/dev/null 2>&1
    "$BENCHWRAP" retract --why "the node was shared" last >/dev/null 2>&1
    git add -A mlruns && git commit -q -m runs
    is "$2 profile, ${3:-no} site: the runs name the site" "$(awk 1 mlruns/*/*/tags/site 2>/dev/null | sort -u)" "$3"
    like "… and a run is amended by a user's rules" "$(cat "$WORK/amended")" "1 amended"
    cd "$WORK" || exit 1
}

for profile in private public; do
    for site in "" tuxlab; do
        honest "$profile-$site" "$profile" "$site"
        is "$profile profile, ${site:-no} site: what benchwrap records is accepted ($(cat count) samples)" "$(errors "$profile-$site")" "0 of True"
    done
done

# Builds of 0.1.0 wrote the program's name alone into the argv of a public run. Such a run gets a warning that names the version; its figures are still verified.
cp -R public-tuxlab legacy && cd legacy && git checkout -q main && git checkout -q -b old
legacy() # CHANGE: the records of fio's runs, rewritten as those builds wrote them, and changed
{
    git checkout -q new -- mlruns
    python3 - "$1" <<'END'
import hashlib, json, os, sys
n = 0
for folder, dirs, files in list(os.walk("mlruns")):
    if os.path.basename(folder) != "artifacts" or "benchwrap.json" not in files:
        continue
    record = os.path.join(folder, "benchwrap.json")
    j = json.load(open(record))
    argued = [k for k, v in j["params"].items() if v["source"].endswith(":arguments")]
    if len(j["run"]["argv"]) < 2 or not argued:
        continue
    j["run"]["argv"] = [j["tags"]["benchmark"]["value"]]
    key = next((k for k, v in j["metrics"].items() if v["source"].startswith("rule") and v["samples"] == 1 and isinstance(v["value"], (int, float)) and v["value"]), None)
    if sys.argv[1] == "figure" and key and not n:
        v = j["metrics"][key]
        path = os.path.join(folder, "..", "metrics", key)
        words = open(path).read().split(" ")
        v["value"] *= 2
        open(path, "w").write(" ".join([words[0], repr(v["value"]), words[2]]))
    json.dump(j, open(record, "w"), ensure_ascii=False)
    m = json.load(open(os.path.join(folder, "manifest.json")))
    for f in m["files"]:
        data = open(os.path.join(folder, "..", f["path"]), "rb").read()
        f.update(size=len(data), sha256=hashlib.sha256(data).hexdigest())
    json.dump(m, open(os.path.join(folder, "manifest.json"), "w"))
    n += key is not None
END
    git add -A mlruns && git commit -q -m old
}
legacy nothing
out=$("$BENCHWRAP" check --range main..old 2>&1)
is "public runs of earlier builds are accepted" "$(printf '%s\n' "$out" | grep '^error' | grep -vE '^error +(bound|copy) ')" ""
like "… with a warning that names the version" "$out" 'warning +unverifiable .*benchwrap 0\.1\.0 withheld the arguments'
legacy figure
like "… and their figures are verified" "$("$BENCHWRAP" check --range main..old 2>&1)" 'error +figures '
cd "$WORK" || exit 1

# A shallow clone lacks the commits of the range: the message says what to do.
git -C private-tuxlab commit -q --allow-empty -m later
git clone -q --depth 1 --no-single-branch "file://$WORK/private-tuxlab" shallow
out=$("$BENCHWRAP" check --range origin/main..origin/new shallow 2>&1)
is "a shallow clone cannot be checked" "$("$BENCHWRAP" check --range origin/main..origin/new shallow >/dev/null 2>&1; echo $?)" 2
like "… and the hint says what to do" "$out" '^hint: the clone is shallow; run "git fetch --unshallow".*fetch-depth: 0'
like "… but a range without commits lacks nothing" "$("$BENCHWRAP" check --range origin/main..origin/main shallow 2>&1; echo $?)" '^0$'
# It has a common ancestor by one parent of a merge, and ends at the other parent: it does not have the commits that added a file and removed it again.
git -C private-tuxlab worktree add -q -b side ../side main && cd side || exit 1
git commit -q --allow-empty -m before && echo secret >notes && git add notes && git commit -qm adds && git rm -q notes && git commit -qm removes
git checkout -q -b joined main && git commit -q --allow-empty -m other && git merge -q --no-edit side && cd "$WORK" || exit 1
like "a file that was removed again is found" "$("$BENCHWRAP" check --range main..joined private-tuxlab 2>&1; echo "status $?")" '^error +history '
git clone -q --single-branch --branch main "file://$WORK/private-tuxlab" cut && git -C cut fetch -q --depth 3 origin joined
out=$("$BENCHWRAP" check --range origin/main..FETCH_HEAD cut 2>&1); status=$?
like "… and a shallow clone that ends before it approves nothing" "$status $(printf '%s' "$out" | tr '\n' ' ')" '^2 .*this clone lacks commits of the range .*hint: the clone is shallow'
git -C cut fetch -q --unshallow origin joined
like "… until the hint is followed" "$("$BENCHWRAP" check --range origin/main..FETCH_HEAD cut 2>&1; echo "status $?")" '^error +history '
done_testing
