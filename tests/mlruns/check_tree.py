#!/usr/bin/env python3
"""check_tree.py TREE [EXPECT]: opens the tree (the folder that holds mlruns/) with the installed MLflow and compares what it reads with the
files and, run by run, with EXPECT (JSON lines as tests/lib/write-tree.c writes them). Prints "ok NAME" or "not ok NAME: why" a check.

TREE must be a scratch copy: MLflow makes folders in it. Empty folders are removed first, as git would."""
import collections
import hashlib
import json
import logging
import math
import os
import re
import sqlite3
import sys
import tempfile
import warnings

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
warnings.simplefilter("ignore")

import yaml  # noqa: E402

KEY = re.compile(r"[/\w.\- ]+")
problems = []


def bad(where, what):
    problems.append(f"{where}: {what}")


def check(name, function, *args):
    """One check: whatever it complains about or raises is told."""
    del problems[:]
    try:
        function(*args)
    except Exception as x:  # noqa: BLE001 what MLflow raises is a finding
        bad(type(x).__name__, str(x)[:300])
    text = "; ".join(problems[:5]).replace("\n", " ")
    print(f"not ok {name}: {text} ({len(problems)} problems)" if problems else f"ok {name}", flush=True)


def files_below(folder):
    out = {}
    for d, _, names in os.walk(folder):
        for n in names:
            path = os.path.join(d, n)
            out[os.path.relpath(path, folder)] = path
    return out


def runs_of(tree):
    for e in sorted(os.listdir(tree)):
        folder = os.path.join(tree, e)
        if e in (".trash", "models") or not os.path.isdir(folder):
            continue
        for r in sorted(os.listdir(folder)):
            if re.fullmatch("[0-9a-f]{32}", r):
                yield e, r, os.path.join(folder, r)


def check_files(tree):
    """The files themselves: what breaks MLflow, migration or a clone."""
    names = collections.Counter()
    for e in sorted(os.listdir(tree)):
        folder = os.path.join(tree, e)
        if e in (".trash", "models"):
            continue
        if not os.path.isdir(folder) or not re.fullmatch("[1-9][0-9]{0,9}", e) or int(e) > 2**31 - 1:
            bad(e, "not an experiment folder with an id below 2^31")
            continue
        text = open(folder + "/meta.yaml", encoding="utf-8").read()
        m = yaml.safe_load(text)
        names[m["name"]] += 1
        lines = [f'artifact_location: "mlruns/{e}"', "creation_time: 1767225600000", f'experiment_id: "{e}"', "last_update_time: 1767225600000",
                 'lifecycle_stage: "active"', f'name: "{m["name"]}"']
        if text != "\n".join(lines) + "\n":
            bad(e, "meta.yaml is not the six lines of the format")
        if open(folder + "/tags/mlflow.experimentKind", encoding="utf-8").read() != "custom_model_development":
            bad(e, "no experimentKind")
        stray = [n for n in os.listdir(folder) if n not in ("meta.yaml", "tags") and not re.fullmatch("[0-9a-f]{32}", n)]
        if stray:
            bad(e, f"stray entries {stray}")
    for n, k in names.items():
        if k > 1:
            bad(n, "two experiments of this name")
    for e, r, folder in runs_of(tree):
        check_run_files(e, r, folder)


def check_run_files(e, r, folder):
    where = f"{e}/{r}"
    if set(os.listdir(folder)) - {"meta.yaml", "params", "metrics", "tags", "artifacts"}:
        bad(where, "stray entries")
    m = yaml.safe_load(open(folder + "/meta.yaml", encoding="utf-8"))
    want = {"run_id": r, "experiment_id": e, "artifact_uri": f"mlruns/{e}/{r}/artifacts", "lifecycle_stage": "active", "source_type": 4}
    for k, v in want.items():
        if m.get(k) != v:
            bad(where, f"{k} is {m.get(k)!r}")
    for k in ("run_name", "user_id", "entry_point_name", "source_name", "source_version"):
        if not isinstance(m.get(k), str):
            bad(where, f"{k} is {m.get(k)!r}")
    if m["status"] not in (3, 4, 5) or type(m["start_time"]) is not int or type(m["end_time"]) is not int or m["end_time"] < m["start_time"]:
        bad(where, "status or times")
    for kind, limit in (("params", 6000), ("tags", 8000), ("metrics", None), ("artifacts", None)):
        found = files_below(os.path.join(folder, kind))
        if not found:
            bad(where, f"{kind}/ is empty: the run is lost in a clone")
        folded = collections.Counter(k.lower() for k in found)
        for key, path in found.items():
            if folded[key.lower()] > 1:
                bad(where, f"{kind}/{key} differs from another key in case only")
            if os.path.islink(path):
                bad(where, f"{kind}/{key} is a link")
            if kind == "artifacts":
                continue
            if not KEY.fullmatch(key) or len(key) > 250:
                bad(where, f"{kind} key {key!r} is illegal")
            text = open(path, encoding="utf-8", newline="").read()
            if limit and len(text) > limit:
                bad(where, f"{kind}/{key} has {len(text)} characters")
            if kind == "metrics":
                check_metric(where, key, text)


def check_metric(where, key, text):
    before = -1
    if not text.endswith("\n") or text.count("\n") > 1000:
        bad(where, f"metrics/{key} does not end in a newline or has more than 1,000 lines")
    for line in text[:-1].split("\n"):
        m = re.fullmatch(r"(\d+) (nan|-?\d+(?:\.\d+)?(?:e[+-]\d+)?) (-?\d+)", line)
        if not m:
            bad(where, f"metrics/{key}: bad line {line[:60]!r}")
        elif int(m[1]) <= before:
            bad(where, f"metrics/{key}: time stamps do not increase")
        else:
            before = int(m[1])
            if math.isinf(float(m[2])):
                bad(where, f"metrics/{key}: infinite")


def check_details(tree, schemas):
    """benchwrap.json and manifest.json: their schemas, and that they agree with the files."""
    try:
        import jsonschema
    except ImportError:
        jsonschema = None
    schema = {n: json.load(open(os.path.join(schemas, n + ".schema.json"))) for n in ("benchwrap", "manifest")}
    for e, r, folder in runs_of(tree):
        where = f"{e}/{r}"
        detail = json.load(open(folder + "/artifacts/benchwrap.json", encoding="utf-8"))
        manifest = json.load(open(folder + "/artifacts/manifest.json", encoding="utf-8"))
        if jsonschema:
            jsonschema.validate(detail, schema["benchwrap"])
            jsonschema.validate(manifest, schema["manifest"])
        for kind in ("params", "tags", "metrics"):
            if set(detail[kind]) != set(files_below(os.path.join(folder, kind))):
                bad(where, f"benchwrap.json and {kind}/ have other keys")
        found = files_below(folder)
        del found["artifacts/manifest.json"]
        listed = {f["path"]: f for f in manifest["files"]}
        if set(listed) != set(found):
            bad(where, "manifest.json lists other files than there are")
        for path, f in listed.items():
            data = open(found[path], "rb").read()
            if len(data) != f["size"] or hashlib.sha256(data).hexdigest() != f["sha256"]:
                bad(where, f"{path} is not what manifest.json says")


def search_all(store, ViewType, experiment):
    runs, token = [], None
    while True:
        page = store.search_runs([experiment], "", ViewType.ALL, 100, ["attributes.start_time DESC"], token)
        runs += page
        token = page.token
        if not token:
            return runs


def check_store(tree, counts):
    """List and search through the file store: everything on disk is there."""
    from mlflow.entities import ViewType
    from mlflow.store.tracking.file_store import FileStore

    store = FileStore(tree, tree)
    on_disk = collections.defaultdict(set)
    for e, r, _ in runs_of(tree):
        on_disk[e].add(r)
    listed = {e.experiment_id for e in store.search_experiments(ViewType.ALL)}
    if listed - {"0"} != set(on_disk):
        bad("experiments", f"MLflow lists {sorted(listed)}, on disk are {sorted(on_disk)}")
    for e, runs in on_disk.items():
        found = {r.info.run_id for r in search_all(store, ViewType, e)}
        if found != runs:
            bad(e, f"{len(runs - found)} runs are not found by a search")
        counts["runs"] += len(found)


def same(a, b):
    return (a == "nan" and math.isnan(b)) or a == b


def check_runs(client, expected):
    """Every run as a client sees it: equal to what was recorded."""
    for x in expected:
        where = f'{x["experiment"]}/{x["name"]}'
        r = client.get_run(x["id"])
        if r.info.status != x["status"] or r.info.run_name != x["name"]:
            bad(where, f"{r.info.status} {r.info.run_name!r}")
        if r.data.params != x["params"] and {k: v for k, v in r.data.params.items() if k != "run.program"} != x["params"]:
            wrong = [k for k in x["params"] if r.data.params.get(k) != x["params"][k]]
            bad(where, f"params differ: {wrong[:3]!r}: {[r.data.params.get(k) for k in wrong[:3]]!r}")
        if r.data.tags != x["tags"]:
            wrong = [k for k in x["tags"] if r.data.tags.get(k) != x["tags"][k]]
            bad(where, f"tags differ: {wrong[:3]!r}: {[r.data.tags.get(k) for k in wrong[:3]]!r}")
        want = collections.defaultdict(list)
        for key, time, step, value in x["metrics"]:
            want[key].append((time, step, value))
        if set(want) != set(r.data.metrics):
            bad(where, f"metric keys differ: {sorted(set(want) ^ set(r.data.metrics))}")
        for key, samples in want.items():
            got = [(m.timestamp, m.step, m.value) for m in client.get_metric_history(x["id"], key)]
            if len(got) != len(samples) or not all(a[:2] == b[:2] and same(a[2], b[2]) for a, b in zip(samples, got)):
                bad(where, f"metric {key} differs")


def check_artifacts(client, tree):
    def walk(run, path=None):
        for a in client.list_artifacts(run, path):
            if a.is_dir:
                yield from walk(run, a.path)
            else:
                yield a.path

    for _, r, folder in list(runs_of(tree))[::7]:
        found = files_below(folder + "/artifacts")
        if set(walk(r)) != set(found):
            bad(r, "the artifacts listed are not those on disk")
        with tempfile.TemporaryDirectory() as d:
            for path, on_disk in found.items():
                got = client.download_artifacts(r, path, d)
                if open(got, "rb").read() != open(on_disk, "rb").read():
                    bad(r, f"{path} is downloaded with other bytes")


def check_migration(tree, counts):
    """migrate-filestore into SQLite: an exit status of 0 proves nothing, so count."""
    from click.testing import CliRunner
    from mlflow.cli import cli

    with tempfile.TemporaryDirectory() as d:
        x = CliRunner().invoke(cli, ["migrate-filestore", "--source", os.path.dirname(tree), "--target", f"sqlite:///{d}/m.db", "--no-progress"])
        if x.exit_code:
            bad("migrate-filestore", f"status {x.exit_code}: {x.exception}: {x.output[-300:]}")
            return
        db = sqlite3.connect(d + "/m.db")

        def count(sql):
            return db.execute(sql).fetchone()[0]

        want = collections.Counter()
        for _, _, folder in runs_of(tree):
            want["runs"] += 1
            for kind in ("params", "tags"):
                want[kind] += len(files_below(os.path.join(folder, kind)))
            for path in files_below(folder + "/metrics").values():
                want["metrics"] += open(path, encoding="utf-8").read().count("\n")
        for table in want:
            if count(f"select count(*) from {table}") != want[table]:
                bad(table, f"{count(f'select count(*) from {table}')} after migration, {want[table]} on disk")
        if count("select count(*) from runs where experiment_id not in (select experiment_id from experiments)"):
            bad("runs", "some belong to no experiment")
        counts["migrated"] = want["runs"]


def main():
    top = os.path.abspath(sys.argv[1])
    tree = os.path.join(top, "mlruns")
    schemas = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../mlruns-format")
    expected = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")] if len(sys.argv) > 2 else []
    for d, _, _ in os.walk(tree, topdown=False):
        if d != tree and not os.listdir(d):
            os.rmdir(d)
    os.chdir(top)  # relative artifact URIs are read from here
    counts = collections.Counter()
    check("files: what MLflow, migration and clones need", check_files, tree)
    check("benchwrap.json and manifest.json agree with schema and files", check_details, tree, schemas)
    import mlflow
    from mlflow.tracking import MlflowClient

    logging.getLogger("mlflow").setLevel(logging.CRITICAL)
    mlflow.set_tracking_uri("mlruns")
    client = MlflowClient()
    check("the file store lists and finds every run", check_store, tree, counts)
    if expected:
        check(f"{len(expected)} runs read as they were recorded", check_runs, client, expected)
    check("artifacts are listed and downloaded as they are", check_artifacts, client, tree)
    from mlflow.cli import cli

    if "migrate-filestore" in cli.commands:
        check("migrate-filestore takes everything", check_migration, tree, counts)
    print(f"# mlflow {mlflow.__version__}: {counts['runs']} runs read, {counts['migrated']} migrated")


main()
