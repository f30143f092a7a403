#!/bin/bash
# t0317: parsl-perf with a real Parsl: version, executors and counts of the configuration are recorded, its file is kept, and nothing of it runs a
# second time.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
cd "$WORK" || exit

if ! python=$(venv_python parsl-2026.10.26 280 parsl==2026.10.26); then
    skip "a real parsl-perf" "$python"
    done_testing
    exit
fi
PATH=${python%/*}:$PATH
cat >threads.py <<'END'
from parsl.config import Config
from parsl.executors import ThreadPoolExecutor

with open("executed", "a") as counter:
    counter.write("once\n")
config = Config(executors=[ThreadPoolExecutor(label="threads", max_threads=3)])
END
param() { cat mlruns/*/"$1"/params/"$2" 2>/dev/null; }
newest() { "$BENCHWRAP" ls --last 1 --json | jq -r '.[0].id'; }

timeout 300 parsl-perf --config threads.py --time 0.2 >alone.out 2>&1
alone=$(wc -l <executed)
rm executed
timeout 200 "$BENCHWRAP" -q -- python3 -m parsl.benchmark.perf --config threads.py --time 0.2 >module.out 2>module.err
is "as a module of Python: status" "$?" 0
id=$(newest)
is "the rules are those of parsl-perf, and the verdict" "$(cat mlruns/*/"$id"/tags/benchmark) $(cat mlruns/*/"$id"/tags/benchwrap.verdict)" "parsl-perf pass"
is "the version of Parsl" "$(cat mlruns/*/"$id"/tags/benchmark.version)" "2026.10.26"
is "the executor and its workers" "$(param "$id" executor) $(param "$id" max_threads) $(param "$id" config)" "ThreadPoolExecutor 3 threads.py"
is "the configuration file is kept, byte by byte" "$(cat mlruns/*/"$id"/artifacts/files/threads.py)" "$(cat threads.py)"
is "the configuration ran as often as without benchwrap" "$(wc -l <executed)" "$alone"

cat >htex.py <<'END'
from parsl.config import Config
from parsl.executors import HighThroughputExecutor, ThreadPoolExecutor
from parsl.providers import LocalProvider

provider = LocalProvider(nodes_per_block=1, init_blocks=1, min_blocks=0, max_blocks=2)
config = Config(run_dir="elsewhere", executors=[HighThroughputExecutor(label="htex", cores_per_worker=0.5, max_workers_per_node=2, provider=provider),
                           ThreadPoolExecutor(label="threads", max_threads=5)])
END
timeout 250 "$BENCHWRAP" -q -- parsl-perf --config htex.py --time 0.2 >htex.out 2>htex.err
is "two executors: status" "$?" 0
id=$(newest)
is "the first: executor, provider" "$(param "$id" executor) $(param "$id" provider)" "HighThroughputExecutor LocalProvider"
is "… blocks, nodes, workers" "$(for k in nodes_per_block init_blocks min_blocks max_blocks max_workers_per_node cores_per_worker; do param "$id" $k; echo; done | xargs)" \
    "1 1 0 2 2 0.5"
is "the second" "$(param "$id" executor_2) $(param "$id" max_threads_2) $(param "$id" provider_2)" "ThreadPoolExecutor 5 "
is "… whose counts are not the first's" "$(param "$id" max_threads)" ""
is "rate and batches" "$(cut -d' ' -f2 mlruns/*/"$id"/metrics/final.rate_op_per_s)" "$(sed -n 's/^Tasks per second: //p' htex.out | tail -n 1 | sed 's/0*$//; s/\.$//')"
is "a configuration that is not there is no error of ours" "$(timeout 300 "$BENCHWRAP" -q -- parsl-perf --config none.py >none.out 2>none.err; echo $?)" 1
done_testing
