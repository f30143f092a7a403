"""bulk-endpoint.py FOLDER: _bulk of Elasticsearch at 127.0.0.1, as its reference describes it, with the port in FOLDER/port.

It accepts POST /INDEX/_bulk with newline-delimited JSON alone: an action {"create": {"_id": ID}}, then its document, and a line end behind the last one. A
document whose id is there already has status 409, one with the member "bad" 400. While FOLDER/busy holds a number N > 0, every second document has status
429, and N falls by one with each request. While FOLDER/break exists, the documents are stored and the connection is closed without a reply. Each index is
the file FOLDER/INDEX.json: ids and documents in the order of their arrival. FOLDER/requests has a line for each request: its bytes, and its documents."""
import gzip, http.server, json, os, sys

folder = sys.argv[1]
stored = {}


def number(name):
    try:
        with open(os.path.join(folder, name)) as f:
            return int(f.read() or 0)
    except FileNotFoundError:
        return 0


def outcome(index, key, document, is_busy):
    if is_busy:
        return {"_index": index, "_id": key, "status": 429, "error": {"type": "es_rejected_execution_exception", "reason": "queue is full"}}
    if key in stored[index]:
        return {"_index": index, "_id": key, "status": 409, "error": {"type": "version_conflict_engine_exception", "reason": "document already exists"}}
    if "bad" in document:
        return {"_index": index, "_id": key, "status": 400, "error": {"type": "document_parsing_exception", "reason": "failed to parse field [bad]"}}
    stored[index][key] = document
    return {"_index": index, "_id": key, "_version": 1, "result": "created", "status": 201}


class Bulk(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = gzip.decompress(raw) if self.headers.get("Content-Encoding") == "gzip" else raw
        words = self.path.split("/")
        if len(words) != 3 or words[2] != "_bulk" or words[1] != words[1].lower() or self.headers.get("Content-Type") != "application/x-ndjson":
            return self.reply(406, {"error": "expected /index/_bulk with application/x-ndjson"})
        if not body.endswith(b"\n"):
            return self.reply(400, {"error": {"type": "illegal_argument_exception", "reason": "The bulk request must be terminated by a newline [\\n]"}})
        lines, index, items = body.split(b"\n")[:-1], words[1], []
        stored.setdefault(index, {})
        busy = number("busy")
        if busy:
            with open(os.path.join(folder, "busy"), "w") as f:
                f.write(str(busy - 1))
        if len(lines) % 2:
            return self.reply(400, {"error": "an action without a document"})
        for i in range(0, len(lines), 2):
            action, document = json.loads(lines[i]), json.loads(lines[i + 1])
            if list(action) != ["create"] or list(action["create"]) != ["_id"] or not isinstance(document, dict):
                return self.reply(400, {"error": "expected {\"create\": {\"_id\": …}} and an object"})
            items.append({"create": outcome(index, action["create"]["_id"], document, busy and i // 2 % 2)})
        with open(os.path.join(folder, index + ".json"), "w") as f:
            json.dump(stored[index], f)
        with open(os.path.join(folder, "requests"), "a") as f:
            f.write(f"{len(body)} {len(items)}\n")
        if os.path.exists(os.path.join(folder, "break")):
            os.unlink(os.path.join(folder, "break"))
            self.close_connection = True
            return
        self.reply(200, {"took": 1, "errors": any(i["create"]["status"] >= 300 for i in items), "items": items})

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Bulk)
with open(os.path.join(folder, "port.new"), "w") as f:
    f.write(str(server.server_address[1]))
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
server.serve_forever()
