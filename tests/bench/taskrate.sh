# shellcheck shell=bash
# taskrate.sh: the rows of taskrate, sourced by tests/bench/run: against a bare loop, other launchers, workflow systems, and Slurm by hand.
tr=$O/bin/taskrate stub=$O/libexec/benchwrap/taskrate-stub cpus=$(nproc)
tr_n=3000; [ -z "${BENCH_QUICK:-}" ] || tr_n=300
middle() { sort -g | awk '{v[NR] = $1} END {print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; } # median of numbers, one a line
ours() { "$tr" local -s "$cpus" -n "$tr_n" -r 1 --warmup 0 --chain 0 --json "$@" | jq '.configurations[0].batches[0].client_throughput_per_s'; }
share() { # PEER-COMMAND…: ours (words before --) and the peer (behind it) in turns; sets ratio, mine, other (medians)
    local mine_words=() i
    while [ "$1" != -- ]; do mine_words+=("$1"); shift; done
    shift
    : >"$work/mine"; : >"$work/other"; : >"$work/ratio"
    for i in $(seq "$(rounds 9)"); do
        local a b
        if [ $((i % 2)) = 0 ]; then a=$(ours "${mine_words[@]}"); b=$("$@"); else b=$("$@"); a=$(ours "${mine_words[@]}"); fi
        echo "$a" >>"$work/mine"; echo "$b" >>"$work/other"; calc "$a/$b" >>"$work/ratio"; echo >>"$work/ratio"
    done
    ratio=$(grep . "$work/ratio" | middle) mine=$(middle <"$work/mine") other=$(middle <"$work/other")
}
per_second() { # N COMMAND…: N over the command's wall time
    local n=$1 a b; shift
    a=$(date +%s%N); "$@" >/dev/null 2>&1; b=$(date +%s%N)
    calc "$n/(($b-$a)/1e9)"
}
share -- "$O/tests/bench/spawn_loop" "$cpus" "$tr_n" "$stub" s3,0,0
row taskrate "local with the stub, share of a bare posix_spawn loop" "$(calc "100*$ratio")" percent '>=120' "tasks/s, medians of turns: ours $(calc "$mine"), bare loop $(calc "$other")"
share --payload true -- "$O/tests/bench/spawn_loop" "$cpus" "$tr_n" /bin/true
row taskrate "local with /bin/true, share of a bare posix_spawn loop" "$(calc "100*$ratio")" percent '>=100' "tasks/s: ours $(calc "$mine"), bare loop $(calc "$other")"
best=0 tr_peers=
xargs_true() { per_second "$tr_n" sh -c "seq $tr_n | xargs -P $cpus -n 1 /bin/true"; }
printf 'all: %s\n%%:\n\t@/bin/true\n' "$(seq -s ' ' "$tr_n")" >"$work/makefile"
make_true() { per_second "$tr_n" make -s -j "$cpus" -f "$work/makefile" all; }
parallel_true() { local n=$((tr_n / 10)); per_second $n sh -c "seq $n | parallel --will-cite -j $cpus -n1 /bin/true"; }
for peer in xargs make parallel; do
    has $peer || { tr_peers="$tr_peers, $peer is not here"; continue; }
    share --payload true -- ${peer}_true
    tr_peers="$tr_peers, $peer $(calc "$other") (ours in turns $(calc "$mine"))"
    [ "$(calc "$ratio < $best || $best == 0")" = 1 ] && best=$ratio
done
row taskrate "local, as often the best of xargs -P, make -j, GNU parallel" "$best" times '>=1' "tasks/s of /bin/true, $cpus at once${tr_peers}"
calls=1000000; [ -z "${BENCH_QUICK:-}" ] || calls=100000
book=$("$tr" local -s 1 -n $calls --payload call -r 3 --warmup 0 --chain 0 --json | jq '1e6 / ([.configurations[0].batches[].throughput_per_s] | sort | .[1])')
row taskrate "bookkeeping of a task (a call in the process, one thread)" "$(calc "$book")" us '<=1' "five times taken and stored, $calls tasks"
peak() { "$M" pss -- "$tr" local -n "$1" -r 1 --warmup 0 --chain 0 --payload call --json; } # greatest PSS, KB
few=$("$M" pss -- "$tr" local -n 1 -d 1s -r 1 --warmup 0 --chain 0 --payload call --json) many=$(peak $calls)
row taskrate "memory of a task" "$(calc "($many-$few)*1024/($calls-1)")" B '<=64' "greatest PSS, KB: $few with one task, $many with $calls"
if has perf && perf record -q -o "$work/perf" -e sched:sched_process_exec true >/dev/null 2>&1; then
    perf record -q -k CLOCK_MONOTONIC -e sched:sched_process_exec --filter 'filename ~ "*taskrate-stub"' -o "$work/perf" -- "$tr" local -n 1000 -r 1 --warmup 0 --chain 0 --out "$work/traced" >/dev/null 2>&1
    perf script --ns -i "$work/perf" -F time 2>/dev/null | tr -d ' :' >"$work/execs"
    trace=$(python3 - "$work" <<'P'
import gzip, json, struct, sys
f = gzip.open(sys.argv[1] + "/traced/tasks.trt")
f.readline()
head = json.loads(f.readline())
column = lambda: struct.unpack("<%dq" % head["tasks"], f.read(8 * head["tasks"]))
submit, _, start = column(), column(), column()
stamps = sorted(head["begin_ns"] + a + b for a, b in zip(submit, start))
execs = sorted(float(x) * 1e9 for x in open(sys.argv[1] + "/execs"))
off = sorted(a - b for a, b in zip(stamps, execs))
print("%.1f %.1f %.1f %d" % (off[len(off) // 2] / 1e3, off[0] / 1e3, off[len(off) * 9 // 10] / 1e3, len(execs)))
P
    )
    set -- $trace
    row taskrate "start stamp, later than perf's event of the exec by (median)" "$1" us '<=20' "least $2, p90 $3, of $4 tasks"
else
    missing taskrate "start stamp against perf's event of the exec" "perf may not be used here"
fi
tr_python=$cache/venv-taskrate/bin/python
if [ -x "$tr_python" ] && "$tr_python" -c 'import parsl, distributed' 2>/dev/null; then
    seconds=20; [ -z "${BENCH_QUICK:-}" ] || seconds=3
    printf 'from parsl.config import Config\nfrom parsl.executors import ThreadPoolExecutor\nconfig = Config(executors=[ThreadPoolExecutor(max_threads=%s)])\n' "$cpus" >"$work/threads.py"
    printf 'from parsl.config import Config\nfrom parsl.executors import HighThroughputExecutor\nfrom parsl.providers import LocalProvider\ndef fresh_config():\n    return Config(executors=[HighThroughputExecutor(max_workers_per_node=%s, address="127.0.0.1", encrypted=False, provider=LocalProvider(init_blocks=1, max_blocks=1))])\n' "$cpus" >"$work/htex.py"
    parsl_rate() { (cd "$work" && PATH=${tr_python%/*}:$PATH timeout 200 "${tr_python%/*}/parsl-perf" --config "$1" --time $seconds 2>/dev/null | sed -n 's/^Tasks per second: //p' | tail -n 1); }
    cat >"$work/dask_rate.py" <<'P'
import subprocess, sys, time
from distributed import Client, LocalCluster
if __name__ == "__main__":
    at_once, n = int(sys.argv[1]), int(sys.argv[2])
    with LocalCluster(n_workers=at_once, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        def rate(f):
            client.gather(client.map(f, range(100), pure=False))
            t = time.monotonic()
            client.gather(client.map(f, range(n), pure=False))
            return n / (time.monotonic() - t)
        print("%.1f %.1f" % (rate(lambda i: 7), rate(lambda i: subprocess.run(["/bin/true"]).returncode)))
P
    dask=$(cd "$work" && timeout 200 "$tr_python" dask_rate.py "$cpus" "$tr_n" 2>/dev/null)
    set -- ${dask:-0 0}
    mine=$(ours --payload true)
    threads=$(parsl_rate "$work/threads.py") htex=$(parsl_rate "$work/htex.py")
    row taskrate "local with /bin/true, as often Dask that starts /bin/true" "$(awk -v a="$mine" -v b="$2" 'BEGIN {printf "%.4g", (b > 0 ? a / b : 0)}')" times '>=1' \
        "tasks/s: ours $(calc "$mine"), Dask $2 starting a process and $1 calling a function, parsl-perf ${threads:-none} with threads and ${htex:-none} with htex (function calls)"
else
    missing taskrate "parsl-perf and Dask" "no environment with them: python3 -m venv $cache/venv-taskrate && $cache/venv-taskrate/bin/pip install parsl distributed"
fi
if has slurmctld || [ -x /usr/sbin/slurmctld ]; then
    (
        WORK=$work; tap_exit() { :; }
        . "$top/tests/lib/slurm.sh"
        slurm_start 2 || { echo "- $slurm_why"; exit; }
        n=100; [ -z "${BENCH_QUICK:-}" ] || n=30
        by_hand() {
            local before; : >"$work/records"
            before=$(date +%s%N)
            printf '#!/bin/sh\nexec %s f0,@SLURM_ARRAY_TASK_ID+0,0,%s\n' "$stub" "$work/records" | sbatch --parsable -o /dev/null -e /dev/null -n1 --array=0-$((n - 1)) >/dev/null
            for _ in $(seq 600); do [ "$(stat -c %s "$work/records")" -ge $((n * 112)) ] && break; sleep 0.1; done
            while [ -n "$(squeue -h)" ]; do sleep 0.1; done
            python3 -c 'import struct, sys
r = open(sys.argv[1], "rb").read()
last = max(struct.unpack_from("<IIQqqqq", r, i)[6] for i in range(0, len(r), 112))
print(len(r) // 112 / ((last - int(sys.argv[2])) / 1e9))' "$work/records" "$before"
        }
        mine() { "$tr" slurm-array -n $n -r 1 --warmup 0 --chain 0 --no-floor --json 2>/dev/null | jq '.configurations[0].batches[0].throughput_per_s'; }
        by_hand >/dev/null
        for i in $(seq "$(rounds 7)"); do
            if [ $((i % 2)) = 0 ]; then a=$(mine); b=$(by_hand); else b=$(by_hand); a=$(mine); fi
            echo "$a $b"
        done >"$work/arrays"
        slurm_stop
        set -- $(awk '{print $1 / $2}' "$work/arrays" | middle) $(cut -d' ' -f1 "$work/arrays" | middle) $(cut -d' ' -f2 "$work/arrays" | middle) $n
        echo "$@"
    ) >"$work/slurm-row" 2>/dev/null
    set -- $(cat "$work/slurm-row")
    if [ "${1:--}" != - ]; then
        row taskrate "slurm-array, share of the same array submitted by hand" "$(calc "100*$1")" percent '>=95' "tasks/s of $4 tasks, medians of turns: ours $(calc "$2"), by hand $(calc "$3")"
    else
        missing taskrate "slurm-array against the same by hand" "$(cat "$work/slurm-row")"
    fi
else
    missing taskrate "slurm-array against the same by hand" "no Slurm"
fi
