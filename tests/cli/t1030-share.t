#!/bin/bash
# sanitizer: long, because each of its shares starts git several times
# Runs go by pull request: what is new, one branch, one open request of a clone, whatever became of the last one.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/forge.sh"
. "$TESTLIB/doc.sh"
command -v git >/dev/null 2>&1 || { skip "share" "git is not installed"; done_testing; exit; }
cd "$WORK" || exit

OUT=$WORK/out.txt
share() { "$BENCHWRAP" share "$@" >"$OUT" 2>"$WORK/err.txt"; }
said() { cat "$OUT" "$WORK/err.txt"; }

whole_path() # KIND VARIABLE
{
    rm -rf "${WORK:?}"/o "$WORK"/first "$WORK"/clone
    forge_start "$1"
    forge_clone clone
    cd clone || exit
    share; is "$1: nothing is there, nothing is shared" "$? $(grep -c 'nothing to share' "$OUT")" "0 1"
    forge_runs . 3
    share --dry-run
    like "$1: a dry run tells what would leave" "$(said)" "^all +3 +30 "
    is "… and pushes nothing" "$(git -C "$HUB" for-each-ref refs/heads/benchwrap | wc -l)" 0
    share; like "$1: without a token the link is told" "$? $(said)" "by hand: $FORGE/o/results/"
    branch=$(git for-each-ref --format='%(refname:short)' refs/heads/benchwrap)
    is "… the branch is pushed" "$(git -C "$HUB" rev-parse "$branch")" "$(git rev-parse "$branch")"
    is "… on the target, with one commit" "$(git -C "$HUB" rev-list --count "main..$branch")" 1
    is "… of new files only" "$(git -C "$HUB" diff --no-renames --name-status "main...$branch" | grep -vcE '^A."?mlruns/')" 0
    export "$2=w"
    share; like "$1: a request is opened" "$(said)" "pull request #1 opened: $FORGE"
    is "… with title and table" "$(forge_pulls 'p["title"].startswith("3 runs of alpha: ") and p["text"].count("\n| `") == 3')" True
    share; like "$1: once more changes nothing" "$? $(said)" "pull request #1 is up to date"
    is "… there is one request" "$(forge_pulls 'p["state"]')" open
    is "… which nobody has written again" "$(forge_do script '' && share && forge_do log | grep -cv ^GET)" done0
    forge_runs . 2
    share; is "$1: more runs go into the same request" "$(forge_pulls '(p["number"], p["title"][:6], p["sha"])')" "(1, '5 runs', '$(git rev-parse "$branch")')"
    forge_do merge/1/squash >/dev/null
    share; like "$1: merged by squash: nothing is left" "$? $(said)" "^0 .*nothing to share: origin/main already has 5 of 5 local runs$"
    forge_runs . 1
    share --json; is "$1: the next request has the new run only" "$(python3 -c 'import json; d = json.load(open("../out.txt")); print(d["shared"], d["number"], d["pull_request"])')" "1 2 opened"
    is "… in its commit too" "$(git -C "$HUB" diff --name-only "main...$branch" | cut -d/ -f3 | sort -u | grep -c .)" 1
    forge_do merge/2/rebase/keep >/dev/null
    forge_runs . 1
    share; is "$1: after a rebase that kept the branch" "$? $(forge_pulls 'p["number"] == 3 and p["title"][:5]')" "0 1 run"
    forge_do close/3 >/dev/null
    forge_runs . 1
    share; like "$1: a request closed by hand is not asked again" "$? $(said)" "1 .*#3 of this branch was closed without being merged .*--reopen"
    is "… nor is anything pushed" "$(git -C "$HUB" diff --name-only "main...$branch" | cut -d/ -f3 | sort -u | grep -c .)" 1
    share --reopen; like "$1: unless it is wanted" "$? $(said)" "pull request #4 opened"
    # What check refuses stays here; the others go.
    forge_runs . 2
    bad=$(find mlruns -path '*/params/third' -newer "$OUT" | head -n 1); echo 7 >"$bad"; bad=$(echo "$bad" | cut -d/ -f3)
    share --dry-run; like "$1: a dry run prints what check refuses" "$? $(said | tr '\n' ' ')" "^1 .*left out: 1 run .$(echo "$bad" | cut -c1-8).: check refuses it .manifest.: .*would go to"
    share; like "$1: a run that check refuses stays here" "$? $(said | tr '\n' ' ')" "^1 .*left out: 1 run .*check refuses it .*pull request #4 is up to date.*check refuses 1 run, left out above: .*--no-check REASON"
    is "… the other one goes" "$(git -C "$HUB" ls-tree -r --name-only "$branch" | grep -c "$bad") $(forge_pulls 'p["number"] == 4 and p["title"][:6]')" "0 3 runs"
    share --no-check ' '; like "$1: a reason is needed" "$? $(said)" "^125 .*--no-check: expected a reason"
    share --no-check 'a <b>known</b> @fault, password=hunter22x'; is "$1: with a reason it goes, too" "$? $(forge_pulls 'p["number"] == 4 and p["title"][:6]')" "0 4 runs"
    is "… and the request shows the reason, as text only and without its secret" "$(forge_pulls 'p["number"] == 4 and ("known" in p["text"], "<b>" in p["text"], "@fault" in p["text"], "manifest" in p["text"], "hunter22x" in p["text"])')" "(True, False, False, True, False)"
    git branch -D "$branch" >/dev/null; rm -r mlruns/*/"$bad"
    share; is "$1: the run is taken back" "$? $(git -C "$HUB" ls-tree -r --name-only "$branch" | grep -c "$bad")" "0 0"
    export "$2=r"
    forge_runs . 1
    share; like "$1: a token that may not write" "$? $(said)" "token of $2 has not the right"
    forge_do close/4 >/dev/null
    share --reopen; like "$1: … and no open request" "$? $(said)" "runs are pushed, but .*token of $2 has not the right"
    export "$2=wrong"
    share; like "$1: a token that is none" "$? $(said | tr '\n' ' ')" "nothing was pushed: .*401.*token of $2 is not accepted.*make a new token, then share again.*hint: to push without a request: benchwrap share --no-pull-request"
    is "$1: no token in what was said" "$(said | grep -c wrong)" 0
    export "$2=w"
    share --reopen; forge_do merge/5/merge >/dev/null
    git pull -q; is "$1: after a pull git status is empty" "$? $(git status --porcelain)" "0 "
    is "$1: … and every run is there" "$(hub_runs) $(git ls-files | grep -c /meta.yaml)" "10 $((10 + $(git ls-files -- 'mlruns/*/meta.yaml' | grep -cE '^mlruns/[0-9]+/meta.yaml$')))"
    is "$1: git likes the repositories" "$(git fsck --strict --no-dangling 2>&1; git -C "$HUB" fsck --strict --no-dangling 2>&1)" ""
    unset "$2"
    cd "$WORK" || exit
    forge_stop
}
whole_path github GITHUB_TOKEN
if long_tests; then
    whole_path gitlab GITLAB_TOKEN
    whole_path gitea GITEA_TOKEN
    whole_path forgejo FORGEJO_TOKEN
fi

# A retraction, as the pages have it: the site's commands, then the reviewer's.
retraction_round()
{
    git config --global --unset-all user.name; git config --global --unset-all user.email
    rm -rf "${WORK:?}"/o "$WORK"/first "$WORK"/clone
    forge_start github
    forge_clone clone
    cd clone && git config benchwrap.site tuxlab || exit
    export GITHUB_TOKEN=w
    "$BENCHWRAP" -q -- fio --name=w --rw=write --size=1m --unlink=1 >"$WORK/w.txt"
    share; forge_do merge/1/merge >/dev/null; git pull -q
    wrong_run=$("$BENCHWRAP" ls --json | jq -r '.[0].short')
    doc_here() { doc_places "$1" 5ab32dcc "$wrong_run" pull/18/head pull/2/head; }
    doc_follow howto-share.md "Retract and correct"
    git clone -q "$HUB" "$WORK/reviewer" && cd "$WORK/reviewer" || exit
    doc_follow howto-review.md "Review a retraction"
    unset GITHUB_TOKEN
    forge_stop
    cd "$WORK" || exit
}
export PATH="$(dirname "$BENCHWRAP"):$PATH"
if command -v fio >/dev/null; then retraction_round; else skip "a retraction by the pages" "fio is not installed"; fi

# A path on a shared file system, as the page has it, on a machine that knows nobody. It holds characters that mean something to sed.
shared=$WORK/shared,of/all
mkdir -p "$shared"
doc_here() { doc_places "$1" /shared/hpc "$shared" tuxlab/d70b6d73 "$(git -C "$shared/results.git" for-each-ref --format='%(refname:lstrip=3)' refs/heads/benchwrap 2>/dev/null)"; }
git config --global --unset user.name; git config --global --unset user.email
mkdir alone && cd alone || exit
if command -v fio >/dev/null; then doc_follow howto-share.md "Share by a path"; else skip "a path on a shared file system" "fio is not installed"; fi

# What the recorder replaced in the output is counted, also where no mark shows it.
git init -q --bare "$WORK/counted.git" && git init -q "$WORK/counted" && cd "$WORK/counted" || exit
printf 'profile: private\n' >benchwrap.yaml
git config user.name T && git config user.email t@example.org
git remote add origin "$WORK/counted.git" && git config benchwrap.site alpha && git add -A && git commit -qm begin && git push -q origin HEAD:main
printf 'rate: 5 MB/s\n--password hunter22\napi_key=sk9Qz81LmN0pR7tV\n' >"$WORK/printed"
"$BENCHWRAP" -q -- cat "$WORK/printed" >/dev/null
share --dry-run --json
is "REDACTED has what the recorder replaced in the output" "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["runs"][0]["redacted"])' "$OUT")" \
    "$(cat mlruns/*/*/tags/benchwrap.secrets_redacted)"
git init -q --bare "$WORK/named.git" && "$BENCHWRAP" init --site alpha "$WORK/named" >/dev/null && cd "$WORK/named" && git remote add origin "$WORK/named.git" && git push -q origin main
"$BENCHWRAP" -q -- echo "rate: 5 MB/s from $HOME/x and /home/bob1.neil/x" >/dev/null
share --dry-run; like "... and what stands for names is explained" "$(said)" "^REDACTED: uuu1 stands for a user, "
share --dry-run --json; like "values have their units as everywhere" "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["runs"][0]["headline"])' "$OUT")" "rate.* 5 MB/s"
like "... by show, too" "$("$BENCHWRAP" show)" "^Names +replaced in this public run: uuu1 is a user"
done_testing
