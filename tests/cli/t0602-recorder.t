#!/bin/sh
# The recorder stopped, killed, or without one of its libraries: the program runs as it would without us, and one warning says so.
# sanitizer: no, because the libraries that are taken away would include the sanitizer itself
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1

for sig in KILL STOP; do
    mkdir -p "$WORK/$sig"
    (cd "$WORK/$sig" && exec "$BENCHWRAP" --finish-wait 1s -- sh -c 'echo one; until [ -e go ]; do sleep 0.05; done; head -c 20000000 /dev/zero; echo two; exit 9' >out 2>err) &
    launcher=$!
    wait_until 'grep -qs "\"started\"" $sig/.benchwrap/spool/*/journal'
    recorder=$(pgrep -P $launcher -f -- --recorder)
    kill -$sig "$recorder"
    touch "$WORK/$sig/go"
    wait $launcher
    is "SIG$sig to the recorder: exit status" $? 9
    is "SIG$sig to the recorder: every byte" "$(wc -c <"$WORK/$sig/out")" 20000008
    is "SIG$sig to the recorder: one warning" "$(grep -c '^benchwrap: ' "$WORK/$sig/err")" 1
    kill -KILL "$recorder" 2>/dev/null
    wait_until 'has_ended $recorder'
    ok "SIG$sig to the recorder: sync closes the run" sh -c "cd $WORK/$sig && '$BENCHWRAP' sync --local | grep -q '1 closed'"
    like "SIG$sig to the recorder: as KILLED" "$(cat "$WORK/$sig"/mlruns/*/*/meta.yaml)" '^status: 5$'
done

# A background process that still holds a stream when the program ends: the record says so, and no later byte changes it.
mkdir "$WORK/held" && cd "$WORK/held" || exit 1
"$BENCHWRAP" -q -- sh -c '(while [ ! -e go ]; do sleep 0.02; done; echo late) 2>/dev/null & echo up' >out
was=$(cd mlruns && find . -type f -exec sha256sum {} + | sort)
touch go
wait_until '[ "$(wc -l <out)" = 2 ]'
is "a held stream: passed on, not recorded, and the run says so" "$(xargs <out), $(cat mlruns/*/*/artifacts/stdout.log), $(cat mlruns/*/*/tags/benchwrap.open_streams)" "up late, up, stdout"
like "a held stream: a warning" "$("$BENCHWRAP" show --json | jq -r '.warnings[].text')" '^stdout: still open in a background process when the program had ended; later output is passed on and not recorded$'
is "a held stream: the published run stays as it was" "$(cd mlruns && find . -type f -exec sha256sum {} + | sort)" "$was"

# In a PID namespace without a /proc of its own the numbers in /proc belong to other processes.
mkdir "$WORK/namespace" && cd "$WORK/namespace" || exit 1
if unshare --pid --fork true 2>/dev/null; then
    unshare --pid --fork "$BENCHWRAP" --sample 0.1 -- sh -c 'until grep -qs system/cpu .benchwrap/spool/*/journal; do sleep 0.05; done; (setsid sleep 60 >/dev/null 2>&1 &); exit 7' 2>err
    is "a foreign /proc: status, no number of processes" "$? $(grep -c 'left behind' err) $(ls -d mlruns/*/*/metrics/run.left_running mlruns/*/*/metrics/system/process_count 2>/dev/null)" "7 0 "
    is "a foreign /proc: the reason" "$("$BENCHWRAP" show --json | jq -r '.missing[] | select(.key == "run.left_running" or .key == "system/process_count").reason' | sort -u)" "/proc does not show the PID namespace of this run"
else
    skip_here "a foreign /proc" "no PID namespaces here"
fi
mkdir "$WORK/none" && cd "$WORK/none" || exit 1
if unshare -m umount -l /proc 2>/dev/null; then
    is "no /proc: recorded all the same" "$(unshare -m sh -c 'umount -l /proc; "$BENCHWRAP" -q -- echo hi') $("$BENCHWRAP" show --json | jq -r .status)" "hi FINISHED"
else
    skip_here "no /proc" "no mount namespaces here"
fi
cd "$WORK" || exit 1

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
