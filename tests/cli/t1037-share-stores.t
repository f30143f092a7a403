#!/bin/bash
# Object stores that differ: SHA-256, reftable, filters such as LFS, a read-only .git, partial clones, runs of many files. Handled, or refused with the next step.
# sanitizer: long, because each of its shares starts git several times
. "$(dirname "$0")/../lib/tap.sh"
command -v git >/dev/null 2>&1 || { skip "object stores" "git is not installed"; done_testing; exit; }
cd "$WORK" || exit
export GIT_CONFIG_GLOBAL="$WORK/gitconfig" GIT_CONFIG_NOSYSTEM=1
printf '[user]\nname = Site\nemail = site@example.org\n[init]\ndefaultBranch = main\n[maintenance]\nauto = false\n' >gitconfig
bw() { "$BENCHWRAP" "$@" >"$WORK/out.txt" 2>"$WORK/err.txt"; }
said() { cat "$WORK/out.txt" "$WORK/err.txt"; }
record() { "$BENCHWRAP" -q --no-collect -- sh -c 'echo "copy.rate $RANDOM MiB/s"; echo "$@"' - "$1" >/dev/null 2>&1; }

# A store that libgit2 cannot read: every command says so, with the next step.
for store in 'sha256 SHA-256 git.init.--object-format=sha1' 'reftable reftable git.refs.migrate.--ref-format=files'; do
    read -r name word step <<<"$store"
    case $name in
    sha256) git init -q --object-format=sha256 "$name" ;;
    reftable) git init -q --ref-format=reftable "$name" 2>/dev/null || { # before git 2.45: as it marks one
        git init -q "$name" && git -C "$name" config core.repositoryformatversion 1 && git -C "$name" config extensions.refstorage reftable; } ;;
    esac
    cd "$name" || exit
    for command in "init --site a ." "share" "commit" "ls --ref HEAD" "check --range a..b"; do
        # shellcheck disable=SC2086 # words
        bw $command; like "$name: $command" "$? $(said | tr '\n' ' ')" "^[12] .*$word, which this libgit2 .*hint: .*$step"
    done
    "$BENCHWRAP" -q -- true 2>"$WORK/err.txt"; is "$name: a run is recorded" "$? $(ls -d mlruns/*/*/meta.yaml | wc -l)" "0 1"
    cd "$WORK" || exit
done

# What the user's git makes by default is not what benchwrap makes: git 3 has both.
defaults() { GIT_DEFAULT_REF_FORMAT=reftable GIT_DEFAULT_HASH=sha256 "$@"; }
git config --global init.defaultRefFormat reftable && git config --global init.defaultObjectFormat sha256
defaults bw init --site first default; is "init makes a repository that it can read" "$? $(git -C default rev-parse --show-object-format 2>/dev/null)" "0 sha1"
git init -q --bare --object-format=sha1 default.git && git -C default push -q "$WORK/default.git" main
defaults bw init --site second default.git cloned; is "... and such a clone" "$?" 0
(cd cloned && record one && bw share); is "... which shares" "$? $(git -C default.git for-each-ref refs/heads/benchwrap | wc -l)" "0 1"
git config --global --remove-section init && git config --global init.defaultBranch main
if git init -q --bare --ref-format=reftable table.git 2>/dev/null; then
    git -C default push -q "$WORK/table.git" main
    bw init --site third table.git third && cd third && record one
    bw share; is "a target with reftable is git's own affair" "$? $(git -C ../table.git for-each-ref refs/heads/benchwrap | wc -l)" "0 1"
    cd ../reftable && git refs migrate --ref-format=files
    bw init --site a .; is "after the step of the hint a repository with reftable is one like others" "$? $(said | grep -c 'branch benchwrap/a/')" "0 1"
    cd "$WORK" || exit
else
    skip_here "real reftable" "git $(git version | cut -d' ' -f3) makes none"
fi

# A filter of git's, as LFS is one.
git init -q --bare hub.git
bw init --site first hub.git first && git -C first push -q -u origin main
bw init --site filtered hub.git filtered && cd filtered || exit
printf '*.json filter=big\n' >>.gitattributes; git commit -qam "large files"; git push -q origin main
record one
bw share; like "a filter that would change runs is refused" "$? $(said | tr '\n' ' ')" '^1 .*git.s filter "big" would change mlruns/.*json, .*hint: end .gitattributes with .*-filter'
is "... and nothing is pushed" "$(git -C ../hub.git for-each-ref refs/heads/benchwrap)" ""
printf 'mlruns/** -text -merge -filter\n' >>.gitattributes
bw share; is "... until the attributes end as the hint says" "$? $(git -C ../hub.git for-each-ref refs/heads/benchwrap | wc -l)" "0 1"
sed -i '$d' .gitattributes && printf '*.json filter=big\n' | cat - ../first/.gitattributes >.gitattributes
bw share; is "init's own line does, behind other filters" "$?" 0
git commit -qam "runs as they are" && git push -q origin main
cd "$WORK" || exit

# A shallow clone, of whose history libgit2 1.5 does not know the end: twice, so that its own branch is read, too.
git clone -q --depth 1 "file://$WORK/hub.git" shallow && cd shallow && bw init --site shallow . || exit
record shallow
bw share; like "a shallow clone shares" "$? $(said)" '^0 .*'
record again
bw share; is "... and once more" "$? $(git -C ../hub.git ls-tree -r -d --name-only "$(git for-each-ref --format='%(refname:short)' refs/heads/benchwrap)" mlruns | grep -cE '/[0-9a-f]{32}$')" "0 2"
bw check --range "origin/main..$(git for-each-ref --format='%(refname:short)' refs/heads/benchwrap)"; like "... of which check approves what it can read" "$? $(said | tail -n 1)" '^0 2 runs checked'
git -C ../hub.git update-ref refs/heads/old "$(git -C ../hub.git rev-list --max-parents=0 main)" && git fetch -q --depth 1 origin old
bw check --range "FETCH_HEAD..origin/main"; like "... and nothing else" "$? $(said | tr '\n' ' ')" '^2 .*no common ancestor.*hint: the clone is shallow; run "git fetch --unshallow"'
cd "$WORK" || exit

# .git that cannot be written: the run is safe, the message says why, and the next commit brings it.
bw init --site closed hub.git closed && cd closed || exit
if unshare -m sh -c "mount --bind .git .git && mount -o remount,ro,bind .git && \"$BENCHWRAP\" -q -- true; \"$BENCHWRAP\" share" >"$WORK/out.txt" 2>"$WORK/err.txt"; then status=0; else status=$?; fi
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    like "a read-only .git: share says so" "$status $(said)" '^1 .*'
    like "... by the system's word" "$(said)" 'Read-only file system'
    is "... the run is safe" "$(ls -d mlruns/*/*/meta.yaml | wc -l)" 1
    bw share; like "... and the next share brings it" "$? $(said)" 'pushed to benchwrap/closed'
else
    skip_here "a read-only .git" "no mount namespaces"
fi
cd "$WORK" || exit

(cd first && bw check --range "origin/absent..HEAD"); like "check names the command that fetches a branch that is not here" "$? $(said | tr '\n' ' ')" "^2 .*hint: git fetch origin"

if long_tests; then
    git -C hub.git config uploadpack.allowFilter true
    cd first && git pull -q && for i in 1 2 3; do record "$i"; done && bw share && git push -q origin "$(git for-each-ref --format='%(refname:short)' refs/heads/benchwrap)":main && cd .. || exit
    for filter in blob:none tree:0; do
        rm -rf part && git clone -q --no-checkout --filter=$filter "file://$WORK/hub.git" part && cd part || exit
        git config benchwrap.site part; git show origin/main:benchwrap.yaml >benchwrap.yaml
        range=$(git rev-list --max-parents=0 origin/main)..origin/main
        bw check --range "$range"; like "$filter: check approves nothing that it lacks" "$? $(said | tr '\n' ' ')" '^2 .*this partial clone lacks objects.*hint: git fetch --refetch --no-filter'
        $(sed -n 's/^hint: //p' "$WORK/err.txt") >/dev/null 2>&1; bw check --range "$range"; like "... and the command of its hint is enough" "$? $(said | tail -n 1)" '^1 3 runs checked'
        cd "$WORK" && rm -rf part && git clone -q --no-checkout --filter=$filter "file://$WORK/hub.git" part && cd part || exit
        git fetch -q origin "$(git -C ../hub.git for-each-ref --format='%(refname)' refs/heads/benchwrap | head -n 1):pr"; git config benchwrap.site part; git show origin/main:benchwrap.yaml >benchwrap.yaml
        bw check --range "$(git rev-list --max-parents=0 origin/main)..pr"; $(sed -n 's/^hint: //p' "$WORK/err.txt") >/dev/null 2>&1; bw check --range "$(git rev-list --max-parents=0 origin/main)..pr"
        like "... also for a request that is in no branch of the remote's" "$? $(said | tail -n 1)" '^[01] .*run'
        cd "$WORK" && rm -rf part && git clone -q --no-checkout --filter=$filter "file://$WORK/hub.git" part && cd part || exit
        git config benchwrap.site part; git show origin/main:benchwrap.yaml >benchwrap.yaml
        bw ls --ref origin/main; like "$filter: ls names the next step" "$(said)" 'git fetch --refetch --no-filter'
        record "$filter"
        bw share; like "$filter: share fetches what check compares with" "$? $(said)" 'pushed to benchwrap/part'
        is "... and nothing of the target is missing then" "$(git rev-list --quiet --objects --missing=print --no-walk origin/main)" ""
        cd "$WORK" || exit
    done
    # A run of many artifacts.
    bw init --site many hub.git many && cd many || exit
    "$BENCHWRAP" -q -a 'out/1*' -a 'out/2*' -a 'out/3*' -a 'out/4*' -a 'out/5*' -a 'out/6*' -a 'out/7*' -a 'out/8*' -a 'out/9*' -- sh -c 'mkdir out; i=100; while [ $i -lt 1000 ]; do echo "$i" >out/$i.txt; i=$((i + 1)); done' 2>/dev/null
    rm -rf out
    bw share; is "a run of 900 artifacts" "$? $(git -C ../hub.git ls-tree -r --name-only "$(git for-each-ref --format='%(refname:short)' refs/heads/benchwrap)" | grep -cE '/artifacts/.*[1-9][0-9]{2}\.txt$')" "0 900"
    is "... is merged and pulled" "$(git push -q origin "$(git for-each-ref --format='%(refname:short)' refs/heads/benchwrap):main"; git pull -q 2>/dev/null; git status --porcelain)" ""
fi
is "git likes what was shared" "$(git -C "$WORK/hub.git" fsck --strict --no-dangling 2>&1)" ""
done_testing
