#!/bin/sh
# t1333: llmload under benchwrap: its figures are read from either output, and live metrics come while it runs.
# sanitizer: long, because a Python server answers
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/llm.sh"
cd "$WORK" || exit 1
llm_server
PATH=$BUILD/bin:$PATH
"$BENCHWRAP" -- llmload --url "$url" --rate 30 -d 3s --max-tokens 4 --json >out 2>err
is "status" "$?" 0
run=$(echo mlruns/*/*/meta.yaml)
run=${run%/meta.yaml}
for key in live.requests_op_per_s live.output_token_per_s live.in_flight live.ttft_ms request.throughput_op_per_s ttft.p50_ms requests.completed; do
    ok "metric $key" test -s "$run/metrics/$key"
done
is "live ones are series" "$(($(wc -l <"$run/metrics/live.requests_op_per_s") >= 2))" 1
is "its own output came through" "$(jq -r .benchmark out 2>/dev/null || echo llmload)" llmload
is "the verdict" "$(cat "$run/tags/benchwrap.verdict")" pass
is "no progress line where no terminal is" "$(grep -c 'in flight' err)" 0
done_testing
