"""sns-endpoint.py FOLDER: as much of Amazon SNS, STS and of a machine's and a container's services as benchwrap needs, at 127.0.0.1 (port in FOLDER/port).
It verifies each signature (SigV4, key KEY with secret SE/CR+ET=, or a temporary key TEMP with token T0KEN==). Accepted publications go to FOLDER/got.jsonl.

POST /            Publish, GetTopicAttributes (refused for want of a right), AssumeRoleWithWebIdentity
POST /status/CODE/ERROR/  that status, with an error of this code
PUT  /latest/api/token, GET /latest/meta-data/iam/security-credentials/[ROLE], GET /container: keys
"""
import hashlib, hmac, http.server, json, os, re, sys, urllib.parse

folder = sys.argv[1]
secrets = {"KEY": "SE/CR+ET=", "TEMP": "SE/CR+ET="}


def verify(handler, raw):
    """None: the signature is right; else the code of the error."""
    head = {k.lower(): v.strip() for k, v in handler.headers.items()}
    m = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d+)/([^/]+)/sns/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})", head.get("authorization", ""))
    if not m:
        return "MissingAuthenticationToken"
    key, date, region, signed, signature = m.groups()
    if key not in secrets:
        return "InvalidClientTokenId"
    if key == "TEMP" and (head.get("x-amz-security-token") != "T0KEN==" or "x-amz-security-token" not in signed.split(";")):
        return "InvalidClientTokenId"
    canonical = "\n".join([handler.command, handler.path, "", *(f"{name}:{head[name]}" for name in signed.split(";")), "", signed, hashlib.sha256(raw).hexdigest()])
    text = "\n".join(["AWS4-HMAC-SHA256", head["x-amz-date"], f"{date}/{region}/sns/aws4_request", hashlib.sha256(canonical.encode()).hexdigest()])
    k = ("AWS4" + secrets[key]).encode()
    for part in date, region, "sns", "aws4_request":
        k = hmac.new(k, part.encode(), hashlib.sha256).digest()
    return None if hmac.new(k, text.encode(), hashlib.sha256).hexdigest() == signature and region == "eu-west-1" else "SignatureDoesNotMatch"


class Endpoint(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, code):
        self.reply(status, f"<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>no</Message></Error></ErrorResponse>".encode())

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        form = dict(urllib.parse.parse_qsl(raw.decode(), keep_blank_values=True))
        words = self.path.split("/")
        if form.get("Action") == "AssumeRoleWithWebIdentity":
            good = form["WebIdentityToken"] == "WEB.TOKEN" and form["RoleArn"] == "arn:aws:iam::1:role/r"
            return self.reply(200, b"<R><Credentials><AccessKeyId>TEMP</AccessKeyId><SecretAccessKey>SE/CR+ET=</SecretAccessKey><SessionToken>T0KEN==</SessionToken></Credentials></R>") if good else self.refuse(403, "AccessDenied")
        if words[1] == "status":
            return self.refuse(int(words[2]), words[3])
        wrong = verify(self, raw)
        if wrong:
            return self.refuse(403, wrong)
        if form["Action"] != "Publish":
            return self.refuse(403, "AuthorizationError")
        with open(os.path.join(folder, "got.jsonl"), "a") as f:
            f.write(json.dumps({"form": form, "type": self.headers["Content-Type"]}) + "\n")
        self.reply(200, b"<PublishResponse><PublishResult><MessageId>1</MessageId></PublishResult></PublishResponse>")

    def do_PUT(self):
        self.reply(200 if self.path == "/latest/api/token" and self.headers.get("X-aws-ec2-metadata-token-ttl-seconds") else 400, b"IMDS-TOKEN==")

    def do_GET(self):
        keys = json.dumps({"Code": "Success", "AccessKeyId": "TEMP", "SecretAccessKey": "SE/CR+ET=", "Token": "T0KEN==", "Expiration": "2030-01-01T00:00:00Z"}).encode()
        base = "/latest/meta-data/iam/security-credentials/"
        if self.path == "/container":
            return self.reply(200, keys) if self.headers.get("Authorization") == "CONTAINER" else self.refuse(401, "x")
        if self.headers.get("X-aws-ec2-metadata-token") != "IMDS-TOKEN==" or not self.path.startswith(base):
            return self.refuse(401, "x")
        self.reply(200, keys if self.path == base + "my%20role" else b"my role")

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
server.daemon_threads = True
with open(os.path.join(folder, "port.new"), "w") as f:
    f.write(str(server.server_port))
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
server.serve_forever()
