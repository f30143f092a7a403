"""azure-endpoint.py FOLDER: what benchwrap needs of Azure, at https://localhost:PORT (FOLDER/port, certificate FOLDER/ca.pem) and, as the metadata service
of a machine, at http://127.0.0.1:PORT (FOLDER/plain). Each request goes to FOLDER/requests.jsonl: {at, method, path, headers, raw_bytes, body}.

POST /dataCollectionRules/RULE/streams/STREAM   204 for a JSON array with a token that was issued and has not been withdrawn. RULE decides what else happens:
    dcr-status-CODE[-AFTER]   that status, with Retry-After
    dcr-first-CODE-N          that status N times, then 204
    dcr-max-BYTES             413 for more bytes, compressed or not
    dcr-refuse-WORD           400 for a body with this word
    dcr-once                  each token is accepted once: it has expired then
POST /TENANT/oauth2/v2.0/token       a token of FOLDER/expires seconds (3599); tenant `wrong` is refused as Entra does, and repeats the secret
POST /v1/workspaces/ID/query         the count of rows with the RecordId in the query, from the second query on; tokens for api.loganalytics.io alone
GET  /metadata/identity/oauth2/token the same as the metadata service, if FOLDER/metadata exists
"""
import gzip, http.server, json, os, ssl, subprocess, sys, threading, time, urllib.parse

folder = sys.argv[1]
here = lambda name: os.path.join(folder, name)
lock = threading.Lock()
issued, used, seen, serial = {}, {}, {}, 0


class Endpoint(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def reply_json(self, status, value, headers=()):
        self.reply(status, json.dumps(value).encode(), [("Content-Type", "application/json"), *headers])

    def note(self, raw, body):
        one = {"at": self.server.name, "method": self.command, "path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}, "raw_bytes": len(raw), "body": body}
        with lock, open(here("requests.jsonl"), "a") as f:
            f.write(json.dumps(one) + "\n")

    def issue(self, resource, as_text):
        global serial
        with lock:
            serial += 1
            token = f"TOKEN-{serial}"
            issued[token] = resource or ""
        left = int(open(here("expires")).read()) if os.path.exists(here("expires")) else 3599
        text = str if as_text else int
        return {"token_type": "Bearer", "expires_in": text(left), "expires_on": str(int(time.time()) + left), "resource": resource, "access_token": token}

    def ingest(self, raw, rule):
        body = gzip.decompress(raw) if self.headers.get("Content-Encoding") == "gzip" else raw
        words = rule.split("-")
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        error = lambda code, text: {"error": {"code": code, "message": text}}
        with lock:
            used[token] = used.get(token, 0) + 1
            seen[rule] = seen.get(rule, 0) + 1
        if token not in issued and token != "STATIC" or words[1] == "once" and used[token] > 1:
            return self.reply_json(401, error("InvalidToken", "The token has expired"), [("WWW-Authenticate", "Bearer")])
        if words[1] == "status":
            return self.reply_json(int(words[2]), error("Refused", "status " + words[2]), [("Retry-After", words[3])] if len(words) > 3 else [])
        if words[1] == "first" and seen[rule] <= int(words[3]):
            return self.reply_json(int(words[2]), error("Busy", "later"), [("Retry-After", "1")])
        if words[1] == "max" and max(len(raw), len(body)) > int(words[2]):
            return self.reply_json(413, error("ContentLengthLimitExceeded", "Maximum allowed content length: 1048576 bytes (1 MB)."))
        if words[1] == "refuse" and words[2].encode() in body:
            return self.reply_json(400, error("InvalidRecord", "a record is wrong"))
        rows = json.loads(body)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            return self.reply_json(400, error("InvalidBody", "expected an array"))
        self.note(raw, rows)
        self.reply(204)

    def handle_request(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urllib.parse.urlsplit(self.path)
        words = url.path.split("/")
        query = dict(urllib.parse.parse_qsl(url.query))
        base = "https://localhost:%d/%s" % (tls.server_port, words[1])
        if words[1] == "dataCollectionRules" and len(words) == 5 and words[3] == "streams" and query.get("api-version") == "2023-01-01":
            return self.ingest(raw, words[2])
        if url.path.endswith("/v2.0/.well-known/openid-configuration"):
            return self.reply_json(200, {"token_endpoint": base + "/oauth2/v2.0/token", "authorization_endpoint": base + "/oauth2/v2.0/authorize", "device_authorization_endpoint": base + "/d", "issuer": base + "/v2.0"})
        if words[1:3] == ["v1", "workspaces"]:
            record = json.loads(raw)["query"].split('"')[1]
            token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
            if "loganalytics" not in issued.get(token, ""):
                return self.reply_json(403, {"error": {"message": "The provided credentials have insufficient access to perform the requested operation", "code": "InsufficientAccessError"}})
            seen[record] = seen.get(record, 0) + 1
            rows = sum(row.get("RecordId") == record for line in open(here("requests.jsonl")) for row in (json.loads(line)["body"] or []) if isinstance(row, dict))
            return self.reply_json(200, {"tables": [{"name": "PrimaryResult", "columns": [{"name": "Count", "type": "long"}], "rows": [[rows if seen[record] > 1 else 0]]}]})
        form = dict(urllib.parse.parse_qsl(raw.decode()))
        self.note(raw, form or None)
        if url.path.endswith("/oauth2/v2.0/token") and words[1] == "wrong":
            return self.reply_json(401, {"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret provided: " + form.get("client_secret", "")})
        if url.path.endswith("/oauth2/v2.0/token") and words[1] == "unknown":
            return self.reply_json(400, {"error": "invalid_request", "error_description": "AADSTS90002: Tenant 'unknown' not found.\r\nTrace ID: 1"})
        if url.path.endswith("/oauth2/v2.0/token"):
            return self.reply_json(200, self.issue(form.get("scope"), False))
        metadata = url.path == "/metadata/identity/oauth2/token" and self.headers.get("Metadata") == "true" or url.path == "/msi" and self.headers.get("X-IDENTITY-HEADER") == "hidden-header"
        if metadata and os.path.exists(here("metadata")):
            return self.reply_json(200, self.issue(query.get("resource"), True))
        self.reply_json(404, {"error": "not_found"})

    do_POST = do_GET = handle_request

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                "-keyout", here("key.pem"), "-out", here("ca.pem")], check=True, stderr=subprocess.DEVNULL)
tls, plain = Server(("127.0.0.1", 0), Endpoint), Server(("127.0.0.1", 0), Endpoint)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(here("ca.pem"), here("key.pem"))
tls.socket = context.wrap_socket(tls.socket, server_side=True)
tls.name, plain.name = "tls", "plain"
for name, server in ("plain", plain), ("port", tls):
    with open(here(name + ".new"), "w") as f:
        f.write(str(server.server_port))
    os.rename(here(name + ".new"), here(name))
threading.Thread(target=plain.serve_forever, daemon=True).start()
tls.serve_forever()
