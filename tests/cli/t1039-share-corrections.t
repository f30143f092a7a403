#!/bin/bash
# sanitizer: long, because each of its shares starts git several times
# A run, its retraction and its amendments go to the target together or not at all; what readers there see is what readers here see.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/forge.sh"
command -v git >/dev/null 2>&1 || { skip "sharing corrections" "git is not installed"; done_testing; exit; }
cd "$WORK" || exit
export GIT_CONFIG_GLOBAL="$WORK/gitconfig" GIT_CONFIG_NOSYSTEM=1
printf '[user]\nname = Site\nemail = site@users.noreply.github.com\n[init]\ndefaultBranch = main\n[maintenance]\nauto = false\n' >gitconfig
for n in one two; do
    cat >$n.yaml <<END
name: prog
version: "$n"
readers:
  - name: line
    regex: '^result (?<one>\S+) (?<two>\S+)'
    metrics:
      - {name: speed, cell: $n, unit: MB_per_s, from: MB/s, better: higher, headline: max}
checks:
  - {expect: "samples(speed) > 0", reason: "no speed was printed"}
END
done
share() { "$BENCHWRAP" share "$@" >"$WORK/out.txt" 2>&1; }
said() { tr '\n' ' ' <"$WORK/out.txt"; }
record() { "$BENCHWRAP" -q -e "$1" --rules "$WORK/one.yaml" "${@:2}" -- sh -c "echo result $RANDOM.5 20" >/dev/null 2>&1; }
id_of() { "$BENCHWRAP" ls --json -e "$1" | jq -r ".[0].id"; }
retract() { "$BENCHWRAP" retract --why "the disk was half full" "$@" >"$WORK/retracted.txt" 2>&1; }
branch() { git -C "$WORK/$hub" for-each-ref --format='%(refname:short)' "refs/heads/benchwrap/$1"; }
# What share pushed: the background commit of an earlier run may bring what share left out back into the local branch.
pushed() { git for-each-ref --format='%(refname)' refs/benchwrap/pushed; }
# The ids of runs that the site's branch brings to the target.
brings() { git -C "$WORK/$hub" diff --name-only "main...$(branch alpha)" | cut -d/ -f3 | grep -E '^[0-9a-f]{32}$' | sort -u; }
merge() { # and look at it as a reader does
    "$BENCHWRAP" check --range "origin/main..$(pushed)" >"$WORK/check.txt" 2>&1
    is "$profile: check approves the branch" "$? $(grep -c parent-odd "$WORK/check.txt")" "0 0"
    git -C "$WORK/$hub" update-ref refs/heads/main "$(branch alpha)" && git pull -q 2>/dev/null
    rm -rf "$WORK/reader" && git clone -q "$WORK/$hub" "$WORK/reader" 2>/dev/null
    (cd "$WORK/reader" && "$BENCHWRAP" ls --json | jq -r '.[].id' | sort) >"$WORK/there.txt"
    for run in $("$BENCHWRAP" ls --json | jq -r '.[].id' | sort); do [ ! -e "$(echo "$WORK"/reader/mlruns/*/"$run")" ] || echo "$run"; done >"$WORK/here.txt"
    is "… and readers see there what they see here" "$(cat "$WORK/there.txt")" "$(cat "$WORK/here.txt")"
}

whole() # PROFILE OPTION…
{
    profile=$1 hub=hub-$1.git
    git init -q --bare "$hub"
    "$BENCHWRAP" init --site central "${@:2}" "first-$1" >/dev/null 2>&1 && git -C "first-$1" push -q "$WORK/$hub" main
    "$BENCHWRAP" init --site alpha "$hub" "alpha-$1" >/dev/null 2>&1 && cd "alpha-$1" || exit

    # Before the first push nobody has the run: it stays, and so does what belongs to it.
    record good; record bad; bad=$(id_of bad); retract "$bad"
    record amended; amended=$(id_of amended); "$BENCHWRAP" reparse --rules "$WORK/two.yaml" "$amended" >/dev/null 2>&1; retract "$(id_of amended)"
    record series --repeat 2; series=$(id_of series)
    retract "$series"; is "$profile: a parent run is retracted with its child runs" "$(grep -c ' retracted$' "$WORK/retracted.txt") $("$BENCHWRAP" ls --json -e series 2>/dev/null | jq length)" "3 0"
    retract "=$series"; is "… once" "$("$BENCHWRAP" ls --all --json -e series | jq length)" 6
    share; like "$profile: runs that were retracted before they were shared stay" "$? $(said)" "^0 .*left out: 11 runs .*: it was retracted before it was shared (warning: rules-unknown: .*)?pushed to"
    is "… and nothing of them goes" "$(brings)" "$(id_of good)"

    # One of several repetitions: check compares the parent run with it.
    record reps --repeat 2; reps=$(id_of reps); child=$("$BENCHWRAP" ls -c --json -e reps | jq -r "[.[] | select(.parent == \"$reps\")][0].id")
    retract "$child"; like "$profile: a child run alone: its parent run is amended" "$(cat "$WORK/retracted.txt")" "amends ${reps:0:8}: its statistics are those of the other child runs"
    share; is "… it goes with its parent run and its retraction" "$? $(brings | grep -c "$child") $(brings | wc -l)" "0 1 6"

    # After the push others may have the run, merged or not.
    record pushed; pushed=$(id_of pushed); share; retract "$pushed"
    share; is "$profile: what was pushed goes with its retraction" "$? $(brings | grep -c "$pushed") $(brings | wc -l)" "0 1 8"
    merge
    share; like "… after the merge nothing is left" "$? $(said)" "^0 .*nothing to share"
    record merged; merged=$(id_of merged); record later --repeat 2; later=$(id_of later); record fixed; fixed=$(id_of fixed); share; merge
    retract "$merged"; retract "$later"; "$BENCHWRAP" reparse --rules "$WORK/two.yaml" "$fixed" >/dev/null 2>&1; retract "$(id_of fixed)"
    share; is "$profile: of merged runs the retractions alone go, and what amends them" "$? $(brings | wc -l)" "0 6"
    merge
    is "… the third user sees none of them" "$(grep -cE "$merged|$later|$fixed" "$WORK/there.txt")" 0

    # Another site's run.
    cd "$WORK" && "$BENCHWRAP" init --site beta "$hub" "beta-$1" >/dev/null 2>&1 && cd "beta-$1" || exit
    good=$(cd "$WORK/alpha-$1" && id_of good)
    retract "$good"; like "$profile: another site's run is not retracted" "$? $(cat "$WORK/retracted.txt")" "^1 .*run of the site .alpha., and this is the site beta"
    cd "$WORK/alpha-$1" || exit

    # What check refuses takes along what belongs to it; what the target has stays apart from that.
    record refused; refused=$(id_of refused); record plain; plain=$(id_of plain); share; retract "$refused"; retract "$good"
    grep -lE "^($refused|$good)" mlruns/*/*/tags/benchwrap.retracts | while read -r by; do echo x >"${by%tags*}params/added"; done
    git branch -qD "$(git for-each-ref --format='%(refname:short)' refs/heads/benchwrap)"
    share --no-check "known fault"; is "$profile: with --no-check a refused retraction goes" "$? $(brings | grep -c "$refused") $(brings | wc -l)" "0 1 4"
    git branch -qD "$(git for-each-ref --format='%(refname:short)' refs/heads/benchwrap)"
    share; like "… without it the retraction keeps its run here" "$? $(said)" "^1 .*left out: 1 run \(${refused:0:8}\): the run [0-9a-f]{8}, which retracts it, stays here"
    is "… other runs go" "$(brings)" "$plain"
    cd "$WORK" || exit
}
whole public
whole private --private

# Two clones of one site: what one has published the other retracts, also where its own request is open on an older target.
git init -q --bare hub-two.git
"$BENCHWRAP" init --private --site central first-two >/dev/null 2>&1 && git -C first-two push -q "$WORK/hub-two.git" main
for n in a b; do "$BENCHWRAP" init --site alpha hub-two.git "two-$n" >/dev/null 2>&1 || exit; done
tip() { git -C "two-$1" for-each-ref --format='%(objectname)' refs/heads/benchwrap; }
(cd two-a && record open && share)
(cd two-b && record merged && share)
git -C hub-two.git update-ref refs/heads/main "$(tip b)"
cd two-a && git pull -q 2>/dev/null; merged=$(id_of merged); retract "$merged"
share; is "a run that another clone of the site published is retracted at the first share" "$? $(said | grep -c 'left out')" "0 0"
"$BENCHWRAP" check --range "origin/main..$(pushed)" >"$WORK/check.txt" 2>&1
like "... and check approves it" "$? $(tail -n 1 "$WORK/check.txt")" "^0 2 runs checked, 1 retracts another run"
cd "$WORK" || exit

# The request says what readers see: values without what was retracted or amended, and each correction with its reason.
forge_start github
git -C "$WORK/hub-two.git" push -q "$HUB" +main
git clone -q "$HUB" asked && cd asked && git config benchwrap.site alpha && git config benchwrap.forge github && git config benchwrap.forgeUrl "$FORGE" || exit
printf '/mlruns/\n/.benchwrap/\n' >>.git/info/exclude
export GITHUB_TOKEN=w
printf 'result 10 20\n' >ten && printf 'result 99 1\n' >wrong
"$BENCHWRAP" -q -e speed --rules "$WORK/one.yaml" -- cat ten >/dev/null 2>&1; speed=$(id_of speed)
"$BENCHWRAP" -q -e speed --rules "$WORK/one.yaml" -- cat wrong >/dev/null 2>&1; wrong=$(id_of speed)
share; "$BENCHWRAP" reparse --rules "$WORK/two.yaml" "=$speed" >/dev/null 2>&1; amends=$(basename "$(dirname "$(dirname "$(grep -l "$speed" mlruns/*/*/tags/benchwrap.amends)")")"); retract "=$wrong"
share; like "a request of runs with corrections is refreshed" "$? $(said)" "^0 .*amendment: ${amends:0:8} amends the run ${speed:0:8} .*up to date"
number=$(forge_pulls 'p["state"] == "open" and p["number"]')
forge_do pulls | jq -r ".[] | select(.number == $number) | .text" >"$WORK/text.md"
title() { forge_do pulls | jq -r ".[] | select(.number == ${1:-$number}) | .title"; }
is "... its values are the amendment's alone" "$(grep -cE '\| 1 \| <code>speed.* \| <code>20 MB' "$WORK/text.md") $(grep -cE '15 MB|10 MB|99 MB|\(median\)' "$WORK/text.md")" "1 0"
is "... the list of runs names what corrects them" "$(grep -cE "^[|] .(${speed:0:8}. .*amended by .${amends:0:8}|${wrong:0:8}. .*retracted by )" "$WORK/text.md")" 2
like "... it names the retraction with its reason" "$(cat "$WORK/text.md")" "^- .[0-9a-f]{8}. retracts .${wrong:0:8}.: <code>the disk was half full"
like "... and the amendment" "$(cat "$WORK/text.md")" "^- .${amends:0:8}. amends .${speed:0:8}."
like "... its title counts them apart" "$(title)" "^3 runs of alpha, which retracts 1 run: speed"
is "... every table begins a paragraph" "$(awk '/^\|/ && last != "" && last !~ /^\|/ { n++ } { last = $0 } END { print n + 0, /./ }' "$WORK/text.md")" "0 1"
"$BENCHWRAP" check --markdown --range "origin/main..$(pushed)" >"$WORK/summary.md" 2>&1
is "the summary of the forge's job has the same values" "$(grep -cE '\| 1 \| <code>speed.* \| <code>20 MB' "$WORK/summary.md") $(grep -cE '15 MB|99 MB' "$WORK/summary.md")" "1 0"
is "... and its tables begin paragraphs" "$(awk '/^\|/ && last != "" && last !~ /^\|/ { n++ } { last = $0 } END { print n + 0 }' "$WORK/summary.md")" 0
like "... and names the option of rules that it lacks, in a sentence" "$(cat "$WORK/summary.md")" "rules-unknown.*\\. Inspect artifacts/rules.yaml .*--rules DIR"
share --dry-run; like "a dry run prints warnings, too" "$(said)" "warning: rules-unknown: mlruns/.*rules.yaml: .* .and 2 more."
like "... and counts what amends" "$(cat "$WORK/summary.md")" "4 runs checked, 1 retracts another run, 1 amends another run"
forge_do "merge/$number/merge" >/dev/null; git pull -q 2>/dev/null; retract "=$amends"
share; like "a request of retractions alone" "$? $(title "$((number + 1))")" "^0 alpha retracts [12] runs?: speed"
unset GITHUB_TOKEN
forge_stop
done_testing
