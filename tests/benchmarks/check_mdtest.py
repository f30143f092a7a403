#!/usr/bin/env python3
"""Compares what `benchwrap parse --rules mdtest` finds in outputs with an independent reading of their tables.

usage: check_mdtest.py BENCHWRAP FOLDER       (FOLDER has MANIFEST.tsv: name, exit=N, command)
       check_mdtest.py BENCHWRAP --list FILE  (one output a line: path; nothing is known but the text)"""
import json
import os
import re
import shlex
import subprocess
import sys

bw, folder = sys.argv[1:3]
# Exit status 0 and yet no good run, and why.
LIES = [r"(4\.0\.0|main)-fail-missing-stat$", r"-help$", r"3\.2\.1-fail-badoption$"]


def clean(raw):
    """The line without a launcher's prefix, or with one of ranks other than 0: nothing."""
    m = re.match(r"\[\d+,(\d+)\]<std\w+>:", raw)
    return raw[m.end():] if m else raw


def tables(path):
    """[{key: number}] one for each run in the output"""
    runs, unit = [], None
    for raw in open(path, errors="replace", newline="\n"):
        line = clean(raw.rstrip("\r\n"))
        if "was launched with" in line and line.startswith("mdtest-"):
            runs.append({})
            unit = None
        elif line.startswith("SUMMARY"):
            unit = "time_s" if line.split()[1].startswith("time") else "rate_op_per_s"
        elif line.startswith("--"):
            unit = None
        elif unit and runs:
            label, _, rest = line.strip().partition(":") if ":" in line else (" ".join(line.split()[:2]), "", " ".join(line.split()[2:]))
            fields = rest.split()
            words = label.split()
            if len(words) != 2 or words[0] not in ("File", "Directory", "Tree") or len(fields) < 4:
                continue
            key = "_".join(words).lower() + "." + unit
            for name, text in zip(("max", "min", "mean"), fields[-4:-1]):
                number = float(text)
                if number != 0 and number == number:
                    runs[-1][f"{key}.{name}"] = number
    return runs


def parse(path, *more):
    return json.loads(subprocess.run([bw, "parse", "--rules", "mdtest", "--json", *more[:more.index("--") if "--" in more else None], path,
                                      *(more[more.index("--"):] if "--" in more else [])], check=True, capture_output=True, text=True).stdout)


def wrong(*what):
    print("wrong:", *what)


def compare(name, path, answer):
    runs = tables(path)
    want = {}
    for i, run in enumerate(runs):
        for key, number in run.items():
            want[(f"t{i}." if len(runs) > 1 else "") + key] = number
    got = {m["key"]: m["value"] for m in answer["metrics"] if re.search(r"(rate_op_per_s|time_s)\.(max|min|mean)$", m["key"])}
    if want != got:
        different = sorted(k for k in set(want) | set(got) if want.get(k) != got.get(k))
        wrong("values of", name, [(k, want.get(k), got.get(k)) for k in different[:4]])
    return len(want)


files = values = passed = 0
reasons = {}
if folder == "--list":
    for line in open(sys.argv[3]):
        path = line.rstrip("\n")
        answer = parse(path)
        files += 1
        values += compare(path, path, answer)
        passed += answer["verdict"] == "pass"
        if answer["verdict"] != "pass":
            reasons.setdefault(re.sub(r"[0-9]+", "N", answer["reason"])[:100], []).append(path)
    for reason, paths in sorted(reasons.items(), key=lambda r: -len(r[1])):
        print(f"{len(paths)} fail: {reason} ({paths[0]})")
    print(f"{passed} pass")
else:
    for line in list(open(folder + "/MANIFEST.tsv"))[::1 if os.environ.get("BENCHWRAP_LONG") else 4]:
        name, status, command = line.rstrip("\n").split("\t")
        status, argv, out = int(status[5:]), shlex.split(command), f"{folder}/{name}.out"
        if "mdtest" not in argv:
            continue
        more = ["--exit-status", str(status)]
        if os.path.exists(f"{folder}/{name}.err"):
            more += ["--stderr", f"{folder}/{name}.err"]
        answer = parse(out, *more, "--", *argv[argv.index("mdtest"):])
        files += 1
        good = status == 0 and not any(re.search(lie, name) for lie in LIES)
        if (answer["verdict"] == "pass") != good:
            wrong("verdict", name, answer["verdict"], answer["reason"])
        values += compare(name, out, answer)
print(f"{files} files, {values} values")
