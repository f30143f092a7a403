# shellcheck shell=bash
# report.sh: part of run: the report of one run, and a plot of many. Sourced; uses its functions and variables.
if wanted report; then
    mkdir report && cd report || exit 1
    "$BW" -e bench -- sh -c 'for i in $(seq 40); do echo "metric$i: $i.5 MB/s"; done' >/dev/null || exit 1
    "$BW" -e sweep --sweep n=1,2,4,8,16 --repeat 5 -- sh -c 'echo "rate: {n}00.5 MB/s"' >/dev/null 2>&1 || exit 1
    sweep=$("$BW" ls -e sweep --json | sed -n 's/.*"id": "\([0-9a-f]*\)".*/\1/p' | head -n 1)
    one=$("$BW" ls -e bench --json | sed -n 's/.*"id": "\([0-9a-f]*\)".*/\1/p' | head -n 1)
    t=$("$M" time -n "$(rounds 15)" -w 2 -- "$BW" report "$one" --- "$BW" report "$sweep" --- sh -c "find mlruns -path '*$one*' -type f -print0 | xargs -0 cat") || exit 1
    mapfile -t r <<<"$t"
    row report "report of one run" "$(calc "$(first "${r[0]}")/1e3")" s '<=0.3' "cat of the run's files $(calc "$(first "${r[2]}")/1e3") s"
    row report "report of a sweep of 25 runs" "$(calc "$(first "${r[1]}")/1e3")" s '<=0.3' "-"
    row report "size of the report of one run" "$(calc "$("$BW" report "$one" | wc -c)/1e3")" KB '<=500' "-"
    row report "size of the report of a sweep of 25 runs" "$(calc "$("$BW" report "$sweep" | wc -c)/1e3")" KB '<=500' "-"
    cd "$work" || exit 2
fi
