#!/bin/bash
# benchwrap under sudo, in folders where other users write: root writes through no link of theirs, takes no settings of theirs, and the user who called sudo can go on.
# shellcheck disable=SC2016 # the inner shells' variables
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/users.sh"
users_required "benchwrap under sudo"
printf 'Defaults !use_pty\nDefaults env_keep += "BENCHWRAP BENCHWRAP_SOCKET"\nalice ALL=(ALL) NOPASSWD:SETENV: ALL\nroot ALL=(ALL) NOPASSWD:SETENV: ALL\n' >"$WORK/.sudoers"
chmod 440 "$WORK/.sudoers"
printf '%s required pam_permit.so\n' auth account session password >"$WORK/.pam"
chmod 644 "$WORK/.pam"
if ! command -v sudo >/dev/null || ! mount --bind "$WORK/.sudoers" /etc/sudoers || ! mount --bind "$WORK/.pam" /etc/pam.d/sudo || ! as_alice sudo -n true 2>"$WORK/err"; then
    skip_here "benchwrap under sudo" "no sudo that alice can use"
    done_testing
    exit
fi
mkdir -p "$WORK/root/pack" && echo keep >"$WORK/root/precious" && echo keep >"$WORK/root/pack/keep" && chmod 700 "$WORK/root"
state() { (cd "$WORK/root" && find . -printf '%p %y %m %u\n' | sort; find . -type f -exec md5sum {} + | sort); }
before=$(state)
fresh()
{
    rm -rf "${STICKY:?}"/* "$STICKY"/.[bg]* "${LAB:?}"/* "$LAB"/.[bg]*
    cd "$1" || exit 1
}
# by_sudo HOW OPTION…: alice runs benchwrap as root; $status, and $WORK/out
by_sudo()
{
    how=$1
    shift
    # shellcheck disable=SC2086
    as_alice timeout 300 sudo -n $how "$BENCHWRAP" "$@" >"$WORK/out" 2>&1
    status=$?
}

for how in ${HOWS-"" -E -H}; do
    for folder in "$LAB" "$STICKY"; do
        where="sudo $how, $(basename "$folder")"
        for planted in mlruns .benchwrap .benchwrap/spool .benchwrap/nodes .benchwrap/sync .benchwrap/ui mlruns/0 mlruns/planted; do
            fresh "$folder"
            as_bob sh -c 'umask 0; mkdir -p "$(dirname "$1")" && ln -s "$2" "$1"' sh "$planted" "$WORK/root"
            by_sudo "$how" -q -- true
            [ "$status" = 0 ] || is "$where: the program runs: $planted" "$status $(cat "$WORK/out")" 0
            by_sudo "$how" sync --local
        done
        is "$where: nothing is written through links of bob's" "$(state)" "$before"

        fresh "$folder"
        as_bob sh -c 'umask 0; mkdir mlruns; printf "experiment: planted\ntag: {planted: 1}\n" >benchwrap.yaml; ln -s "$1" out.json; echo fine >plain.json' sh "$WORK/root/precious"
        by_sudo "$how" -q -a '*.json' -- true
        is "$where: the program runs" "$status" 0
        is "$where: no result through a link of bob's" "$(find . -path '*files/out.json' | wc -l)" 0
        [ "$folder" = "$LAB" ] || is "$where: no settings of bob's" "$(find . -name planted | wc -l)" 0

        # A dead run of bob's, with links in it. A folder of its own: the runs before may still be finishing theirs.
        fresh "$folder"
        mkdir dead && chown --reference=. dead && chmod "$(stat -c %a .)" dead && cd dead || exit 1
        as_bob sh -c 'umask 0; exec "$BENCHWRAP" -q -- sh -c "echo output; exec sleep 600"' >/dev/null 2>&1 &
        wait_until 'grep -qs output .benchwrap/spool/*/stdout.log'
        kill -KILL $(pgrep -u "$(as_bob id -u)") 2>/dev/null # all of this test's own user
        wait 2>/dev/null
        wait_until idle
        as_bob sh -c 'chmod -R a+rwX .benchwrap; cd .benchwrap/spool/*/ && ln -s "$1" files && ln -sf "$1/precious" stdout.log' sh "$WORK/root"
        by_sudo "$how" sync --local
        by_sudo "$how" -q -- true
        is "$where: a dead run of bob's is left to him" "$(ls -d .benchwrap/spool/*/files 2>/dev/null | wc -l) $(state | md5sum)" "1 $(md5sum <<<"$before")"
    done
done

# The log socket: root sends to alice's run, alice does not send to root's, bob to neither.
cd "$HOMES/alice" || exit 1
as_alice sh -c 'mkdir -p x && cd x && umask 077 && echo closed >m600 && "$BENCHWRAP" -q -- sudo -n --preserve-env=BENCHWRAP_SOCKET "$BENCHWRAP" log --strict -a m600 by_sudo=1' >"$WORK/out" 2>&1
is "log works under sudo" "$(cut -d' ' -f2 x/mlruns/*/*/metrics/by_sudo) $(stat -c %a x/mlruns/*/*/artifacts/files/m600)" "1 600"
as_alice sh -c 'mkdir -p y && cd y && sudo -n "$BENCHWRAP" -q -- sudo -n -u alice --preserve-env=BENCHWRAP_SOCKET "$BENCHWRAP" log planted=1' >"$WORK/out" 2>&1
is "a user does not send to root's run" "$(find y -name planted | wc -l) $(cat y/mlruns/*/*/tags/benchwrap.log_dropped "$WORK/out")" "0 1"

# alice goes on without sudo, also where sudo -E wrote into her home.
as_alice sh -c 'mkdir -p z && cd z && sudo -n -E HOME="$HOME" "$BENCHWRAP" -q -- true && cd .. && mkdir own && cd own && "$BENCHWRAP" -q -- true' >"$WORK/out" 2>&1
is "alice's next run says nothing" "$? $(cat "$WORK/out")" "0 "
is "and is recorded" "$(cat own/mlruns/*/*/meta.yaml | grep -c '^run_id:')" 1
is "root's folder is untouched" "$(state)" "$before"
done_testing
