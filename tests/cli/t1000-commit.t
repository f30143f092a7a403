#!/bin/sh
# Results repositories: init makes and clones them, recorded runs become commits by themselves, and git likes what it gets.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/commits.sh"
git_ready || { skip "results in git" "git or libgit2 is not installed"; done_testing; exit; }
cd "$WORK" || exit

"$BENCHWRAP" init made >/dev/null 2>err; is "a new repository is public, and requires a site" "$? $(grep -c 'expected --site NAME, or --private' err)" "125 1"
for kind in "public " "public --public" "private --private"; do
    rm -rf made; "$BENCHWRAP" init --site lab ${kind#* } made >out
    is "init ${kind#* } writes the profile" "$(sed -n 's/^profile: *\([a-z]*\).*/\1/p' made/benchwrap.yaml) $(grep -c "${kind%% *} profile, site lab" out)" "${kind%% *} 1"
done
rm -rf made; "$BENCHWRAP" init --site lab made >/dev/null
is "in a public one the site is the author from the start" "$(git -C made log --format='%an %ae')" "lab lab@benchwrap.invalid"
for line in "profile: private" "profile: public" "experiment: io" ""; do
    printf '%s\n' "$line" >made/benchwrap.yaml; cp made/benchwrap.yaml was
    "$BENCHWRAP" init made >out; is "an existing benchwrap.yaml is never changed (\"$line\")" "$? $(cmp made/benchwrap.yaml was)" "0 "
    case $line in *public) says=public other=private;; *) says=private other=public;; esac
    like "  its profile holds" "$(cat out)" "$says profile"
    "$BENCHWRAP" init --$other made >out 2>err; is "  and init --$other refuses to change it" "$? $(cmp made/benchwrap.yaml was) $(grep -c "repository $says, and init does not change it" err)" "125  1"
done
git -C made remote add origin "$WORK/nowhere"
"$BENCHWRAP" init made >out; like "without the line a remote makes it public" "$(cat out)" 'public profile'

HOME=$WORK/nobody GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME= GIT_COMMITTER_NAME= "$BENCHWRAP" init --private --site lab unknown >out 2>err
is "init --private without an identity: files, and what to do" "$? $(grep -c 'yours to commit: benchwrap.yaml' out) $(grep -c '^benchwrap: init: .*not committed: git knows no user.name' err) $(grep -c '^hint: git config --global user.name' err) $(grep -c '^hint: then: cd unknown; git commit -m' err)" "0 1 1 1 1"
like "... and what to do before the push" "$(cat out)" "^share it: cd unknown; git commit -m .*; git remote add origin URL; git push"
ok "init makes a repository" "$BENCHWRAP" init --private --site lab results
for configured in '' trunk; do # without init.defaultBranch git makes "master"
    if [ -n "$configured" ]; then git config --global init.defaultBranch "$configured"; else git config --global --unset init.defaultBranch; fi
    out=$("$BENCHWRAP" init --site lab new) && git init -q --bare target.git
    is "init.defaultBranch \"$configured\": the branch" "$(git -C new symbolic-ref --short HEAD)" "${configured:-main}"
    like "  the next step is printed" "$out" "^share it: cd new; git remote add origin URL; git push -u origin ${configured:-main}$"
    ok "  and works" sh -c "$(echo "$out" | sed -n "s,URL,$WORK/target.git,; s/^share it: //p" | sed 's/; / \&\& /g')"
    rm -rf new target.git
done
git config --global init.defaultBranch main
cd results || exit
branch=benchwrap/lab/$(git config benchwrap.clone)
is "with a commit of its files, and nothing else to see" "$(git status --short; git log --format=%s)" "A repository for results of benchmarks"
like "the clone's name has eight digits" "$branch" '^benchwrap/lab/[0-9a-f]{8}$'
for f in benchwrap.yaml .gitattributes .gitignore README.md .github/workflows/benchwrap.yml .forgejo/workflows/benchwrap.yml .gitlab-ci.yml .github/workflows/benchwrap-results.yml .forgejo/workflows/benchwrap-results.yml .github/workflows/benchwrap-pages.yml .forgejo/workflows/benchwrap-pages.yml benchwrap-check.yaml CONTRIBUTING.md CITATION.cff CODEOWNERS; do
    ok "$f is tracked" git cat-file -e "HEAD:$f"
done
is "no job looks at some paths only" "$(grep -l 'paths:' .github/workflows/* .forgejo/workflows/*)" ""
before=$(git show-ref; find . -path ./.git/objects -prune -o -type f -print | sort | xargs cksum)
ok "init again" "$BENCHWRAP" init .
is "changes nothing" "$(git show-ref; find . -path ./.git/objects -prune -o -type f -print | sort | xargs cksum)" "$before"

echo dirty >staged; git add staged; head=$(cat .git/HEAD; git rev-parse HEAD; cksum .git/index)
"$BENCHWRAP" -q -e io -- sh -c 'echo "bandwidth: 12.5 GB/s"' >/dev/null
commits_wait 1
"$BENCHWRAP" -q -e io -- false
commits_wait 2
is "two runs are two commits" "$(git rev-list --count "$branch" ^HEAD)" 2
is "HEAD, index and branch stay" "$(cat .git/HEAD; git rev-parse HEAD; cksum .git/index)" "$head"
git reset -q; rm staged
is "git status is quiet" "$(git status --short)" ""
like "the message shows the value as people write it" "$(git log --format=%s "$branch")" '^sh: bandwidth 12500 MB/s'
like "and the verdict" "$(git log -1 --format=%s "$branch")" 'fail$'
is "the author is git's" "$(git log -1 --format='%an <%ae>' "$branch")" "Ada <ada@example.org>"
is "fsck" "$(git fsck --strict --no-progress --no-dangling 2>&1)" ""
git --work-tree="$WORK/out" --git-dir=.git checkout-index -a 2>/dev/null; mkdir -p "$WORK/tree"
git archive "$branch" mlruns | tar -x -C "$WORK/tree"
is "the commit's files are those on disk" "$(diff -r mlruns "$WORK/tree/mlruns")" ""
is "only new runs are in a commit" "$(git diff --name-status "$branch~1" "$branch" | grep -cv "^A")" 0
like "nothing is left" "$("$BENCHWRAP" commit)" '^nothing to commit'

git clone -q . "$WORK/plain" 2>/dev/null; (cd "$WORK/plain" && "$BENCHWRAP" -q -- true)
is "in a plain clone git status shows a run's folder, and not what benchwrap stores next to it" "$(git -C "$WORK/plain" status --porcelain)" "?? mlruns/"
ok "a series is its repetitions and itself" "$BENCHWRAP" -q -e series --repeat 3 -- true
commits_wait 6
is "all four" "$(committed_runs)" 6
"$BENCHWRAP" -q --commit none -- true; "$BENCHWRAP" -q --commit batch -- true; "$BENCHWRAP" -q --commit batch -- true
like "what is left waits" "$("$BENCHWRAP" commit --dry-run)" '^3 runs would be committed'
is "as JSON" "$("$BENCHWRAP" commit --json | jq -c '[.branch == "'"$branch"'", .runs, .commits, .left_out]')" '[true,3,1,0]'
like "a batch tells its size" "$(git log -1 --format=%s "$branch")" '^3 runs: '
sub=$(printf 'sh -c "exec \\"%s\\" -q -- true"' "$BENCHWRAP")
eval "\"$BENCHWRAP\" -q -- $sub"
commits_wait 11
is "a run in a run is committed once, with its parent" "$(git log --diff-filter=A --name-only --format= "$branch" ^HEAD -- 'mlruns/*/*/meta.yaml' | wc -l)" 11

ok "imported runs are committed by themselves" "$BENCHWRAP" import "$ROOT/benchmarks/catalogue/ior/samples/4.0.0-human-reps3-fpp/stdout"
like "at once" "$(git log -1 --format=%s "$branch")" '^ior: '
ok "a retraction, too" "$BENCHWRAP" retract --why "a test" last
like "nothing is left of both" "$("$BENCHWRAP" commit)" '^nothing to commit'

# A second site, by a bare upstream, public.
cd "$WORK" && git clone -q results publish && (cd publish && sed -i 's/^profile: private/profile: public /' benchwrap.yaml && git commit -qam public)
git clone -q --bare publish up.git && git -C up.git remote remove origin
"$BENCHWRAP" init --public "file://$WORK/up.git" c2 2>err; is "a public clone wants a site" "$?" 125
like "and says so" "$(cat err)" 'names the site'
git init -q --bare hub.git
for from in "$WORK/hub.git" hub.git ./hub.git "file://$WORK/hub.git"; do
    out=$("$BENCHWRAP" init --site s "$from" empty 2>&1)
    is "init clones $from: status" "$?" 0
    like "  its origin" "$(git -C empty remote get-url origin)" "^(file://)?$WORK/([.]/)?hub.git$"
    like "  and the next step is printed" "$out" "^origin is empty, push its first commit: cd empty; git push -u origin $(git -C empty symbolic-ref --short HEAD)$"
    rm -rf empty
done
like "the step into a folder is one for a shell" "$("$BENCHWRAP" init --site s 'a folder' 2>&1)" "^record a run there: cd 'a folder'; benchwrap"
rm -rf 'a folder'
git init -q --bare -b other named.git && git -C publish push -q "$WORK/named.git" HEAD:main && git -C publish push -q "$WORK/named.git" HEAD:benchwrap/x/1
out=$("$BENCHWRAP" init --site s ./named.git named 2>&1)
is "a bare repository whose HEAD names a branch that is not there: the clone is of its main" "$(git -C named rev-parse --abbrev-ref HEAD @{upstream} | xargs) $(git -C named rev-parse HEAD)" \
    "main origin/main $(git -C publish rev-parse HEAD)"
is "  and nothing says that it is empty" "$(echo "$out" | grep -c empty)" 0
rm -rf named named.git
if [ "$(id -u)" = 0 ]; then
    cp -R hub.git theirs.git && cp -R hub.git 'their own.git' && chown -R 54321 theirs.git 'their own.git'
    is "a repository of another user: who, and what allows it" "$(env -u SUDO_UID "$BENCHWRAP" init --site s "$WORK/theirs.git" no 2>&1)" "benchwrap: init: cannot clone $WORK/theirs.git: it belongs to user 54321 and git does not trust it
hint: git config --global --add safe.directory $WORK/theirs.git"
    out=$(env -u SUDO_UID "$BENCHWRAP" init --site s "their own.git" no 2>&1)
    like "  a path with a blank" "$out" "^hint: git config --global --add safe.directory '$WORK/their own.git'$"
    (HOME=$WORK/home && export HOME && mkdir "$HOME" && eval "$(echo "$out" | sed -n 's/^hint: //p')" && "$BENCHWRAP" init --site s "their own.git" no >/dev/null 2>&1)
    is "  the hint works" "$?" 0
    rm -rf no
else
    skip "a repository of another user" "root"
fi
"$BENCHWRAP" init --site s hub.git empty >out && (eval "$(sed -n 's/.*first commit: //p' out)" 2>err) && cd empty && "$BENCHWRAP" -q -- true
is "after that step others can clone" "$("$BENCHWRAP" init --site s "$WORK/hub.git" "$WORK/second" | grep -c 'is empty')" 0
cd "$WORK" || exit
"$BENCHWRAP" init absent.git c3 2>err; is "a path that is not there" "$? $(cat err | grep -c 'no repository "absent.git" to clone')" "125 1"
"$BENCHWRAP" init a b c 2>err; is "three operands" "$?" 125
ok "a clone" "$BENCHWRAP" init --public --site far "file://$WORK/up.git" c2
cd c2 && "$BENCHWRAP" -q -- true; commits_wait 1
is "the site is the author, in no time zone" "$(git log -1 --format='%an %ae %cn %ad' --date=format:%z "benchwrap/far/$(git config benchwrap.clone)")" "far far@benchwrap.invalid far +0000"
BENCHWRAP_COMMIT=none "$BENCHWRAP" -q --profile private -- true
"$BENCHWRAP" commit >out 2>err; is "a private run stays out" "$?" 1
like "and that is said" "$(cat err)" 'recorded with the private profile'
like "unless it is asked for" "$("$BENCHWRAP" commit --private)" '^1 run committed'

# Merged runs come back as the same bytes at the same paths.
cd "$WORK/results" && git checkout -q -b merged && git merge -q --no-edit "$branch" 2>/dev/null
is "after a merge nothing is to be seen" "$(git status --short)" ""
is "and the tree is the commit's" "$(git diff --stat HEAD)" ""
done_testing
