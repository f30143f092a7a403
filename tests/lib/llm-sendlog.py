"""llm-sendlog.py LOG: what llmfake truly sent (--log): medians and 99th percentiles of the time to the first token, from the request's arrival at the server, and of the
gaps between tokens, in ms. Prints "ttft_p50 ttft_p99 gap_p50 gap_p99"."""
import struct, sys
data = open(sys.argv[1], "rb").read()
assert data[:8] == b"llmfake1"
received, sent = {}, {}
for request, at, event, _ in struct.iter_unpack("=QqII", data[8:8 + (len(data) - 8) // 24 * 24]):
    if event == 0x7fffffff: received[request] = at
    elif event != 0x7ffffffe: sent.setdefault(request, {})[event] = at
ttft = sorted((s[0] - received[r]) / 1e6 for r, s in sent.items() if 0 in s and r in received)
gaps = sorted((s[k + 1] - s[k]) / 1e6 for s in sent.values() for k in s if k + 1 in s)
of = lambda v, p: v[min(len(v) - 1, int(p * len(v)))]
print(*(f"{of(v, p):.6g}" for v in (ttft, gaps) for p in (0.5, 0.99)))
