#!/bin/sh
# benchwrap history: change points, what else changed, outliers, gate; histories with gaps, copies, failed and retracted runs.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
printf '#!/bin/sh\necho "rate: 123 MiB/s"\n' >prog && chmod +x prog
"$BENCHWRAP" -q -e demo -- ./prog 10 >/dev/null 2>&1
run=$(dirname mlruns/*/*/meta.yaml)
rate='"details": {"rate_MB_per_s": {"direction": "higher", "unit": "MB_per_s"}}'
python3 - "$rate" >specs <<'P'
import random, sys
random.seed(4)
for i in range(44):
    slow = i >= 30
    v = 1000 * (1 + .01 * random.gauss(0, 1)) * (.9 if slow else 1) * (.6 if i == 12 else 1)
    print('{"metrics": {"rate_MB_per_s": %r}, %s, "params": {"kernel.release": "6.1.0-3%d", "memory.total_GiB": "%d"}, "status": "%s"}' %
          (v, sys.argv[1], slow, i % 3, "FAILED" if i == 5 else "FINISHED"))
    if i == 20: # other inputs
        for k in range(3): print('{"metrics": {"rate_MB_per_s": 5}, "argv": ["./prog", "11"]}')
P
"$TESTLIB/make_history.py" --remove "$run" <specs >ids
first=$(sed -n 34p ids)
cp -r "$(dirname "$run")/$(sed -n 2p ids)" "$(dirname "$run")/00000000000040008000000000000000" # a copy
sed -i "s/$(sed -n 2p ids)/00000000000040008000000000000000/g" "$(dirname "$run")/00000000000040008000000000000000/meta.yaml"
"$BENCHWRAP" history -e demo >out 2>err
is "history succeeds" $? 0
is "nothing on stderr" "$(cat err)" ""
like "the answer is first" "$(head -1 out)" "^  Regression: rate -(9|10|11)[.0-9]* % since run $(printf %.8s "$first")\\.\$"
like "the change in the table" "$(cat out)" "^  $(printf %.8s "$first")  .* rate +.* regression\$"
like "what else changed, and nothing that changes all the time" "$(cat out)" "^  run $(printf %.8s "$first"): also changed: kernel.release 6.1.0-30 -> 6.1.0-31\$"
like "a single deviation is an outlier" "$(cat out)" "^  Outliers: rate .* in run $(sed -n 13p ids | cut -c1-8)\$"
like "what is left out" "$(cat out)" "^  Runs left out: 1 did not finish, 1 copies of another run\\.\$"
like "other inputs are another key" "$(cat out)" "^  1 other comparison key with fewer than 7 runs\\.\$"
like "the next step" "$(tail -1 out)" "^  hint: benchwrap explain [0-9a-f]{8} $(printf %.8s "$first")\$"
"$BENCHWRAP" history last --gate >/dev/null
is "--gate: a regression among the newest 20 runs" $? 3
"$BENCHWRAP" history last --gate --last 5 >/dev/null
is "--gate: not among the newest 5" $? 0
# ---- changes as annotations, by the exporter of the howto, whose template is for runs ----
mkdir -p "$HOME/.config/benchwrap" e
python3 "$TESTLIB/http-endpoint.py" "$WORK/e" 2>/dev/null & endpoint=$!
wait_until '[ -e e/port ]'
{ printf 'exporters:\n  - type: httpjson\n'; sed -n '/^    name: annotations/,/^```/p' "$ROOT/docs/howto-exporter.md" | grep -v '^```' | sed "s,https://grafana.example.org,http://127.0.0.1:$(cat e/port)/ok,; s,{file: [^}]*},{env: GRAFANA},"; } >"$HOME/.config/benchwrap/config.yaml"
export GRAFANA=glsa_x
is "--to delivers each change, and prints the same" "$("$BENCHWRAP" history -e demo --to annotations 2>err | cmp - out; cat err)" "benchwrap: history: 1 change delivered to annotations"
is "... as an annotation" "$(jq -c '[.path, .headers.authorization, (.body | .tags, (.time > 1e12), .data.run, .data.metric)]' e/got.jsonl)" "[\"/ok/api/annotations\",\"Bearer glsa_x\",[\"benchwrap\",\"change\",\"regression\",\"demo\",\"rate_MB_per_s\"],true,\"$first\",\"rate_MB_per_s\"]"
like "... with what changed there" "$(jq -r .body.text e/got.jsonl)" "^demo: rate -(9|10|11)[.0-9]* % since run $(printf %.8s "$first"), regression, from [0-9.]+ MB/s to [0-9.]+ MB/s\. Also changed: kernel.release 6.1.0-30 -> 6.1.0-31\$"
is "... once, and with --gate" "$("$BENCHWRAP" history -e demo --gate --to annotations 2>&1 >/dev/null; echo $? $(wc -l <e/got.jsonl))" "benchwrap: history: 0 changes delivered to annotations, 1 known there
3 1"
kill $endpoint; wait $endpoint 2>/dev/null
printf 'exporters:\n- {type: jsonl, name: lake, file: %s/gone/lake}\n' "$WORK" >"$HOME/.config/benchwrap/config.yaml"
mkdir gone; "$BENCHWRAP" history --to lake >/dev/null 2>&1
is "an exporter has its own" "$(jq -r .data.run gone/lake)" "$first"
like "an exporter that is not configured" "$("$BENCHWRAP" history --to nope 2>&1 >/dev/null)" 'no exporter has the name nope'
# ---- what is sent has the profile of what is shared: a public note has no names, and no values of private runs ----
for profile in public private; do
    "$BENCHWRAP" -q -t "of-$profile" -e demo -- ./prog 10 >/dev/null 2>&1
    python3 - $profile "$rate" <<'P' | "$TESTLIB/make_history.py" --remove "$(dirname of-$profile/mlruns/*/*/meta.yaml)" >/dev/null
import random, sys
random.seed(4)
for i in range(20):
    print('{"metrics": {"rate_MB_per_s": %r}, %s, "params": {"kernel.release": "6.%d by kq7user"}, "tags": {"benchwrap.profile": "%s"}}' %
          ((900 if i >= 10 else 1000) * (1 + .01 * random.gauss(0, 1)), sys.argv[2], i >= 10, sys.argv[1]))
P
done
sent() { # TREE PROFILE: the facts that the note names
    rm -rf .benchwrap gone/lake "$1/.benchwrap"
    USER=kq7user BENCHWRAP_PROFILE=$2 "$BENCHWRAP" history -t "$1" --to lake >/dev/null 2>&1
    jq -r '.text | sub(".*Also changed: "; "")' gone/lake
}
is "a private profile sends what the record has" "$(sent of-private private)" "kernel.release 6.0 by kq7user -> 6.1 by kq7user"
like "a public one replaces the names in it" "$(sent of-public public)" '^kernel\.release 6\.0 by uuu[0-9u]+ -> 6\.1 by uuu[0-9u]+$'
is "... and sends no value of a private run" "$(sent of-private public)" "kernel.release (private) -> (private)"
rm "$HOME/.config/benchwrap/config.yaml"
"$BENCHWRAP" history --gate --min-effect 20% >out
is "--gate: the change is smaller than --min-effect" $? 0
like "no change" "$(head -1 out)" "^  No change: "
"$BENCHWRAP" history last --json >j
ok "--json is a document with the change" python3 - "$first" <<'P'
import json, sys
d = json.load(open("j"))
g, = d["groups"]
m, = [m for m in g["metrics"] if m["key"] == "rate_MB_per_s"]
c, = m["changes"]
assert c["run"] == sys.argv[1] and c["verdict"] == "regression" and c["ratio_low"] < .9 < c["ratio_high"] and c["p"] < 1e-6, c
assert [x["key"] for x in c["changed"]] == ["kernel.release"] and [o["kind"] for o in m["odd"]] == ["outlier"]
assert g["runs"] == 43 and d["left_out"] == {"not_finished": 1, "copies": 1, "in_the_future": 0, "damaged": 0}
P
"$BENCHWRAP" retract "$(sed -n 13p ids)" --why test >/dev/null 2>&1
is "a retracted run does not count" "$("$BENCHWRAP" history last | grep -c -e Outliers -e '^  Regression: ')" 1
is "compare --history judges by the same runs, a copy counts once" \
    "$("$BENCHWRAP" compare --history last --json | jq '.history | length') of $("$BENCHWRAP" history last --json | jq '.groups[0].runs')" "41 of 42"
like "a run without history is refused, with its one reason" "$("$BENCHWRAP" history "$(sed -n 6p ids)" 2>&1)" "has no history: it did not finish\$"
like "too few runs" "$("$BENCHWRAP" history "$(sed -n 22p ids)" 2>&1 | head -1)" "^  Too few runs: 3 with the same inputs, 7 are needed\\.\$"
"$BENCHWRAP" -q -e zero -- ./prog 10 >/dev/null 2>&1
like "a run is of the experiment that is named" "$("$BENCHWRAP" history "$(sed -n 22p ids)" -e zero 2>&1)" ': the run [0-9a-f]{8} is of the experiment demo, not of zero$'
for i in 0 0 0 0 0 0 0 0 5 5 5 5 5 5 5 5; do echo "{\"metrics\": {\"lost\": $i}}"; done >zero
"$TESTLIB/make_history.py" --light --remove "$(dirname "$(grep -l zero mlruns/*/meta.yaml)")"/????????????4*[0-9a-f] <zero >zids
like "a change from zero has values instead of a ratio" "$("$BENCHWRAP" history -e zero | head -1)" "^  Different: lost from 0 to 5 since run $(sed -n 9p zids | cut -c1-8)\\.\$"
is "two runs are refused" "$("$BENCHWRAP" history last last~1 2>&1 | head -1)" "benchwrap: history: expected one run or none, got 2"

# ---- metrics that few runs have, and statistics of a metric that only runs with other inputs have ----
"$BENCHWRAP" -q -e few -- ./prog 10 >/dev/null 2>&1
for i in 1 2 3 4 5 6 7 8 9; do
    echo "{\"metrics\": {\"lag.max\": $i$([ $i -gt 3 ] || echo ', "rare": 1, "seldom": 1')}}"
    echo "{\"metrics\": {\"lag\": $i}, \"argv\": [\"./prog\", \"11\"]}"
done >few
"$TESTLIB/make_history.py" --light --remove "$(dirname "$(grep -l few mlruns/*/meta.yaml)")"/????????????4*[0-9a-f] <few >/dev/null
is "a statistic counts where its metric is one of runs with other inputs" \
    "$("$BENCHWRAP" history -e few --json | jq -c '[.groups[].metrics | map(.key) | sort] | sort' | tr -d ' ')" '[["lag","run.wall_s"],["lag.max","rare","run.wall_s","seldom"]]'
like "metrics of too few values are not among those without a change" "$("$BENCHWRAP" history -e few --min-effect 9 | head -1)" '^  No change: 2 metrics of 9 runs\.$'

# ---- a sweep: the histories of its points ----
printf '#!/bin/sh\necho "rate: $(cat rate) MiB/s"\n' >prog
printf 'name: prog\nversion: "1"\nreaders:\n  - name: line\n    regex: "^rate: (?<r>\\\\S+)"\n    metrics:\n      - {name: rate, cell: r, unit: MB_per_s, from: MB/s, better: higher, headline: max}\n' >prog.yaml
for rate in 200 201 199 200 202 123 125 124; do
    echo $rate >rate
    "$BENCHWRAP" -q -e points --rules prog.yaml --sweep n=1,2 -- ./prog {n} >/dev/null 2>&1
    [ $rate != 200 ] || like "a sweep: the answer is first" "$("$BENCHWRAP" history last --gate 2>&1 | head -n 1)" "^  Too few runs: [14] with the same inputs, 7 are needed\\.\$"
done
"$BENCHWRAP" history last --gate >out 2>&1
is "a regression at its points closes the gate" "$?" 3
like "... the answer is first" "$(head -n 1 out)" "^  Regression: rate "
is "the histories are those of its points" "$("$BENCHWRAP" history last --json | jq -c '[.groups[].runs]')" "[8,8]"
done_testing
