#!/bin/bash
# t0304: a param has several sources: what they disagree about is said, and stands in a tag.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
mkdir bin
printf '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n' >bin/mpirun
cat >bin/ior <<'EOS'
#!/bin/sh
printf 'IOR-4.0.0: MPI Coordinated Test of Parallel I/O\nOptions: \ntasks               : %s\nrepetitions         : 1\nResults: \n\n' "$TASKS"
echo 'access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter'
echo 'write     100.00     100.00     0.01    1024.00    256.00     0.1   0.2   0.1   0.3   0   '
printf '\nSummary of all tests:\n'
EOS
chmod +x bin/*
tag() { cat "$1"/*/*/tags/benchwrap.disagreement 2>/dev/null; }

out=$(TASKS=1 "$BENCHWRAP" -t one/mlruns -- bin/mpirun -n 4 -- bin/ior -w 2>&1 >/dev/null)
like "fewer tasks than the launcher has are reported" "$out" '! param tasks: the launcher has 4, the output has 1: is the program of another MPI?'
is "and stand in the tag" "$(tag one/mlruns)" step.tasks
is "the output's figure is the output's" "$(cat one/mlruns/*/*/params/tasks)" 1
out=$(TASKS=4 "$BENCHWRAP" -t two/mlruns -- bin/mpirun -n 4 -- bin/ior -w 2>&1 >/dev/null)
ok "as many: no warning" sh -c '! printf %s "$1" | grep -q "the launcher has" ' sh "$out"
is "and no tag" "$(tag two/mlruns)" ""
out=$(TASKS=4 "$BENCHWRAP" -t three/mlruns -- bin/ior -w -i 3 2>&1 >/dev/null)
like "arguments against output" "$out" 'param repetitions: the arguments have "3", the output has "1"; the output counts'
is "in the tag too" "$(tag three/mlruns)" repetitions

# An option that the table of an entry lacks never turns its value, or what follows, into an operand.
for rules in $(grep -l '^  operands:' "$ROOT"/benchmarks/catalogue/*/rules.yaml); do
    name=$(basename "$(dirname "$rules")")
    is "$name: the value of an unknown option is no operand" \
        "$("$BENCHWRAP" parse --rules "$name" --json /dev/null -- "$name" --no-such-option value-4711 word-4711 | grep -c 4711)" 0
    like "… and a word without one before it is" "$("$BENCHWRAP" parse --rules "$name" --json /dev/null -- "$name" word-4711)" 4711
done
# Options whose values are all words up to the next option.
named() { "$BENCHWRAP" parse --rules "$1" --json /dev/null -- "${@:2}" | jq -c '[.params | to_entries[] | .key + "=" + .value] | sort'; }
is "lm_eval --tasks a b" "$(named lm-eval lm_eval --tasks arc hellaswag,piqa -s --model_args pretrained=x dtype=float32 --limit 5)" \
    '["limit=5","model_args=pretrained=x,dtype=float32","tasks_asked=arc,hellaswag,piqa"]'
is "… with a command" "$(named lm-eval lm_eval run -t a b --seed 7)" '["command=run","seed=7","tasks_asked=a,b"]'
is "vllm.benchmarks.serve --metadata a=1 b=2" "$(named vllm-bench vllm.benchmarks.serve --metadata a=1 b=2 --seed 7)" '["seed=7"]'
is "… also behind =, and of the word behind an option that has one value" "$(named lm-eval lm_eval --tasks=a b)" '["command=b","tasks_asked=a"]'
done_testing
