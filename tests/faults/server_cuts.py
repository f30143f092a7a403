#!/usr/bin/env python3
"""server_cuts.py [--rounds N] [--runs N] [--cuts N] [--seed N] [--real MLFLOW [--files]] [--judge PROGRAM] BUILD: `sync` under random cuts.

Each round makes a tree of runs (series, artifacts, parents), and syncs it through a proxy that at a random byte of the traffic, in either direction,
closes the connection, resets it, lets it stall, kills the client, or kills the server (SIGKILL, restarted): until so many cuts are made. Now and then a
second sync of a copy of the tree runs beside it. Then a last sync must end well, every run must be on the server exactly once, equal to the tree fact
by fact (tests/mlruns/compare_server.py), and none more be active there. The server is tests/server/fault-server with a journal, or a real one on SQLite
or (--files) on a file store.
A judge, another's word on what lies on the server: PROGRAM URL TREE, which must end with 0.
Prints one line for each round; status 0 or 1."""
import argparse
import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
COMPARE = os.path.join(HERE, "..", "mlruns", "compare_server.py")
ACTIONS = ["close", "reset", "stall", "client", "server"]


class Server:
    """A server that can be killed and started again on the same port, with the same memory."""

    def __init__(self, build, folder, mlflow, files):
        self.build, self.folder, self.mlflow = build, folder, mlflow
        self.store = f"{folder}/store" if files else f"sqlite:///{folder}/mlflow.db"
        self.port = 0
        self.process = None
        if mlflow:
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                self.port = s.getsockname()[1]
        self.start()

    def start(self):
        if self.mlflow:
            argv = [self.mlflow, "server", "--host", "127.0.0.1", "--port", str(self.port), "--workers", "1", "--backend-store-uri",
                    self.store, "--artifacts-destination", f"{self.folder}/artifacts"]
            with open(f"{self.folder}/server.log", "ab") as log:
                self.process = subprocess.Popen(argv, stdout=log, stderr=log, start_new_session=True, env=dict(os.environ, MLFLOW_SERVER_ENABLE_JOB_EXECUTION="false"))
        else:
            argv = [os.path.join(self.build, "tests/server/fault-server"), "--port", str(self.port), "--journal", f"{self.folder}/journal"]
            for _ in range(50):  # the port may still be taken for a moment
                self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True, text=True)
                line = self.process.stdout.readline()
                if line.startswith("port "):
                    self.port = int(line.split()[1])
                    break
                self.process.wait()
                time.sleep(0.1)
        self.url = f"http://127.0.0.1:{self.port}"
        until = time.monotonic() + (600 if self.mlflow else 60)  # a real one loads much, and others may be at work here
        while time.monotonic() < until and self.process.poll() is None:
            try:
                urllib.request.urlopen(self.url + "/health", timeout=5).read()
                return
            except OSError:
                time.sleep(0.02 if not self.mlflow else 0.2)
        self.kill()
        raise RuntimeError("the server does not start")

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it has ended itself
        self.process.wait()


class Proxy:
    """Passes bytes on and counts them; at the armed count it calls back once."""

    def __init__(self, port):
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.lock = threading.Lock()
        self.passed = 0
        self.at = None
        self.act = None
        self.stalled = threading.Event()
        threading.Thread(target=self.accept, daemon=True).start()

    def arm(self, at, act):
        with self.lock:
            self.passed, self.at, self.act = 0, at, act

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target), timeout=5)
                server.settimeout(None)
            except OSError:
                client.close()
                continue
            for s in (client, server):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for a, b in ((client, server), (server, client)):
                threading.Thread(target=self.pump, args=(a, b), daemon=True).start()

    def pump(self, a, b):
        try:
            while data := a.recv(65536):
                act, keep = None, len(data)
                with self.lock:
                    if self.at is not None and self.passed + len(data) >= self.at:
                        keep, act, self.at = self.at - self.passed, self.act, None
                    self.passed += len(data)
                b.sendall(data[:keep])
                if act:
                    word = act()
                    if word == "stall":
                        time.sleep(3600)
                    if word == "reset":
                        for s in (a, b):
                            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    break
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())


def make_tree(root, runs, rng):
    """Runs of two experiments, as strange as a tree may be; their parents may come before or after them."""
    made = {}
    for n in range(runs):
        name = rng.choice(["cuts", "größer \"cuts\""])
        exp = str(1 + sum(name.encode()) * 7919)
        run = "%032x" % rng.getrandbits(128)
        at = os.path.join(root, "mlruns", exp)
        put(f"{at}/meta.yaml", f"artifact_location: {json.dumps('mlruns/' + exp)}\ncreation_time: 1767225600000\nexperiment_id: \"{exp}\"\n"
            f"last_update_time: 1767225600000\nlifecycle_stage: \"active\"\nname: {json.dumps(name, ensure_ascii=False)}\n")
        start = 1767225600000 + rng.randrange(10**6)
        end = start + rng.randrange(10**5)
        here = f"{at}/{run}"
        put(f"{here}/meta.yaml", f"artifact_uri: \"mlruns/{exp}/{run}/artifacts\"\nend_time: {end}\nentry_point_name: \"\"\nexperiment_id: \"{exp}\"\n"
            f"lifecycle_stage: \"active\"\nrun_id: \"{run}\"\nrun_name: \"run {n}\"\nsource_name: \"\"\nsource_type: 4\nsource_version: \"\"\n"
            f"start_time: {start}\nstatus: {rng.choice([3, 3, 4, 5])}\ntags: []\nuser_id: \"jo\"\n")
        for i in range(rng.randrange(1, 130)):
            put(f"{here}/params/p{i}", f"value {rng.random()} ü" * rng.choice([1, 1, 1, 20]))
        for i in range(rng.randrange(1, 40)):
            put(f"{here}/tags/t{i}", f"tag {rng.random()}")
        put(f"{here}/tags/mlflow.runName", f"run {n}")
        for i in range(rng.randrange(1, 30)):
            count = rng.choice([1, 1, 1, 5, 300])
            put(f"{here}/metrics/m{i}", "".join(f"{start + k} {rng.random() * 10 ** rng.randrange(-9, 9)!r} {k}\n" for k in range(count)))
        if rng.random() < 0.3:
            put(f"{here}/metrics/odd", f"{start} nan 0\n{start + 1} 1.5 1\n")
        put(f"{here}/artifacts/stdout.log", "x" * rng.randrange(1, 20000))
        put(f"{here}/artifacts/deep/er/a b ü.bin", rng.randbytes(rng.randrange(0, 4000)))
        put(f"{here}/artifacts/empty", "")
        if rng.random() < 0.1:
            put(f"{here}/artifacts/large.bin", rng.randbytes(600000))
        if made.get(exp) and rng.random() < 0.4:
            put(f"{here}/tags/mlflow.parentRunId", rng.choice(made[exp]))
        made.setdefault(exp, []).append(run)


def sync(build, tree, url, patient=False):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MLFLOW_", "BENCHWRAP_")) and not k.lower().endswith("_proxy")}
    env.update(MLFLOW_HTTP_REQUEST_MAX_RETRIES="1", MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR="0.05", MLFLOW_HTTP_REQUEST_BACKOFF_JITTER="0.05",
               MLFLOW_HTTP_REQUEST_TIMEOUT="120" if patient else os.environ.get("CUTS_TIMEOUT", "0.5"), HOME=tree, LC_ALL="C.UTF-8")
    return subprocess.Popen([os.path.join(build, "bin/benchwrap"), "sync", "--to", url, "--tree", "mlruns"], cwd=tree, env=env, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def one_round(args, rng, place):
    tree, state = os.path.join(place, "tree"), os.path.join(place, "server")
    os.makedirs(state)
    make_tree(tree, args.runs, rng)
    size = sum(os.path.getsize(os.path.join(t, f)) for t, _, names in os.walk(tree) for f in names)
    server = Server(args.build, state, args.real, args.files)
    proxy = Proxy(server.port)
    done = dict.fromkeys(ACTIONS, 0)
    done["second"] = 0
    bad = []
    hung, limit = 0, size / args.cuts
    try:
        kills = 0
        while sum(done[a] for a in ACTIONS) < args.cuts:
            action = rng.choice(ACTIONS)
            if args.real and action == "server":
                kills += 1
                action = action if kills <= 3 else "close"  # it takes its time to start
            fired = threading.Event()
            client = []

            def act(action=action, fired=fired, client=client):
                fired.set()
                if action == "client":
                    client[0].kill()
                elif action == "server":
                    server.kill()
                return action

            proxy.arm(int(rng.choice([rng.uniform(1, 4000), rng.uniform(1, limit)])), act)
            client.append(sync(args.build, tree, proxy.url))
            second = None
            if rng.random() < 0.15:
                copy = os.path.join(place, "copy")
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(tree, copy)
                second = sync(args.build, copy, server.url)
                done["second"] += 1
            while client[0].poll() is None and not (action == "server" and fired.is_set()):
                time.sleep(0.005)
            if action == "server" and fired.is_set():
                time.sleep(rng.uniform(0, 0.2))
                server.start()
            for p in (client[0], second):
                if p:
                    try:
                        p.communicate(timeout=120)
                    except subprocess.TimeoutExpired:
                        hung += 1
                        p.kill()
                        p.communicate()
            if fired.is_set():
                done[action] += 1
            elif client[0].returncode == 0:  # all is there: the notes are lost, and the search for what is missing is what is cut
                shutil.rmtree(os.path.join(tree, ".benchwrap/sync"), ignore_errors=True)
                if not any(done.values()):
                    bad.append("the first sync was done before anything was cut")
                    break
                limit = proxy.passed
                done["again"] = done.get("again", 0) + 1
        proxy.arm(None, None)
        last = sync(args.build, tree, proxy.url, patient=True)
        out = last.communicate(timeout=600)[0]
        if last.returncode != 0:
            bad.append(f"the last sync ends with {last.returncode}: {out.strip()[-300:]}")
        check = subprocess.run([args.python, COMPARE, os.path.join(tree, "mlruns"), server.url], capture_output=True, text=True, check=False)
        if check.returncode != 0:
            bad.append(check.stdout + check.stderr[-500:])
        active = count_active(server.url)
        if active != args.runs:
            bad.append(f"{active} active runs on the server, {args.runs} in the tree")
        if args.judge:
            judge = subprocess.run([args.judge, server.url, tree], capture_output=True, text=True, check=False)
            if judge.returncode != 0:
                bad.append(f"the judge ends with {judge.returncode}: {judge.stdout[-1500:]}{judge.stderr[-500:]}")
        if hung:
            bad.append(f"{hung} clients did not end")
    finally:
        server.kill()
        proxy.listener.close()
    return done, bad


def count_active(url):
    def ask(path, body=None):
        request = urllib.request.Request(url + "/api/2.0/mlflow/" + path, json.dumps(body).encode() if body else None, {"Content-Type": "application/json"})
        return json.loads(urllib.request.urlopen(request, timeout=60).read())

    ids = [e["experiment_id"] for e in ask("experiments/search?max_results=1000").get("experiments", [])]
    return len(ask("runs/search", {"experiment_ids": ids, "run_view_type": "ACTIVE_ONLY", "max_results": 5000}).get("runs", []))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--cuts", type=int, default=25)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--real", help="the mlflow program of a virtual environment")
    parser.add_argument("--files", action="store_true", help="the real one keeps a file store")
    parser.add_argument("--judge", help="a program that is asked too, when a round is done")
    parser.add_argument("--python", default=sys.executable, help="one that has PyYAML")
    parser.add_argument("build")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    seed = args.seed if args.seed is not None else random.randrange(10**9)
    failed, total = 0, 0
    for n in range(args.rounds):
        place = tempfile.mkdtemp(prefix="bw-cuts.")
        begin = time.monotonic()
        done, bad = one_round(args, random.Random(seed + n), place)
        cuts = sum(done[a] for a in ACTIONS)
        total += cuts
        words = " ".join(f"{k}={v}" for k, v in done.items())
        print(f"{'not ok' if bad else 'ok'} round {n} seed {seed + n}: {cuts} cuts ({words}) in {time.monotonic() - begin:.1f} s", flush=True)
        for line in bad:
            print("# " + line.replace("\n", "\n# "), flush=True)
        failed += bool(bad)
        if bad and os.environ.get("CUTS_KEEP"):
            print("# kept: " + place)
        else:
            shutil.rmtree(place, ignore_errors=True)
    print(f"{'not ok' if failed else 'ok'} {total} cuts in {args.rounds} rounds, {failed} of them bad")
    sys.exit(1 if failed else 0)


main()
