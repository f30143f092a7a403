#!/usr/bin/env python3
"""Writes numbered lines to a log file like a daemon that is rotated.

log-writer.py FILE LINES ROTATIONS [rename|copy|twice] [LINES_PER_S]
Each line is "[TIME] NAME NUMBER filler". Lines go out in blocks, some cut in the middle. rename: the file
is renamed to .1 (.1 to .2 …, 60 are left) and made again. copy: it is copied to .1 and truncated. twice:
it is renamed twice, with one to three lines between.
"""
import os
import random
import sys
import time

path, lines, rotations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
kind = sys.argv[4] if len(sys.argv) > 4 else "rename"
rate = float(sys.argv[5]) if len(sys.argv) > 5 else 0
name = os.path.basename(path)
rng = random.Random(path)
LEFT = 60


def text(stamp, at, n):
    return b"".join(b"[%s] %s %d %s\n" % (stamp.encode(), name.encode(), at + i, b"x" * rng.randint(0, 60)) for i in range(n))


def shift():
    for i in range(LEFT, 0, -1):
        if os.path.exists(f"{path}.{i}"):
            os.rename(f"{path}.{i}", f"{path}.{i + 1}")
    if os.path.exists(f"{path}.{LEFT + 1}"):
        os.remove(f"{path}.{LEFT + 1}")


def rotate(fd):
    shift()
    if kind == "copy":
        with open(path, "rb") as a, open(path + ".1", "wb") as b:
            b.write(a.read())
        os.ftruncate(fd, 0)
        return fd
    os.rename(path, path + ".1")
    os.close(fd)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)


fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
due = sorted(rng.sample(range(lines), rotations))
begin = time.time()
at = 0
rest = b""
while at < lines:
    n = min(rng.randint(1, 400), lines - at)
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + ".123"
    block = rest + text(stamp, at, n)
    at += n
    cut = rng.randint(0, 30) if at < lines and not (due and due[0] < at) else 0
    rest = block[len(block) - cut:] if cut else b""
    os.write(fd, block[:len(block) - cut] if cut else block)
    while due and due[0] < at:
        due.pop(0)
        fd = rotate(fd)
        if kind == "twice":
            n = min(rng.randint(1, 3), lines - at)
            os.write(fd, text(stamp, at, n))
            at += n
            fd = rotate(fd)
    if rate and at / rate > time.time() - begin:
        time.sleep(max(0, at / rate - (time.time() - begin)))
os.close(fd)
