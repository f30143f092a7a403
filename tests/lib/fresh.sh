# shellcheck shell=bash
# fresh.sh: the README's two commands in a bare Debian, one after the other, in both orders, twice each. Sourced
# after tap.sh: fresh_suite SUITE. As root in one order, as a user with sudo in the other.
# FRESH_TESTS="TEST…": what scripts/test runs (default: the tests of optional parts; "": all, which takes hours).
FRESH_TESTS=${FRESH_TESTS-tests/cli/t0900-house.t tests/cli/t0902-optional.t tests/cli/t1332-llmload-agents.t}

fresh_in() # USER COMMAND: in $root, as root or a user, in namespaces that end with it
{
    # shellcheck disable=SC2016,SC2046 # $0 and $@ are the inner shell's; words without blanks
    unshare -m -p -f -i --kill-child --propagation private bash -c '
        mount -t proc proc "$0/proc" && mount -t sysfs -o ro sysfs "$0/sys" && mount --rbind /dev "$0/dev" && mount -t tmpfs tmpfs "$0/run" || exit 125
        id=0:0 home=/root
        [ "$1" = root ] || id=1000:1000 home=/home/$1
        shift
        exec chroot --userspec="$id" --groups= "$0" /usr/bin/env -i HOME="$home" LANG=C.UTF-8 TERM=dumb \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' \
        "$root" "$1" $(env | grep -iE '^(https?_proxy|no_proxy|[A-Z_]*CA_BUNDLE|SSL_CERT_(FILE|DIR)|PIP_[A-Z_]*)=[^ ]*$') \
        sh -c "cd /build/project && $2" </dev/null >"$WORK/log" 2>&1
}

fresh_root() # SUITE: a new $root with the project at /build/project and the network settings of this machine
{
    root=$WORK/$1
    rm -rf --one-file-system "$root"
    BENCHWRAP_TEST_CACHE=$CACHE "$ROOT/scripts/bare-root" "$1" "$root" 2>"$WORK/why" || return 1
    cp -L /etc/resolv.conf "$root/etc/" 2>/dev/null
    cp /etc/apt/apt.conf.d/99* "$root/etc/apt/apt.conf.d/" 2>/dev/null
    mkdir -p "$root/etc/ssl/certs" "$root/usr/local/share/ca-certificates"
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" 2>/dev/null
    cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" 2>/dev/null
    cp -L /etc/pip.conf "$root/etc/" 2>/dev/null
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" && chmod 755 "$root/usr/sbin/policy-rc.d" # packages start no service
    git clone -q --no-hardlinks "file://$ROOT" "$root/build/project" && chroot "$root" useradd -m -u 1000 ada && chown -R 1000:1000 "$root/build"
}

fresh_order() # SUITE USER COMMAND…: in a new root
{
    fresh_root "$1" || { skip_here "$1: a bare root" "cannot make one: $(tail -n 1 "$WORK/why")"; return; }
    fresh_in root "git config --system --add safe.directory '*' 2>/dev/null; apt-get update -qq" || { skip_here "$1: packages" "no network"; return; }
    if [ "$2" != root ]; then
        fresh_in root "apt-get install -qq -y --no-install-recommends sudo && echo '$2 ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/all"
    fi
    suite=$1 who=$2
    shift 2
    for command in "$@"; do
        if fresh_in "$who" "$command"; then tap_pass "$suite, $who: ${command%% *}"; else tap_fail "$suite, $who: ${command%% *}" "$(tail -n 20 "$WORK/log")"; fi
    done
    if fresh_in "$who" "build/bin/llmload --help"; then
        is "$suite, $who: the last build has agents" "$(grep -c 'no agents' "$WORK/log")" 0
    else
        tap_fail "$suite, $who: llmload --help"
    fi
    rm -rf --one-file-system "$root"
}

fresh_suite() # SUITE
{
    if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null || ! git -C "$ROOT" rev-parse HEAD >/dev/null 2>&1; then
        skip_here "both commands in a bare $1" "needs root, debootstrap and a git checkout"
        echo "skipped: both commands in a bare $1: needs root, debootstrap and a git checkout" >&2
    else
        fresh_order "$1" root scripts/quickstart "scripts/test $FRESH_TESTS" scripts/quickstart "scripts/test $FRESH_TESTS"
        fresh_order "$1" ada "scripts/test $FRESH_TESTS" scripts/quickstart "scripts/test $FRESH_TESTS" scripts/quickstart
    fi
    done_testing
}
