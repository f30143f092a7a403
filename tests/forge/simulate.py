#!/usr/bin/env python3
"""Sites that never meet put their runs into one repository by pull request, day by day: simulate.py WORK DAYS SITES USERS SEED KIND

Each clone records runs, pulls or does not, shares once, twice or not at all; the forge merges the open requests in any order by merge, squash or rebase, deletes
branches or keeps them, now and then leaves one open over night. After every day: each clone that pulls has an empty `git status` and a tree equal to the ref, no run
is lost or changed, the experiments' files are the same everywhere, there is never more than one open request of a clone, and a share after a merge brings new runs only. Prints
one line `# …` a day and `lost …`, `bad …` for what is wrong; status 1 then."""
import hashlib, json, os, random, shutil, subprocess, sys, time, urllib.error, urllib.request
from pathlib import Path

work, days, sites, users, seed, kind = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), sys.argv[6]
BW, WRITE = os.environ["BENCHWRAP"], os.environ["BUILD"] + "/tests/lib/write-tree"
rnd = random.Random(seed)
bad = 0
env = dict(os.environ, GIT_CONFIG_NOSYSTEM="1", FORGEJO_TOKEN="w", GITEA_TOKEN="w", GITHUB_TOKEN="w", GITLAB_TOKEN="w", GIT_TERMINAL_PROMPT="0")


def complain(text):
    global bad
    bad += 1
    print("bad", text, flush=True)


def run(*words, cwd=None, check=True):
    done = subprocess.run([str(w) for w in words], cwd=cwd, env=env, capture_output=True, text=True)
    if check and done.returncode:
        complain(f"{cwd}: {' '.join(map(str, words))}: status {done.returncode}: {done.stdout[-400:]} {done.stderr[-800:]}")
    return done.stdout


def git(where, *words, check=True):
    return run("git", *words, cwd=where, check=check)


def digest(folder):
    """Of a run: every file's name and bytes."""
    h = hashlib.sha256()
    for f in sorted(p for p in folder.rglob("*") if p.is_file()):
        h.update(str(f.relative_to(folder)).encode() + b"\0" + f.read_bytes() + b"\0")
    return h.hexdigest()


class Clone:
    def __init__(self, site, user):
        self.site, self.dir = f"site{site}", work / f"site{site}-user{user}"
        run("git", "clone", "-q", hub, self.dir)
        run(BW, "init", "--site", self.site, self.dir)
        for key, value in (("user.name", f"U{user}"), ("user.email", f"u{user}@{self.site}.example.org"), ("benchwrap.forge", kind), ("benchwrap.forgeUrl", forge)):
            git(self.dir, "config", key, value)
        self.mine, self.offered = {}, set()

    def runs(self):
        return {p.name: p for p in (self.dir / "mlruns").glob("*/*") if len(p.name) == 32} if (self.dir / "mlruns").exists() else {}

    def record(self, n):
        before = set(self.runs())
        run(WRITE, self.dir, "bulk", n)
        shutil.rmtree(self.dir / "spool")
        for id, path in self.runs().items():
            if id not in before:
                self.mine[id] = recorded[id] = digest(path)
                owner[id] = self

    def share(self):
        out = run(BW, "share", "--json", cwd=self.dir)
        if not out:
            return
        told = json.loads(out)
        ids = {r["id"] for r in told["runs"] if r["shared"] == "yes"}
        have = in_hub()
        if ids & have:
            complain(f"{self.dir.name}: runs that the target has are shared again: {len(ids & have)}")
        if set(self.mine) - have - ids:
            complain(f"{self.dir.name}: new runs are not shared: {len(set(self.mine) - have - ids)}")
        if any(owner[i] is not self for i in ids):
            complain(f"{self.dir.name}: shares runs of others")
        self.offered |= ids

    def pull(self):
        git(self.dir, "pull", "-q", "--ff-only" if rnd.random() < 0.5 else "--rebase")
        if git(self.dir, "status", "--porcelain"):
            complain(f"{self.dir.name}: git status is not empty: {git(self.dir, 'status', '--porcelain')[:300]}")
        if git(self.dir, "rev-parse", "HEAD") != git(hub, "rev-parse", "main"):
            complain(f"{self.dir.name}: HEAD is not the target")
        # the work tree equals the ref, byte by byte: hashed anew, whatever the index believes
        listed = dict(line.split("\t")[::-1] for line in git(self.dir, "ls-tree", "-r", "--format=%(objectname)%x09%(path)", "HEAD").splitlines())
        hashes = subprocess.run(["git", "hash-object", "--no-filters", "--stdin-paths"], cwd=self.dir, env=env, input="".join(p + "\n" for p in listed), capture_output=True, text=True)
        if hashes.returncode or hashes.stdout.split() != list(listed.values()):
            complain(f"{self.dir.name}: the files are not those of the ref: {hashes.stderr[:300]}")


def in_hub():
    return {line.split("/")[2] for line in git(hub, "ls-tree", "-r", "-d", "--name-only", "main", "mlruns").splitlines() if line.count("/") == 2 and len(line.split("/")[2]) == 32}


def ask(path):
    with urllib.request.urlopen(urllib.request.Request(forge + "/_/" + path, method="POST", data=b"")) as r:
        text = r.read().decode()
        return json.loads(text) if path == "pulls" else text


def start():
    git(work, "init", "-q", "--bare", "-b", "main", hub)
    first = work / "first"
    run(BW, "init", "--private", "--site", "hub", first)
    for key, value in (("user.name", "First"), ("user.email", "first@example.org")):
        git(first, "config", key, value)
    git(first, "add", "-A")
    git(first, "commit", "-q", "-m", "begin", check=False)
    git(first, "branch", "-M", "main")
    git(first, "push", "-q", str(hub), "main")


def merge_some(last):
    waiting = [p for p in ask("pulls") if p["state"] == "open"]
    heads = [(p["source"], p["head"]) for p in waiting]
    if len(heads) != len(set(heads)):
        complain("a branch has two open requests")
    rnd.shuffle(waiting)
    done = []
    for p in waiting:
        if not last and rnd.random() < 0.2:
            continue
        method = rnd.choice(["merge", "squash", "rebase"])
        try:
            ask(f"merge/{p['number']}/{method}" + ("/keep" if rnd.random() < 0.3 else ""))
        except urllib.error.HTTPError as e:
            complain(f"conflict: request {p['number']} of {p['head']} cannot be merged by {method}: {e.read().decode()[:600]}")
        done.append(method[0])
    return done


hub, recorded, owner = work / "o" / "results.git", {}, {}
hub.parent.mkdir(parents=True)
start()
port_file = work / "port"
server = subprocess.Popen([sys.executable, str(Path(__file__).with_name("forge.py")), "--repo", f"o/results={hub}", "--token", "w=write", "--port-file", str(port_file)],
                          stdout=subprocess.DEVNULL)
try:
    while not port_file.exists():
        time.sleep(0.05)
    forge = f"http://127.0.0.1:{port_file.read_text()}"
    clones = [Clone(s, u) for s in range(sites) for u in range(users)]
    for day in range(1, days + 1):
        rnd.shuffle(clones)
        for c in clones:
            if rnd.random() < 0.8:
                c.record(rnd.randint(1, 3))
            if rnd.random() < 0.4:
                c.pull()
            for _ in range(rnd.choice([0, 1, 1, 1, 2])):
                c.share()
            if rnd.random() < 0.3:
                c.record(1)
        merged = merge_some(False)
        for c in clones:
            if rnd.random() < 0.6:
                c.pull()
        print(f"# day {day}: {len(recorded)} recorded, {len(in_hub())} merged, by {''.join(merged) or '-'}", flush=True)
    for c in clones:
        c.share()
    merge_some(True)
    for c in clones:
        c.share()  # nothing may be left
        c.pull()
    if [p for p in ask("pulls") if p["state"] == "open"]:
        complain("requests are open, though nothing new is there")
    lost = set(recorded) - in_hub()
    for id in lost:
        print("lost", id, owner[id].dir.name)
    for c in clones:
        here = c.runs()
        for id, was in recorded.items():
            if id not in here or digest(here[id]) != was:
                complain(f"{c.dir.name}: the run {id} is {'changed' if id in here else 'not there'}")
    metas = {f: {(c.dir / f).read_bytes() for c in clones} for f in {str(p.relative_to(clones[0].dir)) for p in clones[0].dir.glob("mlruns/*/meta.yaml")}}
    if any(len(v) != 1 for v in metas.values()):
        complain("the files of experiments differ between clones")
    for where in [hub, *(c.dir for c in clones)]:
        out = subprocess.run(["git", "fsck", "--strict", "--no-dangling", "--no-progress"], cwd=where, env=env, capture_output=True, text=True)
        if out.returncode or "error" in out.stderr:
            complain(f"fsck of {where.name}: {out.stdout[:300]}{out.stderr[:300]}")
    print(f"# {len(recorded)} runs recorded, {len(recorded) - len(lost)} merged, {len(ask('pulls'))} requests")
    sys.exit(1 if bad or lost else 0)
finally:
    server.kill()
    server.wait()
