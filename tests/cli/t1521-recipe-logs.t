#!/bin/bash
# recipe logs and check-logs: the output of all processes of a campaign, merged in the order of time.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >c.yaml <<'Y'
version: 1
name: chat
sweep: {grid: {n: [1, 2]}}
logs: {flush: 1s, alert: [gone]}
roles:
  server: {command: [sh, -c, "echo HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345; echo ERROR gone >&2; exec python3 -m http.server {port} --bind {host}"], ports: {http: 0}, ready: {http: /}}
  client: {command: [sh, -c, "for i in 1 2 3; do echo rate $i{n} op/s; sleep 0.1; done"]}
grace: 1s
Y
"$BENCHWRAP" recipe run --local c.yaml >out 2>err
folder=.benchwrap/campaigns/chat/logs
is "the merged files exist, and the flag" "$(find $folder -type f ! -name 'client.*' ! -name 'server.*' -printf '%f\n' | sort | xargs)" "aggregated.jsonl alerts.log loggers_ready stderr.log stdout.log summary.json"
like "lines have time, node and component" "$(cat $folder/stdout.log)" '^\[20[0-9-]*T[0-9:.]*Z\] \[[^] ]*\] \[client\] rate '
is "secrets are replaced" "$(grep -c 'redacted' $folder/stdout.log) $(grep -c hf_abc $folder/stdout.log $folder/aggregated.jsonl | cut -d: -f2 | xargs)" "1 0 0"
is "JSON lines have the members of the toolkit, and the stream" "$(head -n 1 $folder/aggregated.jsonl | jq -c 'keys_unsorted')" '["timestamp","node","component","message","stream"]'
is "the order is that of time" "$(jq -r .timestamp $folder/aggregated.jsonl | sort -c 2>&1)" ""
is "every check passes" "$("$BENCHWRAP" recipe check-logs --json | jq -r '.[] | .result' | sort | uniq -c | xargs)" "29 good"
is "an alert is stored" "$(sed 's/.*\] //' $folder/alerts.log)" "gone: ERROR gone"
is "a filter by component and number" "$("$BENCHWRAP" recipe logs --component client --last 2 | wc -l)" 2
is "... by severity" "$("$BENCHWRAP" recipe logs --severity error | sed 's/.*\] //')" "ERROR gone"
is "... as JSON" "$("$BENCHWRAP" recipe logs --severity error --json | jq -r '.message + " " + .stream')" "ERROR gone stderr"
is "the summary counts lines" "$("$BENCHWRAP" recipe logs --summary --json | jq -c '[.[] | [.component, .stream, .lines]] | sort | .[0]')" '["client","stdout",6]'
sed -i '$d' $folder/stderr.log
"$BENCHWRAP" recipe check-logs >check; is "a missing line is found: status 1" "$? $(grep -c ' bad ' check)" "1 2"
cat >ids.yaml <<'Y'
version: 1
name: ids
roles:
  c: {command: [sh, -c, "echo Added request chatcmpl-000000000012.; echo took 0.000000000012 s, 1000000000012, 0000000000123; echo X-Request-Id: 000000000012; echo rate 1 op/s"]}
Y
"$BENCHWRAP" recipe run --local ids.yaml >out 2>err
is "lines have the id of their request" "$(jq -r 'select(.request_id) | .request_id' .benchwrap/campaigns/ids/logs/aggregated.jsonl | xargs)" "000000000012 000000000012"
is "by which logs filters" "$("$BENCHWRAP" recipe logs ids --request 12 | sed 's/.*\] //' | xargs)" "Added request chatcmpl-000000000012. X-Request-Id: 000000000012"
is "and finds no other" "$("$BENCHWRAP" recipe logs ids --request 13 | wc -l)" 0
cat >named.yaml <<'Y'
version: 1
name: named
outputs: {stdout: sub/out.txt, stderr: errors.txt, aggregated: all.jsonl}
logs: {alert: Traceback, rotate: 64K, pieces: 2}
roles: {c: {command: [sh, -c, "yes Traceback | head -n 10050; echo warned >&2; echo rate 1 op/s"]}}
Y
"$BENCHWRAP" recipe run --local named.yaml >out 2>err
folder=.benchwrap/campaigns/named/logs
is "a text on every line ends nothing: so many alerts are stored" "$? $(wc -l <$folder/alerts.log) $(tail -n 1 $folder/alerts.log | sed 's/.*\] //')" "0 10001 further lines are only in the merged logs: more than 10000 have a text of logs.alert"
is "logs that are large are compressed, and the newest pieces are kept" "$(ls $folder/sub | wc -l) $(gzip -cd $folder/sub/out.txt.*.gz | grep -c Traceback)" "3 $(($(cat $folder/sub/out.txt.*.gz | gzip -cd | wc -l)))"
number=20
for piece in $folder/sub/out.txt.*.gz; do mv "$piece" "$folder/sub/out.txt.$((++number)).gz"; done
is "check-logs finds the pieces, whatever their numbers are" "$("$BENCHWRAP" recipe check-logs named --json | jq -r '.[] | select(.check == "stdout.same") | .result')" none
sed -i 's/, rotate: 64K, pieces: 2//' named.yaml
"$BENCHWRAP" recipe run --local --new named.yaml >out 2>err
is "check-logs reads the files that the recipe names" "$("$BENCHWRAP" recipe check-logs named --json | jq -r '.[] | .result' | sort | uniq -c | xargs)" "29 good"
sed -i 's/alert: Traceback/jsonl: false/' named.yaml
"$BENCHWRAP" recipe run --local --new named.yaml >out 2>err
is "and none that it leaves out" "$("$BENCHWRAP" recipe check-logs named --json | jq -r '.[] | .result' | sort | uniq -c | xargs)" "19 good 2 none"
for outputs in 'stdout: a, stderr: a' 'stdout: aggregated.jsonl' 'stderr: c.0.n1.out' 'stderr: summary.json' 'aggregated: a/../../b'; do
    sed "s|^outputs.*|outputs: {$outputs}|" named.yaml >bad.yaml
    like "no log has the place of another file: $outputs" "$("$BENCHWRAP" recipe check bad.yaml 2>&1)" 'bad.yaml:3:[0-9]+: (a merged log cannot have the path|outputs.* have the same path)'
done
like "an unknown level is named" "$("$BENCHWRAP" recipe logs --severity loud 2>&1)" 'severity: expected fatal, error'
done_testing
