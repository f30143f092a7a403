#!/bin/sh
# Every unit test, and a few whole runs, are clean under valgrind: no bad access, nothing lost.
. "$(dirname "$0")/../lib/tap.sh"
if ! command -v valgrind >/dev/null; then skip "valgrind" "valgrind is not installed"; done_testing; exit; fi
v="valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite --track-fds=no --suppressions=$TESTLIB/valgrind.supp"
export BENCHWRAP_PCRE_JIT=0 # compiled patterns read whole vectors, beyond a line's end too, which valgrind cannot tell from a fault
for t in $(find "$BUILD/tests/unit" -type f -perm -u+x ! -name '*.d' | sort); do
    # shellcheck disable=SC2086 # a command line
    ok "unit test ${t#"$BUILD"/tests/unit/}" $v "$t"
done
cd "$WORK" && "$BENCHWRAP" -q -- true
core=$BUILD/libexec/benchwrap/benchwrap-core
for verb in ls "ls --json" "show last" "show last --json" "compare last last" probe doctor "plan -- true"; do
    # shellcheck disable=SC2086
    $v "$core" $verb >out 2>&1; rc=$?
    ok "benchwrap $verb" test "$rc" != 99
    [ "$rc" != 99 ] || sed 's/^/# /' out
done
done_testing
