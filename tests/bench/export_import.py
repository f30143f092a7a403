"""export_import.py URL EXPERIMENT FOLDER: the experiment's runs taken out by mlflow-export-import and brought in again under another name.

Prints milliseconds, CPU milliseconds a run of bringing in (importing the modules not counted), and the greatest resident memory in MB."""
import os
import resource
import sys
import time

url, experiment, folder = sys.argv[1:]
os.environ["MLFLOW_TRACKING_URI"] = url
from mlflow import MlflowClient  # noqa: E402 (it reads the address when it is loaded)
from mlflow_export_import.experiment.export_experiment import ExperimentExporter  # noqa: E402
from mlflow_export_import.experiment.import_experiment import ExperimentImporter  # noqa: E402

client = MlflowClient()
ExperimentExporter(client).export_experiment(experiment, folder)
wall, cpu = time.monotonic(), time.process_time()
runs = ExperimentImporter(client).import_experiment(experiment + " again", folder)
wall, cpu = time.monotonic() - wall, time.process_time() - cpu
print(f"{wall * 1e3 / len(runs):.3f} {cpu * 1e3 / len(runs):.3f} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.1f}")
