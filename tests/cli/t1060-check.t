#!/bin/sh
# `benchwrap check`: honest pull requests pass without a finding, forged and malicious ones are refused for the right reason.
# sanitizer: long, because it makes 150 pull requests
# early, because it takes long
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
export GIT_CONFIG_GLOBAL="$WORK/gitconfig" GIT_CONFIG_NOSYSTEM=1
printf '[user]\nname = Site\nemail = site@users.noreply.github.com\n[init]\ndefaultBranch = main\n' >gitconfig
ior=$ROOT/benchmarks/catalogue/ior/samples/4.0.0-human-reps3-fpp/stdout
keep() { git add -A mlruns && git commit -q -m "$1"; }

git init -q work && cd work || exit 1
echo "# Results" >README.md
"$BENCHWRAP" -q --site a.example -- sh -c 'echo a program that is published; echo of two lines; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done' >/dev/null
git add README.md && keep published
git checkout -q -b new
"$BENCHWRAP" -q -- sh -c 'echo plain; i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done' >/dev/null
"$BENCHWRAP" -q -- sh -c 'exit 3' >/dev/null
"$BENCHWRAP" -q -- sh -c 'kill -TERM $$' >/dev/null 2>&1
"$BENCHWRAP" -q --timeout 200ms -- sleep 30 >/dev/null 2>&1
"$BENCHWRAP" -q --repeat 3 --warmup 1 -- sh -c 'echo "rate 5 MiB/s"' >/dev/null 2>&1
"$BENCHWRAP" -q --sweep n=1,2 -- sh -c 'echo {n} done' >/dev/null 2>&1
"$BENCHWRAP" -q -- sh -c '"$BENCHWRAP" log a.rate_MiB_per_s=5 x=nan; "$BENCHWRAP" log --param p=1 --tag t=2' >/dev/null 2>&1
"$BENCHWRAP" -q -e other -- sh -c 'yes 0123456789012345678901234567890 | head -c 3000000' --log-max 1M >/dev/null 2>&1
"$BENCHWRAP" -q --log-max 64K -- sh -c 'yes 0123456789012345678901234567890 | head -c 300000' >/dev/null 2>&1
"$BENCHWRAP" import "$ROOT"/benchmarks/catalogue/hpcc/samples/*/stdout "$(set -- "$ROOT"/benchmarks/catalogue/io500/samples/*/stdout; echo "$1")" >/dev/null 2>&1
"$BENCHWRAP" -q --rules ior -- cat "$ior" >/dev/null 2>&1
keep "honest runs"
out=$("$BENCHWRAP" check --json --range main..new); rc=$?
of_json() { printf '%s' "$out" | python3 -c "import json,sys; j=json.load(sys.stdin); $1"; }
is "honest runs of every kind pass" "$rc $(of_json 'print(j["errors"], j["warnings"], *sorted({f["finding"] for f in j["findings"]}))')" "0 0 0 claimed"
ok "… and there were many" [ "$(of_json 'print(j["runs"])')" -ge 16 ]
is "… and what a program says by its own word is counted" "$(of_json 'print(j["runs_unverifiable"])')" 1
is "the tree on disk passes too" "$("$BENCHWRAP" check >/dev/null; echo $?)" 0
is "a run that is merged another way is no news" "$(git checkout -q -b squashed main; git merge -q --squash new >/dev/null 2>&1; git commit -qm squashed; "$BENCHWRAP" check --range squashed..new)" "0 runs checked: no problem found"
like "a range that is none is told" "$("$BENCHWRAP" check --range nowhere..new 2>&1; echo "rc $?")" 'nowhere.*not found'
is "… and is neither good nor bad" "$("$BENCHWRAP" check --range nowhere..new >/dev/null 2>&1; echo $?)" 2
is "no repository is told, too" "$("$BENCHWRAP" check --range a..b / >/dev/null 2>&1; echo $?)" 2

# Rules of one's own that read another column are told, and so is what the shipped ones read.
cp "$ROOT/benchmarks/catalogue/ior/rules.yaml" mine.yaml
sed -i 's|cell: bw, unit: MiB_per_s, better|cell: bw, unit: MiB_per_s, from: GiB/s, better|' mine.yaml # a thousandfold
"$BENCHWRAP" -q -t own --rules ./mine.yaml -- cat "$ior" >/dev/null 2>&1
like "unknown rules are told" "$("$BENCHWRAP" check own)" 'warning +rules-unknown'
like "… and what the shipped ones read" "$("$BENCHWRAP" check own)" 'warning +rules-differ .*bw_MiB_per_s'
is "warnings do not refuse" "$("$BENCHWRAP" check own >/dev/null; echo $?)" 0
is "… unless that is wanted" "$("$BENCHWRAP" check --fail-on warning own >/dev/null; echo $?)" 1
mkdir -p trusted/ior && cp mine.yaml trusted/ior/rules.yaml
is "rules that the reviewer has are known" "$("$BENCHWRAP" check --rules trusted own)" "1 run checked: no problem found"

# Every sample of the catalogue, read by its rules, gives the same again.
cd "$WORK" || exit 1
find "$ROOT"/benchmarks/catalogue/*/samples -name stdout -size +0 | LC_ALL=C sort | { if long_tests; then cat; else awk 'NR % 8 == 0'; fi; } |
    tr '\n' '\0' | xargs -0 "$BENCHWRAP" import -t samples >/dev/null 2>&1
is "imported samples pass; readings of one output are told" "$("$BENCHWRAP" check --json samples 2>&1 | python3 -c 'import json, sys; j = json.load(sys.stdin); print(j["errors"], j["runs"] > 0, {f["finding"] for f in j["findings"]} <= {"copy-output"})')" "0 True True"

# Forged ones.
git clone -q --bare work forged.git
git -C forged.git remote remove origin # with a remote and without a profile it would be public
for set in forge forge_more; do
    ok "forged and malicious pull requests are told for the right reason ($set)" python3 "$ROOT/tests/check/$set.py" "$WORK/forged.git"
    printf '%s\n' "$tap_out" | sed 's/^/# /'
done
# Forgeries by an author who had not read the checks; the table says what becomes of each, and why some pass.
ok "forgeries from the format's description have the outcome of the table" python3 "$ROOT/tests/check/forge_fresh.py" "$WORK/forged.git" "$ROOT/tests/check/forge_fresh.tsv"
printf '%s\n' "$tap_out" | sed 's/^/# /'
done_testing
