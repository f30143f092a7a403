"""Readers of their own for further programs, for headlines.py: headline metrics of outputs with one test whose verdict is pass."""
import json
import re


def number(pattern, text):
    """The only value that the pattern finds, or None."""
    values = re.findall(pattern, text, re.M)
    return float(values[0]) if len(values) == 1 else None


def loaded(text):
    """The JSON document that the text is, or {}."""
    try:
        return json.loads(text)
    except ValueError:
        return {}


def single(*rows):
    """A reader of rows (name, pattern, factor): values that stand in the output once."""

    def read(text):
        found = {name: (number(pattern, text), factor) for name, pattern, factor in rows}
        return {name: value * factor for name, (value, factor) in found.items() if value}

    return read


def alone(line, *rows):
    """As single, of outputs that have the line once at most."""
    return lambda text: {} if text.count(line) > 1 else single(*rows)(text)


def last(*rows):
    """As single; of several values the last one counts."""

    def read(text):
        found = {name: (re.findall(pattern, text, re.M), factor) for name, pattern, factor in rows}
        return {name: float(values[-1]) * factor for name, (values, factor) in found.items() if values and float(values[-1])}

    return read


def babelstream(text):
    if text.count("Triad") != 1:
        return {}
    scale = 1.073741824e3 if "GiB/s" in text else 1
    rows = [line.replace(",", " ").split() for line in text.splitlines() if line[:4] in ("Copy", "Tria", "Mul ", "Mul,", "Add ", "Add,", "Dot ", "Dot,")]
    return {w[0].lower() + ".bw_MB_per_s.max": float(w[4 if "," in text.splitlines()[-1] else 1]) * scale for w in rows}


def fio(text):
    if text.startswith("3;"):
        rows = [line.split(";") for line in text.splitlines()]
        return {f"{d}.bw_MiB_per_s": float(rows[0][i]) / 1024 for d, i in (("read", 6), ("write", 47)) if len(rows) == 1 and float(rows[0][i])}
    jobs = loaded(text[max(text.find("{"), 0):]).get("jobs", [])
    return {f"{d}.{name}": jobs[0][d][field] / divisor for d in ("read", "write") for name, field, divisor in
            (("iops_op_per_s", "iops", 1), ("bw_MiB_per_s", "bw_bytes", 1 << 20)) if len(jobs) == 1 and jobs[0][d].get(field)}


def hyperfine(text):
    if text.startswith("{"):
        results = loaded(text).get("results", [])
        return {"time_s.mean": results[0]["mean"], "time_s.min": results[0]["min"]} if len(results) == 1 and "mean" in results[0] else {}
    times = re.findall(r"^  Time \(mean ± σ\): +([0-9.]+) (µs|ms|s) ±", text, re.M)
    return {"time_s.mean": float(times[0][0]) * {"µs": 1e-6, "ms": 1e-3, "s": 1}[times[0][1]]} if len(times) == 1 else {}


def hpl(text):
    rows = [line.split() for line in text.splitlines() if re.match(r"W[RC]\d", line)]
    return {"time_s": float(rows[0][5]), "rate_GFLOP_per_s": float(rows[0][6])} if len(rows) == 1 and len(rows[0]) == 7 else {}


def iperf3(text):
    end = loaded(text).get("end", {})
    named = {"receiver.bw_bit_per_s": end.get("sum_received"), "sender.bw_bit_per_s": end.get("sum_sent")}
    return {name: part["bits_per_second"] for name, part in named.items() if part and part["bits_per_second"]}


def md_workbench(text):
    if text.count("total objects:") != 1:
        return {}
    rows = re.findall(r"^(precreate|benchmark|cleanup) process max:.* mean: .*? rate:([0-9.]+) iops/s", text, re.M)
    found = {}
    for phase, rate in rows:
        name = phase + ".rate_op_per_s.max"
        found[name] = max(found.get(name, 0), float(rate))
    return {name: rate for name, rate in found.items() if rate}


def mlperf(text):
    inference = number(r"^(?:Completed samples|Samples) per second *: ([0-9.]+)", text)
    if inference:
        return {"inference.samples_op_per_s": inference}
    begin, end = (re.findall(r'"time_ms": (\d+)[^\n]*"key": "' + key, text) for key in ("run_start", "run_stop"))
    return {"run_s": (int(end[0]) - int(begin[0])) / 1e3} if len(begin) == 1 == len(end) else {}


def namd(text):
    rows = sorted(float(v) for v in re.findall(r"^Info: Benchmark time: .* ([0-9.]+) (?:days/ns|ns/day)", text, re.M))
    if not rows or text.count("WallClock:") > 1:
        return {}
    middle = (rows[(len(rows) - 1) // 2] + rows[len(rows) // 2]) / 2
    return {("ns_per_day" if "ns/day" in text else "days_per_ns") + ".median": middle}


def nccl(text):
    types = set(re.findall(r"^ +\d+ +\d+ +(\w+) ", text, re.M))
    return {} if len(types) > 1 else single(("avg_bus_bw_MB_per_s", r"^#\s*Avg bus bandwidth\s*: ([0-9.]+)", 1000))(text)


def netperf(text):
    if len(re.findall(r"TEST (?:from|to) ", text)) != 1:
        return {}
    factors = {"10^0bits": 1, "10^3bits": 1e3, "10^6bits": 1e6, "10^9bits": 1e9, "Bytes": 8, "KBytes": 8 << 10, "MBytes": 8 << 20, "GBytes": 8 << 30}
    values = dict(re.findall(r"^(THROUGHPUT(?:_UNITS)?)=(\S+)$", text, re.M))
    lines = text.splitlines()
    for above, below in zip(lines, lines[1:]):
        cells = above.split(",")
        if "Throughput Units" in cells:
            values = {"THROUGHPUT": below.split(",")[cells.index("Throughput")], "THROUGHPUT_UNITS": below.split(",")[cells.index("Throughput Units")]}
        if re.match(r"Throughput +Throughput", above):
            words = lines[lines.index(above) + 4].split()
            values = {"THROUGHPUT": words[0], "THROUGHPUT_UNITS": words[1]}
    if values:
        unit = values["THROUGHPUT_UNITS"].split("/")[0]
        value = float(values["THROUGHPUT"])
        return {"transactions_op_per_s": value} if unit == "Trans" else {"bw_bit_per_s": value * factors[unit]}
    unit = re.findall(r"^bytes +bytes +(?:bytes +)?secs\.? +(?:# +# +)?(\S+?)/s", text, re.M)
    rows = [line.split() for line in lines if re.match(r"[ \d.-]+$", line) and len(line.split()) > 1]
    if "secs.    per sec" in text and rows:
        return {"transactions_op_per_s": float(rows[0][5])}
    if unit and rows:
        datagrams = re.search(r"^bytes +bytes +secs +#", text, re.M)
        return {"bw_bit_per_s": float(rows[1][3] if datagrams else rows[0][4]) * factors[unit[0]]}
    return {}


def openssl(text):
    types = [line for line in text.splitlines() if line.startswith("type  ")]
    if len(types) != 1 or not types[0].endswith(" 16384 bytes"):
        return {}
    rows = re.findall(r"^(\S+) .* ([0-9.]+)k$", text[text.index("\ntype  "):], re.M)
    return {re.sub(r"[^a-z0-9]+", "_", name.lower()) + ".b16384.bw_MB_per_s": float(value) / 1000 for name, value in rows
            if name.lower() in ("sha256", "aes-128-gcm", "aes-256-gcm", "aes-128-cbc")}


def osu(text):
    heads = [line for line in text.splitlines() if line.startswith("# Size")]
    rows = [line.split() for line in text.splitlines() if re.match(r"\d+ +[0-9.]+", line)]
    if len(heads) != 1 or text.count(" Test") != 1 or not rows:
        return {}
    values = [float(w[1]) for w in rows]
    if "Bandwidth (MB/s)" in heads[0] and float(max(values)):
        return {"bw_MB_per_s.max": max(values)}
    return {"latency_us.min": min(v for v in values if v)} if re.match(r"# Size +(?:Avg )?Latency ?\(us\)", heads[0]) else {}


def redis(text):
    if text.startswith('"test"'):
        rows = [line.strip('"').split('","') for line in text.splitlines()[1:]]
    else:
        rows = re.findall(r"^====== (\S+) ======$(?:(?!^======).)*?throughput summary: ([0-9.]+) requests per second", text, re.M | re.S)
    return {row[0].lower() + ".requests_op_per_s": float(row[1]) for row in rows if row[0] in ("SET", "GET")}


def stream(text):
    if len(re.findall(r"^Triad:", text, re.M)) != 1:
        return {}
    return {name.lower() + ".bw_MB_per_s.max": float(value) for name, value in re.findall(r"^(Copy|Scale|Add|Triad): +([0-9.]+)", text, re.M) if float(value)}


def stress_ng(text):
    found = {}
    for line in text.splitlines():
        words = re.sub(r"^.*?stress-ng: \w+: +\[\d+\] ", "", line).split()
        if len(words) >= 7 and re.fullmatch(r"[a-z][a-z0-9-]*", words[0]) and all(re.fullmatch(r"[0-9.]+", w) for w in words[1:7]) and float(words[5]):
            found[words[0].replace("-", "_") + ".bogo_op_per_s"] = float(words[5])
    return found


def wrk(text):
    found = single(("requests_op_per_s", r"^Requests/sec: +([0-9.]+)$", 1))(text)
    mean = re.findall(r"^    Latency +([0-9.]+)(us|ms|s) ", text, re.M)
    if len(mean) == 1 and found:
        found["latency_us.mean"] = float(mean[0][0]) * {"us": 1, "ms": 1e3, "s": 1e6}[mean[0][1]]
    return found


def document(*rows):
    """A JSON document's members: (name, its pointer)."""

    def read(text):
        found = {}
        for name, path in rows:
            value = loaded(text)
            for part in path.split("/"):
                value = value.get(part) if isinstance(value, dict) else None
            if value:
                found[name] = value
        return found

    return read


readers = {
    "ab": single(("requests_op_per_s", r"^Requests per second: +([0-9.]+) ", 1)),
    "babelstream": babelstream, "fio": fio, "hyperfine": hyperfine, "hpl": hpl, "iperf3": iperf3, "md-workbench": md_workbench,
    "gpcnet": single(("rr_two_sided_lat.isolated_us.mean", r"^\| +RR Two-sided Lat \(8 B\) \| +([0-9.]+) ", 1),
                     ("rr_two_sided_bw.isolated_MiB_per_s.mean", r"^\| +RR Two-sided BW \(\d+ B\) \| +([0-9.]+) ", 1)),
    "graph500": single(("bfs.harmonic_mean_GTEPS", r"^(?:bfs +)?harmonic_mean_TEPS: +(?:[!=] +)?([0-9.e+]+)$", 1e-9)),
    "gups": single(("updates_op_per_s", r"^Gups: +([0-9.]+)$", 1e9)),
    "hackbench": single(("time_s.min", r"^Time: ([0-9.]+)$", 1)),
    "hdparm": single(("cached.bw_MiB_per_s.max", r"^ Timing cached reads: .* = +([0-9.]+) MB/sec$", 1),
                     ("disk.bw_MiB_per_s.max", r"^ Timing buffered disk reads: .* = +([0-9.]+) MB/sec$", 1)),
    "hpcc": last(("hpl.rate_GFLOP_per_s", r"^HPL_Tflops=([0-9.e+-]+)$", 1e3), ("stream.star.triad_MB_per_s", r"^StarSTREAM_Triad=([0-9.e+-]+)$", 1e3),
                 ("random_access.mpi.rate_op_per_s", r"^MPIRandomAccess_GUPs=([0-9.e+-]+)$", 1e9), ("ptrans.bw_MB_per_s", r"^PTRANS_GBs=([0-9.e+-]+)$", 1e3)),
    "hpcg": single(("rating_GFLOP_per_s", r"HPCG result is VALID with a GFLOP/s rating of[:=] ?([0-9.]+)", 1)),
    "io500": single(("score", r"^\[SCORE *\] .*TOTAL ([0-9.]+)", 1)),
    "mlperf": mlperf, "namd": namd, "nccl-tests": nccl, "netperf": netperf, "openssl": openssl, "osu": osu,
    "parsl-perf": last(("final.rate_op_per_s", r"^Tasks per second: ([0-9.]+)$", 1),
                       ("final.submission_op_per_s", r"^Submission took [0-9.]+ seconds = ([0-9.]+) tasks/second$", 1)),
    "pgbench": single(("latency_ms.mean", r"^latency average = ([0-9.]+) ms$", 1)),
    "redis-benchmark": redis, "stream": stream, "stress-ng": stress_ng,
    "sysbench": alone("Initializing worker threads", ("events_op_per_s", r"^ +events per second: +([0-9.]+)$", 1), ("memory.bw_MiB_per_s", r" transferred \(([0-9.]+) MiB/sec\)$", 1),
                       ("transactions_op_per_s", r"^ +transactions: +\d+ +\(([0-9.]+) per sec\.\)$", 1),
                       ("read.bw_MiB_per_s", r"^ +read, MiB/s: +([0-9.]+)$", 1), ("write.bw_MiB_per_s", r"^ +written, MiB/s: +([0-9.]+)$", 1)),
    "wrk": wrk,
    "llmload": document(("request.throughput_op_per_s", "request_throughput"), ("output.throughput_token_per_s", "output_throughput")),
}
