# shellcheck shell=bash
# ui.sh: part of run: how soon `benchwrap ui` has a tree's runs in MLflow's database, beside MLflow's own reader of a tree. Sourced; uses its functions and variables.

if wanted ui; then
    if [ -z "$python" ]; then
        missing ui "runs of a tree in MLflow's database" "no environment with mlflow (scripts/test makes one)"
    else
        mkdir "$work/ui" && cd "$work/ui" || exit 2
        runs=300 turns=3; [ -z "${BENCH_QUICK:-}" ] || runs=20 turns=1
        for i in $(seq "$runs"); do "$BW" -e bench -p "i=$i" -- sh -c 'echo "speed: 12.5 MB/s"' >/dev/null || exit 1; done
        port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
        : >ours; : >peer; : >begin
        for _ in $(seq "$turns"); do # in turns; every pass begins without a database, and with the files in the page cache
            rm -rf .benchwrap/ui m.db
            find mlruns -type f -print0 | xargs -0 cat >/dev/null
            PATH=${python%/*}:$PATH python3 "$top/tests/bench/ui_import.py" "$BW" "$port" "$runs" >>ours || exit 1
            t=$("$M" time -n 1 -w 0 -- "${python%/*}/mlflow" migrate-filestore --source . --target "sqlite:///$PWD/m.db" --no-progress 2>/dev/null) || exit 1
            first "$t" >>peer
            t=$("$M" time -n 1 -w 0 -- "${python%/*}/mlflow" migrate-filestore --help) && first "$t" >>begin
        done
        column_median() { cut -d ' ' -f "$2" "$1" | sort -g | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
        theirs=$(calc "($(column_median peer 1)-$(column_median begin 1))/1e3")
        row ui "the newest $((runs < 100 ? runs : 100)) of $runs runs are in the database of ui, after its link" "$(column_median ours 1)" s '<=5' "median of $turns"
        row ui "all of them, as often as fast as mlflow migrate-filestore" "$(calc "$theirs/$(column_median ours 2)")" times '>=1' \
            "s, medians of $turns: ours $(column_median ours 2), migrate-filestore $theirs and $(calc "$(column_median begin 1)/1e3") for its start; $(find mlruns -type f | wc -l) files"
        cd "$work" || exit 2
    fi
fi
