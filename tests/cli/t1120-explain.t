#!/bin/sh
# compare explains a difference by the machine: hardware, configuration, and which facts differ. The record tells what probes cost.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
XDG_RUNTIME_DIR=$WORK/run
export XDG_RUNTIME_DIR
mkdir -m 700 run
"$BENCHWRAP" -q -n one -- true
"$BENCHWRAP" -q -n two -- true
same=$("$BENCHWRAP" compare last~1 last)
like "the same hardware" "$same" "^Hardware and settings: the same\.$"
run=$(grep -l '^two$' mlruns/*/*/tags/mlflow.runName | sed 's|/tags/.*||')
printf 'always' >"$run/params/kernel.thp"
printf '0123456789abcdef' >"$run/params/node.state"
other=$("$BENCHWRAP" compare last~1 last 2>/dev/null)
like "other settings, and which" "$other" "^Settings: differs in kernel.thp\.$"
like "the hardware is still the same" "$other" "^Hardware: the same"
printf 'fedcba9876543210' >"$run/params/node.type"
like "a difference that no parameter names" "$("$BENCHWRAP" compare last~1 last 2>/dev/null)" "^Hardware: differs in something that no parameter names\.$"
ok "as JSON" sh -c '"$BENCHWRAP" compare --json last~1 last 2>/dev/null | python3 -c "
import json, sys
m = json.load(sys.stdin)[\"machine\"]
assert m[\"configuration\"] == {\"is\": \"differs\", \"differing\": [\"kernel.thp\"]}, m
assert m[\"hardware\"][\"is\"] == \"differs\", m"'
rm "$run/params/node.type"
like "not recorded for all runs" "$("$BENCHWRAP" compare last~1 last 2>/dev/null)" "^Hardware: not recorded for all runs"
like "the record tells each probe's cost" "$(cat "$run/tags/benchwrap.probe_costs_ms")" "topology before [0-9.]+.*(software|filesystem)"
ok "and the sum before the program" grep -q . "$run/metrics/probe.before_ms"
done_testing
