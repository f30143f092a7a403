#!/bin/bash
# t0333: the script names the benchmark where an interpreter runs it: rules by its name, its own arguments, the run's name.
# shellcheck source=tests/lib/tap.sh
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
mkdir -p own/sort
cat >own/sort/rules.yaml <<'END'
name: sort
version: "1"
programs: [sort.py]
arguments: {operands: [input], options: [{flags: [-n], param: n, type: integer}]}
readers:
  - {name: speed, regex: '^speed (?<v>\S+)', metrics: [{name: speed, cell: v, unit: MB_per_s, better: higher}]}
END
echo 'print("speed 5")' >sort.py
echo 'echo "rate: 7 MB/s"' >other.sh
run() { "$BENCHWRAP" -q -t "$1" --catalogue own -- "${@:2}" >/dev/null 2>err; }
tag() { cat "$1"/mlruns/*/*/tags/benchmark; }
params() { (cd "$1"/mlruns/*/*/params && grep -H '' input n 2>/dev/null | tr '\n' ' '); }

run a python3 -u sort.py -n 4 data
is "rules by the script's name" "$(tag a)" sort
is "… its arguments stand behind the script" "$(params a)" "input:data n:4 "
run b env A=1 nice -n 1 taskset -c 0 python3 sort.py -n 5 more
is "… behind launchers" "$(tag b) $(params b)" "sort input:more n:5 "
run c bash -e other.sh
is "a script without rules names the run" "$(tag c)" other.sh
run d bash -c 'echo 1'
is "a command in a word does not" "$(tag d)" bash
like "plan names the script" "$("$BENCHWRAP" plan --catalogue own -- python3 sort.py)" "rules +.*own/sort/rules.yaml +by the program's name, sort.py"
like "a class of Java is known" "$("$BENCHWRAP" plan -- java -Xmx1g -cp a.jar site.ycsb.Client -t)" 'rules +shipped:ycsb'
like "a script of Python is known" "$("$BENCHWRAP" plan -- python3 benchmarks/benchmark_serving.py --model m)" 'rules +shipped:vllm-bench'
sed -i 's/sort.py/python3/' own/sort/rules.yaml
like "rules of the interpreter itself are found where the script has none" "$("$BENCHWRAP" plan --catalogue own -- python3 x.py)" 'rules +.*own/sort'
done_testing
