#!/bin/sh
# Disk faults: what cannot be written, is full, or never answers must not touch the program; the loss is told.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"

program='printf "out %d\n" 1 2 3; echo err >&2; exit 5'
wrapped() # NAME: runs the program wrapped in $WORK/d, checks bytes, status and time; stderr is left in $WORK/err
{
    begin=$(date +%s)
    out=$(cd "$WORK/d" && timeout -k 1 40 "$BENCHWRAP" --finish-wait 3s -- sh -c "$program" 2>"$WORK/err")
    status=$?
    took=$(($(date +%s) - begin))
    is "$1: output" "$out" "$(printf 'out 1\nout 2\nout 3')"
    is "$1: exit status" "$status" 5
    ok "$1: the program's own stderr is there" grep -qx err "$WORK/err"
    ok "$1: within the bounds ($took s)" test "$took" -le 8
}

if [ "$(id -u)" = 0 ] && mkdir -p "$WORK/d" && mount -t tmpfs -o size=64k,mode=777 none "$WORK/d" 2>/dev/null; then
    dd if=/dev/zero of="$WORK/d/filler" bs=1k count=64 2>/dev/null
    wrapped "full file system"
    like "full file system: it is told" "$(cat "$WORK/err")" "^benchwrap: .*(No space|not kept|kept in)"
    umount "$WORK/d" || umount -l "$WORK/d"
    mount -t tmpfs -o size=2m,mode=777 none "$WORK/d"
    out=$(cd "$WORK/d" && "$BENCHWRAP" -- sh -c 'head -c 8000000 /dev/zero; exit 5' 2>"$WORK/err" | wc -c)
    is "the disk fills during the run: all bytes arrive" "$out" 8000000
    like "the disk fills during the run: it is told" "$(cat "$WORK/err")" "^benchwrap: "
    umount "$WORK/d" || umount -l "$WORK/d"
    mount -t tmpfs -o ro none "$WORK/d"
    wrapped "read-only file system"
    like "read-only: the run is kept in the user's state folder" "$(cat "$WORK/err")" "kept in .*state"
    umount "$WORK/d" || umount -l "$WORK/d"
else
    skip_here "full file system" "mounting needs root"
fi

mkdir -p "$WORK/d"
(cd "$WORK/d" && : >mlruns)
wrapped "mlruns is a file"
like "mlruns is a file: it is told" "$(cat "$WORK/err")" "^benchwrap: "
rm -rf "$WORK/d"

if [ ! -e /dev/fuse ]; then
    skip_here "file system that never returns" "the kernel, or the container, has no /dev/fuse"
    done_testing
    exit
fi
if ! pkg-config --exists fuse3 2>/dev/null || ! command -v fusermount3 >/dev/null; then
    skip "file system that never returns" "libfuse3-dev or fuse3 is missing"
    done_testing
    exit
fi
# shellcheck disable=SC2046
${CC:-cc} -D_GNU_SOURCE -O1 $(pkg-config --cflags fuse3) "$ROOT/tests/faults/hangfs.c" -o "$WORK/hangfs" $(pkg-config --libs fuse3)

hung() # WHERE CALL
{
    mkdir -p "$WORK/b" "$WORK/d/$1"
    if ! "$WORK/hangfs" "$WORK/b" "$2" "$WORK/d/$1" 2>/dev/null; then
        skip_here "$2 below $1 never returns" "this machine does not let us mount"
        return
    fi
    wrapped "$2 below $1 never returns"
    pkill -KILL -f "$WORK/hangfs" 2>/dev/null
    fusermount3 -u -z "$WORK/d/$1"
    wait_until '! pgrep -f "$WORK/hangfs"'
    rm -rf "$WORK/b" "$WORK/d"
}
for call in getattr open create write mkdir rename readdir fsync; do
    hung .benchwrap $call
done
for call in getattr open create mkdir rename readdir; do
    hung mlruns $call
done
done_testing
