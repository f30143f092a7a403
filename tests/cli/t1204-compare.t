#!/bin/sh
# t1204: `benchwrap compare` of stored results, also as `taskrate compare` and `llmload compare`: many metrics, of which chance alone makes some look changed; and one that has changed.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >make.py <<'P'
import json, random, sys
noise = lambda mean: mean * (1 + r.gauss(0, 0.02))
def taskrate(name, factor):
    batch = lambda i: {"complete": True, "throughput_per_s": noise(1000 * (factor if i == 0 else 1)), "submit_rate_per_s": noise(2000),
                       "latency": {"start": {"n": 1000, "p50_s": noise(.01), "p99_s": noise(.05)}, "turnaround": {"n": 1000, "p50_s": noise(.02)}}}
    json.dump({"taskrate": "1", "schema": 1, "provider": {"name": "local"}, "scheduler": {}, "complete": True,
               "configurations": [{"label": f"n{i}", "batches": [batch(i) for _ in range(6)]} for i in range(8)], "chain": []}, open(name, "w"))
def llmload(name, factor):
    times = ["ttft", "tpot", "itl", "e2el"]
    json.dump({"benchmark": "llmload", "version": "1", "backend": "openai-chat", "model_id": "m", "completed": 100, "failed": 0, "request_throughput": noise(100 * factor),
               "output_throughput": noise(1000), "total_token_throughput": noise(1200), **{f"mean_{t}_ms": noise(10) for t in times},
               "metrics": {t: {p: {"value": (v := noise(10)), "ci_low": v * .9, "ci_high": v * 1.1} for p in ["p50", "p99"]} for t in times}}, open(name, "w"))
for kind, name, seed, factor in zip(*[iter(sys.argv[1:])] * 4): # of each result
    r = random.Random(int(seed))
    globals()[kind](name, float(factor))
P
compare() { "$BENCHWRAP" compare "$@" 2>err; }
verdicts() { awk '$NF == "better" || $NF == "worse"'; }
n=0
for seed in 1 2; do # what differs by chance alone
    python3 make.py taskrate a.json "$seed" 1 taskrate b.json $((seed + 1000)) 1
    [ -z "$(compare a.json b.json | verdicts)" ] || n=$((n + 1))
done
ok "taskrate: forty metrics that have not changed are claimed in few of 2 comparisons ($n)" test "$n" -le 1
python3 make.py taskrate a.json 1 1 taskrate b.json 2 0.7
like "taskrate: one that has changed is found" "$("$BUILD/bin/taskrate" compare a.json b.json 2>&1 | verdicts)" '^n0\.throughput .*worse$'
compare a.json b.json --gate >out; like "and --gate says so by its status" "$? $(cat err)" '^3 benchwrap: compare: --gate: 1 metric is worse by 5 % or more'
compare a.json b.json --gate --threshold 50 >out; is "but not below --threshold" "$?" 0
compare a.json b.json --threshold x >out; like "a threshold that is no number is refused" "$? $(cat err)" '^125 benchwrap: compare: --threshold: expected a percentage >= 0, got "x"'
is "the JSON is that of runs" "$(compare --json a.json b.json | jq -c '[.groups[].name, (.metrics[] | select(.key | startswith("n0_throughput") or startswith("n0.throughput")) | .groups[1].verdict)]')" '["a.json","b.json","worse"]'
# shellcheck disable=SC2046 # words
side() { python3 make.py $(for i in 1 2 3 4 5 6; do echo llmload "$1$i.json" $(($2 + i)) "$3"; done); }
list() { echo "$1"1.json,"$1"2.json,"$1"3.json,"$1"4.json,"$1"5.json,"$1"6.json; }
n=0
for seed in 100 200; do
    side a "$seed" 1
    side b $((seed + 50)) 1
    [ -z "$(compare "$(list a)" "$(list b)" | verdicts)" ] || n=$((n + 1))
done
ok "llmload: fifteen metrics that have not changed are claimed in few of 2 comparisons ($n)" test "$n" -le 1
side b 7 0.7
like "llmload: one that has changed is found" "$("$BUILD/bin/llmload" compare "$(list a)" "$(list b)" 2>&1 | verdicts)" '^request.throughput .* worse$'
# Two single results: percentiles have intervals of their own.
python3 - <<'P'
import json
d = json.load(open("a1.json"))
for name, p50, p99 in [("one.json", 10, 10), ("two.json", 20, 10.3)]:
    for p, v in [("p50", p50), ("p99", p99)]: d["metrics"]["ttft"][p] = {"value": v, "ci_low": v * .96, "ci_high": v * 1.04}
    json.dump(d, open(name, "w"))
P
compare one.json two.json -a >out
like "single results: intervals that do not overlap are a change" "$(grep '^ttft\.p50 ' out)" ' worse$'
like "those that overlap are none" "$(grep '^ttft\.p99 ' out)" '(no difference|same)$'
# What is no result.
echo '{"x": 1}' >other.json; printf '{"taskrate":"1","sch' >torn.json
compare other.json a.json >out; like "a file that no rules know" "$? $(cat err)" '^1 benchwrap: compare: other.json: no rules know this output; import it with "benchwrap import --rules NAME"'
compare a.json nothere.json >out; like "a file that is not there" "$? $(cat err)" '^1 benchwrap: compare: expected files alone or runs alone: "nothere.json" is not a file'
mkdir "$WORK/temporary" # a folder of its own: other tests compare, too, at the same time
for files in "one.json two.json" "torn.json a.json"; do
    # shellcheck disable=SC2086 # words
    TMPDIR=$WORK/temporary compare $files >/dev/null
done
is "nothing is recorded, and nothing is left" "$(ls -d mlruns .benchwrap "$WORK"/temporary/* 2>/dev/null)" ""
done_testing
