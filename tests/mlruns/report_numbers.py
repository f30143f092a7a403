"""Computes every number of a report again from the files of the tree: report_numbers.py BENCHWRAP FOLDER. FOLDER/mlruns has the experiments that are named below.

Reads metric files itself, by the rule of the format (time, value, step a line), and the tables of the HTML page. Prints "ok NAME" or "not ok NAME: why"."""
import glob
import html
import os
import re
import statistics
import subprocess
import sys

benchwrap, folder = sys.argv[1:3]
UNITS = {"ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def check(name, problems):
    print("ok %s" % name if not problems else "not ok %s: %s" % (name, "; ".join(map(str, problems[:6]))))


def one(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def experiment_runs(name):
    """All runs of an experiment, the newest first: id, params, tags, metrics as lists of values."""
    runs = []
    for meta in glob.glob(folder + "/mlruns/*/*/meta.yaml"):
        text, at = one(meta), os.path.dirname(meta)
        if '"%s"' % name not in one(os.path.dirname(at) + "/meta.yaml"):
            continue
        run = {"id": os.path.basename(at), "start": int(re.search(r"start_time: (\d+)", text).group(1)), "finished": re.search(r"status: 3", text) is not None,
               "name": one(at + "/tags/mlflow.runName") if os.path.exists(at + "/tags/mlflow.runName") else ""}
        for kind in ("params", "tags", "metrics"): # a key with a slash is a file in a folder
            run[kind] = {os.path.relpath(p, at + "/" + kind): one(p) for p in glob.glob(at + "/" + kind + "/**", recursive=True) if os.path.isfile(p)}
        run["metrics"] = {key: [float(line.split()[1]) for line in text.splitlines()] for key, text in run["metrics"].items()}
        runs.append(run)
    return sorted(runs, key=lambda r: -r["start"])


def report(*options):
    got = subprocess.run([benchwrap, "report", "--tree", folder + "/mlruns", *options], capture_output=True, text=True, encoding="utf-8")
    if got.returncode:
        sys.exit("not ok report %s: %s" % (options, got.stderr))
    return got.stdout


def plain(cell):
    return html.unescape(re.sub("<[^>]*>", "", cell.replace(" <small>", ", "))).replace("\u00a0", " ").strip()


def number_of(attributes):
    """The number that a cell is sorted by; None: it has no value, or it is text"""
    key = re.search(r'data-v="([^"]+)"', attributes)
    return float(key.group(1)) if key else None


def tables(page):
    """caption: (headings, rows of (text, number of the page or None))"""
    found = {}
    for table in re.findall(r"<div class=\"scroll\".*?</table>|<table.*?</table>", page, re.S):
        caption = re.search(r'aria-label="([^"]*)"', table)
        rows = [[(plain(c), number_of(a)) for a, c in re.findall(r"<t[dh]([^>]*)>(.*?)</t[dh]>", r, re.S)]
                for r in re.findall(r"<tr[^>]*>(.*?)</tr>", table, re.S)]
        found.setdefault(plain(caption.group(1)) if caption else "", []).append(rows)
    return found


def near(shown, value, scale=1.0):
    """Is the text the value, rounded to three significant digits or more?"""
    try:
        return abs(float(shown.replace("%", "")) - value / scale) <= 0.00501 * abs(value / scale)
    except ValueError:
        return False


def scale_of(unit):
    return UNITS.get(unit, 1.0)


def result_key(run, name):
    """The key of a metric that the page calls by its name without the unit."""
    keys = [k for k in run["metrics"] if re.sub(r"_(?:[A-Za-z]+_per_s|s|ms|us|ns|percent|[KMG]iB|[KMG]B|B|J|W|Hz)(?=\.|$)", "", k) == name]
    return keys[0] if len(keys) == 1 else None


def check_metric_tables(label, run, page):
    problems, seen = [], 0
    for caption in ("metrics", "metrics of the machine"):
        for rows in tables(page).get(caption, []):
            for row in rows[1:]:
                key = result_key(run, row[0][0])
                if not key:
                    problems.append("no key for %r" % row[0][0])
                    continue
                values = run["metrics"][key]
                unit = row[2][0]
                own = "s" if re.search(r"_s(\.|$)", key) and "_per_s" not in key else ""
                scale = scale_of(unit) if own == "s" else 1.0
                seen += 1
                if row[1][1] != statistics.median(values):
                    problems.append("%s: data %r instead of %r" % (key, row[1][1], statistics.median(values)))
                if not near(row[1][0], statistics.median(values), scale):
                    problems.append("%s: %r %s instead of %r" % (key, row[1][0], unit, statistics.median(values)))
                ends = row[3][0].split(" … ") if row[3][0] and row[3][0] != "–" else []
                if len(values) > 1 and not (len(ends) == 2 and near(ends[0], min(values), scale) and near(ends[1], max(values), scale)):
                    problems.append("%s: range %r of %r to %r" % (key, row[3][0], min(values), max(values)))
                if row[4][1] != len(values):
                    problems.append("%s: n %r of %d" % (key, row[4], len(values)))
    check("%s: %d metrics" % (label, seen), problems if seen else ["no metric"])


def check_run_table(label, runs, page, by=None):
    problems, rows = [], tables(page)["runs"][0]
    headings = [c[0] for c in rows[0]]
    for row in rows[1:]:
        run = [r for r in runs if r["id"].startswith(row[headings.index("run")][0])][0]
        for heading, (text, number) in zip(headings, row):
            name, _, unit = heading.partition(", ")
            key = result_key(run, name)
            if heading == "status" and text != ("FINISHED" if run["finished"] else "FAILED"):
                problems.append("%s: %s" % (run["id"][:8], text))
            elif key and number is not None:
                value = statistics.median(run["metrics"][key])
                if number != value or not near(text, value, scale_of(unit)):
                    problems.append("%s %s: %r %r instead of %r" % (run["id"][:8], key, text, number, value))
    check("%s: %d runs" % (label, len(rows) - 1), problems if len(rows) - 1 == len(runs) else ["%d rows of %d runs" % (len(rows) - 1, len(runs))])


def check_groups(label, runs, page, by):
    """The comparison of groups by a param: median of the runs' medians, and the change."""
    groups = {}
    for run in runs:
        groups.setdefault(run["params"][by], []).append(run)
    names = sorted(groups, key=lambda n: float(n) if re.fullmatch(r"[\d.]+", n) else 0)
    problems, seen = [], 0
    listed = tables(page)["groups"][0]
    if [(r[0][0][:1], r[1][0], int(r[2][1])) for r in listed[1:]] != [(chr(65 + i), "%s=%s" % (by, n), len(groups[n])) for i, n in enumerate(names)]:
        problems.append("groups: %r" % [[c[0] for c in r] for r in listed[1:]])
    for caption in ("comparison of headline metrics", "comparison of other metrics"):
        for rows in tables(page).get(caption, []):
            headings = [c[0] for c in rows[0]]
            for row in rows[1:]:
                cells = dict(zip(headings, row))
                key = result_key(runs[0], cells["metric"][0])
                if not key:
                    continue
                other = ord(cells["group"][0]) - 65 if "group" in cells else 1
                base = statistics.median(statistics.median(r["metrics"][key]) for r in groups[names[0]])
                value = statistics.median(statistics.median(r["metrics"][key]) for r in groups[names[other]])
                shown = cells["value"] if "value" in cells else cells["B"]
                scale = scale_of(cells["unit"][0])
                seen += 1
                if abs(shown[1] - value) > 1e-12 * abs(value) or not near(shown[0], value, scale):
                    problems.append("%s: %r instead of %r" % (key, shown, value))
                if abs(cells["A"][1] - base) > 1e-12 * abs(base) or not near(cells["A"][0], base, scale):
                    problems.append("%s: A %r instead of %r" % (key, cells["A"], base))
                change = cells["change"]
                # the change of several runs is the ratio of their geometric means, that of single runs of their values
                geometric = statistics.geometric_mean([statistics.median(r["metrics"][key]) for r in groups[names[other]]]) / statistics.geometric_mean(
                    [statistics.median(r["metrics"][key]) for r in groups[names[0]]])
                if change[1] is not None and min(abs(change[1] / r - 1) for r in (value / base, geometric)) > 1e-9:
                    problems.append("%s: change %r instead of %r or %r" % (key, change, value / base, geometric))
    check("%s: %d comparisons" % (label, seen), problems if seen else ["no comparison"])


def check_scaling(label, runs, page, axis, kind):
    problems, seen = [], 0
    for caption, lists in tables(page).items():
        if " scaling of " not in caption:
            continue
        for rows in lists:
            name, _, unit = rows[0][2][0].partition(", ")
            points = {}
            for run in runs:
                key = result_key(run, name)
                points.setdefault(float(run["params"][axis]), []).append(statistics.median(run["metrics"][key]))
            n0 = min(points)
            v0 = statistics.median(points[n0])
            is_rate = "/s" in unit
            for row in rows[1:]:
                n = row[0][1]
                v = statistics.median(points[n])
                speedup = v / v0 if is_rate else v0 / v * (1 if kind == "strong" else n / n0)
                expected = (n, len(points[n]), v, speedup, 100 * speedup * n0 / n)
                seen += 1
                if any(abs(c[1] - e) > 1e-9 * abs(e) for c, e in zip(row, expected)):
                    problems.append("%s: %r instead of %r" % (caption, [c[1] for c in row], expected))
                if not near(row[2][0], v, scale_of(unit)) or not near(row[3][0], speedup) or not near(row[4][0], expected[4]):
                    problems.append("%s: %r instead of %r" % (caption, [c[0] for c in row], expected))
            if len(rows) - 1 != len(points):
                problems.append("%s: %d rows of %d" % (caption, len(rows) - 1, len(points)))
    check("%s: %d points" % (label, seen), problems if seen else ["no point"])


def check_statistics(label, runs, page):
    """The statistics of a sweep over numbers.sh {size} by its child runs."""
    problems, seen = [], 0
    for row in tables(page)["statistics over repetitions"][0][1:]:
        size = row[1][0].partition("=")[2]
        own = [r for r in runs if "benchwrap.repetition" in r["tags"] and "numbers.sh %s " % size in r["tags"]["benchwrap.command"]]
        key = result_key(own[0], row[0][0]) if own else None
        if not key:
            problems.append("no run for %r" % [c[0] for c in row])
            continue
        values = [statistics.median(r["metrics"][key]) for r in own]
        expected = (statistics.median(values), min(values), max(values))
        seen += 1
        for cell, value in zip(row[2:5], expected):
            if abs(cell[1] - value) > 1e-9 * abs(value) or not near(cell[0], value, scale_of(row[6][0])):
                problems.append("%s %s: %r instead of %r" % (key, row[1][0], cell, value))
        if row[5][1] != len(values):
            problems.append("%s: n %r" % (key, row[5]))
    check("%s: %d statistics" % (label, seen), problems if seen else ["no statistic"])


def check_differences(label, runs, page):
    """Every param and tag that the page lists differs, with the counts of its values; and no user's param or tag is missing."""
    problems, seen = [], set()
    for caption, lists in tables(page).items():
        if "differ" not in caption:
            continue
        for rows in lists:
            for row in rows[1:]:
                kind, fact, values = (row[0][0] + "s", row[1][0], row[2][0]) if len(row) == 3 else ("params", row[0][0], row[1][0])
                seen.add(fact)
                own = [r[kind].get(fact) for r in runs]
                if kind == "params" and all(v is None for v in own):
                    own = [r["tags"].get(fact) for r in runs]
                if all(v is None for v in own):
                    continue  # an argument
                counts = {v: own.count(v) for v in set(own)}
                if len(counts) < 2:
                    problems.append("%s is the same" % fact)
                for value, count in list(counts.items())[:3]:
                    text = "%s (%d)" % ("absent" if value is None else value[:200], count)
                    if text not in values and "more" not in values:
                        problems.append("%s: no %r in %r" % (fact, text, values))
    for kind in ("params", "tags"):
        for fact in set().union(*(r[kind] for r in runs)):
            if fact not in seen and len({r[kind].get(fact) for r in runs}) > 1 and not fact.startswith(("mlflow.", "benchwrap.", "job.id")):
                problems.append("%s differs and is not listed" % fact)
    check("%s: %d differences" % (label, len(seen)), problems)


for run in experiment_runs("numbers")[:3]:
    check_metric_tables("run %s" % run["name"], run, report(run["id"]))
runs = experiment_runs("numbers")
page = report("-e", "numbers", "--ignore", "argument.*")
check_run_table("experiment", runs, page)
check_differences("experiment", runs, page)
check_groups("groups", [r for r in runs if r["finished"]], report("-e", "numbers", "--by", "size", "--status", "FINISHED", "--ignore", "argument.*"), "size")
for kind in ("strong", "weak"):
    runs = experiment_runs(kind)
    check_scaling(kind, runs, report("-e", kind, "--ignore", "argument.*"), "step.nodes", kind)
    for run in runs[:1]:
        check_metric_tables(kind, run, report(run["id"]))
check_statistics("sweep", experiment_runs("swept"), report("-e", "swept"))
