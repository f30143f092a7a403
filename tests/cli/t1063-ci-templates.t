#!/bin/sh
# The jobs that `benchwrap init` writes: their steps, executed as the forges do, by bash and by sh, check a pull request whose branch tries to be executed, sourced
# or written through.
# sanitizer: long, because git and bash are what is waited for; t1070 walks the same code
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/jobs.sh"
cd "$WORK" || exit 1
export GIT_CONFIG_GLOBAL="$WORK/gitconfig" GIT_CONFIG_NOSYSTEM=1
printf '[user]\nname = Site\nemail = site@users.noreply.github.com\n[init]\ndefaultBranch = main\n[advice]\ndetachedHead = false\n' >gitconfig
if PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin command -v benchwrap >/dev/null; then
    skip_here "the templates" "benchwrap is installed in the directories of the system"; done_testing; exit 0
fi

job_source

# The repository, an honest branch and a hostile one.
"$BENCHWRAP" init --private --site lab hub >/dev/null || exit 1
cd hub || exit 1
git checkout -q -b honest
"$BENCHWRAP" -q --commit none -- sh -c 'echo plain' >/dev/null 2>&1
git add -f mlruns && git commit -qm runs
git checkout -q -b hostile
evil='#!/bin/sh
echo "$0 $*" >>'"$WORK/pwned"
mkdir -p bin build/bin hooks scripts benchwrap-check config.d
for f in bin/benchwrap benchwrap build/bin/benchwrap bin/git git bin/make make bin/cat cat bin/mktemp mktemp bin/mkdir bin/cp bin/sh bin/bash scripts/install-needs hooks/post-checkout hooks/post-index-change; do
    printf '%s\n' "$evil" >$f
    chmod +x $f
done
printf '%s\n' "$evil" | tee .envrc .bashrc .profile .bash_profile .env -- --help -rf >/dev/null
printf 'all:\n\techo make >>%s\n' "$WORK/pwned" >Makefile
printf '* filter=evil diff=evil merge=evil\n' >.gitattributes
printf '[filter "evil"]\n\tsmudge = echo filter >>%s\n\tclean = echo filter >>%s\n[core]\n\thooksPath = hooks\n\tfsmonitor = "echo fsmonitor >>%s"\n' "$WORK/pwned" "$WORK/pwned" "$WORK/pwned" >config
cp config .gitconfig
echo 'ref: refs/heads/main' >HEAD
# What programs read where they start, or below: package managers, interpreters, builders, libraries, git's own files.
for f in GNUmakefile makefile; do cp Makefile $f; done
for f in configure build.sh setup.py sitecustomize.py usercustomize.py json.py sys.py conftest.py .pythonrc ENV bash_env; do printf '%s\n' "$evil" >$f; chmod +x $f; done
printf '[global]\nindex-url = http://127.0.0.1:9/\n' | tee pip.conf .piprc >/dev/null
printf 'registry=http://127.0.0.1:9/\nscript-shell=%s\n' "$PWD/benchwrap" >.npmrc
printf 'output = %s/victim\nurl = http://127.0.0.1:9/\n' "$WORK" | tee .curlrc .wgetrc >/dev/null
printf 'machine 127.0.0.1 login x password y\nmacdef init\n!echo netrc >>%s\n' "$WORK/pwned" >.netrc
printf '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c echo%% submodule%% >>%s\n\tupdate = !echo update >>%s\n' "$WORK/pwned" "$WORK/pwned" >.gitmodules
printf '[lfs]\n\turl = http://127.0.0.1:9/\n' >.lfsconfig
printf '[diff "evil"]\n\ttextconv = echo textconv >>%s; cat\n\tcommand = echo command >>%s\n' "$WORK/pwned" "$WORK/pwned" >>config
printf '* filter=evil diff=evil merge=evil ident export-subst\n' >.gitattributes
if command -v cc >/dev/null && printf '#include <stdio.h>\n__attribute__((constructor)) static void c(void) { FILE *f = fopen("%s/pwned", "a"); if (f) fprintf(f, "library\\n"); }\n' "$WORK" | cc -shared -fPIC -x c -o libevil.so - 2>/dev/null; then
    for f in libgit2.so libgit2.so.1.5 libgit2.so.1.9 libz.so.1 libc.so.6 libpcre2-8.so.0; do cp libevil.so $f; done
    echo "$PWD/libevil.so" | tee ld.so.preload .ld.so.preload >/dev/null
fi
ln -s "$WORK/victim" summary.md
rmdir benchwrap-check && ln -s "$WORK/victims" benchwrap-check
echo untouched >"$WORK/victim"
mkdir "$WORK/victims" && echo untouched >"$WORK/victims/summary.md"
git add -A -f . && git commit -qm hostile
git checkout -q main
cd "$WORK" || exit 1

# branch_job SHELL FORGE BRANCH: the steps of the forge's file, in a fresh checkout of the branch.
branch_job()
{
    rm -rf checkout
    git clone -q -b "$3" hub checkout
    job "$1" "$2" "$(git -C checkout rev-parse origin/main)" "$(git -C checkout rev-parse "origin/$3")"
}

for forge in github forgejo gitlab; do
    job_steps "hub/$(job_file "$forge")"
    ok "$forge: the file has two steps" test -s step-1 -a -s step-2 -a ! -e step-3
    ok "$forge: bash and sh parse them" sh -c 'for s in step-1 step-2; do bash -n $s && sh -n $s || exit 1; done'
    for shell in bash sh; do
        source=$WORK/source#$commit
        rm -f pwned
        branch_job $shell $forge honest
        is "$forge, $shell: an honest branch passes" "$status $(grep -c 'no problem found' shown)" "0 1"
        [ "$status" = 0 ] || sed 's/^/# /' step.log
        branch_job $shell $forge hostile
        is "$forge, $shell: a hostile branch is refused" "$status $(grep -c 'path-outside' shown | sed 's/[1-9][0-9]*/found/')" "1 found"
        is "… and nothing of it is executed or sourced" "$(cat pwned 2>/dev/null)" ""
        is "… or written through" "$(cat victim victims/summary.md)" "untouched
untouched"
        for source in "$WORK/source" "$WORK/source#main" "$WORK/source#$(echo "$commit" | cut -c1-12)" "" "$commit"; do
            branch_job $shell $forge honest
            is "$forge, $shell: the source \"$(basename "$source" | cut -c1-20)\" names no commit" "$status $(grep -c 'expected ADDRESS#COMMIT' step.log)" "1 1"
        done
        source=$WORK/source#$(printf %040d 0)
        branch_job $shell $forge honest
        ok "… nor is a commit built that is not there" test "$status" != 0
    done
done
job_steps hub/.gitlab-ci.yml
source=$WORK/source#$commit image=debian:stable
branch_job sh gitlab honest
is "gitlab: an image without a digest is refused" "$status $(grep -c 'expected an image with its digest' step.log)" "1 1"

# The table of results: written into README.md of the merged main branch, and only there.
git clone -q --bare hub main.git
refresh() # SHELL FORGE: the steps in a fresh checkout of the main branch
{
    rm -rf checkout temp && mkdir temp && git clone -q main.git checkout
    job_script "$1" "$2" >temp/script
    status=0
    (cd checkout && PATH=.:bin:$PATH BENCHWRAP_SOURCE="$source" GITHUB_WORKSPACE=$PWD RUNNER_TEMP=$WORK/temp BRANCH=main TMPDIR=$WORK/temp CI_PROJECT_DIR=$PWD \
        CI_SERVER_URL=file://$WORK CI_PROJECT_PATH=main CI_COMMIT_BRANCH=main BENCHWRAP_PUSH_TOKEN=hush "/bin/$1" $(job_options "$1" "$2") ../temp/script) >step.log 2>&1 || status=$?
    grep -q hush step.log && status="$status, and prints the token"
    shown_table=$(git -C main.git show main:README.md | sed -n '/^<!-- benchwrap: results/,/^<!-- benchwrap: end/p')
}
for forge in github forgejo gitlab; do
    case $forge in gitlab) job_steps hub/.gitlab-ci.yml "benchwrap results" ;; *) job_steps "hub/.$forge/workflows/benchwrap-results.yml" ;; esac
    for shell in bash sh; do
        git -C main.git update-ref refs/heads/main "$(git -C hub rev-parse main)"
        refresh $shell $forge
        is "$forge, $shell: a table without runs" "$status $(printf '%s\n' "$shown_table" | wc -l)" "0 2"
        git -C main.git update-ref refs/heads/main "$(git -C hub rev-parse honest)"
        refresh $shell $forge
        is "$forge, $shell: the merged run is in the table" "$status $(printf '%s\n' "$shown_table" | grep -c '^| <code>default</code> | <code>sh</code> | <code>lab</code> | <code>2')" "0 1"
        [ "$status" = 0 ] || sed 's/^/# /' step.log
        is "... by one commit that changes nothing else" "$(git -C main.git diff --name-only "$(git -C hub rev-parse honest)" main)" README.md
        tip=$(git -C main.git rev-parse main)
        refresh $shell $forge
        is "... and a second time changes nothing" "$status $(git -C main.git rev-parse main)" "0 $tip"
    done
    (rm -rf other && git clone -q main.git other && cd other && ln -sf "$WORK/victim" README.md && git add -A && git commit -qm link && git push -q origin HEAD:main)
    refresh sh $forge
    is "$forge: a README that is a link is not written through" "$status $(cat victim)" "0 untouched"
done
is "only a push to the default branch lets a job write" "$(cat hub/.g*/workflows/benchwrap-results.yml hub/.forgejo/workflows/benchwrap-results.yml | grep -cE "^    if: github.ref_type == 'branch' && github.ref_name == github.event.repository.default_branch$|^on:$|^  push:$")$(grep -c 'CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH' hub/.gitlab-ci.yml)" 62
is "what is optional is written into a new repository alone" "$(rm -rf again; git clone -q main.git again; git -C again rm -q CITATION.cff CODEOWNERS; git -C again commit -qm less; "$BENCHWRAP" init again >/dev/null; git -C again status --porcelain)" ""

files="hub/.github/workflows/benchwrap.yml hub/.forgejo/workflows/benchwrap.yml hub/.gitlab-ci.yml"
# shellcheck disable=SC2086 # three words
is "every action is pinned by its commit" "$(cat $files | grep 'uses:' | grep -cvE 'uses: [^ ]+@[0-9a-f]{40} ')" 0
# shellcheck disable=SC2086
is "the token only reads" "$(cat $files | grep -A1 '^permissions:' | sort -u | tr -d '\n')" "  contents: read--permissions:"
# shellcheck disable=SC2086
is "… and nothing may write" "$(cat $files | grep -c 'write$')" 0
# shellcheck disable=SC2086
is "the whole history is fetched" "$(grep -hE 'fetch-depth|GIT_DEPTH' $files | tr -d '" ' | LC_ALL=C sort | uniq -c | tr -s ' ')" " 1 GIT_DEPTH:0
 2 fetch-depth:0"
done_testing
