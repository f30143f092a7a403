#!/bin/bash
# t0321: real benchmarks from packages, run for a second each: what is recorded is what the same output says to an independent reader.
# sanitizer: long, because the measured programs are not ours
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
PY=${PYTHON:-python3}

# need PROGRAM: is it here? CI must have all of them.
need()
{
    command -v "$1" >/dev/null 2>&1 && return 0
    if [ -n "${CI:-}" ]; then tap_fail "$1 is here" "the package that brings $1 is not installed"; else skip "$1" "not installed"; fi
    return 1
}

# value TREE METRIC: the last value of a metric of the only run in the tree
value() { cut -d' ' -f2 "$1"/mlruns/*/*/metrics/"$2" 2>/dev/null | tail -n 1; }
param() { cat "$1"/mlruns/*/*/params/"$2" 2>/dev/null; }
tag() { cat "$1"/mlruns/*/*/tags/"$2" 2>/dev/null; }

# same NAME GOT WANTED: equal to 9 digits
same() { is "$1" "$("$PY" -c 'import sys; a, b = sys.argv[1:]; print("equal" if a and b and abs(float(a) - float(b)) <= 1e-9 * abs(float(b)) else f"{a} is not {b}")' "$2" "$3" 2>&1)" equal; }

if need iperf3; then
    port=$((20000 + $$ % 20000))
    iperf3 -s -B 127.0.0.1 -p $port >server.log 2>&1 &
    server=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do grep -q listening server.log && break; sleep 0.1; done
    "$BENCHWRAP" -t json/mlruns -- iperf3 -c 127.0.0.1 -p $port -t 1 -J >iperf.json 2>json.err
    look() { "$PY" -c 'import json,sys; d = json.load(open("iperf.json"))["end"]; print(repr(d[sys.argv[1]][sys.argv[2]]))' "$@"; }
    is "iperf3: the verdict" "$(tag json benchwrap.verdict)" pass
    same "iperf3: received" "$(value json receiver.bw_bit_per_s)" "$(look sum_received bits_per_second)"
    same "iperf3: sent" "$(value json sender.bw_bit_per_s)" "$(look sum_sent bits_per_second)"
    is "iperf3: a param of its output" "$(param json protocol)" TCP
    "$BENCHWRAP" -t text/mlruns -- iperf3 -c 127.0.0.1 -p $port -t 1 -P 2 -f m >iperf.text 2>text.err
    same "iperf3: the sum of two streams" "$(value text sender.bw_bit_per_s)" "$(awk '/^\[SUM\].*sender/ { print $6 * 1e6 }' iperf.text)"
    kill $server
    wait $server 2>/dev/null
    "$BENCHWRAP" -t refused/mlruns -- iperf3 -c 127.0.0.1 -p $port -t 1 -J >refused.json 2>refused.err
    is "iperf3: nobody listens: a failed run, whatever its exit status" "$(tag refused benchwrap.verdict)" fail
    is "and no throughput" "$(value refused receiver.bw_bit_per_s)" ""
fi

if need sysbench; then
    "$BENCHWRAP" -t cpu/mlruns -- sysbench cpu --time=1 --threads=2 run >cpu.text 2>cpu.err
    is "sysbench: the verdict" "$(tag cpu benchwrap.verdict)" pass
    same "sysbench: events per second" "$(value cpu events_op_per_s)" "$(awk -F: '/events per second/ { print $2 + 0 }' cpu.text)"
    same "sysbench: 95th percentile" "$(value cpu latency_ms.p95)" "$(awk -F: '/95th percentile/ { print $2 + 0 }' cpu.text)"
    is "sysbench: the test is an argument" "$(param cpu test)" cpu
    "$BENCHWRAP" -t memory/mlruns -- sysbench memory --memory-block-size=64K --time=1 run >memory.text 2>memory.err
    same "sysbench: memory" "$(value memory memory.bw_MiB_per_s)" "$(sed -n 's|.*(\([0-9.]*\) MiB/sec).*|\1|p' memory.text)"
    is "sysbench: a size" "$(param memory memory.block_size_B)" 65536
fi

if need stress-ng; then
    "$BENCHWRAP" -t stress/mlruns -- stress-ng --cpu 1 --switch 1 -t 1 --metrics-brief --yaml stress.yaml >stress.out 2>stress.err
    is "stress-ng: the verdict" "$(tag stress benchwrap.verdict)" pass
    for s in cpu switch; do
        near=$(awk -v s="$s" '$3 == s && $1 == "-" { on = 1 } $1 == "-" && $3 != s { on = 0 } on && /bogo-ops-per-second-real-time/ { print $2 }' stress.yaml)
        is "stress-ng: $s as in the YAML" "$("$PY" -c 'import sys; print(abs(float(sys.argv[1]) - float(sys.argv[2])) <= 0.00501)' "$(value stress "$s.bogo_op_per_s")" "$near" 2>&1)" True
    done
fi

if need hyperfine; then
    "$BENCHWRAP" -t hyper/mlruns -- hyperfine -N --runs 5 --export-json hyper.json 'sleep 0.01' >hyper.out 2>hyper.err
    look() { "$PY" -c 'import json,sys; print(repr(json.load(open("hyper.json"))["results"][0][sys.argv[1]]))' "$@"; }
    is "hyperfine: the verdict" "$(tag hyper benchwrap.verdict)" pass
    for s in mean median min max; do same "hyperfine: $s" "$(value hyper time_s.$s)" "$(look $s)"; done
    same "hyperfine: sd" "$(value hyper time_s.sd)" "$(look stddev)"
    "$BENCHWRAP" -t ignore/mlruns -- hyperfine -N -i --runs 2 --export-json ignore.json false >ignore.out 2>ignore.err
    is "hyperfine: commands that fail under -i" "$(tag ignore benchwrap.verdict)" fail
fi

if need fio; then
    "$BENCHWRAP" -t fio/mlruns -- fio --name=x --rw=write --bs=64k --size=4M --filename=f --output-format=json >fio.json 2>fio.err
    same "fio: write" "$(value fio write.iops_op_per_s)" "$("$PY" -c 'import json; print(repr(json.load(open("fio.json"))["jobs"][0]["write"]["iops"]))')"
fi
done_testing
