#!/bin/bash
# recipe-kills: a campaign of 20 points is killed at random moments, resumes each time, and ends with the same points.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
mark=$((900000 + $$ % 100000)) kills=${KILLS:-100}
mkdir "$mark" # in the command line of servers, too
left() { pgrep -fa "$mark" | grep -vc benchwrap-core; }
cat >many.yaml <<Y
version: 1
name: many
sweep: {grid: {n: 1..20}}
roles:
  server: {command: [sh, -c, "(setsid sleep $mark &) ; exec python3 -m http.server {port} --bind {host} --directory $WORK/$mark"], ports: {http: 0}, ready: {http: /}}
  client: {command: [sh, -c, "sleep 0.$((kills > 50 ? 9 : 4)); echo rate {n} op/s", "$mark"]}
grace: 500ms
Y
done_points() { "$BENCHWRAP" recipe report many --json 2>/dev/null | jq '[.[] | select(.outcome == "valid")] | length'; }
killed=0
for i in $(seq "$kills"); do
    "$BENCHWRAP" recipe run --local many.yaml >out.$i 2>&1 &
    victim=$!
    sleep "$((RANDOM % 2)).$((RANDOM % 90 + 10))"
    kill "-$([ $((RANDOM % 3)) = 0 ] && echo TERM || echo KILL)" $victim 2>/dev/null && killed=$((killed + 1))
    wait $victim 2>/dev/null
    wait_until '[ "$(left)" = 0 ]'
    [ "$(left)" = 0 ] || tap_fail "kill $i leaves something" "$(pgrep -fa "$mark")"
    [ "$(done_points)" != 20 ] || break
done
echo "# killed $killed times"
"$BENCHWRAP" recipe run --local many.yaml >out 2>err
is "the last execution ends it" "$?" 0
is "with all points" "$(done_points)" 20
is "none was measured to its end twice" "$(jq -s -c 'map(select(.event == "end" and .exit == 0)) | group_by(.label)[] | select(length > 1)' .benchwrap/campaigns/many/points.jsonl)" ""
is "under one run" "$(jq -r 'select(.parent) | .parent' .benchwrap/campaigns/many/points.jsonl | sort -u | wc -l) $(ls -d mlruns/*/*/tags/benchwrap.series | wc -l)" "1 1"
is "check accepts it" "$("$BENCHWRAP" check | grep -c error)" 0
is "nothing is left" "$(left)" 0
done_testing
