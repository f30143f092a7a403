#!/bin/bash
# The comparison key: what was measured and the system; other inputs get no verdict unless the user names them; a version is a change in the history.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
get() { python3 -c 'import json, sys
v = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1"; }
cat >rules.yaml <<'Y'
name: x
version: "1"
readers:
  - {name: speed, regex: '^speed: (?<v>\S+)', metrics: [{name: speed, cell: v, unit: MB_per_s, better: higher, headline: median}]}
Y
bw() { "$BENCHWRAP" "$@" 2>err; }
run() { # SPEED OPTION…
    echo "speed: $1" >output; shift
    "$BENCHWRAP" -q -e h -r ./rules.yaml "$@" -- cat output >/dev/null 2>>err
}
for i in 1 2 3; do run "10$i" -p size=1 --tag site=a --tag cluster=x; done
for i in 1 2 3; do run "20$i" -p size=1 --tag site=b --tag cluster=x; done
for i in 1 2 3; do run "30$i" -p size=2 --tag site=b --tag cluster=x; done

bw compare --by site -e h --filter "params.size = '1'" >out
like "two sites: one measurement, and the system that differs" "$(tr -s '\n ' ' ' <out)" 'Except for site the inputs are the same\. Hardware and settings'
is "... without keys, which mean nothing to a reader" "$(grep -c '(key ' out)" 0
like "... --all has them" "$(bw compare --all --by site -e h --filter "params.size = '1'" | tr -s '\n ' ' ')" 'Except for site the inputs are the same \(key [0-9a-f]{10}\)\. System: the same \(key [0-9a-f]{10}: cluster x[^)]*\)\.'
like "... judged" "$(cat out)" '^speed .* better$'
bw compare --by site -e h >out
like "other inputs: named, with the values of each group" "$(tr -s '\n ' ' ' <out)" 'Except for site the inputs differ in size: no verdict there\.'
like "... and no verdict" "$(cat out)" '^speed .* other inputs$'
like "... with what to do" "$(tr -s '\n ' ' ' <out)" 'hint: --ignore size judges although it differs\.'
like "--ignore names it" "$(bw compare --by site -e h --ignore size)" '^speed .* better$'
like "... which the key states" "$(bw compare --by site -e h --ignore size | tr -s '\n ' ' ')" 'Except for site, size the inputs are the same\.'
is "--by names it" "$(bw compare --by size -e h --filter "tags.site = 'b'" --json | get '[m["groups"][1]["verdict"] for m in v["metrics"] if m["key"] == "speed_MB_per_s"]')" "['better']"
bw compare --by site -e h --json >cmp.json
is "no line begins with the bare word Key" "$(bw compare --by site -e h | grep -c '^Key')" 0
is "JSON: what differs, and the verdict" "$(get '(v["keys"]["differing"]["measured"], [m["groups"][1]["verdict"] for m in v["metrics"] if m["key"] == "speed_MB_per_s"])' <cmp.json)" "(['size'], ['other inputs'])"
is "... and the facts of each group's key" "$(get '[g["key"]["measured"]["facts"]["benchmark"] for g in v["keys"]["groups"]]' <cmp.json)" "['x', 'x']"
ids() { bw compare "$1" "$2" --json | get '[g["key"]["measured"]["id"] for g in v["keys"]["groups"]]' | tr -d "[]',"; }
is "the same measurement has one id" "$(ids last last~1 | tr ' ' '\n' | sort -u | wc -l)" 1
is "another one has another" "$(ids last last~5 | tr ' ' '\n' | sort -u | wc -l)" 2

# History: both parts, and the version as a change.
version() { "$BENCHWRAP" -q -e h -r ./rules.yaml --tag site=b --tag cluster=x --tag "benchmark.version=$1" -p size=2 -- cat output >/dev/null 2>>err; }
version 1.0; version 1.0; version 2.0
bw compare --history >out
like "the key of a history" "$(tr -s '\n ' ' ' <out)" 'Measurement: .*benchmark x.*\. System: cluster x.*site b\.'
like "a new version is a change in it" "$(tr -s '\n ' ' ' <out)" 'The version of the benchmark changed: 1\.0 to 2\.0 with run [0-9a-f]{8}\.'
is "... and starts no new one" "$(bw compare --history --json | get '(len(v["history"]), [(c["from"], c["to"]) for c in v["versions"]])')" "(5, [('1.0', '2.0')])"
run 300 -p size=2 --tag site=c --tag cluster=x
is "another system is another history" "$(bw compare --history --json | get 'len(v["history"])')" 0
run 300 -p size=2 --tag site=b --tag cluster=x --tag $'note=\033[31m' -p "$(printf 'odd=\033[31m\342\200\256x')"
is "foreign text in a key is harmless" "$(bw compare last last~2 | LC_ALL=C tr -d '\n[:print:]\342\200\246' | wc -c)" 0
printf 1 >"mlruns/$(bw show last --json | get 'v["path"].split("mlruns/")[1]')/params/$(printf 'a\033[31m\342\200\256z')"
for command in show "show --all" "compare last~1" "report --format markdown" "compare --history"; do
    is "... $command: a foreign name of a key, too" "$("$BENCHWRAP" $command last 2>/dev/null | LC_ALL=C grep -c "$(printf '\033\|\342\200\256')")" 0
done
"$BENCHWRAP" -q -e sw --sweep n=1,2 --repeat 3 -- sh -c 'echo "rate: {n}00 op/s"' >/dev/null 2>&1
points() { bw ls -e sw --children --json --filter "params.n = '$1'" | get '",".join(r["id"] for r in v)'; }
bw compare "$(points 1)" vs "$(points 2)" >out
like "points of one sweep: who sweeps a param has named it" "$(tr -s '\n ' ' ' <out)" 'Inputs that differ: n\. .*Except for n the inputs are the same\.'
is "... judged" "$(grep -c 'other inputs' out)" 0
"$BENCHWRAP" -q -e again --sweep n=1,2 -- sh -c '"$0" log --param count={n}; echo "rate: {n}00 op/s"' "$BENCHWRAP" >/dev/null 2>&1
like "a param that repeats the swept one: each is named once" "$(bw compare --by count -e again | tr -s '\n ' ' ')" 'Except for n, count the inputs are the same\.'

# Records of one metric that disagree on its unit, or on what is better: nothing is converted, and no side is the better one.
mkdir disagree && cd disagree || exit 1
"$BENCHWRAP" -q -e d -- true
python3 - >specs <<'P'
import json
for i in range(12):
    a = i % 2 == 0
    print(json.dumps({"metrics": {"bw": 105 + i if a else .1 + i / 1000, "score": 10 + 10 * a + i / 10}, "tags": {"site": "ab"[not a], "benchwrap.headline": "bw score"},
                      "details": {"bw": {"unit": "MB_per_s" if a else "GB_per_s", "direction": "higher"}, "score": {"unit": "", "direction": "higher" if a else "lower"}}}))
P
"$TESTLIB/make_history.py" --remove "$(dirname mlruns/*/*/meta.yaml)" <specs >/dev/null
bw compare -e d --by site --json >cmp.json
is "another unit: no value" "$(get '[g["n"] for m in v["metrics"] if m["key"] == "bw" for g in m["groups"]]' <cmp.json)" "[6, 0]"
is "another direction: no better side" "$(get '[m["groups"][1]["verdict"] for m in v["metrics"] if m["key"] == "score"]' <cmp.json)" "['different']"
is "... which JSON counts" "$(get '[g.get("other_units") for m in v["metrics"] if m["key"] == "bw" for g in m["groups"]]' <cmp.json)" "[None, 6]"
bw compare -e d --by site >out
like "... and the text says why" "$(tr -s '\n ' ' ' <out)" '! bw is in GB/s in 6 of 6 runs of B, not in MB/s: nothing is converted, and these values are left out\.'
like "... and that no side is better" "$(tr -s '\n ' ' ' <out)" '! The runs disagree on the better direction of score: no side is better\.'
bw plot groups -e d --by site -m bw >out; like "a plot counts it" "$(cat out)" '^6 left out: 6 with bw in another unit'
bw plot groups -e d --by site -m score >out; is "... and names no better side" "$(grep -c 'is better' out)" 0
"$BENCHWRAP" pages -o pages >/dev/null
is "leaderboards of web pages have one unit, and no rank without a direction" "$(jq -c '.versions[0].metrics[] | select(.key == "bw" or .key == "score") | [.key, .unit, [.places[].rank], [.places[].runs]]' pages/measurement/*.json | sort)" '["bw","GB_per_s",[1,null],[6,0]]
["bw","MB_per_s",[1,null],[6,0]]
["score","",[null,null],[6,6]]'

# A history in two units with two directions; the newest runs know no direction of quiet, one no unit.
mkdir ../units && cd ../units || exit 1
"$BENCHWRAP" -q -e d -- true
python3 - >specs <<'P'
import json
for i in range(26):
    a = i < 12
    d = {"bw": {"unit": "MB_per_s" if a else "GB_per_s", "direction": "higher"}, "score": {"unit": "", "direction": "higher" if a else "lower"},
         "quiet": {"unit": "s" if i != 24 else "", "direction": "lower" if i < 24 else ""}}
    print(json.dumps({"metrics": {"bw": 105 + i % 3 if a else .1 + i % 3 / 1000, "score": 10 + 10 * a + i % 3 / 10, "quiet": 5 + i % 3 / 10 + 5 * a},
                      "tags": {"benchwrap.headline": "bw score", "half": "ab"[not a]}, "details": d}))
P
"$TESTLIB/make_history.py" --remove "$(dirname mlruns/*/*/meta.yaml)" <specs >ids
first=$(sed -n 1p ids) last=$(sed -n 26p ids)
bw history -e d --json >history.json
metric() { jq -c "[.groups[0].metrics[] | select(.key == \"$1\") | $2]" history.json; }
is "history: each unit is a series" "$(metric bw '[.unit, .n, (.changes | length)]')" '[["GB_per_s",14,0],["MB_per_s",12,0]]'
is "... a run that knows no unit belongs to the others" "$(metric quiet '[.unit, .n, .direction]')" '[["s",26,"lower"]]'
is "... which give the direction, too" "$(metric quiet '.changes[].verdict')" '["improvement"]'
is "... and where they disagree there is none" "$(metric score '[.direction, .changes[].verdict]')" '[[null,"different"]]'
bw history -e d >out
like "... the text says it of units" "$(tr -s '\n ' ' ' <out)" '! bw is in several units: GB/s \(14 values\), MB/s \(12 values\)\. Each unit has its own history\.'
like "... and of directions" "$(tr -s '\n ' ' ' <out)" '! The runs disagree on the better direction of score: no change of it is a regression or an improvement\.'
bw history -e d --gate >out; is "... so that the gate stays open" "$?" 0
bw plot -e d -m quiet >out
like "plot: a direction that the newest run does not know" "$(cat out)" '^quiet, s \(lower is better\)'
is "... with all values" "$(grep -c 'left out' out)" 0
bw plot -e d -m bw >out; like "... and another unit is no missing value" "$(cat out)" '^12 left out: 12 with bw in another unit \(MB/s\)'
like "compare: the direction that others know" "$(bw compare -e d --by half --json | jq -c '[.metrics[] | select(.key == "quiet") | .direction, .groups[1].verdict]')" '\["lower","better"\]'
like "compare --history: values in another unit are named" "$(bw compare --history | tr -s '\n ' ' ')" '! bw is in MB/s in [0-9]+ of [0-9]+ earlier runs, not in GB/s: nothing is converted'
"$BENCHWRAP" explain -m bw "$first" "$last" >out 2>&1
is "explain refuses two units" "$? $(cat out)" '1 benchwrap: explain: the runs have the metric "bw" in different units: A in MB_per_s, B in GB_per_s'
bw reference -e d --last 26 --all >out
like "reference: values in another unit are counted" "$(cat out)" '"bw": \{value: 0\.101 GB_per_s, .*; 12 runs in another unit are left out$'
like "... and no band without a direction" "$(cat out)" 'left out: score: the runs disagree on its better direction'
bw report -e d -o d.html
is "report: best and medians are of one unit" "$(grep -o 'best 10[567]' d.html)" ""
like "... and it counts the others" "$(cat d.html)" '12 runs of 26 have bw in another unit than GB/s: nothing is converted'
bw pages -o pages >/dev/null
is "pages: each unit has its own board" "$(jq -c '.versions[0].metrics[] | select(.key == "bw") | [.unit, .places[0].runs]' pages/measurement/*.json | sort)" '["GB_per_s",14]
["MB_per_s",12]'

# More values in another unit than are named.
mkdir ../many && cd ../many || exit 1
"$BENCHWRAP" -q -e d -- true
python3 - >specs <<'P'
import json
for i in range(12):
    a = i % 2 == 0
    print(json.dumps({"metrics": {"bw%d" % k: 100 + i for k in range(11)}, "tags": {"site": "ab"[not a]},
                      "details": {"bw%d" % k: {"unit": "MB_per_s" if a else "GB_per_s", "direction": "higher"} for k in range(11)}}))
P
"$TESTLIB/make_history.py" --remove "$(dirname mlruns/*/*/meta.yaml)" <specs >/dev/null
bw compare -e d --by site | tr -s '\n ' ' ' >out
is "of eleven values in another unit eight are named, and the others counted" "$(grep -o 'nothing is converted' out | wc -l) $(grep -o '! [0-9]* more values are in another unit' out)" "8 ! 3 more values are in another unit"
python3 -c 'import json, sys
for line in sys.stdin:
    run = json.loads(line)
    for part in "metrics", "details":
        del run[part]["bw9"], run[part]["bw10"]
    print(json.dumps(run))' <specs >nine
rm -rf mlruns && "$BENCHWRAP" -q -e d -- true
"$TESTLIB/make_history.py" --remove "$(dirname mlruns/*/*/meta.yaml)" <nine >/dev/null
like "... a ninth one is one value" "$(bw compare -e d --by site | tr -s '\n ' ' ')" '! 1 more value is in another unit\.'
sed -i 's/"site": "[ab]"/"site": "a"/' specs && rm -rf mlruns && "$BENCHWRAP" -q -e d -- true
"$TESTLIB/make_history.py" --remove "$(dirname mlruns/*/*/meta.yaml)" <specs >/dev/null
bw compare --history -e d | tr -s '\n ' ' ' >out
is "... six next to a history" "$(grep -o 'nothing is converted' out | wc -l) $(grep -o '! [0-9]* more values are in another unit' out)" "6 ! 16 more values are in another unit"
done_testing
