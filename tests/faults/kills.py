#!/usr/bin/env python3
"""kills.py BENCHWRAP N [SEED]: N kills (SIGKILL) spread over launcher, recorder, both and the building of the tree.
After each the leftovers are finished by `benchwrap sync --local`; no run whose first journal line was written may be lost, nor any
byte or sample older than one second, and MLflow's rules for a run directory must hold. Time in which launcher or recorder waited for a
processor does not count: what a busy machine keeps from them they cannot write. Prints TAP lines, one per victim kind."""
import glob, os, random, shutil, signal, subprocess, sys, tempfile, time

bw, count = os.path.abspath(sys.argv[1]), int(sys.argv[2])
rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
here = os.path.dirname(os.path.abspath(__file__))
work = tempfile.mkdtemp(prefix="kills.")
VICTIMS = ("launcher", "recorder", "both", "recorder, then launcher", "at the end")
problems = {v: [] for v in VICTIMS}
done = {v: 0 for v in VICTIMS}


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return [int(x) for x in f.read().split()]
    except OSError:
        return []


def comm(pid):
    try:
        with open(f"/proc/{pid}/comm") as f:
            return f.read().strip()
    except OSError:
        return ""


def recorder_of(launcher, wait=60.0):
    end = time.monotonic() + wait
    while time.monotonic() < end:
        for c in children(launcher):
            if comm(c) in ("benchwrap-rec", "benchwrap-core"):
                return c
        time.sleep(0.0005)
    return None


def stopped_delay(pids):
    """Stops these processes where they are. Returns how long, in seconds, they have waited for a processor; a wait that lasts is counted when
    it ends, so that the processes must have stopped."""
    delay = 0.0
    for pid in pids:
        try:
            os.kill(pid, signal.SIGSTOP)
        except ProcessLookupError:
            pass
    end = time.monotonic() + 60
    for pid in pids:
        try:
            while open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] not in "TXZ" and time.monotonic() < end:
                time.sleep(0.0005)
            delay += int(open(f"/proc/{pid}/schedstat").read().split()[1]) / 1e9
        except OSError:
            pass
    return delay


def kill(pid):
    if pid:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def one(victim, i):
    d = os.path.join(work, str(i))
    os.mkdir(d)
    own = os.path.join(d, "own.log")
    short = victim == "at the end"
    life = 0.05 if short else 30
    env = dict(os.environ, XDG_STATE_HOME=os.path.join(d, "state"))
    for k in ("BENCHWRAP_RUN_ID", "BENCHWRAP_SOCKET", "MLFLOW_TRACKING_URI"):
        env.pop(k, None)
    p = subprocess.Popen([bw, "-q", "--sample", "0.2", "--", sys.executable, os.path.join(here, "chatter.py"), own, str(life)], cwd=d, env=env,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    rec = recorder_of(p.pid)
    program = None
    if short:  # somewhere between the program's end and the recorder's: probes after, rules, tree, publishing
        end = time.monotonic() + 10
        while time.monotonic() < end and not any(comm(c).startswith("python") for c in children(p.pid)):
            time.sleep(0.001)
        while time.monotonic() < end and any(comm(c).startswith("python") for c in children(p.pid)):
            time.sleep(0.0005)
        time.sleep(rng.uniform(0, 0.03))
    else:
        time.sleep(rng.choice((rng.uniform(0, 0.02), rng.uniform(0, 0.3), rng.uniform(0.3, 2.5))))
    at = time.time()
    late = stopped_delay([x for x in (p.pid, rec) if x])
    program = [c for c in children(p.pid) if c != rec]
    if victim in ("launcher", "both"):
        kill(p.pid)
    if victim in ("recorder", "both", "at the end", "recorder, then launcher"):
        kill(rec)
    for x in (p.pid, rec):
        if x:
            try:
                os.kill(x, signal.SIGCONT)
            except ProcessLookupError:
                pass
    if victim == "recorder, then launcher":
        time.sleep(rng.uniform(0, 0.05))
        kill(p.pid)
    end = time.monotonic() + 120
    while victim in ("recorder", "at the end") and p.poll() is None and time.monotonic() < end:
        time.sleep(0.05)  # the program goes on without its recorder (or only begins now): it is ended here
        for c in children(p.pid):
            kill(c)
    p.wait(timeout=120)
    for c in program:
        kill(c)
    end = time.monotonic() + 120  # a recorder that lives closes the run itself
    while rec and os.path.exists(f"/proc/{rec}") and comm(rec).startswith("benchwrap") and time.monotonic() < end:
        time.sleep(0.005)
    begun = [j for j in glob.glob(d + "/.benchwrap/spool/*/journal") if first_line_whole(j)]
    subprocess.run([bw, "sync", "--local"], cwd=d, env=env, stdout=subprocess.DEVNULL, timeout=300)
    check(victim, d, own, at - late, begun)
    shutil.rmtree(d)


def first_line_whole(path):
    try:
        with open(path, "rb") as f:
            return f.readline().endswith(b"\n")
    except OSError:
        return False


def check(victim, d, own, at, begun):
    bad = problems[victim]
    runs = [r for r in glob.glob(d + "/mlruns/*/*/meta.yaml")]
    if begun and not runs:
        bad.append(f"a run with a first journal line is lost: {begun}")
        return
    if len(runs) > 1:
        bad.append(f"{len(runs)} runs from one")
    left = os.listdir(d + "/.benchwrap/spool") if os.path.isdir(d + "/.benchwrap/spool") else []
    if runs and left:
        bad.append(f"left in the spool: {left}")
    if not runs or not os.path.exists(own):
        return
    run = os.path.dirname(runs[0])
    for need in ("params", "metrics", "artifacts"):
        if not any(fs for _, _, fs in os.walk(os.path.join(run, need))):
            bad.append(f"{need}/ is empty")
    kept = b""
    if os.path.exists(run + "/artifacts/stdout.log"):
        kept = open(run + "/artifacts/stdout.log", "rb").read()
    text = b"".join(b"line %d\n" % i for i in range(kept.count(b"\n") + 1))
    if not text.startswith(kept):
        bad.append("stdout.log is not what the program wrote")
    samples = set()
    for name in (run + "/metrics/chatter.n",):
        if os.path.exists(name):
            samples = {int(float(line.split()[1])) for line in open(name)}
    for line in open(own):
        kind, when, n = line.split()
        if float(when) > at - 1.0:
            continue
        if kind == "out" and b"line %d\n" % int(n) not in kept[-40:] and int(n) >= kept.count(b"\n"):
            bad.append(f"line {n} is {at - float(when):.2f} s older than the kill and lost")
            break
        if kind == "metric" and int(n) not in samples and len(samples) < 1000:
            bad.append(f"sample {n} is {at - float(when):.2f} s older than the kill and lost")
            break


try:
    for i in range(count):
        v = VICTIMS[i % len(VICTIMS)]
        try:
            one(v, i)
        except Exception as e:  # a hang is a finding too
            problems[v].append(f"{type(e).__name__}: {e}")
        done[v] += 1
finally:
    shutil.rmtree(work, ignore_errors=True)
for k, v in enumerate(VICTIMS, 1):
    print(f"{'not ok' if problems[v] else 'ok'} {k} - killed {done[v]} times: {v}")
    for text in problems[v][:5]:
        print("#  ", text, file=sys.stderr)
print(f"1..{len(VICTIMS)}")
sys.exit(any(problems.values()))
