#!/bin/bash
# What another user plants where benchwrap keeps its own: caches, notes, locks, packs, folders of collectors, results. benchwrap writes nothing
# through it, removes nothing behind it, and takes nothing of the victim's into a record.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/users.sh"
users_required "foreign files where benchwrap keeps its own"

secret='PRIVATE-KEY-OF-ALICE'
as_alice sh -c "umask 077; mkdir -p ~/.ssh ~/target && echo $secret >~/.ssh/id && echo $secret >~/target/precious"
untouched() # NAME: the victim's folders are as they were
{
    is "$1: nothing of alice's is written or removed" \
        "$(cd "$HOMES/alice" && find .ssh target -type f -exec md5sum {} + | sort; find .ssh target | sort)" "$before"
    rm -f "$STICKY/hard.json"
    is "$1: nothing of alice's leaves" "$(grep -rlF "$secret" "$LAB" "$STICKY" 2>/dev/null | wc -l)" 0
}
before=$(cd "$HOMES/alice" && find .ssh target -type f -exec md5sum {} + | sort; find .ssh target | sort)
fresh() # an empty group folder and an empty sticky one
{
    rm -rf "${STICKY:?}"/* "$STICKY"/.[bg]* "${LAB:?}"/* "$LAB"/.[bg]*
    cd "$LAB" || exit 1
}
as_bob_in() { as_bob sh -c "umask 0; cd \"\$1\" && $2" sh "$1" "$HOMES"; }

# ---- an experiment's folder, begun by bob ----
fresh
id=$(as_alice sh -c 'mkdir -p ~/x && cd ~/x && "$BENCHWRAP" -q -e planted -- true; ls mlruns | grep "^[0-9]*$"')
as_bob_in "$LAB" "mkdir -p mlruns/$id && ln -s \$2/alice/target mlruns/$id/tags"
ok "tags of an experiment are a link: the program runs" as_alice "$BENCHWRAP" -q -e planted -- true
untouched "tags of an experiment"

# ---- the collectors' folder, whose name all ranks know ----
fresh
as_bob_in "$LAB" 'mkdir -p .benchwrap && ln -s $2/alice/target .benchwrap/nodes'
launch() { as_alice env SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_STEP_NUM_NODES=2 SLURM_NTASKS=2 SLURM_PROCID="$1" SLURM_LOCALID=0 SLURM_NODEID="$1" \
    SLURMD_NODENAME="n$1" "$BENCHWRAP" -q -- sleep 0.3; }
ok "the collectors' folder is a link: rank 1 runs" launch 1
ok "and so does rank 0" launch 0
untouched "the collectors' folder"

# ---- results that are links ----
fresh
as_alice sh -c 'mkdir -p ~/.config/benchwrap/catalogue && printf "name: planted\nprograms: [maker]\nfile: out.txt\nmetrics:\n  - {name: a, regex: \"KEY-OF-(A)\"}\n" >~/.config/benchwrap/catalogue/planted.yaml'
as_bob_in "$LAB" 'ln -s $2/alice/.ssh/id out.json; mkdir -p sub; ln -s $2/alice/.ssh sub/keys'
as_bob_in "$STICKY" 'ln -s $2/alice/.ssh/id out.json'
ln "$HOMES/alice/.ssh/id" "$STICKY/hard.json" # as bob may where fs.protected_hardlinks is off
for folder in "$LAB" "$STICKY"; do
    cd "$folder" || exit 1
    as_alice "$BENCHWRAP" -a '*.json' -a 'sub/*/id' -- true 2>"$WORK/err"
    is "-a: the program runs ($folder)" $? 0
    ok "-a names the link" grep -q "out.json.*behind another user's link" "$WORK/err"
done
untouched "results"
fresh
as_alice sh -c 'cd "$1" && echo fine >mine && ln -s mine own.json && "$BENCHWRAP" -q -a "*.json" -- true' sh "$LAB"
is "alice's own link is followed" "$(cat "$LAB"/mlruns/*/*/artifacts/files/own.json)" fine

# ---- folders that are written: of an archive, an exported tree, a new repository ----
for line in "-q --sample 0 -t $HOMES/alice/own/mlruns --archive there -- true" "export-tree -t $HOMES/alice/own/mlruns there" "init --private --site lab there" \
    "init --private --site lab $HOMES/alice/own there"; do
    fresh
    as_bob_in "$LAB" 'ln -s $2/alice/target there'
    # shellcheck disable=SC2086
    as_alice "$BENCHWRAP" $line >/dev/null 2>"$WORK/err"
    like "the link is named: ${line%% *}" "$(cat "$WORK/err")" "there.*(link|symbolic)"
    untouched "a folder that is another user's link: $line"
done
fresh
as_bob_in "$LAB" 'mkdir there && ln -s $2/alice/target there/mlruns'
as_alice "$BENCHWRAP" export-tree -t "$HOMES/alice/own/mlruns" there >/dev/null 2>&1
untouched "the tree in the folder of an export"

# ---- notes of what a server has ----
fresh
as_bob_in "$LAB" 'mkdir -p .benchwrap && ln -s $2/alice/target .benchwrap/sync'
as_alice "$BENCHWRAP" -q -- true 2>/dev/null
as_alice timeout 300 "$BENCHWRAP" sync --to http://127.0.0.1:9 >/dev/null 2>&1
untouched "notes of sync"

# ---- ui ----
fresh
as_alice sh -c 'umask 002; "$BENCHWRAP" -q -- true' 2>/dev/null
rm -rf .benchwrap
as_bob_in "$LAB" 'mkdir -p .benchwrap && ln -s $2/alice/target .benchwrap/ui'
mkdir "$WORK/fake" && printf '#!/bin/sh\nexit 1\n' >"$WORK/fake/mlflow" && chmod -R a+rx "$WORK/fake"
as_alice env PATH="$WORK/fake:$PATH" timeout 300 "$BENCHWRAP" ui >/dev/null 2>&1
untouched "ui"

# ---- a repository that the group writes ----
repository() # a results repository of alice's, in which bob writes
{
    fresh
    as_alice sh -c 'umask 002; mkdir repo && cd repo && git -c init.defaultBranch=main init -q --shared=group . && git config user.name alice && git config user.email alice@example.org &&
        printf "profile: private\ncommit: run\n" >benchwrap.yaml && "$BENCHWRAP" init --private --site here . && "$BENCHWRAP" -q -- true && "$BENCHWRAP" commit' >"$WORK/repository" 2>&1
    cd "$LAB/repo" || exit 1
    chmod -R g+w .git
    rm -rf .git/benchwrap
}
repository
ok "alice's runs are committed" sh -c "git -c safe.directory='*' log --all --name-only --format= | grep -q 'meta.yaml$'"
mkdir -m 700 mlruns/424242
as_alice "$BENCHWRAP" -q -- true 2>/dev/null
as_alice "$BENCHWRAP" commit >"$WORK/out" 2>&1
like "commit fails where the folder of an experiment cannot be read, and names it" "$? $(tail -n 1 "$WORK/out")" "^1 .*reading .*/mlruns/424242: Permission denied"
rmdir mlruns/424242
as_alice "$BENCHWRAP" commit >"$WORK/out" 2>&1; is "... and goes on without it" "$?" 0
as_alice mkdir -p "$HOMES/alice/target/pack"
as_alice sh -c 'echo keep >~/target/pack/keep'
before=$(cd "$HOMES/alice" && find .ssh target -type f -exec md5sum {} + | sort; find .ssh target | sort)
as_bob_in "$LAB/repo" 'ln -s $2/alice/target .git/benchwrap'
as_alice "$BENCHWRAP" -q -- true 2>/dev/null
is "packs: the program runs" $? 0
as_alice timeout 300 "$BENCHWRAP" commit >"$WORK/out" 2>&1
untouched "packs"
rm -rf .git/benchwrap
as_bob_in "$LAB/repo" 'mkdir .git/benchwrap && for f in turn main benchwrap commit refs heads; do ln -s $2/alice/target/precious .git/benchwrap/$f; done'
as_alice "$BENCHWRAP" -q -- true 2>/dev/null
as_alice timeout 300 "$BENCHWRAP" commit >"$WORK/out" 2>&1
for name in $(as_alice sh -c 'rm -rf "$1/.git/benchwrap"; "$BENCHWRAP" commit >/dev/null 2>&1; ls "$1/.git/benchwrap"' sh "$LAB/repo"); do
    rm -f ".git/benchwrap/$name"
    chmod -R a+rwX .git/benchwrap
    as_bob_in "$LAB/repo" "ln -s \$2/alice/target/precious .git/benchwrap/$name"
    as_alice "$BENCHWRAP" -q -- true 2>/dev/null
    as_alice timeout 300 "$BENCHWRAP" commit >"$WORK/out" 2>&1
    untouched "the lock .git/benchwrap/$name is a link"
    rm -f ".git/benchwrap/$name"
    as_bob_in "$LAB/repo" "mkfifo -m 666 .git/benchwrap/$name"
    as_alice timeout 300 "$BENCHWRAP" commit >"$WORK/out" 2>&1
    ok "the lock .git/benchwrap/$name is a FIFO: commit ends" test $? != 124
    rm -f ".git/benchwrap/$name"
done

# ---- a repository of bob's ----
fresh
as_bob sh -c 'cd "$1" && umask 0 && mkdir theirs && cd theirs && git -c init.defaultBranch=main init -q --shared=all . && printf "profile: private\ncommit: run\n" >benchwrap.yaml &&
    for h in pre-commit post-commit pre-push reference-transaction post-index-change; do printf "#!/bin/sh\nid -un >>%s\n" "$2/ran" >.git/hooks/$h; chmod 755 .git/hooks/$h; done &&
    git config core.fsmonitor "id -un >>$2/ran; false" && git config core.sshCommand "id -un >>$2/ran; false" && git config gpg.program "$1/gpg" &&
    git config remote.origin.url "ext::sh -c id%20-un%20>>$2/ran" && git config filter.x.clean "id -un >>$2/ran; cat" && echo "* filter=x" >.gitattributes' sh "$LAB" "$STICKY"
cd "$LAB/theirs" || exit 1
for line in "-q -- true" "commit" "share" "init --private --site x ." "check ." "sync --local" "doctor" "plan -- true"; do
    # shellcheck disable=SC2086
    as_alice timeout 300 "$BENCHWRAP" $line >/dev/null 2>&1
    ok "$line ends" test $? != 124
    is "$line runs nothing of bob's repository" "$(cat "$STICKY/ran" 2>/dev/null)" ''
done

# ---- a clone with links in the place of what init writes ----
fresh
cd "$STICKY" || exit 1
as_alice sh -c 'cd && rm -rf clone && git -c init.defaultBranch=main init -q clone && cd clone && ln -s ../.ssh/id .gitignore && ln -s ../target .github && ln -s ../target .forgejo &&
    ln -s ../.ssh/id .gitattributes && ln -s ../target/new .gitlab-ci.yml && ln -s ../target .benchwrap && "$BENCHWRAP" init --private --site x .' >"$WORK/out" 2>&1
is "init in such a clone copies nothing" "$(find "$HOMES/alice/clone" -type f -exec grep -lF "$secret" {} + | wc -l)" 0
untouched "init"
# ---- files that alice names for the output of benchmarks ----
fresh
as_bob_in "$LAB" 'for f in rec csv scrape log; do ln -s $2/alice/target/precious $f; done; mkdir rate; ln -s $2/alice/target/precious rate/tasks.trt; mkfifo pipe; chmod 666 pipe'
for line in 'llmload http://127.0.0.1:1 -n 1 --records rec' 'llmload http://127.0.0.1:1 -n 1 --csv csv' 'llmload http://127.0.0.1:1 -n 1 --scrape 1s --scrape-file scrape' \
    'llmload http://127.0.0.1:1 -n 1 --records pipe' 'llmfake --log log' 'taskrate local --out rate'; do
    # shellcheck disable=SC2086 # words
    set -- $line
    program=$1; shift
    said=$(as_alice timeout 120 "$BUILD/bin/$program" "$@" 2>&1); status=$?
    is "$line: refused" "$((status != 0 && status != 124))" 1
    like "$line: the message names the file" "$said" "(rec|csv|scrape|pipe|log|tasks.trt).*(Too many levels|another user)"
done
untouched "files for the output of benchmarks"
as_alice sh -c 'ln -s target2 mine && "$1" http://127.0.0.1:1 -n 1 --records mine >/dev/null 2>&1; test -f target2' sh "$BUILD/bin/llmload"
is "alice's own link is followed" $? 0

# ---- every further file or folder that alice names for writing, behind bob's link: the folder itself, one above it, a dangling one, a FIFO that bob reads ----
fresh
as_bob_in "$LAB" 'for f in plots port token tree spare; do ln -s $2/alice/target $f; done; mkdir -m 777 rate state cache; mkfifo rate/taskrate.json; chmod 666 rate/taskrate.json
    ln -s $2/alice/target state/benchwrap; ln -s $2/alice/target/precious input'
as_alice sh -c 'echo "rate: 12.5 MB/s" >out.txt'
( cd "$LAB" && as_bob timeout 300 cat rate/taskrate.json >"$WORK/piped" ) 2>/dev/null & reader=$!
for line in 'llmload http://127.0.0.1:1 -m m -n 1 --plots plots' 'llmload http://127.0.0.1:1 -m m -n 1 --plots plots/below' \
    'llmload http://127.0.0.1:1 -m m -n 2 -r 9 --schedule-out plots/schedule' 'llmload agent --listen 127.0.0.1:0 --port-file port/file' \
    'llmload agent --listen 127.0.0.1:0 --token-file token/file' 'taskrate local -n 2 -r 1 --no-floor --out plots/rate' \
    'benchwrap rules new --from out.txt -o plots/rules.yaml' 'taskrate local -n 2 -r 1 --no-floor --out rate' 'benchwrap --repeat 2 --input input -- cat'; do
    # shellcheck disable=SC2086 # words
    set -- $line
    program=$1; shift
    path=$BUILD/bin/$program
    [ "$program" != benchwrap ] || path=$BENCHWRAP
    said=$(as_alice timeout 120 "$path" "$@" 2>&1); status=$?
    is "$line: refused" "$((status != 0 && status != 124))" 1
    like "$line: the message names the cause" "$said" "another user"
done
kill $reader 2>/dev/null
is "bob's FIFO got nothing" "$(grep -c . "$WORK/piped")" 0
untouched "further files that alice names"
for where in '-t tree' '-t ./spare/deep' 'BENCHWRAP_TREE=tree' "MLFLOW_TRACKING_URI=$LAB/tree" "XDG_STATE_HOME=$LAB/state MLFLOW_TRACKING_URI=$LAB/tree" "XDG_CACHE_HOME=$LAB/plots"; do
    # shellcheck disable=SC2086 # words
    case $where in -*) set -- "$BENCHWRAP" -q $where ;; *) set -- env $where "$BENCHWRAP" -q ;; esac
    ok "$where is bob's link: the program runs" as_alice "$@" -- true
    case $where in XDG_*) ;; *) like "$where: the message names the cause" "$(as_alice "$@" -- true 2>&1)" "link that another user made.*recorded in $HOMES/alice" ;; esac
done
untouched "places that the environment or an option names"
as_bob_in "$LAB" 'mkdir -m 755 closed && ln -s ../own closed/tree && chmod 755 closed'
as_alice mkdir own
ok "a link in a folder that bob alone writes is followed" as_alice "$BENCHWRAP" -q -t closed/tree -- true
ok "... and the run is there" test -d own/mlruns
done_testing
