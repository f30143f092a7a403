#!/bin/sh
# t0322: metrics that no line prints (`computed`), and values that count only under a condition (`when`).
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cat >"$WORK/rules.yaml" <<'R'
name: x
version: "1"
programs: [x]
readers:
  - name: start
    regex: '^start (?<v>\S+)'
    params: [{param: start, cell: v, hidden: true, type: number}]
    metrics: [{name: alone, cell: v, better: none, many: last, when: "rows(start) == 1"}]
  - name: stop
    regex: '^stop (?<v>\S+)'
    params: [{param: stop, cell: v, hidden: true, type: number}]
computed:
  - {name: duration, value: "stop - start", from: ms, unit: s, better: lower}
required: [{metric: duration}]
R
read_it() { "$BENCHWRAP" parse --rules "$WORK/rules.yaml" "$WORK/out"; }
printf 'start 3\nstop 1503\n' >"$WORK/out"
got=$(read_it)
like "the difference of two lines is a metric, in the rule's unit" "$got" 'duration_s +1\.5 '
like "and the condition on one row holds" "$got" 'alone +3'
printf 'start 3\nstart 5\nstop 1505\n' >"$WORK/out"
like "with two rows it does not, and the metric is not there" "$(read_it | grep -c alone)" '^0$'
printf 'start 3\n' >"$WORK/out"
like "what cannot be computed is missing, and required it fails the run" "$(read_it)" 'fail: duration is missing'
sed -i 's/name: duration/name: "{v}"/' "$WORK/rules.yaml"
like "a computed metric has no cells in its name" "$("$BENCHWRAP" parse --rules "$WORK/rules.yaml" "$WORK/out" 2>&1)" 'no \{cell\}'
done_testing
