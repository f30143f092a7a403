#!/bin/sh
# What a reader asks first of repetitions and sweeps: the median, the same machine, an interval that is possible, names, CSV, a dead server.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >noisy.sh <<'P'
n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n >n
case $n in 1) echo "latency: 9.4 ms" ;; 2) echo "latency: 0.02 ms" ;; *) echo "latency: 0.01 ms" ;; esac
P
"$BENCHWRAP" -q -e noisy -n noisy --repeat 3 -- sh noisy.sh >/dev/null 2>&1
"$BENCHWRAP" show >shown
like "show has the median, not the last repetition" "$(cat shown)" '^ *latency +2e-05 s'
set -- mlruns/*/*/metrics/latency_s.median
is "… the run has it too" "$(cut -d' ' -f2 "$1")" 2e-05
set -- mlruns/*/*/metrics/latency_s.ci_low
ok "an interval that would reach below zero is no metric" [ ! -e "$1" ]
like "… but missing with the reason" "$("$BENCHWRAP" show --json | python3 -c 'import json, sys
for m in json.load(sys.stdin)["missing"]: print(m["key"], m["reason"])')" '^latency_s\.ci_low .*below zero'

"$BENCHWRAP" -q -e swept -n points --repeat 3 --sweep size=1,2 -- sh -c 'echo "rate: {size}00 op/s"' >/dev/null 2>&1
"$BENCHWRAP" compare --by size -e swept >compared
like "after a sweep one machine is the same machine" "$(cat compared)" '^Hardware and settings: the same\.'
like "… only the swept input differs" "$(cat compared)" '^Inputs that differ: size\.$'
like "compare with a name: how to compare runs of that name" "$("$BENCHWRAP" compare points noisy 2>&1)" 'no run with id "points"; one run has this name: [0-9a-f]{8}'

"$BENCHWRAP" ls --csv >runs.csv
is "ls --csv is CSV with a row for each run that ls shows" "$(python3 -c 'import csv, sys
rows = list(csv.DictReader(open("runs.csv")))
print(sorted(r["experiment"] for r in rows), {len(r["id"]) for r in rows}, [r["latency_s.median"] for r in rows if r["experiment"] == "noisy"])')" \
    "['noisy', 'swept'] {32} ['2e-05']"

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
BENCHWRAP_FINISH_WAIT=5s "$BENCHWRAP" -q --to "http://127.0.0.1:$port" -- true 2>err
is "-q with a dead server: two lines" "$(wc -l <err)" 2
like "… the reason" "$(cat err)" "not sent to http://127\.0\.0\.1:$port: connection refused"
like "… and the next step" "$(cat err)" 'the run is complete in .*send it later: benchwrap sync'
done_testing
