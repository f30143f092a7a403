#!/usr/bin/env python3
"""allocs.py BENCHWRAP FAILALLOC.so launcher|recorder [STRIDE]: each allocation of the launcher or the recorder fails, once and from then on.
The wrapped program's bytes and status must stay what they are without us. Prints TAP."""
import os, shutil, subprocess, sys, tempfile, time

bw, lib, who = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
stride = int(sys.argv[4]) if len(sys.argv) > 4 else 1
name = "benchwrap" if who == "launcher" else "benchwrap-core"
OUT, ERR, STATUS = b"out 1\nout 2\n", b"err 1\n", 7
PROGRAM = ["/bin/sh", "-c", "printf 'out 1\\nout 2\\n'; printf 'err 1\\n' >&2; exit 7"]
work = tempfile.mkdtemp(prefix="allocs.")


def run(spec, count=None):
    d = tempfile.mkdtemp(dir=work)
    env = dict(os.environ, LD_PRELOAD=lib, FAILALLOC=f"{name}:{spec}", XDG_STATE_HOME=d + "/state", BENCHWRAP_FINISH_WAIT="3s", XDG_RUNTIME_DIR=d)
    for k in ("BENCHWRAP_RUN_ID", "BENCHWRAP_SOCKET", "MLFLOW_TRACKING_URI"):
        env.pop(k, None)
    if count:
        env["FAILALLOC_COUNT"] = count
    t = time.monotonic()
    try:
        p = subprocess.run([bw, "-q", "--"] + PROGRAM, cwd=d, env=env, capture_output=True, timeout=30, stdin=subprocess.DEVNULL)
        got = p.returncode, p.stdout, p.stderr
    except subprocess.TimeoutExpired as e:
        got = "no end in 30 s", e.stdout or b"", e.stderr or b""
    shutil.rmtree(d, ignore_errors=True)
    return got + (time.monotonic() - t,)


bad, tried = [], 0
try:
    counts = work + "/count"
    status, out, err, _ = run("0", counts)
    assert (status, out) == (STATUS, OUT), (status, out, err)
    end = time.monotonic() + 5
    while not os.path.exists(counts) and time.monotonic() < end:
        time.sleep(0.05)
    total = max((int(line.split()[1]) for line in open(counts)), default=0) if os.path.exists(counts) else 0
    for k in range(1, total + 1, stride):
        for mode in ("", "+"):
            status, out, err, seconds = run(f"{k}{mode}")
            tried += 1
            if status != STATUS or out != OUT or ERR not in err or seconds > 8:
                bad.append(f"allocation {k}{mode} of {total}: status {status}, stdout {out[:60]!r}, stderr {err[-160:]!r}, {seconds:.1f} s")
finally:
    shutil.rmtree(work, ignore_errors=True)
print(f"{'not ok' if bad else 'ok'} 1 - {who}: {tried} failed allocations of {total} leave the program as it is")
for text in bad[:40]:
    print("#  ", text, file=sys.stderr)
print("1..1")
sys.exit(bool(bad))
