"""query_peers.py METHOD PLACE: the runs that the bench's filter chooses, by another program: client URL, pandas FILE or duckdb FILE (of `benchwrap export --format parquet`).

Prints the seconds of the query, without the start of the interpreter and its imports, and how many runs it found."""
import logging
import sys
import time

logging.disable(logging.WARNING)
method, place = sys.argv[1:3]
WALL, RSS, CORES = "metrics.run.wall_s", "metrics.run.max_rss_MiB", "params.cpu.cores"
if method == "client":
    from mlflow import MlflowClient

    client = MlflowClient(place)
    experiments = [e.experiment_id for e in client.search_experiments()]
    query = "metrics.`run.wall_s` < 1000 AND metrics.`run.max_rss_MiB` > 0.001 AND params.`cpu.cores` LIKE '%'"
    start = time.monotonic()
    found, token = 0, None
    while True:
        page = client.search_runs(experiments, query, max_results=10000, page_token=token)
        found, token = found + len(page), page.token
        if not token:
            break
elif method == "pandas":
    import pandas

    start = time.monotonic()
    runs = pandas.read_parquet(place, columns=["run_id", WALL, RSS, CORES])
    found = len(runs[(runs[WALL] < 1000) & (runs[RSS] > 0.001) & runs[CORES].notna()])
else:
    import duckdb

    start = time.monotonic()
    found = duckdb.sql(f'select count(*) from \'{place}\' where "{WALL}" < 1000 and "{RSS}" > 0.001 and "{CORES}" like \'%\'').fetchall()[0][0]
print(f"{time.monotonic() - start:.3g} {found}")
