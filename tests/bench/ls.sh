# shellcheck shell=bash
# ls.sh: part of run: listing and comparing the runs of a tree on disk. Sourced; uses its functions and variables.

# A tree of N runs, copies of one with files of their own; of 100,000 the files are shared by links (ten million would not fit), and the rows say so.
many_copies() # N
{
    "$BW" -- sh -c 'echo a line' >/dev/null || return 1
    python3 - "$(ls -d mlruns/[1-9]*/*/meta.yaml)" "$1" <<'P'
import os, shutil, sys
run, count = os.path.dirname(sys.argv[1]), int(sys.argv[2])
old, base, first = os.path.basename(run), os.path.dirname(run), run
with open(run + "/meta.yaml") as f: meta = f.read()
dirs = [os.path.relpath(p, run) for p, _, _ in os.walk(run)][1:]
files = [os.path.relpath(p + "/" + n, run) for p, _, names in os.walk(run) for n in names if n != "meta.yaml"]
for i in range(1, count):
    id = f"{i * 2654435761 % 2**32:08x}{i:024x}"
    to = f"{base}/{id}"
    for d in [""] + dirs: os.mkdir(f"{to}/{d}")
    for f in files:
        if count > 10000 and i % 50000: os.link(f"{run}/{f}", f"{to}/{f}")
        else: shutil.copy(f"{run}/{f}", f"{to}/{f}") # a file has 65,000 names at most
    if i % 50000 == 0: run = to
    with open(to + "/meta.yaml", "w") as f: f.write(meta.replace(old, id))
P
}

# The same query by other programs, each once: "0.021 s". Empty where it is not installed or does not find all runs.
query_peer() # PYTHON METHOD PLACE RUNS
{
    local got
    got=$("$1" "$top/tests/bench/query_peers.py" "$2" "$3" 2>/dev/null) && [ "${got#* }" = "$4" ] && echo "${got% *} s" || echo "not measured"
}

# Ten more runs: copies of the newest.
ten_more()
{
    python3 - <<'P'
import glob, os, shutil
run = os.path.dirname(max(glob.glob("mlruns/[1-9]*/*/meta.yaml")))
with open(run + "/meta.yaml") as f: meta = f.read()
for i in range(10):
    id = f"{i:032x}"
    to = os.path.join(os.path.dirname(run), id)
    shutil.copytree(run, to)
    with open(to + "/meta.yaml", "w") as f: f.write(meta.replace(os.path.basename(run), id))
P
}

if wanted ls; then
    duckdb=python3; for p in "$cache"/*/bin/python; do "$p" -c 'import duckdb' 2>/dev/null && { duckdb=$p; break; }; done
    for many in 1000 10000 ${BENCH_BIG:+100000}; do
        [ -z "${BENCH_QUICK:-}" ] || many=300
        bar="<=$([ "$many" = 100000 ] && echo 2 || echo 0.3)"
        mkdir "ls$many" && cd "ls$many" && many_copies "$many" || exit 1
        query="metrics.run.wall_s < 1000 AND metrics.run.max_rss_MiB > 0.001 AND params.cpu.cores LIKE '%'"
        t=$("$M" time -n "$(rounds 7)" -w 2 -- "$BW" ls --- "$BW" ls --all --- "$BW" ls --all --json --- "$BW" compare last~1 last --- "$BW" compare last --history --- \
            sh -c 'find mlruns -mindepth 3 -maxdepth 3 -name meta.yaml -print0 | xargs -0 cat' --- find mlruns -mindepth 3 -maxdepth 3 -name meta.yaml --- \
            "$BW" ls --filter "$query" 2> >(grep -v 'shows all of them' >&2)) || exit 1
        mapfile -t r <<<"$t"
        t=$(BENCHWRAP_NO_INDEX=1 "$M" time -n "$(rounds 5)" -w 1 -- "$BW" ls --filter "$query" 2> >(grep -v 'shows all of them' >&2)) || exit 1
        peers="without the index $(calc "$(first "$t")/1e3") s"
        if [ -n "$python" ]; then
            [ "$many" -gt 1000 ] || peers+=", MLflow's client on the file store $(query_peer "$python" client "file:$PWD/mlruns" "$many")"
            "$BW" export --all --format parquet -o peers.parquet && peers+=", pandas of an export $(query_peer "$python" pandas peers.parquet "$many"), DuckDB $(query_peer "$duckdb" duckdb peers.parquet "$many")"
            [ "$many" -gt 1000 ] || { PATH=$(dirname "$python"):$PATH "$BW" export --mlflow-db peers.db >/dev/null 2>&1 && peers+=", the client on SQLite $(query_peer "$python" client "sqlite:///$PWD/peers.db" "$many")"; }
            rm -f peers.*
        fi
        row ls "ls --filter, two metrics and a param, over $many runs, warm" "$(calc "$(first "${r[7]}")/1e3")" s "$bar" "$peers"
        links=; [ "$many" -le 10000 ] || links=" (hard links)"
        peers="s: cat of every meta.yaml $(calc "$(first "${r[5]}")/1e3"), find $(calc "$(first "${r[6]}")/1e3")"
        row ls "ls over $many runs$links, warm" "$(calc "$(first "${r[0]}")/1e3")" s "$bar" "$peers"
        row ls "  as often cat of every meta.yaml" "$(calc "$(first "${r[0]}")/$(first "${r[5]}")")" times '<=0.1' "compare: $(calc "$(first "${r[3]}")/$(first "${r[5]}")")"
        row ls "ls --all over $many runs$links, warm" "$(calc "$(first "${r[1]}")/1e3")" s "$bar" "s: --json $(calc "$(first "${r[2]}")/1e3")"
        row ls "compare of two runs of $many$links, warm" "$(calc "$(first "${r[3]}")/1e3")" s "$bar" "s: one with its history $(calc "$(first "${r[4]}")/1e3")"
        if [ "$many" = 10000 ] || [ -n "${BENCH_QUICK:-}" ]; then
            mcp_calls "list {}" 'query {"filter":"metrics.run.wall_s < 1000"}' "compare_history {}" || exit 1
            row ls "an agent's call over $many runs, warm: list" "${calls[0]}" s "<=0.2" "s: query ${calls[1]}, compare_history ${calls[2]}"
        fi
        # pages: at first, and after ten more runs; the same of an export
        t=$("$M" time -n 1 -- "$BW" pages -o pages --rebuild) || exit 1
        mapfile -t r <<<"$t"
        row ls "pages of $many runs$links" "$(calc "$(first "${r[0]}")/1e3")" s "$([ "$many" = 10000 ] && echo '<=20' || echo -)" "start page $(wc -c <pages/index.html) bytes (bar 300,000)"
        if load=$(python3 "$top/tests/bench/page_load.py" pages/index.html "$(rounds 5)" 2>/dev/null); then
            row ls "start page of $many runs$links in Chromium, until it is loaded" "$(calc "${load% *}/1e3")" s '<=1' "${load#* } rows of tables"
        else
            missing ls "start page of $many runs$links in Chromium" "no Chromium"
        fi
        ten_more || exit 1
        t=$("$M" time -n 1 -- "$BW" pages -o pages --- "$BW" export --format parquet -o runs.parquet --- "$BW" grep line) || exit 1
        mapfile -t r <<<"$t"
        row ls "pages of $many runs$links after ten new ones" "$(calc "$(first "${r[0]}")/1e3")" s "$([ "$many" = 100000 ] && echo - || echo '<=1')" "s: grep over all output $(calc "$(first "${r[2]}")/1e3")"
        row ls "export --format parquet of $many runs$links" "$(calc "$many*1e3/$(first "${r[1]}")")" runs/s ">=2000" "-"
        # the index has every value; what remains is one query of the times of each file, which another process may have changed in place
        t=$("$M" time -n "$(rounds 5)" -w 1 -- "$BW" export --format parquet -o runs.parquet) || exit 1
        mapfile -t r <<<"$t"
        least=$("$O/tests/bench/stat_tree" "$(ls -d mlruns/[1-9]*)" "$(nproc)") || exit 1
        row ls "  from a current index" "$(calc "$many*1e3/$(first "${r[0]}")")" runs/s ">=20000" "statx alone of each param, metric and tag, $(nproc) threads, reads nothing: $(calc "$many/${least% *}") runs/s ($(calc "${least% *}*1e6*$(nproc)/${least#* }") us a call)"
        cd "$work" && rm -rf "ls$many"
        [ -z "${BENCH_QUICK:-}" ] || break
    done
fi
