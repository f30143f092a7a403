#!/bin/sh
# The recorder stopped, killed, or without one of its libraries: the program runs as it would without us, and one warning says so.
# sanitizer: no, because the libraries that are taken away would include the sanitizer itself
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1

recorder_of() # LAUNCHER: waits for the recorder's pid
{
    for _ in $(seq 200); do
        for p in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
            case $(cat "/proc/$p/comm" 2>/dev/null) in benchwrap-*) echo "$p"; return ;; esac
        done
        sleep 0.01
    done
}

for sig in KILL STOP; do
    mkdir -p "$WORK/$sig"
    (cd "$WORK/$sig" && exec "$BENCHWRAP" --finish-wait 1s -- sh -c 'echo one; sleep 1; head -c 20000000 /dev/zero; echo two; exit 9' >out 2>err) &
    launcher=$!
    sleep 0.4
    recorder=$(recorder_of $launcher)
    kill -$sig "$recorder"
    wait $launcher
    is "SIG$sig to the recorder: exit status" $? 9
    is "SIG$sig to the recorder: every byte" "$(wc -c <"$WORK/$sig/out")" 20000008
    is "SIG$sig to the recorder: one warning" "$(grep -c '^benchwrap: ' "$WORK/$sig/err")" 1
    kill -KILL "$recorder" 2>/dev/null
    sleep 0.2
    ok "SIG$sig to the recorder: sync closes the run" sh -c "cd $WORK/$sig && '$BENCHWRAP' sync --local | grep -q '1 closed'"
    like "SIG$sig to the recorder: as KILLED" "$(cat "$WORK/$sig"/mlruns/*/*/meta.yaml)" '^status: 5$'
done

libraries=$(ldd "$BUILD/libexec/benchwrap/benchwrap-core" | sed -n 's/^[[:space:]]*\([^ ]*\) => .*/\1/p' | grep -Ev '^(libc|libm|ld-linux.*|linux-vdso)\.so')
ok "the recorder has libraries to lose" test -n "$libraries"
for lib in $libraries; do
    rm -rf "${WORK:?}/lib"
    mkdir -p "$WORK/lib" "$WORK/d"
    : >"$WORK/lib/$lib"
    out=$(cd "$WORK/d" && LD_LIBRARY_PATH=$WORK/lib "$BENCHWRAP" -- /bin/echo hello 2>"$WORK/err")
    is "without $lib: status" $? 0
    is "without $lib: output" "$out" hello
    is "without $lib: one warning" "$(grep -c . "$WORK/err")" 1
    like "without $lib: it says what" "$(cat "$WORK/err")" '^benchwrap: .*unrecorded'
    (cd "$WORK/d" && LD_LIBRARY_PATH=$WORK/lib "$BENCHWRAP" --strict -- /bin/echo hello >/dev/null 2>&1)
    is "without $lib: --strict refuses" $? 125
done
done_testing
