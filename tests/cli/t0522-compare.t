#!/bin/sh
# The first lines of compare answer for every headline metric, and name what explains a change: inputs, the program, the machine.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >rules.yaml <<'R'
name: toy
version: "1"
headlines: [rate, wait, failed]
readers:
  - {name: rate, regex: '^rate: (?<v>\S+)', metrics: [{name: rate, cell: v, unit: MB_per_s, better: higher}]}
  - {name: wait, regex: '^wait: (?<v>\S+)', metrics: [{name: wait, cell: v, unit: us, better: lower}]}
  - {name: failed, regex: '^failed: (?<v>\S+)', metrics: [{name: failed, cell: v, better: lower}]}
  - {name: rare, regex: '^rare: (?<v>\S+)', metrics: [{name: rare, cell: v, unit: us, better: lower}]}
R
cat >toy <<'P'
#!/bin/sh
n=$(($(cat n 2>/dev/null || echo 0) % 5 + 1)); echo $n >n
echo "rate: $(($1 * 1000 + n))"
case $n in 1) echo "wait: 10" ;; *) echo "wait: $((n * n * 100))" ;; esac
[ $n = 1 ] && echo "rare: 3"
echo "failed: ${2:-0}"
P
chmod +x toy
record() { "$BENCHWRAP" -q -e toy --repeat 5 --rules rules.yaml -- ./toy "$@" >/dev/null 2>&1; }
compared() { "$BENCHWRAP" compare "$@" last~1 last 2>&1; }
answer() { compared | sed -n '/^B against A/,/^[A-Z]/p' | tr -s '\n ' ' '; }
record 1
record 1
like "five values a side: nothing changed is no difference" "$(answer)" '^B against A: no difference found in failed, rate\. wait varies too much to tell\. '
is "... a metric that few runs have does not decide" "$(compared --all | grep -c 'cannot tell a change')" 0
like "... the table does not call a wide interval no difference" "$(compared)" '^wait .* too varied$'
like "... the same zeros are" "$(compared)" '^failed .* no difference$'
like "... the bound is stated" "$(compared | tr -s '\n ' ' ')" '"too varied": the interval contains 0 % and reaches below -20 % or above \+25 %'
is "a program that did not change is not named" "$(compared | grep -c 'program')" 0
is "--all: observations of the machine get no verdict" "$(compared --all | grep -E '^(run\.(max_rss|user|system)|load|pressure|host|series)' | grep -cE '(different|uncertain|no difference|too few|too varied)$')" 0
is "... in JSON neither" "$(compared --all --json | jq -r '.metrics[] | select(.key | startswith("run.max_rss")) | .groups[1].verdict' | sort -u)" "null"
echo "# edited" >>toy
record 3
like "a change is followed by what did not change" "$(answer)" '^B against A: rate is (19[5-9]|20[0-4]) % higher \(95 %: .*\)\. No difference found in failed\. wait varies too much'
like "a program that was edited is named" "$(compared)" '^The program differs: program\.sha256 \([0-9a-f]{12}, [0-9a-f]{12}\)\.$'
is "... in JSON too" "$(compared --json | python3 -c 'import json, sys
print([(k, len(set(v))) for k, v in json.load(sys.stdin)["program"].items()])')" "[('program.sha256', 2)]"
echo 'print("rate: 1 MB/s")' >toy.py
python() { "$BENCHWRAP" -q -e script -- python3 toy.py >/dev/null 2>&1; }
python
echo "# edited" >>toy.py
python
like "... a script of an interpreter by its own digest" "$(compared)" '^The program differs: program\.script_sha256 \('
like "... it is no other input" "$(compared)" '^A and B have the same inputs\.$'
record 3
record 3 7
like "what was zero and is not has no ratio, and is said" "$(answer)" '^B against A: failed is 7, compared with 0 in the base \(no ratio\)\. No difference found in rate'

# A run without a value is not in the median: that of the others is called theirs.
for value in NaN 1 2 3 4 0 1 2 2 3; do "$BENCHWRAP" -q -e holes -- "$BENCHWRAP" log "m=$value" >/dev/null 2>&1; done
holes() { "$BENCHWRAP" compare "$@" 2>&1; }
like "a run without a value is named" "$(holes last~5,last~6,last~7,last~8,last~9 vs last~0,last~1,last~2,last~3,last~4)" '^! Not all runs have a value: m in 4 of 5 runs of A\.$'
is "... where all have one there is no such line" "$(holes last~1,last~2,last~3 vs last~5,last~6,last~7 | grep -c 'Not all')" 0
like "a zero among positive values leaves the ratio of the medians, without an interval" "$(holes last~5,last~6,last~7 vs last~4,last~3,last~2,last~1,last~0 | tr -s '\n ' ' ')" 'm is 2, compared with 3 in the base \(no interval: not all values are positive\)\.'
cat >percentile.yaml <<'Y'
name: percentile
version: "1"
readers:
  - {name: p, regex: '^p99 (?<v>\S+) of (?<n>\S+)', params: [{param: n, cell: n}], metrics: [{name: lat, stat: p99, cell: v, unit: us, better: lower, values: n}]}
Y
for n in 10 1000; do "$BENCHWRAP" -q -e percentile -r ./percentile.yaml -- echo "p99 3 of $n" >/dev/null 2>&1; done
like "a metric that one group lacks: the reason, and the row says so" "$(holes last~1 vs last | tr -s '\n ' ' ')" '! lat\.p99 is missing in A: p99 of 10 values, 662 needed\. .* lat\.p99 us - 3 missing '

# What compare prints of the command line is a key for --by; a name that one run has is a name for it.
"$BENCHWRAP" -q -e args -n before --repeat 3 -- ./toy 1 >/dev/null 2>&1
"$BENCHWRAP" -q -e args -n after --repeat 3 -- ./toy 2 >/dev/null 2>&1
like "--by takes an argument that compare has named" "$("$BENCHWRAP" compare --by argument.1 -e args 2>&1)" '^A  argument\.1=1 +3 runs of args'
like "... it is among the keys that a wrong one brings up" "$("$BENCHWRAP" compare --by nonsense -e args 2>&1)" 'keys that differ: argument\.1$'
like "... program is a key too" "$("$BENCHWRAP" compare --by program -e args 2>&1)" '--by program: expected two groups, got 1 of 6 runs'
"$BENCHWRAP" compare before after >named 2>notes
# A user types the option of the program; the rules record it under a name with its unit.
{ cat rules.yaml; printf 'arguments:\n  options:\n    - {flags: [--bs], param: block_size_B, type: size}\n'; } >sized.yaml
for bs in 4k 64k; do "$BENCHWRAP" -q -e sized --repeat 3 --rules sized.yaml -- ./toy 1 --bs "$bs" >/dev/null 2>&1; done
like "--by takes the program's own option" "$("$BENCHWRAP" compare --by bs -e sized 2>&1)" '^A  block_size_B=4096 +3 runs of sized'
like "... with its dashes, too" "$("$BENCHWRAP" compare --by=--bs -e sized 2>&1)" '^benchwrap: --by --bs: recorded as block_size_B$'
is "... a name that the rules record unchanged is not translated" "$("$BENCHWRAP" compare --by block_size_B -e args 2>&1 | grep -c 'recorded as')" 0
is "... report and plot take it" "$("$BENCHWRAP" report --format markdown --by bs -e sized 2>&1 | grep -c 'recorded as block_size_B') $("$BENCHWRAP" plot -e sized --over bs 2>&1 | grep -c 'recorded as block_size_B')" "1 1"
like "... report takes it for the total work" "$("$BENCHWRAP" report --format markdown --work bs -e sized 2>&1)" '^benchwrap: --work bs: recorded as block_size_B$'
"$BENCHWRAP" -q -e swept --rules sized.yaml --repeat 2 --sweep bs=4k,8k -- ./toy 1 --bs {bs} >/dev/null 2>&1
is "a sweep over it stays the axis of a plot" "$("$BENCHWRAP" plot last 2>&1 | sed -n 1p), $("$BENCHWRAP" plot --over bs last 2>&1 | sed -n 1p)" "rate over bs, rate over bs"
like "... a history has no median over its points" "$("$BENCHWRAP" plot history -e swept -m run.wall_s 2>&1 | tr '\n' ' ')" 'no values 1 left out: 1 without run\.wall'
like "names of one run each are its operands" "$(cat named)" '^A  [0-9a-f]{8}  before +1 run of args, 3 repetitions +base$'
like "... and which runs they are is printed" "$(cat notes)" '^benchwrap: the run named "before" is [0-9a-f]{8}$'
like "a run that is compared with itself is said" "$("$BENCHWRAP" compare last last 2>&1)" '^benchwrap: compare: the run [0-9a-f]{8} is both in A and in B$'

# Programs without metrics have their wall time, and the first line answers for it.
until_answer() # PATTERN COMMAND…: of the last of runs, which are repeated where a busy machine made others of them
{
    pattern=$1
    shift
    for try in 1 2 3 4 5 6; do
        "$@"
        ! answer | grep -Eq "$pattern" || break
    done
    answer
}
bare() { for seconds in "$@"; do "$BENCHWRAP" -q -e bare --repeat 3 -- sleep "$seconds"; done; }
like "without metrics the answer is for the wall time" "$(until_answer '^B against A: run\.wall is [12][0-9][0-9] %' bare 0.1 0.3)" '^B against A: run\.wall is [12][0-9][0-9] % higher \(95 %: [^)]* %\)\. (! Disturbed [^.]*\. )?Inputs'
like "... also where it is the same" "$(until_answer 'no difference|% (high|low)er' bare 0.3)" '^B against A: (no difference found in run\.wall|run\.wall varies too much to tell|run\.wall is [0-9.]+ % (high|low)er \(95 %: [^)]*\))\. (! Disturbed [^.]*\. )?A and B'
different() { bare 0.3; "$BENCHWRAP" -q -e bare --repeat 3 -- true; }
like "of other programs that is said behind it" "$(until_answer 'run\.wall is [89][0-9.]+ % lower' different)" '^B against A: run\.wall is [89][0-9.]+ % lower \(95 %: [^)]*\)\. (! Disturbed [^.]*\. )?The runs share no metric but their wall time; they are of different programs \(sleep, true\)\.'
"$BENCHWRAP" -q -e bare -- true; "$BENCHWRAP" -q -e bare -- sleep 0.1
like "one run on each side: so too" "$(compared | tr -s '\n ' ' ')" 'One run on each side cannot tell a change from chance\. The runs share no metric but their wall time; they are of'

# A version is one text, with its commas, and long ones differ at their end.
version() { "$BENCHWRAP" -q -e version --tag "benchmark.version=$1" -- true; }
version 'clang 17, gcc 13'; version 'clang 17, gcc 13'
is "the same version with a comma does not differ" "$(compared | grep -c '^The program differs')" 0
version '4.1.0-release-1'; version '4.1.0-release-2'
like "a version that differs at its end is shown up to there" "$(compared)" '^The program differs: benchmark\.version \(4\.1\.0-release-1, 4\.1\.0-release-2\)\.$'

# Where no metric has the same name on both sides, the answer says what each side has, not how long they took.
cat >cipher <<'P'
#!/bin/sh
echo "$1.bw: $2 MB/s"
[ -z "$3" ] || echo "$1.bulk: $3 MB/s"
P
chmod +x cipher
ciphers() { for name in cbc gcm; do "$BENCHWRAP" -q -e ciphers --repeat 3 -- ./cipher $name "$@" >/dev/null 2>&1; done; }
ciphers 1087
like "names that differ: the answer has the value of each side" "$(answer)" '^B against A: the runs share no metric: the names differ\. A has cbc_bw 1087 MB/s, B has gcm_bw 1087 MB/s\. '
is "... and nothing about the time that they took" "$(answer | grep -c 'run\.wall')" 0
"$BENCHWRAP" -q -e ciphers -- ./cipher cbc 1 2 >/dev/null 2>&1
"$BENCHWRAP" -q -e ciphers -- sleep 0 >/dev/null 2>&1
like "... one run on each side, and one of them without a metric" "$(answer)" '^B against A: the runs share no metric; they are of different programs \(cipher, sleep\)\. A has cbc_bulk 2 MB/s, cbc_bw 1 MB/s, B has none\. '
many() { "$BENCHWRAP" -q -e many -- "$BENCHWRAP" log "$1a=1" "$1b=2" "$1c=3" "$1d=4" >/dev/null 2>&1; }
many x; many y
like "... of many metrics the first" "$(answer)" 'A has xa 1, xb 2, xc 3 and 1 more, B has ya 1, yb 2, yc 3 and 1 more\. '
for way in read write; do
    printf 'name: way\nversion: "1"\nheadlines: [%s]\nreaders:\n  - {name: r, regex: "^(?<v>[0-9]+) (?<t>[0-9]+)", metrics: [{name: %s, cell: v, unit: MB_per_s, better: higher}, {name: t, cell: t, unit: s, better: lower}]}\n' $way $way >$way.yaml
    "$BENCHWRAP" -q -e way --repeat 3 -r ./$way.yaml -- echo 5 6 >/dev/null 2>&1
done
like "... and where only minor metrics are common" "$(answer)" '^B against A: the runs share no headline metric\. A has read 5 MB/s, B has write 5 MB/s\. '

# Why there are no metrics is one clause here, and show has the rest; a reason in brackets stays complete.
mute() { "$BENCHWRAP" -q -e mute -- sh -c "printf '$1'" >/dev/null 2>&1; "$BENCHWRAP" -q -e mute -- sh -c "printf '$1'" >/dev/null 2>&1; }
mute 'x\ny z\n'
like "compare has one clause of why there are no metrics" "$(compared)" '^! no metrics: 2 lines read; why: benchwrap show [0-9a-f]{8} --all$'
mute 'rate: 1 MB/s\nrate: 2 MB/s\n'
like "... which is complete" "$(compared)" '^! no metrics: rate has 2 different values \(1, 2 MB/s\); why: benchwrap show [0-9a-f]{8} --all$'
done_testing
