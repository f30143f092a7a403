#!/usr/bin/env python3
"""meddling-proxy.py PORT UPSTREAM_PORT [RULE…]: passes HTTP requests on, and meddles with some of the replies.

RULE is ACT:TEXT:COUNT[:SECONDS]: of the first COUNT requests whose line holds TEXT (0: of all) the reply is
  delay  handed on SECONDS later (the server has done its work at once),
  hold   not even asked for before SECONDS have passed (the request is late),
  drop   thrown away and the connection reset (the server has done its work),
  refuse answered with 503, the server is not asked,
  cut    handed on in half, then the connection ends.
SECONDS may be A-B: a random time between. Prints "ready", then one line a meddling."""
import random
import socket
import struct
import sys
import threading
import time

port, upstream = int(sys.argv[1]), int(sys.argv[2])
rules = [rule.split(":") for rule in sys.argv[3:]]
seen = [0] * len(rules)
lock = threading.Lock()


def rule_of(line):
    for i, rule in enumerate(rules):
        if rule[1] in line:
            with lock:
                seen[i] += 1
                if int(rule[2]) == 0 or seen[i] <= int(rule[2]):
                    return rule
    return ["pass", "", "0"]


def pause(rule):
    low, _, high = (rule[3] if len(rule) > 3 else "0").partition("-")
    time.sleep(random.uniform(float(low), float(high or low)))


def read_message(f):
    """Head and body of one message; None at the end."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = f.readline()
        if not line:
            return None
        head += line
    length, chunked = 0, False
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
        if name.lower() == b"transfer-encoding" and b"chunked" in value.lower():
            chunked = True
    body = f.read(length)
    while chunked:
        size = f.readline()
        data = f.read(int(size, 16) + 2)
        body += size + data
        if int(size, 16) == 0:
            break
    return head + body


def reset(client):
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def serve(client):
    f = client.makefile("rb")
    with client:
        while True:
            request = read_message(f)
            if request is None:
                return
            line = request.split(b"\r\n")[0].decode("latin-1")
            rule = rule_of(line)
            if rule[0] != "pass":
                print(rule[0], line, flush=True)
            if rule[0] == "hold":
                pause(rule)
            if rule[0] == "refuse":
                client.sendall(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
                continue
            try:
                with socket.create_connection(("127.0.0.1", upstream)) as server:
                    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    server.sendall(request)
                    answers = server.makefile("rb")
                    reply = read_message(answers)
                    while reply and reply.split(b" ")[1].startswith(b"1"):  # 100 Continue: it has the body already
                        reply = read_message(answers)
            except OSError:
                reply = None
            if rule[0] == "delay":
                pause(rule)
            if reply is None or rule[0] == "drop":
                reset(client)
                return
            if rule[0] == "cut":
                client.sendall(reply[:len(reply) // 2])
                return
            client.sendall(reply)


def quietly(client):
    try:
        serve(client)
    except (OSError, ValueError):
        pass


listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", port))
listener.listen(50)
print("ready", flush=True)
while True:
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=quietly, args=(connection,), daemon=True).start()
