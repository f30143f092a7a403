# shellcheck shell=bash
# slurm_root.sh: runs the rest of a test in a root of another suite of Debian, with its Slurm. Sourced after tap.sh.

# slurm_root SUITE "$@": the test runs again in the root, with "inside" as its argument; this call returns there only.
# Needs root and debootstrap. The root is kept as an archive in the cache.
slurm_root()
{
    slurm_suite=$1 slurm_archive=$CACHE/roots/$1-slurm.tar slurm_in=$WORK/root
    [ "${2:-}" != inside ] || return 0
    if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
        skip "Slurm of Debian's $slurm_suite" "needs root and debootstrap"
        done_testing
        exit 0
    fi
    mkdir -p "$CACHE/roots" "$slurm_in"
    if [ ! -s "$slurm_archive" ]; then
        slurm_mirror=$(awk '$1 == "URIs:" {print $2; exit} $1 == "deb" {print $2; exit}' /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null)
        slurm_script=/usr/share/debootstrap/scripts/$slurm_suite
        [ -e "$slurm_script" ] || slurm_script=/usr/share/debootstrap/scripts/sid
        slurm_packages=munge,slurm-wlm,python3-minimal,procps,hostname,jq,libhwloc15,libcjson1,libyaml-0-2,libpcre2-8-0,libuuid1,curl
        unshare -m debootstrap --variant=minbase --include=$slurm_packages "$slurm_suite" "$slurm_in" ${slurm_mirror:+"$slurm_mirror" "$slurm_script"} >"$WORK/boot.log" 2>&1 &&
            tar -C "$slurm_in" --one-file-system --exclude='./proc/*' --exclude='./var/cache/apt/archives/*.deb' -cf "$slurm_archive.new" . && mv "$slurm_archive.new" "$slurm_archive"
        rm -rf --one-file-system "$slurm_in"
        mkdir -p "$slurm_in"
    fi
    if [ ! -s "$slurm_archive" ]; then
        tap_fail "a root of Debian's $slurm_suite with Slurm" "$(tail -n 3 "$WORK/boot.log")"
        done_testing
        exit 0
    fi
    tar -C "$slurm_in" -xf "$slurm_archive"
    chmod 755 "$WORK" "$slurm_in"
    mkdir -p "$slurm_in/opt/benchwrap/tests/long" "$slurm_in/opt/benchwrap/build" "$slurm_in/tmp"
    cp -a "$BUILD/bin" "$BUILD/libexec" "$slurm_in/opt/benchwrap/build/"
    cp -a "$ROOT/tests/lib" "$slurm_in/opt/benchwrap/tests/"
    cp "$0" "$slurm_in/opt/benchwrap/tests/long/inner.t"
    echo "127.0.0.1 localhost newer" >"$slurm_in/etc/hosts"
    unshare -m -p -u -f --kill-child bash -c 'hostname newer; mount -t proc proc "$0/proc"; mount --bind /dev "$0/dev"
        exec chroot "$0" /usr/bin/env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 LC_ALL=C.UTF-8 TMPDIR=/tmp BENCHWRAP_REQUIRE='"'${BENCHWRAP_REQUIRE:-}'"' bash /opt/benchwrap/tests/long/inner.t inside' "$slurm_in"
    # shellcheck disable=SC2034 # of tap.sh: the inner test has printed its plan
    tap_finished=1
    exit 0
}
