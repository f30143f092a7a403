#!/bin/sh
# t1204: `taskrate compare` and `llmload compare`: many figures, of which chance alone makes some look changed; and one that has changed.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >make.py <<'P'
import json, random, sys
kind, name, seed, factor = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
r = random.Random(seed)
noise = lambda mean: mean * (1 + r.gauss(0, 0.02))
if kind == "taskrate":
    batch = lambda i: {"complete": True, "throughput_per_s": noise(1000 * (factor if i == 0 else 1)), "submit_rate_per_s": noise(2000),
                       "latency": {"start": {"p50_s": noise(.01), "p99_s": noise(.05)}, "turnaround": {"p50_s": noise(.02)}}}
    json.dump({"taskrate": "1", "schema": 1, "provider": {"name": "local"}, "scheduler": {},
               "configurations": [{"label": f"n{i}", "batches": [batch(i) for _ in range(6)]} for i in range(8)], "chain": []}, open(name, "w"))
else:
    keys = ["output_throughput", "total_token_throughput", "mean_ttft_ms", "median_ttft_ms", "p99_ttft_ms", "mean_tpot_ms", "median_tpot_ms", "p99_tpot_ms",
            "mean_itl_ms", "median_itl_ms", "p99_itl_ms", "mean_e2el_ms", "median_e2el_ms", "p99_e2el_ms"]
    json.dump({"completed": 100, "failed": 0, "request_throughput": noise(100 * factor), **{k: noise(10) for k in keys}}, open(name, "w"))
P
taskrate() { "$BUILD/bin/taskrate" compare a.json b.json; }
false_claims() # of 20 comparisons of results that differ by chance alone
{
    for seed in $(seq 20); do
        python3 make.py taskrate a.json "$seed" 1 && python3 make.py taskrate b.json $((seed + 1000)) 1
        taskrate | grep -c 'B is' | grep -cv '^0$'
    done | grep -c '^1$'
}
n=$(false_claims)
ok "taskrate: forty figures that have not changed are claimed in few of 20 comparisons ($n)" test "$n" -le 3
python3 make.py taskrate a.json 1 1 && python3 make.py taskrate b.json 2 0.7
is "taskrate: one that has changed is found, and the exit status says so" "$(taskrate | grep -c '^n0 *throughput .*B is worse'; taskrate >/dev/null; echo $?)" "1
1"
side() { for i in 1 2 3 4 5 6; do python3 make.py llmload "$1$i.json" $(($2 + i)) "$3"; done; }
list() { echo "$1"1.json,"$1"2.json,"$1"3.json,"$1"4.json,"$1"5.json,"$1"6.json; }
n=0
for seed in $(seq 100 100 1500); do
    side a "$seed" 1
    side b $((seed + 50)) 1
    "$BUILD/bin/llmload" compare "$(list a)" "$(list b)" | grep -qE ' (worse|better)( |$)' && n=$((n + 1))
done
ok "llmload: fifteen figures that have not changed are claimed in few of 15 comparisons ($n)" test "$n" -le 3
side b 7 0.7
like "llmload: one that has changed is found" "$("$BUILD/bin/llmload" compare "$(list a)" "$(list b)")" 'request_throughput .* worse  REGRESSION'
done_testing
