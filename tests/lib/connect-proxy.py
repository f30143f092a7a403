#!/usr/bin/env python3
"""connect-proxy.py LOG [USER:PASSWORD]: an HTTP proxy, absolute addresses and CONNECT; prints its port, logs the first line of each request."""
import base64
import socket
import sys
import threading


def pump(a, b):
    try:
        while data := a.recv(65536):
            b.sendall(data)
    except OSError:
        pass
    for s in (a, b):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(client):
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(65536)
        if not data:
            return
        head += data
    first = head.split(b"\r\n", 1)[0].decode()
    with open(sys.argv[1], "a", encoding="utf-8") as log:
        log.write(first + "\n")
    if len(sys.argv) > 2 and b"Proxy-Authorization: Basic " + base64.b64encode(sys.argv[2].encode()) not in head:
        client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        client.close()
        return
    method, target, rest = first.split(" ")
    if method == "CONNECT":
        host, port = target.rsplit(":", 1)
        server = socket.create_connection((host, int(port)))
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    else:
        authority, path = target.split("://", 1)[1].split("/", 1)
        host, port = authority.rsplit(":", 1)
        server = socket.create_connection((host, int(port)))
        # One request a connection: what follows goes to the same server.
        server.sendall(f"{method} /{path} {rest}\r\n".encode() + head.split(b"\r\n", 1)[1].replace(b"\r\nProxy-Connection: Keep-Alive", b"\r\nConnection: close"))
    threading.Thread(target=pump, args=(client, server), daemon=True).start()
    pump(server, client)


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
