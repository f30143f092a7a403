#!/bin/bash
# ship-logs: each line once and in order, through rotation, truncation, restarts and kills; records, secrets, dead letters, roles.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
mkdir -p "$WORK/l" && cd "$WORK" || exit 1
ship() { "$BENCHWRAP" ship-logs --once --state "$WORK/state" --out "$WORK/out.jsonl" "$@"; }
lines() { jq -r .RawData "$WORK/out.jsonl"; }
fresh() { rm -rf "$WORK/state" "$WORK/out.jsonl" "$WORK/l" && mkdir "$WORK/l"; }

# ---- records ----
printf '[2025-09-08T21:11:35.869] debug:  sched/backfill: _attempt_backfill: no jobs to backfill\n[2025-09-08T21:11:36.100] error: down\nplain\n' >l/slurmctld.log
is "lines are counted" "$(TZ=UTC ship l/slurmctld.log)" "3 records delivered"
is "the four columns" "$(head -n 1 out.jsonl | jq -c 'keys_unsorted, .TimeGenerated, .RawData, .FilePath')" "[\"TimeGenerated\",\"RawData\",\"Computer\",\"FilePath\"]
\"2025-09-08T21:11:35.869000Z\"
\"[2025-09-08T21:11:35.869] debug:  sched/backfill: _attempt_backfill: no jobs to backfill\"
\"$WORK/l/slurmctld.log\""
is "a restart delivers nothing twice" "$(ship l/slurmctld.log)" "0 records delivered"
echo more >>l/slurmctld.log
is "... and what is new" "$(ship l/slurmctld.log; tail -n 1 out.jsonl | jq -r .RawData)" "1 record delivered
more"
echo more >>l/slurmctld.log
is "... also a line that equals the one before" "$(ship l/slurmctld.log; tail -n 2 out.jsonl | jq -r .RawData)" "1 record delivered
more
more"
rm -rf state out.jsonl
sed -i 4,5d l/slurmctld.log
TZ=UTC ship --parsed l/slurmctld.log >/dev/null
is "Slurm lines are parsed; level and component may be absent" "$(jq -c '[.TimeGenerated[11:23], .Level, .Component, .Message]' out.jsonl | head -n 3)" '["21:11:35.869","debug","sched/backfill","_attempt_backfill: no jobs to backfill"]
["21:11:36.100","error",null,"down"]
["'"$(jq -r '.TimeGenerated[11:23]' out.jsonl | sed -n 3p)"'",null,null,"plain"]'
fresh
printf 'Sep  8 21:11:35 n7 slurmd[12]: launch\n2025-09-08T21:11:36.5+02:00 n8 kernel: oops\n<13>Sep  8 21:11:37 n9 cron: x: y\n' >l/messages
TZ=UTC ship --parsed l/messages >/dev/null
is "syslog of both styles is parsed" "$(jq -c '[.TimeGenerated[5:23], .Computer, .Process, .ProcessId, .Message]' out.jsonl)" '["09-08T21:11:35.000","n7","slurmd",12,"launch"]
["09-08T19:11:36.500","n8","kernel",null,"oops"]
["09-08T21:11:37.000","n9","cron",null,"x: y"]'

# ---- hostile lines ----
fresh
{ printf 'HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345\n'; printf 'a\0b\377\n\n'; head -c 150000 /dev/zero | tr '\0' 'y'; echo end; echo after; } >l/app.log
ship l/app.log >/dev/null
is "secrets are replaced" "$(lines | head -n 1)" "HF_TOKEN=[redacted]*************************"
ok "what is no text is escaped" jq -es '.[1].RawData == "a\u0000b\ufffd" and .[2].RawData == ""' out.jsonl
is "a long line comes in marked parts, complete" "$(lines | sed -n '4,6p' | sed 's/^\[continued\] //; s/ \[continues\]$//' | tr -d '\n' | wc -c) $(lines | grep -c '\[continues\]$') $(lines | tail -n 1)" "150003 2 after"

# ---- rotation ----
fresh
echo 1 >l/app.log; ship "l/*.log" >/dev/null
echo 2 >>l/app.log; mv l/app.log l/app.log.1; echo 3 >l/app.log
mv l/app.log.1 l/app.log.2; mv l/app.log l/app.log.1; echo 4 >l/app.log; echo new >l/other.log
ship "l/*.log" >/dev/null
is "a log that was rotated twice between two calls" "$(jq -r 'select(.FilePath | endswith("app.log")).RawData' out.jsonl | tr '\n' ' ')" "1 2 3 4 "
is "... and a file that appeared later" "$(lines | grep -c new)" 1
echo 5 >>l/app.log; cp l/app.log l/app.log.0; : >l/app.log; echo 6 >>l/app.log; ship "l/*.log" >/dev/null
is "a log that was copied and truncated" "$(jq -r 'select(.FilePath | endswith("app.log")).RawData' out.jsonl | tr '\n' ' ')" "1 2 3 4 5 6 "
echo 7 >>l/app.log; mv l/app.log l/app.log.9; gzip l/app.log.9; echo 8 >l/app.log; ship "l/*.log" >/dev/null
is "a log that was compressed" "$(jq -r 'select(.FilePath | endswith("app.log")).RawData' out.jsonl | tr '\n' ' ')" "1 2 3 4 5 6 7 8 "
printf 'no end' >>l/app.log; touch -d '1 minute ago' l/app.log; ship "l/*.log" >/dev/null
is "a last line without an end" "$(lines | tail -n 1)" "no end"
is "--list names each file, and what waits" "$(echo x >>l/other.log; "$BENCHWRAP" ship-logs --state state --list --json l/app.log l/other.log | jq -c '.[] | [.name, .stream, .pending_bytes]')" '["app","Custom-Text-app_raw_CL",0]
["other","Custom-Text-other_raw_CL",2]'

# ---- live, with kills ----
# Every point of a kill and of a rotation is in tests/unit/logs/logs_follow.c.
if long_tests; then
fresh
"$BENCHWRAP" ship-logs --state state --out out.jsonl "l/*.log" >/dev/null 2>err & pid=$!
wait_until '[ -e state/cursor ]'
is "one process at a time has the state folder" "$(ship "l/*.log" 2>&1 | head -n 1)" "benchwrap: ship-logs: cannot follow the logs: another process does, with the same state folder"
python3 "$TESTLIB/log-writer.py" "$WORK/l/a.log" 20000 8 rename 40000 & w1=$!
python3 "$TESTLIB/log-writer.py" "$WORK/l/b.log" 20000 8 copy 40000 & w2=$!
for _ in 1 2 3; do
    sleep 0.15; kill -9 $pid; wait $pid 2>/dev/null
    "$BENCHWRAP" ship-logs --state state --out out.jsonl "l/*.log" >/dev/null 2>>err & pid=$!
done
wait $w1 $w2
wait_until 'before=${was:-}; was=$(stat -c %y state/cursor); sleep 0.2; [ "$was" = "$before" ]'
kill -TERM $pid; wait $pid
is "SIGTERM ends it with status 0" $? 0
ship "l/*.log" >/dev/null
is "nothing is lost, all in order" "$(jq -r '.RawData | split(" ") | "\(.[1]) \(.[2])"' out.jsonl | awk '{ if ($2 == next_of[$1] + 0) next_of[$1]++; else if ($2 > next_of[$1] + 0) print "gap", $0 } END { print next_of["a.log"], next_of["b.log"] }')" "20000 20000"
is "... and no message" "$(cat err)" ""
fi

# ---- roles and configuration ----
fresh
printf 'role: scheduler\ncomputer: sched1\nto: {type: jsonl, file: %s}\nstate: %s\nlogs:\n- {name: slurmjobs, path: "%s/l/*/job_*"}\n- {path: %s/l/slurmdbd.log, form: parsed}\n' "$WORK/out.jsonl" "$WORK/state" "$WORK" "$WORK" >c.yaml
mkdir l/ada && echo '#!/bin/sh' >l/ada/job_7.sh && echo '[2025-09-08T21:11:36] fatal: no' >l/slurmdbd.log
"$BENCHWRAP" ship-logs --once --config c.yaml >/dev/null
is "tables of the existing set-up" "$("$BENCHWRAP" ship-logs --list --json --config c.yaml | jq -r '.[] | .stream' | grep -v syslog | sort | tr '\n' ' ')" "Custom-Text-slurmjobs_raw_CL Custom-slurmdb_CL "
is "computer" "$(jq -r 'select(.FilePath | endswith("job_7.sh")).Computer' out.jsonl)" sched1
printf 'to: x\nrolle: node\n' >c.yaml
like "an unknown key has its place" "$("$BENCHWRAP" ship-logs --config c.yaml 2>&1)" "c.yaml:2:8: expected to, role, logs"

# ---- an endpoint ----
mkdir e
python3 "$TESTLIB/http-endpoint.py" "$WORK/e" >/dev/null 2>&1 & endpoint_pid=$!
trap 'kill $endpoint_pid; wait $endpoint_pid 2>/dev/null; tap_exit' EXIT
wait_until '[ -e e/port ]'
url=http://127.0.0.1:$(cat e/port)
http() { printf 'to: {type: httpjson, url: "%s", array: yes}\nstate: %s\nlogs:\n- {path: %s/l/app.log}\n' "$1" "$WORK/state" "$WORK" >c.yaml; "$BENCHWRAP" ship-logs --once --config c.yaml --wait 1s "${@:2}"; }
fresh
printf 'good\nbad\nfine\n' >l/app.log
is "a refused record becomes a dead letter" "$(http "$url/refuse/bad")" "2 records delivered, 1 refused (they are in dead.jsonl of the state folder)"
is "... with its reason" "$(jq -r '.record.RawData + " " + .stream + " " + (.why | test("400") | tostring)' state/dead.jsonl)" "bad Custom-Text-app_raw_CL true"
is "... and again, where it is refused again" "$(http "$url/refuse/bad" --resend)" "0 records delivered, 1 refused (they are in dead.jsonl of the state folder)"
is "... and is sent again" "$(http "$url/array" --resend)" "1 record delivered"
echo later >>l/app.log
http "$url/status/503" 2>err >/dev/null
is "an endpoint that accepts nothing: status 1" $? 1
like "... is reported once" "$(cat err)" "they wait in their files"
is "... and what waits goes out later" "$(http "$url/array")" "1 record delivered"
done_testing
