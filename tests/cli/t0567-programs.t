#!/bin/bash
# Programs of one benchmark have histories and references of their own; hints name all that separates runs.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >rules.yaml <<'Y'
name: lu
version: "1"
programs: [prog, prog2]
readers:
  - {name: speed, regex: '^speed: (?<v>\S+)', metrics: [{name: speed, cell: v, unit: MB_per_s, better: higher, headline: median}]}
Y
printf '#!/bin/sh\necho "speed: 12.5"\n' >prog
printf '#!/bin/sh\necho "speed: 6.5"\n' >prog2
chmod +x prog prog2
flat() { "$BENCHWRAP" "$@" 2>&1 | tr -s '\n ' ' '; }
run() { local e=$1; shift; "$BENCHWRAP" -q -e "$e" -r ./rules.yaml --tag site=here "$@" >/dev/null 2>>err; }
for i in 1 2 3 4 5 6; do run gate -- ./prog -a 1; done
run gate -- ./prog2 -a 1
"$BENCHWRAP" compare -e gate --history --gate >out 2>&1
is "another program of the benchmark is no regression" "$?" 0
like "... since no run of it is earlier" "$(tr -s '\n ' ' ' <out)" 'Too few: 0 earlier runs with the same inputs'
like "... which names it" "$(cat out)" 'Measurement: benchmark lu by the program prog2'
like "... and the option" "$(tr -s '\n ' ' ' <out)" 'differ in program; --ignore program also compares these'
like "... that joins them" "$(flat compare -e gate --history --ignore program)" 'Regression: speed .* 6 earlier runs'
run gate -- ./prog -a 1
like "the first program keeps its history" "$(flat compare -e gate --history)" 'No change .* 6 earlier runs'
is "what is measured has one id" "$("$BENCHWRAP" compare -e gate last last~1 --json | jq -c '[.keys.differing | .measured, .program, .system], ([.keys.groups[].key.measured.id] | unique | length)' | tr '\n' ' ')" '[[],["program"],[]] 1 '
like "... and compare names the program" "$(flat compare -e gate last last~1)" 'Inputs that differ: program\.'
for i in 1 2 3 4 5 6; do run gate -- ./prog2 -a 1; done
like "reference proposes no median of both" "$(flat reference -e gate)" 'references: \[\] .*left out: the command lines of these runs differ in program\. .*: --ignore program'
like "... but with --ignore" "$(flat reference -e gate --ignore program)" 'speed_MB_per_s\.median: its spread is too large'
is "history: a group for each" "$("$BENCHWRAP" history -e gate --json | jq -c '[.groups[] | [.runs, .key.program.facts.program]] | sort')" '[[7,"prog"],[7,"prog2"]]'
like "... which the text names" "$("$BENCHWRAP" history -e gate)" 'benchmark lu by the program prog2'
"$BENCHWRAP" report -e gate --format markdown -o report.md
is "report: a median for each" "$(grep -cE '^\| <code>prog2?</code> \| 7 \|' report.md)" 2
"$BENCHWRAP" pages -o web >/dev/null
is "pages: the medians of both are results of two systems" "$(jq -c '.versions[0].metrics[] | select(.key == "speed_MB_per_s.median") | [.places[] | .median, .runs]' web/measurement/*.json)" '[12.5,7]'
touch -d '2 hours ago' web/.benchwrap-pages
"$BENCHWRAP" pages -o web >/dev/null
is "pages again: the index is not written where nothing changed" "$(find web/.benchwrap-pages -mmin +60)" web/.benchwrap-pages

# A hint names every argument that separates the nearest runs, and following it joins them.
follow() { # EXPERIMENT: the number of earlier runs with the options of the hint
    local hint
    hint=$("$BENCHWRAP" compare -e "$1" --history | tr -s "\n " " " | sed -n 's/.*differ in [^;]*; \(.*\) also compares these.*/\1/p')
    eval "'$BENCHWRAP' compare -e $1 --history --json $hint" | jq '.history | length'
}
run starter -- chrt -b 0 ./prog; run starter -- ./prog
is "a starter with options" "$(follow starter)" 1
run words -- ./prog '' a; run words -- ./prog a
is "words" "$(follow words)" 1
run numbers -- ./prog -5; run numbers -- ./prog -6
is "options that are numbers" "$(follow numbers)" 1
run order -- ./prog -x 1 -a -b; run order -- ./prog -b -a
is "an argument, and the order of the others" "$(follow order)" 1
run many -- ./prog -a 1 -b 1 -c 1 -d 1 -e 1 -f 1; run many -- ./prog2 -a 2 -b 2 -c 2 -d 2 -e 2 -f 2
is "more than are named" "$(follow many)" 1
run odd -- ./prog '--a*b=1'; run odd -- ./prog '--a*b=2'
is "a name with a wildcard" "$(follow odd)" 1
for i in 1 2 3; do run judged -p size=1 -p kind=k1 --tag site=a -- ./prog; run judged -p size=2 -p kind=k2 --tag site=b -- ./prog; done
like "compare: all inputs that differ" "$(flat compare -e judged --by site)" 'hint: --ignore kind --ignore size judges although these differ'
for i in 1 2 3; do run mixed -- ./prog -a 1 -b 1; run mixed -- ./prog -a 2 -b 1; run mixed -- ./prog -a 1 -b 2; done
like "reference: all arguments" "$(flat reference -e mixed)" 'differ in argument\.a, argument\.b\. .*: --ignore argument\.a --ignore argument\.b'

# What is ignored is no equal input, and the output states it.
for i in 1 2 3 4 5 6 7; do run ignored -- ./prog "9$i"; done
like "compare --history states what it ignores" "$(flat compare -e ignored --history --ignore argument.1)" 'History: 6 earlier runs of experiment ignored with the same inputs except for argument\.1'
like "... also of too few" "$(flat compare -e ignored --history --ignore argument.1 --last 3)" 'Too few: 3 earlier runs with the same inputs except for argument\.1,'
like "history" "$(flat history -e ignored --ignore argument.1)" '7 runs of experiment ignored, .* Left out: argument\.1'
like "reference" "$(flat reference -e ignored --ignore argument.1)" 'left out, so that these runs may differ in it: argument\.1 '
for command in "compare --history" history reference; do
    is "JSON of $command" "$("$BENCHWRAP" $command -e ignored --ignore argument.1 --ignore 'x*' --json | jq -r .ignored)" "argument.1, x*"
done
done_testing
