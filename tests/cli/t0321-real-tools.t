#!/bin/bash
# t0321: real benchmarks from packages, run briefly: what is recorded is what the same output says to an independent reader.
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
    port=$(free_port)
    iperf3 -s -B 127.0.0.1 -p $port >server.log 2>&1 &
    server=$!
    wait_until 'grep "$(printf :%04X $port) 00000000:0000 0A" /proc/net/tcp' # its words come late
    "$BENCHWRAP" -t json/mlruns -- iperf3 -c 127.0.0.1 -p $port -t 1 -b 20M -J >iperf.json 2>json.err
    look() { "$PY" -c 'import json,sys; d = json.load(open("iperf.json"))["end"]; print(repr(d[sys.argv[1]][sys.argv[2]]))' "$@"; }
    is "iperf3: the verdict" "$(tag json benchwrap.verdict)" pass
    same "iperf3: received" "$(value json receiver.bw_bit_per_s)" "$(look sum_received bits_per_second)"
    same "iperf3: sent" "$(value json sender.bw_bit_per_s)" "$(look sum_sent bits_per_second)"
    is "iperf3: a param of its output" "$(param json protocol)" TCP
    "$BENCHWRAP" -t text/mlruns -- iperf3 -c 127.0.0.1 -p $port -t 1 -b 20M -P 2 -f m >iperf.text 2>text.err
    same "iperf3: the sum of two streams" "$(value text sender.bw_bit_per_s)" "$(awk '/^\[SUM\].*sender/ { print $6 * 1e6 }' iperf.text)"
    kill $server
    wait $server 2>/dev/null
    "$BENCHWRAP" -t refused/mlruns -- iperf3 -c 127.0.0.1 -p $port -t 1 -J >refused.json 2>refused.err
    is "iperf3: nobody listens: a failed run, whatever its exit status" "$(tag refused benchwrap.verdict)" fail
    is "and no throughput" "$(value refused receiver.bw_bit_per_s)" ""
fi

if need sysbench; then
    "$BENCHWRAP" -t cpu/mlruns -- sysbench cpu --time=0 --events=200 --threads=2 run >cpu.text 2>cpu.err
    is "sysbench: the verdict" "$(tag cpu benchwrap.verdict)" pass
    same "sysbench: events per second" "$(value cpu events_op_per_s)" "$(awk -F: '/events per second/ { print $2 + 0 }' cpu.text)"
    same "sysbench: 95th percentile" "$(value cpu latency_ms.p95)" "$(awk -F: '/95th percentile/ { print $2 + 0 }' cpu.text)"
    is "sysbench: the test is an argument" "$(param cpu test)" cpu
    "$BENCHWRAP" -t memory/mlruns -- sysbench memory --memory-block-size=64K --memory-total-size=256M run >memory.text 2>memory.err
    same "sysbench: memory" "$(value memory memory.bw_MiB_per_s)" "$(sed -n 's|.*(\([0-9.]*\) MiB/sec).*|\1|p' memory.text)"
    is "sysbench: a size" "$(param memory memory.block_size_B)" 65536
fi

if need stress-ng; then
    "$BENCHWRAP" -t stress/mlruns -- stress-ng --cpu 1 --cpu-ops 20 --switch 1 --switch-ops 20000 --metrics-brief --yaml stress.yaml >stress.out 2>stress.err
    is "stress-ng: the verdict" "$(tag stress benchwrap.verdict)" pass
    for s in cpu switch; do
        near=$(awk -v s="$s" '$3 == s && $1 == "-" { on = 1 } $1 == "-" && $3 != s { on = 0 } on && /bogo-ops-per-second-real-time/ { print $2 }' stress.yaml)
        is "stress-ng: $s as in the YAML" "$("$PY" -c 'import sys; print(abs(float(sys.argv[1]) - float(sys.argv[2])) <= 0.00501)' "$(value stress "$s.bogo_op_per_s")" "$near" 2>&1)" True
    done
fi

if need hyperfine; then
    "$BENCHWRAP" -t hyper/mlruns -- hyperfine -N --runs 5 --export-json hyper.json 'sleep 0.01' >hyper.out 2>hyper.err
    # 1.x has the statistics in the result, 2.x in its summary.
    look() { "$PY" -c 'import json,sys; r = json.load(open("hyper.json"))["results"][0]; print(repr(r.get("summary", {}).get("time_wall_clock", r)[sys.argv[1]]))' "$@"; }
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

if long_tests && need openssl; then
    "$BENCHWRAP" -t speed/mlruns -- openssl speed -seconds 1 -bytes 1024 -evp sha256 >speed.text 2>speed.err
    is "openssl speed: the verdict" "$(tag speed benchwrap.verdict)" pass
    same "openssl speed: SHA-256" "$(value speed sha256.b1024.bw_MB_per_s)" "$(awk '/^sha256 / { printf "%.8f\n", $2 / 1000 }' speed.text)"
fi

if long_tests; then
    port=$(free_port) port2=$(free_port)
    printf 'daemon off; pid %s/nginx.pid; error_log %s/nginx.log;\nevents {}\nhttp { access_log off; server { listen 127.0.0.1:%s; location / { return 200 hello; } location /500 { return 500; } } }\n' \
        "$WORK" "$WORK" "$port" >nginx.conf
    nginx -c "$WORK/nginx.conf" -p "$WORK" 2>nginx.err &
    server=$!
    wait_until 'curl -sf "http://127.0.0.1:$port/" >/dev/null'
    if need wrk; then
        "$BENCHWRAP" -t wrk/mlruns -- wrk -t1 -c2 -d1s --latency "http://127.0.0.1:$port/" >wrk.text 2>wrk.err
        is "wrk: the verdict" "$(tag wrk benchwrap.verdict)" pass
        same "wrk: requests" "$(value wrk requests_op_per_s)" "$(awk '/^Requests\/sec/ { print $2 }' wrk.text)"
        "$BENCHWRAP" -t wrk500/mlruns -- wrk -t1 -c2 -d1s "http://127.0.0.1:$port/500" >wrk.text 2>wrk.err
        is "wrk: pages of errors are no result" "$(tag wrk500 benchwrap.verdict)" fail
    fi
    if need ab; then
        "$BENCHWRAP" -t ab/mlruns -- ab -q -n 300 -c 2 "http://127.0.0.1:$port/index.html" >ab.text 2>ab.err
        is "ab: the verdict" "$(tag ab benchwrap.verdict)" pass
        same "ab: requests" "$(value ab requests_op_per_s)" "$(awk '/^Requests per second/ { print $4 }' ab.text)"
    fi
    kill $server
    wait $server 2>/dev/null
    if need redis-benchmark && need redis-server; then
        redis-server --port "$port2" --save '' --dir "$WORK" >redis.log 2>&1 &
        server=$!
        wait_until 'redis-cli -p "$port2" ping 2>/dev/null | grep -q PONG'
        "$BENCHWRAP" -t redis/mlruns -- redis-benchmark -p "$port2" -n 2000 -t set,get --csv >redis.text 2>redis.err
        is "redis-benchmark: the verdict" "$(tag redis benchwrap.verdict)" pass
        same "redis-benchmark: GET" "$(value redis get.requests_op_per_s)" "$(awk -F'"' '$2 == "GET" { print $4 }' redis.text)"
        same "redis-benchmark: 99th percentile of SET" "$(value redis set.latency_ms.p99)" "$(awk -F'"' '$2 == "SET" { print $14 }' redis.text)"
        kill $server
        wait $server 2>/dev/null
    fi
fi
done_testing
