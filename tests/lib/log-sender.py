#!/usr/bin/env python3
"""Sends messages to a log socket: log-sender.py NAME KIND [COUNT]. KIND: metric, file, many (a file and three more descriptors), path, root (claims
uid 0), caller=UID (claims that uid), text=JSON, fifo, flood (without end; the file flooding/begun says that 1,000 were sent). Prints how many were sent."""
import array, os, socket, struct, sys

name, kind = sys.argv[1], sys.argv[2]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 1
address = "\0" + name[1:] if name.startswith("@") else name
sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
sock.settimeout(5)
metric = b'{"metric":"write.bw","value":999999}'


def files(*fds):
    return [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds).tobytes())]


def claim(uid):
    return [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, struct.pack("iii", os.getpid(), uid, uid))]


def message():
    if kind in ("metric", "flood"):
        return metric, []
    if kind.startswith("text="):
        return kind[5:].encode(), []
    if kind == "path":
        return b'{"artifact":"/etc/hostname"}', []
    if kind == "root":
        return metric, claim(0)
    if kind.startswith("caller="):
        return metric, claim(int(kind[7:]))
    if kind == "fifo":
        return b'{"artifact":"fifo"}', files(os.open(os.environ["FIFO"], os.O_RDWR))
    opened = [os.open(os.environ["FILE"], os.O_RDONLY)]
    if kind == "many":
        opened += [os.dup(opened[0]) for _ in range(3)]
    return ('{"artifact":"%s"}' % os.environ.get("NAME", "sent.txt")).encode(), files(*opened)


text, extra = message()
sent = 0
while sent < count or kind == "flood":
    try:
        sock.sendmsg([text], extra, 0, address)
        sent += 1
        if kind == "flood" and sent == 1000:
            os.close(os.open("flooding/begun", os.O_CREAT | os.O_WRONLY))
    except (BlockingIOError, TimeoutError, socket.timeout):
        continue
    except OSError as e:
        print(sent, type(e).__name__)
        break
else:
    print(sent)
