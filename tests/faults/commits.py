#!/usr/bin/env python3
"""Writers of one results repository at once, some of them killed: commits.py BENCHWRAP REPOSITORY WRITERS KILLS SEED

WRITERS processes record a run each and commit it. KILLS times, meanwhile, a process of ours that works on the repository gets SIGKILL at a random
moment. In the end one commit takes what is left. Prints one line of JSON: runs on disk, runs in the branch, what git fsck says."""
import json, os, random, signal, subprocess, sys, time

benchwrap, repo, writers, kills, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
random.seed(seed)
mine = set()


def git(*args):
    return subprocess.run(["git", "-C", repo, *args], capture_output=True, text=True)


def ours():
    """Processes below us that commit: recorders and "commit" itself; nobody else's."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            env = open(f"/proc/{pid}/environ", "rb").read().split(b"\0")
            name = open(f"/proc/{pid}/comm").read().strip()
        except OSError:
            continue
        if f"BW_CAMPAIGN={os.getpid()}".encode() in env and (name.startswith("benchwrap-") or name == "git"):
            found.append(int(pid))
    return found


env = dict(os.environ, BW_CAMPAIGN=str(os.getpid()))
started = []
for i in range(writers):
    line = [benchwrap, "-q", "-e", f"e{i % 3}", "--", "true"] if i % 4 else [benchwrap, "commit"]
    started.append(subprocess.Popen(line, cwd=repo, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    if i % 16 == 15 and kills:
        time.sleep(random.random() * 0.1)
killed = 0
end = time.time() + 240
while time.time() < end:
    alive = ours()
    if not alive and all(p.poll() is not None for p in started):
        break
    if killed < kills and alive:
        try:
            os.kill(random.choice(alive), signal.SIGKILL)
            killed += 1
        except ProcessLookupError:
            pass
    time.sleep(random.random() * 0.05)
for p in started:
    p.wait()
while ours() and time.time() < end:
    time.sleep(0.05)
stale = []
for at, _, files in os.walk(os.path.join(repo, ".git")):
    for name in files:
        if name.endswith(".lock"):  # git's own lock of a killed process: a person looks, and removes it
            stale.append(os.path.join(at, name))
explained = 0
for name in stale:
    if "benchwrap" in name:
        out = subprocess.run([benchwrap, "commit"], cwd=repo, capture_output=True, text=True)
        explained += out.returncode != 0 and name in out.stderr
    os.unlink(name)
subprocess.run([benchwrap, "sync", "--local"], cwd=repo, stdout=subprocess.DEVNULL)
last = subprocess.run([benchwrap, "commit"], cwd=repo, capture_output=True, text=True)
disk = {f"{e}/{r}" for e in os.listdir(f"{repo}/mlruns") if e.isdigit() for r in os.listdir(f"{repo}/mlruns/{e}") if len(r) == 32}
branch = [l.split()[1] for l in git("show-ref").stdout.splitlines() if "refs/heads/benchwrap/" in l]
kept = {"/".join(l.split("/")[1:3]) for b in branch for l in git("ls-tree", "-r", "--name-only", b, "mlruns").stdout.splitlines()}
kept = {k for k in kept if len(k.split("/")[1]) == 32}
fsck = git("fsck", "--strict", "--no-progress", "--no-dangling")
print(json.dumps({"disk": len(disk), "kept": len(kept), "equal": disk == kept, "killed": killed, "commit": last.returncode, "said": last.stderr.strip()[-200:],
                  "fsck": (fsck.stdout + fsck.stderr).strip(), "branches": len(branch), "locks": len([s for s in stale if "benchwrap" in s]), "explained": explained}))
