# shellcheck shell=sh
# users.sh: real users for tests, sourced behind tap.sh. The test starts again in a mount namespace of its own, where /etc/passwd and /etc/group
# name three more users with unused uids. Nothing is left on the machine.
#
#   . "$(dirname "$0")/../lib/tap.sh"
#   . "$TESTLIB/users.sh"
#   users_required "what is tested"     # skips the whole file, loudly, where there are no users
#
# alice and bob   are members of the group lab, which is nobody's primary group
# carol           is a stranger to both
# as_alice CMD…   runs CMD with alice's uid, groups, HOME and TMPDIR; so do as_bob and as_carol. CMD is a program, not a shell function.
# $LAB            a folder that the group lab shares: setgid, group-writable, closed to carol
# $STICKY         a folder like /tmp: everybody writes, each removes only what is theirs
# $HOMES/alice    alice's home, mode 0700
# $BENCHWRAP      a program that all of them can run
#
# Each user has a umask of 022, unless CMD sets another. $WORK can be searched by all users and written by root alone.

has_users() # true where alice, bob and carol exist
{
    [ -n "${HOMES:-}" ]
}

users_required() # WHAT: ends the test as a skip where there are no users
{
    has_users && return
    skip "$1" "root, unshare, setpriv and mount namespaces"
    done_testing
    exit
}

as_user() # NAME CMD…
{
    users_name=$1
    shift
    getent passwd "$users_name" >/dev/null || users_mount
    env -u SUDO_USER -u XDG_RUNTIME_DIR HOME="$HOMES/$users_name" USER="$users_name" LOGNAME="$users_name" TMPDIR="$HOMES/$users_name/tmp" \
        setpriv --reuid="$users_name" --regid="$users_name" --init-groups --inh-caps=-all -- "$@"
}

as_alice() { as_user alice "$@"; }
as_bob() { as_user bob "$@"; }
as_carol() { as_user carol "$@"; }

users_copy_program() # BENCHWRAP can be run by all: where they cannot reach the build, a copy of it
{
    as_carol "$BENCHWRAP" --version >/dev/null 2>&1 && return
    users_top=$(cd "$(dirname "$BENCHWRAP")/.." && pwd)
    mkdir "$WORK/.program"
    for users_part in bin lib libexec share; do
        [ ! -d "$users_top/$users_part" ] || cp -R "$users_top/$users_part" "$WORK/.program/"
    done
    chmod -R a+rX "$WORK/.program"
    BENCHWRAP=$WORK/.program/bin/benchwrap
    export BENCHWRAP
}

users_mount() # again, when useradd outside of the namespace has replaced the files: that takes the mounts away
{
    if ! mount --bind "$WORK/.passwd" /etc/passwd || ! mount --bind "$WORK/.group" /etc/group; then
        tap_fail "mounts a private file system"
        exit 1
    fi
}

users_begin()
{
    users_first=$(getent passwd root >/dev/null && awk '$1 == 0 && $3 > 2000000000 { print 1000000000 }' /proc/self/uid_map)
    users_first=$((${users_first:-30000} + 4 * ($$ % 8000))) # tests run at once: each has uids of its own
    for users_file in passwd group; do
        grep -v '^\(alice\|bob\|carol\|lab\):' "/etc/$users_file" >"$WORK/.$users_file"
        chmod 644 "$WORK/.$users_file"
    done
    echo "lab:x:$users_first:alice,bob" >>"$WORK/.group"
    HOMES=$WORK/homes
    export HOMES
    mkdir "$HOMES"
    chmod 755 "$WORK" "$HOMES"
    users_n=0
    for users_name in alice bob carol; do
        users_n=$((users_n + 1))
        users_id=$((users_first + users_n))
        echo "$users_name:x:$users_id:$users_id:$users_name:$HOMES/$users_name:/bin/sh" >>"$WORK/.passwd"
        echo "$users_name:x:$users_id:" >>"$WORK/.group"
        mkdir -m 700 "$HOMES/$users_name" "$HOMES/$users_name/tmp"
        chown -R "$users_id:$users_id" "$HOMES/$users_name"
    done
    users_mount
    LAB=$WORK/lab
    STICKY=$WORK/sticky
    export LAB STICKY
    mkdir "$LAB" "$STICKY"
    chgrp lab "$LAB"
    chmod 2770 "$LAB"
    chmod 1777 "$STICKY"
    umask 022
    users_copy_program
}

if [ -n "${USERS_NAMESPACE:-}" ]; then
    unset USERS_NAMESPACE
    users_begin
elif [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && unshare -m --propagation private true 2>/dev/null; then
    trap - EXIT
    rm -rf "$WORK"
    BENCHWRAP_TEST_CACHE=$CACHE USERS_NAMESPACE=1 exec unshare -m --propagation private -- "$0" "$@"
fi
