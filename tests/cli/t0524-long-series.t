#!/bin/bash
# A series of more than 1,000 samples: every command computes from all of them, not from the points that the metric file keeps. The truth is awk's.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >gen <<'P'
#!/bin/sh
awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) print "rate:", ((i % 10 > 6) ? 20 : 10) + i / n, "op/s" }'
P
chmod +x gen
cat >rules.yaml <<'R'
name: gen
version: "1"
summary: "gen: prints rates"
programs: [gen]
headlines: [rate]
readers:
  - {name: rate, regex: '^rate: (?<v>\S+)', metrics: [{name: rate, cell: v, unit: op_per_s, better: higher, many: series}]}
R
median_of() { awk '/^rate:/ { print $2 }' | sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
"$BENCHWRAP" -e long -n long --rules rules.yaml -- ./gen 12000 >out 2>err
truth=$(median_of <out)
run=$(echo mlruns/*/*/artifacts) && run=${run%/artifacts}
ok "the metric file has fewer points" [ "$(wc -l <"$run/metrics/rate_op_per_s")" -lt 1001 ]
near() { awk -v a="$1" -v b="$truth" 'BEGIN { d = a - b; exit !(b > 1 && d * d < 0.0001) }'; }
ok "ls --json has the median ($truth)" near "$("$BENCHWRAP" ls --json | jq '.[0].headline_1')"
shown=$(printf %.3g "$truth")
like "the summary" "$(cat err)" "rate  $shown op/s"
like "ls" "$("$BENCHWRAP" ls)" " $shown "
like "show" "$("$BENCHWRAP" show)" "rate  $shown op/s  median of 12000,"
ok "compare --json" near "$("$BENCHWRAP" compare last last --json 2>/dev/null | jq '.metrics[] | select(.key == "rate_op_per_s").groups[0].median')"
is "export: all samples" "$("$BENCHWRAP" export --long --format csv 2>/dev/null | grep -c rate_op_per_s)" 12000
like "report" "$("$BENCHWRAP" report last --format markdown 2>/dev/null)" "rate.* $shown "
like "reparse finds no difference" "$("$BENCHWRAP" reparse --dry-run --rules rules.yaml last 2>&1)" "0 would be amended, 1 unchanged"

# 300 samples are kept as they are, and are no less a headline metric.
"$BENCHWRAP" -q -e few -n few --rules rules.yaml -- ./gen 300 >out 2>/dev/null
truth=$(median_of <out)
ok "300 samples: ls has the median ($truth)" near "$("$BENCHWRAP" ls -e few --json | jq '.[0].headline_1')"

# The file with all samples is damaged: the metric is missing, with the reason.
printf '{"key":"rate_op_per_s","samples":[[1,0,' >"$run/artifacts/series.jsonl"
is "damaged: show has no value" "$("$BENCHWRAP" show long 2>/dev/null | grep -c 'rate .*median')" 0
like "... and the reason" "$("$BENCHWRAP" show long 2>&1)" "rate_op_per_s: artifacts/series.jsonl"
done_testing
