#!/bin/bash
# sanitizer: no, because each of its shares starts git several times
# Sharing by a fork, from a bare repository, a shallow clone, a linked worktree; a full disk and kills in the middle.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/forge.sh"
command -v git >/dev/null 2>&1 || { skip "share" "git is not installed"; done_testing; exit; }
long_tests || { skip_here "forks, bare and shallow repositories, full disks and kills" "slow tier"; done_testing; exit; }
cd "$WORK" || exit
OUT=$WORK/out.txt
share() { "$BENCHWRAP" share "$@" >"$OUT" 2>"$WORK/err.txt"; }
said() { cat "$OUT" "$WORK/err.txt"; }
runs_of() { git -C "$1" ls-tree -r -d --name-only "$2" mlruns | grep -cE '/[0-9a-f]{32}$'; } # REPOSITORY COMMIT
mine() { git for-each-ref --format='%(refname:short)' refs/heads/benchwrap; }
sound() { git fsck --strict --no-dangling 2>&1; git -C "$1" fsck --strict --no-dangling 2>&1 | grep -v '^notice'; }

mkdir me && git init -q --bare me/results.git
forge_start github --repo "me/results=$WORK/me/results.git"
export GITHUB_TOKEN=w

forge_clone clone && cd clone || exit
git remote rename origin upstream >/dev/null 2>&1
git remote add mine "$WORK/me/results.git" && git config remote.pushDefault mine
forge_runs . 2
share; like "a fork is pushed to, upstream is asked" "$? $(said)" "pull request #1 opened"
is "… from fork to upstream" "$(forge_pulls 'p["source"] + " " + p["target"]')" "me/results o/results"
like "… and says how to fetch it" "$(forge_pulls 'p["text"]')" "^    git fetch $FORGE/me/results.git benchwrap/"
is "… where nothing is pushed" "$(git -C "$HUB" for-each-ref refs/heads/benchwrap)" ""
forge_runs . 1
share; like "more into the same request" "$? $(said)" "pull request #1 is up to date"
forge_do merge/1/squash >/dev/null
share; like "merged from the fork" "$? $(said)" "^0 nothing to share"

forge_runs . 20
before=$(git for-each-ref | sort)
(ulimit -f 20; share; [ $? -gt 0 ]); is "a disk that is full stops it" "$?" 0
is "… and leaves every ref as it was" "$(git for-each-ref | grep -v refs/remotes | sort)" "$(echo "$before" | grep -v refs/remotes)"
is "… in a sound repository" "$(sound "$WORK/me/results.git")" ""
share; like "… and then it goes on" "$? $(said)" "pull request #2 opened"

for i in $(seq 1 12); do
    forge_runs . 2
    "$BENCHWRAP" share >/dev/null 2>&1 &
    sleep "0.$((i * 7 % 10))$((i % 3))"
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
done
wait_until 'idle "^(benchwrap|git)"'
share; like "after kills at twelve moments" "$? $(said)" "pull request #2 is up to date"
is "… all runs are there" "$(runs_of "$WORK/me/results.git" "$(mine)")" $((3 + 20 + 24))
is "… in sound repositories" "$(sound "$WORK/me/results.git")" ""
is "… with one open request" "$(forge_pulls 'p["state"] == "open" and p["number"]')" 2

# Two shares of one clone at once.
forge_runs . 5
"$BENCHWRAP" share >/dev/null 2>&1 &
share
first=$?
wait $!; second=$?
[ $first = 0 ] || [ $second = 0 ]; is "of two at once one at least gets through" "$?" 0
share; is "… and all is there" "$? $(runs_of "$WORK/me/results.git" "$(mine)")" "0 $((3 + 20 + 24 + 5))"

# A bare repository has its runs in the branch, or elsewhere.
cd "$WORK" && git clone -q --bare "$HUB" bare.git && cd bare.git || exit
git config benchwrap.forge github; git config benchwrap.forgeUrl "$FORGE"; git config benchwrap.site alpha
export BENCHWRAP_PROFILE=private
forge_runs "$WORK/else" 3 2>/dev/null || { mkdir -p "$WORK/else" && forge_runs "$WORK/else" 3; }
(cd "$WORK/else" && "$BENCHWRAP" commit --repo "$WORK/bare.git" >/dev/null) || tap_fail "a commit into a bare repository"
share; like "from a bare repository" "$? $(said)" "pull request #3 opened"
is "… its runs" "$(forge_pulls 'p["number"] == 3 and p["title"][:6]')" "3 runs"
forge_do merge/3/squash >/dev/null
forge_runs "$WORK/else" 1
(cd "$WORK/else" && "$BENCHWRAP" commit --repo "$WORK/bare.git" >/dev/null)
share; is "… and after a merge the new one alone" "$? $(forge_pulls 'p["state"] == "open" and p["title"][:5]' | tail -n 1)" "0 1 run"
is "… in a sound repository" "$(git fsck --strict --no-dangling 2>&1)" ""
unset BENCHWRAP_PROFILE

cd "$WORK" && git clone -q --depth 1 "file://$HUB" shallow && cd shallow || exit
printf '/mlruns/\n/.benchwrap/\n' >>.git/info/exclude
git config benchwrap.forge github; git config benchwrap.forgeUrl "$FORGE"
forge_runs . 2
share; like "a shallow clone" "$? $(said)" "^0"; is "from a shallow clone" "$? $(git -C "$HUB" diff --name-only "main...$(mine)" | cut -d/ -f3 | grep -E '^[0-9a-f]{32}' | sort -u | wc -l)" "0 2"

cd "$WORK/clone" && git worktree add -q ../linked -b other upstream/main && cd ../linked || exit
forge_runs . 2
share --dry-run; is "from a linked worktree" "$? $(git status --porcelain)" "0 "
share; is "… it goes into the clone's branch" "$? $(runs_of "$WORK/me/results.git" "$(mine)")" "0 $(($(runs_of "$HUB" main) + 20 + 24 + 5 + 2))"
forge_stop
done_testing
