#!/usr/bin/env python3
"""Compares what the generic reader records with what stands in tests/generic/*/expect. usage: rate.py BENCHWRAP FOLDER"""
import json
import os
import subprocess
import sys

bw, folder = sys.argv[1:]
halves = ["developed", "kept-back", "added", "held-out"] + [f"held-out-{n}" for n in range(2, 15)]
total = {half: [0, 0, 0] for half in halves}
for name in sorted(os.listdir(folder)):
    if not os.path.isdir(f"{folder}/{name}"):
        continue
    lines = [line.split() for line in open(f"{folder}/{name}/expect", encoding="utf-8")]
    half = next(words[1] for words in lines if words[0] == "half")
    main = [(float(words[1]), "" if words[2] == "-" else words[2]) for words in lines if words[0] == "main"]
    also = [(float(words[1]), "" if words[2] == "-" else words[2], words[3]) for words in lines if words[0] == "also"]
    read = subprocess.run([bw, "parse", "--rules", "generic", "--json", f"{folder}/{name}/stdout"], capture_output=True, check=True)
    got = [(m["value"], m["unit"], m["key"]) for m in json.loads(read.stdout)["metrics"]]
    near = lambda a, b: abs(a - b) <= 1e-6 * max(abs(a), abs(b))
    right = sum(any(near(v, value) and u == unit for v, u, _ in got) for value, unit in main)
    wrong = [m for m in got if not any(near(m[0], v) and m[1] == u and m[2] == k for v, u, k in also)]
    for m in wrong:
        print(f"wrong: {name}: {m[2]} = {m[0]} {m[1]}")
    sums = total[half]
    sums[0] += right
    sums[1] += len(main) - right
    sums[2] += len(wrong)
for half, (right, missing, wrong) in total.items():
    print(f"{half}: {right} right, {missing} missing, {wrong} wrong")
