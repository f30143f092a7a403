#!/bin/bash
# What taskrate prints for people: the answer first, columns that fit the terminal, and the same form in a pipe. The catalogue reads it.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
T=$(dirname "$BENCHWRAP")/taskrate

# Numbers become N, runs of blanks one: what is left is the form.
form() { tr -d '\r' | sed -E 's/\x1b\[[0-9;]*m//g; s/-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?/N/g; s/ +/ /g; s/N ?(ns|us|ms|s)\b/NT/g; s/^METG.*/METG…/; s/ \(only one size.*//' "$@"; }
"$T" local -n 100 -r 2 >pipe 2>err
is "in a pipe: the answer, the batches, METG50 explained" "$(form pipe | sed 's/processors this process.*/…/; /^latency model/d')" "taskrate N.N: local, payload stub
slots: N, …
path: client -> process

nN.dN: N tasks/s (median of N; N give an interval)
chain.dN: NT from one submission to the next, one task at a time

label rep tasks/s sent/s submit start pN whole peak fail lost twice
nN.dN N N N N N N N N N N N
nN.dN N N N N N N N N N N N
 latencies in ms: submit: one call; start: from submission to start, median and
 pN (not recorded: pN needs N tasks); whole: from submission to end; peak:
 most tasks at once; twice: tasks that ran twice

METG…
 METGN is the shortest task duration that keeps half of the slots busy."
is "a p99 of enough tasks is explained by nothing" "$("$T" local -n 700 -r 1 -q 2>/dev/null | grep -c 'not recorded')" 0
is "in a pipe no line of the table is longer than 80" "$(grep -v '^METG\|^latency' pipe | awk 'length > 80')" ""
if command -v script >/dev/null; then
    shown() { script -qec "stty cols $1; exec '$T' local -n 100,1000 -r 1 -q" /dev/null </dev/null | tr -d '\r'; }
    for columns in 60 80 120 200; do
        shown $columns >raw
        sed 's/\x1b\[[0-9;]*m//g' raw >plain
        is "$columns columns: no line is longer" "$(awk -v n=$columns 'length > n' plain)" ""
        case $columns in
        60) wanted="label rep tasks/s start p99 whole fail lost twice" ;;
        *) wanted="label rep tasks/s sent/s submit start p99 whole peak fail lost twice" ;;
        esac
        is "$columns columns: the results stay" "$(sed -n 's/ \+/ /g; /^label/p' plain)" "$wanted"
        like "$columns columns: headings are bold" "$(cat raw)" $'\x1b\\[1mlabel'
    done
    is "NO_COLOR: no escape sequence" "$(NO_COLOR=1 shown 80 | grep -c $'\x1b')" 0
    is "TERM=dumb: no escape sequence" "$(TERM=dumb shown 80 | grep -c $'\x1b')" 0
else
    skip "on terminals" "script(1) is not installed"
fi

# Recorded from the table, the metrics are those of the document.
"$BENCHWRAP" -q -e table -- "$T" local -n 100 -r 2 -q >/dev/null 2>&1
"$BENCHWRAP" -q -e table -- "$T" local -n 100 -r 2 -q --json >/dev/null 2>&1
names() { "$BENCHWRAP" show --json "$1" | jq -r '.metrics | (if type == "array" then .[].key else keys[] end)' | grep -E '^(throughput|submit.rate|start|turnaround.p50|running.most|metg50|chain.turnaround.p50|tasks\.(failed|lost|duplicated))' | sort -u; }
like "the run of the table has metrics" "$(names last~1)" '^throughput_op_per_s'
is "each of them is one of the document's" "$(names last~1 | comm -23 - <(names last))" ""
# A bound of METG50 is no value of it, in the table and in the document.
cd "$WORK" || exit
for form in "" --json; do
    for long in 20ms 100ms 500ms 2s; do # on a busy machine short tasks keep less than half of the slots busy
        "$(dirname "$BENCHWRAP")/taskrate" local --tasks 5 --duration $long $form >bound.out 2>/dev/null
        ! grep -q 'at most' bound.out || break
    done
    is "METG50 ${form:-as text}: at most" "$(grep -c 'at most' bound.out)" 1
    is "... is no metric" "$("$BENCHWRAP" parse --rules taskrate bound.out 2>/dev/null | grep -c metg50)" 0
done

# The line: the bounds of its numbers, the page of the manual, and the former name of a command.
while read -r option most; do
    "$BUILD/bin/taskrate" slurm-step --$option $((most + 1)) --submit x 2>&1 # --submit is refused, so that nothing is started
    "$BUILD/bin/taskrate" slurm-step --$option "$most" --submit x 2>&1
done <<'END' >bounds
repeat 1000
warmup 100
chain 1000000
slots 1000000
clients 1024
width 100000
END
is "numbers have an upper bound" "$(grep -o 'to [0-9]*, got.*' bounds | tr '\n' ';') $(grep -c -e '--submit is for exec' bounds)" \
    'to 1000, got "1001";to 100, got "101";to 1000000, got "1000001";to 1000000, got "1000001";to 1024, got "1025";to 100000, got "100001"; 6'
is "the manual lists every use" "$("$BUILD/bin/taskrate" --man | sed -n '/SYNOPSIS/,/DESCRIPTION/p' | grep '^\.B ' | tail -n 3 | tr '\n' ';')" \
    ".B taskrate compare A.json B.json;.B taskrate table FILE;.B taskrate clean\\-up;"
is "the former name of clean-up is accepted, without a word where no terminal is" "$("$BUILD/bin/taskrate" sweep 2>&1; "$BUILD/bin/taskrate" clean-up 2>&1)" "cleaned up 0 runs
cleaned up 0 runs"
done_testing
