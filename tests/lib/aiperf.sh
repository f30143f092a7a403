# shellcheck shell=sh
# aiperf.sh: NVIDIA's AIPerf as a peer of llmload in measurements; sourced where $cache and $work are set. Its package brings more than a gigabyte, so nothing
# fetches it by itself: python3 -m venv ~/.cache/benchwrap-tests/venv-aiperf && ~/.cache/benchwrap-tests/venv-aiperf/bin/pip install aiperf==0.13.0
# shellcheck disable=SC2154
aiperf_bin=$cache/venv-aiperf/bin
has_aiperf() { [ -x "$aiperf_bin/aiperf" ]; }
# It wants a tokenizer, and finds none without a network: one of bytes.
aiperf_tokenizer()
{
    [ ! -d "$work/aiperf-tokens" ] || return 0
    "$aiperf_bin/python" - "$work/aiperf-tokens" >/dev/null 2>&1 <<'P'
import sys
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
letters = sorted(pre_tokenizers.ByteLevel.alphabet())
t = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(letters)}, merges=[]))
t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
t.add_special_tokens(["<s>", "</s>"])
PreTrainedTokenizerFast(tokenizer_object=t, bos_token="<s>", eos_token="</s>").save_pretrained(sys.argv[1])
P
}
aiperf_options() { echo "--concurrency $1 --request-count $2 --output-tokens-mean $3"; } # STREAMS REQUESTS TOKENS
# aiperf_bench URL RESULT OPTIONS...: one run over chat completions
aiperf_bench()
{
    aiperf_url=$1 aiperf_result=$2
    shift 2
    aiperf_tokenizer || return 1
    rm -rf "$work/aiperf-out" "$aiperf_result"
    "$aiperf_bin/aiperf" profile -m fake-model --url "$aiperf_url" --endpoint-type chat --streaming --tokenizer "$work/aiperf-tokens" --use-server-token-count \
        --synthetic-input-tokens-mean 20 --output-artifact-dir "$work/aiperf-out" --ui none "$@" || return 1
    # The gaps are in the records alone: its summary has one mean of each request.
    jq -s --slurpfile s "$work/aiperf-out/profile_export_aiperf.json" \
        '{ttft: $s[0].time_to_first_token.p50, ttft99: $s[0].time_to_first_token.p99, rate: $s[0].request_throughput.avg, gaps: [.[].metrics.inter_chunk_latency.value[]]} |
         (.gaps | add / length) as $m | . + {sd: (.gaps | map((. - $m) * (. - $m)) | add / length | sqrt)} | (.gaps | sort) as $g | . + {gap50: $g[($g | length) * 0.5 | floor], gap99: $g[($g | length) * 0.99 | floor]} | del(.gaps)' "$work/aiperf-out/profile_export.jsonl" >"$aiperf_result"
}
aiperf_figures() { jq -r '"\(.ttft) \(.sd) \(.rate)"' "$1"; }
