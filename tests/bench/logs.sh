# shellcheck shell=bash
# logs.sh: part of run: lines/s of ship-logs and of the merging of a campaign's streams. Sourced; uses its functions and variables.
if wanted logs; then
    mkdir logs && cd logs || exit 1
    n=1000000; [ -z "${BENCH_QUICK:-}" ] || n=100000
    seq "$n" | awk '{ printf "[2025-09-08T21:11:%02d.%03d] debug:  sched/backfill: _attempt_backfill: line %d of a test\n", $1 / 1000 % 60, $1 % 1000, $1 }' >slurmctld.log
    # user and system seconds, peak memory in KB
    used() { local t; t=$({ command time -f '%U %S %M %e' "$@" >/dev/null; } 2>&1 | tail -n 1); echo "$t"; }
    if has time; then
        ours=$(used "$BW" ship-logs --once --state s1 --out out.jsonl "$PWD/slurmctld.log")
        cpu=$(calc "$n/($(set -- $ours; echo "$1+$2")+0.001)")
        lost=$((n - $(wc -l <out.jsonl)))
        peers=()
        # shellcheck disable=SC2086 # words
        note_peer() { set -- "$1" $2; [ $# -lt 4 ] || peers+=("$1 $(calc "$n/($2+$3+0.001)") lines per CPU second, $(calc "$4/1e3") MB"); }
        if has rsyslogd; then
            printf 'module(load="imfile")\nglobal(workDirectory="%s")\ntemplate(name="j" type="list") { property(outname="m" name="msg" format="jsonf") constant(value="\\n") }\ninput(type="imfile" File="%s" Tag="t" PersistStateInterval="1000")\naction(type="omfile" file="%s" template="j")\n' "$PWD" "$PWD/slurmctld.log" "$PWD/rsyslog.out" >rsyslog.conf
            # it ends when all is written; CPU seconds from its own accounting
            command time -o rsyslog.time -f '%U %S %M' rsyslogd -n -f "$PWD/rsyslog.conf" -i "$PWD/rsyslog.pid" 2>/dev/null & wait_for=$!
            for _ in $(seq 600); do [ -e rsyslog.out ] && [ "$(wc -l <rsyslog.out)" -ge "$n" ] && break; sleep 0.1; done
            kill "$(cat rsyslog.pid 2>/dev/null)" 2>/dev/null; wait $wait_for 2>/dev/null
            note_peer rsyslog "$(tail -n 1 rsyslog.time)"
        fi
        if has fluent-bit; then # with stored positions and the path in each record, as ship-logs
            printf '[SERVICE]\n flush 0.2\n[INPUT]\n name tail\n path %s\n path_key FilePath\n read_from_head true\n exit_on_eof true\n db %s\n[OUTPUT]\n name file\n match *\n format plain\n file %s\n' "$PWD/slurmctld.log" "$PWD/fluent.db" "$PWD/fluent.out" >fluent.conf
            r=$(used timeout 120 fluent-bit -q -c fluent.conf)
            [ "$(wc -l <fluent.out)" = "$n" ] && note_peer fluent-bit "$r"
        fi
        peer=$(IFS=';'; echo "${peers[*]:-no peer is installed (rsyslogd, fluent-bit)}")
        row logs "ship-logs: lines per CPU second" "$cpu" lines/s '>=200000' "$peer; wall $(set -- $ours; echo "$4") s for $n lines, lost $lost"
        row logs "its peak memory" "$(calc "$(set -- $ours; echo "$3")/1e3")" MB '<=20' "-"
    else
        missing logs "ship-logs" "time(1) is missing"
    fi
    mkdir -p c/.benchwrap/campaigns/x/logs
    for i in 0 1 2 3; do awk -v i="$i" 'NR % 4 == i' slurmctld.log >"c/.benchwrap/campaigns/x/logs/server.$i.n$i.out"; done
    if [ -x "$O/tests/bench/logs_merge" ]; then
        m=$("$O/tests/bench/logs_merge" c/.benchwrap/campaigns/x/logs)
        row logs "a campaign's logs: lines merged per CPU second" "$(calc "$n/$(set -- $m; echo "$1")")" lines/s '>=100000' "4 streams into stdout.log and aggregated.jsonl, lost $((n - $(wc -l <c/.benchwrap/campaigns/x/logs/aggregated.jsonl))), memory $(calc "$(set -- $m; echo "$2")/1e3") MB"
    fi
    cd "$work" || exit 2
fi
