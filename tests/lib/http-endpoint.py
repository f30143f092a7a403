"""http-endpoint.py FOLDER: an endpoint at 127.0.0.1 whose port is in FOLDER/port. It appends each accepted request to FOLDER/got.jsonl, as {path, method, headers, body}.

/ok/…            200
/bytes/…         200; the body is stored in hexadecimal
/status/CODE/…   that status, with the header Retry-After from ?after=S, and a Date that is ?ahead=S in the future
/first/CODE/N/…  that status N times for each path, with Retry-After 1, then 200
/array/…         200 for a JSON array, 400 for all else
/refuse/WORD     400 for a body with this word, else 204
/partial/…       200, with a reply of OTLP that two records were rejected
/echo/…          404, with the path in the body
/hang/…          no reply
/half/…          closes after half of a reply's first line
/drip/…          a reply of one byte a second
"""
import email.utils, gzip, http.server, json, os, sys, time, urllib.parse

folder = sys.argv[1]
seen = {}


class Endpoint(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status, headers=(), error=None):
        body = json.dumps({"error": error or "status %d" % status}).encode() if status >= 300 else b""
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(0 if status == 204 else len(body)))
        self.end_headers()
        self.wfile.write(body)

    def accept(self, raw):
        body = gzip.decompress(raw) if self.headers.get("Content-Encoding") == "gzip" else raw
        one = {"path": self.path, "method": self.command, "headers": {k.lower(): v for k, v in self.headers.items()}, "body": body.hex() if self.path.startswith("/bytes/") else json.loads(body)}
        with open(os.path.join(folder, "got.jsonl"), "a") as f:
            f.write(json.dumps(one) + "\n")
        return one

    def handle_request(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urllib.parse.urlsplit(self.path)
        words = url.path.split("/")
        if self.command == "GET" and words[1] == "ok":
            self.reply(405)
        elif words[1] in ("ok", "bytes"):
            self.accept(raw)
            self.reply(200)
        elif words[1] == "status":
            after = urllib.parse.parse_qs(url.query).get("after")
            ahead = int(urllib.parse.parse_qs(url.query).get("ahead", ["0"])[0])
            self.date_time_string = lambda: email.utils.formatdate(time.time() + ahead, usegmt=True)
            self.reply(int(words[2]), [("Retry-After", after[0])] if after else [])
        elif words[1] == "echo":
            self.reply(404, error="no route for " + self.path)
        elif words[1] == "first":
            seen[url.path] = seen.get(url.path, 0) + 1
            if seen[url.path] <= int(words[3]):
                self.reply(int(words[2]), [("Retry-After", "1")])
            else:
                self.accept(raw)
                self.reply(204)
        elif words[1] == "array":
            good = isinstance(json.loads(raw), list)
            if good:
                self.accept(raw)
            self.reply(204 if good else 400)
        elif words[1] == "refuse":
            good = words[2].encode() not in raw
            if good:
                self.accept(raw)
            self.reply(204 if good else 400)
        elif words[1] == "partial":
            body = b'{"partialSuccess": {"rejectedDataPoints": "2", "errorMessage": "no room"}}'
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        elif words[1] == "hang":
            time.sleep(30)
        elif words[1] == "half":
            self.wfile.write(b"HTTP/1.1 2")
            self.close_connection = True
        elif words[1] == "drip":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            for _ in range(30):
                self.wfile.write(b"x")
                self.wfile.flush()
                time.sleep(1)

    do_POST = do_PUT = do_GET = do_DELETE = handle_request

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


server = Server(("127.0.0.1", 0), Endpoint)
with open(os.path.join(folder, "port.new"), "w") as f:
    f.write(str(server.server_port))
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
server.serve_forever()
