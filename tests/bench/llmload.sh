# shellcheck shell=bash
# llmload.sh: rows of llmload, sourced by run: beside wrk, h2load, hey, oha and vLLM's own bench client, and against llmfake's true send times. CPU per request and per event travel; rates are this hour's.
LOAD=$O/bin/llmload FAKE=$O/bin/llmfake
llm_fake() { # OPTIONS…: sets $url and $fake
    rm -f "$work/llm.address"
    "$FAKE" "$@" >"$work/llm.address" 2>/dev/null &
    fake=$!
    for _ in $(seq 200); do [ -s "$work/llm.address" ] && break; sleep 0.02; done
    url=$(cat "$work/llm.address")
}
llm_gone() { kill "$fake" 2>/dev/null; wait "$fake" 2>/dev/null; }
# Of vLLM's client: only where tests/long/llm-peers.t has fetched it.
TESTLIB=$top/tests/lib vllm_files=$cache/vllm-0.32.0 vllm_python=$cache/venv-vllm-client/bin/python
. "$TESTLIB/vllm.sh"
has_vllm() { [ -d "$vllm_files" ] && [ -e "${vllm_python%/bin/python}/.complete" ]; }
vllm_options() { echo "--num-prompts $2 --max-concurrency $1 --output-len $3"; } # STREAMS REQUESTS TOKENS
vllm_figures() { jq -r '"\(.median_ttft_ms) \(.std_itl_ms) \(.request_throughput)"' "$1"; }
middle() { printf '%s\n' "$@" | sort -g | sed -n "$((($# + 1) / 2))p"; }

t=$("$M" time -n "$(rounds 40)" -w 3 -- "$LOAD" --version --- true) || exit 1
mapfile -t r <<<"$t"
row llmload "start of llmload" "$(as_E "$(first "${r[0]}")")" E '<=2' "ms: $(first "${r[0]}"), least $(set -- ${r[0]}; echo "$2"), true $(first "${r[1]}")"
if has_vllm; then
    start=$("$M" time -n "$(rounds 5)" -- "$vllm_python" "$TESTLIB/vllm-bench.py" "$vllm_files" --help 2>/dev/null) &&
        row llmload "  vLLM's client: its start, as often ours" "$(calc "$(first "$start")/$(first "${r[0]}")")" times '>=1' "$(first "$start") ms, without torch"
fi
. "$TESTLIB/aiperf.sh"
if has_aiperf; then
    start=$("$M" time -n "$(rounds 5)" -- "$aiperf_bin/aiperf" --version 2>/dev/null) &&
        row llmload "  AIPerf: its start, as often ours" "$(calc "$(first "$start")/$(first "${r[0]}")")" times '>=1' "$(first "$start") ms"
fi

llm_fake --threads 2
seconds=$(if [ -n "${BENCH_QUICK:-}" ]; then echo 1; else echo 4; fi)
cat >"$work/post.lua" <<'L'
wrk.method = "POST"
wrk.body = '{"messages":[{"role":"user","content":"Write a short story about a lighthouse."}],"max_tokens":4}'
wrk.headers["Content-Type"] = "application/json"
L
ours=() peer=() cpu=() peer_cpu=()
for _ in 1 2 3 4 5; do
    out=$("$LOAD" --url "$url" -c 64 -d "${seconds}s" --no-stream --max-tokens 4 --threads 2 --json -q) || exit 1
    read -r rate each <<<"$(jq -r '"\(.request_throughput) \(.client.cpu_s * 1e6 / .completed)"' <<<"$out")"
    ours+=("$rate") cpu+=("$each")
    if has wrk; then
        TIMEFORMAT='%U %S'
        used=$({ time wrk -t2 -c64 -d"$seconds" -s "$work/post.lua" "$url/v1/chat/completions" >"$work/wrk"; } 2>&1)
        rate=$(awk '$1 == "Requests/sec:" {print $2}' "$work/wrk") all=$(awk '$2 == "requests" {print $1}' "$work/wrk")
        peer+=("$rate") peer_cpu+=("$(awk -v u="$used" -v n="$all" 'BEGIN{split(u, t, " "); print (t[1] + t[2]) * 1e6 / n}')")
    fi
done
row llmload "requests a second, not streamed, 64 connections, 2 threads" "$(printf '%.0f' "$(middle "${ours[@]}")")" req/s - "us CPU a request $(calc "$(middle "${cpu[@]}")")"
if has wrk; then
    row llmload "the same, share of wrk's rate" "$(calc "100*$(middle "${ours[@]}")/$(middle "${peer[@]}")")" percent '>=100' "wrk $(printf '%.0f' "$(middle "${peer[@]}")") req/s, us CPU a request $(calc "$(middle "${peer_cpu[@]}")")"
    row llmload "CPU of wrk for a request, as often ours" "$(calc "$(middle "${peer_cpu[@]}")/$(middle "${cpu[@]}")")" times '>=1' ""
else missing llmload "share of wrk's rate" "wrk is not installed"; fi
printf '%s' '{"messages":[{"role":"user","content":"Write a short story about a lighthouse."}],"max_tokens":4}' >"$work/post.json"
peer_rate() { # NAME: its requests a second on standard output
    case $1 in
        h2load) h2load --h1 -t2 -c64 -D "$seconds" -d "$work/post.json" -H 'content-type: application/json' "$url/v1/chat/completions" 2>/dev/null | sed -n 's/^finished in .*, \([0-9.]*\) req.*/\1/p' ;;
        hey) hey -z "${seconds}s" -c 64 -m POST -T application/json -D "$work/post.json" "$url/v1/chat/completions" | awk '$1 == "Requests/sec:" {print $2}' ;;
        oha) oha -z "${seconds}s" -c 64 -m POST -T application/json -D "$work/post.json" --no-tui "$url/v1/chat/completions" | awk '$1 == "Requests/sec:" {print $2}' ;;
    esac
}
for name in h2load hey oha; do
    if has "$name"; then
        peer=()
        for _ in 1 2 3; do peer+=("$(peer_rate "$name")"); done
        [ -n "$(middle "${peer[@]}")" ] && row llmload "the same, share of $name's rate" "$(calc "100*$(middle "${ours[@]}")/$(middle "${peer[@]}")")" percent '>=100' "$name $(printf '%.0f' "$(middle "${peer[@]}")") req/s"
    else missing llmload "share of $name's rate" "$name is not installed"; fi
done
ours=() cpu=()
for _ in 1 2 3 4 5; do
    out=$("$LOAD" --url "$url" -c 4 -d "${seconds}s" --max-tokens 1000 --json -q) || exit 1
    read -r rate each <<<"$(jq -r '"\(.output_throughput) \(.client.cpu_us_per_event)"' <<<"$out")"
    ours+=("$rate") cpu+=("$each")
done
row llmload "streamed events a second, 1,000 at once in each answer" "$(printf '%.0f' "$(middle "${ours[@]}")")" events/s '>=12000000' "us CPU an event $(calc "$(middle "${cpu[@]}")")"
if has_vllm; then
    TIMEFORMAT='%U %S'
    used=$({ time vllm_bench "$url" "$work/vllm.json" --num-prompts 200 --max-concurrency 4 --output-len 1000 >/dev/null 2>&1; } 2>&1)
    theirs=$(jq .output_throughput "$work/vllm.json")
    row llmload "  vLLM's client: ours as often its rate" "$(calc "$(middle "${ours[@]}")/$theirs")" times '>=50' "$(printf '%.0f' "$theirs") events/s; us CPU an event $(calc "(${used/ /+})*1e6/200000"), its start counted in"
    vllm_bench "$url" "$work/vllm.json" --num-prompts 2000 --max-concurrency 64 --output-len 1 >/dev/null 2>&1
    one=$("$LOAD" --url "$url" -c 64 -d "${seconds}s" --max-tokens 1 --threads 2 --json -q | jq .request_throughput) &&
        row llmload "streamed answers of one token a second, as often vLLM's" "$(calc "$one/$(jq .request_throughput "$work/vllm.json")")" times '>=1' "ours $(printf '%.0f' "$one"), vLLM's $(printf '%.0f' "$(jq .request_throughput "$work/vllm.json")")"
else missing llmload "vLLM's client" "tests/long/llm-peers.t fetches it"; fi
llm_gone

for n in 100 500 900; do
    out=$("$LOAD" selftest --streams "$n" --itl 10ms --tokens 100 --json) || exit 1
    read -r mean p99 events each ttft true <<<"$(jq -r '.selftest[0] | "\(.itl_error_mean_ms) \(.itl_error_p99_ms) \(.events_per_s) \(.cpu_us_per_event) \(.ttft_median_ms) \(.true_ttft_median_ms)"' <<<"$out")"
    row llmload "error of gaps between tokens, $n streams at 10 ms, mean" "$mean" ms '<=0.002' "at $(printf '%.0f' "$events") events/s, against llmfake's true send times"
    row llmload "  99th percentile" "$p99" ms '<=0.02' ""
    row llmload "  CPU for an event" "$each" us - "its bar is the ratio to the least client's, below"
    row llmload "  median TTFT off by" "$(awk -v a="$ttft" -v b="$true" 'BEGIN{d = a - b; print (d < 0 ? -d : d)}')" ms '<=0.5' "shown $ttft, true $true"
done

each_us() { calc "(${1/ /+})*1e6/$2"; } # "USER SYSTEM" EVENTS
TIMEFORMAT='%U %S'
# The kernel's share of it: the least client that can be, in turns with ours, one loop each. On loopback it holds the sender's work on the acknowledgement.
llm_fake --ttft 100ms --itl 10ms --tail 5ms
for n in 100 500 900; do
    ours=() peer=() # of both the processor time of the whole process, its start included, for each token's event
    for _ in 1 2 3 4 5; do
        peer+=("$(each_us "$({ time "$O/tests/bench/least_stream" "${url##*:}" "$n" 3 100 >/dev/null; } 2>&1)" $((300 * n)))")
        ours+=("$(each_us "$({ time "$LOAD" --url "$url" -c "$n" -n $((3 * n)) --max-tokens 100 --threads 1 --json -q >/dev/null; } 2>&1)" $((300 * n)))")
    done
    row llmload "$n streams: CPU for an event, as often the least client's" "$(calc "$(middle "${ours[@]}")/$(middle "${peer[@]}")")" times '<=1.3' "ours $(calc "$(middle "${ours[@]}")") us, epoll_wait and recv alone, both whole processes, $(calc "$(middle "${peer[@]}")")"
done
llm_gone

# What they say of the same pacing: no role chunk, which vLLM takes for a first token. Errors of TTFT stand in llmload_busy.sh, against the server's log.
llm_fake --ttft 100ms --itl 10ms --role none --threads 2
for n in 100 1000; do
    "$LOAD" --url "$url" -c "$n" -n $((3 * n)) --max-tokens 100 --json -q >"$work/ours.json" || exit 1
    sd=$(calc "$(jq .std_itl_ms "$work/ours.json")") rate=$(calc "$(jq .request_throughput "$work/ours.json")") us=$(calc "$(jq .client.cpu_us_per_event "$work/ours.json")")
    for p in vllm aiperf; do
        has_$p || { missing llmload "$n streams: $p's client" "${p}: see tests/lib/$p.sh"; continue; }
        rm -f "$work/$p.json"
        used=$({ time ${p}_bench "$url" "$work/$p.json" $(${p}_options "$n" $((3 * n)) 100) >"$work/$p.log" 2>&1; } 2>&1)
        read -r _ p_sd p_rate < <(${p}_figures "$work/$p.json") || { missing llmload "$n streams: $p's client" "$(tail -n 1 "$work/$p.log")"; continue; }
        row llmload "  standard deviation of the gaps, as often ours" "$(calc "$p_sd/$sd")" times '>=1' "ours $sd ms, $p's $(calc "$p_sd")"
        row llmload "  requests a second, ours as often" "$(calc "$rate/$p_rate")" times '>=1' "ours $rate, $p's $(calc "$p_rate")"
        row llmload "  CPU for an event, as often ours" "$(calc "$(each_us "$used" $((300 * n)))/$us")" times '>=1' "ours $us us, $p's $(each_us "$used" $((300 * n))), its start counted in"
    done
done
llm_gone

llm_fake --ttft 3s --itl 200ms --tokens 8
few=$("$M" pss -- "$LOAD" --url "$url" -c 200 -n 200 --max-tokens 8 --json -q) && many=$("$M" pss -- "$LOAD" --url "$url" -c 4200 -n 4200 --max-tokens 8 --json -q) &&
    row llmload "memory for a stream" "$(calc "($(first "$many")-$(first "$few"))/4000")" KiB '<=1.5' "PSS with 4,200 streams $(first "$many") KiB, with 200 $(first "$few")"
vllm_streams() { "$M" pss -- "$vllm_python" "$TESTLIB/vllm-bench.py" "$vllm_files" --backend openai-chat --base-url "$url" --endpoint /v1/chat/completions --model fake --disable-tqdm --num-prompts "$1" --max-concurrency "$1" --output-len 8; }
if has_vllm && few=$(vllm_streams 200 2>/dev/null | tail -n 1) && many=$(vllm_streams 1200 2>/dev/null | tail -n 1); then
    row llmload "  of vLLM's client" "$(calc "($(first "$many")-$(first "$few"))/1000")" KiB - "PSS with 1,200 streams $(first "$many") KiB, with 200 $(first "$few")"
fi
llm_gone
. "$top/tests/bench/llmload_busy.sh"
