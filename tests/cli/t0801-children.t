#!/bin/bash
# The tests of one output as child runs: a run each with plain keys, never two of one test, whatever is killed when.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit
cat >rules.yaml <<'END'
name: prog
version: "1"
blocks: {name: t, runs: true}
headlines: [speed]
readers:
  - name: begin
    regex: '^test (?<label>\w+)'
    block: {label: label}
    params: [{param: kind, cell: label, type: text}]
  - name: line
    regex: '^speed (?<v>\S+)'
    metrics:
      - {name: speed, cell: v, unit: MB_per_s, from: MB/s, better: higher, headline: max}
required: [{metric: speed}]
END
record() { "$BENCHWRAP" -q -e e --rules ./rules.yaml "$@" >out.txt 2>err.txt; }
children() { grep -l . mlruns/*/*/tags/benchwrap.block 2>/dev/null | wc -l; }
parents() { for d in mlruns/*/*/; do [ -f "$d/meta.yaml" ] && [ ! -f "$d/tags/benchwrap.block" ] && echo "$d"; done; }

record --param mine=7 -- printf 'test one\nspeed 10\ntest two\nspeed 20\nspeed 21\ntest three\n'
parent=$(parents)
parent_id=$(basename "$parent")
is "a run and three children" "$(children) $(parents | wc -l)" "3 1"
child() { dirname "$(dirname "$(grep -lx "$1" mlruns/*/*/tags/benchwrap.block)")"; }
is "keys of the run carry the test" "$(cat "$parent"/metrics/two.speed_MB_per_s.max | cut -d' ' -f2)" 21
is "keys of the child are plain" "$(cut -d' ' -f2 "$(child two)"/metrics/speed_MB_per_s.max)" 21
is "values of other tests are not among them" "$(cat "$(child one)"/metrics/speed* | cut -d' ' -f2 | sort -u)" 10
is "params of the test" "$(cat "$(child one)"/params/kind)" one
is "params of the run" "$(cat "$(child one)"/params/mine)$(cat "$(child two)"/params/mine)" 77
is "the machine is told" "$(cat "$(child one)"/params/cpu.threads)" "$(cat "$parent"/params/cpu.threads)"
is "the parent is named" "$(cat "$(child one)"/tags/mlflow.parentRunId)" "$parent_id"
is "each has its verdict" "$(cat "$(child one)"/tags/benchwrap.verdict) $(cat "$(child three)"/tags/benchwrap.verdict)" "pass fail"
is "… and its status" "$(grep -h '^status' "$(child one)"/meta.yaml "$(child three)"/meta.yaml | tr '\n' ' ')" "status: 3 status: 4 "
is "no wall time is said of a test" "$(ls "$(child one)"/metrics | grep -c wall)" 0
is "ls folds them" "$("$BENCHWRAP" ls --json | python3 -c 'import json,sys; print(len(json.load(sys.stdin)))')" 1
is "ls --all does not" "$("$BENCHWRAP" ls --all --json | python3 -c 'import json,sys; print(len(json.load(sys.stdin)))')" 4

# A single test is no child.
rm -rf mlruns .benchwrap
record -- printf 'test one\nspeed 10\n'
is "one test alone is the run itself" "$(children) $(parents | wc -l)" "0 1"

# An old output with several tests.
printf 'test one\nspeed 10\ntest two\nspeed 20\n' >old.out
"$BENCHWRAP" import -e e --rules ./rules.yaml old.out >/dev/null
is "so it is with an imported output" "$(children)" 2
"$BENCHWRAP" import -e e --rules ./rules.yaml old.out >/dev/null
is "… once" "$(children)" 2

# The recorder is killed at any moment of its end; what is left is finished later: no test twice, none missing, no child without its run.
rm -rf mlruns .benchwrap
for i in $(seq 6); do printf 'test x%s\nspeed %s\n' "$i" "$i"; done >many.out
kills=0
for delay in 0 0.02 0.1 0.3 $(long_tests && echo 0.01 0.03 0.05 0.07 0.15 0.5); do
    rm -f go
    "$BENCHWRAP" -q -e e --rules ./rules.yaml -n "k$delay" -- sh -c 'until [ -e go ]; do sleep 0.02; done; cat many.out' >out.txt 2>err.txt &
    wait_until 'recorder=$(pgrep -P $! -x benchwrap-rec)'
    touch go
    sleep "$delay"
    kill -9 "$recorder" 2>/dev/null && kills=$((kills + 1))
    wait $! 2>/dev/null
done
wait_until idle
ok "recorders are killed" [ $kills -gt 0 ]
"$BENCHWRAP" sync --local >/dev/null
runs=$(parents | wc -l)
ok "runs are there ($runs)" [ "$runs" -gt 0 ]
is "each child is there once" "$(for d in mlruns/*/*/tags/benchwrap.block; do [ ! -f "$d" ] || echo "$(cat "${d%benchwrap.block}mlflow.parentRunId") $(cat "$d")"; done | sort | uniq -d)" ""
is "no child is without its run" "$(for d in mlruns/*/*/tags/mlflow.parentRunId; do [ ! -f "$d" ] || [ -f "$(echo mlruns/*/"$(cat "$d")"/meta.yaml)" ] || echo "$d"; done)" ""
is "each run has as many children as tests" "$(for p in $(parents); do
    tests=$(ls "$p/metrics" | grep -c '^x[0-9]*\.speed_MB_per_s$')
    [ "$tests" -lt 2 ] || [ "$tests" = "$(grep -lx "$(basename "$p")" mlruns/*/*/tags/mlflow.parentRunId | wc -l)" ] || echo "$p $tests"
done)" ""
done_testing
