#!/bin/bash
# compare --history: which earlier runs count, what is claimed, the gate.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
mkdir -p "$WORK/w" && cd "$WORK/w" || exit 1
get() { python3 -c 'import json, sys
v = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1"; }
cat >rules.yaml <<'Y'
name: x
version: "1"
readers:
  - {name: speed, regex: '^speed: (?<v>\S+)', metrics: [{name: speed, cell: v, unit: MB_per_s, better: higher}]}
  - {name: delay, regex: '^delay: (?<v>\S+)', metrics: [{name: delay, cell: v, unit: ms, better: lower}]}
  - {name: kind, regex: '^kind: (?<v>\S+)', params: [{param: kind, cell: v}]}
Y
bw() { "$BENCHWRAP" -q -e h -r ./rules.yaml "$@" >/dev/null 2>>"$WORK/err" || echo "run failed: $(tail -n 3 "$WORK/err")"; }
# shellcheck disable=SC2059
output() { printf "$@" >output; bw -- cat output; } # one command line for all
measure() { output 'speed: %s\ndelay: %s\nkind: %s\n' "$@"; }
history() { "$BENCHWRAP" compare --history "$@" 2>"$WORK/err"; }
verdicts() { history --json "$@" | get '{m["key"].split("_")[0]: m["verdict"] for m in v["metrics"]}'; }

for v in 100 101 99 100.5; do measure $v 10 a; done
measure 50 10 a
is "four earlier runs are too few" "$(history --json | get '[(m["n"], m["verdict"]) for m in v["metrics"] if m["key"] == "speed_MB_per_s"]')" "[(4, 'too few')]"
like "which is said" "$(history)" '^Too few: 4 earlier runs with the same inputs, 5 are needed\.'
is "and opens the gate" "$(history --gate >/dev/null; echo $?)" 0
rm -r mlruns .benchwrap
for v in 100 101 99 100.5 99.5 102 98 100; do measure $v "1$((${v%.*} % 10))" a; done

measure 100.2 14 a
is "nothing has changed" "$(verdicts | sed "s/'run.wall': '[a-z ]*', //")" "{'delay': 'no change', 'speed': 'no change'}" # how long it took is the machine's
is "the gate is open" "$(history --gate >/dev/null; echo $?)" 0
measure 90 14 a
is "a tenth slower" "$(history --json | get '[(m["verdict"], m["n"], round(m["change"], 3), m["value"]) for m in v["metrics"] if m["key"] == "speed_MB_per_s"]')" "[('regression', 9, -0.1, 90)]"
is "closes the gate" "$(history --gate >/dev/null; echo $?)" 3
is "an effect too small to matter does not" "$(history --gate --min-effect 20% >/dev/null; echo $?)" 0
is "min-effect as a number" "$(history --gate --min-effect 0.05 >/dev/null; echo $?)" 3
is "that is none" "$(history --min-effect x >/dev/null; echo $?)" 125
like "the answer" "$(history)" '^Regression: speed is 90 MB/s, expected 9[0-9.]+ … 10[0-9.]+'
like "the table" "$(history)" '^speed +MB/s +90 +100 +-10 % +9[0-9.]+ … 10[0-9.]+ +regression$'
measure 120 14 a
is "faster is an improvement" "$(history --json | get '[m["verdict"] for m in v["metrics"] if m["key"] == "speed_MB_per_s"]')" "['improvement']"
is "and passes" "$(history --gate >/dev/null; echo $?)" 0
measure 100 40 a
is "the direction is the metric's" "$(history --json | get '[m["verdict"] for m in v["metrics"] if m["key"] == "delay_ms"]')" "['regression']"
old=$("$BENCHWRAP" ls -e h --json | get 'v[-9]["id"]')
is "only earlier runs count" "$(history "$old" --json | get 'len(v["history"])')" 8
is "the newest N" "$(history --last 5 --json | get '[len(v["history"]), v["looked_at"]]')" "[5, 5]"
is "two runs are refused" "$(history "$old" last >/dev/null; echo $?)" 125
is "--gate of two runs is no history: the second is not worse" "$("$BENCHWRAP" compare last last~1 --gate >/dev/null 2>&1; echo $?)" 0
is "the other way round it is, of one value on each side" "$("$BENCHWRAP" compare last~1 last --gate >/dev/null 2>err; echo $? $(grep -c "2 metrics are worse by 5 % or more, of too few values" err))" "3 1"

measure 100 10 b
is "another input is another history" "$(history --json | get '(v["history"], v["looked_at"])')" "([], 12)"
like "the input is named" "$(history)" 'most others differ in kind'
is "--ignore puts them together" "$(history --ignore kind --json | get 'len(v["history"])')" 12
is "also as a pattern" "$(history --ignore 'k*d' --json | get 'len(v["history"])')" 12
printf 'speed: 100\nkind: b\n' >output
bw -p more=1 -- cat output
is "a param that the others lack parts them" "$(history --json | get 'len(v["history"])')" 0
bw -- cat output
is "and one that this run lacks" "$(history --json | get 'len(v["history"])')" 1
bw --cluster other -- cat output
is "another cluster" "$(history --json | get 'len(v["history"])')" 0
"$BENCHWRAP" -q -e h -r ./rules.yaml -- sh -c 'printf "speed: 5\nkind: b\n"; exit 1' >/dev/null 2>&1
bw -- cat output
is "a failed run is no history" "$(history --json | get 'len(v["history"])')" 2
"$BENCHWRAP" -q -e other -r ./rules.yaml -- cat output >/dev/null 2>&1
is "nor is another experiment" "$(history --json | get 'v["looked_at"]')" 0

# The command line is an input, but for what the rules explain.
rm -r mlruns .benchwrap
cat >prog <<'S'
#!/bin/sh
cat output
S
chmod +x prog
sed 's/^readers:/arguments:\n  options:\n    - {flags: [-o, --out]}\n    - {flags: [-n], param: n}\nreaders:/' rules.yaml >options.yaml
go() { "$BENCHWRAP" -q -e h -r ./options.yaml -- ./prog "$@" >/dev/null 2>>"$WORK/err"; }
go --goodput 100 -o a
go -o b --goodput 100
is "an argument that the rules explain, and the order" "$(history --json | get 'len(v["history"])')" 1
go --goodput 200 -o c
is "one that they do not explain parts the runs" "$(history --json | get 'len(v["history"])')" 0
like "which is said" "$(history)" 'command lines of other runs differ in argument.goodput'
is "--ignore excludes a single argument" "$(history --ignore argument.goodput --json | get 'len(v["history"])')" 2
for i in 1 2 3; do go --goodput 200 -o c; done
like "reference proposes nothing of different command lines" "$("$BENCHWRAP" reference -e h 2>&1)" 'left out: the command lines of these runs differ in argument.goodput'
is "and something with --ignore" "$("$BENCHWRAP" reference -e h --ignore argument.goodput 2>&1 | grep -c 'left out: the command lines')" 0
done_testing
