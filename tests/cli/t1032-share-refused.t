#!/bin/bash
# sanitizer: long, because each of its shares starts git several times
# What stands in the way of sharing: said clearly, nothing lost, and the next share goes on.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/forge.sh"
command -v git >/dev/null 2>&1 || { skip "share" "git is not installed"; done_testing; exit; }
cd "$WORK" || exit
OUT=$WORK/out.txt
share() { "$BENCHWRAP" share "$@" >"$OUT" 2>"$WORK/err.txt"; }
said() { cat "$OUT" "$WORK/err.txt"; }
mine() { git for-each-ref --format='%(refname:short)' refs/heads/benchwrap; }

mkdir nothing && cd nothing || exit
share; like "no repository" "$? $(said)" "^1 .*no git repository"
git init -q .; share; like "no remote" "$? $(said)" "^1 .*no remote to share with: git remote add"
git remote add origin "$WORK/absent.git"
share; like "a remote that is not there" "$? $(said | tr '\n' ' ')" "^1 .*the remote origin does not answer.*hint: run benchwrap share again when git ls-remote origin works"
git init -q --bare "$WORK/empty.git"; git remote set-url origin "$WORK/empty.git"
git symbolic-ref HEAD refs/heads/trunk
share; like "an empty remote: the next step" "$? $(said)" "^1 .*origin is empty; push its first commit: git push -u origin trunk$"
share --base main; like "an empty remote, with --base" "$? $(said)" "^1 .*origin has no branch main; push its first commit: git push -u origin main"
git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one; git push -q origin trunk:one
share; is "a remote with one branch, which its HEAD does not name" "$(said | grep -c 'push its first\|main one')" 0
git push -q origin trunk:two; share; like "with two branches" "$? $(said)" "^1 .*origin has 2 branches and names none of them as the main one: use --base BRANCH"
printf '#!/bin/sh\ntrue </dev/tty 2>/dev/null && sleep 600\necho "Host key verification failed." >&2; exit 255\n' >"$WORK/ssh"; chmod +x "$WORK/ssh"; git remote set-url origin ssh://git@host.example/x.git
GIT_SSH=$WORK/ssh share; like "a host whose key nobody has accepted is not asked about" "$? $(said)" "^1 .*does not answer .git ls-remote, called by hand.*: Host key verification failed"
git remote set-url origin "$WORK/empty.git"
share --remote -x; like "a remote's name that is an option" "$? $(said)" "^125 .*expected a name that git accepts"
printf 'profile: public\n' >benchwrap.yaml
share; like "a public repository, and a clone without a site" "$? $(said | tr '\n' ' ')" "^1 .*this clone has no site.*hint: benchwrap init --site NAME $WORK/nothing"
rm benchwrap.yaml
share operand; like "operands" "$? $(said)" "^125 .*expected no operands"
cd "$WORK" || exit

forge_start github
forge_clone clone
cd clone || exit
forge_runs . 2
cp "$HOME/.gitconfig" "$WORK/identity" && git config --global --unset user.name
share; like "no identity" "$? $(said)" "^1 .*does not know who commits: git config"
cp "$WORK/identity" "$HOME/.gitconfig"
is "… nothing was pushed" "$(git -C "$HUB" for-each-ref refs/heads/benchwrap)" ""

# A detached HEAD, a dirty index, an untracked file are nobody's business.
git checkout -q --detach; echo x >new; git add new; git rev-parse HEAD >"$WORK/head"; git status --porcelain >"$WORK/state"
cp ../first/benchwrap.yaml .; git status --porcelain >"$WORK/state"
share; is "detached HEAD and dirty index" "$? $(git -C "$HUB" for-each-ref refs/heads/benchwrap | wc -l)" "0 1"
is "… which stay as they are" "$(git rev-parse HEAD; git status --porcelain)" "$(cat "$WORK/head" "$WORK/state")"
git rm -q --cached new; rm new; git checkout -q main
branch=$(git for-each-ref --format='%(refname:short)' refs/heads/benchwrap)

hook() { printf '#!/bin/sh\n%s\n' "$1" >"$HUB/hooks/pre-receive"; chmod +x "$HUB/hooks/pre-receive"; }
forge_runs . 1
hook 'echo "error: GH006: Protected branch update failed for refs/heads/$b." >&2; exit 1'
share; like "a protected branch" "$? $(said)" "^1 .*not accepted by origin: the branch is protected there.*GH006.*nothing is lost"
hook 'echo "error: File mlruns/1/x is 120.00 MB; this exceeds GitHub'"'"'s file size limit of 100.00 MB" >&2; exit 1'
share; like "over the forge's size" "$? $(said)" "^1 .*a file is larger than it accepts.*120.00 MB.*nothing is lost"
hook 'printf "error:\nerror: not here\nerror:\n" >&2; exit 1'
share; like "a rule over there: its words without empty ones, and the next step" "$? $(said)" "^1 .*a rule of that repository refuses it: let its maintainer allow forced pushes to benchwrap/., or push to a fork of yours .--to. .error: not here.;"
hook 'printf "\033[31mno\033[0m way\n" >&2; exit 1'
share; is "words of the other side reach no terminal raw" "$? $(said | grep -c 'no.*way') $(said | LC_ALL=C grep -c "$(printf '\033')")" "1 1 0"
rm "$HUB/hooks/pre-receive"
printf '#!/bin/sh\necho "scan: \033[31mno\033[0m"; cat >../pushed; echo "scan: not this" >&2; exit 1\n' >.git/hooks/pre-push; chmod +x .git/hooks/pre-push
share; like "a pre-push hook" "$? $(said)" "^1 .*the pre-push hook of this clone does not let $branch go to origin.*scan: not this.*--no-verify"
like "… is told what would go" "$(cat ../pushed)" " refs/heads/$branch "
sed -i 's/exit 1/exit 0/' .git/hooks/pre-push; forge_runs . 1; rm ../pushed
share; is "… and lets it go" "$? $(grep -c "refs/heads/$branch" ../pushed)" "0 1"
rm ../pushed; sed -i 's/exit 0/exit 1/' .git/hooks/pre-push; forge_runs . 1
share --no-verify; is "… or is left out" "$? $(ls ../pushed 2>&1 | grep -c 'No such')" "0 1"
rm .git/hooks/pre-push

# Somebody else writes to our branch over there.
git clone -q -b "$branch" "$HUB" "$WORK/other"
(cd "$WORK/other" && echo z >z && git add z && git commit -qm z && git push -q origin HEAD)
share; like "foreign changes in our branch over there" "$? $(said)" "^1 .*is not as it was pushed from here: z was changed there,.* git fetch origin $branch; git branch theirs FETCH_HEAD.* git push origin --delete $branch; benchwrap share --reopen"
is "… are not overwritten" "$(git -C "$HUB" log -1 --format=%s "$branch")" z
(cd "$WORK/other" && git reset -q --hard HEAD~1 && git push -q -f origin HEAD && git checkout -q main && echo m >m && git add m && git commit -qm m && git push -q origin main &&
    git checkout -q "$branch" && git merge -q --no-edit main && git push -q origin HEAD)
share; is "but a merge of the target into it is replaced" "$? $(git -C "$HUB" diff --name-only "main...$branch" | cut -d/ -f3 | sort -u | grep -cE '^[0-9a-f]{32}')" "0 5"

# A repository of "git init --shared" takes no push with force; to share again does not help.
git -C "$HUB" config receive.denyNonFastForwards true
forge_runs . 1
share; like "no pushes with force over there: the cause and the next step" "$? $(said)" "^1 .*accepts no push with force.*git config receive.denyNonFastForwards false.*nothing is lost"
is "… and not that something was changed" "$(said | grep -c 'share again\|at the same time')" 0
git -C "$HUB" config receive.denyNonFastForwards false
share; is "… which is the way out" "$?" 0

# Between our look and our push.
mkdir "$WORK/bin"
real=$(command -v git)
cat >"$WORK/bin/git" <<END
#!/bin/sh
case " \$* " in *" push "*) $real -C "$HUB" update-ref "refs/heads/$branch" main ;; esac
exec $real "\$@"
END
chmod +x "$WORK/bin/git"
forge_runs . 1
PATH=$WORK/bin:$PATH share; like "a lost race" "$? $(said)" "^1 .*changed there at the same time.*nothing is lost"
share; is "… and the next share" "$?" 0

# A clone that was copied has the name of the other one's branch.
cp -R . ../copied && cd ../copied && forge_runs . 1 && share && cd ../clone && forge_runs . 1 || exit
share; like "a copy of a clone: the next step" "$? $(said | tr '\n' ' ')" "^1 .*was changed there, .*hint: if this clone is a copy of another one: git config --unset benchwrap.clone"
git -C ../copied config --unset benchwrap.clone
git -C "$HUB" branch -D "$branch" >/dev/null
share; is "... the original goes on" "$?" 0
cd ../copied && share; is "... and so does the copy" "$? $(git for-each-ref refs/heads/benchwrap | wc -l)" "0 2"
cd ../clone || exit
for gone in $(git -C "$HUB" for-each-ref --format='%(refname:short)' refs/heads/benchwrap | grep -v "^$branch\$"); do git -C "$HUB" branch -D "$gone" >/dev/null; done

# Our own branch with other things in it.
git checkout -q "$branch"; echo r >readme; git add readme; git commit -qm readme; git checkout -q main
forge_runs . 1
share; like "other changes in our branch" "$? $(said)" "^1 .*has changes that are no new runs \(readme\)"
git branch -qf "$branch" "$branch~1"

# A run that is taken out of the target is not offered again.
export GITHUB_TOKEN=w
share >/dev/null; forge_do merge/1/merge >/dev/null
(cd "$WORK/other" && git checkout -q main && git pull -q && gone=$(ls -d mlruns/*/????????????????????????????????* | head -n 1) && git rm -rq "$gone" && git commit -qm "not wanted" && git push -q)
share; like "a run that was taken out of the target" "$? $(said)" "left out: 1 run .*was in the target once"
like "… is not offered again" "$(said)" "nothing to share"

# The forge in trouble.
forge_runs . 1
forge_do script 'GET 403 X-RateLimit-Remaining: 0 ; X-RateLimit-Reset: 4000000000 ; API rate limit exceeded for user ID 1.' >/dev/null
share; like "too many requests" "$? $(said)" "^1 .*nothing was pushed.*too many requests .API rate limit exceeded.*try again after 2096-10-0[12] [0-9]"
forge_do script 'GET 403 X-RateLimit-Remaining: 0 ; X-RateLimit-Reset: 12 ; API rate limit exceeded' >/dev/null
share; like "... until a time that is over: the clocks differ" "$? $(said)" "^1 .*nothing was pushed.*; try again later$"
forge_do script 'GET 502
POST+ 502' >/dev/null
share; like "a gateway that loses a reply" "$? $(said)" "pull request #2 is up to date"
is "… there is one request for it" "$(forge_pulls 'p["state"] == "open" and p["number"]')" 2
forge_do script 'PATCH 500' >/dev/null
forge_runs . 1
share; is "a server that stumbles once" "$? $(forge_pulls 'p["state"] == "open" and p["title"][:6]')" "0 2 runs"
forge_runs . 1; forge_do script 'PATCH 429 slow down' >/dev/null
share; like "too many requests for its text: nothing is to be opened by hand" "$? $(said | tr '\n' ' ')" "^1 .*pushed to pull request #2, but its text is not refreshed .share again does it.*too many requests .slow down.*try again later"
is "... which is not claimed either" "$(said | grep -c 'opened by hand')" 0
share; is "... and the next share" "$?" 0
mkdir -p "$WORK/www/repos/o/results" && echo hello >"$WORK/www/repos/o/results/pulls"
python3 -c 'import functools, http.server, sys
server = http.server.HTTPServer(("127.0.0.1", 0), functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1]))
print(server.server_port, flush=True)
server.serve_forever()' "$WORK/www" >"$WORK/www.port" 2>/dev/null &
www_pid=$!
wait_until '[ -s "$WORK/www.port" ]'
git config benchwrap.forgeApi "http://127.0.0.1:$(cat "$WORK/www.port")"
share; like "an address that is no API" "$? $(said | tr '\n' ' ')" "^1 .*cannot read the reply as JSON; check that http://127.0.0.1:[0-9]* is the address of its API .git config benchwrap.forgeApi"
git config --unset benchwrap.forgeApi; kill $www_pid
sed -i "s/.*/& /" "$HUB/description"
forge_do script 'GET 404 Not Found' >/dev/null
share; like "a forge that does not show a new repository yet is asked again" "$? $(said | tr '\n' ' ')" "^0 .*pull request #2 is up to date"
forge_do script 'POST 404 Not Found' >/dev/null
forge_do close/2 >/dev/null
share --reopen; like "a repository that the token may not see" "$? $(said)" "runs are pushed, but.*404 Not Found; there is no such repository"

# A maintainer merges or closes the request while share pushes.
share >/dev/null
meanwhile() { # ACTION: what happens at the forge just before the push
    printf '#!/bin/sh\ncase " $* " in *" push "*) curl -sS -X POST "%s/_/%s" >/dev/null ;; esac\nexec %s "$@"\n' "$FORGE" "$1" "$real" >"$WORK/bin/git"
    chmod +x "$WORK/bin/git"; PATH=$WORK/bin:$PATH share; status=$?; rm "$WORK/bin/git"
}
number=$(forge_pulls 'p["state"] == "open" and p["number"]')
if [ -z "$number" ]; then share --reopen; number=$(forge_pulls 'p["state"] == "open" and p["number"]'); fi
forge_runs . 1; meanwhile "merge/$number/squash/keep"
like "merged while share ran: the next step" "$status $(said | tr '\n' ' ')" "^1 .*runs are pushed, but .*#$number was merged while share ran .*hint: benchwrap share"
share; like "... and the next share opens a request for the new run alone" "$? $(said)" "pull request #$((number + 1)) opened"
is "... of one run" "$(forge_pulls "p['number'] == $number + 1 and p['title'][:5]")" "1 run"
forge_runs . 1; meanwhile "close/$((number + 1))"
like "closed while share ran: the next step" "$status $(said | tr '\n' ' ')" "^1 .*#$((number + 1)) was closed while share ran .*--reopen"
"$BENCHWRAP" -q -e own -- true 2>/dev/null
own=$("$BENCHWRAP" ls --json -e own | jq -r '.[0].id[0:8]')
share --reopen; like "... which works" "$? $(said)" "pull request #$((number + 2)) opened"
forge_do "merge/$((number + 2))/merge" >/dev/null

# The main branch is renamed, and the target rewritten by force.
git -C "$HUB" branch -m main trunk
forge_runs . 1
share; like "a renamed main branch" "$? $(said)" "for origin/trunk pull request #$((number + 3)) opened|pull request #$((number + 3)) opened"
git -C "$HUB" update-ref refs/heads/trunk "$(git -C "$HUB" rev-list --max-parents=0 trunk | tail -n 1)"
git branch -qf "$branch" origin/trunk^2
share -n; is "a target rewritten by force, and a branch that left it before its last state" "$? $(said | grep -c 'no new runs')" "0 0"
git branch -qf "$branch" "refs/remotes/origin/$branch"
share; is "a target rewritten by force: the site's own runs are offered again" "$? $(forge_pulls "p['number'] == $number + 3 and '$own' in p['text']")" "0 True"
like "... without those of another site" "$(said)" "left out: .* run.*the target has lost it, and another site published it"
like "... without those that are not here" "$(said)" "left out: .* run.*the target has lost it, and it is not on this disk"
git -C "$HUB" branch -m trunk main

# Clocks that differ by hours.
cat >"$WORK/clock.c" <<'END'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, id, t);
    if (id == CLOCK_REALTIME) t->tv_sec += atol(getenv("CLOCK_S"));
    return rc;
}
time_t time(time_t *ret)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (ret) *ret = t.tv_sec;
    return t.tv_sec;
}
END
"$BENCHWRAP" -q -- true 2>/dev/null
if ${CC:-cc} -shared -fPIC -o "$WORK/clock.so" "$WORK/clock.c" 2>"$WORK/clock.err"; then
    CLOCK_S=-18000 LD_PRELOAD=$WORK/clock.so share; like "a clock that is five hours behind: the runs stay, with the reason" "$? $(said | tr '\n' ' ')" "^1 .*check refuses it .time.: .*in the future, by 1[78][0-9]{3} s; check the clocks"
fi
share; is "... and the next share with the right clock brings them" "$? $(said | grep 'left out' | grep -vc 'the target has lost it')" "0 0"
if [ -e "$WORK/clock.so" ]; then # a node whose clock was three days ahead
    ahead=$(CLOCK_S=345600 LD_PRELOAD=$WORK/clock.so "$BENCHWRAP" import --json --time "$(date -u -d '+3 days' +%Y-%m-%dT%H:%M:%SZ)" "$ROOT/benchmarks/catalogue/ior/samples/2.10.3-human-reps3-fpp/stdout" | jq -r '.[0].id')
    forge_runs . 1
    share; like "a run of the future stays, with the reason and the next step" "$? $(said | tr '\n' ' ')" "^1 .*left out: 1 run .${ahead:0:8}.: check refuses it .time.: .*in the future, by 25[0-9]{4} s; .*share a run of the future when its time has come, or record again"
    is "... the other one goes" "$(git -C "$HUB" ls-tree -r --name-only "$branch" | grep -c "$ahead") $(said | grep -c "^pushed to $branch")" "0 1"
    CLOCK_S=345600 LD_PRELOAD=$WORK/clock.so share; like "... also where this machine's clock is ahead: the forge's counts" "$? $(said | tr '\n' ' ')" "^1 .*left out: 1 run .${ahead:0:8}.: check refuses it .time.: .*in the future, by 25[0-9]{4} s"
    is "... and no request has it" "$(git -C "$HUB" ls-tree -r --name-only "$branch" | grep -c "$ahead")" 0
    CLOCK_S=345600 LD_PRELOAD=$WORK/clock.so share --no-pull-request; is "... until its time has come" "$(git -C "$HUB" ls-tree -r --name-only "$branch" | grep -c "$ahead.*/meta.yaml")" 1
    rm -r mlruns/*/"$ahead"
fi
share >/dev/null; for n in $(forge_pulls 'p["state"] == "open" and p["number"]'); do forge_do "close/$n" >/dev/null; done
last=$(forge_pulls 'p["number"]' | sort -n | tail -n 1)

# A token's file that others can read.
unset GITHUB_TOKEN
echo hush-hush >"$WORK/token"; chmod 644 "$WORK/token"
share --token-file "$WORK/token"; like "a token that others can read" "$? $(said)" "^1 .*can be read by others"
is "… is not told" "$(said | grep -c hush)" 0
echo w >"$WORK/token"; chmod 600 "$WORK/token"
share --reopen --token-file "$WORK/token"; like "a token from a file" "$? $(said)" "pull request #$((last + 1)) opened"
printf '#!/bin/sh\n[ "$1" = get ] && echo username=u && echo password=w\n' >"$WORK/bin/git-credential-mine"; chmod +x "$WORK/bin/git-credential-mine"
git config credential.helper "$WORK/bin/git-credential-mine"
share; like "a token from git's credential helper" "$? $(said)" "pull request #$((last + 1)) is up to date"
git config --unset credential.helper
git config --unset benchwrap.forge; git config --unset benchwrap.forgeUrl
GITHUB_TOKEN=w share; like "no forge" "$? $(said | tr '\n' ' ')" "no forge known: open a pull request from $branch to main of origin, or merge the branch in a clone of main, after git pull:   benchwrap check --range main..origin/$branch   git merge origin/$branch && git push"
is "git likes both" "$(git fsck --strict --no-dangling 2>&1; git -C "$HUB" fsck --strict --no-dangling 2>&1)" ""
forge_stop
# The maintainer removes a site's run by force: no other site sends it again, however often it shares, and wherever its clone has it from.
cd "$WORK" && git init -q --bare lost.git && "$BENCHWRAP" init --private --site central lost-first >/dev/null && git -C lost-first push -q "$WORK/lost.git" main || exit
for n in one two; do "$BENCHWRAP" init --site $n lost.git lost-$n >/dev/null || exit; done
lost_record() { (cd "$WORK/lost-$1" && "$BENCHWRAP" -q -- echo "rate: $RANDOM.25 MB/s" >/dev/null 2>&1); }
lost_merge() { git -C "$WORK/lost.git" update-ref refs/heads/main "$(git -C "$WORK/lost.git" for-each-ref --format='%(objectname)' "refs/heads/benchwrap/$1")"; }
lost_brings() { git -C "$WORK/lost.git" diff --name-only "main...$(git -C "$WORK/lost.git" for-each-ref --format='%(refname:short)' refs/heads/benchwrap/one)" | cut -d/ -f3 | sort -u | grep -cE '^[0-9a-f]{32}$'; }
lost_record one; (cd lost-one && share); lost_merge one
kept=$(git -C lost.git rev-parse main)
lost_record two; (cd lost-two && share); gone=$(basename "$(ls -d lost-two/mlruns/*/????????????????????????????????)"); lost_merge two
cd lost-one && git pull -q; is "a pull has brought the run of the other site" "$(ls mlruns/*/"$gone"/meta.yaml | wc -l)" 1
git -C ../lost.git update-ref refs/heads/main "$kept"
for turn in first second third; do
    [ $turn = first ] || lost_record one
    share; like "the target lost a run of another site: the $turn share leaves it out" "$? $(said | tr '\n' ' ')" "^0 .*left out: 1 run .${gone:0:8}.: the target has lost it, and another site published it"
done
is "... and sends this site's own runs alone" "$(lost_brings) $(git -C ../lost.git ls-tree -r --name-only "$(mine)" | grep -c "$gone")" "2 0"
git reset -q origin/main; lost_record one
share; is "... also where no branch of this clone has it any more" "$? $(ls mlruns/*/"$gone"/meta.yaml | wc -l) $(said | grep -c 'another site published it') $(lost_brings)" "0 1 1 3"
git reflog expire --expire=now --all; lost_record one
share; is "... and no log" "$? $(said | grep -c 'another site published it') $(lost_brings)" "0 1 4"
# A merge that is not pushed yet: the target never had these runs.
lost_record two; (cd ../lost-two && share); git checkout -q main; git merge -q --no-edit "$(git -C ../lost.git rev-parse main)"; git fetch -q
git merge -q --no-edit "origin/$(git -C ../lost-two for-each-ref --format='%(refname:short)' refs/heads/benchwrap)"; lost_record one
share; like "a run of another site in a merge that is not pushed: the target has lost nothing" "$? $(said | tr '\n' ' ')" "^0 .*another site recorded it; it is checked out here, and not in the target"
# A run that bears another site's name, and that no target had, goes: share says so.
"$BENCHWRAP" -q --site three -- echo "rate: 3.25 MB/s" >/dev/null 2>&1
share; like "a run that was recorded under another site's name is named" "$? $(said | tr '\n' ' ')" "^0 .*remark: 1 run bears another site's name: three"
done_testing
