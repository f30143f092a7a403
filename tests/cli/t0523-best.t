#!/bin/sh
# The best point of a sweep is one that intervals show, in every form of ls and show; one point's value is never that of the sweep.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >toy <<'P'
#!/bin/sh
n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n >n
case $1 in
close) echo "rate: $((1000 + $2 * 10 + n * 37 % 91)) op/s" ;;
*) echo "rate: $(($2 * 1000 + n % 3)) op/s" ;;
esac
P
chmod +x toy
cat >rules.yaml <<'R'
name: toy
version: "1"
summary: "toy: prints a rate"
programs: [toy]
headlines: [run.wall_s, rate]
readers:
  - {name: rate, regex: '^rate: (?<v>\S+)', metrics: [{name: rate, cell: v, unit: op_per_s, better: higher}]}
R
sweep() { e=$1 r=$2 && shift 2 && "$BENCHWRAP" -q -e "$e" --rules rules.yaml $r --sweep t=1,2,3 -- ./toy "$@" {t} >/dev/null 2>&1; }
sweep once "" apart
is "points of one run each: none is called the best" "$("$BENCHWRAP" show last | grep -c best)" 0
like "... ls has their range" "$("$BENCHWRAP" ls -e once)" 'rate 100[0-2] … 300[0-2] op/s'
sweep close "--repeat 3" close
is "intervals that meet: none is called the best" "$("$BENCHWRAP" show last | grep -c best)" 0
printf '#!/bin/sh\n[ $1 = 2 ] || echo "rate: $1 op/s"\n' >part; chmod +x part
"$BENCHWRAP" -q -e part --sweep t=1,2,3 -- ./part {t} >/dev/null 2>&1
like "a point without the metric is named" "$("$BENCHWRAP" show last)" '^  no value at t=2$'
sweep apart "--repeat 3" apart
like "intervals that are apart: one is" "$("$BENCHWRAP" show last)" '^ *t=3 .* best$'
like "... in ls, with its point" "$("$BENCHWRAP" ls -e apart)" 'rate best 300[0-2] op/s at t=3'
like "... in ls --markdown" "$("$BENCHWRAP" ls --markdown -e apart)" '<code>rate best 300[0-2] op/s at t=3</code> \|$'
is "the last point is not the value of the sweep: CSV" "$("$BENCHWRAP" ls --csv | grep -c ',300[0-2]')" 0
is "... JSON" "$("$BENCHWRAP" ls --json | python3 -c 'import json, sys
print({r["headline_1"] for r in json.load(sys.stdin)})')" "{None}"
"$BENCHWRAP" -q -e repeated --rules rules.yaml --repeat 3 -- ./toy apart 1 >/dev/null 2>&1
like "markdown shows the metric that ls shows" "$("$BENCHWRAP" ls --markdown -e repeated)" '<code>rate 100[0-2] op/s</code> \|$'
like "the hint names the metric of the interval" "$("$BENCHWRAP" -e hint --rules rules.yaml --repeat 3 -- sh -c 'n=$(($(cat k 2>/dev/null || echo 0) + 1)); echo $n >k; ./toy apart $((n + 9))' 2>&1)" 'hint: the mean of rate is known to \+-2[0-9] %'

# show's best and compare's verdict are one decision.
cat >given <<'P'
#!/bin/sh
n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n >n
shift $n; echo "rate: $1 op/s"
P
chmod +x given
agree() # VALUES...: two points of three values each
{
    rm -f n
    "$BENCHWRAP" -q -e "given $*" --rules headline.yaml --repeat 3 --sweep t=1,2 -- ./given {t} "$@" >/dev/null 2>&1
    best=$("$BENCHWRAP" show last | grep -c 'best$')
    verdict=$("$BENCHWRAP" compare -e "given $*" --by t --json | jq -r '.metrics[] | select(.key == "rate_op_per_s").groups[1].verdict')
    echo "$best $verdict"
}
sed 's/^headlines:.*//; s/better: higher/better: higher, headline: max/' rules.yaml | sed 's/\[toy\]/[given]/' >headline.yaml
is "medians apart, means' intervals meet: best and better" "$(agree 100 101 102 103.4 104.8 106)" "1 better"
is "wide apart" "$(agree 100 110 120 150 160 175)" "1 better"
is "the first is the best: worse" "$(agree 150 160 175 100 110 120)" "1 worse"
is "a change that may be chance: neither" "$(agree 100 130 160 170 180 190)" "0 same"
is "two values of each: neither" "$(rm -f n; "$BENCHWRAP" -q -e two --rules headline.yaml --repeat 2 --sweep t=1,2 -- ./given {t} 1 2 30 40 >/dev/null 2>&1; "$BENCHWRAP" show last | grep -c 'best$')" 0

# A reference with one bound has one bound.
printf 'references:\n  - metrics:\n      rate_op_per_s: {value: 5000, lower: -5%%}\n' >low.yaml
printf 'references:\n  - metrics:\n      rate_op_per_s: {max: 500}\n' >high.yaml
ends() { "$BENCHWRAP" -e ends --rules rules.yaml --reference "$1" -- ./toy apart 1 2>&1 && "$BENCHWRAP" show; }
is "a reference with a lower bound: both are printed" "$(ends low.yaml | grep -c 'below, reference 5000, at least 4750$')" 2
is "... a limit alone" "$(ends high.yaml | grep -cE '(above|better), reference at most 500$')" 2

# "pass" says that a value was compared.
like "ls --markdown: an output that is valid is no pass" "$("$BENCHWRAP" ls --markdown -e repeated)" '<code>FINISHED</code>'
csv_verdicts() { "$BENCHWRAP" ls --csv -e "$1" | python3 -c 'import csv, sys; print(*sorted({r["verdict"] for r in csv.DictReader(sys.stdin)}), sep=",")'; }
is "ls --csv: neither" "$(csv_verdicts repeated)" ""
printf 'references:\n  - metrics:\n      rate_op_per_s: {value: 1000, lower: -5%%}\n' >met.yaml
"$BENCHWRAP" -q -e met --rules rules.yaml --reference met.yaml -- ./toy apart 1 >/dev/null 2>&1
like "... a value within its reference is" "$("$BENCHWRAP" ls --markdown -e met)" '<code>pass</code>'
is "... in ls --csv too" "$(csv_verdicts met)" pass
is "... as well as one below it" "$("$BENCHWRAP" -q -e worse --rules rules.yaml --reference low.yaml -- ./toy apart 1 >/dev/null 2>&1; csv_verdicts worse)" fail
done_testing
