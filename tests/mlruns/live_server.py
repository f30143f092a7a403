#!/usr/bin/env python3
"""live_server.py URL COMMAND ...: looks at a tracking server by plain REST, for tests of runs that go on.
  wait EXPERIMENT NAME KEY N   until a run of that name has N samples of a metric (five minutes at most, as the sender has the lowest priority); prints its id
  lag RUN KEY SECONDS N        N looks: "yes" if half of them saw a sample younger than SECONDS; "busy" where they did not and the machine has far more to do than
                               processors, so that the server itself is late
  get RUN FIELD                status, name, end, user, experiment, tag:KEY, param:KEY, metric:KEY, samples:KEY, files, system
  make EXPERIMENT NAME         makes a run of somebody else's; prints its id
  count EXPERIMENT             active runs in it"""
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

url, command, args = sys.argv[1], sys.argv[2], sys.argv[3:]


def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + "/api/2.0/mlflow/" + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def experiment(name):
    try:
        return call("experiments/get-by-name?experiment_name=" + urllib.parse.quote(name))["experiment"]["experiment_id"]
    except urllib.error.HTTPError:
        return None


def runs(name):
    number = experiment(name)
    return call("runs/search", {"experiment_ids": [number], "max_results": 1000}).get("runs", []) if number else []


def history(run, key):
    return call(f"metrics/get-history?run_id={run}&metric_key={urllib.parse.quote(key)}&max_results=25000").get("metrics", [])


def files(run, path=""):
    for f in call(f"artifacts/list?run_id={run}&path={urllib.parse.quote(path)}").get("files", []):
        yield from files(run, f["path"]) if f.get("is_dir") else [f["path"]]


def get(run, field):
    r = call("runs/get?run_id=" + run)["run"]
    kind, _, key = field.partition(":")
    if kind in ("tag", "param", "metric"):
        return next((x["value"] for x in r["data"].get(kind + "s", []) if x["key"] == key), "none")
    if kind == "samples":
        return len(history(run, key))
    if kind == "system":
        return len([m for m in r["data"].get("metrics", []) if m["key"].startswith("system/")])
    if kind == "files":
        return " ".join(sorted(files(run)))
    return r["info"].get({"name": "run_name", "end": "end_time", "user": "user_id", "experiment": "experiment_id"}.get(kind, kind), "none")


if command == "wait":
    until = time.time() + 300
    while time.time() < until:
        found = [r["info"]["run_id"] for r in runs(args[0]) if r["info"]["run_name"] == args[1]]
        if found and len(history(found[0], args[2])) >= int(args[3]):
            print(found[0])
            break
        time.sleep(0.2)
elif command == "lag":
    lags = []
    for _ in range(int(args[3])):
        lags.append(time.time() - max(m["timestamp"] for m in history(args[0], args[1])) / 1000)
        time.sleep(1)
    lags.sort()
    busy = os.getloadavg()[0] > 2.5 * len(os.sched_getaffinity(0))
    print("yes" if lags[len(lags) // 2] <= float(args[2]) else "busy" if busy else f"no: {lags}")
elif command == "get":
    print(get(args[0], args[1]))
elif command == "make":
    number = experiment(args[0]) or call("experiments/create", {"name": args[0]})["experiment_id"]
    run = call("runs/create", {"experiment_id": number, "run_name": args[1], "user_id": "somebody", "start_time": 1700000000000})
    print(run["run"]["info"]["run_id"])
elif command == "count":
    print(len(runs(args[0])))
