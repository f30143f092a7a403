#!/bin/sh
# `benchwrap check` accepts runs that earlier versions recorded, as long as their values follow from their notes.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1

# Three repetitions of 0.01, 9.4 and 0.02 ms: the 95 % intervals of their means begin below zero.
python3 -c 'import sys, tarfile
tarfile.open(sys.argv[1]).extractall(".")' "$ROOT/tests/check/negative-interval.tar.xz" 2>/dev/null
set -- mlruns/*/*/metrics/latency_s.ci_low; low=$1
like "the stored run has an interval that begins below zero" "$(cat "$low")" '^[0-9]+ -0\.01'
is "check accepts it" "$("$BENCHWRAP" check --json | python3 -c 'import json, sys; j = json.load(sys.stdin); print(j["runs"], j["errors"])')" "4 0"
sed -i 's/ -0\.0/ -0.5/' "$low"
like "another end is no end of its interval" "$("$BENCHWRAP" check)" '^error +figures .*latency_s\.ci_low +value .* differs from that of its runs'
done_testing
