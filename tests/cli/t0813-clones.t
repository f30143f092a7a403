#!/bin/bash
# sanitizer: long, because CI has fifteen minutes for everything
# Two clones correct child runs of one parent run at the same time and are merged: what readers see is reported until the parent run is amended with both.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit
unset BENCHWRAP_TREE
export BENCHWRAP_SITE=alpha
for column in first second; do
    cat >$column.yaml <<END
name: prog
version: "1"
readers:
  - name: line
    regex: '^result (?<first>\S+) (?<second>\S+)'
    metrics:
      - {name: speed, cell: $column, unit: MB_per_s, from: MB/s, better: higher, headline: max}
END
done
# shellcheck disable=SC2016
echo 'n=$(($(cat n) + 10)); echo $n >n; echo "result $n ${n}0"' >prog
echo 0 >n
mkdir base && (cd base && cp ../n ../prog . && "$BENCHWRAP" -q -e e --rules ../first.yaml --repeat 4 -- sh ./prog >/dev/null 2>&1)
parent=$("$BENCHWRAP" ls -t base/mlruns --json | jq -r '.[0].id')
child() { "$BENCHWRAP" ls -c -t base/mlruns --json | jq -r ".[] | select(.name | endswith(\"#$1\")).id"; } # NUMBER
clones() { rm -rf a b merged; cp -al base a; cp -al base b; }
in_clone() { (cd "$1" && "$BENCHWRAP" "${@:2}") >out.txt 2>&1; } # CLONE COMMAND…
merge() { cp -al a merged && cp -al b/mlruns/. merged/mlruns/; }
findings() { "$BENCHWRAP" check "$@" --json | jq -r '[.findings[] | select(.finding == "parent-stale")] | "\(length) \(.[0].text // "")"'; }
median() { "$BENCHWRAP" show -t "$1/mlruns" "$parent" --json 2>/dev/null | jq -r '.metrics[] | select(.key == "speed_MB_per_s.median").value'; } # CLONE

clones
in_clone a retract --why "disk full" "$(child 1)"
in_clone b retract --why "disk full" "$(child 4)"
is "each clone alone has no finding" "$(findings a/mlruns)$(findings b/mlruns)" "0 0 "
merge
is "merged: check reports that one correction is ignored" "$(findings merged/mlruns | sed 's/: .*//')" "1 1 of its 4 child runs is amended or retracted, which its statistics ignore"
like "show warns" "$("$BENCHWRAP" show -t merged/mlruns "$parent" 2>&1 >/dev/null)" "1 of 4 child runs is amended or retracted, which these statistics ignore; hint: benchwrap reparse"
is "the run as it was recorded needs no warning" "$("$BENCHWRAP" show -t merged/mlruns "=$parent" 2>&1 >/dev/null | grep -c ignore)" 0
stale="1 of 4 child runs is amended or retracted, which these statistics ignore"
is "ls, export and compare mark it by the same words" "$("$BENCHWRAP" ls -t merged/mlruns --json 2>/dev/null | jq -r '.[0].stale')|$("$BENCHWRAP" export -t merged/mlruns --format jsonl 2>/dev/null | jq -r '."tags.benchwrap.stale" // empty')|$("$BENCHWRAP" ls -t merged/mlruns --csv 2>/dev/null | tail -n 1 | grep -o "$stale")" "$stale|$stale|$stale"
for command in "ls" "ls --all" "export" "compare $parent $parent" "show $parent" "history" "report $parent" "compare --history $parent"; do
    like "$command: the note" "$("$BENCHWRAP" $command -t merged/mlruns 2>&1 >/dev/null)" "^benchwrap: $stale; hint: benchwrap reparse"
done
report() { "$BENCHWRAP" report -t merged/mlruns "$@" 2>/dev/null | grep -cE '(Stale|[0-9a-f]{8} prog.*)(:|&#58;) 1 of 4 child runs is amended or retracted(,|\{,\}) which these statistics ignore'; }
is "report: one run, two, an experiment, each form" "$(report "$parent") $(report "$parent" "$parent") $(report -e e) $(report --format markdown "$parent") $(report --format latex "$parent")" "1 2 1 1 1"
pages() { "$BENCHWRAP" pages -t merged/mlruns -o web >/dev/null 2>&1; }
marked() # its page's note, the list of runs, the data
{
    shown=$("$BENCHWRAP" ls -t merged/mlruns --json 2>/dev/null | jq -r '.[0].id')
    list=web/experiment/$(cd merged/mlruns && echo */"$parent" | cut -d / -f 1)
    echo "$(grep -c "Stale: $stale" "web/run/${shown:0:2}/$shown.html") $(grep -c "$stale\">stale<" "$list.html") $(jq -r '[.runs[] | select(.stale)] | length' "$list.json")"
}
pages; is "pages mark it" "$(marked)" "1 1 1"
like "ls has it in its table" "$("$BENCHWRAP" ls -t merged/mlruns 2>/dev/null)" " stale "
is "compare names the run as JSON" "$("$BENCHWRAP" compare -t merged/mlruns --json "$parent" "$parent" 2>/dev/null | jq -r '[.groups[].stale | length] | join(" ")')" "1 1"
is "--filter finds it" "$("$BENCHWRAP" ls -t merged/mlruns --filter "tags.benchwrap.stale LIKE '%ignore'" --json 2>/dev/null | jq length)" 1
is "no file of it has the tag" "$(find merged -name benchwrap.stale | wc -l)" 0
in_clone merged reparse "$parent"
is "reparse amends the parent run with both" "$(median merged)" 25
pages; is "… pages have no mark any more" "$(marked)" "0 0 0"
is "… nothing is left to report" "$(findings merged/mlruns) $("$BENCHWRAP" show -t merged/mlruns "$parent" 2>&1 >/dev/null | grep -c ignore) $("$BENCHWRAP" ls -t merged/mlruns --json 2>&1 | grep -c ignore)" "0  0 0"
cp -al merged again && cp -al a/mlruns/. b/mlruns/. again/mlruns/
is "… also where the clones are merged once more" "$(findings again/mlruns) $(median again)" "0  25"

# One reads a child run again, the other one withdraws the same one, or another one.
clones
in_clone a reparse --rules ../second.yaml "$(child 2)"
in_clone b retract --why "disk full" "$(child 3)"
merge
like "amended here, retracted there" "$(findings merged/mlruns)" "^1 [12] of its 4 child runs (is|are) amended"
in_clone merged reparse "$parent"
is "… reparse makes 10, 200, 40 of them" "$(median merged) $(findings merged/mlruns)" "40 0 "
is "show --children lists those that count, and the number of the others" "$("$BENCHWRAP" show -t merged/mlruns --children "$parent" 2>/dev/null | grep -cE '^[0-9a-f]{8} ') $("$BENCHWRAP" show -t merged/mlruns --children "$parent" 2>/dev/null | tail -n 1)" \
    "3 3 child runs, 1 of them amended, 1 more retracted; hint: benchwrap ls --all lists all runs"
is "… as JSON with what each amends" "$("$BENCHWRAP" show -t merged/mlruns --children "$parent" --json 2>/dev/null | jq -r '[length, (.[] | select(.amends).amends)] | join(" ")')" "3 $(child 2)"

# A parent run without an amendment: a correction by an earlier version of benchwrap, or one whose process was killed.
clones
in_clone a retract --why "disk full" "$(child 1)"
for run in a/mlruns/*/*/; do
    [ "$(cat "$run/tags/benchwrap.amends" 2>/dev/null)" != "$parent" ] || rm -r "$run"
done
is "a correction alone" "$(findings a/mlruns | cut -c1-9)" "1 1 of it"
"$BENCHWRAP" pages -t base/mlruns -o known >/dev/null && "$BENCHWRAP" pages -t a/mlruns -o known >/dev/null 2>&1
is "… reaches a page that was written before it" "$(grep -c "Stale: $stale" "known/run/${parent:0:2}/$parent.html")" 1

# An annotation names its run as its parent, and is no child run.
clones
in_clone a annotate --note "cold start" "$parent"
is "an annotation is no child run" "$("$BENCHWRAP" show -t a/mlruns --children "$parent" --json 2>/dev/null | jq length)" 4
plain=$(cd a && "$BENCHWRAP" -q -e plain -- true && "$BENCHWRAP" ls -e plain --json | jq -r '.[0].id')
in_clone a annotate --note "cold start" "$plain"
like "… of a run without child runs" "$("$BENCHWRAP" show -t a/mlruns --children "$plain" 2>&1)" "the run ${plain:0:8} has no child runs"
in_clone a rules new --from "$parent" -o rules.yaml
ok "… nor one whose output rules are made of" test -s a/rules.yaml

long_tests || { done_testing; exit; }

# Two branches: the second one is checked against the first.
git -c init.defaultBranch=main init -q repo && cd repo || exit
git config user.name t && git config user.email t@example.org
printf 'profile: private\n' >benchwrap.yaml
cp -r ../base/mlruns . && git add -f mlruns benchwrap.yaml && git commit -q -m runs
git checkout -q -b two && git checkout -q -b one main
"$BENCHWRAP" retract --why "disk full" "$(cd .. && child 1)" >/dev/null 2>&1 && git add -f mlruns && git commit -q -m one
git checkout -q two
"$BENCHWRAP" retract --why "disk full" "$(cd .. && child 4)" >/dev/null 2>&1 && git add -f mlruns && git commit -q -m two
is "a branch alone is good" "$(findings --range main..two)" "0 "
git checkout -q main && git merge -q one
is "… and reported where the target has the other correction" "$(findings --range main..two | cut -c1-9)" "1 1 of it"
like "… as a warning, which blocks nothing" "$("$BENCHWRAP" check --range main..two 2>&1; echo "status $?")" "status 0"
git checkout -q two && git merge -q -m merge main
"$BENCHWRAP" reparse "$parent" >/dev/null 2>&1 && git add -f mlruns && git commit -q -m both
is "… until the branch amends the parent run with both" "$(findings --range main..two)" "0 "

# The text of a pull request has the values of a run that is annotated in it.
git checkout -q -b three main
"$BENCHWRAP" -q -e noted --rules ../first.yaml -- echo "result 4711 1" >/dev/null 2>&1
"$BENCHWRAP" annotate --note "cold start" "$("$BENCHWRAP" ls -e noted --json | jq -r '.[0].id')" >/dev/null 2>&1
git add -f mlruns && git commit -q -m three
like "the text of a pull request has the values of an annotated run" "$("$BENCHWRAP" check --range main..three --markdown)" "4711"
done_testing
