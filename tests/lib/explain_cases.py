#!/usr/bin/env python3
"""Plant causes of differences in real runs, and count how often `benchwrap explain` names them:
explain_cases.py BENCHWRAP WORK-DIR [CASES-OF-EACH-KIND [KIND,KIND...]].

Each case records three runs (five of wall times) before and as many after a change, in a tree of its own or (every second case) in one with the runs of all earlier cases of that
kind. Prints a line for each kind: cases, first, first or second; then the cases without a cause, in which a number that no record has changes the results,
or nothing does. The program measures its processor time, or its wall time where a limit is planted. Frequency and noise are planted in copies of runs: a
virtual machine has no frequency, and a busy one no quiet time."""
import glob, json, os, random, shutil, subprocess, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from make_history import Maker

bw, work, each = sys.argv[1], os.path.abspath(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 12
os.makedirs(work, exist_ok=True)
os.chdir(work)
rng = random.Random(7)
SOURCE = r'''
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
double lib_cost(void);
static volatile double sink;
static void *spin(void *p) { double x = 1; for (long i = 0; i < *(long *)p; i++) x = x * 1.0000001 + 1e-9; sink = x; return NULL; }
static double now(int clock) { struct timespec t; clock_gettime(clock, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static double hidden(void) { double f = 1; FILE *h = fopen(HIDDEN, "r"); if (h) { if (fscanf(h, "%lf", &f) != 1) f = 1; fclose(h); } return f; }
int main(int c, char **v)
{
    long n = 3000000; int wall = 0, threads = 1; double f = lib_cost() * hidden() * COST;
    for (int i = 1; i < c; i++) {
        if (!strcmp(v[i], "--wall")) wall = 1, n *= 10;
        else if (!strcmp(v[i], "--long")) n *= 15; /* other programs are counted in ticks of 10 ms, in runs of 0.5 s or more */
        else if (!strcmp(v[i], "--level")) f *= 1 + 0.2 * atoi(v[++i]);
        else if (!strcmp(v[i], "--threads")) threads = atoi(v[++i]);
    }
    const char *env = getenv("OMP_SCHEDULE");
    if (env && !strcmp(env, "dynamic")) f *= 1.3;
    long part = (long)((double)n * f / threads);
    int clock = wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
    double t = now(clock);
    pthread_t id[16];
    for (int i = 1; i < threads; i++) pthread_create(&id[i], 0, spin, &part);
    spin(&part);
    for (int i = 1; i < threads; i++) pthread_join(id[i], 0);
    t = now(clock) - t;
    printf("work rate: %.6g MB/s\n", (wall ? 40 : 4) / t);
    return 0;
}
'''


def build(name, cost):
    with open("work.c", "w") as f: f.write(SOURCE)
    subprocess.run(["gcc", "-O1", f"-DCOST={cost}", f'-DHIDDEN="{work}/hidden"', "-o", name, "work.c", "-Lfast", "-lcost", "-lpthread"], check=True)


for folder, cost in (("fast", 1), ("slow", 1.4)):
    os.makedirs(folder, exist_ok=True)
    with open("lib.c", "w") as f: f.write(f"double lib_cost(void) {{ return {cost}; }}\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", f"{folder}/libcost.so", "lib.c"], check=True)
for folder, cost in (("one", 1), ("two", 1.25)):
    os.makedirs(folder, exist_ok=True)
    build(f"{folder}/work", cost)
counter = 0


def record(tree, side, kind, extra=()):
    """One run; its id."""
    global counter
    counter += 1
    env = dict(os.environ, LD_LIBRARY_PATH=f"{work}/fast", BENCHWRAP_TREE=f"{work}/{tree}/mlruns")
    env.pop("OMP_SCHEDULE", None)
    argv, pre, opts, post, cwd = ["../one/work"], [], list(extra), None, f"{work}/{tree}"
    os.makedirs(cwd, exist_ok=True)
    if side and kind == "program": argv = ["../two/work"]
    if side and kind == "library": env["LD_LIBRARY_PATH"] = f"{work}/slow"
    if kind == "environment": env["OMP_SCHEDULE"] = "dynamic" if side else "static"
    if kind == "argument": argv += ["--level", "2" if side else "1"]
    if kind == "parameter":
        opts += ["-p", f"level={side}"]
        with open("hidden", "w") as f: f.write("1.3" if side else "1")
    if kind == "hidden" and side:
        with open("hidden", "w") as f: f.write("1.25")
    if kind == "quota":
        argv += ["--wall"]
        if side: pre = ["sh", "-c", 'echo $$ >/sys/fs/cgroup/cpu/bw-explain/cgroup.procs; exec "$@"', "sh"]
    if kind == "binding":
        pre = ["taskset", "-c", "0" if side else "0,1"]
        with open("hidden", "w") as f: f.write("1.3" if side else "1") # the effect of less cache, which this machine may share
    if kind == "mount":
        cwd = f"{work}/mnt"
        os.makedirs(cwd, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "noatime,size=8m" if side else "size=8m", "tmpfs", cwd], check=True)
        argv[0] = f"{work}/one/work"
        with open("hidden", "w") as f: f.write("1.3" if side else "1")
    if kind == "limit":
        pre = ["sh", "-c", f"ulimit -n {256 if side else 1024}; exec \"$@\"", "sh"]
        with open("hidden", "w") as f: f.write("1.2" if side else "1")
    neighbour = None
    if kind == "neighbour": # on the same processor, and both before all other work of the machine
        argv += ["--wall", "--long"]
        pre = ["taskset", "-c", "1", "nice", "-n", "-20"]
        if side: neighbour = subprocess.Popen(pre + [sys.executable, "-c", "while True: pass"])
    try:
        p = subprocess.run(pre + [bw, "-q", "-e", "e", *opts, "--", *argv], env=env, cwd=cwd, capture_output=True, text=True)
    finally:
        if kind == "mount": subprocess.run(["umount", "-l", cwd], check=True)
        if os.path.exists("hidden"): os.unlink("hidden")
        if neighbour:
            neighbour.kill()
            neighbour.wait()
    if p.returncode: raise SystemExit(f"{kind}: {p.stderr}")
    new = set(os.path.basename(os.path.dirname(m)) for m in glob.glob(f"{work}/{tree}/mlruns/*/*/meta.yaml"))
    one = new - known.setdefault(tree, set())
    known[tree] |= new
    return one.pop()


known = {}
EXPECT = {"program": ["program"], "library": ["libraries"], "environment": ["environment env.omp_schedule", "environment environment.OMP_SCHEDULE"],
          "argument": ["arguments"], "parameter": ["parameter level"], "quota": ["processor limit"], "binding": ["binding"], "mount": ["file system"],
          "limit": ["limit limits.open_files"], "frequency": ["processor frequency"],
          "noise": ["noise of other programs"], "neighbour": ["noise of other programs"]}
made = ("frequency", "noise")


def explain(tree, a, b):
    out = subprocess.run([bw, "explain", "--tree", f"{work}/{tree}/mlruns", "-m", "work_rate_MB_per_s", "--json", ",".join(a), "vs", ",".join(b)],
                         capture_output=True, text=True)
    if out.returncode: raise SystemExit(out.stderr)
    return json.loads(out.stdout)


def copies(kind, i):
    """Runs of a machine that others use, or with other frequencies; each run has noise of its own."""
    tree = f"{kind}-made-{i}"
    first = record(tree, 0, "nothing")
    run = os.path.dirname(glob.glob(f"{work}/{tree}/mlruns/*/{first}/meta.yaml")[0])
    maker, ids = Maker(run), []
    for side in (0, 1) * (1 + i % 2):
        for _ in range(4):
            noise = abs(rng.gauss(.05, .05)) + (rng.uniform(.5, 1.5) if side and kind == "noise" else 0)
            slow = (1 - .15 * noise) * (.85 if side and kind == "frequency" else 1) * (1 + .02 * rng.gauss(0, 1))
            ids.append(maker.make({"metrics": {"work_rate_MB_per_s": 500 * slow, "noise.other_processors": noise, "load.runnable": rng.randint(1, 9)},
                                   "details": {"work_rate_MB_per_s": {"unit": "MB_per_s", "direction": "higher"}},
                                   "params": {"cpu.governor": "performance",
                                              "cpu.frequency_limit_Hz": "2000000000" if side and kind == "frequency" else "3500000000"}}))
    shutil.rmtree(run)
    return tree, ids[-8:-4], ids[-4:]


def case(kind, i):
    if kind in made:
        tree, a, b = copies(kind, i)
        d = explain(tree, a, b)
        return d, [c["cause"] for c in d["causes"] if c["state"] != "excluded"]
    tree = f"{kind}-shared" if i % 2 else f"{kind}-{i}"
    # a second difference without effect, in every third case of a shared tree
    decoy = ["-p", f"note={i}"] if i % 3 == 2 and i % 2 else []
    runs = 5 if kind in ("quota", "neighbour") else 3 # wall times vary
    a = [record(tree, 0, kind) for _ in range(runs)]
    b = [record(tree, 1, kind, decoy) for _ in range(runs)]
    d = explain(tree, a, b)
    return d, [c["cause"] for c in d["causes"] if c["state"] != "excluded"]


quota = False
try:
    os.makedirs("/sys/fs/cgroup/cpu/bw-explain", exist_ok=True)
    with open("/sys/fs/cgroup/cpu/bw-explain/cpu.cfs_quota_us", "w") as f: f.write("40000")
    quota = True
except OSError as e:
    print(f"# no processor limit here: {e}")
total = first = second = 0
kinds = [k for k in EXPECT if (k != "quota" or quota) and (k != "neighbour" or 1 in os.sched_getaffinity(0)) and (len(sys.argv) < 5 or k in sys.argv[4].split(","))]
for kind in kinds:
    n = one = two = same = 0
    for i in range(each):
        d, names = case(kind, i)
        n += 1
        same += d["metric"]["verdict"] != "differs"
        one += bool(names[:1]) and names[0] in EXPECT[kind]
        two += any(x in EXPECT[kind] for x in names[:2])
        if not any(x in EXPECT[kind] for x in names[:2]): print(f"# {kind} {i}: {d['metric']['verdict']} {d['metric']['ratio']}: {names}")
    print(f"{kind}\t{n}\t{one}\t{two}\t{same}", flush=True)
    total, first, second = total + n, first + one, second + two
print(f"planted\t{total}\t{first}\t{second}", flush=True)
n = none = differ = 0
for i in range(each * 5):
    for kind in ("hidden", "nothing"):
        d, names = case(kind, i * 2)
        n += 1
        differ += d["metric"]["verdict"] == "differs"
        none += not names
        if names: print(f"# {kind} {i}: {d['metric']['ratio']}: {names}")
print(f"without\t{n}\t{none}\t-\t{differ} differ", flush=True)
if quota: os.rmdir("/sys/fs/cgroup/cpu/bw-explain")
