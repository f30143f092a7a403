#!/bin/bash
# The jobs that `benchwrap init` writes for web pages: they publish after a merge, read only what is new, and no other job may write.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/jobs.sh"
cd "$WORK" || exit 1
export GIT_CONFIG_GLOBAL="$WORK/gitconfig" GIT_CONFIG_NOSYSTEM=1
printf '[user]\nname = Site\nemail = site@users.noreply.github.com\n[init]\ndefaultBranch = main\n[advice]\ndetachedHead = false\n' >gitconfig
if PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin command -v benchwrap >/dev/null; then
    skip_here "the templates" "benchwrap is installed in the directories of the system"; done_testing; exit 0
fi
job_source
"$BENCHWRAP" init --private --site lab hub >/dev/null || exit 1
git clone -q --bare hub main.git
add_run() # merges one more run
{
    (cd hub && "$BENCHWRAP" -q -e io --commit none -- sh -c 'echo "rate: 5 op/s"' >/dev/null 2>&1; git add -f mlruns && git commit -qm run && git push -q ../main.git HEAD:main)
}
publish() # SHELL FORGE: the steps in a fresh checkout of the main branch
{
    rm -rf checkout temp && mkdir temp && git clone -q "file://$WORK/main.git" checkout
    [ ! -d cache ] || cp -r cache checkout/public
    job_script "$1" "$2" >temp/script
    status=0
    (cd checkout && PATH=.:bin:$PATH BENCHWRAP_SOURCE="$source" GITHUB_WORKSPACE=$PWD RUNNER_TEMP=$WORK/temp PAGES=gh-pages TMPDIR=$WORK/temp CI_PROJECT_DIR=$PWD \
        "/bin/$1" $(job_options "$1" "$2") ../temp/script) >step.log 2>&1 || status=$?
    [ "$status" = 0 ] || sed 's/^/# /' step.log
}
pages_of() { if [ "$1" = gitlab ]; then ls checkout/public 2>/dev/null; else git -C main.git ls-tree --name-only gh-pages 2>/dev/null; fi; }
for forge in github forgejo gitlab; do
    case $forge in gitlab) job_steps hub/.gitlab-ci.yml pages ;; *) job_steps "hub/.$forge/workflows/benchwrap-pages.yml" ;; esac
    shell=sh; [ $forge != github ] || shell=bash
    if [ $forge = github ]; then
        publish $shell $forge
        is "$forge: without runs nothing is published" "$status $(pages_of $forge)" "0 "
    fi
    git -C main.git update-ref -d refs/heads/gh-pages
    add_run
    publish $shell $forge
    is "$forge: pages of the merged runs" "$status $(pages_of $forge | grep -cxE 'index.html|feed.xml|run|experiment')" "0 4"
    rm -rf cache; [ $forge != gitlab ] || cp -r checkout/public cache
    add_run
    publish $shell $forge
    like "... one more run: one is read" "$(cat step.log)" '^[0-9]+ runs, 1 of them read'
    [ $forge = gitlab ] || is "... the branch has one commit, without what the main branch has" "$(git -C main.git rev-list --count gh-pages) $(pages_of $forge | grep -c 'README\|mlruns')" "1 0"
    is "... and the main branch is as it was" "$(git -C main.git rev-parse main)" "$(git -C hub rev-parse HEAD)"
done
is "who checks pull requests may not write" "$(cat hub/.github/workflows/benchwrap.yml hub/.forgejo/workflows/benchwrap.yml | grep -c write)" 0
is "only a push to the default branch, where it is wanted" "$(cat hub/.github/workflows/benchwrap-pages.yml hub/.forgejo/workflows/benchwrap-pages.yml | grep -c "^    if: vars.BENCHWRAP_PAGES != '' && github.ref_type == 'branch' && github.ref_name == github.event.repository.default_branch$") $(grep -c 'CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $BENCHWRAP_PAGES' hub/.gitlab-ci.yml)" "2 1"
if python3 -c 'import yaml' 2>/dev/null; then
    is "the files are YAML" "$(python3 -c 'import sys, yaml
for f in sys.argv[1:]: yaml.safe_load(open(f))
print("good")' hub/.g*/workflows/*.yml hub/.forgejo/workflows/*.yml hub/.gitlab-ci.yml 2>&1)" good
fi
done_testing
