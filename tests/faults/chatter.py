#!/usr/bin/env python3
"""A program that talks: lines on stdout and metrics by the log socket, each noted with its time in a log of its own (argument 1).
Runs for argument 2 seconds, or until killed; a closed pipe ends it quietly."""
import json, os, socket, sys, time

own = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
end = time.monotonic() + float(sys.argv[2])
name = os.environ.get("BENCHWRAP_SOCKET", "")
sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) if name.startswith("@") else None
n = 0
while time.monotonic() < end:
    line = b"line %d\n" % n
    try:
        os.write(1, line)
    except BrokenPipeError:
        break
    os.write(own, b"out %.3f %d\n" % (time.time(), n))
    if sock and n % 20 == 0:
        try:
            sock.sendto(json.dumps({"metric": "chatter.n", "value": n, "step": n}).encode(), "\0" + name[1:])
            os.write(own, b"metric %.3f %d\n" % (time.time(), n))
        except OSError:
            pass
    n += 1
    time.sleep(0.002)
