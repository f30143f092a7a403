# shellcheck shell=bash
# export.sh: part of run: what exporters cost a run, how fast they encode, and the memory that a large spool needs. Sourced; uses its functions and variables.
# Lines "TYPE RECORDS PER CPU SECOND" of runs that `exporter send` delivers to a sink, starting included.
encoding_rates()
{
    local runs=20 metrics=1000 type sink port line used
    [ -z "${BENCH_QUICK:-}" ] || runs=2
    mkdir -p encode/benchwrap encode/om
    python3 "$top/tests/bench/export_sink.py" encode/port 2>/dev/null & sink=$!
    for _ in $(seq "$runs"); do
        BENCHWRAP=$BW XDG_CONFIG_HOME=$PWD/none "$BW" -q --finish-wait 60s -t "$PWD/encode/mlruns" -- sh -c "seq $metrics | sed 's/.*/m&_MiB_per_s=&.25/' | xargs \"\$BENCHWRAP\" log" >/dev/null 2>&1
    done
    [ "$(find encode/mlruns -path '*/metrics/m[0-9]*' | wc -l)" = $((runs * metrics)) ] || { echo "export: the runs lack metrics" >&2; kill $sink; return 1; }
    wait_until '[ -s encode/port ]'
    port=$(cat encode/port)
    cat >encode/benchwrap/config.yaml <<C
exporters:
- {type: httpjson, url: 'http://127.0.0.1:$port/', record: metric, metrics: all, array: yes}
- {type: azure, endpoint: 'http://127.0.0.1:$port/', rule: dcr-1, metrics: all, token: {command: [echo, t]}}
- {type: openmetrics, folder: $PWD/encode/om, format: backfill}
- {type: remote-write, url: 'http://127.0.0.1:$port/'}
- {type: otlp, url: 'http://127.0.0.1:$port'}
- {type: influx, url: 'http://127.0.0.1:$port', db: x}
C
    for type in httpjson azure openmetrics remote-write otlp influx; do
        used=$({ XDG_CONFIG_HOME=$PWD/encode command time -f '%U %S' "$BW" exporter send "$type" --since 1d -t "$PWD/encode/mlruns" >encode/out; } 2>&1 | tail -n 1)
        line=$(cat encode/out)
        [ "$line" = "$type: $runs of $runs runs delivered" ] || { echo "$type: $line" >&2; continue; }
        set -- $used
        echo "$type $(calc "$runs*$metrics/($1+$2+0.001)")"
    done
    kill $sink; wait $sink 2>/dev/null
}

if wanted export; then
    mkdir -p export/none export/dead/benchwrap && cd export || exit 2
    printf 'exporters:\n- {type: httpjson, url: "http://127.0.0.1:9/", max-pending: 2000000}\n' >dead/benchwrap/config.yaml
    for kind in none dead; do
        mkdir "t-$kind"
        printf '#!/bin/sh\nXDG_CONFIG_HOME="%s" exec "%s" -t "%s/mlruns" -- true 2>/dev/null\n' "$PWD/$kind" "$BW" "$PWD/t-$kind" >"$kind.sh"; chmod +x "$kind.sh"
    done
    t=$("$M" time -n "$(rounds 60)" -w 3 -- ./none.sh --- ./dead.sh) || exit 1
    mapfile -t r <<<"$t"
    row export "an unreachable exporter, over a run without exporters" "$(calc "$(first "${r[1]}")-$(first "${r[0]}")")" ms '<=2' "medians of $(rounds 60): without $(first "${r[0]}"), with $(first "${r[1]}"); least $(set -- ${r[0]}; echo $2) and $(set -- ${r[1]}; echo $2)"
    if ! has time; then
        missing export "metric records encoded per CPU second" "time(1) is missing"
    else
        rates=$(encoding_rates)
        peer="no prometheus_client"
        for p in "$cache"/venv-prometheus-client-*/bin/python; do
            [ -x "$p" ] && peer="prometheus_client's generate_latest of as many gauges, made before: $("$p" "$top/tests/bench/prometheus_text.py")"
        done
        row export "metric records that the slowest exporter encodes and sends per CPU second" "$(sort -k2g <<<"$rates" | awk 'NR == 1 { print $2 }')" records/s '>=10000' "$(paste -sd, <<<"$rates" | sed 's/,/, /g'); $peer"
    fi
    if [ -n "${BENCH_BIG:-}" ] && [ -x /usr/bin/time ]; then
        folder=t-dead/.benchwrap/export/httpjson
        python3 -c 'import os, sys
folder = sys.argv[1]
first = min(n for n in os.listdir(folder) if n[0] == "1")
text = open(folder + "/" + first).read()
for i in range(1000000):
    with open("%s/%013d-%032x" % (folder, int(first[:13]) - 1000000, i), "w") as f:
        f.write(text)' "$folder"
        kib=$(XDG_CONFIG_HOME=$PWD/dead /usr/bin/time -f %M "$BW" exporter list -t "$PWD/t-dead/mlruns" 2>&1 >/dev/null | tail -n 1)
        pass_kib=$(XDG_CONFIG_HOME=$PWD/dead /usr/bin/time -f %M timeout -s INT 30 "$BW" sync -t "$PWD/t-dead/mlruns" 2>&1 >/dev/null | tail -n 1)
        row export "memory with a million entries in the spool" "$(calc "($kib > $pass_kib ? $kib : $pass_kib)/1024")" MiB '<=64' "exporter list $kib KiB, a pass $pass_kib KiB"
    fi
    cd "$work" || exit 2
fi
