#!/usr/bin/env python3
"""Compares the expected values of samples with what a reader of each program's own finds in the output. usage: headlines.py CATALOGUE"""
import json
import os
import re
import sys

from headlines_more import readers as more


def google_benchmark(text):
    if not text.startswith("{"):
        found = {}
        for line in text.splitlines():
            words = line.split()
            if len(words) >= 6 and words[2] in ("ns", "us", "ms", "s"):
                found[key(words[0]) + ".time_ns"] = float(words[1]) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[words[2]]
        return found
    found = {}
    for b in json.loads(text)["benchmarks"]:
        if b["run_type"] == "iteration" and not b.get("error_occurred") and b["repetition_index"] == 0:
            found[key(b["name"]) + ".time_ns"] = b["real_time"] * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[b["time_unit"]]
    return found


def pytest_benchmark(text):
    return {key(b["name"]) + ".time_us.mean": b["stats"]["mean"] * 1e6 for b in json.loads(text)["benchmarks"]}


def seven_zip(text):
    rows = {line.split(":")[0]: line.replace("|", " ").split()[1:] for line in text.splitlines() if line[:4] in ("Avr:", "Tot:")}
    found = {"total.mips": float(rows["Tot"][2])} if "Tot" in rows else {}
    return found | {"compressing.mips": float(rows["Avr"][3]), "decompressing.mips": float(rows["Avr"][7])}


def bonnie(text):
    last = text.strip().splitlines()[-1].split(",")
    columns = {"write.char.bw_MiB_per_s": (9, 1024), "write.block.bw_MiB_per_s": (11, 1024), "rewrite.bw_MiB_per_s": (13, 1024),
               "read.block.bw_MiB_per_s": (17, 1024), "seeks_op_per_s": (19, 1)}
    if len(last) < 20:
        return {}
    return {k: float(last[i]) / d for k, (i, d) in columns.items() if last[i] and last[i] != "+++++"}


def sockperf(text):
    found = {}
    for what, name in ((r"Summary: Latency is ([0-9.]+) usec", "latency_us.mean"), (r"percentile 99\.000 =\s+([0-9.]+)", "latency_us.p99"),
                       (r"BandWidth is ([0-9.]+) MBps", "bw_MiB_per_s"), (r"Message Rate is ([0-9.]+)", "messages_op_per_s")):
        for value in re.findall(what, text):
            found[name] = float(value)
    return found


def likwid_bench(text):
    rows = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {"bw_MB_per_s": float(rows["MByte/s"]), "cycles_per_update": float(rows["Cycles per update"])} if "MByte/s" in rows else {}


def serving(names):
    """The table of `vllm bench serve` or of SGLang's bench_serving, or the last line of JSON of its file; names: how the JSON calls what."""

    def read(text):
        lines = text.splitlines()
        if text.startswith("{"):
            last = json.loads(lines[-1])
            return {ours: last[theirs] for ours, (theirs, _) in names.items() if last.get(theirs)}
        rows = dict(line.split(":", 1) for line in lines if ":  " in line)
        return {ours: float(rows[label]) for ours, (_, label) in names.items() if float(rows.get(label, 0))}

    return read


served = {"requests_op_per_s": ("request_throughput", "Request throughput (req/s)"),
          "output.throughput_token_per_s": ("output_throughput", "Output token throughput (tok/s)"),
          "ttft_ms.median": ("median_ttft_ms", "Median TTFT (ms)"), "ttft_ms.p99": ("p99_ttft_ms", "P99 TTFT (ms)"),
          "tpot_ms.median": ("median_tpot_ms", "Median TPOT (ms)"), "itl_ms.median": ("median_itl_ms", "Median ITL (ms)")}


def openfoam(text):
    spent = [line.split()[2] for line in text.splitlines() if line.startswith("ExecutionTime = ")]
    return {"execution_time_s": float(spent[-1])} if "End" in text.split("\n") and spent and float(spent[-1]) else {}


def quantum_espresso(text):
    for line in text.splitlines():
        if line.startswith("     PWSCF        :"):
            parts = re.findall(r"([0-9.]+) *([dhms])", line.split("CPU")[1])
            return {"wall_s": sum(float(n) * {"d": 86400, "h": 3600, "m": 60, "s": 1}[u] for n, u in parts)}
    return {}


def cp2k(text):
    rows = [line.split() for line in text.splitlines() if line.startswith(" CP2K  ")]
    return {"total_time_s": float(rows[-1][-1])} if rows else {}


def jmh(text):
    found = {}
    if text.startswith("["):
        rows = [r for r in json.loads(text)]
        if any(r.get("params") for r in rows):
            return {}
        table = [(r["benchmark"], "", r["mode"], r["primaryMetric"]["score"], r["primaryMetric"]["scoreUnit"]) for r in rows]
    else:
        lines = text.splitlines()
        heads = [i for i, line in enumerate(lines) if line.startswith("Benchmark ") and line.endswith("Units")]
        body = [line.replace("±", " ").split() for line in lines[heads[-1] + 1:] if "/" in line and ":" not in line] if heads else []
        given = len([w for w in lines[heads[-1]].split() if w.startswith("(")]) if heads else 0
        table = []
        for w in body:
            mode = w[given + 1]
            score = [x for x in w[given + 2:-1]]
            counted = mode in ("thrpt", "avgt", "sample", "ss") and len(score) > 1 and score[0].isdigit()
            table.append((w[0], "_" + w[1] if given else "", mode, score[1 if counted else 0], w[-1]))
    for name, params, mode, score, unit in table:
        if str(score)[0] == "≈":
            continue
        scale = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
        path = name.lower().replace(".", "_") + params
        if mode == "thrpt":
            found[path + ".rate_op_per_s"] = float(score) * 1e9 / scale[unit.split("/")[1]]
        else:
            what = ".time_ns" if text.startswith("[") else {"avgt": ".time_ns", "ss": ".single_ns", "sample": ".sampled_ns.mean"}[mode]
            found[path + what] = float(score) * scale[unit.split("/")[0]]
    return found


def unixbench(text):
    scores = [(("partial_index" if "Partial" in line else "index"), float(line.split()[-1])) for line in text.splitlines() if "Index Score" in line]
    return {(f"t{i}." if len(scores) > 1 else "") + name: value for i, (name, value) in enumerate(scores)}


def iozone(text):
    found = {}
    for who, what, value in re.findall(r"(Children|Parent) sees? throughput for +[0-9]+ ([a-z -]*[a-z])\s*=\s*([0-9.]+) kB/sec", text):
        found[key(what.replace("-", "_")) + "." + {"Children": "children", "Parent": "parent"}[who] + "_MiB_per_s"] = float(value) / 1024
    rate, per = ("op_per_s", 1) if "OPS Mode" in text else ("MiB_per_s", 1024)
    names = ("write", "rewrite", "read", "reread")
    for words in (line.split() for line in text.splitlines()):
        if len(words) >= 6 and all(w.isdigit() for w in words):
            found |= {f"{n}.n{words[0]}_{words[1]}_{rate}": int(v) / per for n, v in zip(names, words[2:])}
    return found


def criterion(text):
    found, above = {}, ""
    for line in text.splitlines():
        if "time:" in line and "%" not in line:
            words = line.split("time:")[1].strip(" []").split()
            name = line.split("time:")[0].strip() or above
            found[key(name) + ".time_ns"] = float(words[2]) * {"ps": 1e-3, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[words[3]]
        above = line.strip()
    return found


def perftest(text):
    found, scale, columns = {}, 0, ()
    for line in text.splitlines():
        words = line.split()
        if line.startswith(" #bytes"):
            scale = 1e9 / 8 / 1048576 if "Gb/sec" in line else 1
            columns = ("bw_MiB_per_s", "peak") if "BW" in line else ("latency.avg_us",) if "tps" in line else ("min", "max", "latency.typical_us", "latency.avg_us")
        elif columns and words and all(re.fullmatch(r"[0-9.]+", w) for w in words):
            if columns[0] == "bw_MiB_per_s":
                found["bw_MiB_per_s.max"] = max(found.get("bw_MiB_per_s.max", 0), float(words[3]) * scale)
            else:
                found |= {c: float(v) for c, v in zip(columns, words[2:]) if "." in c}
    return found if columns and text.strip().splitlines()[-1].startswith("-----") else {}


def wrf(text):
    times = [float(line.split()[-3]) for line in text.splitlines() if line.startswith("Timing for main") and line.split()[7] == "1:"]
    return {"d1.step_s.mean": sum(times) / len(times)} if times and "SUCCESS COMPLETE" in text else {}


def vasp(text):
    found = {}
    for line in text.splitlines():
        if "Elapsed time (sec):" in line:
            found["elapsed_s"] = float(line.split(":")[1])
    return found


def lm_eval(text):
    if text.startswith("{"):
        return {f"{t}.{m.split(',')[0]}": v for t, scores in json.loads(text)["results"].items() for m, v in scores.items() if m in ("acc,none", "acc_norm,none")}
    found, task = {}, ""
    for cells in (line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|") and line.endswith("|")):
        if "±" in cells[-2]:
            task = cells[0].strip() or task
            found[f"{task}.{cells[4].strip()}" + ("" if cells[2].strip() == "none" else "_" + cells[2].strip())] = float(cells[6])
    return found


def ycsb(text):
    found = {}
    cells = [line.split(", ") for line in text.splitlines() if line.startswith("[")]
    if any(c[0] in ("[READ]", "[INSERT]") for c in cells):
        found = {"throughput_op_per_s": float(c[2]) for c in cells if c[1] == "Throughput(ops/sec)"}
        found |= {f"{c[0][1:-1].lower()}.latency_us.mean": float(c[2]) for c in cells if c[0] in ("[READ]", "[UPDATE]", "[INSERT]") and c[1] == "AverageLatency(us)"}
    return found


def hpl_mxp(text):
    return {"score_GFLOP_per_s": float(line.split()[2]) for line in text.splitlines() if line.startswith("Final Score") and "Residual Check: PASSED" in text}


def elbencho(text):
    found, phase = {}, ""
    if text.startswith("ISO date,"):
        names, *rows = [line.split(",") for line in text.splitlines()]
        rows = [dict(zip(names, row)) for row in rows]
        for r in rows:  # the last one may be cut
            phase, mixed = r.get("operation", "").lower(), r.get("rwmix read MiB/s [last]")
            if r.get("MiB/s [last]"):
                found[f"{phase}{'.write' if mixed else ''}.bw_MiB_per_s"] = float(r["MiB/s [last]"])
            if mixed:
                found[f"{phase}.read.bw_MiB_per_s"] = float(mixed)
        return found
    for line in text.splitlines():
        words = line.replace(":", " ").split()
        if "Elapsed time" in line:
            phase = words[0].lower()
        elif words[:1] == ["IOPS"]:
            found[phase + (f".{words[1]}" if words[1].isalpha() else "") + ".iops_op_per_s"] = float(words[-1])
        elif words[:1] == ["Throughput"]:
            found[phase + ".bw_MiB_per_s"] = float(words[-1]) * (1 if words[1] == "MiB/s" else 1e6 / 1048576)
        elif words[:1] == ["Files/s"]:
            found[phase + ".files_op_per_s"] = float(words[-1])
    return found


def oha(text):
    found, times = {}, {"secs": 1e3, "sec": 1e3, "ms": 1}
    if text.startswith("{"):
        d = json.loads(text)
        return {"requests_op_per_s": d["summary"]["requestsPerSec"], "latency_ms.p99": d["latencyPercentiles"]["p99"] * 1e3} if d["summary"]["successRate"] else {}
    for words in (line.split() for line in text.splitlines() if "Success rate:\t0.00%" not in text):
        if words[:1] == ["Requests/sec:"]:
            found["requests_op_per_s"] = float(words[1])
        elif len(words) == 4 and words[1] == "in" and words[0] in ("50.00%", "99.00%") and "latency_ms.p" + words[0][:2] not in found:
            found["latency_ms.p" + words[0][:2]] = float(words[2]) * times[words[3]]
    return found


def k6(text):
    found, read = {}, True
    scale = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1, "s": 1e3}
    if text.startswith("{"):
        document = json.loads(text)
        named = document.get("metrics") or {m["name"]: m["values"] for m in document["results"]["metrics"]}
        return {"http_req_duration_ms.median": named["http_req_duration"]["med"]} | ({"http_reqs_op_per_s": named["http_reqs"]["rate"]} if "rate" in named["http_reqs"] else {})
    for line in text.splitlines():
        read = read and "SCENARIO" not in line
        words = line.replace("✓", " ").replace("✗", " ").split()
        if read and words and words[0].startswith("http_reqs..."):
            found["http_reqs_op_per_s"] = float(words[2].rstrip("/s"))
        elif read and words and words[0].startswith("http_req_duration..."):
            number, unit = re.fullmatch(r"([0-9.]+)(\D+)", dict(w.split("=") for w in words[1:])["med"]).groups()
            if float(number):  # else no request was answered
                found["http_req_duration_ms.median"] = float(number) * scale[unit]
    return {} if text.count("TOTAL RESULTS") > 1 else found


def imb(text):
    """The largest bandwidth and the shortest time of an output with one table; more tables have names of their own."""
    heads = [i for i, line in enumerate(text.splitlines()) if line.split()[:1] == ["#bytes"] and "#repetitions" in line]
    if len(heads) != 1 or "All processes entering MPI_Finalize" not in text or re.search(r"\berror|FAILURES", text, re.I):
        return {}
    version = int(re.search(r"MPI Benchmark.* V?(\d+)[.\d]*", text)[1])
    scale = 1.048576 if version < 5 else 1 if version >= 2018 else 0  # the megabyte of the versions between is not known
    lines = text.splitlines()[heads[0]:]
    names, rows = lines[0].split(), []
    for words in (line.split() for line in lines[1:]):
        if len(words) == len(names) and all(re.fullmatch(r"[0-9.]+", w) for w in words):
            rows.append(dict(zip(names, words)))
    found = {}
    if "Mbytes/sec" in names and scale and any(float(r["Mbytes/sec"]) for r in rows):
        found["bw_MB_per_s.max"] = max(float(r["Mbytes/sec"]) for r in rows) * scale
    if "t[usec]" in names:
        found["time_us.min"] = min(float(r["t[usec]"]) for r in rows)
    return found


def lammps(text):
    """Of an output with one run: the loop's time and the rates behind it."""
    loops = re.findall(r"^Loop time of (\S+) on ", text, re.M)
    if len(loops) != 1 or "ERROR" in text:
        return {}
    found = {"loop_s": float(loops[0])}
    for number, unit in re.findall(r"([0-9.]+) (tau/day|ns/day|timesteps/s)", "".join(x for x in text.splitlines() if x.startswith("Performance:"))):
        found[{"tau/day": "tau_per_day", "ns/day": "ns_per_day", "timesteps/s": "steps_op_per_s"}[unit]] = float(number)
    return found


def gromacs(text):
    lines, found = text.splitlines(), {}
    rows = [i for i, line in enumerate(lines) if line.startswith("Performance:")]
    if text.endswith("\n") and len(rows) == 1 and lines[rows[0] - 1].split() == ["(ns/day)", "(hour/ns)"]:
        words = lines[rows[0]].split()
        found = {k: float(v) for k, v in zip(("ns_per_day", "hours_per_ns"), words[1:]) if v not in ("nan", "inf")}
    return found


def nvbandwidth(text):
    if text.startswith("{"):
        return {}
    if text.count("nvbandwidth Version") > 1:
        return {}
    return {key(name) + ".sum_MB_per_s": float(value) * 1000 for name, value in re.findall(r"^SUM (\S+) ([0-9.]+)$", text, re.M) if "latency" not in name}


def key(name):
    return re.sub(r"[^a-z0-9.]+", "_", name.lower())


def answers(text):
    """Of how many values a 99th percentile is, where the output says so."""
    if text.startswith("{"):
        d = json.loads(text.splitlines()[-1] if "\n{" in text else text)
        if "completed" in d:
            return d["completed"]
        return int(d["summary"]["requestsPerSec"] * d["summary"]["total"] + 0.5)
    for line in (r"Successful requests: +(\d+)", r"Total (\d+) observations"):
        if re.search(line, text):
            return int(re.search(line, text).group(1))
    rate, total = re.search(r"Requests/sec:\t([0-9.]+)", text), re.search(r"Total:\t([0-9.]+) (\w+)", text)
    return int(float(rate.group(1)) * float(total.group(1)) * (1e-3 if total.group(2) == "ms" else 1) + 0.5)


readers = {"google-benchmark": google_benchmark, "pytest-benchmark": pytest_benchmark, "7z": seven_zip, "bonnie": bonnie, "sockperf": sockperf,
           "likwid-bench": likwid_bench,
           "openfoam": openfoam, "quantum-espresso": quantum_espresso, "cp2k": cp2k,
           "jmh": jmh, "unixbench": unixbench, "iozone": iozone, "criterion": criterion,
           "perftest": perftest, "wrf": wrf, "vasp": vasp, "lm-eval": lm_eval,
           "ycsb": ycsb, "hpl-mxp": hpl_mxp, "elbencho": elbencho,
           "oha": oha, "k6": k6,
           "imb": imb, "lammps": lammps, "gromacs": gromacs, "nvbandwidth": nvbandwidth,
           "vllm-bench": serving(served | {"total.throughput_token_per_s": ("total_token_throughput", "Total token throughput (tok/s)")}),
           "sglang-bench": serving(served | {"total.throughput_token_per_s": ("total_throughput", "Total token throughput (tok/s)")})}
values = 0
for entry, read in (readers | more).items():
    folder = os.path.join(sys.argv[1], entry, "samples")
    for case in sorted(c for c in os.listdir(folder) if os.path.isdir(f"{folder}/{c}")):
        result = f"{folder}/{case}/stdout"
        if entry != "parsl-perf" and os.path.exists(f"{folder}/{case}/file"):  # a file that the program wrote counts more than its text
            with open(f"{folder}/{case}/file", encoding="utf-8") as stream:
                result = f"{folder}/{case}/{stream.read().strip().split('=')[-1]}"
        if entry == "stress-ng" and os.path.exists(f"{folder}/{case}/stderr"):  # it prints its table there
            result = f"{folder}/{case}/stderr"
        if not os.path.exists(result):
            continue  # the program printed on standard error alone
        with open(result, encoding="utf-8") as stream:
            text = stream.read()
        with open(f"{folder}/{case}/expect", encoding="utf-8") as stream:
            lines = stream.read().splitlines()
        truth = read(text) if entry in readers or lines[0] == "verdict pass" else {}
        words = [line.split() for line in lines if line.startswith("metric ")]
        expected = {w[1]: float(w[2]) for w in reversed(words)}
        for name, value in truth.items():
            values += 1
            few = name.endswith(".p99") and entry in ("sockperf", "oha", "vllm-bench", "sglang-bench") and answers(text)
            if few and few < 662:
                if f"missing {name} p99 of {few} values, 662 needed" not in lines:
                    print(f"wrong: {entry}/{case}: {name} is of {few} values alone")
            elif name not in expected or abs(expected[name] - value) > 1e-9 * abs(value):
                print(f"wrong: {entry}/{case}: {name} = {expected.get(name)}, the output says {value}")
print(f"{values} values of {len(readers | more)} programs")
