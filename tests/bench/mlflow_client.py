"""mlflow_client.py URL EXPERIMENT RUNS PARAMS METRICS TAGS BYTES: the same runs by MLflow's own Python client, in its quickest way (one batch a run).

Prints milliseconds, CPU milliseconds a run (import not counted), and the greatest resident memory in MB."""
import resource
import sys
import tempfile
import time

from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag

url, experiment = sys.argv[1:3]
runs, params, metrics, tags, size = map(int, sys.argv[3:])
client = MlflowClient(tracking_uri=url)
with tempfile.TemporaryDirectory() as top:
    names = [f"{top}/stdout.log", f"{top}/detail.json"]
    for name in names:
        with open(name, "w") as f:
            f.write("x" * size)
    wall, cpu = time.monotonic(), time.process_time()
    for r in range(runs):
        start = 1700000000000 + r * 1000
        run = client.create_run(experiment, start_time=start, run_name=f"run {r}", tags={"client.id": str(r)}).info.run_id
        client.log_batch(run, [Metric(f"m{i}", i / 7 + r, start, 0) for i in range(metrics)], [Param(f"p{i}", f"value {r} {i}") for i in range(params)],
                         [RunTag(f"t{i}", f"tag {r} {i}") for i in range(tags)])
        client.log_artifact(run, names[0])
        client.log_artifact(run, names[1], "more")
        client.set_terminated(run, "FINISHED", start + 900)
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
print(f"{wall * 1e3 / runs:.3f} {cpu * 1e3 / runs:.3f} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.1f}")
