#!/bin/bash
# t0314: `benchwrap rules new`: a first rule file from any output. It loads, reads from that output the metrics it names, and none of them is a
# number that does not stand there (in another unit perhaps).
# sanitizer: long, because the fuzzer of the guesses feeds the same code
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
SAMPLES=${BENCHWRAP_SAMPLES:-$ROOT/../shared/samples}
bw() { "$BENCHWRAP" "$@" 2>err; }

cat >stands.py <<'P'
import bisect, json, os, re, sys
units = [1e-12, 1e-9, 1e-6, 1e-3, 1, 60, 1e3, 1e6, 1e9, 1e12, 3600] + [1024.0 ** i / d for i in (1, 2, 3) for d in (1, 1e6, 1048576)] + [10.0 ** i / 1048576 for i in (3, 6, 9)]
def numbers(text):
    found = set()
    for m in re.findall(rb"[-+]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?|[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", text):
        found.add(float(m.replace(b",", b"")))
        found.update(float(part) for part in m.split(b",")) # or cells of a line
    return sorted(found)
def stands(v, printed):
    for u in units:
        x = v / u
        i = bisect.bisect_left(printed, x)
        if any(0 <= k < len(printed) and abs(printed[k] - x) <= 1e-9 * abs(x) for k in (i - 1, i, i + 1)):
            return True
    return v == 0 and 0.0 in printed
for line in sys.stdin:
    kind, least, output, answer = line.rstrip("\n").split("\t")
    if kind != "0":
        print("no", output, "refused, or its rules do not read it", answer)
        continue
    facts = json.load(open(answer))["metrics"]
    printed = numbers(open(output, "rb").read(4 << 20))
    wrong = [m for m in facts if not re.search(r"\.(mean|median|sd|n)$", m["key"]) and not stands(m["value"], printed)]
    n = len({m["key"] for m in facts})
    print("no" if wrong or n < int(least) else "yes", output, n, *["%s=%s" % (m["key"], m["value"]) for m in wrong[:3]])
P

draft() # OUTPUT: rules from it, and in `facts` what they read
{
    rm -f new.yaml
    bw rules new --from "$1" --name x -o new.yaml && bw parse --rules ./new.yaml --json --exit-status 0 "$1" >facts
}
n=0
try() # LEAST OUTPUT: notes what a draft reads, for judge
{
    draft "$2"
    printf '%s\t%s\t%s\t%s\n' $? "$1" "$2" "facts.$((n += 1))" >>tried
    mv facts "facts.$n" 2>/dev/null
}
judge() # one check for each output that was tried: at least so many metrics, all of them printed
{
    "${PYTHON:-python3}" stands.py <tried >judged
    while read -r good output rest; do
        is "${output##*/benchmarks/catalogue/}: ${rest%% *} metrics, all of them printed" "$good" yes
        [ "$good" = yes ] || echo "# $rest"
    done <judged
    is "every output was judged" "$(wc -l <judged)" "$(wc -l <tried)"
    rm -f tried
}

# What a human sees in them: the least number of metrics.
while read -r least sample; do
    if [ -f "$SAMPLES/$sample" ]; then try "$least" "$SAMPLES/$sample"; else skip "$sample" "$SAMPLES/$sample is not there"; fi
done <<'S'
10 packaged/ab/stdout
20 packaged/fio-json/stdout
20 packaged/fio-json+/stdout
20 packaged/fio-terse/stdout
6 packaged/fio-text/stdout
1 packaged/gromacs/stdout
50 packaged/hpcc/stdout
6 packaged/hyperfine/stdout
4 packaged/ioping/stdout
20 packaged/iperf3-json/stdout
2 packaged/iperf3-text/stdout
10 packaged/lammps/stdout
4 packaged/mbw/stdout
14 packaged/redis-benchmark/stdout
6 packaged/openssl-speed-mr/stdout
1 packaged/stress-ng/stderr
2 packaged/stress-ng-yaml/stdout
7 packaged/sysbench-cpu/stdout
6 packaged/sysbench-memory/stdout
7 packaged/wrk/stdout
4 osu/osu-7.4-bw.out
8 stream/stream-tiny-warn.out
20 ior/ior-3.3.0-human-default.out
10 mdtest/mdtest-3.3.0-human-default.out
S
for name in "$ROOT"/benchmarks/catalogue/*/; do # one of each in the tree; all of them where there is time
    k=0
    for sample in "$name"samples/*/stdout; do
        [ -f "$sample" ] && { [ $((k += 1)) -le 1 ] || long_tests; } && try 0 "$sample"
    done
done
judge

cat >one <<'O'
mybench 2.4.1 (release)
Options:
  threads        : 16
  block size     : 4 KiB
Run on node01 at 10:11:12, 2026-11-20, pid: 4711
Throughput: 1,234,567 files, 55.5 MB/s
Latency (us):
   avg: 12.5
   99th percentile: 80
size  time(ms)  rate(MiB/s)
1024  0.5       100.5
2048  0.7       150.25
ERROR: one file was lost
O
bw rules new --from one -o one.yaml -- ./mybench -t16 --size=4k out.dat --fast; is "status" "$?" 0
like "the name is the program's" "$(cat one.yaml)" '^name: "mybench"$'
like "what is an error is a remark to think about" "$(cat one.yaml)" "^  # - \{must_not: '\^ERROR:"
bw parse --rules ./one.yaml one -- ./mybench -t16 --size=4k out.dat --fast >facts
fact() { grep -E "^ +$1 " facts | awk '{print $2}' | head -n 1; }
is "a param" "$(fact threads)" 16
is "a size" "$(fact block_size_B)" 4096
is "a rate in its unit" "$(fact throughput_MB_per_s)" 55.5
is "thousands" "$(fact throughput)" 1234567
is "a time by size" "$(fact time_ms.min)" 0.5
is "unit of the heading" "$(fact latency.avg_us)" 12.5
is "a percentile" "$(fact latency.p99_us)" 80
is "a series by size" "$(grep -c '150.25 MiB_per_s  (step 2048)' facts)" 1
is "the best of it" "$(fact rate_MiB_per_s.max)" 150.25
is "options" "$(fact option.t) $(fact option.size_B) $(fact option.fast)" "16 4096 true"
is "times and process numbers are no metrics" "$(grep -cE ' (10|11|12|2026|4711)( |$)' facts)" 0
like "the version" "$(bw parse --rules ./one.yaml --json one)" '"benchmark.version": ?"2.4.1"'
bw rules new --from one -o one.yaml; is "a file that is there is left as it is: status" "$?" 125
ok "what is written is checked" "$BENCHWRAP" rules check one.yaml
is "a good file without samples is called so" "$(bw rules check one.yaml | head -n 1)" "mybench (one.yaml): no mistakes, no samples to compare"

# A version needs evidence: a name and a number with one dot are a result, or nothing.
of_line() { printf '%s\n' "$1" >one-line; bw rules new --from one-line -- ./prog >one-line.yaml; bw parse --rules ./one-line.yaml --json one-line; }
while IFS='|' read -r line metric; do
    is "\"$line\" has no version" "$(of_line "$line" | jq -r '[(.metrics[] | "\(.key) \(.value)"), .tags["benchmark.version"] // empty] | join(" ")')" "$metric"
done <<'S'
loss 0.3|loss 0.3
elapsed 0.1162 s|elapsed_s 0.1162
runtime 0.1162 s|runtime_s 0.1162
time 1.25 s|time_s 1.25
result 3.5 GB/s|result_MiB_per_s 3337.860107421875
prog 2.4 s|
conversion 0.35 of it|
version 1 took 0.5|
release memory pool 0.5|
host 10.0.0.1|
started 23.11.2026|
recv0.5|
a-0.5|
gcc 12.2|
S
while IFS='|' read -r line version; do
    is "\"$line\" has a version" "$(of_line "$line" | jq -r '.tags["benchmark.version"]')" "$version"
done <<'S'
prog 2.4|2.4
prog-2.4|2.4
tool v1.2|1.2
tool 1.2.3|1.2.3
Tool Version 2.4 of it|2.4
STREAM version $Revision: 5.10 $|5.10
S

# A rate by what is counted: multiples that no table knows have no unit.
printf '%s\n' 'name,threads,max_mbytes_per_sec,kiops,jobs_per_second,gb_per_sec' 'alpha,4,5.5,7.5,8.5,9.5' 'beta,4,6.5,7.6,8.6,9.6' >rates.csv
bw rules new --from rates.csv --name rates -o rates.yaml
is "units of rates" "$(bw parse --rules ./rates.yaml rates.csv | awk '/alpha/ && !/threads/ { print $1 }' | sort | tr '\n' ' ')" \
    "alpha.gb_per_sec alpha.jobs_per_second_op_per_s alpha.kiops alpha.max_mbytes_per_sec_MB_per_s "

# Matrices: each value by its row and column, and none of what stands below another title.
printf '%s\n' 'Checker of memory - v3.9' 'Measuring idle latencies (in ns)...' '		Numa node' 'Numa node	     0	     1	' \
    '       0	  81.3	 140.2	' '       1	 140.5	  82.0	' '' 'To one (GB/s)' '       0      1' ' 0  24.71  24.75' '' \
    'From each (MB/s)' '       0      1' ' 0    N/A  30.25' ' 1  31.25    N/A' 'P2P Latency Matrix (us)' '   GPU     0      1' \
    '     0   1.86  10.62' '     1  10.80   1.97' '' 'Rates (MB/s)' '        read  write' 'node01  100.5  99.25' 'node02  101.5  98.75' >matrices
draft matrices
is "matrices are found" "$(jq -c '.metrics | length' facts)" 16
bw rules new --from matrices --name x -o matrices.yaml
bw parse --rules ./matrices.yaml matrices >facts
is "a value by its row and column" "$(fact measuring_idle_latencies.row1.column0_ns)" 140.5
is "one row is no part of the next matrix" "$(grep -c '  to_one\.row' facts) $(grep -c '  from_each\.row' facts)" "2 2"
is "… and it has the other's values" "$(fact from_each.row0.column1_MB_per_s) $(fact from_each.row1.column0_MB_per_s)" "30.25 31.25"
is "a matrix right below another" "$(fact p2p_latency_matrix.row0.column1_us)" 10.62
is "names in the margin and above" "$(fact rates.node02.write_MB_per_s)" 98.75
sed 's/^ 1  31.25/ 5  31.25/' matrices >matrices-lost # rows got lost
bw parse --rules ./matrices.yaml matrices-lost >facts
is "a matrix that does not go on as it begins has no value" "$(fact from_each.row5.column0_MB_per_s)$(fact from_each.row1.column0_MB_per_s)" ""

# Lines of values that nothing names.
printf '%s\n' '1.02,msec,task-clock,1020000,100.00,0.9,CPUs utilized' '3,,context-switches,1020000,100.00,2.941,K/sec' >terse
bw rules new --from terse --name x -o terse.yaml
bw parse --rules ./terse.yaml terse >facts
is "fields by the word that tells their lines apart" "$(fact task_clock.field_1) $(fact context_switches.field_6)" "1.02 2.941"
printf '%s\n' '"stride=64' '1024 1.408' '2048 1.412' '4096 1.512' >pairs
bw rules new --from pairs --name x -o pairs.yaml
bw parse --rules ./pairs.yaml pairs >facts
is "pairs of numbers are a series" "$(grep -c '1.512   (step 4096)' facts)" 1
printf '%s\n' 'started, 10:11:12, 5, 6' 'one, two, three, 4' '1,234,567,890' '<tr><th>Rate</th><td>5 MB/s</td></tr>' >no-terse
is "sentences, thousands and HTML are no terse output" "$(draft no-terse; jq '.metrics | length' facts)" 0

# Names: of sections in brackets, in camel case with a unit, with numbers that belong to them; of a line that is redrawn what stays.
printf '%s\n' '[OVERALL], RunTime(ms), 80.0' '[READ], Operations, 511' '[READ], AverageLatency(us), 38.5' '[UPDATE], Operations, 489' \
    '[UPDATE], AverageLatency(us), 65.9' 'sha224 rate: 10.5 MB/s' 'sha256 rate: 20.5 MB/s' 'To host, 1 Device(s)' >names
printf 'copied  1%%\rcopied at 12.5 MB/s\n' >>names
bw rules new --from names --name x -o names.yaml
bw parse --rules ./names.yaml names >facts
is "sections in brackets" "$(fact overall.run_time_ms) $(fact read.average_latency_us) $(fact update.average_latency_us)" "80 38.5 65.9"
is "numbers of a name" "$(fact sha224_rate_MB_per_s) $(fact sha256_rate_MB_per_s)" "10.5 20.5"
is "a redrawn line" "$(fact copied_MB_per_s)" 12.5
is "(s) is no unit" "$(grep -c 'device_s' facts)" 0
printf '{"result": {"timeTakenSeconds": 15.5, "MiB": 3.5}}\n' >camel
bw rules new --from camel --name x -o camel.yaml
is "camel case" "$(bw parse --rules ./camel.yaml camel | grep -c '^ *result.time_taken_s  *15.5 s')" 1
printf '%s\n' name,size,bandwidth_MB/s,link_GBps,total_ops,latency_us run1,4096,1234.5,1.5,77,3.25 >one-row.csv
bw rules new --from one-row.csv --name x -o one-row.yaml
bw parse --rules ./one-row.yaml one-row.csv >facts
is "a table of one row, units at the end of its names" \
    "$(fact bandwidth_MB_per_s) $(fact link_MiB_per_s) $(fact total_ops) $(fact latency_us)" "1234.5 1430.511474609375 77 3.25"

# What the generic reader refuses is in no draft: progress, settings, the times of single requests.
for name in dbench h2load redis-cli-latency opus ioping; do draft "$ROOT/tests/generic/$name/stdout"; jq -r '.metrics[].key' facts; done >keys
is "progress and settings are no metrics" "$(grep -E 'progress|running|so_far|vbr|packets|total_client|^time_us' keys)" ""
like "… and results are" "$(cat keys)" throughput_MB_per_s

# Parts with the same lines end where the next begins.
for k in 1 2; do
    printf ' Run %s\n   Write (2 iterations):\n     Maximum rate: %s1.5 MB/s\n   Read (2 iterations):\n     Maximum rate: %s2.5 MB/s\n' $k $k $k
done >parts
bw rules new --from parts --name x -o parts.yaml
bw parse --rules ./parts.yaml parts >facts
is "parts of an output do not mix" "$(awk '/rate_MB_per_s  / { printf "%s ", $2 }' facts)" "11.5 21.5 12.5 22.5 "

for k in $(seq 40); do printf 'Phase %s of it:\n    Rate: %s.5 MB/s\n' "$(printf '%s' "$k" | tr 0-9 a-j)" "$k"; done >phases
bw rules new --from phases --name x -o phases.yaml
is "more parts than rules may have" "$(bw parse --rules ./phases.yaml phases | grep -c '^ *phase_.*rate_MB_per_s  ')" 16

# Multiples: the rules apply them as the generic reader does, or the name keeps them.
printf 'throughput = 1.66 Melem/s\nspeed (krows/s): 2.5\nrate: 3.5 Mfoos/s\n' >multiples
draft multiples
is "multiples are applied or stay in the name" "$(jq -r '.metrics[] | "\(.key) \(.value)"' facts | sort | xargs)" "rate_mfoos_s 3.5 speed_op_per_s 2500 throughput_op_per_s 1660000"
is "… as without rules" "$(bw parse --rules generic --json multiples | jq -c '[.metrics[] | [.key, .value]] | sort')" "$(jq -c '[.metrics[] | [.key, .value]] | sort' facts)"
printf 'throughput = 1660 Kelem/s\nspeed (krows/s): 2.5\nrate: 3.5 Mfoos/s\n' >multiples
is "… and in the next run's unit" "$(bw parse --rules ./new.yaml --json multiples | jq '.metrics[] | select(.key == "throughput_op_per_s").value')" 1660000
echo '{"melem_per_sec": 3.5, "Mrows_per_second": 2.5, "kfoos_per_sec": 1.5, "million_rows_per_second": 2}' >multiples
draft multiples
is "… in JSON" "$(jq -r '.metrics[] | "\(.key) \(.value)"' facts | sort | xargs)" \
    "kfoos_per_sec 1.5 melem_per_sec 3.5 million_rows_per_second_op_per_s 2000000 mrows_per_second_op_per_s 2500000"

# Hostile
: >empty
head -c 300000 /dev/urandom >binary
truncate -s 100M nuls
{ printf '{"a": '; head -c 2000000 /dev/zero | tr '\0' '['; } >deep
yes 'a: 1 b: 2 c=3 {' | head -c 1500000 >many
"${PYTHON:-python3}" -c 'print("x" * 1000000 + ": 5 MB/s"); print("\n".join("k%d: %d.5 MB/s" % (i, i) for i in range(9000)))' >long
printf 'a{b}: 1 MB/s\n"q": 2.5 s\nit'"'"'s: 3 ms\n#: 4 s\n\xff\xfe: 5 s\n\033[31mred: 6 s\033[0m\n' >odd
for f in empty binary nuls deep many long odd; do try 0 "$f"; done
judge
# From a recorded run: its output and its arguments; standard error where standard output is empty.
bw -t tree --rules none -- sh -c 'cat "$1" >&2' sh one >/dev/null
bw rules new --tree tree --from last -o last.yaml; is "--from last: status" "$?" 0
like "… the program is the run's" "$(cat last.yaml)" '^programs: \["sh"\]$'
like "… and the output" "$(bw parse --rules ./last.yaml one)" ' throughput_MB_per_s +55.5 '
id=$(bw ls -t tree --json | "${PYTHON:-python3}" -c 'import json,sys; d=json.load(sys.stdin); print((d if isinstance(d, list) else d["runs"])[0]["id"])')
bw rules new -t tree --from "$id" >by-id.yaml; ok "by the run's id" cmp by-id.yaml last.yaml
bw -t tree -- true >/dev/null
bw rules new -t tree --from last; is "a run without output: status" "$?" 1
like "… says so" "$(cat err)" 'has no output'
bw rules new --from nosuch; is "no such output: status" "$?" 1
bw rules new; is "no output: status" "$?" 125

# What a draft makes of real outputs: METRIC VALUE STEP a line.
drafted() { rm -f drafted.yaml; bw rules new --from "$ROOT/tests/generic/$1/stdout" --name x -o drafted.yaml && bw parse --rules ./drafted.yaml --json --exit-status 0 "$ROOT/tests/generic/$1/stdout" | jq -r '.metrics[] | "\(.key) \(.value) \(.step // "")"'; }
like "a size in each line is the step" "$(drafted netpipe)" '^bandwidth_bit_per_s 2159710000 2048$'
like "... and the time behind a rate has steps, too" "$(drafted netpipe)" '^time_us 7\.23 2048$'
like "statistics behind one name are a metric each" "$(drafted fortio)" '^aggregated_function_time_avg 0\.045620735 0$'
is "the classes of histograms are no results" "$(drafted fortio | grep -cE '0\.0429805|60\.61|range|percentile')" 0
like "the table's own rows count" "$(drafted npb-cg)" '^zeta 9.998644157914 1$'
is "… and no line NAME = VALUE below it" "$(drafted npb-cg | grep -cE '1400|4\.1 |1\.033')" 0
is "a line NAME: VALUE is no row either" "$(drafted povray | grep -c 457)" 0
printf 'rate: 812.5 requests per second\n5000 rows written in 1.25 s, 4000.5 rows per second\n' >spelled
bw rules new --from spelled --name x -o spelled.yaml
is "a rate in words, also behind an amount" "$(bw parse --rules ./spelled.yaml --json spelled | jq -r '.metrics[] | "\(.key)=\(.value)"' | tr '\n' ' ')" "rate_op_per_s=812.5 rate_2_op_per_s=4000.5 "
is "a factor between units is no time" "$(drafted queuelat)" ""

printf 'test     size   rate(MB/s)\ncopy     1024   101.5\ncopy     2048   111.5\nsum      1024   201.5\nsum      2048   211.5\n' >sizes
bw rules new --from sizes -o sizes.yaml -- python3 ./spin.py -n 4 in.dat
like "a script's rules have its name, not the interpreter's" "$(cat sizes.yaml)" '^programs: \["spin\.py"\]$'
is "… and its operands" "$(grep -c 'operand_' sizes.yaml) $(grep -o 'operands: .*\]' sizes.yaml)" "1 operands: [operand_1]"
is "a size behind the name of a test is the step" "$(bw parse --rules ./sizes.yaml --json sizes | jq -r '.metrics[] | select(.key == "sum.rate_MB_per_s") | "\(.step)=\(.value)"' | tr '\n' ' ')" "1024=201.5 2048=211.5 "

# Rules that read nothing of the output judge nothing.
cd "$(mktemp -d)" || exit 1
printf '#!/bin/sh\necho "Result: 12,5 MB/s"\n' >odd; chmod +x odd; ./odd >odd.out
like "no result found: the hint says what to write" "$("$BENCHWRAP" rules new --from odd.out -o odd.yaml 2>&1)" '^hint: write a regex that matches a line with a result, then: benchwrap parse -r odd\.yaml OUTPUT$'
shown=$("$BENCHWRAP" parse --gate -r odd.yaml odd.out 2>&1); status=$?
is "parse: rules that read nothing do not pass the gate" "$status" 3
like "... and have no verdict" "$shown" '^odd \(rules 1\): none: the rules read nothing from the output$'
shown=$("$BENCHWRAP" --gate -r odd.yaml -- ./odd 2>&1 >/dev/null); status=$?
is "nor does a run" "$status" 3
like "... it is said once" "$(printf '%s\n' "$shown" | sed 1d | tr '\n' ' ')" '^benchwrap:   not judged: the rules read nothing from the output benchwrap:   run [0-9a-f]+ in [^ ]*    next: benchwrap show benchwrap: --gate: there is no verdict, as the rules read nothing from the output: exit status 3 $'
like "show does not call it valid" "$("$BENCHWRAP" show)" '^Not judged  the rules read nothing from the output$'
"$BENCHWRAP" check >/dev/null 2>&1
is "... and check reads the same" "$?" 0
cat >done.yaml <<'R'
name: done
version: "1"
readers:
  - {name: rate, regex: '^rate: (?<v>\S+)', metrics: [{name: rate, cell: v, better: higher}]}
checks:
  - {name: sum, must: '^Result: ', reason: "there is no result"}
R
is "what must be in the output, and is, makes it valid" "$("$BENCHWRAP" parse --gate -r done.yaml odd.out >/dev/null 2>&1; echo $?)" 0
done_testing
