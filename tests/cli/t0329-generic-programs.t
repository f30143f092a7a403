#!/bin/sh
# t0329: what the generic reader records of real outputs of programs that no rules know: nothing wrong, and most of the main results.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
rates=$("${PYTHON:-python3}" "$ROOT/tests/generic/rate.py" "$BENCHWRAP" "$ROOT/tests/generic")
is "nothing wrong is recorded" "$(printf '%s\n' "$rates" | grep '^wrong')" ""
is "there are outputs of more than a hundred programs" "$(ls -d "$ROOT"/tests/generic/*/ | wc -l)" 594
is "main results of the outputs the grammar was written with, of those kept back, of those added later, and of those whose results were written down before they were read" "$rates" "developed: 36 right, 11 missing, 0 wrong
kept-back: 46 right, 14 missing, 0 wrong
added: 117 right, 36 missing, 0 wrong
held-out: 42 right, 11 missing, 0 wrong
held-out-2: 34 right, 12 missing, 0 wrong
held-out-3: 16 right, 2 missing, 0 wrong
held-out-4: 31 right, 16 missing, 0 wrong
held-out-5: 17 right, 13 missing, 0 wrong
held-out-6: 24 right, 8 missing, 0 wrong
held-out-7: 38 right, 8 missing, 0 wrong
held-out-8: 17 right, 5 missing, 0 wrong
held-out-9: 21 right, 5 missing, 0 wrong
held-out-10: 10 right, 8 missing, 0 wrong
held-out-11: 27 right, 8 missing, 0 wrong
held-out-12: 12 right, 17 missing, 0 wrong
held-out-13: 37 right, 19 missing, 0 wrong
held-out-14: 18 right, 10 missing, 0 wrong"
done_testing
