# shellcheck shell=sh
# vllm.sh: vLLM's own bench client, as a peer of llmload; sourced after venv.sh. Its package asks for gigabytes that a client has no use for, so its wheel
# is kept in $CACHE with nothing but the client in it, and run by vllm-bench.py.

# vllm_ready: sets $vllm_python and $vllm_files. Status 1 and the reason in $vllm_why where it cannot be had.
vllm_ready()
{
    vllm_files=$CACHE/vllm-0.32.0
    vllm_python=$(venv_python vllm-client 900 aiohttp==3.14.5 numpy==2.4.6 tqdm==4.70.1 regex==2026.11.15) || { vllm_why=$vllm_python; return 1; }
    [ ! -d "$vllm_files" ] || return 0
    vllm_new=$(mktemp -d "$CACHE/vllm.XXXXXX") || { vllm_why="no folder in $CACHE"; return 1; }
    if venv_pip 900 "$vllm_python" download -q --no-deps -d "$vllm_new" vllm==0.32.0 >"$vllm_new/log" 2>&1 &&
        "$vllm_python" -c 'import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
z.extractall(sys.argv[2], [n for n in z.namelist() if n.startswith("vllm/benchmarks/")])' "$vllm_new"/*.whl "$vllm_new" &&
        rm "$vllm_new"/*.whl && mv -T "$vllm_new" "$vllm_files" 2>/dev/null; then
        return 0
    fi
    vllm_why="vLLM's wheel could not be had: $(tail -n 1 "$vllm_new/log" 2>/dev/null)"
    rm -rf "$vllm_new"
    [ -d "$vllm_files" ] # another test was faster
}

# vllm_bench URL RESULT OPTIONS…: one run of `vllm bench serve` over chat completions
vllm_bench()
{
    vllm_url=$1 vllm_result=$2
    shift 2
    "$vllm_python" "$TESTLIB/vllm-bench.py" "$vllm_files" --backend openai-chat --base-url "$vllm_url" --endpoint /v1/chat/completions --model fake \
        --percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,90,99 --disable-tqdm --save-result --result-filename "$vllm_result" "$@"
}
