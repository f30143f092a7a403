#!/bin/bash
# Files that another user planted in a shared folder: spools, links, hard links and FIFOs. Nothing of the victim's gets into a record.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/users.sh"
users_required "foreign spools and links"

secret='PRIVATE-KEY-OF-ALICE'
as_alice sh -c "umask 077; mkdir -p ~/.ssh && echo $secret >~/.ssh/id"
leaked() # PLACE…: how many files there hold alice's secret
{
    grep -rlF "$secret" "$@" 2>/dev/null | grep -v "^$HOMES/alice/.ssh/id\$" | wc -l
}
places() { # a world-writable and a group folder for each attack
    rm -rf "${STICKY:?}"/* "$STICKY"/.b* "${LAB:?}"/* "$LAB"/.b*
}
dead_spool() # FOLDER USER: a run of this user that SIGKILL left unfinished
{
    as_user "$2" sh -c 'umask 0; cd "$1" && exec "$BENCHWRAP" -q -- sh -c "echo output; touch \"$1/started\"; exec sleep 600"' sh "$1" >/dev/null 2>&1 &
    dead_folder=$1
    wait_until 'grep -qs output "$dead_folder"/.benchwrap/spool/*/stdout.log'
    kill -KILL $(pgrep -u "$(as_user "$2" id -u)") 2>/dev/null # all of this test's own user
    wait 2>/dev/null
    wait_until idle
    rm -f "$1/started"
}

# ---- a stranger's dead run, whose files are a link to the victim's ----
for folder in "$STICKY" "$LAB"; do
    places
    stranger=bob
    dead_spool "$folder" $stranger
    spool=$(ls -d "$folder"/.benchwrap/spool/*)
    like "there is a dead spool" "$spool" 'spool/[0-9a-f]{32}$'
    as_user $stranger sh -c 'chmod -R a+rwX "$1/.benchwrap"; rm -f "$2/stdout.log"; ln -s "$3/alice/.ssh/id" "$2/stdout.log"; ln -s "$3/alice/.ssh" "$2/files"' \
        sh "$folder" "$spool" "$HOMES"
    cd "$folder" || exit 1
    ok "alice's run in that folder succeeds" as_alice "$BENCHWRAP" -q -t own/mlruns -- true
    text=$(as_alice "$BENCHWRAP" sync --local 2>&1)
    like "sync names the owner, in one line" "$text" 'run.* left to the owner: bob$'
    is "the spool stays as it is" "$(ls -d "$folder"/.benchwrap/spool/*"${spool##*/}"*)" "$spool"
    is "nothing of alice's was copied" "$(leaked "$folder")" 0
    chmod -R g-w,o-w "$spool"; chmod 700 "$spool"
    rm -f "$spool/files" "$spool/stdout.log"
    as_user $stranger "$BENCHWRAP" sync --local >/dev/null 2>&1
    is "its owner finishes it" "$(find "$folder/mlruns" -name meta.yaml -path '*/*/*/*' -user $stranger | grep -c '[0-9a-f]\{32\}/meta')" 1
done

# ---- a run of another user in the tree, with links and names of the victim's files ----
plant() # FOLDER: bob's run, with alice's file behind each kind of name
{
    places
    as_bob sh -c 'cd "$1" && umask 0 && "$BENCHWRAP" -q -p secret=x -- echo hello' sh "$1" >/dev/null
    run=$(dirname "$(ls "$1"/mlruns/*/*/meta.yaml)")
    as_bob sh -c 'cd "$1" && for f in params/leak tags/leak artifacts/leak metrics/leak; do ln -s "$2/alice/.ssh/id" $f; done
        mkdir -p artifacts/job && rmdir artifacts/job && ln -s "$2/alice/.ssh" artifacts/job; rm artifacts/stdout.log; ln -s "$2/alice/.ssh/id" artifacts/stdout.log' sh "$run" "$HOMES"
    ln "$HOMES/alice/.ssh/id" "$run/artifacts/hard" && ln "$HOMES/alice/.ssh/id" "$run/params/hard" # as bob may where fs.protected_hardlinks is off
}
for folder in "$STICKY" "$LAB"; do
    plant "$folder"
    cd "$folder" || exit 1
    is "bob's run is there, with the links" "$(find "$run" -type l | wc -l)" 6
    for verb in "ls --all" show "show --all" "show --json" compare "parse --from last"; do
        # shellcheck disable=SC2086
        text=$(as_alice timeout 300 "$BENCHWRAP" $verb 2>&1)
        is "$verb shows nothing of alice's" "$(printf '%s' "$text" | grep -cF "$secret")" 0
    done
    as_alice "$BENCHWRAP" export-tree "$HOMES/alice/out" >/dev/null 2>&1
    is "export-tree copies nothing of alice's" "$(leaked "$HOMES/alice/out")" 0
    as_alice rm -rf "$HOMES/alice/out"
    as_alice "$BENCHWRAP" reparse >/dev/null 2>&1
    is "reparse neither" "$(find "$folder" -type f ! -name hard -exec grep -lF "$secret" {} + | wc -l)" 0
    # A FIFO instead of a file must not hang.
    as_bob sh -c 'rm -f "$1/params/leak" "$1/tags/leak"; mkfifo -m 666 "$1/params/leak" "$1/tags/leak"; rm "$1/meta.yaml"; mkfifo -m 666 "$1/meta.yaml"' sh "$run"
    for verb in ls show "compare" "sync --local"; do
        # shellcheck disable=SC2086
        as_alice timeout 120 "$BENCHWRAP" $verb >/dev/null 2>&1
        ok "$verb does not hang at a FIFO" test $? != 124
    done
done

# ---- places that are links ----
for part in .benchwrap mlruns; do
    places
    as_alice mkdir -p "$HOMES/alice/target"
    as_carol ln -s "$HOMES/alice/target" "$STICKY/$part"
    cd "$STICKY" || exit 1
    ok "$part is a stranger's link: the program runs" as_alice "$BENCHWRAP" -q -- true 2>"$WORK/err"
    is "$part: nothing is written through it" "$(find "$HOMES/alice/target" -mindepth 1 | wc -l)" 0
done
places
id=$(cd "$STICKY" && as_alice "$BENCHWRAP" plan experiment --json -- true >/dev/null 2>&1; as_alice sh -c 'mkdir -p ~/x && cd ~/x && "$BENCHWRAP" -q -e planted -- true; ls mlruns | grep "^[0-9]*$"')
as_carol sh -c 'mkdir -m 777 "$1/mlruns" && ln -s "$2/alice/target" "$1/mlruns/$3"' sh "$STICKY" "$HOMES" "$id"
cd "$STICKY" || exit 1
ok "an experiment is a stranger's link: the program runs" as_alice "$BENCHWRAP" -q -e planted -- true 2>"$WORK/err"
is "an experiment: nothing is written through it" "$(find "$HOMES/alice/target" -mindepth 1 | wc -l)" 0

# ---- settings and references in a repository of alice's, in folders that a stranger may write ----
places
repository=$HOMES/alice/repository
as_alice sh -c 'mkdir -p "$1/mlruns" && cd "$1" && git init -q && mkdir -m 777 open .benchwrap && chmod 777 open .benchwrap && chmod a+x ..' sh "$repository"
as_carol sh -c 'cd "$1" && echo "experiment: planted" >.benchwrap/config.yaml && echo "references: []" >open/references.yaml' sh "$repository"
as_alice sh -c 'cd "$1" && printf "reference: open/references.yaml\n" >benchwrap.yaml' sh "$repository"
cd "$repository" || exit 1
as_alice "$BENCHWRAP" plan --json -- true >"$WORK/out" 2>&1
like "the clone's own file of a stranger: a warning" "$(cat "$WORK/out")" '\.benchwrap/config\.yaml belongs to carol, in a folder that all users may write; ignored'
is "... and its settings are not taken" "$(jq -r .experiment "$WORK/out")" default
like "references of a stranger: a warning" "$(cat "$WORK/out")" 'open/references\.yaml belongs to carol, in a folder that all users may write; ignored'
as_alice chmod 755 .benchwrap
as_alice "$BENCHWRAP" plan --json -- true >"$WORK/out" 2>&1
is "in a folder that only its owner may write, the file is the owner's choice" "$(jq -r .experiment "$WORK/out")" planted
as_alice sh -c 'chmod 700 .. && chmod 777 . && : >benchwrap.yaml; chmod 711 ..'
as_carol sh -c 'cd "$1" && echo "references: []" >references.yaml' sh "$repository"
as_alice "$BENCHWRAP" plan --json -- true >"$WORK/out" 2>&1
like "references.yaml of a stranger at the root: a warning" "$(cat "$WORK/out")" '[" ]references\.yaml belongs to carol'
is "... and it judges nothing" "$(jq -c '[.. | strings | select(endswith("repository/references.yaml"))]' "$WORK/out")" "[]"
as_alice rm -rf "$repository"

# ---- colleagues share a tree ----
places
cd "$LAB" || exit 1
as_bob sh -c 'umask 002; "$BENCHWRAP" -q -e both -- true' 2>"$WORK/err"
as_alice sh -c 'umask 002; "$BENCHWRAP" -q -e both -- true' 2>"$WORK/err"
for user in alice bob; do
    is "$user lists the runs of both" "$(as_user $user "$BENCHWRAP" ls --json 2>/dev/null | grep -o '"status"' | wc -l)" 2
    is "$user: both are in one experiment" "$(find mlruns -name meta.yaml -path '*/*/*/*' | grep -c '[0-9a-f]\{32\}/meta')" 2
    ok "$user shows the last" as_user $user "$BENCHWRAP" show
    # shellcheck disable=SC2046
    ok "$user compares them" as_user $user "$BENCHWRAP" compare $(basename -a mlruns/*/????????????????????????????????)
done
done_testing
