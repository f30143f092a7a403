#!/bin/bash
# A result of the program may have a name like those of the machine (memory.bw, kernel.time): it is shown, compared, repeated and judged as any other.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
unset BENCHWRAP_TREE
cat >rules.yaml <<'Y'
name: x
version: "1"
readers:
  - {name: bw, regex: '^mem (?<v>\S+)', metrics: [{name: memory.bw, cell: v, unit: MB_per_s, better: higher}]}
Y
# shellcheck disable=SC2016
printf '#!/bin/sh\necho mem $(cat speed)\n' >prog && chmod +x prog
record() { echo "$1" >speed; "$BENCHWRAP" -q -e "${2:-m}" -r rules.yaml "${@:3}" -- ./prog >/dev/null 2>&1; } # VALUE EXPERIMENT OPTION…
for v in 100 101 99 100 101; do record $v; done
record 50
like "show: it is a result" "$("$BENCHWRAP" show last)" '^  memory\.bw +50 MB/s'
like "compare: it is compared" "$("$BENCHWRAP" compare last~1 last)" '^ *memory\.bw .* 101 +50 '
like "compare --history: a regression" "$("$BENCHWRAP" compare --history)" '^Regression: memory\.bw is 50'
is "… and --gate fails" "$("$BENCHWRAP" compare --history --gate >/dev/null 2>&1; echo $?)" 3
is "history has it" "$("$BENCHWRAP" history -e m --json 2>/dev/null | jq -r '[.groups[0].metrics[].key] | index("memory.bw_MB_per_s") != null')" true
record 70 r --repeat 2
is "--repeat has its statistics" "$("$BENCHWRAP" show last --json | jq -r '.metrics[] | select(.key == "memory.bw_MB_per_s.median").value')" 70
"$BENCHWRAP" -q -e logged -- sh -c '"$BENCHWRAP" log pressure.mean_Pa=5 kernel.time_ms=2.5' >/dev/null 2>&1
is "ls: values that the program logged are its headline metrics" "$("$BENCHWRAP" ls -e logged --json | jq -r '.[0].headline')" "pressure.mean_Pa kernel.time_ms"
"$BENCHWRAP" -q -e plain --counters -- sh -c 'cat /proc/mounts >/dev/null; sleep 1' >/dev/null 2>&1
is "benchwrap's own metrics are none" "$("$BENCHWRAP" ls -e plain --json | jq -r ".[0].headline") $("$BENCHWRAP" compare last last --json 2>/dev/null | jq -r ".metrics[].key")" "null run.wall_s"
done_testing
