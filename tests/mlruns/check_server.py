#!/usr/bin/env python3
"""check_server.py TREE: starts MLflow's web server in TREE (the folder that holds mlruns/, a fresh clone) and asks it over REST for the
experiments, runs and artifacts. Prints "ok NAME" or "not ok NAME: why" a check."""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

top = os.path.abspath(sys.argv[1])


def report(name, problems):
    print(f"not ok {name}: {'; '.join(problems[:5])}" if problems else f"ok {name}", flush=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(base, where, **query):
    with urllib.request.urlopen(f"{base}/{where}?{urllib.parse.urlencode(query)}", timeout=60) as r:
        return r.read()


def post(base, path, body):
    request = urllib.request.Request(f"{base}/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as r:
        return json.load(r)


def wait_for(base, server, log):
    for _ in range(240):
        if server.poll() is not None:
            break
        try:
            get(base, "health")
            return
        except OSError:
            time.sleep(0.5)
    print("not ok the web server starts: " + open(log.name).read()[-500:].replace("\n", " "))
    sys.exit(0)


def list_artifacts(base, run, path=""):
    out = []
    for f in json.loads(get(base, "api/2.0/mlflow/artifacts/list", run_id=run, path=path)).get("files", []):
        out += list_artifacts(base, run, f["path"]) if f["is_dir"] else [f["path"]]
    return out


def compare(base):
    api = base + "/api/2.0/mlflow"
    lost, wrong, count = [], [], 0
    listed = {e["experiment_id"] for e in post(api, "experiments/search", {"max_results": 1000})["experiments"]}
    for e in sorted(os.listdir(top + "/mlruns")):
        folder = f"{top}/mlruns/{e}"
        if not os.path.isfile(folder + "/meta.yaml"):
            continue
        if e not in listed:
            lost.append(f"experiment {e}")
        runs = [r for r in os.listdir(folder) if len(r) == 32]
        found = [r["info"]["run_id"] for r in post(api, "runs/search", {"experiment_ids": [e], "max_results": 1000}).get("runs", [])]
        if sorted(found) != sorted(runs):
            lost.append(f"{len(runs)} runs of experiment {e}, {len(found)} found")
        for r in runs[:3]:
            want = sorted(os.path.relpath(os.path.join(d, n), f"{folder}/{r}/artifacts") for d, _, ns in os.walk(f"{folder}/{r}/artifacts") for n in ns)
            if sorted(list_artifacts(base, r)) != want:
                wrong.append(f"{e}/{r}: {list_artifacts(base, r)} listed")
            for path in want:
                if get(base, "get-artifact", run_uuid=r, path=path) != open(f"{folder}/{r}/artifacts/{path}", "rb").read():
                    wrong.append(f"{e}/{r}: {path} has other bytes")
                count += 1
    report("the web server lists every experiment and run of a clone", lost)
    report("and its artifacts, byte for byte", wrong if count else ["no artifact was looked at"])
    print(f"# {count} artifacts fetched")


with tempfile.NamedTemporaryFile("w") as log:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib/mlflow-server.py"), "server", "--host", "127.0.0.1", "--port", str(port), "--backend-store-uri", "./mlruns", "--workers", "1"]
    env = dict(os.environ, MLFLOW_ALLOW_FILE_STORE="true", MLFLOW_SERVER_ENABLE_JOB_EXECUTION="false")
    server = subprocess.Popen(command, cwd=top, env=env, stdout=log, stderr=log, start_new_session=True)
    try:
        wait_for(url, server, log)
        compare(url)
    except Exception as x:  # noqa: BLE001 what the server answers is a finding
        print(f"not ok the web server answers: {type(x).__name__}: {x}".replace("\n", " "))
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
