#!/usr/bin/env python3
"""Mixes the lines of two outputs of one program in many ways, as two ranks of a job without prefixes write them. No value may be in neither output, and no test that passes may have
values of both.

usage: interleave.py BENCHWRAP RULES OUTPUT OUTPUT TIMES"""
import json
import random
import subprocess
import sys
import tempfile

bw, rules, first, second, times = sys.argv[1:]


def parse(text):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write(text)
        f.flush()
        done = subprocess.run([bw, "parse", "--rules", rules, "--json", f.name], capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    return answer["verdict"], {m["key"]: m["value"] for m in answer["metrics"]}


def split(key):
    block, _, rest = key.partition(".")
    return (block, rest) if block[:1] == "t" and block[1:].isdigit() else ("", key)


def mixed(rng, one, other):
    lines, rests = [], [list(one), list(other)]
    while any(rests):
        rest = rng.choices(rests, [len(r) for r in rests])[0]
        n = rng.choice([1, 1, 1, 2, 3, 8])
        lines += rest[:n]
        del rest[:n]
    return "\n".join(lines) + "\n"


texts = [open(p, encoding="utf-8").read() for p in (first, second)]
values = [parse(t)[1] for t in texts]
if not all(values):
    print("wrong: an output has no values by itself")
passed = 0
for i in range(int(times)):
    verdict, found = parse(mixed(random.Random(i), *(t.splitlines() for t in texts)))
    passed += verdict == "pass"
    owners = {}
    for key, value in found.items():
        block, name = split(key)
        whose = [v.get(name) == value for v in values]
        if not any(whose):
            print(f"wrong: mixture {i}: {key} = {value} is in neither output ({verdict})")
        owners.setdefault(block, set()).update({0} if whose == [True, False] else {1} if whose == [False, True] else set())
    for block, of in owners.items():
        if len(of) > 1 and verdict == "pass":
            print(f"wrong: mixture {i}: {block} passes with values of both outputs")
print(f"{times} mixtures, {passed} passed")
