"""Compares `benchwrap export` with the tree, value by value: tables.py BENCHWRAP FOLDER. FOLDER/mlruns is a tree of filters.py.

The tables are read by pandas, the tree by MlflowClient and from its files. Prints "ok NAME" or "not ok NAME: why" a check."""
import io
import json
import logging
import math
import os
import subprocess
import sys

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
logging.disable(logging.WARNING)


def check(name, problems):
    print("ok %s" % name if not problems else "not ok %s: %s" % (name, "; ".join(problems[:5])))


def export(benchwrap, folder, *options):
    got = subprocess.run([benchwrap, "export", "--tree", folder, "--all", *options], capture_output=True, text=True, encoding="utf-8")
    return got.stdout if got.returncode == 0 else sys.exit("not ok export %s: %s" % (options, got.stderr))


def guarded(text):
    """A text as CSV has it, for spreadsheets."""
    if text and text[0] in "=+-@\t\r":
        try:
            float(text)
        except ValueError:
            return "'" + text
    return text


def expected_run(run):
    info = run.info
    row = {"run_id": info.run_id, "experiment": "e" + info.experiment_id, "experiment_id": int(info.experiment_id), "run_name": info.run_name, "status": info.status,
           "start_time": info.start_time, "user_id": info.user_id, "artifact_uri": info.artifact_uri}
    if info.end_time is not None:
        row["end_time"] = info.end_time
    for kind, values in (("metrics", run.data.metrics), ("params", run.data.params), ("tags", run.data.tags)):
        row.update({"%s.%s" % (kind, key): value for key, value in values.items()})
    return row


def same(a, b):
    if isinstance(b, float):
        return math.isnan(a) and math.isnan(b) if isinstance(a, float) and math.isnan(b) else float(a) == b
    return a == b


def differences(got, expected, run):
    keys = set(got) | set(expected)
    return ["%s %s: %r instead of %r" % (run, k, got.get(k), expected.get(k)) for k in sorted(keys) if k not in got or k not in expected or not same(got[k], expected[k])]


def compare_json(benchwrap, folder, expected):
    problems, seen = [], set()
    for line in export(benchwrap, folder, "--format", "jsonl").splitlines():
        row = json.loads(line)
        seen.add(row["run_id"])
        for key in row:
            if key.startswith("metrics."):
                row[key] = float(row[key])
        problems += differences(row, expected[row["run_id"]], row["run_id"])
    check("every run is a JSON line, with every value", problems + (["other runs"] if seen != set(expected) else []))


def compare_csv(benchwrap, folder, expected, pandas):
    table = pandas.read_csv(io.StringIO(export(benchwrap, folder), newline=""), dtype=str, keep_default_na=False, lineterminator="\n")
    table.columns = [c.rstrip("\r") for c in table.columns]
    problems = []
    for _, row in table.iterrows():
        want = expected[row["run_id"]]
        for column in table.columns:
            got, value = row[column].rstrip("\r") if column == table.columns[-1] else row[column], want.get(column, "")
            if isinstance(value, str):
                ok = got == guarded(value)
            elif isinstance(value, float):
                ok = same(float(got), value)
            else:
                ok = int(got) == value
            if not ok:
                problems.append("%s %s: %r instead of %r" % (row["run_id"], column, got, value))
    missing = set().union(*expected.values()) - set(table.columns)
    check("every run is a row of CSV for pandas, with every value", problems + ["no column " + c for c in sorted(missing)] + (["%d rows" % len(table)] if len(table) != len(expected) else []))


def compare_samples(benchwrap, folder, expected):
    wanted = {}
    for run in expected.values():
        top = "%s/%d/%s/metrics" % (folder, run["experiment_id"], run["run_id"])
        for at, _, files in os.walk(top):
            for name in files:
                path = os.path.join(at, name)
                with open(path, encoding="utf-8") as f:
                    wanted[run["run_id"], os.path.relpath(path, top)] = sorted((int(t), repr(float(v)), int(s)) for t, v, s in (line.split() for line in f))
    got = {}
    for line in export(benchwrap, folder, "--long", "--format", "jsonl").splitlines():
        row = json.loads(line)
        got.setdefault((row["run_id"], row["metric"]), []).append((row["time"], repr(float(row["value"])), row["step"]))
    check("--long has every sample", ["%s %s" % k for k in set(wanted) | set(got) if wanted.get(k) != sorted(got.get(k, []))])


def compare_parquet(benchwrap, folder, expected, parquet):
    """What pyarrow reads: types, rows, and every value; the samples in several groups of rows."""
    with open("runs.parquet", "wb") as f:
        subprocess.run([benchwrap, "export", "--tree", folder, "--all", "--format", "parquet"], stdout=f, check=True)
    table = parquet.read_table("runs.parquet")
    problems, seen = [], set()
    for row in table.to_pylist():
        got = {k: v for k, v in row.items() if v is not None}
        for key in ("start_time", "end_time"):
            if key in got:
                got[key] = int(table.column(key)[len(seen)].value)
        seen.add(row["run_id"])
        problems += differences(got, expected[row["run_id"]], row["run_id"])
    types = {str(f.type) for f in table.schema}
    check("pyarrow reads every run from Parquet, with every value", problems + (["other runs"] if seen != set(expected) else []))
    check("Parquet has types", [] if types == {"string", "double", "int64", "timestamp[ms, tz=UTC]"} or types == {"string", "double", "int64", "timestamp[ms]"} else [str(types)])
    with open("samples.parquet", "wb") as f:
        subprocess.run([benchwrap, "export", "--tree", folder, "--all", "--long", "--format", "parquet"], stdout=f, check=True)
    rows = [json.loads(line) for line in export(benchwrap, folder, "--long", "--format", "jsonl").splitlines()]
    samples = parquet.read_table("samples.parquet").to_pydict()
    check("pyarrow reads every sample", [] if [(r["run_id"], r["metric"], r["step"], repr(float(r["value"]))) for r in rows] == [
        (a, b, c, repr(d)) for a, b, c, d in zip(samples["run_id"], samples["metric"], samples["step"], samples["value"])] else ["other samples"])


def compare_sqlite(benchwrap, folder, expected):
    """What Python's sqlite3 reads. NaN is a text there, and columns whose names differ in case alone have a number behind them."""
    import sqlite3
    subprocess.run([benchwrap, "export", "--tree", folder, "--all", "--format", "sqlite", "--output", "runs.db"], check=True)
    db, problems, seen = sqlite3.connect("runs.db"), [], set()
    rows = db.execute("select * from runs")
    names, taken = [], {}
    for column in rows.description:
        name = column[0]
        if "~" in name and name[:name.rindex("~")].lower() in taken:
            name = name[:name.rindex("~")]
        taken[name.lower()] = True
        names.append(name)
    for row in rows:
        got = {n: v for n, v in zip(names, row) if v is not None}
        for key in got:
            if key.startswith("metrics."):
                got[key] = float(got[key])
        seen.add(got["run_id"])
        problems += differences(got, expected[got["run_id"]], got["run_id"])
    check("SQLite has every run, with every value", problems + (["other runs"] if seen != set(expected) else []))


def compare_duckdb(expected, parquet):
    """What DuckDB reads from the Parquet files and the JSON lines."""
    try:
        import duckdb
    except ImportError:  # the quick tests have none; tests/long/reading.t does
        return
    found = duckdb.connect().execute("select * replace (epoch_ms(start_time) as start_time, epoch_ms(end_time) as end_time) from 'runs.parquet'")
    names, problems, seen = parquet.read_schema("runs.parquet").names, [], set()  # DuckDB renames columns that differ in case alone
    for row in found.fetchall():
        got = {n: v for n, v in zip(names, row) if v is not None}
        seen.add(got["run_id"])
        problems += differences(got, expected[got["run_id"]], got["run_id"])
    check("DuckDB reads every run from Parquet, with every value", problems + (["other runs"] if seen != set(expected) else []))
    one, other = (duckdb.connect().execute("select run_id, metric, step, value from %s order by all" % t).fetchall() for t in ("'samples.parquet'", "read_json('samples.jsonl', format='newline_delimited', columns={run_id: 'VARCHAR', metric: 'VARCHAR', step: 'BIGINT', value: 'DOUBLE'})"))
    check("DuckDB reads the same samples from Parquet and from JSON lines", [] if list(map(repr, one)) == list(map(repr, other)) and one else ["other samples"])


def main():
    benchwrap, folder = sys.argv[1], sys.argv[2] + "/mlruns"
    import pandas
    from mlflow import MlflowClient
    runs = MlflowClient(folder).search_runs(["1", "222"], max_results=50000)
    expected = {run.info.run_id: expected_run(run) for run in runs}
    compare_json(benchwrap, folder, expected)
    compare_csv(benchwrap, folder, expected, pandas)
    compare_samples(benchwrap, folder, expected)
    from pyarrow import parquet
    compare_parquet(benchwrap, folder, expected, parquet)
    compare_sqlite(benchwrap, folder, expected)
    with open("samples.jsonl", "w", encoding="utf-8") as f:
        f.write(export(benchwrap, folder, "--long", "--format", "jsonl"))
    compare_duckdb(expected, parquet)


main()
