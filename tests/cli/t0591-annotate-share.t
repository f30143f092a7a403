#!/bin/bash
# sanitizer: long, because each share starts git several times
# An annotation goes to the target with its run or after it, from any site, and stays here where its run stays here.
. "$(dirname "$0")/../lib/tap.sh"
command -v git >/dev/null 2>&1 || { skip "sharing annotations" "git is not installed"; done_testing; exit; }
cd "$WORK" || exit
export GIT_CONFIG_GLOBAL="$WORK/gitconfig" GIT_CONFIG_NOSYSTEM=1
printf '[user]\nname = Site\nemail = site@users.noreply.github.com\n[init]\ndefaultBranch = main\n[maintenance]\nauto = false\n' >gitconfig
share() { "$BENCHWRAP" share "$@" >"$WORK/out.txt" 2>&1; }
said() { tr '\n' ' ' <"$WORK/out.txt"; }
branch() { git -C "$WORK/hub.git" for-each-ref --format='%(refname:short)' "refs/heads/benchwrap/$1"; }
# What share pushed: the background commit of an earlier run may bring what share left out back into the local branch.
pushed() { git for-each-ref --format='%(refname)' refs/benchwrap/pushed; }
merge() { git -C "$WORK/hub.git" update-ref refs/heads/main "$(branch "$1")"; git pull -q 2>/dev/null; }
tag() { "$BENCHWRAP" show --json "$1" 2>/dev/null | jq -r --arg k "$2" '.tags[$k] // "-"'; }
git init -q --bare hub.git
"$BENCHWRAP" init --site central first >/dev/null 2>&1 && git -C first push -q "$WORK/hub.git" main
for site in alpha beta; do "$BENCHWRAP" init --site $site hub.git $site >/dev/null 2>&1; done
cd alpha || exit
"$BENCHWRAP" -q -e good -n one -- true; "$BENCHWRAP" -q -e bad -n two -- true
good=$("$BENCHWRAP" ls --json -e good | jq -r '.[0].id') bad=$("$BENCHWRAP" ls --json -e bad | jq -r '.[0].id')
"$BENCHWRAP" annotate "$good" --note "ask anna.miller@gmail.com" --tag quality=high >/dev/null
"$BENCHWRAP" annotate "$bad" --tag quality=low >/dev/null; "$BENCHWRAP" retract --why "disk full" "$bad" >/dev/null 2>&1
share; share_status=$?
like "an annotation goes with its run, and stays with a retracted one" "$share_status $(said)" "^0 .*annotation: [0-9a-f]{8} annotates the run ${good:0:8} .*left out: 1 run .*: it annotates the run ${bad:0:8}, which stays here"
like "… which is named, with what retracts it" "$(said)" "left out: 2 runs .*: it was retracted before it was shared"
is "… two runs go" "$(git -C "$WORK/hub.git" diff --name-only "main...$(branch alpha)" | cut -d/ -f3 | sort -u | grep -cE '^[0-9a-f]{32}$')" 2
"$BENCHWRAP" check --range "origin/main..$(pushed)" >"$WORK/check.txt" 2>&1
like "check approves" "$? $(cat "$WORK/check.txt")" "^0 2 runs checked, 1 annotates another run"
merge alpha; cd ../beta && git pull -q || exit
is "another clone shows it" "$(tag "$good" quality)" high
like "another site annotates the run" "$("$BENCHWRAP" annotate "$good" --tag reproduced=yes --tag quality=medium 2>&1)" annotated
share; like "… and shares that alone" "$? $(said)" "^0 .*annotates the run ${good:0:8}"
like "… with a summary that names it" "$("$BENCHWRAP" check --range "origin/main..$(pushed)" --markdown 2>&1)" "annotates .${good:0:8}.: .*tag quality|1 annotates another run"
merge beta; cd ../alpha && git pull -q || exit
is "the first site shows both, the later one first" "$(tag "$good" quality) $(tag "$good" reproduced) $(tag "$good" mlflow.note.content | grep -c miller)" "medium yes 0"
is "a commit of the repository shows them, too" "$("$BENCHWRAP" ls --ref origin/main --filter "tags.quality = 'medium'" --json | jq length) $("$BENCHWRAP" show "origin/main:$good" --json | jq -r .tags.reproduced)" "1 yes"
done_testing
