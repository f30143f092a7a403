#!/bin/sh
# llmload's schedules: when what is sent; traces; sessions; cancellations; sweeps and the search.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/llmfake.sh"

# A search of a server of 400 requests a second, while the others run; its answer is read at the end.
llm_start "$FAKE" --ttft 10ms --slots 4
known=$url known_said=$said known_pid=$server
"$LOAD" --url "$known" --max-tokens 1 --rate 200 --arrivals constant -d 500ms --search --goodput ttft:22 --json >"$WORK/search.json" 2>/dev/null &
search=$!
llm_start "$FAKE" --ttft 2ms
load() { "$LOAD" --url "$url" --max-tokens 2 --json "$@" 2>"$WORK/err"; }

# Runs of one second each, all at once: what is compared is written before the first request.
pids=
run() { "$LOAD" --url "$url" --max-tokens 2 --json "$@" 2>/dev/null; }
run --rate 300 -d 1s --schedule-out "$WORK/a.csv" >"$WORK/a.json" & pids="$pids $!"
run --rate 300 -d 1s >"$WORK/b.json" & pids="$pids $!"
run --rate 300 -d 1s --seed 2 >"$WORK/c.json" & pids="$pids $!"
run --rate 200 --arrivals constant -d 1s -w 500ms >"$WORK/constant.json" & pids="$pids $!"
run --rate 400 --arrivals bursts --bursts 100ms:150ms -d 1s --schedule-out "$WORK/b.csv" >/dev/null & pids="$pids $!"
run --rate 0-400@1s -d 1s --arrivals constant --schedule-out "$WORK/r.csv" >/dev/null & pids="$pids $!"
run --rate 1000 --arrivals gamma --burstiness 0.25 -n 700 --schedule-out "$WORK/g.csv" >/dev/null & pids="$pids $!"
# shellcheck disable=SC2086 # several
wait $pids
a=$(jq -r .load.schedule_sha256 "$WORK/a.json") b=$(jq -r .load.schedule_sha256 "$WORK/b.json") c=$(jq -r .load.schedule_sha256 "$WORK/c.json")
is 'the same seed gives the same schedule' "$a" "$b"
ok '  another seed another one' test "$a" != "$c"
d=$(load -n 3 -c 1-2@100ms,2 | jq -r .load.schedule_sha256)
is 'closed loops of two profiles of equal length have two hashes' "$(load -n 3 -c 1-3@100ms,3 | jq --arg d "$d" '.load.schedule_sha256 == $d')" false
is '  and one profile has one' "$(load -n 3 -c 1-2@100ms,2 | jq --arg d "$d" '.load.schedule_sha256 == $d')" true
ok '  it is kept' awk -F, 'NR == 1 {next} $2 < last {exit 1} {last = $2; n++} END {exit !(n > 200 && n < 400 && last < 1)}' "$WORK/a.csv"
ok '  the default one is typical: at no time two standard deviations from the rate asked for' awk -F, 'NR > 1 && (++n >= 20) {z = (n - 300 * $2) / sqrt(300 * $2); if (z > 2 || z < -2) exit 1} END {exit n < 200}' "$WORK/a.csv"
ok '  its surplus is reported' jq -e '.load | .expected == 300 and ((.scheduled / 3 - 100 - .surplus_percent) | fabs) < 1e-6' "$WORK/a.json"
is 'constant arrivals: exactly as many as said' "$(jq -c '[.load.scheduled, .completed, .failed, .load.dropped]' "$WORK/constant.json")" '[200,200,0,0]'
ok 'bursts: nothing in the pauses' awk -F, 'NR > 1 && $2 % 0.25 > 0.1001 {exit 1} END {exit NR < 50}' "$WORK/b.csv"
ok 'a ramp: a quarter of the requests in its first half' awk -F, 'NR > 1 {n++; early += $2 < 0.5} END {exit !(n >= 198 && n <= 201 && early >= 48 && early <= 52)}' "$WORK/r.csv"
ok 'gamma: gaps vary as its shape says (cv 2)' awk -F, 'NR > 2 {g = $2 - last; s += g; q += g * g; n++} {last = $2} END {m = s / n; cv = sqrt(q / n - m * m) / m; exit !(cv > 1.5 && cv < 2.6)}' "$WORK/g.csv"

# Coordinated omission: two slots of 25 ms cannot serve 200 per second; the queue is seen from the schedule, not from the send.
llm_stop
llm_start "$FAKE" --ttft 25ms
run --rate 200 --arrivals constant -c 2 -d 400ms --drop >"$WORK/drop.json" &
drop=$!
calm=1
llm_calm "$WORK/co.json" load --rate 200 --arrivals constant -c 2 -d 400ms --grace 30s --goodput ttft:250 || calm=0
wait $drop
[ $calm = 0 ] && skip_here 'waiting in the client is told' 'the machine is busy: the client itself was late' ||
    ok 'waiting in the client is told' jq -e '.completed == 80 and .median_ttft_ms < 0.5 * .median_ttft_from_schedule_ms and .load.late > 40' "$WORK/co.json"
ok '  and no request that waited so long has met its objective' jq -e '.goodput.good < 40' "$WORK/co.json" # 80 a second can be served
ok '  and the achieved rate is what was really sent' jq -e '.load.offered_rate == 200 and .load.achieved_rate > 20 and .load.achieved_rate <= 85 and .load.sent < 36' "$WORK/co.json"
ok 'or dropped, if so wished, and counted' jq -e '.load.dropped > 40 and .completed + .load.dropped == 80' "$WORK/drop.json"
llm_stop

# The client sleeps while all slots are taken: 10.4 ms from token to token.
llm_start "$FAKE" --ttft 20ms --itl 10400us
"$LOAD" --url "$url" --rate 100 --arrivals constant -c 2 -n 40 --max-tokens 5 --json >"$WORK/slot.json" 2>/dev/null
ok 'waiting for a slot of --concurrency is no lateness of the client' jq -e '.load.late >= 30 and .client.sends_late * 4 < .load.late' "$WORK/slot.json"
llm_stop

# Traces.
llm_start "$FAKE"
printf 'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\n2023-11-16 18:17:04.5000000,110,27\n' >"$WORK/azure.csv"
printf 'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n5.4,GPT-4,1087,23,1317,API log\n' >"$WORK/burst.csv"
printf '{"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [0, 1]}\n{"timestamp": 200, "input_length": 700, "output_length": 6, "hash_ids": [0, 2]}\n' >"$WORK/moon.jsonl"
printf '{"at_s": 0.1, "output_tokens": 3}\n{"at_s": 0.0, "output_tokens": 4, "text": "hello"}\n' >"$WORK/own.jsonl"
for row in azure.csv:azure:3:45:0.520 burst.csv:burstgpt:2:41:0.400 moon.jsonl:mooncake:2:11:0.200 own.jsonl:jsonl:2:7:0.100; do
    IFS=: read -r file kind n tokens last <<-X
	$row
	X
    got=$("$LOAD" --url "$url" --trace "$WORK/$file" --schedule-out "$WORK/t.csv" --json | jq -r '"\(.load.trace):\(.completed):\(.total_output_tokens)"')
    is "trace $kind" "$got:$(tail -n 1 "$WORK/t.csv" | awk -F, '{printf "%.3f", $2}')" "$kind:$n:$tokens:$last"
done
sed '2s/4808/many/' "$WORK/azure.csv" >"$WORK/bad.csv"
like 'a damaged trace: its line is named' "$("$LOAD" --url "$url" --trace "$WORK/bad.csv" 2>&1)" 'bad.csv:2: a count of tokens'
like 'no trace at all' "$(echo hello >"$WORK/x"; "$LOAD" --url "$url" --trace "$WORK/x" 2>&1)" 'x:1: neither JSON lines'
llm_stop

# Sessions: each turn has the history before it.
python3 "$TESTLIB/llm-server.py" "$WORK/port" --log "$WORK/bodies" &
server=$!
llm_pids="$llm_pids $server"
wait_until '[ -s "$WORK/port" ]'
url=http://127.0.0.1:$(cat "$WORK/port")
load -c 1 -n 6 --turns 3 --think 10ms --model tiny >"$WORK/out.json"
is 'two sessions of three turns' "$(jq -c '[.completed, .failed]' "$WORK/out.json")" '[6,0]'
is '  their histories grow' "$(jq -s -c '[.[].messages | length] | sort' "$WORK/bodies")" '[1,1,3,3,5,5]'
is '  with the answers in them' "$(jq -s -c '[.[].messages[] | .role] | unique' "$WORK/bodies")" '["assistant","user"]'
: >"$WORK/bodies"
printf '{"prompt": "one"}\n{"prompt": "two"}\n{"prompt": "three"}\n' >"$WORK/three.jsonl"
load -c 1 -n 9 --turns 3 --model tiny --dataset "$WORK/three.jsonl" >"$WORK/out.json"
is '  each has a row of its own' "$(jq -s -c '[.[].messages[0].content] | unique' "$WORK/bodies")" '["one","three","two"]'
for row in azure.csv:8098 moon.jsonl:1300 own.jsonl:129; do
    got=$("$LOAD" --url "$url" --model tiny --trace "$WORK/${row%:*}" --json | jq .total_input_tokens)
    is "the lengths of the prompts are the trace's: ${row%:*}" "$got" "${row#*:}"
done
llm_stop
llm_start "$FAKE"

load --rate 200 --arrivals constant -n 20 --warmup-requests 5 --turns 3 --think 20ms --records "$WORK/records" >"$WORK/out.json"
is 'sessions that arrive: every one has all of its turns, those of the warm-up are not measured' "$? $(jq -c '[.completed, .failed, .load.scheduled, .load.dropped]' "$WORK/out.json")" '0 [60,0,60,0]'
is '  no two requests are the same one' "$(jq -s -c '[([.[].metadata.request_index] | unique | length), ([.[] | select(.metadata.benchmark_phase == "warmup")] | length)]' "$WORK/records")" '[75,15]'
is 'fewer streams at the end than threads: it ends all the same' "$(load -c 4@100ms,1 -n 300 --threads 2 | jq .completed) $(load -c 4@100ms,1 --rate 600 -n 100 --threads 2 | jq .completed)" '300 100'
load -c 2 -d 300ms --turns 50 --think 20s >"$WORK/out.json"
is 'users that still think at the end cost nothing' "$(jq -c '[.completed, .failed]' "$WORK/out.json")" '[2,0]'
llm_stop

# Impatient users; several endpoints; sweeps; the search.
llm_start "$FAKE" --ttft 5s
load -c 4 -n 8 --cancel 1@100ms >"$WORK/out.json"
is 'cancelled requests are neither good nor failed' "$(jq -c '[.completed, .failed, .endings]' "$WORK/out.json")" '[0,0,{"cancelled":8}]'
load -c 4 -d 300ms --grace 200ms --goodput ttft:9000 >"$WORK/out.json"
is 'the grace at the end is bounded; what is not finished then was not good' "$(jq -c '[(.endings | keys), .goodput.share]' "$WORK/out.json")" '[["unfinished"],0]'
llm_stop
llm_start "$FAKE"; first=$url saw=$said
llm_start "$FAKE"
"$LOAD" --url "$first" --url "$url" -c 4 -n 100 --max-tokens 2 --json >"$WORK/out.json"
is 'two endpoints' "$(jq -c '[.completed, .endpoints]' "$WORK/out.json")" '[100,2]'
llm_stop
is '  half of the requests each' "$(jq .requests "$said")" 50
llm_start "$FAKE" --ttft 50ms
is 'one stream that never pauses: one request in flight' "$(load -n 1 -c 1 | jq -c '[.window.mean_concurrency > 0.99 and .window.mean_concurrency < 1.01, .request_throughput, .max_output_tokens_per_s]')" '[true,null,null]'
load -n 60 -c 3 >"$WORK/out.json"
is '  three streams: not more than three, and hardly less' "$(jq '.window.mean_concurrency | . > 2.4 and . < 3.01' "$WORK/out.json")" true
load -c 1 -d 1200ms --sweep 1..4*2 >"$WORK/out.json"
is 'a sweep: one run a level, the highest is reported' "$(jq -c '[.sweep.points[].level], (.sweep.points | max_by(.output_throughput).level) == .sweep.reported_level, .sweep.reported_level == .max_concurrency' "$WORK/out.json" | tr '\n' ' ')" \
    '[1,2,4] true true '
is '  it is the best where the intervals of the others end below its own' "$(jq -c '.sweep | (.reported_level as $r | .points[] | select(.level == $r).ci_low) as $low |
    [(.best_level // .reported_level) == .reported_level, (.best_level == null) == (.alike_levels != []), .alike_levels == [.reported_level as $r | .points[] | select(.level != $r and .ci_high >= $low).level]]' "$WORK/out.json")" '[true,true,true]'
load -c 1 -d 200ms --sweep 1,2 >"$WORK/out.json"
is '  of runs that are too short no level is' "$(jq -c '.sweep | [.best_level, (.alike_levels | length), .points[0].ci_low]' "$WORK/out.json")" '[null,1,null]'
# Objectives that no rate meets, and ones that all do.
impossible() { load --rate 100 -d 100ms --search --goodput ttft:1; rc=$?; cp "$WORK/err" "$WORK/said"; }
llm_calm "$WORK/out.json" impossible || calm=0
is 'the search: nothing can meet that' "$rc $(jq -c '[.sweep.found, .sweep.highest_rate, (.sweep.points | length > 2)]' "$WORK/out.json")" '1 [false,null,true]'
like '  standard error says why the status is not 0' "$(tail -n 1 "$WORK/said")" "^llmload: (no rate met the objectives$(grep -q 'the client was late' "$WORK/out.json" && echo '|inconclusive: the client was late'))\$"
is '  every run has a seed of its own' "$(jq '.sweep.points | ([.[].seed] | unique | length) == length' "$WORK/out.json")" true
llm_stop
wait $search
kill "$known_pid"
wait "$known_pid" 2>/dev/null
if jq -e '.late_max_ms > 5' "$known_said" >/dev/null; then
    skip_here 'the search finds the known rate' 'the machine is busy: the server itself was late'
else
    ok 'the search finds the known rate to 5 %, or says that the client was late' jq -e '.sweep | .inconclusive == "the client was late" or (.found and (.highest_rate / 400 - 1 | fabs) < 0.05)' "$WORK/search.json"
fi
done_testing
