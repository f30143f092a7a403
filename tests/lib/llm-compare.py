"""llm-compare.py RECORDS LOG: llmload's gaps and first tokens (--records) against what llm-timed wrote down. Prints one JSON object."""
import json, sys
sent, totals = {}, None
for line in open(sys.argv[2]):
    if line[0] == "#": totals = [int(x) for x in line[1:].split()]
    else:
        r, k, t = line.split()
        sent.setdefault(int(r), {})[int(k)] = int(t)
errors, compared, requests, ttft, missing = [], 0, 0, [], 0
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["error"]: continue
    requests += 1
    true = sent.get(int(r["metadata"]["x_request_id"]))
    if not true: missing += 1; continue
    gaps = r["metrics"]["inter_chunk_latency"]["value"]
    if len(gaps) != len(true) - 1: missing += 1; continue
    shared = set(r["metadata"].get("shared_gaps", []))
    for k, g in enumerate(gaps):
        if k in shared: continue
        compared += 1; errors.append(abs(g - (true[k + 1] - true[k]) / 1e6))
    if "time_to_first_token" in r["metrics"]: ttft.append(r["metrics"]["time_to_first_token"]["value"]) # else a late read brought it
errors.sort(); ttft.sort()
q = lambda v, p: round(v[min(len(v) - 1, int(p * len(v)))], 6) if v else None
print(json.dumps({"requests": requests, "missing": missing, "compared": compared, "error_median_ms": q(errors, .5), "error_mean_ms": sum(errors) / len(errors) if errors else None,
                  "error_p99_ms": q(errors, .99), "ttft_median_ms": q(ttft, .5), "server_span_s": (max(max(v.values()) for v in sent.values()) - min(min(v.values()) for v in sent.values())) / 1e9, "server_requests": totals[0], "server_tokens": totals[1]}))
