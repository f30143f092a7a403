#!/usr/bin/env python3
"""foreign_runs.py URL EXPERIMENT: runs such as other programs leave on an MLflow server, made by plain REST: keys and values that a tree cannot keep,
one time for many samples, a data set, files, a child run, a failed one and one that has not ended. Prints the ids: outer, inner, failed, running."""
import json
import sys
import urllib.parse
import urllib.request

url, experiment = sys.argv[1].rstrip("/"), sys.argv[2]
START = 1700000000000


def post(path, **body):
    request = urllib.request.Request(f"{url}/api/2.0/mlflow/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def put(run, path, data):
    root = run["artifact_uri"].split(":", 1)[1].strip("/")
    where = f"{url}/api/2.0/mlflow-artifacts/artifacts/{root}/{urllib.parse.quote(path)}"
    with urllib.request.urlopen(urllib.request.Request(where, data, method="PUT"), timeout=60):
        pass


def create(name, start, tags=()):
    return post("runs/create", experiment_id=where, run_name=name, user_id="ann", start_time=start, tags=[{"key": k, "value": v} for k, v in tags])["run"]["info"]


def sample(key, value, time, step=0):
    return {"key": key, "value": value, "timestamp": time, "step": step}


where = post("experiments/create", name=experiment)["experiment_id"]
outer = create("outer", START, [("note", "hi")])
post("runs/log-batch", run_id=outer["run_id"], params=[{"key": k, "value": v} for k, v in (("lr", "0.1"), ("a:b", "colon"), ("Zed", "x"), ("zed", "y"))],
     metrics=[sample("loss", 1 / (i + 1), START + 1000 * i, i) for i in range(900)])
post("runs/log-batch", run_id=outer["run_id"],
     metrics=[sample("loss", 1 / (i + 1), START + 1000 * i, i) for i in range(900, 1200)] + [sample("same", i, START, i) for i in range(5)]
     + [sample("inf", "Infinity", START), sample("nan", "NaN", START), sample("big", 1e300, START), sample("zero", 1, 0)])
post("runs/log-inputs", run_id=outer["run_id"], datasets=[{"tags": [{"key": "mlflow.data.context", "value": "training"}],
     "dataset": {"name": "ds", "digest": "d1", "source_type": "http", "source": "{}"}}])
for path, data in (("dir/hello.txt", b"hello\n"), ("big.bin", bytes(300000)), ("benchwrap.json", b"{}"), ("\u00fcber uns.txt", b"u")):
    put(outer, path, data)
inner = create("inner", START + 1, [("mlflow.parentRunId", outer["run_id"])])
post("runs/log-metric", run_id=inner["run_id"], **sample("m", 1, START + 5))
failed = create("failed", START + 2)
running = create("running", START + 3)
post("runs/log-metric", run_id=running["run_id"], **sample("m", 1, START + 7777))
for run, status, end in ((outer, "FINISHED", START + 5000000), (inner, "FINISHED", START + 10), (failed, "FAILED", START + 11)):
    post("runs/update", run_id=run["run_id"], status=status, end_time=end)
print(outer["run_id"], inner["run_id"], failed["run_id"], running["run_id"])
