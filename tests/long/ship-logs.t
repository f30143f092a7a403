#!/bin/bash
# ship-logs: one million lines of three nodes, with 50 rotations and 20 kills, arrive complete and in order; duplicates only after a kill.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
mkdir n1 n2 n3
lines=333334
run() { "$BENCHWRAP" ship-logs --out "$WORK/out.jsonl" --state "$WORK/state" "$WORK/n*/slurmd.log" >/dev/null 2>>err & pid=$!; }
run
wait_until '[ -e state/cursor ]'
python3 "$TESTLIB/log-writer.py" "$WORK/n1/slurmd.log" $lines 17 rename 12000 & w1=$!
python3 "$TESTLIB/log-writer.py" "$WORK/n2/slurmd.log" $lines 17 copy 12000 & w2=$!
python3 "$TESTLIB/log-writer.py" "$WORK/n3/slurmd.log" $((lines - 2)) 16 twice 12000 & w3=$!
for _ in $(seq "${KILLS:-20}"); do
    sleep "1.$((RANDOM % 10))"
    kill -9 $pid; wait $pid 2>/dev/null
    run
done
wait $w1 $w2 $w3
sleep 1; kill $pid; wait $pid
"$BENCHWRAP" ship-logs --once --out out.jsonl --state state "$WORK/n*/slurmd.log" >/dev/null
result=$(jq -r '.FilePath + " " + (.RawData | split(" ") | .[2])' out.jsonl | awk '{ n = next_of[$1] + 0; if ($2 == n) next_of[$1]++; else if ($2 < n) twice++; else { gaps++; next_of[$1] = $2 + 1 } }
    END { for (f in next_of) all += next_of[f]; print all, gaps + 0; print twice + 0 >"twice" }')
is "one million lines arrive, in order, none is lost" "$result" "1000000 0"
is "no message" "$(cat err)" ""
ok "lines come twice only after kills ($(cat twice) lines, ${KILLS:-20} kills)" [ "$(cat twice)" = 0 -o "${KILLS:-20}" != 0 ]
done_testing
