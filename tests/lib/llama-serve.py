"""llama.cpp's own HTTP server, as the package xllamacpp carries it, with one model: python llama-serve.py MODEL PORT. Prints its address when it listens."""
import signal
import sys

import xllamacpp

p = xllamacpp.CommonParams()
p.model.path = sys.argv[1]
p.hostnames = ["127.0.0.1"]
p.port = int(sys.argv[2])
p.n_parallel = 4
p.n_ctx = 4 * 2048
p.cpuparams.n_threads = 1
p.warmup = False
p.endpoint_metrics = p.endpoint_props = True
server = xllamacpp.Server(p)
print(server.listening_address, flush=True)
signal.sigwait([signal.SIGTERM])
