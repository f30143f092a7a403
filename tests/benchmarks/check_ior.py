#!/usr/bin/env python3
"""Compares what `benchwrap parse --rules ior` finds in captured outputs with an independent reading of their rows and JSON.

usage: check_ior.py BENCHWRAP FOLDER   (FOLDER has MANIFEST.tsv: name, exit=N, command)"""
import collections
import json
import os
import re
import shlex
import subprocess
import sys

bw, folder = sys.argv[1:3]
COLUMNS = {"bw(MiB/s)": "bw_MiB_per_s", "IOPS": "iops_op_per_s", "Latency(s)": "latency_s", "open(s)": "open_s", "wr/rd(s)": "wrrd_s",
           "close(s)": "close_s", "total(s)": "total_s"}
MEMBERS = {"bwMiB": "bw_MiB_per_s", "iops": "iops_op_per_s", "latency": "latency_s", "openTime": "open_s", "wrRdTime": "wrrd_s",
           "closeTime": "close_s", "totalTime": "total_s"}
# Exit status 0 and yet no good run, and why.
LIES = [r"3\.[23]\.\d-human-verify-corrupt(-many)?$", r"-wrap256$", r"fail-badoption$", r"-help$", r"dryrun$",
        r"(2\.10\.3|3\.0\.1|3\.1\.0)-human-verify-corrupt(-many)?$", r"3\.1\.0-human-readonly-shortfile-fail$", r"3\.1\.0-fail-enospc$",
        r"3\.[23]\.\d-csv-"]
# Two copies of IOR in one output: nothing may be merged, and the run fails.
MIXED = "launcher-wrong-mpi"


def table_rows(path):
    """{(test, access, iteration): {column: text}}, number of tests"""
    rows, test, header = {}, -1, None
    for raw in open(path, errors="replace"):
        tag = re.match(r"\[\d+,\d+\]<std\w+>:|\[\d+\] |\d+: ", raw)
        line = raw.rstrip("\n")
        if tag:
            line = line.replace(tag.group(0), "")
        if line.strip() in ("Options:", "Summary:"):
            test += 1
        fields = line.split()
        if fields[:1] == ["access"] and "iter" in fields:
            header = fields
        elif header and len(fields) == len(header) and fields[0] in ("write", "read", "remove"):
            rows[max(test, 0), fields[0], int(fields[-1])] = dict(zip(header, fields))
    return rows, max(test + 1, 1)


def json_rows(path):
    """[(test, key, value)], number of tests: by pattern, as most of these texts are no JSON"""
    found, test = [], -1
    for m in re.finditer(r'"Parameters"\s*:|\{\s*"access": "(write|read)",([^{}]*)\}', open(path, errors="replace").read()):
        if m.group(1) is None:
            test += 1
            continue
        for member, number in re.findall(r'"(\w+)": (-?[\d.]+)', m.group(2)):
            if member in MEMBERS and (float(number) or member in ("bwMiB", "iops")):
                found.append((max(test, 0), m.group(1) + "." + MEMBERS[member], float(number)))
    return found, test + 1


def parse(path, *more):
    got = collections.defaultdict(list)
    answer = json.loads(subprocess.run([bw, "parse", "--rules", "ior", "--json", *more[:more.index("--") if "--" in more else None], path,
                                        *(more[more.index("--"):] if "--" in more else [])], check=True, capture_output=True, text=True).stdout)
    for m in answer["metrics"]:
        if not re.search(r"\.(max|min|mean|median|sd|n)$", m["key"]):
            got[m["key"]].append((m["step"], m["value"]))
    return answer, got


def wrong(*what):
    print("wrong:", *what)


files = values = 0
for line in list(open(folder + "/MANIFEST.tsv"))[::1 if os.environ.get("BENCHWRAP_LONG") else 5]:
    name, status, command = line.rstrip("\n").split("\t")
    status, argv, out = int(status[5:]), shlex.split(command), f"{folder}/{name}.out"
    more = ["--exit-status", str(status)]
    if os.path.exists(f"{folder}/{name}.err"):
        more += ["--stderr", f"{folder}/{name}.err"]
    for end in ("json", "csv", "txt"):
        if "-file" in name and os.path.exists(f"{folder}/{name}.{end}"):
            more += ["--file", "{summary_file}=" + f"{folder}/{name}.{end}"]
    if "ior" in argv:
        more += ["--"] + argv[argv.index("ior"):]
    answer, got = parse(out, *more)
    files += 1
    good = status == 0 and not any(re.search(lie, name) for lie in LIES)
    if (answer["verdict"] == "pass") != good:
        wrong("verdict", name, answer["verdict"], answer["reason"])
    if MIXED in name:
        continue
    rows, tests = table_rows(out)
    want = collections.defaultdict(list)
    for (test, access, step), cells in rows.items():
        for column, key in COLUMNS.items():
            if cells.get(column, "-") != "-":
                want[(f"t{test}." if tests > 1 else "") + access + "." + key].append((step, float(cells[column])))
    values += sum(map(len, want.values()))
    if want and {k: sorted(v) for k, v in want.items()} != {k: sorted(v) for k, v in got.items()}:
        wrong("rows of", name, dict(want), dict(got))

for name in sorted(os.listdir(folder)):
    if "json" not in name or not name.endswith((".out", ".json")):
        continue
    want, tests = collections.defaultdict(list), 0
    found, tests = json_rows(f"{folder}/{name}")
    for test, key, number in found:
        want[(f"t{test}." if tests > 1 else "") + key].append(number)
    got = parse(f"{folder}/{name}")[1]
    values += sum(map(len, want.values()))
    for key, numbers in want.items():
        if [v for _, v in got[key]] != numbers:
            wrong("JSON of", name, key, numbers, got[key])
print(f"{files} files, {values} values")
