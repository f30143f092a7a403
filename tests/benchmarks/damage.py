#!/usr/bin/env python3
"""Damages every sample of the catalogue and looks whether `benchwrap parse` ever tells another number.

usage: damage.py BENCHWRAP CATALOGUE SAMPLES [--long] [NAME [CASE]]

Every metric of a damaged output must be one of the undamaged output's values for that key, or a statistic of such values, or be missing.
With another program's whole output behind it, or between its lines, the values must be those of one of the two or the run must fail.
What nobody can tell from a true output is excused by its class (excuse()), never by its place."""
import collections
import concurrent.futures
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

long = "--long" in sys.argv
bw, catalogue, outside, *only = [a for a in sys.argv[1:] if a != "--long"]
CASES, DAMAGES = 2, 4 # without --long: cases of each program, damages of each case
STATISTICS = {"max": max, "min": min, "mean": statistics.fmean, "median": statistics.median, "n": len,
              "sd": lambda v: statistics.stdev(v) if len(v) > 1 else float("nan")}
NOISE = [b"srun: Job step aborted: Waiting up to 32 seconds for job step to finish.", b"[node01:12345] 118 more processes have sent help message",
         b"WARNING: There was an error initializing an OpenFabrics device.", b"1 2 3 4 5 6 7 8 9", b"", b"   0.000   1.000   2.000   3.000",
         b"time: 12.5 s", b"value = 17", b"total 99", b"42", b"{", b"\xff\xfe\x00\x01 binary \x80", b"max min mean", b"[INFO] step 7 done in 0.25 s"]


# Damaged already, so that a further damage may bring to light what was withheld: a stale run, the other of two that contradict each other.
DAMAGED = re.compile(r"^made-.*(mixed|lost|appended|stale|two-documents|corrupt|half|contradict|two-formats)")
# The same figure stands in the output twice, with more and with fewer digits, or once as it is and once to be computed from: relative difference.
ROUNDED = {"hpcg": 1e-5, "fio": 1e-4, "hyperfine": 0.2, "stress-ng": 0.02}
# What is printed while the program runs, and stands for the whole where it was cut: name, case, key.
PROGRESS = [("fio", "json-percentiles-status", ""), ("sysbench", "cpu-checkpoints", ""),
            ("hyperfine", "^list$", "")]
# Outputs of two runs in two formats that one run may also print at once: which belongs to which cannot be told.
FORMATS = ["fio"]


class Sample:
    def __init__(self, name, case):
        self.name, self.case, folder = name, case, f"{catalogue}/{name}/samples/{case}"
        self.rules, self.args, self.argv, self.text = f"{catalogue}/{name}/rules.yaml", [], [], None
        apart = {}
        if os.path.exists(folder + "/outside"):
            apart = dict(line.rstrip("\n").split("=", 1) for line in open(folder + "/outside"))
        stream = {s: outside + "/" + apart[s] if s in apart else f"{folder}/{s}" for s in ("stdout", "stderr")}
        files = [line.rstrip("\n").split("=", 1) for line in open(folder + "/file")] if os.path.exists(folder + "/file") else []
        paths = {s: p for s, p in stream.items() if os.path.exists(p)}
        paths.update({pattern: f"{folder}/{path}" for pattern, path in files})
        if not paths or not all(os.path.exists(p) for p in paths.values()):
            return
        self.paths = paths
        # What is damaged: the largest of what the program left.
        self.target = max(paths, key=lambda p: os.path.getsize(paths[p]))
        if os.path.exists(folder + "/status"):
            self.args += ["--exit-status", open(folder + "/status").read().strip()]
        if os.path.exists(folder + "/argv"):
            self.argv = ["--"] + open(folder + "/argv").read().splitlines()
        self.text = open(paths[self.target], "rb").read()

    def parse(self, text=None, status=None):
        with tempfile.NamedTemporaryFile() as damaged:
            paths = dict(self.paths)
            if text is not None:
                damaged.write(text)
                damaged.flush()
                paths[self.target] = damaged.name
            args = ["--exit-status", status] if status else self.args
            args = [bw, "parse", "--rules", self.rules, "--json", *args]
            for pattern, path in paths.items():
                args += [] if pattern == "stdout" else ["--stderr", path] if pattern == "stderr" else ["--file", f"{pattern}={path}"]
            done = subprocess.run([*args, paths.get("stdout", "/dev/null"), *self.argv], capture_output=True)
            if done.returncode not in (0, 3):
                return {"verdict": "crash", "reason": done.stderr.decode(errors="replace")[:200], "metrics": []}
            return json.loads(done.stdout.decode(errors="replace"))


def values(answer):
    found = collections.defaultdict(list)
    for m in answer["metrics"]:
        found[m["key"]].append(m["value"])
    return found


def tails(key):
    """Keys that mean the same where there are more or fewer tests in the output: without the first segment."""
    return {key, key.split(".", 1)[1]} if "." in key else {key}


def known(base):
    by_tail = collections.defaultdict(set)
    for key, numbers in base.items():
        for tail in tails(key):
            by_tail[tail].update(numbers)
    return by_tail


def withheld(base):
    """Keys that the undamaged output withholds because it says two things: where one of them is lost the other is left."""
    keys = {m["key"] for m in base["missing"] if re.match(r"two values for the same|.*several different values", m["reason"])}
    required = re.findall(r"(\S+) is missing", base["reason"]) if "several runs in one log" in base["reason"] else []
    return keys.union(*({name, name + "_" + unit} for name in required for unit in ("s", "ms"))) # a computed one is in no list


def excuse(what, key, number, answer, sample, base, by_tail):
    """Why the number is none of the reader's invention, by the class of the damage; None: it is wrong."""
    fails = answer["verdict"] == "fail"
    series = key.rpartition(".")[0]
    if fails and {key, series} & withheld(base):
        return "one of two that contradict each other is left, and the run fails"
    if fails and re.match(r"lines \d+ to \d+ lost", what):
        return "what a lost block leaves side by side is a whole table below another's title, and the run fails"
    name = re.match(r"line (\d+): digit (\d+) is no digit", what)
    if name: # the name under which it stands is itself damaged, and printed so: "read2" became "readx"
        digit = chr(lines_of(sample.text)[int(name[1]) - 1][int(name[2])])
        for at in (i for i, c in enumerate(key) if c == "x"):
            if any(near(number, v) for v in by_tail.get(key[:at] + digit + key[at + 1:], [])):
                return "its name is printed so"
    return None


def near(a, b):
    return a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def strangers(answer, by_tail, name=""):
    """[(key, value)] that the undamaged output does not have"""
    got, bad = values(answer), []
    for key, numbers in got.items():
        may = set().union(*(by_tail.get(tail, set()) for tail in tails(key)))
        series, _, what = key.rpartition(".")
        for number in numbers:
            if any(near(number, m) or abs(number - m) <= ROUNDED.get(name, 0) * abs(m) for m in may):
                continue
            if what in STATISTICS and series in got and near(number, STATISTICS[what](got[series])):
                continue # of values that are looked at themselves
            if answer["verdict"] == "fail" and what in STATISTICS and series in got:
                continue
            bad.append((key, number))
    return bad


def lines_of(text):
    return text.split(b"\n")


def damages(sample, rng):
    """[(name, text, exit status)]"""
    text, lines, found = sample.text, lines_of(sample.text), []
    n = len(lines)
    matter = [i for i, line in enumerate(lines) if any(c in b"0123456789" for c in line)] or [0]

    def some(k):
        wanted = range(n) if long and n <= 400 else sorted(set([rng.choice(matter) for _ in range(k)] + [rng.randrange(n)]))
        return list(wanted)

    for i in some(2):
        found.append((f"cut after line {i + 1}", b"\n".join(lines[:i + 1]) + b"\n", "137"))
    for i in some(2):
        line = lines[i]
        at = rng.randrange(1, len(line)) if len(line) > 1 else 0
        head = b"\n".join(lines[:i] + [line[:at]])
        found.append((f"cut in line {i + 1} at {at}", head, "137"))
        found.append((f"line {i + 1} torn at {at}", head + b"srun: error: node01: task 0: Killed\n" + b"\n".join(lines[i + 1:]), None))
    for i in some(3):
        found.append((f"line {i + 1} lost", b"\n".join(lines[:i] + lines[i + 1:]), None))
    i, k = rng.randrange(n), rng.randrange(1, 1 + max(1, n // 4))
    found.append((f"lines {i + 1} to {i + k} lost", b"\n".join(lines[:i] + lines[i + k:]), None))
    for i in some(2):
        line = lines[i]
        digits = [j for j, c in enumerate(line) if c in b"0123456789"]
        if digits:
            at = rng.choice(digits)
            found.append((f"line {i + 1}: digit {at} is no digit", b"\n".join(lines[:i] + [line[:at] + b"x" + line[at + 1:]] + lines[i + 1:]), None))
    noisy = []
    for line in lines:
        noisy.append(line)
        if rng.random() < 0.3:
            noisy.append(rng.choice(NOISE))
    found.append(("noise between the lines", b"\n".join(noisy), None))
    i = rng.choice(matter)
    found.append((f"45,000 lines of noise before line {i + 1}", b"\n".join(lines[:i] + [b"node%05d: a library greets process %d of 45000" % (k % 977, k) for k in range(45000)] + lines[i:]), None))
    for prefix in (b"[0] ", b"[1,0]<stdout>:", b"0: ") if long else (rng.choice([b"[0] ", b"[1,0]<stdout>:", b"0: "]),):
        found.append((f"prefix {prefix.decode()}", b"\n".join(prefix + line for line in lines[:-1]) + b"\n", None))
    found.append(("colours", b"\n".join(b"\x1b[0;31m" + line + b"\x1b[0m" if rng.random() < 0.5 else line for line in lines), None))
    found.append(("CRLF", text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"), None))
    found.append(("twice", text + (b"" if text.endswith(b"\n") else b"\n") + text, None))
    return found


def one(args):
    """Damages of one sample: ([what is wrong], number of damages)"""
    name, case, partner = args
    sample, wrong = Sample(name, case), []
    if DAMAGED.match(case) or sample.text is None or len(sample.text) > (1 << 22):
        return [], 0
    rng = random.Random(f"{name}/{case}" + (os.environ.get("SEED") or ""))
    base = sample.parse()
    by_tail, count = known(values(base)), 0
    if len(sample.paths) > 1: # what the other files say, maybe with fewer digits, is not the damage's
        for tail, numbers in known(values(sample.parse(b""))).items():
            by_tail[tail].update(numbers)
    chosen = damages(sample, rng)
    if not long:
        chosen = rng.sample(chosen, min(len(chosen), DAMAGES))
    for what, text, status in chosen:
        answer = sample.parse(text, status)
        count += 1
        if answer["verdict"] == "crash":
            wrong.append(f"{name}/{case}: {what}: {answer['reason']}")
        bad = [(key, number) for key, number in strangers(answer, by_tail, name)
               if not any(p == name and re.search(c, case) and re.search(k, key) for p, c, k in PROGRESS)
               and not excuse(what, key, number, answer, sample, base, by_tail)]
        for key, number in bad[:3]:
            wrong.append(f"{name}/{case}: {what}: {key} is {number!r} ({answer['verdict']}), without damage {sorted(by_tail.get(key, []))[:4]}")
    other = Sample(name, partner) if partner else None
    if other and other.text is not None and len(other.text) < (1 << 22) and base["verdict"] != "fail":
        other_base = other.parse()
        if other_base["verdict"] == "fail":
            return wrong, count
        theirs = values(other_base)
        both = collections.defaultdict(set)
        for k in (by_tail, known(theirs)):
            for tail, numbers in k.items():
                both[tail] |= numbers
        newline = b"" if sample.text.endswith(b"\n") else b"\n"
        mine, second = lines_of(sample.text), lines_of(other.text)
        pairs = [(a, b) for i in range(max(len(mine), len(second))) for a, b in [(mine[i] if i < len(mine) else None, second[i] if i < len(second) else None)]]
        mixed = b"\n".join(x for a, b in pairs for x in ([b"[0] " + a] if a is not None else []) + ([b"[1] " + b] if b is not None else []))
        for what, text in ((f"and {partner} behind it", sample.text + newline + other.text), (f"and {partner} between its lines", mixed)):
            answer = sample.parse(text)
            count += 1
            if answer["verdict"] == "crash":
                wrong.append(f"{name}/{case}: {what}: {answer['reason']}")
            if answer["verdict"] != "pass":
                continue
            bad = strangers(answer, both, name)
            for key, number in bad[:3]:
                wrong.append(f"{name}/{case}: {what}: {key} is {number!r} and passes, in neither output")
            plain = [(k, v) for k, numbers in values(answer).items() if k in values(base) or k in theirs for v in numbers]
            of_one = [all(any(near(v, m) or abs(v - m) <= ROUNDED.get(name, 0) * abs(m) for m in whole.get(k, [])) for k, v in plain) for whole in (values(base), theirs)]
            if plain and not bad and not any(of_one) and not any(re.match(r"t[0-9]+\.", k) for k in values(answer)):
                if name in FORMATS or not set(values(base)) & set(theirs):
                    continue # tests with names of their own stand beside each other
                wrong.append(f"{name}/{case}: {what}: a mixture of both passes")
    return wrong, count


def main():
    jobs = []
    for name in sorted(os.listdir(catalogue)):
        folder = f"{catalogue}/{name}/samples"
        if not os.path.isdir(folder) or (only and only[0] != name):
            continue
        if "\nguess: true" in open(f"{catalogue}/{name}/rules.yaml", encoding="utf-8").read():
            continue  # it takes each line for itself and its name from it: another line is another metric; nothing it says is a verdict
        cases = sorted(c for c in os.listdir(folder) if os.path.isdir(f"{folder}/{c}"))
        chosen = random.Random(name + (os.environ.get("SEED") or "")).sample(cases, min(CASES, len(cases)))
        for i, case in enumerate(cases):
            if len(only) > 1 and only[1] != case or not long and not only and case not in chosen:
                continue
            jobs.append((name, case, cases[(i + 1) % len(cases)] if len(cases) > 1 else None))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        results = list(pool.map(one, jobs, chunksize=4))
    for wrong, _ in results:
        for line in wrong:
            print("wrong:", line)
    print(f"{sum(1 for _, n in results if n)} outputs, {sum(n for _, n in results)} damages")


if __name__ == "__main__":
    main()
