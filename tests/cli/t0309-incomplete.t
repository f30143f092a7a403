#!/bin/bash
# t0309: a stored output that ends before the program's last mandatory line is incomplete: verdict fail, with the reason, also without an exit status.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
samples=$ROOT/benchmarks/catalogue
verdict() { "$BENCHWRAP" parse --rules "$1" "$2" | head -n 1; }

# ENTRY CASE LINE: the output up to the first line with this text.
while read -r entry case line; do
    whole=$samples/$entry/samples/$case/stdout
    like "$entry: the whole output passes" "$(verdict "$entry" "$whole")" ': pass'
    sed "/$line/,\$d" "$whole" >cut
    like "… and fails when it ends before \"$line\"" "$(verdict "$entry" cut)" ': fail: .*incomplete'
    is "… also with --gate" "$("$BENCHWRAP" parse --gate --rules "$entry" cut >/dev/null 2>&1; echo $?)" 3
done <<'S'
ior 3.0.1-human-reps3-fpp Summary of all tests:
ior 3.1.0-human-script Summary of all tests:
ior 3.2.1-human-reps3-fpp Summary of all tests:
ior 4.0.0-human-reps3-fpp Summary of all tests:
ior 2.10.3-human-reps3-fpp Run finished:
ab keep-alive Transfer rate:
ab plain 100%
hyperfine N-prepare Range (min
fio human-bits Run status group
graph500 made-2.1.4 stddev_validate:
sysbench cpu execution time (avg
wrk plain Transfer\/sec:
pgbench multi latency stddev = 0.897
pgbench multi 1872 transactions
pgbench multi latency average = 0.275
pgbench r END;
iozone auto-direct "256"    41.46
iozone auto-direct "128"     2.76
reframe console Finished on
S

# The second of two outputs in one file has its own end.
for case in ab/plain:Transfer.rate: wrk/plain:Transfer.sec: sysbench/cpu:execution.time; do
    whole=$samples/${case%%/*}/samples/$(basename "${case%%:*}")/stdout
    { cat "$whole"; sed "/${case#*:}/,\$d" "$whole"; } >cut
    like "${case%%/*}: the second output of a file is incomplete" "$(verdict "${case%%/*}" cut)" ': fail: .*incomplete'
done

# A program prints a document or a table: of both in one output the document counted, and the other run was lost without a word.
for case in google-benchmark/json/console llmload/json/text taskrate/local-json/local-text fio/json/normal fio/terse/json \
    fio/terse/normal k6/json/microseconds; do
    cat "$samples/${case%%/*}/samples/$(basename "${case%/*}")/stdout" "$samples/${case%%/*}/samples/${case##*/}/stdout" >two
    like "${case%%/*}: a document and a table are two runs" "$(verdict "${case%%/*}" two)" ': fail: .*the outputs of two runs'
done

nv=$samples/nvbandwidth/samples/made-0.8/stdout
sed '/^NOTE: The reported/,$d' "$nv" >cut
like "nvbandwidth: the last note is missing" "$(verdict nvbandwidth cut)" ': fail: .*did not come to its end'
json=$samples/iperf3/samples/bidir-json/stdout
head -n "$(($(wc -l <"$json") - 1))" "$json" >cut
like "a JSON document with results that has no end" "$(verdict iperf3 cut)" ': fail: .*within a JSON document'

# The last line of a stored output counts without a newline, unless it ends in a number that could have more digits.
printf 'speed: 5.5 MB/s\nBandwidth: 12.5 MB/s' >no-newline
like "a last line without a newline counts" "$("$BENCHWRAP" parse --rules generic no-newline)" 'bandwidth_MB_per_s +12.5 '
printf 'speed: 5.5 MB/s\nScore: 471' >cut-number
is "a number at the very end could be cut" "$("$BENCHWRAP" parse --rules generic cut-number | grep -c ' score ')" 0
like "… with exit status 0 it is complete" "$("$BENCHWRAP" parse --rules generic --exit-status 0 cut-number)" ' score +471'
# Rows with digits in groups: neither fewer rows nor parts of numbers.
while read -r entry case; do
    for group in ' ' "'" "$(printf '\342\200\257')" "$(printf '\302\240')"; do
        sed -E "s/(^|[^0-9.])([1-9][0-9]{0,2})([0-9]{3})\.([0-9])/\1\2$group\3.\4/g" "$samples/$entry/samples/$case/stdout" >grouped
        like "$entry: digits in groups by \"$group\" fail" "$(verdict "$entry" grouped)" ': fail: .*(digits in groups|is missing)'
    done
done <<'S'
nccl-tests superbench-allreduce
imb 2021.11-check
k6 json
jmh json
osu 7.4-bibw
ior main-human-reps3-fpp
hyperfine made-v2-counters-json
S
# A number printed with a decimal comma tears a JSON document: the digits behind it are lost.
while read -r entry case; do
    sed 's/\([0-9]\)\.\([0-9]\)/\1,\2/g' "$samples/$entry/samples/$case/stdout" >comma
    like "$entry: JSON with decimal commas fails" "$(verdict "$entry" comma)" ': fail'
done <<'S'
iperf3 bidir-json
k6 json
jmh json
google-benchmark json
S
done_testing
