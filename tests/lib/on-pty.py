"""on-pty.py STEPS -- COMMAND…: runs COMMAND as a shell's foreground job would be: own session, controlling terminal, on a fresh pty; plays STEPS.

STEPS is one argument, steps separated by `;`:
  expect TEXT      wait (at most 60 s) until TEXT has been shown
  urge KEY TEXT    type the key every half second until TEXT has been shown
  send TEXT        type it (Python escapes: \\x03, \\r)
  size ROWS COLS   resize the terminal; as the first step: its size from the start
  wait SECONDS
  touch FILE       make an empty file
  stopped          wait until the job has stopped; says "stopped SIGNAL"
  cont             continue the whole group in the foreground
  kill SIG         to the job's pid alone
  nocr             (first) OPOST off: what is shown is what was written
  leader           (first) the command is the session leader itself
The output shown is printed as repr lines "shown: …" at the end, then "status: …" (exit N or signal N), then "modes: echo|noecho canon|raw opost|noopost".
"""
import fcntl, os, pty, select, signal, struct, sys, termios, time

cut = sys.argv.index("--")
steps = [s.strip().split(" ", 1) for s in " ".join(sys.argv[1:cut]).split(";") if s.strip()]
command = sys.argv[cut + 1:]
master, slave = pty.openpty()
size = [24, 80]
if steps and steps[0][0] == "size":
    size = list(map(int, steps.pop(0)[1].split()))
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
if ["nocr"] in steps:
    modes = termios.tcgetattr(slave)
    modes[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, modes)

def in_terminal():
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in (0, 1, 2):
        os.dup2(slave, fd)
    os.close(master)
    if slave > 2:
        os.close(slave)

# session leader = a tiny shell; the job gets its own foreground group below it
report_r, report_w = os.pipe()
order_r, order_w = os.pipe()
leader = os.fork()
if leader == 0:
    in_terminal()
    os.close(report_r); os.close(order_w)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    if ["leader"] in steps:
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.write(report_w, b"pid %d\n" % os.getpid())
        os.close(report_w)
        os.execvp(command[0], command)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.close(report_w); os.close(order_r)
        os.execvp(command[0], command)
    try:
        os.setpgid(job, job)
    except OSError:
        pass
    os.write(report_w, b"pid %d\n" % job)
    while True:
        pid, status = os.waitpid(job, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            os.tcsetpgrp(0, os.getpgrp())
            os.write(report_w, b"stopped %d\n" % os.WSTOPSIG(status))
            os.read(order_r, 1)
            os.tcsetpgrp(0, job)
            os.kill(-job, signal.SIGCONT)
            continue
        text = b"exit %d\n" % os.WEXITSTATUS(status) if os.WIFEXITED(status) else b"signal %d\n" % os.WTERMSIG(status)
        os.write(report_w, text)
        os._exit(0)
os.close(report_w); os.close(order_r)
shown = b""; reports = b""; searched = 0

def pump(seconds):
    global shown, reports
    r, _, _ = select.select([master, report_r], [], [], seconds)
    if master in r:
        try:
            shown += os.read(master, 65536)
        except OSError:
            pass
    if report_r in r:
        data = os.read(report_r, 4096)
        reports += data
        if not data:
            time.sleep(0.01)

def until(condition, what):
    end = time.time() + 60
    while not condition():
        if time.time() > end:
            print("time-out waiting for", what); break
        pump(0.05)

until(lambda: b"pid " in reports and b"\n" in reports, "the start")
job = int(reports.split()[1])
for step in steps:
    verb, rest = step[0], step[1] if len(step) > 1 else ""
    if verb == "urge":
        key, rest = rest.split(" ", 1)
        verb, end = "expect", time.time() + 60
        while rest.encode() not in shown[searched:] and time.time() < end:
            os.write(master, key.encode())
            pause = time.time() + 0.5
            while rest.encode() not in shown[searched:] and time.time() < pause:
                pump(0.02)
    if verb == "expect":
        want = rest.encode().decode("unicode_escape").encode("latin1")
        until(lambda: want in shown[searched:], "%r" % rest)
        at = shown.find(want, searched)
        searched = at + len(want) if at >= 0 else searched
    elif verb == "send":
        os.write(master, rest.encode().decode("unicode_escape").encode("latin1"))
    elif verb == "size":
        rows, cols = map(int, rest.split())
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
    elif verb == "wait":
        end = time.time() + float(rest)
        while time.time() < end:
            pump(0.02)
    elif verb == "touch":
        open(rest, "w").close()
    elif verb == "stopped":
        count = reports.count(b"stopped")
        until(lambda: reports.count(b"stopped") > 0, "a stop")
        print("stopped", reports.split(b"stopped ")[-1].split()[0].decode() if b"stopped" in reports else "never")
        reports = reports.replace(b"stopped", b"was")
    elif verb == "cont":
        os.write(order_w, b"c")
    elif verb == "kill":
        os.kill(job, getattr(signal, "SIG" + rest))
if ["leader"] in steps:
    end = time.time() + 60
    while time.time() < end:
        pid, status = os.waitpid(leader, os.WNOHANG)
        if pid:
            break
        pump(0.02)
    result = "exit %d" % os.WEXITSTATUS(status) if os.WIFEXITED(status) else "signal %d" % os.WTERMSIG(status)
else:
    until(lambda: b"exit " in reports or b"signal " in reports, "the end")
    result = reports.decode().strip().split("\n")[-1]
modes = termios.tcgetattr(slave)
for _ in range(5):
    pump(0.02)
print("shown: %r" % shown)
print("status:", result)
print("modes:", "echo" if modes[3] & termios.ECHO else "noecho", "canon" if modes[3] & termios.ICANON else "raw", "opost" if modes[1] & termios.OPOST else "noopost")
