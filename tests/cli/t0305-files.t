#!/bin/sh
# t0305: of the files that rules name those are read that the program wrote: the newest of a pattern, what was added to one, none from before.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
export BENCHWRAP_PROBE_WAIT=60s # a busy machine lists the files later
cat >rules.yaml <<'R'
name: x
version: '1'
readers:
- name: r
  source: {file: "out*.txt"}
  regex: '^v=(?<v>\S+)'
  metrics: [{name: v, cell: v, unit: s, better: lower, many: sum}]
- name: same
  source: [{file: "out*.txt"}, {file: out1.txt}]
  regex: '^n=(?<v>\S+)'
  metrics: [{name: n, cell: v, better: none, many: sum}]
checks:
- {file: "*.done", reason: it left no .done}
R
OPTIONS=
run() { BENCHWRAP_QUIET=1 "$BENCHWRAP" --rules ./rules.yaml $OPTIONS -- "$@" >/dev/null 2>"$WORK/errors"; }
last() { find mlruns -name benchwrap.json -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2; }
facts() # what the newest run tells of v, n, its reason, and warnings
{
    "${PYTHON:-python3}" - "$(last)" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
print(json.dumps(d))
P
}
metric() # KEY -> value in the newest run's tree
{
    find "$(dirname "$(dirname "$(last)")")/metrics" -name "$1" -exec cut -d' ' -f2 {} +
}
tag() { cat "$(dirname "$(dirname "$(last)")")/tags/$1" 2>/dev/null; }

run sh -c 'echo v=1 >out1.txt; echo n=5 >>out1.txt; : >a.done'
is "a file that the program makes" "$(metric v_s)" 1
is "two patterns, one file: read once" "$(metric n)" 5
is "a file is there" "$(tag benchwrap.verdict)" pass

touch -d '1 hour ago' out1.txt a.done
run true
is "a file from before is not read" "$(metric v_s)" ""
like "and this is said" "$(facts)" 'out1.txt is older than this run and is not read'
like "nor does it count as there" "$(tag benchwrap.reason)" 'it left no .done'

run sh -c 'echo v=7 >>out1.txt; : >b.done'
is "of a file that grew what was added is read" "$(metric v_s)" 7
like "and this is said" "$(facts)" 'out1.txt was there before: what the program added to it is read, from byte 8'

touch -d '1 hour ago' out1.txt
run sh -c 'printf "v=30\nv=4\nn=1\nn=2\nn=3\n" >out1.txt; : >b.done'
is "a file that was written anew is read whole" "$(metric v_s)" 34

touch -d '1 hour ago' out1.txt
run sh -c 'echo v=2 >out2.txt; sleep .05; echo v=3 >out3.txt; : >c.done'
is "of several the newest" "$(metric v_s)" 3
like "and this is said" "$(facts)" 'wrote 2 files that match out\*.txt; only the newest is read: out3.txt'

rm -f out*.txt
echo v=9 >keep; touch -d '1 hour ago' keep
run sh -c 'mv keep out4.txt; : >d.done'
is "a file that was put there" "$(metric v_s)" 9

rm -f out*.txt
echo v=9 >out5.txt; touch -d '1 hour ago' out5.txt
run sh -c 'echo v=8 >new; touch -d "2 hours ago" new; mv new out5.txt; : >e.done'
is "a file that took another one's place, with an old date" "$(metric v_s)" 8

rm -f out*.txt; echo v=1 >out6.txt
run sh -c 'echo v=7 >>out6.txt; : >g.done'
is "a file that was written just before" "$(metric v_s)" 7

rm -f out*.txt; echo v=1 >out6.txt; touch -d '1 hour ago' out6.txt
OPTIONS='--probe-wait 0'
run sh -c 'echo v=7 >>out6.txt; : >h.done'
OPTIONS=
like "a program that does not wait for the look: the right number or none" "$(metric v_s)x" '^(7)?x'
rm -f out*.txt; mkdir out7.txt; mkfifo out8.txt
run sh -c ': >f.done'
is "folders and pipes are not read" "$(metric v_s)" ""
rm -r out7.txt out8.txt

# A list that is slow to come: who sets --probe-wait gets it before the program starts.
mkdir hung; rm -f out*.txt; echo v=1 >out9.txt; touch -d '1 hour ago' out9.txt
"$BUILD/tests/lib/hung-mount" "$WORK/hung" >mounted 2>&1 &
mount=$!
wait_until '[ -s mounted ] || has_ended $mount'
if grep -q mounted mounted; then
    (sleep 0.5; kill $mount) &
    cat >hung.yaml <<'R'
name: x
version: '1'
readers:
- {name: slow, source: {file: "hung/*.txt"}, regex: '^h=(?<v>.*)', metrics: [{name: h, cell: v, better: none}]}
- {name: r, source: {file: "out*.txt"}, regex: '^v=(?<v>.*)', metrics: [{name: v, cell: v, unit: s, better: lower}]}
R
    BENCHWRAP_QUIET=1 "$BENCHWRAP" --rules ./hung.yaml -- sh -c 'echo v=7 >>out9.txt' >/dev/null 2>&1
    is "--probe-wait: what was added is known, after a slow look too" "$(metric v_s)" 7
    wait
    umount -l hung 2>/dev/null
else
    skip_here "--probe-wait: what was added is known" "no FUSE"
fi

run sh -c 'echo v=1 >out9.txt'
like "parse: the check needs to know" "$("$BENCHWRAP" parse --rules ./rules.yaml --file 'out*.txt=out9.txt' /dev/null 2>&1)" 'fail: it left no .done'
like "parse: without files it cannot be told" "$("$BENCHWRAP" parse --rules ./rules.yaml /dev/null 2>&1)" '^[^:]*: none: the rules read nothing from the output$'
like "parse: a pattern that the rules do not have" "$("$BENCHWRAP" parse --rules ./rules.yaml --file 'oops=out9.txt' /dev/null 2>&1)" 'oops'
# A pattern that matches too many files: the newest may be one that is not listed, and a file from before may look new.
touch -d '1 hour ago' out*.txt && seq -f 'out-%g.txt' 10001 | xargs touch -d '1 hour ago'
echo v=9 >out-77.txt && touch -d '1 hour ago' out-77.txt
run sh -c 'rm out-1.txt out-2.txt; echo v=8 >out-new.txt; : >d.done'
is "of more than 10,000 files none is read" "$(metric v_s)" ""
like "and this is reported" "$(facts)" 'more than 10000 files match out\*.txt: none of them is read'

done_testing
