#!/bin/sh
# Each allocation of the launcher and the recorder fails, once and from then on (a spread of them; all with BENCHWRAP_LONG).
# sanitizer: no, because it brings an allocator of its own
# early, because it takes long
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
${CC:-cc} -shared -fPIC -O1 -D_GNU_SOURCE "$ROOT/tests/faults/failalloc.c" -o "$WORK/failalloc.so" -ldl
long_tests && stride=1 || stride=60
# A preloaded library reaches no static program: the launcher is linked anew.
mkdir -p "$WORK/dyn/bin"
ok "the launcher of the same objects, linked dynamically" ${CC:-cc} -pie -o "$WORK/dyn/bin/benchwrap" "$BUILD/obj/wrapper/launch/main.o" "$BUILD/lib/libwrap.a"
ln -s "$BUILD/libexec" "$BUILD/share" "$WORK/dyn/"
for who in launcher recorder; do
    [ $who = launcher ] && s=$(((stride + 9) / 10)) || s=$stride
    ok "$who" python3 "$ROOT/tests/faults/allocs.py" "$WORK/dyn/bin/benchwrap" "$WORK/failalloc.so" $who $s
done
done_testing
