#!/usr/bin/env python3
"""mlflow-server.py ARGUMENT…: `mlflow ARGUMENT…`, whose server runs in this process. MLflow's command starts uvicorn in a second one,
which loads all of MLflow again: three seconds of processor time for each server of a test."""
import os
import runpy
import sys

import mlflow.server
from mlflow.cli import cli

start = mlflow.server._exec_cmd


def serve(command, extra_env, **options):
    if command[1:3] != ["-m", "uvicorn"]:  # MLflow 2 serves by gunicorn
        return start(command, extra_env=extra_env, **options)
    os.environ.update(extra_env)
    sys.argv = command[2:]
    runpy.run_module("uvicorn", run_name="__main__", alter_sys=True)
    sys.exit()


mlflow.server._exec_cmd = serve
cli()
