#!/bin/bash
# A repository cloned from a stranger: what its files may set, and that one line names the rest.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"

repository=$WORK/clone
mkdir -p "$repository/mlruns" "$HOME/.config/benchwrap" && cd "$repository" && git init -q . || exit 1
plan() { "$BENCHWRAP" plan --json "$@" -- true >"$WORK/err" 2>&1; cat "$WORK/err"; }
printf 'profile: public\n' >"$HOME/.config/benchwrap/config.yaml"
printf 'profile: private\nquiet: true\nsample: 0\nsit: x\nsite: victim\nexperiment: theirs\n' >benchwrap.yaml
"$BENCHWRAP" -- true 2>"$WORK/out"
like "one line names what is ignored" "$(cat "$WORK/out")" 'benchwrap.yaml: ignored quiet, sample, sit \(did you mean site\?\), site \(for this clone'
is "it is one line" "$(grep -c ignored "$WORK/out")" 1
like "the summary is not silenced" "$(cat "$WORK/out")" 'finished'
is "the stricter profile holds" "$(cat mlruns/*/*/tags/benchwrap.profile)" public
is "the site is not the victim's" "$(cat mlruns/*/*/tags/site 2>/dev/null)" ""
is "the experiment is taken" "$(cat mlruns/*/meta.yaml | grep -c '"theirs"')" 1
rm -rf mlruns/* .benchwrap; "$BENCHWRAP" -q --profile private -- true 2>/dev/null
is "the command line loosens it" "$(printf '%s\n' mlruns/*/*/meta.yaml | wc -l) $(grep -l public mlruns/*/*/tags/benchwrap.profile 2>/dev/null)" "1 "
rm -rf mlruns/* .benchwrap; BENCHWRAP_PROFILE=private "$BENCHWRAP" -q -- true 2>/dev/null
is "so does the environment" "$(printf '%s\n' mlruns/*/*/meta.yaml | wc -l) $(grep -l public mlruns/*/*/tags/benchwrap.profile 2>/dev/null)" "1 "
printf 'tag: {site: victim}\n' >benchwrap.yaml; plan >/dev/null
like "reserved tags are ignored" "$(cat "$WORK/err")" 'ignored tag \(a tag of benchwrap'
printf 'tag: [mlflow.user=victim]\n' >benchwrap.yaml; plan >/dev/null
like "also as a list" "$(cat "$WORK/err")" 'ignored tag \(a tag of benchwrap'
mkdir -p .benchwrap && echo 'site: victim' >.benchwrap/config.yaml; : >benchwrap.yaml; plan >/dev/null
like "a clone's file that the repository could have brought names no site" "$(cat "$WORK/err")" '.benchwrap/config.yaml: ignored site'
git config benchwrap.site here; plan >/dev/null
rm -rf mlruns/*; "$BENCHWRAP" -q -- true 2>/dev/null
is "git's own configuration does" "$(cat mlruns/*/*/tags/site)" here
for path in /etc/passwd ../outside.yaml link.yaml; do
    ln -sf /etc/passwd link.yaml; echo 'references: []' >../outside.yaml
    echo "reference: $path" >benchwrap.yaml; plan >/dev/null
    like "reference: $path is ignored" "$(cat "$WORK/err")" 'ignored reference \(expected a file inside'
done
ln -sf /etc/passwd references.yaml; : >benchwrap.yaml
is "references.yaml as a link is not read" "$(plan | grep -c '/etc/passwd\|clone/references.yaml')" 0
printf 'a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n' >benchwrap.yaml
ok "an anchor bomb is refused" timeout 120 "$BENCHWRAP" -q -- true
truncate -s 1G benchwrap.yaml
ok "1 GB is refused" timeout 120 "$BENCHWRAP" -q -- true
python3 -c 'print("[" * 100000)' >benchwrap.yaml
ok "deep nesting is refused" timeout 120 "$BENCHWRAP" -q -- true

# The repository that holds the tree counts, wherever the command runs.
cd "$WORK" && mkdir -p far shared-repo elsewhere && git -C shared-repo init -q && printf 'profile: public\nexperiment: theirs\n' >shared-repo/benchwrap.yaml && git -C shared-repo config benchwrap.site there
cd far || exit
"$BENCHWRAP" -q -t ../shared-repo/mlruns -- true 2>/dev/null
is "-t: profile and site are those of the tree's repository" "$(awk 1 ../shared-repo/mlruns/*/*/tags/benchwrap.profile ../shared-repo/mlruns/*/*/tags/site | tr '\n' ' ')" "public there "
is "... a folder that stands for its mlruns, too" "$("$BENCHWRAP" plan --json -t ../shared-repo | jq -r .experiment)" theirs
is "... by the environment" "$(BENCHWRAP_TREE=../shared-repo "$BENCHWRAP" plan --json | jq -r .experiment) $(MLFLOW_TRACKING_URI="$WORK/shared-repo/mlruns" "$BENCHWRAP" plan --json | jq -r .experiment)" "theirs theirs"
cd ../shared-repo && is "... a tree in no repository has the settings of the working directory" "$("$BENCHWRAP" plan --json -t ../elsewhere/new | jq -r .experiment)" theirs
cd "$WORK" || exit
done_testing
