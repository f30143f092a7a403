#!/bin/sh
# `benchwrap check`: signatures of sites, public repositories, what forges and programs read of it, rules that do not end.
# sanitizer: long, because it makes keys and repositories
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
export GIT_CONFIG_GLOBAL="$WORK/gitconfig" GIT_CONFIG_NOSYSTEM=1
printf '[user]\nname = Site\nemail = site@users.noreply.github.com\n[init]\ndefaultBranch = main\n' >gitconfig
git init -q work && cd work || exit 1
"$BENCHWRAP" -q --site a.example -- sh -c 'echo one; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done' >/dev/null
run=$(echo mlruns/*/*/artifacts); run=${run%/artifacts}

# The page's table of findings: each that is no error, with its severity.
"$BENCHWRAP" check --sarif | jq -r '.runs[0].tool.driver.rules[] | select(.defaultConfiguration.level != "error") | "\(.id) \(.defaultConfiguration.level)"' | LC_ALL=C sort >../program.txt
awk -F'|' '$2 == " finding " && $3 == " severity " { table = 1; next } !NF { table = 0 } table && /`/ { gsub(/[` ]/, "", $2); gsub(/ /, "", $3); n = split($2, name, ","); for (i = 1; i <= n; i++) print name[i], $3 }' \
    "$ROOT/docs/howto-review.md" | LC_ALL=C sort >../page.txt
is "howto-review lists each finding that is no error" "$(diff ../program.txt ../page.txt)" ""

# Signatures.
if command -v ssh-keygen >/dev/null; then
    ssh-keygen -q -t ed25519 -N '' -C site -f ../key && ssh-keygen -q -t ed25519 -N '' -C other -f ../other
    printf 'a.example namespaces="benchwrap" %s\nb.example namespaces="benchwrap" %s\n' "$(cut -d' ' -f1,2 ../key.pub)" "$(cut -d' ' -f1,2 ../other.pub)" >../signers
    like "a run without a signature, where one is asked for" "$("$BENCHWRAP" check --allowed-signers ../signers)" '^error +unsigned'
    ssh-keygen -q -Y sign -n benchwrap -f ../key "$run"/artifacts/manifest.json 2>/dev/null
    is "the site's signature is taken" "$("$BENCHWRAP" check --allowed-signers ../signers)" "1 run checked: no problem found"
    is "… and does no harm where none is asked for" "$("$BENCHWRAP" check)" "1 run checked: no problem found"
    rm "$run"/artifacts/manifest.json.sig; ssh-keygen -q -Y sign -n benchwrap -f ../other "$run"/artifacts/manifest.json 2>/dev/null
    like "another site's key is refused" "$("$BENCHWRAP" check --allowed-signers ../signers)" '^error +signature .*site "a.example"'
    rm "$run"/artifacts/manifest.json.sig; ssh-keygen -q -Y sign -n git -f ../key "$run"/artifacts/manifest.json 2>/dev/null
    like "a signature for another purpose is refused" "$("$BENCHWRAP" check --allowed-signers ../signers)" '^error +signature'
    echo nonsense >"$run"/artifacts/manifest.json.sig
    like "nonsense is refused" "$("$BENCHWRAP" check --allowed-signers ../signers)" '^error +signature'
    rm "$run"/artifacts/manifest.json.sig
    (mkdir ../signing && cd ../signing && git init -q . && git config benchwrap.signingKey "$WORK/key" && echo x >x && git add x && git commit -qm x &&
        "$BENCHWRAP" -q --site a.example -- sh -c 'echo two' >/dev/null && "$BENCHWRAP" init --private --site lab . && "$BENCHWRAP" commit) >/dev/null 2>&1
    branch=benchwrap/lab/$(git -C ../signing config benchwrap.clone)
    is "a run that is committed is signed before, where the clone has a key" "$("$BENCHWRAP" check --allowed-signers ../signers --range "HEAD..$branch" ../signing)" "1 run checked: no problem found"
    is "… the same bytes on disk and in the commit" "$(git -C ../signing show "$branch:$(cd ../signing && echo mlruns/*/*/artifacts/manifest.json.sig)" | cksum)" "$(cat ../signing/mlruns/*/*/artifacts/manifest.json.sig | cksum)"
    is "a file of signers that is not there is a mistake" "$("$BENCHWRAP" check --allowed-signers nowhere 2>/dev/null; echo $?)" 125
else
    skip "signatures" "ssh-keygen (openssh-client)"
fi

# A public repository says so itself, on disk and in a commit; a branch cannot take it back.
echo 'profile: public' >benchwrap.yaml
like "benchwrap.yaml beside the tree counts" "$("$BENCHWRAP" check)" '^error +personal'
git add benchwrap.yaml && git commit -q -m public && git checkout -q -b pr && git add mlruns && git rm -q --cached benchwrap.yaml && git commit -q -m runs
like "… that of the target, too" "$("$BENCHWRAP" check --range main..pr)" '^error +personal'
rm -f benchwrap.yaml
"$BENCHWRAP" -q -t public/mlruns --profile public -- sh -c 'echo mail me: jo@site.org' >/dev/null
is "a run of the public profile passes, its arguments and output without the address" "$("$BENCHWRAP" check --public public)" "1 run checked: no problem found"
like "… the arguments are there" "$(cat public/mlruns/*/*/artifacts/benchwrap.json)" '"argv": ."sh", "-c", "echo mail me: mm@mmmm.mmm".'

# What a range brings: values beside the published ones, machines by name, nothing of a text that means something to a forge.
git checkout -q -B before main && rm -rf mlruns
for i in 1 2 3 4 5 6; do echo "copy.rate 10$i MiB/s" >rate; "$BENCHWRAP" -q --profile public --site a.example -- cat rate >/dev/null; done
git add -f mlruns && git commit -qm before && git checkout -q -b after
echo "copy.rate 55.5 MiB/s" >rate; "$BENCHWRAP" -q --profile public --site a.example -- cat rate >/dev/null
"$BENCHWRAP" -q --profile public --site a.example -p 'note=@all <b>|#1' -- sh -c 'echo "x.rate 3 MiB/s"' >/dev/null
echo "copy.rate 200 MiB/s" >rate; "$BENCHWRAP" -q --profile public --site a.example -- cat -u rate >/dev/null
"$BENCHWRAP" -q --profile public --site a.example -- sh -c 'exit 1' >/dev/null
git add -f mlruns && git commit -qm after
out=$("$BENCHWRAP" check --markdown --range before..after)
like "Markdown: a value beside the published runs of the same inputs" "$out" '^\| <code>cat.* \| 1 \| <code>copy.*rate</code> \| <code>58.2 MB/s</code> \| 6 \| <code>109 MB/s</code> \| -46 %, different'
like "… a run with another command line has no earlier runs" "$out" '^\| <code>cat.*argument.u=rate<.code> \| 1 \| <code>copy.*rate</code> \| <code>210 MB/s</code> \| 0 \|  \| first run with these inputs'
like "… the machine by name" "$out" "^\| 4 \| <code>a.example</code> \| <code>.*cores</code> "
like "… what did not finish" "$out" '^Not compared: 1 run, failed, unfinished'
is "… foreign text as text" "$(printf '%s' "$out" | grep -cE '@all|<b>|[^&]#1')" 0

git checkout -q -B several before
printf 'copy.rate 105 MiB/s\ncopy.one 1 MiB/s\n' >rate
"$BENCHWRAP" -q --profile public --site a.example -- cat rate >/dev/null
{
    printf "name: six\nversion: '1'\nreaders:\n  - name: line\n    regex: '^six (?<a>\\S+)'\n    metrics:\n"
    for n in 1 2 3 4 5 6; do printf '      - {name: speed%s, cell: a, unit: MB_per_s, from: MB/s, better: higher, headline: max}\n' $n; done
} >../six.yaml
"$BENCHWRAP" -q --profile public --site a.example --rules ../six.yaml -- echo six 5 >/dev/null
git add -f mlruns && git commit -qm several
out=$("$BENCHWRAP" check --markdown --range before..several)
is "a metric that the published runs of the same inputs lack" "$(printf '%s\n' "$out" | grep 'copy.*one' | grep -c 'no earlier run has this metric')" 1
like "… the metrics that are not listed are counted" "$out" '^\| \| \| \| \| … and 2 more metrics \|'

# The target's policy decides what blocks; the branch's own counts for nothing.
git checkout -q -B ruled before
echo "copy.rate 55.5 MiB/s" >rate; "$BENCHWRAP" -q --profile public --site a.example -- sh -c '"$BENCHWRAP" log a.rate_MiB_per_s=5; exec cat rate' >/dev/null
git add -f mlruns && git commit -qm ruled && git checkout -q before
verdict() { "$BENCHWRAP" check --range before..ruled >../policy.txt 2>&1; echo "$? $(grep -cE "^$1 +claimed" ../policy.txt)"; }
is "a finding has its own severity" "$(verdict note)" "0 1"
printf '# ours\nclaimed: error     # no word without output\n' >benchwrap-check.yaml; git add benchwrap-check.yaml && git commit -qm policy
is "the target's policy makes it block" "$(verdict error)" "1 1"
is "... in SARIF too" "$("$BENCHWRAP" check --sarif --range before..ruled | jq -r '.runs[0].results[] | select(.ruleId == "claimed").level')" error
git checkout -q ruled && printf 'claimed: note\n' >benchwrap-check.yaml && git add benchwrap-check.yaml && git commit -qm mine
like "the branch's own policy counts for nothing" "$(verdict error); $(cat ../policy.txt)" '^1 1'
like "... and is a finding" "$(cat ../policy.txt)" '^error +path-(outside|changed) +benchwrap-check.yaml'
git checkout -q before
for text in 'claimed: fatal' 'claims: error' '- claimed' 'claimed: [error]' '{'; do
    printf '%s\n' "$text" >benchwrap-check.yaml; git commit -qam "$text"
    out=$("$BENCHWRAP" check --range before..ruled 2>&1); like "a policy that is none approves nothing: $text" "$? $out" '^2 .*policy of the target: benchwrap-check.yaml:[12]:'
done
printf 'claimed: error\n' >benchwrap-check.yaml; git commit -qam again
is "a tree on disk has the policy beside it" "$(git checkout -q -B desk ruled~1; git checkout -q before -- benchwrap-check.yaml; "$BENCHWRAP" check >../policy.txt 2>&1; echo "$? $(grep -cE '^error +claimed' ../policy.txt)")" "1 1"
git reset -q --hard; git checkout -q -f pr && rm -f rate && rm -rf mlruns && git checkout -q pr -- mlruns

# Reports.
mkdir "$run/artifacts/<img src=x>|@everyone" && echo x >"$run/artifacts/<img src=x>|@everyone/$(printf 'a\033[31m')"
out=$("$BENCHWRAP" check --markdown)
ok "Markdown has nothing of a foreign name in it that means something" sh -c '! printf "%s" "$1" | grep -E "<img|@everyone|$(printf "\033")"' - "$out"
like "… and is a table" "$out" '^\| error \| name \| '
ok "a terminal gets no control characters" sh -c '! "$BENCHWRAP" check | LC_ALL=C grep -q "$(printf "\033")"'
"$BENCHWRAP" check --sarif >../report.sarif
is "SARIF: version, tool, results with a rule each" "$(python3 - ../report.sarif <<'END'
import json, sys
j = json.load(open(sys.argv[1]))
run = j["runs"][0]
rules = [r["id"] for r in run["tool"]["driver"]["rules"]]
good = run["results"] and all(rules[r["ruleIndex"]] == r["ruleId"] and r["message"]["text"] and r["level"] in ("note", "warning", "error")
       and " " not in r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"])
print(j["version"], len(rules) == len(set(rules)), bool(good))
END
)" "2.1.0 True True"
if long_tests; then
    . "$TESTLIB/venv.sh"
    if python=$(venv_python sarif 280 sarif-pydantic sarif-tools); then
        is "SARIF is what other readers take" "$("$python" -c 'import sys
from sarif_pydantic import Sarif
s = Sarif.model_validate_json(open(sys.argv[1]).read()); print(len(s.runs), s.runs[0].tool.driver.name)' ../report.sarif 2>&1 | tail -n 1)" "1 benchwrap check"
        like "… sarif-tools, too" "$("$python" -m sarif summary ../report.sarif 2>&1)" 'error: [1-9]'
    else
        skip "SARIF is what other readers take" "$python"
    fi
fi
rm -rf "$run/artifacts/<img src=x>|@everyone"

# Rules made to take for ever end.
if long_tests; then
    python3 - >bomb.yaml <<'END'
print("name: bomb\nversion: 1\nsummary: slow\nprograms: [bomb]\nreaders:")
for i in range(119):
    print("  - name: r%d\n    regex: '^(?<v>[a-z]+ ?[a-z]*) [a-z ]+[0-9]*[0-9]{%d}$'\n    metrics:\n      - {name: m%d, cell: v, unit: s, better: lower}" % (i, i + 5, i))
END
    "$BENCHWRAP" -q -t bomb --rules ior --log-max 64M -- sh -c "yes 'abcdefgh abcdefgh 1234' | head -n 2000000" >/dev/null 2>&1
    cp --remove-destination bomb.yaml bomb/mlruns/[1-9]*/*/artifacts/rules.yaml
    begin=$(date +%s)
    out=$(timeout 200 "$BENCHWRAP" check bomb); rc=$?
    is "rules that take for ever are ended" "$rc" 1
    ok "… in time ($(($(date +%s) - begin)) s)" [ $(($(date +%s) - begin)) -lt 150 ]
    like "… and told" "$out" 'rules '
fi
done_testing
