"""metadata.py PORTFILE LOG KIND: a cloud's metadata service for tests. KIND: aws gcp azure oracle, silent (takes connections, never answers), evil, part (gcp without a zone)."""
import http.server
import json
import socket
import sys
import time

port_file, log, kind = sys.argv[1:4]


class Service(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def say(self, text, status=200):
        body = text if isinstance(text, bytes) else text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def note(self):
        with open(log, "a", encoding="utf-8") as f:
            f.write(f"{self.command} {self.path}\n")

    def do_PUT(self):
        self.note()
        if kind == "aws" and self.path == "/latest/api/token" and self.headers.get("X-aws-ec2-metadata-token-ttl-seconds"):
            self.say("AQAEtoken==")
        else:
            self.say("no", 404)

    def do_GET(self):
        self.note()
        if kind == "evil":
            self.say(b"\x1b[31m../../x\xff" * 5000)
            return
        found = {
            "aws": {"/latest/meta-data/instance-type": "c7g.16xlarge", "/latest/meta-data/placement/region": "eu-west-1",
                    "/latest/meta-data/placement/availability-zone": "eu-west-1b"},
            "gcp": {"/computeMetadata/v1/instance/machine-type": "projects/424242/machineTypes/c3-highcpu-176",
                    "/computeMetadata/v1/instance/zone": "projects/424242/zones/us-central1-a"},
            "part": {"/computeMetadata/v1/instance/machine-type": "projects/424242/machineTypes/c3-highcpu-176"},
            "azure": {"/metadata/instance/compute?api-version=2021-02-01&format=json":
                      json.dumps({"vmSize": "Standard_HB176rs_v4", "location": "westeurope", "zone": "", "subscriptionId": "sub-secret"})},
            "oracle": {"/opc/v2/instance/": json.dumps({"shape": "BM.HPC.E5.144", "canonicalRegionName": "eu-frankfurt-1", "id": "ocid1.secret"})},
        }.get(kind, {}).get(self.path)
        header = {"aws": ("X-aws-ec2-metadata-token", "AQAEtoken=="), "gcp": ("Metadata-Flavor", "Google"), "part": ("Metadata-Flavor", "Google"), "azure": ("Metadata", "true"),
                  "oracle": ("Authorization", "Bearer Oracle")}.get(kind, ("", None))
        if found is None or self.headers.get(header[0]) != header[1]:
            self.say("no", 404 if found is None else 401)
        else:
            self.say(found)


if kind == "silent":
    listener = socket.create_server(("127.0.0.1", 0), backlog=50)
    with open(port_file, "w", encoding="utf-8") as f:
        f.write(str(listener.getsockname()[1]))
    held = []
    while True:
        held.append(listener.accept())
        time.sleep(0)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
with open(port_file, "w", encoding="utf-8") as f:
    f.write(str(server.server_address[1]))
server.serve_forever()
