#!/usr/bin/env python3
"""ui_import.py BENCHWRAP PORT RUNS: seconds from the printed link of `benchwrap ui` until 100 runs, and until all are in its database.

Reads the database itself, so that the server has nothing to do for the measurement."""
import os
import signal
import sqlite3
import subprocess
import sys
import time

program, port, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
ui = subprocess.Popen([program, "ui", "--port", port], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
if not ui.stdout.readline():
    sys.exit("ui_import.py: ui ended without a link")
begin = time.monotonic()
newest = None
while time.monotonic() - begin < 600:
    db = sqlite3.connect("file:.benchwrap/ui/mlflow.db?mode=ro", uri=True, timeout=5)
    count = db.execute("SELECT count(*) FROM runs").fetchone()[0]
    db.close()
    if newest is None and count >= min(100, wanted):
        newest = time.monotonic() - begin
    if count >= wanted:
        print(f"{newest:.3f} {time.monotonic() - begin:.3f}")
        break
    time.sleep(0.02)
os.kill(ui.pid, signal.SIGINT)
ui.wait()
