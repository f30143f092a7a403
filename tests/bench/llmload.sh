# shellcheck shell=bash
# llmload.sh: rows of llmload, sourced by run: beside wrk, and against llmfake's true send times. CPU per request and per event travel; rates are this hour's.
LOAD=$O/bin/llmload FAKE=$O/bin/llmfake
llm_fake() { # OPTIONS…: sets $url and $fake
    rm -f "$work/llm.address"
    "$FAKE" "$@" >"$work/llm.address" 2>/dev/null &
    fake=$!
    for _ in $(seq 200); do [ -s "$work/llm.address" ] && break; sleep 0.02; done
    url=$(cat "$work/llm.address")
}
llm_gone() { kill "$fake" 2>/dev/null; wait "$fake" 2>/dev/null; }
middle() { printf '%s\n' "$@" | sort -g | sed -n "$((($# + 1) / 2))p"; }

t=$("$M" time -n "$(rounds 40)" -w 3 -- "$LOAD" --version --- true) || exit 1
mapfile -t r <<<"$t"
row llmload "start of llmload" "$(first "${r[0]}")" ms '<=5' "true $(first "${r[1]}"), least $(set -- ${r[0]}; echo "$2")"

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
row llmload "requests a second, not streamed, 64 connections, 2 threads" "$(printf '%.0f' "$(middle "${ours[@]}")")" req/s '>=150000' "us CPU a request $(calc "$(middle "${cpu[@]}")")"
if has wrk; then
    row llmload "the same, share of wrk's rate" "$(calc "100*$(middle "${ours[@]}")/$(middle "${peer[@]}")")" percent '>=100' "wrk $(printf '%.0f' "$(middle "${peer[@]}")") req/s, us CPU a request $(calc "$(middle "${peer_cpu[@]}")")"
    row llmload "CPU of wrk for a request, as often ours" "$(calc "$(middle "${peer_cpu[@]}")/$(middle "${cpu[@]}")")" times '>=1' ""
else missing llmload "share of wrk's rate" "wrk is not installed"; fi
ours=() cpu=()
for _ in 1 2 3 4 5; do
    out=$("$LOAD" --url "$url" -c 4 -d "${seconds}s" --max-tokens 1000 --json -q) || exit 1
    read -r rate each <<<"$(jq -r '"\(.output_throughput) \(.client.cpu_us_per_event)"' <<<"$out")"
    ours+=("$rate") cpu+=("$each")
done
row llmload "streamed events a second, 1,000 at once in each answer" "$(printf '%.0f' "$(middle "${ours[@]}")")" events/s '>=5300000' "us CPU an event $(calc "$(middle "${cpu[@]}")")"
llm_gone

for n in 100 500 900; do
    out=$("$LOAD" selftest --streams "$n" --itl 10ms --tokens 100 --json) || exit 1
    read -r mean p99 events each ttft true <<<"$(jq -r '.selftest[0] | "\(.itl_error_mean_ms) \(.itl_error_p99_ms) \(.events_per_s) \(.cpu_us_per_event) \(.ttft_median_ms) \(.true_ttft_median_ms)"' <<<"$out")"
    row llmload "error of gaps between tokens, $n streams at 10 ms, mean" "$mean" ms '<=0.005' "at $(printf '%.0f' "$events") events/s, against llmfake's true send times"
    row llmload "  99th percentile" "$p99" ms '<=0.05' ""
    row llmload "  CPU for an event" "$each" us '<=5' ""
    row llmload "  median TTFT off by" "$(awk -v a="$ttft" -v b="$true" 'BEGIN{d = a - b; print (d < 0 ? -d : d)}')" ms '<=0.5' "shown $ttft, true $true"
done

llm_fake --ttft 3s --itl 200ms --tokens 8
few=$("$M" pss -- "$LOAD" --url "$url" -c 200 -n 200 --max-tokens 8 --json -q) && many=$("$M" pss -- "$LOAD" --url "$url" -c 4200 -n 4200 --max-tokens 8 --json -q) &&
    row llmload "memory for a stream" "$(calc "($(first "$many")-$(first "$few"))/4000")" KiB '<=3' "PSS with 4,200 streams $(first "$many") KiB, with 200 $(first "$few")"
llm_gone
