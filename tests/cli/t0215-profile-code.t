#!/bin/bash
# --profile-code: perf is attached before the program's exec and changes nothing for it; the functions with most samples are shown; without perf the reason is.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
unset BENCHWRAP_TREE
real=$(command -v perf)
mkdir stub
# A perf that samples at once: as the real one it answers on its descriptor 1, and ends at "stop" or by itself.
cat >stub/perf <<'X'
#!/bin/bash
echo "$*" >>"$WORK/calls"
case $1 in
record)
    [ ! -e "$WORK/refuse" ] || { cat "$WORK/refuse" >&2; exit 255; }
    for word; do case $before in --output) : >"$word" ;; esac; before=$word; done
    read -r line && echo "$line" >>"$WORK/calls" && echo ack
    read -r line && echo "$line" >>"$WORK/calls"
    [ ! -e "$WORK/said" ] || cat "$WORK/said" >&2 ;;
report) cat "$WORK/report" ;;
esac
X
chmod +x stub/perf
cp "$ROOT/tests/fuzz/corpus/perf_report/functions" report
export WORK
plain=$PATH
PATH=$WORK/stub:$plain
profiled() { "$BENCHWRAP" -q -e p --profile-code "$@"; }
shown() { "$BENCHWRAP" show last --json | jq -r "$1"; }
missing() { shown '.missing[] | select(.key == "code_profile.samples").reason'; }

is "output, exit status and arguments are the program's" "$(profiled -- sh -c 'echo out; echo err >&2; exit 3' 2>err; echo "$?")|$(cat err)" "out
3|err"
is "perf samples before the program's exec, and is told to stop" "$(tr '\n' '|' <calls | sed 's/--pid=[0-9]* //; s/--output [^|]*/FILE/; s/--input [^|]*/FILE/')" \
    "record --freq=99 --delay=-1 --control=fd:0,1 --no-buildid --no-buildid-cache --max-size=64M FILE|enable|stop|report --stdio --no-inline --percent-limit=0 --fields=sample,dso,sym,comm --field-separator=	 FILE|"
like "show has the functions with most samples" "$("$BENCHWRAP" show last)" '^Profile +52\.1 % hot \(b\), 25\.4 % foo::bar \(c\), 14\.1 % warm \(b\), 4\.23 % finish_task_switch\.isra\.0 \(\[kernel\.kallsyms\]\).* and 1 more; 71 samples'
is "… as JSON" "$(shown '.functions | [length, .[0].function, .[0].samples, (map(.samples) | add)] | join(" ")')" "7 hot 37 71"
like "… and in a report" "$("$BENCHWRAP" report last --format markdown)" '^\| <code>hot</code> \| <code>b</code> \| 52\.1 \| 37 \|'
is "the artifact" "$(head -n 2 mlruns/*/"$(shown .id)"/artifacts/code_profile.folded)" "b;b;hot 37
a:b;c;foo::bar 18"
is "perf's own file is gone" "$(find . -name 'perf.data*')" ""
is "facts" "$(shown '[.tags["code_profile.event"], .params["code_profile.frequency_Hz"], (.metrics[] | select(.key == "code_profile.samples" or .key == "code_profile.lost").value)] | join(" ")')" "cpu-clock:ppp 99 0 71"
is "a signal is the program's" "$(profiled -- sh -c 'kill -TERM $$' 2>/dev/null; echo $?)" 143
is "standard input is the program's" "$(echo in | profiled -- cat)" in

"$BENCHWRAP" -q -e p -- sh -c 'echo out; echo err >&2; exit 3' >/dev/null 2>&1
like "it is an input of comparisons" "$("$BENCHWRAP" compare "$("$BENCHWRAP" ls -e p --json | jq -r '.[-1].id')" last 2>/dev/null)" '^Inputs that differ: code_profile.frequency_Hz'
cp "$ROOT/tests/fuzz/corpus/perf_report/hostile" report
profiled -- true
is "a hostile name is escaped" "$(cat mlruns/*/"$(shown .id)"/artifacts/code_profile.folded)" "ev.il;c;foo::bar 18"
like "… and what it tore is reported" "$(shown '.warnings[].text')" 'code profile: 1 line of perf report cannot be read'
echo '[ perf record: perf size limit reached (65536 KB), stopping session ]' >said
profiled -- true
like "a file that was full" "$(shown '.warnings[].text')" 'it has only the first part of the program'
rm said

# ranks, repetitions
SLURM_JOB_ID=1 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=2 profiled -- true; before=$(wc -l <calls)
is "a rank that records nothing has no perf" "$before" "$(wc -l <calls)"
profiled --repeat 2 -- true >/dev/null 2>&1
is "each repetition has its profile, the parent run the input" "$("$BENCHWRAP" ls -c --json | jq -r '.[0:3][].id' | while read -r id; do "$BENCHWRAP" show "$id" --json | jq -r '"\(.params["code_profile.frequency_Hz"]) \(.functions | length)"'; done | sort | tr '\n' ' ')" "99 0 99 1 99 1 "
profiled --repeat 2 --as steps -- true >/dev/null 2>&1
is "… of steps as its files" "$(cd mlruns/*/"$(shown .id)"/artifacts/runs && echo *.folded)" "run-0001-code_profile.folded run-0002-code_profile.folded"

# refused
cat >refuse <<'X'
Error:
Access to performance monitoring and observability operations is limited.
Consider adjusting /proc/sys/kernel/perf_event_paranoid setting to open
X
is "the kernel refuses: the program runs" "$(profiled -- echo out)" out
is "… and the reason is recorded" "$(missing)" "perf record: Access to performance monitoring and observability operations is limited."
like "… and shown" "$("$BENCHWRAP" show last)" '^Profile +missing: perf record: Access to performance'
is "… the run has the key of one without a profile" "$(shown '.params["code_profile.frequency_Hz"] // "none"')" none
rm refuse
echo nonsense >report; profiled -- true
is "no sample" "$(missing)" "perf has no sample: the program was too short, or changed its user"
PATH=$plain
mkdir bin && for tool in sh cat; do ln -s "$(command -v $tool)" bin/; done
is "without perf the program runs" "$(PATH=$WORK/bin profiled -- cat <<<out)" out
is "… and the reason is recorded" "$(missing)" "perf was not found in PATH"

if [ -z "$real" ]; then
    skip_here "perf itself" "perf is not installed"
    done_testing
    exit
fi
# The real one, where the kernel lets it.
# shellcheck disable=SC2016
is "the real perf: the program's output and status" "$(profiled -- sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; echo $i; exit 4'; echo $?)" "200000
4"
if why=$(missing) && [ -n "$why" ]; then
    skip_here "… and its functions" "$why"
else
    ok "… and its functions" [ "$(shown '[.functions[] | select(.module | test("^(dash|bash|sh|busybox)$")).samples] | add')" -gt 0 ]
fi
done_testing
