#!/bin/sh
# Each system call of the launcher and the recorder fails, once and from then on (a spread of them; all with BENCHWRAP_LONG).
# sanitizer: no, because its runtime makes system calls of its own, whose failure ends the program
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
if ! command -v strace >/dev/null || ! strace -qq -o /dev/null true 2>/dev/null; then
    skip "failing system calls" "strace is missing or may not trace here"
    done_testing
    exit
fi
long_tests && stride=1 || stride=40
for who in launcher recorder; do
    [ $who = launcher ] && s=$(((stride + 3) / 4)) || s=$stride
    ok "$who" python3 "$ROOT/tests/faults/syscalls.py" "$BENCHWRAP" $who $s
done
done_testing
