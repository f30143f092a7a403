#!/usr/bin/env python3
"""Compares what each catalogue entry claims (`verified:`, `reproduced:`) with its samples.

verified.py CATALOGUE: prints a line for each claim without a sample, and for each version of a real sample
that the entry does not claim. A version is claimed rightly if the text of a real sample has it, or if
samples/SOURCES has the line `seen: VERSION …` because the program prints none or the output is stored outside."""
import os
import re
import subprocess
import sys

UNPRINTED = "no version printed"
ASIDE = {"expect", "argv", "status", "environment", "file", "outside"}


def texts(folder, cases):
    for case in cases:
        for name in sorted(os.listdir(os.path.join(folder, case))):
            path = os.path.join(folder, case, name)
            if name not in ASIDE and os.path.isfile(path):
                with open(path, encoding="utf-8", errors="replace") as f:
                    yield f.read()


def has(text, version):
    return re.search(r"(?<![0-9.])" + re.escape(version) + r"(?![0-9]|\.[0-9])", text)


def expected(folder, cases):
    for case in cases:
        with open(os.path.join(folder, case, "expect"), encoding="utf-8") as f:
            for line in f:
                m = re.match(r"param (?:\w+\.)?benchmark\.version (?:fio-|iperf )?v?(.*)", line)
                if m:
                    yield m[1].strip()


def complaints(name, entry, folder):
    cases = [c for c in sorted(os.listdir(folder)) if os.path.isdir(os.path.join(folder, c))]
    made = [c for c in cases if c.startswith("made-")]
    real = [c for c in cases if c not in made]
    sources = os.path.join(folder, "SOURCES")
    seen = []
    if os.path.exists(sources):
        with open(sources, encoding="utf-8") as f:
            seen = re.findall(r"^seen: (\S+)", f.read(), re.M)
    verified, reproduced = entry["verified"], entry["reproduced"]
    if bool(real) != bool(verified):
        yield f"{len(real)} real outputs, but verified: {verified}"
    for v in verified:
        if v not in seen and not (real if v == UNPRINTED else any(has(t, v) for t in texts(folder, real))):
            yield f"verified {v}: in no real sample, and SOURCES has no `seen: {v}`"
    for v in reproduced:
        if v in verified or not (made and (v == UNPRINTED or any(has(t, v) for t in texts(folder, made)) or f"made-{v}" in made)):
            yield f"reproduced {v}: verified, too, or in no made- sample"
    for v in sorted(set(expected(folder, real)) - set(verified)):
        yield f"a real output of {v} is a sample, but verified does not have it"
    for v in sorted(set(expected(folder, made)) - set(verified) - set(reproduced)):
        yield f"a reproduced output of {v} is a sample, but the entry does not have it"


def main():
    import json
    for entry in json.loads(subprocess.run([os.environ.get("BENCHWRAP", "benchwrap"), "benchmarks", "--json"],
                                           check=True, stdout=subprocess.PIPE).stdout):
        folder = os.path.join(sys.argv[1], entry["name"], "samples")
        if entry["name"] != "generic":
            for text in complaints(entry["name"], entry, folder):
                print(f"{entry['name']}: {text}")


main()
