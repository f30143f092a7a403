"""prometheus_text.py: records per CPU second that the official client library writes as text, of 20,000 gauges with the labels of benchwrap's."""
import time
from prometheus_client import CollectorRegistry, Gauge, generate_latest

registry = CollectorRegistry()
names = ["site", "cluster", "benchmark", "experiment", "config", "key"]
for i in range(1000):
    gauge = Gauge("benchwrap_m%d" % i, "m", names, registry=registry)
    for run in range(20):
        gauge.labels("s", "c", "sh", "e%d" % run, "0123abcd", "m%d_MiB_per_s" % i).set(i + 0.25)
begin = time.process_time()
generate_latest(registry)
print(round(20000 / (time.process_time() - begin)))
