#!/usr/bin/env python3
"""syscalls.py BENCHWRAP launcher|recorder [STRIDE [OFFSET]]: each system call of the launcher or the recorder fails, once and from then on.

Every call that a plain run makes is failed in turn by `strace -e inject` with errors it can return (every STRIDEth of them); the
wrapped program's bytes and exit status must stay what they are without us, and no run may take longer than the bounds promise.
Not failed, with the reason: calls before the launcher's main (the dynamic loader's); the program's own side of fork and exec (not traced:
it ends 126/127/125 with a message by other tests). Lasting failure of write to the program's own streams may end the program's output
(a real stream that takes nothing): then a message on stderr or a non-zero status is demanded instead. Prints TAP."""
import collections, ctypes, glob, os, re, shutil, signal, subprocess, sys, tempfile, time

bw, who = os.path.abspath(sys.argv[1]), sys.argv[2]
stride = int(sys.argv[3]) if len(sys.argv) > 3 else 1
offset = int(sys.argv[4]) if len(sys.argv) > 4 else 0
prefix = os.path.dirname(os.path.dirname(bw))
work = tempfile.mkdtemp(prefix="syscalls.")
ERRORS = collections.defaultdict(lambda: ["EIO"], {
    "openat": ["ENOENT", "EMFILE", "ENOSPC"], "open": ["ENOENT"], "read": ["EIO", "EINTR"], "write": ["EIO", "ENOSPC", "EAGAIN"], "pwrite64": ["ENOSPC"],
    "mmap": ["ENOMEM"], "munmap": ["EINVAL"], "brk": [], "fork": ["EAGAIN"], "vfork": ["EAGAIN"], "clone": ["EAGAIN"], "clone3": ["EAGAIN"],
    "pipe2": ["EMFILE"], "socket": ["EMFILE"], "socketpair": ["EMFILE"], "memfd_create": ["ENOMEM", "ENOSYS"], "dup": ["EMFILE"], "dup2": ["EMFILE"],
    "fcntl": ["EMFILE", "EINVAL"], "poll": ["EINTR", "ENOMEM"], "ppoll": ["EINTR", "ENOMEM"], "signalfd4": ["EMFILE"], "rt_sigprocmask": ["EINVAL"],
    "rt_sigaction": ["EINVAL"], "wait4": ["EINTR"], "waitid": ["EINTR"], "prctl": ["EINVAL"], "kcmp": ["EPERM", "ENOSYS"], "getrandom": ["ENOSYS", "EINTR"],
    "sendto": ["ENOBUFS", "EPIPE"], "recvfrom": ["ECONNRESET", "ENOMEM"], "sendmsg": ["ENOBUFS"], "recvmsg": ["ENOMEM"], "bind": ["EADDRINUSE"], "close": ["EINTR"], "close_range": ["ENOSYS"],
    "mkdirat": ["EACCES", "ENOSPC"], "renameat": ["EXDEV", "EACCES"], "renameat2": ["EXDEV", "EACCES"], "rename": ["EXDEV"], "linkat": ["EMLINK", "EPERM"], "fsync": ["EIO"],
    "fdatasync": ["EIO"], "ftruncate": ["ENOSPC"], "fstat": ["EIO"], "newfstatat": ["ENOENT"], "pidfd_open": ["ENOSYS"], "pidfd_send_signal": ["ENOSYS"],
    "timerfd_create": ["EMFILE"], "timerfd_settime": ["EINVAL"], "exit_group": [], "execve": [], "arch_prctl": [], "set_tid_address": [], "set_robust_list": [],
    "rseq": [], "rt_sigreturn": [], "exit": [], "restart_syscall": []})
# EINTR is failed once, not from then on: each one needs a signal that has come, and whoever tries again is right.
TRUE, UNSEEN = "4 exit status 7", re.compile("^5 .*(end was not observed|recording was killed)")
OUT, ERR, STATUS = b"out 1\nout 2\n" * 50, b"err 1\n", 7
PROGRAM = ["/bin/sh", "-c", "i=0; while [ $i -lt 50 ]; do printf 'out 1\\nout 2\\n'; i=$((i+1)); done; printf 'err 1\\n' >&2; exit 7"]


def layout():
    """A copy of the installation whose core runs itself under strace -D (the tracee keeps its pid)."""
    root = os.path.join(work, "prefix")
    os.makedirs(root + "/bin")
    os.makedirs(root + "/libexec/benchwrap")
    shutil.copy2(bw, root + "/bin/benchwrap")
    os.symlink(prefix + "/share", root + "/share")
    real = prefix + "/libexec/benchwrap/benchwrap-core"
    core = root + "/libexec/benchwrap/benchwrap-core"
    if who == "recorder":
        with open(core, "w") as f:
            f.write(f'#!/bin/sh\nexec strace -D -qq -o "$STRACE_LOG" $STRACE_INJECT {real} "$@"\n')
        os.chmod(core, 0o755)
    else:
        os.symlink(real, core)
    return root + "/bin/benchwrap"


def children():
    """Our children, and the orphans among their descendants: those come to us, a subreaper."""
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and open(f"/proc/{name}/stat").read().rpartition(")")[2].split()[1] == str(os.getpid()):
                yield int(name)
        except (OSError, IndexError):
            pass


def sweep(seconds):
    """Waits for what a run left behind, and ends it after so long; was that needed?"""
    killed, until = False, time.monotonic() + seconds
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return killed
        if time.monotonic() > until:
            for pid in children():
                os.kill(pid, signal.SIGKILL)
                killed = True
        time.sleep(0.02)


def recorded(d):
    """What the trees say about the program's end: status and reason of each run."""
    for meta in glob.glob(d + "/**/mlruns/*/*/meta.yaml", recursive=True):
        ended = os.path.dirname(meta) + "/tags/benchwrap.ended"
        status = re.search(r"^status: (\d)", open(meta).read(), re.M)
        yield f"{status and status[1]} {open(ended).read() if os.path.exists(ended) else ''}"


def run(log, inject, patience=0.5):
    d = tempfile.mkdtemp(dir=work)
    env = dict(os.environ, STRACE_LOG=log, STRACE_INJECT=inject, XDG_STATE_HOME=d + "/state", BENCHWRAP_FINISH_WAIT="3s")
    for k in ("BENCHWRAP_RUN_ID", "BENCHWRAP_SOCKET", "MLFLOW_TRACKING_URI"):
        env.pop(k, None)
    cmd = [program, "-q", "--"] + PROGRAM
    if who == "launcher":
        cmd = ["strace", "-D", "-qq", "-b", "execve", "-o", log] + inject.split() + cmd # what runs unrecorded is the program in our place: let go of it
    t = time.monotonic()
    try:
        p = subprocess.run(cmd, cwd=d, env=env, capture_output=True, timeout=30, stdin=subprocess.DEVNULL)
        out = p.returncode, p.stdout, p.stderr
    except subprocess.TimeoutExpired as e:
        out = "no end in 30 s", e.stdout or b"", e.stderr or b""
    seconds = time.monotonic() - t
    killed = sweep(patience)
    states = list(recorded(d))
    shutil.rmtree(d, ignore_errors=True)
    return out + (seconds, states, killed)


def calls():
    log = work + "/plain.log"
    status, out, err, *_ = run(log, "", 60)
    assert (status, out) == (STATUS, OUT), (status, out[:200], err)
    names = []
    begun = who == "recorder"
    # The last act before main: the dynamic loader unmaps /etc/ld.so.cache; a static program protects its relocations.
    text = open(log, errors="replace").read()
    last = "munmap" if "ld.so.cache" in text else "mprotect"
    for line in open(log, errors="replace"):
        m = re.match(r"(\w+)\(", line)
        if not m:
            continue
        names.append((m.group(1), begun))
        if m.group(1) == last and not begun:
            begun = True
    assert begun, "the beginning of main was not found"
    return names


ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
program = layout()
bad, tried = [], 0
try:
    seen = collections.Counter()
    plan = []
    for name, begun in calls():
        seen[name] += 1
        if begun:
            plan += [(name, e, seen[name], mode) for e in ERRORS[name] for mode in ("", "+") if (e, mode) != ("EINTR", "+")]
    plan = plan[offset::stride]
    if who == "recorder" and run("/dev/null", "-e inject=recvfrom:error=ENOMEM:when=1+", 60)[-1]:
        bad.append("recvfrom ENOMEM from the first call on: the recorder does not end")
    for name, error, k, mode in plan:
        status, out, err, seconds, states, _ = run("/dev/null", f"-e inject={name}:error={error}:when={k}{mode}")
        tried += 1
        what = f"{name} {error} at call {k}{' and from then on' if mode else ''}"
        own_stream = who == "launcher" and name in ("write", "poll", "ppoll", "read") and mode
        if own_stream and (status != STATUS or out != OUT or ERR not in err):
            # Reported by a sentence or by the status; where no write succeeds any more there is nothing to say it with.
            told = b"benchwrap" in err or status not in (0, STATUS) or name == "write"
            if not OUT.startswith(out) or not told:
                bad.append(f"{what}: status {status}, {len(out)} of {len(OUT)} bytes, stderr {err[-200:]!r}")
            continue
        if status != STATUS or out != OUT or ERR not in err:
            bad.append(f"{what}: status {status}, {len(out)} of {len(OUT)} bytes, stderr {err[-200:]!r}")
        elif any(x != TRUE and not ((mode or error == "ECONNRESET") and UNSEEN.search(x)) for x in states):
            bad.append(f"{what}: the record says {states}")
        elif seconds > 8:
            bad.append(f"{what}: took {seconds:.1f} s")
finally:
    shutil.rmtree(work, ignore_errors=True)
print(f"{'not ok' if bad or not tried else 'ok'} 1 - {who}: {tried} failures of system calls leave the program as it is")
for text in bad[:40]:
    print("#  ", text, file=sys.stderr)
print("1..1")
sys.exit(bool(bad))
