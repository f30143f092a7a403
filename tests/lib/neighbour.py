#!/usr/bin/env python3
"""What one user does to another's places, without end, until SIGTERM: neighbour.py COUNT VERB ARGUMENTS…

Writes its process id to the file COUNT.pid, and at its end to COUNT how often it succeeded. COUNT may be "-".

exchange A B [A B]…    exchanges the names A and B, as one step of the kernel's
replace FOLDER TARGET [PREFIX]   renames each new entry of FOLDER (whose name begins with PREFIX), and puts a link to TARGET in its place
requests URL N [SECRET]          N requests of all kinds without the secret, or with wrong ones; prints each status with its number, and ends
"""
import base64, ctypes, itertools, os, random, signal, sys, time

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


def requests(url, n, name="benchwrap"):
    import http.client, json
    host = url.split("//")[1].split("@")[-1].split("/")[0]
    words = ["", "password", "admin", "0" * 32, "f" * 32, name, "null", "%00", "*"]
    paths = ["/", "/?enter", "/health", "/status", "/metrics", "/start", "/stop", "/version", "/graphql", "/get-artifact?path=stdout.log&run_uuid=1",
             "/get-artifact?path=../../../etc/passwd&run_uuid=1", "/api/2.0/mlflow/runs/search", "/ajax-api/2.0/mlflow/experiments/search",
             "/api/2.0/mlflow-artifacts/artifacts", "/api/2.0/mlflow-artifacts/artifacts/..%2f..%2f", "//status", "/./status", "/status/../status", "*"]
    seen = {}
    for i in range(int(n)):
        r = random.Random(i)
        word = r.choice(words + ["%032x" % r.getrandbits(128)])
        headers = r.choice([{}, {"Authorization": "Bearer " + word}, {"Authorization": "Basic " + base64.b64encode((name + ":" + word).encode()).decode()},
                            {"Cookie": "benchwrap=%s; token=%s" % (word, word)}, {"X-Forwarded-For": "127.0.0.1", "X-Forwarded-User": name},
                            {"Host": "localhost", "Origin": "http://" + host}, {"Upgrade": "websocket", "Connection": "Upgrade"}])
        body = r.choice([None, "{}", json.dumps({"args": ["--url=http://127.0.0.1:1"], "end": True}), json.dumps({"name": "planted"})])
        try:
            c = http.client.HTTPConnection(host, timeout=20)
            c.request(r.choice(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"]), r.choice(paths), body, headers)
            status = c.getresponse().status
            c.close()
        except (OSError, http.client.HTTPException) as e:
            status = type(e).__name__
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
else:
    requests(*rest)
