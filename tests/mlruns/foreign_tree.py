#!/usr/bin/env python3
"""foreign_tree.py MLRUNS NUMBER COUNT [PARAMS METRICS TAGS]: a tree as another program would write it: one experiment "foreign NUMBER" with COUNT runs.

Each run has so many params, metrics, tags (10, 10, 5) and two artifacts; ids and values are the same each time for a NUMBER."""
import os
import random
import sys

top, number, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
n_params, n_metrics, n_tags = (int(x) for x in (sys.argv[4:7] or (10, 10, 5)))
rng = random.Random(number)
exp = str(1000 + number)


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


put(f"{top}/{exp}/meta.yaml", f"artifact_location: mlruns/{exp}\ncreation_time: 1700000000000\nexperiment_id: '{exp}'\nlast_update_time: 1700000000000\n"
    f"lifecycle_stage: active\nname: foreign {number}\n")
for i in range(count):
    run = f"{rng.getrandbits(128):032x}"
    here, start = f"{top}/{exp}/{run}", 1700000000000 + i * 1000
    put(f"{here}/meta.yaml", f"artifact_uri: mlruns/{exp}/{run}/artifacts\nend_time: {start + 900}\nentry_point_name: ''\nexperiment_id: '{exp}'\n"
        f"lifecycle_stage: active\nrun_id: {run}\nrun_name: run {i}\nsource_name: ''\nsource_type: 4\nsource_version: ''\nstart_time: {start}\n"
        f"status: {(3, 4, 5)[i % 3]}\ntags: []\nuser_id: somebody\n")
    for k in range(n_params):
        put(f"{here}/params/p{k}", f"value {i} {k}")
    for k in range(n_metrics):
        put(f"{here}/metrics/m{k}", "".join(f"{start + s} {rng.random()!r} {s}\n" for s in range(3 if k == 1 else 1)))
    for k in range(n_tags):
        put(f"{here}/tags/t{k}", f"tag {i} {k}")
    put(f"{here}/tags/mlflow.runName", f"run {i}")
    put(f"{here}/artifacts/stdout.log", "a line of output\n" * 140)
    put(f"{here}/artifacts/more/detail.json", '{"a": 1}\n' * 250)
