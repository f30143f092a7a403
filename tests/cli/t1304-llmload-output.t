#!/bin/bash
# What llmload prints for people: the answer first, 76 columns, the same text at every width and in a pipe.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/llmfake.sh"
cd "$WORK" || exit 1

# What a busy machine adds is no part of the form: warnings of steal and of a late client, times that are not known, with the lines that they are broken into.
calm() { awk '/^  (! (steal|the client was)|- : ")/ {skip = 1; next} skip && /^    / {next} {skip = /^  - : p[0-9.]+ needs/; if (skip) sub(/;.*/, ""); print}' "$@"; }
# Numbers become N, runs of blanks one; what is left is the form.
form() { calm "$@" | sed -E 's/[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?/N/g; s/ +/ /g' | sed -E 's/^( - : pN needs N values).*/\1/; s/^( (first|between|per|whole)[a-z, ]*) [-N ]+$/\1 …/'; }
cat >wanted <<'END'
llmload: http://N.N.N, model fake, N streams, N requests

 N of N requests succeeded, N failed, in N s
 N requests/s N output tokens/s
 N requests/s sent N input tokens, N output tokens

 latency, ms mean pN pN pN pN max
 first token …
 first, scheduled …
 between tokens …
 per output token …
 whole request …
 whole, scheduled …

 - : pN needs N values

hint: --details for all metrics with intervals, --define for their definitions
END
sed -i 's/http:..N.N.N/http:\/\/N.N:N/' wanted
llm_start "$FAKE" --ttft 2ms --itl 300us
"$LOAD" "$url" -c 4 -n 300 --max-tokens 3 >pipe 2>err
is "a pipe" "$(form pipe | sed '/^$/N;/^\n$/D')" "$(cat wanted)"
is "76 columns at most" "$(calm pipe | awk 'length > 76 && !/^hint|^llmload/')" ""
is "no escape sequence" "$(tr -d '\n[:print:]' <pipe | wc -c)" 0
pids=''
widths='60 200'
! long_tests || widths='60 80 120 200'
for width in $widths; do # all at once: their form is compared
    python3 "$TESTLIB/on-pty.py" "size 24 $width" -- "$LOAD" "$url" -q -c 4 -n 300 --max-tokens 3 >"shown.$width" 2>err &
    pids="$pids $!"
done
# shellcheck disable=SC2086 # several
wait $pids
pids=
for width in $widths; do
    python3 - "shown.$width" >text <<'P'
import ast, sys
print(b"".join(ast.literal_eval(l[7:]) for l in open(sys.argv[1]) if l.startswith("shown: ")).decode().replace("\r\n", "\n"), end="")
P
    is "a terminal of $width columns" "$(sed 's/\x1b\[[0-9;]*m//g' text | form | grep -v '^$' | sed -z 's/ for\n their/ for their/')" "$(grep -v '^$' wanted)"
done
NO_COLOR=1 TERM=dumb "$LOAD" "$url" -n 12 --max-tokens 3 --details --define >out
is "--details and --define: every metric and its definition" "$(grep -cE '^  (send_lag|client_read_delay|input_tokens|output_tokens) ' out) $(grep -cE '^  (ttft|itl|e2el) +(time to first|gap between|end-to-end)' out)" "8 3" # a late client has no ttft
is "counts are whole numbers" "$(grep -cE '^  12 of 12 requests succeeded, 0 failed, in ' out)" 1
few() { "$LOAD" "$url" -r 20 -d 300ms --arrivals constant --max-tokens 3 2>err; }
llm_calm out few && calm=1 || calm=0
is "too few requests for the percentiles: said before the start" "$(cat err)" 'llmload: 6 requests are too few for p50, p90, p95 and p99 of their latencies: p99 needs 662 (--duration)'
[ $calm = 0 ] && skip_here "  with the numbers of the table" "the machine is busy: the client was late" || is "  with the numbers of the table" "$(grep -c 'p99 needs 662 values' out)" 1
"$LOAD" "$url" -r 20 -d 300ms -q --max-tokens 3 >out 2>err
is "  not with --quiet" "$(cat err)" ''
"$LOAD" "$url" -c 2 -d 200ms --max-tokens 3 --sweep 1,2 >out 2>err
is "  nor where a closed loop decides how many there are" "$(cat err)" ''
"$LOAD" "$url" -n 3 --max-tokens 3 --model other --json | jq -r .model_id >out
is "a named model is used" "$(cat out)" other
is "without --model the server's first one" "$("$LOAD" "$url" -n 3 --max-tokens 3 --json | jq -c '[.model_id, .server_kind]')" '["fake",null]'
like "a path that is not there" "$("$LOAD" "$url/nowhere" -n 3)" "^llmload: no request succeeded: $url/nowhere: no such path"
llm_stop

"$LOAD" "$url" -n 3 >out; is "no server: exit status" $? 1
is "no server: the reason and a hint, no table" "$(form out)" "llmload: no request succeeded: http://N.N:N: connect: Connection refused
 N of N requests succeeded, N failed
hint: is the server up? --wait-ready Nm waits for it"

# A stored text, without the document: the same metrics as ever.
llm_start "$FAKE" --ttft 2ms --itl 20ms # a busy client reads one token at a time
"$BENCHWRAP" -q -e load -- "$LOAD" "$url" -c 4 -n 300 --max-tokens 3 >out
"$BENCHWRAP" -q -t stored --rules llmload -- cat out >/dev/null
is "a run from the text has its metrics, those that the table states" "$(cd stored/mlruns/*/*/metrics && ls | grep -E '^(ttft|itl|tpot|e2el|request|output)' | sort)" \
    "$(awk 'BEGIN {split("mean p50 p90 p95", point); print "output.throughput_token_per_s\nrequest.throughput_op_per_s\nrequests.achieved_op_per_s\nrequests.completed\nrequests.failed"}
        {name = ""}
        /^  first token / {name = "ttft"} /^  first, scheduled/ {name = "ttft_from_schedule"} /^  between tokens/ {name = "itl"}
        /^  per output token/ {name = "tpot"} /^  whole request/ {name = "e2el"} /^  whole, scheduled/ {name = "e2el_from_schedule"}
        name {for (k = 1; k <= 4; k++) if ($(NF - 6 + k) != "-") print name "." point[k] "_ms"}' out | sort)"
is "... and what it states of tokens and the sent rate" "$(cd stored/mlruns/*/*/metrics && cut -d' ' -f2 requests.achieved_op_per_s tokens.input tokens.output | xargs)" \
    "$(sed -nE 's/^  ([0-9.]+) requests.s sent +([0-9]+) input tokens, ([0-9]+) output tokens$/\1 \2 \3/p' out | sed -E 's/^([0-9]+\.[0-9]*[1-9])0+ /\1 /; s/^([0-9]+)\.0+ /\1 /')"
is "and the address is a param" "$(cat mlruns/*/*/params/url)" "$url"
# Each warning of a table is one of the record, of one request and of several.
grep -v '^  ! ' out >table
printf '  ! %s\n' '1 request was sent more than 10 ms behind the schedule' '1 arrival was never sent' '1 answer is shorter than --ignore-eos requires' \
    '1 answer has several choices: times between their tokens are left out' '1 answer came in one piece, without a stream: no time of a first token' >one
sed 's/ 1 request was/ 2 requests were/; s/ 1 arrival was/ 3 arrivals were/; s/ 1 answer is/ 4 answers are/; s/ 1 answer has/ 5 answers have/; s/ 1 answer came/ 6 answers came/' one >several
for n in one several; do
    "$BENCHWRAP" -q -t $n.tree --rules llmload -- cat table $n >/dev/null 2>&1
    is "$n: the table's warnings are in the record" "$(jq -r '.warnings[] | tostring' $n.tree/mlruns/*/*/artifacts/benchwrap.json | grep -cE 'behind the schedule|were never sent|shorter than --ignore-eos|several choices|in one piece')" 5
done
# The same inputs and warnings in both forms: files by their content, rows that were left out, sends behind the schedule, answers that are missing.
printf '%s\n' '{"prompt": "one"}' '{"prompt": "t\u0000o"}' '{"conversations": [{"from": "gpt", "value": "x"}]}' '{"prompt": "back\\u0000slash"}' >rows.jsonl
printf '20\n30\n' >lengths
echo text >prompt
printf '%s\n' '{"at_s": 0, "text": "x"}' '{"at_s": 0.01, "text": "y"}' >trace
echo '{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}}' >tokenizer.json
# What the rules read of a run: the keys of metrics, params and missing values.
keys() { jq -r '[(.metrics, .params | to_entries[] | select(.value.source | startswith("rule:")).key), (.missing[] | select(.source | startswith("rule:")).key)] | map(sub("\\.ci_(low|high)$"; "")) | unique[]' "$1"/mlruns/*/*/artifacts/benchwrap.json; } # FOLDER
both() # NAME OPTIONS…: the run's params and warnings, as the table and as the document tell them
{
    local name=$1 form of_machine='the client was|behind the schedule'; shift # a busy machine adds these
    [ "$name" != late ] || of_machine='the client was'
    for form in text json; do
        rm -rf "$name.$form"; mkdir "$name.$form"
        # shellcheck disable=SC2046 # none, or one word
        (cd "$name.$form" && "$BENCHWRAP" -q -- "$LOAD" "$url" --max-tokens 3 "$@" $([ $form = text ] || echo --json) >out 2>err)
        (cd "$name.$form"/mlruns/*/*/params && grep -H . load.*sha256 load.dataset_rows model 2>/dev/null | grep -v schedule; jq -r '.warnings[] | select(.source | startswith("probe:") | not) | tostring' ../artifacts/benchwrap.json | grep -vE "$of_machine" | sed -E 's/[0-9]+ (requests were sent more|arrivals were never)/N \1/') >"$name.$form.facts"
    done
}
both rows -n 4 -c 2 --dataset ../rows.jsonl --tokenizer ../tokenizer.json
like "a row with a NUL is skipped, with its line" "$(cat rows.text/out)" '^  ! 2 of 4 rows of the data set were skipped, the first in line 2: its text holds a'
is "... the document has the same sentence" "$(jq -r '.warnings[] | select(test("rows of the data set"))' rows.json/out)" '2 of 4 rows of the data set were skipped, the first in line 2: its text holds a NUL (\u0000)'
both lengths -n 4 --input-tokens file:../lengths --output-tokens file:../lengths
both prompt -n 4 --prompt @../prompt
both trace --trace ../trace
both late --rate 2000 --arrivals constant -n 40 -c 1
both lost --rate 2000 --arrivals constant -n 40 -c 1 --drop
# Where the client of either run read late, percentiles are missing in one and not in the other.
known_times() # FOLDER FOLDER: of the keys on standard input those that both runs must have
{
    if grep -rqE '"not_known": *[1-9]' "$1/mlruns" "$2/mlruns"; then grep -vE '\.p[0-9.]+_ms$'; else cat; fi
}
for name in rows lengths prompt trace late lost; do
    is "$name: the record has the same inputs and warnings, with and without --json" "$(cat $name.json.facts)" "$(cat $name.text.facts)"
    same "$name: ... and the same metrics and params" "$(keys $name.text | known_times $name.text $name.json)" "$(keys $name.json | known_times $name.text $name.json)"
done
is "... with those that the table does not state" "$(keys rows.text | grep -cxE 'load\.(seed|schedule_sha256|arrivals)|client\.(clock|threads|cpu_per_event_us)|e2el\.mean_ms')" 7
is "the document is a file of the run" "$(jq -r .benchmark rows.text/mlruns/*/*/artifacts/files/llmload-result.json)" llmload
is "the run can be checked by its files" "$(cd rows.text && "$BENCHWRAP" check 2>&1 | grep -c 'no such metric\|the output gives')" 0
rates() { (cd "$1"/mlruns/*/*/metrics && ls | grep -E '^(requests\.(achieved|offered)|tokens\.(input|output)|duration)'); }
same "offered and sent rate, tokens and duration are in the record, with and without --json" "$(rates late.text)" "$(rates late.json)"
is "every file that makes the load is in the record by its SHA-256" "$(cat ./*.text.facts | sed -n 's/.*load\.\(.*\)_sha256:\(.*\)/\1 \2/p' | sort)" \
    "$(for pair in dataset:rows.jsonl input_tokens:lengths output_tokens:lengths prompt:prompt tokenizer:tokenizer.json trace:trace; do echo "${pair%:*} $(sha256sum <"${pair#*:}" | cut -d' ' -f1)"; done)"
is "... and the rows of a data set by number" "$(grep -h rows: rows.text.facts)" "load.dataset_rows:2"
is "sends behind the schedule are a warning of the record" "$(grep -c 'requests were sent more than 10 ms behind the schedule' late.json.facts)" 1
is "... so are arrivals that were never sent" "$(grep -c 'arrivals were never sent' lost.json.facts)" 1

# The further tables: the client's own error, the levels of a sweep, the answer of a search.
"$LOAD" selftest --streams 2,4 >errors 2>/dev/null & pids=$!
swept() { rm -rf "$1"; mkdir "$1"; (cd "$1" && "$BENCHWRAP" -q -e sweep -- "$LOAD" "$url" -c 1 -d 100ms --max-tokens 3 --goodput e2el:1000 --sweep 1,2 "${@:2}" 2>../err); } # FOLDER OPTIONS…
llm_calm table swept recorded && calm=1 || calm=0
like "a sweep: the levels, and which is the best" "$(sed 's/ \+/ /g' table)" '^ ?streams sent/s requests/s tokens/s goodput/s first_p50 first_p99 between result'
is "... runs of 100 ms do not show which level is the best" "$(grep -cE '^ +[12] .* highest$' table) $(grep -cE '^ +[12] .* alike$' table)" "1 1"
llm_calm document swept as-json --json || calm=0
same "a sweep: the record has the same metrics and params, with and without --json" "$(keys recorded | known_times recorded as-json)" "$(keys as-json | known_times recorded as-json)"
[ $calm = 0 ] && skip_here "every level is in the record, with the best one and goodput" "the machine is busy: the client was late" || is "every level is in the record, with the best one and goodput" "$(for m in level reported_level requests.achieved_op_per_s request.throughput_op_per_s output.throughput_token_per_s request.goodput_op_per_s; do echo "$(cat recorded/mlruns/*/*/metrics/sweep.$m | wc -l)"; done | tr '\n' ' ')$(cut -d' ' -f2 recorded/mlruns/*/*/metrics/goodput.share)" "2 1 2 2 2 2 1"
of_levels() { (cd "$1"/mlruns/*/*/metrics && ls | grep -E '^(sweep|search|goodput|request\.goodput)' | grep -vE 'ttft|itl'); } # a busy machine has too few for a median
is "... the same with --json" "$(of_levels as-json)" "$(of_levels recorded)"
is "... and its options are params" "$(cat recorded/mlruns/*/*/params/sweep) $(cat recorded/mlruns/*/*/params/goodput)" "1,2 e2el:1000"

# Every option is a param of the record, unless it is named here: who is asked and how, what is observed, what is written.
python3 - "$ROOT" >forgotten <<'P'
import pathlib, re, sys
root = pathlib.Path(sys.argv[1])
native = root / "benchmarks/native/llmload"
no_load = set("key-env key-file header ca-file insecure wait-ready server-pid scrape scrape-url scrape-file facts schedule-out agent-port agent-suffix agent-wait "
              "token-file records csv plots calibrate json no-chunks details define quiet help man version".split())
names = dict(re.findall(r'^#define (OPTION_\w+) "([^"]+)"', (root / "wrapper/base/option_names.h").read_text(), re.M))
def rows(path):
    for line in path.read_text().splitlines():
        if m := re.match(r'#include "(.*)"', line): yield from rows(root / m[1])
        if m := re.match(r'OPTION\((OPTION_\w+), (?:\'(.)\'|0), (\w+),', line): yield names[m[1]], m[2], m[3]
others = {}
for place, typed, answer in re.findall(r'^WORD\("(=?)", "([^"]+)", "([^"]+)"\)', (native / "words.def").read_text(), re.M):
    if place: others.setdefault(answer, []).append("--" + typed)
entries = {flag: entry for entry in re.findall(r"- \{(flags: .*)\}", (root / "benchmarks/catalogue/llmload/rules.yaml").read_text()) for flag in re.findall(r"-[\w-]+", entry.split("]")[0])}
seen = list(rows(native / "options.def"))
assert len(seen) > 70, len(seen)
for name, letter, kind in seen:
    entry = entries.get("--" + name)
    if entry is None: print("no rule:", name); continue
    for flag in others.get(name, []) + (["-" + letter] if letter else []):
        if entries.get(flag) != entry: print("no rule:", flag)
    if ("param: " in entry) == (name in no_load): print("a param or not:", name)
    if (kind == "OPT_FLAG") != ("kind: flag" in entry): print("a flag or not:", name)
    if kind == "OPT_LIST" and "param: " in entry and "join: true" not in entry: print("only the last one counts:", name)
P
is "every option that changes the load is a param" "$? $(cat forgotten)" "0 "
for form in text json; do
    # shellcheck disable=SC2046 # none, or one word
    "$BENCHWRAP" -q -t search.$form -- "$LOAD" "$url" --rate 20 -d 200ms --max-tokens 3 --search --goodput e2el:0.001 $([ $form = text ] || echo --json) >table.$form 2>err &
    searches="$searches $!"
done
# shellcheck disable=SC2086 # several
wait $searches
mv table.text table
same "a search: the record has the same metrics and params, with and without --json" "$(keys search.text | known_times search.text search.json)" "$(keys search.json | known_times search.text search.json)"
like "a search: the answer precedes the levels" "$(grep -A 1 -m 1 -E '^(no rate met the objectives|inconclusive: the client was late)' table)" 'offered/s'
if command -v script >/dev/null; then
    widths='60 120'
    ! long_tests || widths='60 80 120 200'
    for columns in $widths; do
        for what in "selftest --streams 2" "sweep '$url' -c 1 -d 100ms --max-tokens 3 --sweep 1,2 -q"; do
            script -qec "stty cols $columns; exec '$LOAD' ${what#sweep}" /dev/null </dev/null >"shown.$columns.${what%% *}" 2>/dev/null &
            pids="$pids $!"
        done
    done
    # shellcheck disable=SC2086 # several
    wait $pids
    for columns in $widths; do
        for what in selftest sweep; do
            tr -d '\r' <"shown.$columns.$what" | sed 's/.*\x1b\[K//; s/\x1b\[[0-9;]*m//g' >plain
            is "$columns columns: no line of $what is longer" "$(awk -v n=$columns '{gsub(/…/, ".")} length > n && !/^llmload: http/' plain)" ""
        done
    done
fi
# shellcheck disable=SC2086 # several
wait $pids
is "selftest: one table, a row for each number of streams" "$(sed -n 's/ \+/ /g; /^ \?streams/p' errors; grep -cE '^ +[24] ' errors)" "streams mean p99 max first true events/s gaps shared% CPU us steal%
2"
llm_stop

# Each level of a sweep counts from 0 on.
llm_start "$FAKE" --ttft 95ms --itl 1ms
"$BENCHWRAP" -q -t levels -- "$LOAD" "$url" --sweep 1,2 -n 24 --max-tokens 4 >/dev/null 2>&1
llm_stop
is "live rates of a sweep are those of its level" "$(awk '$2 < 5 || $2 > 30 {n++} END {print (NR > 1), n + 0}' levels/mlruns/*/*/metrics/live.requests_op_per_s)" "1 0"
done_testing
