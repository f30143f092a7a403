#!/bin/bash
# export into files: SQLite, --output, and MLflow's own store with the counts compared.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
PATH=$(dirname "$BENCHWRAP"):$PATH
bw() { "$BENCHWRAP" "$@" 2>"$WORK/err"; }
sql() { python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print(*row, sep="|")' "$@"; }

for i in 1 2; do bw -q -e io --name "r$i" -p size=$i -- sh -c "benchwrap log --unit MiB/s speed=${i}0; benchwrap log --step 1 odd=nan"; done
bw -q -e io --name "$(printf 'q\042\047;--')" -- true

bw export --format sqlite -o runs.db; is "a table of runs" "$?" 0
is "its values" "$(sql runs.db 'select run_name, "params.size", "metrics.speed" from runs order by run_name')" "q\"';--|None|None
r1|1|10.0
r2|2|20.0"
is "columns have types" "$(sql runs.db "select group_concat(distinct type) from pragma_table_info('runs')")" "TEXT,INTEGER,REAL"
is "NaN is no missing value" "$(sql runs.db 'select "metrics.odd" from runs order by run_name' | tr '\n' ' ')" "None NaN NaN "
bw export --long --format sqlite -o samples.db
is "a table of samples" "$(sql samples.db "select experiment, value, unit from samples where metric = 'speed' order by value")" "io|10.0|MiB_per_s
io|20.0|MiB_per_s"
is "as many as in CSV" "$(sql samples.db 'select count(*) from samples')" "$(bw export --long | tail -n +2 | wc -l)"
bw export --format sqlite >out; is "SQLite needs a file" "$?" 125
bw export --format sqlite -o none/x.db; is "a file that cannot be written" "$?" 1
like "... is named" "$(cat err)" 'cannot write none/x.db'
bw export -o runs.csv; is "--output for the others" "$(tail -n +2 runs.csv | wc -l)" 3
bw export -o runs.csv --columns nonsense; is "a failure" "$?" 125
is "... leaves the file that was there" "$(tail -n +2 runs.csv | wc -l)" 3
is "no other file is left" "$(ls *.new 2>/dev/null)" ""
if [ "$(id -u)" = 0 ] && mkdir full && mount -t tmpfs -o size=4k tmpfs full 2>/dev/null; then
    bw export --long --format sqlite -o full/x.db; is "a full disk: a failure" "$?" 1
    bw export --long --format csv -o full/x.csv; is "... CSV too" "$?" 1
    is "... and no half of a file" "$(ls full)" ""
    umount full
else
    skip_here "a full disk" "tmpfs cannot be mounted here"
fi

# MLflow's migration, here one that drops a run, as MLflow's does with some damaged ones
mkdir bin && cat >bin/mlflow <<'P'
#!/usr/bin/env python3
import glob, os, sqlite3, sys
source, target = sys.argv[sys.argv.index("--source") + 1], sys.argv[sys.argv.index("--target") + 1]
if os.environ.get("BREAK"): sys.exit("Error: no such command")
db = sqlite3.connect(target[len("sqlite:///"):])
for t in ("runs (run_uuid, lifecycle_stage)", "params (run_uuid, key)", "metrics (run_uuid, key)", "tags (run_uuid, key)"): db.execute("create table " + t)
for i, run in enumerate(sorted(glob.glob(source + "/*/*/meta.yaml"))[int(os.environ.get("DROP", 0)):]):
    run = os.path.dirname(run)
    db.execute("insert into runs values (?, 'active')", [os.path.basename(run)])
    for kind in ("params", "tags"):
        for key in os.listdir(run + "/" + kind): db.execute("insert into %s values (?, ?)" % kind, [os.path.basename(run), key])
    for key in os.listdir(run + "/metrics"):
        for line in open(run + "/metrics/" + key): db.execute("insert into metrics values (?, ?)", [os.path.basename(run), key])
db.commit()
P
chmod +x bin/mlflow
PATH=$WORK/bin:$PATH
bw export --mlflow-db all.db >out; is "every run arrived" "$?" 0
like "counted" "$(cat out)" '^runs +3 in the tree +3 in the database$'
DROP=1 bw export --mlflow-db less.db >out; is "a run is missing: status 1" "$?" 1
like "... it is named" "$(cat err)" "MLflow's migration has left out the run mlruns/"
like "... and counted" "$(cat out)" '^params .* MISSING$'
bw export --mlflow-db all.db >out; is "a file that exists stays" "$?" 1
BREAK=1 bw export --mlflow-db other.db >out; is "a migration that fails" "$?" 1
like "... with its own words" "$(cat err)" 'failed: Error: no such command'
bw export --mlflow-db other.db -e io >out; is "a selection is refused" "$?" 125
done_testing
