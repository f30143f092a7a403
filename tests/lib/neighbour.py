#!/usr/bin/env python3
"""What one user does to another's places, without end, until SIGTERM: neighbour.py COUNT VERB ARGUMENTS…

Writes its process id to the file COUNT.pid, and at its end to COUNT how often it succeeded. COUNT may be "-".

exchange A B [A B]…    exchanges the names A and B, as one step of the kernel's
replace FOLDER TARGET [PREFIX]   renames each new entry of FOLDER (whose name begins with PREFIX), and puts a link to TARGET in its place
requests URL N [NAME [FILE]]     N requests of all kinds without the secret, or with wrong ones; prints each status with its number, and ends.
                                 FILE: an artifact as MLflow names it, EXPERIMENT/RUN/artifacts/PATH
raw URL N [NAME [FILE]]          the same with malformed, split, doubled and smuggled requests; "closed" is a connection without a reply
"""
import base64, ctypes, itertools, json, os, random, signal, socket, sys, time

EXCHANGE, AT_FDCWD = 2, -100
libc = ctypes.CDLL(None, use_errno=True)
count = 0


def end(*_):
    with open(sys.argv[1], "w") as f:
        f.write("%d\n" % count)
    os._exit(0)


def pause():
    if random.random() < 0.5:
        time.sleep(random.random() * 4e-4)


def exchange(pairs):
    global count
    pairs = [(os.fsencode(a), os.fsencode(b)) for a, b in zip(pairs[::2], pairs[1::2])]
    for a, b in itertools.cycle(pairs):
        count += libc.renameat2(AT_FDCWD, a, AT_FDCWD, b, EXCHANGE) == 0
        pause()


def replace(folder, target, prefix=""):
    global count
    number = 0
    while True:
        try:
            names = os.listdir(folder)
        except OSError:
            names = []
        for name in names:
            path = os.path.join(folder, name)
            if name.startswith(".gone") or not name.startswith(prefix) or os.path.islink(path):
                continue
            try:
                number += 1
                os.rename(path, os.path.join(folder, ".gone%d" % number))
                os.symlink(target, path)
                count += 1
            except OSError:
                pass
        pause()


def paths_of(file):
    """Every way to a file, a run and an experiment, in llmload's agent, in the front of ui, and in MLflow."""
    run = (file.split("/") + ["1", "1"])[1]
    plain = ["/", "/?enter", "/health", "/status", "/metrics", "/start", "/stop", "/version", "/graphql", "//status", "/./status", "/status/../status", "*", "/server-info",
             "/static-files/index.html", "/api/2.0/mlflow/runs/search", "/ajax-api/2.0/mlflow/experiments/search", "/api/2.0/mlflow/experiments/create",
             "/api/2.0/mlflow/experiments/delete", "/api/2.0/mlflow/runs/create", "/api/2.0/mlflow/runs/update", "/api/2.0/mlflow/runs/log-batch",
             "/api/2.0/mlflow/registered-models/create", "/api/2.0/mlflow/model-versions/create", "/api/2.0/mlflow-artifacts/artifacts", "/v1/traces",
             "/ajax-api/3.0/jobs/", "/ajax-api/2.0/mlflow/gateway-proxy", "/api/2.0/mlflow/webhooks"]
    of_run = ["/api/2.0/mlflow/runs/get?run_id=%s", "/api/2.0/mlflow/runs/delete?run_id=%s", "/api/2.0/mlflow/artifacts/list?run_id=%s", "/api/2.0/mlflow/metrics/get-history?run_id=%s",
              "/ajax-api/2.0/mlflow/upload-artifact?run_uuid=%s&path=planted", "/get-artifact?run_uuid=%s&path=stdout.log", "/ajax-api/2.0/mlflow/get-artifact?run_uuid=%s&path=stdout.log",
              "/get-artifact?run_uuid=%s&path=../../../../../../../etc/passwd", "/get-artifact?run_uuid=%s&path=..%%2f..%%2f..%%2fmlflow.db", "/get-artifact?run_uuid=%s&path=%%2fetc%%2fpasswd"]
    proxied = ["%s", "..%%2f..%%2f%s", "%s/../../../../../mlflow.db", "./%s", "%%2e%%2e/%s", "//%s", "%s%%00", "%s?download=1"]
    return plain + [p % run for p in of_run] + [a + p % file for p in proxied for a in ("/api/2.0/mlflow-artifacts/artifacts/", "/ajax-api/2.0/mlflow-artifacts/artifacts/",
                                                                                    "/api/2.0/mlflow-artifacts/mpu/create/", "/ajax-api/2.0/mlflow/logged-models/1/artifacts/files?artifact_file_path=")]


WORDS = ["", "password", "admin", "0" * 32, "f" * 32, "null", "%00", "*", "benchwrap"]


def header(r, name, host):
    word = r.choice(WORDS + [name, "%032x" % r.getrandbits(128)])
    return r.choice([{}, {"Authorization": "Bearer " + word}, {"Authorization": "Basic " + base64.b64encode((name + ":" + word).encode()).decode()},
                     {"Cookie": "benchwrap=%s; token=%s" % (word, word)}, {"X-Forwarded-For": "127.0.0.1", "X-Forwarded-User": name},
                     {"Host": "localhost", "Origin": "http://" + host}, {"Upgrade": "websocket", "Connection": "Upgrade"},
                     {"X-HTTP-Method-Override": "DELETE", "X-Original-URL": "/version"}, {"Proxy-Authorization": "Bearer " + word}])


BODIES = [None, "{}", json.dumps({"args": ["--url=http://127.0.0.1:1"], "end": True}), json.dumps({"name": "planted"}),
          json.dumps({"name": "planted", "artifact_location": "file:///etc"}), json.dumps({"query": "{ mlflowGetRun(input: {runId: \"1\"}) { run { info { runId } } } }"})]
METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"]


def requests(url, n, name="benchwrap", file="1/1/artifacts/stdout.log"):
    import http.client
    host = url.split("//")[1].split("@")[-1].split("/")[0]
    paths, seen = paths_of(file), {}
    for i in range(int(n)):
        r = random.Random(i)
        try:
            c = http.client.HTTPConnection(host, timeout=20)
            c.request(r.choice(METHODS), r.choice(paths), r.choice(BODIES), header(r, name, host))
            status = c.getresponse().status
            c.close()
        except (OSError, http.client.HTTPException) as e:
            status = type(e).__name__
        seen[status] = seen.get(status, 0) + 1
    print(" ".join("%s:%d" % (s, k) for s, k in sorted(seen.items(), key=str)))


def raw(url, n, name="benchwrap", file="1/1/artifacts/stdout.log"):
    host, port = url.split("//")[1].split("@")[-1].split("/")[0].split(":")
    paths, seen = paths_of(file), {}
    for i in range(int(n)):
        r = random.Random(i)
        path = r.choice(paths)
        plain = "%s %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (r.choice(METHODS), path, host)
        good = "Authorization: Bearer %032x\r\n" % r.getrandbits(128)
        text = r.choice([
            plain * 8,  # pipelined
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(plain), plain), "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + plain,
            plain.replace("\r\n", "\n"), plain.replace("\r\n", "\r"), plain.replace(" HTTP/1.1", ""), plain.replace("HTTP/1.1", "HTTP/1.0"), plain.replace("HTTP/1.1", "HTTP/2.0"),
            plain[:-2] + good * 200 + "\r\n", plain[:-2] + good.replace(": ", ":\r\n ") + "\r\n", plain[:-2] + good.replace(":", " :", 1) + "\r\n", plain[:-2] + good.upper() + "\r\n",
            plain[:-2] + "Authorization: Bearer\r\n\r\n", plain[:-2] + "Authorization: Basic \r\n\r\n", plain[:-2] + "Authorization:\r\n\r\n", plain[:-2] + "Authorization: Bearer \0\r\n\r\n",
            plain[:-2] + "Authorization: Basic %s\r\n\r\n" % base64.b64encode(("%s:\0" % name).encode()).decode(), plain[:-2] + "X: " + "y" * 70000 + "\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "\r\n" * r.randint(1, 9) + plain, "\x16\x03\x01\x02\x00\x01", "CONNECT 127.0.0.1:22 HTTP/1.1\r\n\r\n", "GET http://127.0.0.1:22/ HTTP/1.1\r\nHost: x\r\n\r\n", "\0" * 100 + plain,
            plain.replace("Host", "Host: y\r\nAuthorization"), "GET /\r\n%sGET / HTTP/1.1\r\n\r\n" % good, "".join(chr(r.randrange(256)) for _ in range(200)) + "\r\n\r\n"]).encode("latin-1")
        status = "closed"
        try:
            with socket.create_connection((host, int(port)), 20) as s:
                cut = r.randrange(len(text))
                try:
                    s.sendall(text[:cut])
                    time.sleep(r.choice([0, 0, 0.001]))
                    s.sendall(text[cut:])
                    s.shutdown(socket.SHUT_WR)
                except OSError:
                    pass  # it has replied, and closed
                reply = b""
                while len(reply) < 1 << 20 and (more := s.recv(65536)):
                    reply += more
            said = [line.split()[1].decode("latin-1") for line in reply.split(b"\n") if line.startswith(b"HTTP/") and len(line.split()) > 1]
            status = "closed" if not reply else max(said, key=lambda c: c[0] != "4") if said else "unknown"
        except OSError as e:
            status = "closed" if isinstance(e, (ConnectionError, BrokenPipeError)) else type(e).__name__
        seen[status] = seen.get(status, 0) + 1
    print(" ".join("%s:%d" % (s, k) for s, k in sorted(seen.items(), key=str)))


signal.signal(signal.SIGTERM, end)
if sys.argv[1] != "-":
    with open(sys.argv[1] + ".pid", "w") as f:
        f.write("%d\n" % os.getpid())
verb, rest = sys.argv[2], sys.argv[3:]
if verb == "exchange":
    exchange(rest)
elif verb == "replace":
    replace(*rest)
elif verb == "raw":
    raw(*rest)
else:
    requests(*rest)
