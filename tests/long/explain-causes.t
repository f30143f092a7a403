#!/bin/sh
# benchwrap explain: causes planted in real runs are named first or second in 90 % of the cases, and none where nothing recorded differs in 95 %.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
command -v gcc >/dev/null && command -v taskset >/dev/null || { skip "causes" "gcc or taskset is missing"; done_testing; exit; }
[ "$(id -u)" = 0 ] || { skip "causes" "mounts need root"; done_testing; exit; }
"$TESTLIB/explain_cases.py" "$BENCHWRAP" "$WORK/cases" "${CASES:-12}" >out 2>err || tap_fail "the cases run" "$(cat err)"
sed 's/^/# /' out
ok "planted causes are first or second in 90 %" awk -F'\t' '$1 == "planted" { n = $2; two = $4 } END { exit !(n >= 100 && two >= 0.9 * n) }' out
ok "no cause is named without one in 95 %" awk -F'\t' '$1 == "without" { n = $2; none = $3 } END { exit !(n >= 100 && none >= 0.95 * n) }' out
done_testing
