"""llm-recount.py RESULT RECORDS CSV SCHEDULE: every figure of llmload's result (--json) computed anew from what it wrote down of each request (--records, --csv) and of
the arrivals (--schedule-out). Prints what differs, one line each; nothing: all agrees. Written from the definitions that the result prints, without any of llmload's code."""
import csv, json, math, sys
result = json.load(open(sys.argv[1]))
records = [json.loads(line) for line in open(sys.argv[2])]
table = {row["index"]: row for row in csv.DictReader(open(sys.argv[3]))}
BUCKET = 2.0 ** -11 + 1e-6 # half a bucket's width, and the rounding of a printed gap


def ns(text): # seconds with nine digits, as a whole number
    return int(text.replace(".", "")) if text else None


def differ(what, shown, computed, share=1e-9, room=0.0):
    if shown is None and computed is None: return
    if shown is None or computed is None or abs(shown - computed) > share * abs(computed) + room:
        print(f"{what}: shown {shown}, computed {computed}")


def order(values, p):
    return sorted(values)[max(0, math.ceil(p * len(values) - 1e-9) - 1)]


def least(p): # samples so that with 99 % certainty at least two lie above
    n = 1
    while p ** n + n * p ** (n - 1) * (1 - p) > 0.01: n += 1
    return n


def ranks(n, p): # the 95 % interval's ranks by the binomial distribution
    if n > 2000:
        half = 1.959964 * math.sqrt(n * p * (1 - p))
        low, high = math.floor(n * p - half), math.ceil(n * p + half) + 1
    else:
        total, low, high = 0.0, 0, None
        for k in range(n + 1):
            total += math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(p) + (n - k) * math.log1p(-p))
            if total <= 0.025: low = k + 1
            if high is None and total >= 0.975: high = k + 1
    return low, high


def check_metric(name, values, mean=None):
    shown = result["metrics"][name]
    differ(name + ".n", shown["n"], len(values))
    if not values: return
    average = sum(values) / len(values)
    if shown["mean"] is not None or not shown["not_known"]: differ(name + ".mean", shown["mean"], average if mean is None else mean, 1e-5)
    differ(name + ".sd", shown["sd"], math.sqrt(sum((v - average) ** 2 for v in values) / len(values)), 1e-4, 1e-6)
    differ(name + ".min", shown["min"], min(values), 1e-5)
    unknown, n = shown["not_known"], len(values)
    if shown["max"] is not None or not unknown: differ(name + ".max", shown["max"], max(values), 1e-5)
    every = {p: ranks(n + unknown, p) for p in (float(q) / 100 for q in ("50", "90", "95", "99", "99.9"))}
    is_open = {p: unknown and (math.ceil(p * (n + unknown) - 1e-9) > n or not high or high > n) for p, (_, high) in every.items()}
    for point in ("p50", "p90", "p95", "p99", "p99.9"):
        p = float(point[1:]) / 100
        if n < least(p) or is_open[p]:
            differ(f"{name}.{point}", shown[point]["value"], None)
            continue
        differ(f"{name}.{point}", shown[point]["value"], order(values, p), BUCKET)
        held = (every[p][0] - unknown, every[p][1])
        if held[0] < 1 or not held[1] or held[1] > n: held = None
        for k, end in enumerate(("ci_low", "ci_high")):
            differ(f"{name}.{point}.{end}", shown[point].get(end), sorted(values)[held[k] - 1] if held else None, BUCKET)
    if name in ("ttft", "tpot", "itl", "e2el"):
        differ(f"mean_{name}_ms", result[f"mean_{name}_ms"], shown["mean"])
        differ(f"median_{name}_ms", result[f"median_{name}_ms"], None if is_open[0.5] else order(values, 0.5), BUCKET)
        differ(f"std_{name}_ms", result[f"std_{name}_ms"], shown["sd"])
        for point in ("p50", "p90", "p95", "p99", "p99.9"): differ(f"{point}_{name}_ms", result[f"{point}_{name}_ms"], None if is_open[float(point[1:]) / 100] else order(values, float(point[1:]) / 100), BUCKET) # vLLM's names: of any number of samples


def known(early, length): # an arrival that may be early is a sample if it is known to 0.1 ms or 1 %
    return early <= 100000 or early * 100 <= length


measured, good, gaps, all_gaps = [], [], [], []
endings = {"measure": {}, "warmup": {}}
for r in records:
    row, m = table[str(r["metadata"]["request_index"])], {k: v["value"] for k, v in r["metrics"].items()}
    where = "request " + row["index"]
    if r["metadata"]["benchmark_phase"] != {"measure": "profiling"}.get(row["phase"], row["phase"]): print(where, "phases differ", r["metadata"]["benchmark_phase"], row["phase"])
    if r["metadata"]["ending"] != row["ending"]: print(where, "endings differ")
    differ(where + " start", r["metadata"]["request_start_ns"], ns(row["sent_at"]))
    differ(where + " end", r["metadata"]["request_end_ns"], ns(row["ended_at"]))
    differ(where + " scheduled", r["metadata"]["scheduled_ns"], ns(row["scheduled_at"]))
    if row["phase"] in endings: endings[row["phase"]][row["ending"]] = endings[row["phase"]].get(row["ending"], 0) + 1
    if row["phase"] != "measure": continue
    measured.append(row)
    chunks = m.get("inter_chunk_latency", [])
    shared = set(r["metadata"].get("shared_gaps", []))
    first_early, last_early = r["metadata"].get("first_token_early_ns", 0), r["metadata"].get("last_token_early_ns", 0)
    all_gaps += chunks
    gaps += [g for k, g in enumerate(chunks) if k not in shared]
    if row["ending"] != "ok": continue
    sent, first, last, tokens = ns(row["sent_at"]), ns(row["first_at"]), ns(row["last_at"]), int(row["output_tokens"])
    second_known = bool(chunks) and known(first_early + r["metadata"].get("second_token_early_ns", 0), round(chunks[0] * 1e6))
    first_known, last_known, span_known = known(first_early, first - sent), known(last_early, last - sent), known(first_early + last_early, last - first)
    differ(where + " ttft", m.get("time_to_first_token"), (first - sent) / 1e6 if first_known else None, 1e-6)
    differ(where + " ttft in the table", float(row["ttft_ms"]) if row["ttft_ms"] else None, (first - sent) / 1e6 if first_known else None, 0, 1e-6)
    differ(where + " latency", m.get("request_latency"), (last - sent) / 1e6 if last_known else None, 1e-6)
    differ(where + " gaps", sum(chunks), (last - first) / 1e6, 1e-5, 1e-4)
    differ(where + " tokens", m["output_sequence_length"], tokens)
    sample = {"ttft": (first - sent) / 1e6, "tpot": (last - first) // (tokens - 1) / 1e6 if tokens > 1 else None, "e2el": (last - sent) / 1e6, "decode": (last - first) / 1e6,
              "ttft_from_schedule": (first - ns(row["scheduled_at"])) / 1e6, "e2el_from_schedule": (last - ns(row["scheduled_at"])) / 1e6,
              "output_rate_per_user": (tokens - 1) / ((last - first) / 1e9) if tokens > 1 and last > first else None, "prefill_rate": int(row["input_tokens"]) / ((first - sent) / 1e9) if first > sent else None,
              "input_tokens": int(row["input_tokens"]), "output_tokens": tokens, "ttst": chunks[0] if chunks else None}
    needs = {"first": ("ttft", "ttft_from_schedule", "prefill_rate"), "second": ("ttst",), "last": ("e2el", "e2el_from_schedule"), "span": ("tpot", "decode", "output_rate_per_user")}
    for what, is_known in (("first", first_known), ("second", second_known), ("last", last_known), ("span", span_known)):
        for name in needs[what]: sample["true " + name] = sample[name]; sample[name] = sample[name] if is_known else None
    if tokens > 1 and last == first and not span_known: sample["true output_rate_per_user"] = math.inf # all in one read: a rate that nobody knows
    if tokens > 1: sample["true tpot"] = (last - first + first_early) // (tokens - 1) / 1e6 # met in any case
    good.append(sample)

if len(records) != len(table): print("records", len(records), "rows", len(table))
if endings["measure"] != result["endings"]: print("endings", endings["measure"], result["endings"])
if endings["warmup"] != result["warmup_endings"]: print("warm-up endings", endings["warmup"], result["warmup_endings"])
completed, inputs, outputs = len(good), sum(g["input_tokens"] for g in good), sum(g["output_tokens"] for g in good)
duration = (max(ns(r["ended_at"]) for r in measured) - min(ns(r["sent_at"]) for r in measured)) / 1e9
for name, computed in {"duration": duration, "completed": completed, "failed": len(measured) - completed, "total_input_tokens": inputs, "total_output_tokens": outputs,
                       "request_throughput": completed / duration, "output_throughput": outputs / duration, "total_token_throughput": (inputs + outputs) / duration}.items():
    differ(name, result[name], computed, 1e-8)
for name in [k for k in good[0] if not k.startswith("true ")]:
    check_metric(name, [g[name] for g in good if g[name] is not None])
    differ(name + ".not_known", result["metrics"][name]["not_known"], sum(g.get("true " + name) is not None and g[name] is None for g in good))
differ("itl.not_known", result["metrics"]["itl"]["not_known"], len(all_gaps) - len(gaps))
check_metric("itl", gaps, sum(all_gaps) / len(all_gaps))
differ("itl_gaps", result["tokens"]["itl_gaps"], len(all_gaps))
differ("itl_gaps_shared_stamp", result["tokens"]["itl_gaps_shared_stamp"], len(all_gaps) - len(gaps))
check_metric("send_lag", [(ns(r["sent_at"]) - ns(r["scheduled_at"])) / 1e6 for r in measured])
if result.get("goodput"):
    met = sum(all(result["goodput"][k + "_ms"] is None or (g[by] or 0) <= result["goodput"][k + "_ms"] for k, by in
              (("ttft", "true ttft_from_schedule"), ("tpot", "true tpot"), ("e2el", "true e2el_from_schedule"))) for g in good)
    differ("goodput.good", result["goodput"]["good"], met)
    differ("goodput.share", result["goodput"]["share"], met / len(measured))
    differ("request_goodput", result["request_goodput"], met / duration, 1e-8)

# Concurrency and what ended in the window; arrivals are exact, so the run's begin is known.
planned = {row["index"]: float(row["at_s"]) for row in csv.DictReader(open(sys.argv[4]))}
begin = round(min(ns(r["scheduled_at"]) - planned[i] * 1e9 for i, r in table.items()))
low = begin + int(result["load"]["warmup_s"] * 1e9)
high = low + int(result["load"]["window_s"] * 1e9)
spans = [(ns(r["sent_at"]), ns(r["ended_at"])) for r in table.values()]
flying = peak = 0
for _, step in sorted([(a, 1) for a, _ in spans] + [(b, -1) for _, b in spans]): flying += step; peak = max(peak, flying)
if not peak <= result["max_concurrent_requests"] <= result["max_concurrency"]: print("max_concurrent_requests", result["max_concurrent_requests"], "computed", peak)
differ("window.mean_concurrency", result["window"]["mean_concurrency"], sum(max(0, min(b, high) - max(a, low)) for a, b in spans) / (high - low), 1e-4)
differ("window.completed", result["window"]["completed"], sum(low <= ns(r["ended_at"]) < high for r in table.values() if r["ending"] == "ok"), 0, 1)
differ("window.request_throughput", result["window"]["request_throughput"], result["window"]["completed"] / result["load"]["window_s"])
differ("scheduled", result["load"]["scheduled"], len(measured))
