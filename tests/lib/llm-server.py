"""A small server of the OpenAI API for tests of llmload: llm-server.py PORT-FILE [--slow-start S] [--key KEY] [--die-after N] [--no-usage] [--tokens N] [--cache]

Serves /health (503 until --slow-start after the first time it is asked), /v1/models, /version, /metrics (vLLM's names, counters that are true), /triton (energy), chat and completions, streamed or
not, with log-probabilities: of letters it knows that the answer is B, of echoed prompts that endings with "right" in them are likely. One thread a request."""
import itertools, json, os, sys, time, threading, argparse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ap = argparse.ArgumentParser()
ap.add_argument("port_file"); ap.add_argument("--slow-start", type=float, default=0); ap.add_argument("--key"); ap.add_argument("--die-after", type=int, default=0)
ap.add_argument("--no-usage", action="store_true"); ap.add_argument("--tokens", type=int, default=5); ap.add_argument("--log")
ap.add_argument("--metrics-fail", type=int, default=0) # so many of the first readings
ap.add_argument("--cache", action="store_true") # of prefixes: how many words of a prompt began an earlier one
a = ap.parse_args()
begin = None
seen = []
lock = threading.Lock()
count = {"prompt": 0, "generation": 0, "done": 0, "running": 0}

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *x): pass
    def reply(self, status, body, kind="application/json"):
        body = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status); self.send_header("Content-Type", kind); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        if self.path == "/health":
            global begin
            begin = begin or time.monotonic()
            return self.reply(503 if time.monotonic() - begin < a.slow_start else 200, "")
        if self.path == "/version": return self.reply(200, {"version": "0.99.1"})
        if self.path == "/v1/models": return self.reply(200, {"object": "list", "data": [{"id": "tiny", "owned_by": "vllm", "max_model_len": 4096, "api_key": "secret", "API_KEY": "secret", "hf_token": "secret", "Password": "secret", "tokenizer": "auto"}]})
        if self.path == "/metrics":
            a.metrics_fail -= 1
            if a.metrics_fail >= 0: return self.reply(503, "not yet")
            with lock:
                return self.reply(200, "# TYPE x counter\nvllm:prompt_tokens_total{model_name=\"tiny\"} %d\nvllm:generation_tokens_total{model_name=\"tiny\",engine=\"0\"} %d\n"
                                  "vllm:num_requests_running{engine=\"0\"} %d\nvllm:num_requests_running{engine=\"1\"} 1\nvllm:kv_cache_usage_perc 0.25\nbroken line\n" %
                                  (count["prompt"], count["generation"], count["running"]), "text/plain")
        if self.path == "/triton": # two GPUs of 60 and 40 W
            s = time.monotonic()
            return self.reply(200, "nv_energy_consumption{gpu_uuid=\"a\"} %.3f\nnv_energy_consumption{gpu_uuid=\"b\"} %.3f\nseen_key %d\n" % (60 * s, 40 * s, "Authorization" in self.headers), "text/plain")
        self.reply(404, {"error": {"message": "no such page"}})
    def do_POST(self):
        if not self.path.startswith("/v1/"):
            self.rfile.read(int(self.headers["Content-Length"]))
            return self.reply(404, {"error": {"message": "no such page"}})
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if a.key and self.headers.get("Authorization") != "Bearer " + a.key: return self.reply(401, {"error": {"message": "wrong key"}})
        if a.log:
            with lock, open(a.log, "a") as f: f.write(json.dumps(body) + "\n")
        chat = self.path.endswith("/chat/completions")
        text = " ".join(str(m["content"]) for m in body["messages"]) if chat else body["prompt"]
        tokens = min(body.get("max_tokens") or a.tokens, 1000)
        prompt_tokens = len(text) if isinstance(text, list) else len(text.split())
        cached = 0
        if a.cache:
            words = text.split()
            with lock:
                cached = max([sum(1 for _ in itertools.takewhile(lambda p: p[0] == p[1], zip(words, other))) for other in seen], default=0)
                seen.append(words)
        with lock: count["prompt"] += prompt_tokens; count["generation"] += tokens; count["running"] += 1
        usage = {"prompt_tokens": prompt_tokens, "completion_tokens": tokens, "total_tokens": prompt_tokens + tokens}
        if a.cache: usage["prompt_tokens_details"] = {"cached_tokens": cached}
        if body.get("stream"):
            self.send_response(200); self.send_header("Content-Type", "text/event-stream"); self.send_header("Connection", "close"); self.end_headers()
            self.close_connection = True
            out = lambda o: (self.wfile.write(b"data: " + (o if isinstance(o, bytes) else json.dumps(o).encode()) + b"\n\n"), self.wfile.flush())
            for i in range(tokens):
                piece = {"delta": {"content": "word "}} if chat else {"text": "word "}
                out({"choices": [{"index": 0, **piece, "finish_reason": None if i + 1 < tokens else "length"}]})
                time.sleep(0.002)
            if not a.no_usage: out({"choices": [], "usage": usage})
            out(b"[DONE]")
        else:
            choice = {"index": 0, "finish_reason": "length", **({"message": {"role": "assistant", "content": "B"}} if chat else {"text": " B"})}
            if body.get("echo"):
                offsets, logs, at = [], [], 0
                for word in text.split(" "):
                    offsets.append(max(at - 1, 0)); logs.append(None if not offsets[1:] else -0.1 if "right" in word else -3.0); at += len(word) + 1
                choice["logprobs"] = {"text_offset": offsets, "token_logprobs": logs, "tokens": text.split(" ")}
            elif body.get("logprobs"):
                top = [{"token": "B", "logprob": -0.2}, {"token": " A", "logprob": -2.0}]
                choice["logprobs"] = {"content": [{"token": "B", "logprob": -0.2, "top_logprobs": top}]} if chat else {"top_logprobs": [{" B": -0.2, " A": -2.0}]}
            self.reply(200, {"choices": [choice], **({} if a.no_usage else {"usage": usage})})
        with lock:
            count["running"] -= 1; count["done"] += 1
            if a.die_after and count["done"] >= a.die_after: os._exit(3)

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(a.port_file + ".new", "w") as f: f.write(str(server.server_address[1]))
os.rename(a.port_file + ".new", a.port_file)
server.serve_forever()
