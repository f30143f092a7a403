#!/usr/bin/env python3
"""compare_server.py [--apart] [--user U:P] MLRUNS URL [RUN…]: is every run of the tree on the server exactly once, and equal fact by fact?

Reads the tree's files and the server's REST answers by itself (PyYAML for meta.yaml). Compares experiment, name, user, status, times, params, tags,
every sample of every metric (with --apart every point of its file), names and bytes of artifacts, the parent. What sync may change is expected so: values cut to 5999 and 7999 characters
(named in benchwrap.cut), infinities as the greatest number. --apart: facts of the machine are expected below system/, as `ui` has them. Prints "ok N runs" or "not ok" with what differs; status 0 or 1."""
import base64
import json
import math
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

import yaml

STATUS = {1: "RUNNING", 2: "SCHEDULED", 3: "FINISHED", 4: "FAILED", 5: "KILLED"}
OWN = {"benchwrap.run_id", "benchwrap.synced", "benchwrap.cut", "benchwrap.parent_run_id", "mlflow.parentRunId"}
FAMILIES = ("run.", "benchwrap.", "nodes.", "node.", "host.", "os.", "kernel.", "cpu.", "numa.", "memory.", "limits.", "cgroup.", "fs.", "job.", "pressure.",
            "load.", "noise.", "energy.", "counters.", "probe.", "series.") + tuple(f"fs{n}." for n in range(2, 10))
args = sys.argv[1:]
auth = None
apart = args[0] == "--apart"
args = args[apart:]
if args and args[0] == "--user":
    auth, args = args[1], args[2:]
tree, url, wanted = os.path.abspath(args[0]), args[1].rstrip("/"), set(args[2:])
bad = []


def ask(path_, body=None, raw=False, **query):
    where = url + path_ + ("?" + urllib.parse.urlencode(query) if query else "")
    request = urllib.request.Request(where, json.dumps(body).encode() if body is not None else None, {"Content-Type": "application/json"} if body is not None else {})
    if auth:
        request.add_header("Authorization", "Basic " + base64.b64encode(auth.encode()).decode())
    with urllib.request.urlopen(request, timeout=120) as reply:
        data = reply.read()
    return data if raw else json.loads(data)


def api(path, body=None, /, **query):
    return ask("/api/2.0/mlflow/" + path, body, **query)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def entries(folder):
    found = {}
    for top, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(top, name)
            found[os.path.relpath(path, folder)] = path
    return found


def text(data):
    return data.decode("utf-8", "replace")


def same_value(a, b):
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    big = 1.7976931348623157e308
    return max(-big, min(big, a)) == max(-big, min(big, b))


def samples_of(path):
    rows = []
    for line in text(read(path)).splitlines():
        w = line.split(" ")
        rows.append((int(w[2]) if len(w) == 3 else 0, int(w[0]), float(w[1])))
    return sorted(rows, key=repr)


def thinned_of(folder):
    """All samples of the series whose metric files keep 1,000 points."""
    path, found = os.path.join(folder, "artifacts", "series.jsonl"), {}
    for line in text(read(path)).splitlines() if os.path.exists(path) else ():
        row = json.loads(line)
        found.setdefault(row["key"], []).extend((step, ms, math.nan if value is None else float(value)) for ms, step, value in row["samples"])
    return found


def order(row):
    return (row[0], row[1], math.isnan(row[2]), 0 if math.isnan(row[2]) else row[2])


def history(run, key):
    rows, token = [], None
    while True:
        page = api("metrics/get-history", run_id=run, metric_key=key, max_results=25000, **({"page_token": token} if token else {}))
        rows += [(int(m.get("step", 0)), int(m.get("timestamp", 0)), float(m.get("value", 0))) for m in page.get("metrics", [])]
        token = page.get("next_page_token")
        if not token:
            return rows


def files(run, path=""):
    found = {}
    for f in api("artifacts/list", run_id=run, **({"path": path} if path else {})).get("files", []):
        if f.get("is_dir"):
            found.update(files(run, f["path"]))
        else:
            found[f["path"]] = int(f.get("file_size") or 0)
    return found


def artifact(info, path):
    root = info["artifact_uri"]
    if root.startswith("mlflow-artifacts:"):
        place = urllib.parse.urlparse(root).path
        return ask("/api/2.0/mlflow-artifacts/artifacts" + urllib.parse.quote(place + "/" + path), raw=True)
    return ask("/get-artifact", raw=True, run_uuid=info["run_id"], path=path)


def search(experiment, our):
    query = {"experiment_ids": [experiment], "filter": f"tags.`benchwrap.run_id` = '{our}'", "run_view_type": "ALL", "max_results": 100}
    return api("runs/search", query).get("runs", [])


def compare_texts(what, ours, theirs, limit, say):
    for key, path in ours.items():
        value = text(read(path))
        if key in OWN:
            continue
        if key not in theirs:
            say(f"{what} {key} is missing")
        elif theirs[key] != (value if len(value) <= limit else value[:limit - 1]):
            say(f"{what} {key} is {theirs[key][:60]!r}, not {value[:60]!r}")
    for key in theirs:
        if key not in ours and key not in OWN:
            say(f"{what} {key} is too many")


def compare_run(experiment, folder, our):
    def say(what):
        bad.append(f"{our[:8]}: {what}")

    meta = yaml.safe_load(read(os.path.join(folder, "meta.yaml")))
    if meta.get("lifecycle_stage") == "deleted":
        return
    found = search(experiment, our)
    if len(found) != 1:
        say(f"{len(found)} runs on the server (deleted ones counted)")
        return
    info = found[0]["info"]
    data = api("runs/get", run_id=info["run_id"])["run"]["data"]
    tags = {t["key"]: t.get("value", "") for t in data.get("tags", [])}
    for name, a, b in (("name", info["run_name"], meta.get("run_name") or our), ("user", info.get("user_id", ""), meta.get("user_id") or ""),
                       ("status", info["status"], STATUS[meta.get("status", 1)]), ("start", info["start_time"], meta["start_time"]),
                       ("end", info.get("end_time", 0) or 0, meta.get("end_time") or 0), ("life", info["lifecycle_stage"], "active")):
        if a != b:
            say(f"{name} is {a!r}, not {b!r}")
    own_tags = entries(os.path.join(folder, "tags"))
    compare_texts("param", entries(os.path.join(folder, "params")), {p["key"]: p.get("value", "") for p in data.get("params", [])}, 6000, say)
    compare_texts("tag", own_tags, {k: v for k, v in tags.items() if k != "mlflow.runName" or k in own_tags}, 8000, say)
    if "benchwrap.synced" not in tags:
        say("it is not marked as complete")
    cut = [f"param:{k}" for k, p in entries(os.path.join(folder, "params")).items() if len(text(read(p))) > 6000]
    cut += [f"tag:{k}" for k, p in own_tags.items() if len(text(read(p))) > 8000]
    if "benchwrap.cut" in own_tags:
        cut += [w.replace(" ", ":", 1) for w in text(read(own_tags["benchwrap.cut"])).strip().split(", ")]
    if sorted(cut) != sorted(w for w in tags.get("benchwrap.cut", "").split(", ") if w):
        say(f"benchwrap.cut is {tags.get('benchwrap.cut')!r}, not {cut}")
    thinned = {} if apart else thinned_of(folder)
    metrics = {f"system/{k}" if apart and k.startswith(FAMILIES) and k not in ("run.wall_s", "run.wall_s.median") else k: p for k, p in entries(os.path.join(folder, "metrics")).items()}
    latest = {m["key"]: (int(m.get("step", 0)), int(m.get("timestamp", 0)), float(m.get("value", 0))) for m in data.get("metrics", [])}
    for key in {m["key"] for m in data.get("metrics", [])} - set(metrics):
        of = metrics.get(key.removesuffix(".median"))
        values = sorted(v for *_, v in thinned_of(folder).get(key.removesuffix(".median")) or samples_of(of)) if apart and of and key.endswith(".median") else []
        if not values or not math.isclose(latest[key][2], (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2):
            say(f"metric {key} is too many, or no median")
    for key, path in metrics.items():
        ours, theirs = sorted(thinned.get(key) or samples_of(path), key=order), sorted(history(info["run_id"], key), key=order)
        last = max(ours, key=lambda r: (r[0], r[1], 0 if math.isnan(r[2]) else r[2]))
        if key in latest and (latest[key][:2] != last[:2] or not (same_value(latest[key][2], last[2]) or (math.isnan(last[2]) and latest[key][2] == 0))):
            say(f"metric {key}: the last sample is {latest[key]}, not {last}")
        if len(ours) != len(theirs) or any(a[:2] != b[:2] or not same_value(a[2], b[2]) for a, b in zip(ours, theirs)):
            say(f"metric {key}: {len(theirs)} samples on the server, {len(ours)} here, or others")
    ours, theirs = entries(os.path.join(folder, "artifacts")), files(info["run_id"])
    for path in sorted(set(ours) | set(theirs)):
        if path not in ours or path not in theirs:
            say(f"artifact {path} is {'too many' if path in theirs else 'missing'}")
        elif artifact(info, path) != read(ours[path]):
            say(f"artifact {path} has other bytes")
    parent = own_tags.get("mlflow.parentRunId")
    if parent:
        there = search(experiment, text(read(parent)))
        expected = there[0]["info"]["run_id"] if there else None
        if tags.get("mlflow.parentRunId") != expected:
            say(f"the parent is {tags.get('mlflow.parentRunId')}, not {expected}")


def main():
    count = 0
    for folder in sorted(os.listdir(tree)):
        meta = os.path.join(tree, folder, "meta.yaml")
        if not os.path.exists(meta):
            continue
        name = yaml.safe_load(read(meta))["name"]
        try:
            experiment = api("experiments/get-by-name", experiment_name=name)["experiment"]
        except urllib.error.HTTPError as e:
            bad.append(f"experiment {name}: HTTP {e.code}")
            continue
        if experiment["lifecycle_stage"] != "active":
            bad.append(f"experiment {name} is {experiment['lifecycle_stage']}")
        for run in sorted(os.listdir(os.path.join(tree, folder))):
            if len(run) == 32 and (not wanted or run in wanted):
                compare_run(experiment["experiment_id"], os.path.join(tree, folder, run), run)
                count += 1
    for line in bad[:40]:
        print(f"# {line}")
    print(f"{'not ok' if bad or not count else 'ok'} {count} runs, {len(bad)} differences")
    sys.exit(1 if bad or not count else 0)


main()
