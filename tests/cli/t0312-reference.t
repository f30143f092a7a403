#!/bin/bash
# benchwrap reference: a reference file from earlier runs, which loads as it is and judges the next run.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
mkdir -p "$WORK/w" && cd "$WORK/w" || exit 1
get() { python3 -c 'import json, sys
v = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1"; }
cat >rules.yaml <<'Y'
name: x
version: "1"
headlines: [speed, flat, table]
readers:
  - {name: speed, regex: '^speed: (?<v>\S+)', metrics: [{name: speed, cell: v, unit: MB_per_s, better: higher, headline: max}]}
  - {name: flat, regex: '^flat: (?<v>\S+)', metrics: [{name: flat, cell: v, unit: ms, better: lower}]}
  - {name: wild, regex: '^wild: (?<v>\S+)', metrics: [{name: wild, cell: v, better: lower}]}
  - {name: kind, regex: '^kind: (?<v>.+)', params: [{param: kind, cell: v}]}
Y
bw() { "$BENCHWRAP" -q -e h -r ./rules.yaml "$@" >/dev/null 2>>"$WORK/err" || echo "run failed: $(tail -n 3 "$WORK/err")"; }
# shellcheck disable=SC2059
output() { printf "$@" >output; } # one command line for all
measure() { output 'speed: %s\nflat: %s\nwild: %s\nkind: %s\n' "$@"; bw --cluster c -- cat output; }
propose() { "$BENCHWRAP" reference "$@" 2>"$WORK/err"; }

odd='a*b: [x]? "q" \ #'
i=0
for v in 100 101 99 103 97 60; do
    i=$((i + 1))
    measure $v 7 $((i * i * i)) "$odd"
done
output 'speed: 500\nkind: other\n'
bw --cluster c -- cat output
"$BENCHWRAP" -q -e h -r ./rules.yaml --cluster c -- sh -c 'echo speed: 1; exit 1' >/dev/null 2>&1

"$BENCHWRAP" reference >/dev/null 2>"$WORK/err"; is "without runs: refused" "$?" 125
like "with the ways to name them" "$(cat "$WORK/err")" 'which runs\? Name them'
propose -e h >prop.yaml; is "a proposal" "$?" 0
like "says of how many runs" "$(cat prop.yaml)" '^# references proposed by benchwrap .* from 8 runs'
like "which are named" "$(cat prop.yaml)" "^  # 6 runs, 20.*Z to 20"
like "with their ids" "$(cat prop.yaml)" "^  #   ([0-9a-f]{12} ?){6}$"
like "median and robust band: MAD 2 of 99.5" "$(cat prop.yaml)" '"speed_MB_per_s.max": \{value: 99.5 MB_per_s, band: 9%\}  # 6 runs, median absolute deviation 2; 1 of them is worse'
like "no spread: the narrowest band" "$(cat prop.yaml)" '"flat_ms": \{value: 7 ms, band: 2%\}'
like "which can be given" "$(propose -e h --min-band 0.1)" '"flat_ms": \{value: 7 ms, band: 10%\}'
is "what the rules do not put first is not proposed" "$(grep -c wild prop.yaml)" 0
like "unless it is asked for; too wide a spread is left out" "$(propose -e h --all)" '# left out: wild: its spread is too large to be a reference'
like "too few are left out, and said" "$(cat prop.yaml)" '^# too few: 1 run in 1 group'
like "runs that failed too" "$(cat prop.yaml)" '^# 1 of them did not finish'
"$BENCHWRAP" plan -R prop.yaml -- true >/dev/null 2>"$WORK/err"; is "it loads as it is" "$?" 0
gate() { "$BENCHWRAP" -q -e judged -r ./rules.yaml --cluster "${2:-c}" -R prop.yaml --gate -- printf 'speed: %s\nflat: 7\nkind: %s\n' "$1" "$odd" >/dev/null 2>"$WORK/err"; echo $?; }
is "it judges: good" "$(gate 98)" 0
is "it judges: bad" "$(gate 80)" 3
is "its conditions hold: another cluster has no reference" "$(gate 98 d; "$BENCHWRAP" show --json | get 'v["verdict"]')" "3
none"
sed 's/a\\\\\*b/a\\\\*c/' prop.yaml >changed.yaml
is "odd texts are conditions, too" "$(cmp -s prop.yaml changed.yaml && echo same; "$BENCHWRAP" -q -e judged -r ./rules.yaml --cluster c -R changed.yaml --gate -- printf 'speed: 98\nflat: 7\nkind: %s\n' "$odd" >/dev/null 2>&1; echo $?)" 3

all=$("$BENCHWRAP" ls -e h --json | get '",".join(r["id"] for r in v[2:])')
is "runs are named as in compare" "$(propose --from "$all" --json | get '[(g["left_out"], len(g["runs"])) for g in v["groups"]]')" "[(None, 6)]"
is "--from may be left out" "$(propose "${all%%,*}" "${all#*,}" --json | get '[len(g["runs"]) for g in v["groups"]]')" "[6]"
is "the JSON has medians and bands" "$(propose --from "$all" --json | get '[(m["key"], m["unit"], m["n"], m["median"], m["mad"], m["band"], m["outside"]) for g in v["groups"] for m in g["metrics"] if m["key"] == "speed_MB_per_s.max"]')" \
    "[('speed_MB_per_s.max', 'MB_per_s', 6, 99.5, 2, 0.09, 1)]"
is "and the conditions" "$(propose --from "$all" --json | get '[(g["conditions"]["benchmark"], g["conditions"]["cluster"], "node.type" in g["conditions"]) for g in v["groups"]]')" "[('x', 'c', True)]"
is "a condition of the comparison key can be left out" "$(propose --from "$all" --ignore cluster --json | get '["cluster" in g["conditions"] for g in v["groups"]]')" "[False]"
propose --from "${all%%,*}" >few.yaml; is "one run is too few" "$?" 1
like "which is said" "$(cat "$WORK/err")" 'nothing can be proposed from these 1 run'
is "also in the file, which still loads" "$(grep -c '^references: \[\]$' few.yaml; "$BENCHWRAP" plan -R few.yaml -- true >/dev/null 2>&1; echo $?)" "1
0"
is "a run named twice is refused" "$(propose --from last,last >/dev/null; echo $?)" 125
is "named and chosen is refused" "$(propose --from last --last 5 >/dev/null; echo $?)" 125
like "a run is named among those that the options choose" "$("$BENCHWRAP" reference --from last -e nosuch 2>&1)" 'last: no experiment "nosuch"'
for i in 1 2 3 4 5; do measure 10$i 7 1 "kind$i"; done
like "what parts the runs is told" "$(propose -e h --last 5)" '^# they differ most in kind \(5 values\); if that does not matter: --ignore'
like "--ignore puts them together" "$(propose -e h --last 5 --ignore kind)" '"speed_MB_per_s.max": \{value: 103 MB_per_s, band: 4.4%\}'

# a table size -> value: each step by itself
cat >table.yaml <<'Y'
name: t
version: "1"
readers:
  - {name: bw, regex: '^(?<n>\d+) (?<v>\S+)$', metrics: [{name: bw, cell: v, step: n, unit: MB_per_s, better: higher, many: series}]}
Y
for i in 1 2 3 4 5; do output '8 10\n16 2%s\n' $i; "$BENCHWRAP" -q -e t -r ./table.yaml -- cat output >/dev/null 2>>"$WORK/err"; done
propose -e t >prop.yaml
like "steps of a table" "$(cat prop.yaml)" '"bw_MB_per_s@16": \{value: 23 MB_per_s, band: 19.4%\}'
is "judge the step" "$("$BENCHWRAP" parse -r ./table.yaml -R prop.yaml --gate --param node.type="$(sed -n 's/.*node_type: "\(.*\)"/\1/p' prop.yaml)" - <<<'8 10
16 18' >/dev/null; echo $?)" 3
done_testing
