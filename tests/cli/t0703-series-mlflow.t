#!/bin/bash
# Trees with series are opened by the real MLflow: nested runs, metrics, curves; a second judge of trees finds nothing.
# sanitizer: long, because MLflow is what is tested
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
cd "$WORK" || exit
"$BENCHWRAP" -q --repeat 3 --warmup 1 -- true
"$BENCHWRAP" -q --sweep n=1..4*2 --sweep 'm=a b,ü/é,-x' --repeat 2 --interleave --seed 1 -- echo {n} {m} >/dev/null
"$BENCHWRAP" -q --sweep n=-2..2 --repeat 4 -- echo {n} >/dev/null
"$BENCHWRAP" -q --repeat 2 --as steps -- echo x >/dev/null
"$BENCHWRAP" -q --repeat 2 --keep-going -- false
if ! python=$(venv_mlflow 3.17.2); then
    skip "MLflow reads a series" "$python"
    done_testing
    exit
fi
read_by_mlflow()
{
    MLFLOW_ALLOW_FILE_STORE=true "$python" - 2>err <<'P'
import os, warnings
warnings.filterwarnings("ignore")
import mlflow
mlflow.set_tracking_uri("file://" + os.getcwd() + "/mlruns")
c = mlflow.MlflowClient()
exps = [e.experiment_id for e in c.search_experiments() if e.name == "default"]
runs = c.search_runs(exps, max_results=1000)
parents = [r for r in runs if "benchwrap.series" in r.data.tags]
kids = lambda p: [r for r in runs if r.data.tags.get("mlflow.parentRunId") == p.info.run_id]
print("series", len(parents), "children", sorted(len(kids(p)) for p in parents))
curve = next(p for p in parents if p.data.params.get("sweep.n") == "-2..2")
print("curve", [m.step for m in c.get_metric_history(curve.info.run_id, "run.wall_s.median")])
grid = next(p for p in parents if "sweep.m" in p.data.params)
print("points", sum(k.endswith(".run.wall_s.median") for k in grid.data.metrics))
print("filter", len(c.search_runs(exps, "params.m = 'ü/é' and params.n = '2'")))
P
}
is "MLflow finds series, children and curves" "$(read_by_mlflow; [ ! -s err ] || tail -n 3 err >&2)" "series 5 children [0, 2, 4, 18, 20]
curve [-2, -1, 0, 1, 2]
points 9
filter 2"
if [ -x "$ROOT/../shared/tools/mlflow-check-tree" ]; then
    ok "a second judge finds nothing" "$python" "$ROOT/../shared/tools/mlflow-check-tree" mlruns --strict
fi
done_testing
