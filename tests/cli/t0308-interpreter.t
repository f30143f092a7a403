#!/bin/sh
# t0308: where the kernel refuses compiled patterns they are interpreted, and all samples give the same facts.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
BENCHWRAP_PCRE_JIT=0 "$(dirname "$0")/t0300-benchmarks.t" >"$WORK/out" 2>"$WORK/errors"
status=$?
ok "there are samples" grep -q '^ok 50 ' "$WORK/out"
is "interpreted patterns find what compiled ones find" "$status $(grep '^not ok' "$WORK/out" | head -n 5)" "0 "
done_testing
