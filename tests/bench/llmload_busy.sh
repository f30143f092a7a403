# shellcheck shell=bash
# llmload_busy.sh: rows of llmload on an idle and on a busy client, sourced by llmload.sh: 0, 1, 2 and 4 processes that compute all the time, an independent server of
# real-time priority, 64, 500 and 1,000 streams. What each client shows against the server's own log, and whether the client said that it was late.
busy_server() { # sets $url and $fake; its log is $work/busy.log
    rm -f "$work/llm.address" "$work/busy.log"
    chrt -f 10 "$FAKE" --ttft 200ms --itl 20ms --role none --log "$work/busy.log" >"$work/llm.address" 2>/dev/null &
    fake=$!
    for _ in $(seq 200); do [ -s "$work/llm.address" ] && break; sleep 0.02; done
    url=$(cat "$work/llm.address")
}
busy_ours() { "$LOAD" --url "$url" -m fake -c "$1" -n $((3 * $1)) --max-tokens 20 --json -q >"$work/ours.json" 2>/dev/null; }
busy_vllm() { has_vllm && vllm_bench "$url" "$work/vllm.json" --num-prompts $((3 * $1)) --max-concurrency "$1" --output-len 20 >"$work/vllm.log" 2>&1; }
busy_aiperf() { has_aiperf && aiperf_bench "$url" "$work/aiperf.json" --concurrency "$1" --request-count $((3 * $1)) --output-tokens-mean 20 >"$work/aiperf.log" 2>&1; }
# "ttft_p50 ttft_p99 gap_p50 gap_p99 said"; neither of the others says that it was late.
busy_shown_ours() { jq -r '"\(.median_ttft_ms) \(.p99_ttft_ms) \(.median_itl_ms) \(.p99_itl_ms) \(if .client.was_bottleneck then "yes" else "no" end)"' "$work/ours.json"; }
busy_shown_vllm() { jq -r '"\(.median_ttft_ms) \(.p99_ttft_ms) \(.median_itl_ms) \(.p99_itl_ms) no"' "$work/vllm.json"; }
busy_shown_aiperf() { jq -r '"\(.ttft) \(.ttft99) \(.gap50) \(.gap99) no"' "$work/aiperf.json"; }
off() { awk -v a="$1" -v b="$2" 'BEGIN { if (a == "null" || a == "") print "missing"; else { d = a - b; printf "%.3g", d < 0 ? -d : d } }'; }

if chrt -f 10 true 2>/dev/null; then
    silent=0
    for hogs in 0 1 2 4; do # 0: an idle machine
        busy=()
        for _ in $(seq $hogs); do (while :; do :; done) & busy+=($!); done
        for n in 64 500 1000; do
            for client in ours vllm aiperf; do
                busy_server
                if ! busy_$client "$n"; then
                    llm_gone
                    missing llmload "$hogs busy, $n streams: $client" "not installed, or it failed"
                    continue
                fi
                llm_gone
                read -r true50 true99 gap50 gap99 < <("${python:-python3}" "$TESTLIB/llm-sendlog.py" "$work/busy.log")
                read -r ttft50 ttft99 itl50 itl99 said < <(busy_shown_$client)
                row llmload "$hogs busy, $n streams, $client: median TTFT off by" "$(off "$ttft50" "$true50")" ms - \
                    "true $true50; p99 $(off "$ttft99" "$true99"), gaps $(off "$itl50" "$gap50"), p99 $(off "$itl99" "$gap99"); said it was late: $said"
                [ "$client" != ours ] || [ "$said" = yes ] || [ "$(awk -v d="$(off "$ttft50" "$true50")" -v t="$true50" 'BEGIN { print (d != "missing" && d > t / 100 && d > 0.1) }')" = 0 ] || silent=$((silent + 1))
            done
        done
        kill "${busy[@]}" 2>/dev/null
        wait "${busy[@]}" 2>/dev/null
    done
    row llmload "busy clients: wrong by more than 1 % without a word, of twelve" "$silent" cells '<=0' "median TTFT of llmload"
else missing llmload "a busy client" "no right to real-time priority"; fi
