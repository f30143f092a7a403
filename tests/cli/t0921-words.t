#!/bin/bash
# Words that users of other tools type: every row of the tables is typed, and its answer comes. Aliases are accepted.
# sanitizer: long, because a thousand commands are only refused
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
verbs=" $("$BENCHWRAP" help --list | tr '\n' ' ')"

# rows FILE: place, typed and answer of each row, a bar between them
rows() { sed -n 's/^WORD("\([^"]*\)", "\([^"]*\)", "\(.*\)")$/\1|\2|\3/p' "$1" | sed 's/\\"/"/g'; }
dashes() { case $1 in ?) echo "-$1" ;; *) echo "--$1" ;; esac; }
# typed TEXT COMMAND…: refused as a wrong line, with the text, and nothing recorded
typed() {
    local text=$1 status; shift
    "$@" >out 2>err </dev/null; status=$?
    if [ $status = 125 ] && grep -qF -- "$text" err && [ ! -e mlruns ]; then tap_pass "$*"; else tap_fail "$*" "status $status, expected: $text" "$(cat out err)"; fi
}

like "there are at least forty" "$(rows "$ROOT/wrapper/launch/words.def" | wc -l)" '^([4-9][0-9]|[0-9]{3,})$'
is "none twice" "$(rows "$ROOT/wrapper/launch/words.def" | cut -d '|' -f 1,2 | sort | uniq -d)" ""
while IFS='|' read -r place word answer; do
    case $place,$answer in
    ,) typed "leave it out: benchwrap -- fio 'a b'" "$BENCHWRAP" "$word" -- fio 'a b' ;;
    ,*) typed "$answer" "$BENCHWRAP" "$word" ;;
    --,*) typed "; $answer" "$BENCHWRAP" "$(dashes "$word")" -- true
        [ "$word" = json ] || typed "; $answer" "$BENCHWRAP" plan "$(dashes "$word")" -- true ;; # plan has --json itself
    *) typed "; $answer" "$BENCHWRAP" "$place" "$(dashes "$word")" ;;
    esac
    for named in $(grep -oE 'benchwrap [a-z][a-z-]*[a-z]' <<<"$answer" | cut -d' ' -f 2); do # a command that is answered with is one
        case $verbs in *" $named "*) ;; *) tap_fail "$word: answered with a command" "$named" ;; esac
    done
    for named in $(grep -oE -- '--[a-z][a-z-]+' <<<"$answer"); do # … and an option
        grep -qw -- "OPTION_$(tr a-z- A-Z_ <<<"${named#--}")" "$ROOT"/wrapper/launch/options.def "$ROOT"/wrapper/cmd/cmd_*.c || tap_fail "$word: answered with an option" "$named"
    done
done < <(rows "$ROOT/wrapper/launch/words.def")
typed "leave it out: benchwrap -- fio --x" "$BENCHWRAP" run fio --x
typed 'did you mean "benchwrap ls"? To run and record it: benchwrap -- find . -x' "$BENCHWRAP" find . -x
typed 'no command "diff"; did you mean "benchwrap compare"?' "$BENCHWRAP" help diff

# llmload: the aliases are accepted, the other words answered.
LOAD=$BUILD/bin/llmload
url=http://127.0.0.1:9
while IFS='|' read -r place word answer; do
    case $place,$word in
    =,*) case $answer in url) value=$url ;; path) value=/v1/x ;; body) value={} ;; dataset) value=none.jsonl ;; duration) value=1s ;; *) value=2 ;; esac
        timeout 120 "$LOAD" --url $url -n 1 "--$word" "$value" >out 2>err; status=$?
        if [ $status = 1 ] && ! grep -q unknown err; then tap_pass "llmload --$word is --$answer"; else tap_fail "llmload --$word is --$answer" "status $status" "$(cat err)"; fi ;;
    *) typed "; $answer" "$LOAD" "$(dashes "$word")" ;;
    esac
    for named in $(grep -oE -- '--[a-z][a-z-]+' <<<"$answer"); do
        like "$named is an option of llmload" "$("$LOAD" help options)" "(^| )$named( |\$)"
    done
done < <(rows "$ROOT/benchmarks/native/llmload/words.def")
like "an address alone is --url" "$("$LOAD" $url -n 1)" "no request succeeded: $url: "
typed 'expected the URL of a service' "$LOAD" nonsense
# A message names the option as it was typed, wherever it comes from; underscores are answered by the dashes.
typed '--request-rate: expected N, N@TIME or N-M@TIME, got "abc"' "$LOAD" $url --request-rate abc
typed '--request-rate: expected a finite number, got "inf"; --concurrency N' "$LOAD" $url --request-rate inf -n 5
typed '--max-concurrency 0: no stream' "$LOAD" $url --max-concurrency 0
typed '--num-prompts: expected an integer, got "x"' "$LOAD" $url --num-prompts x
typed '--num-prompts: expected a number >= 1, got "0"' "$LOAD" $url --num-prompts=0
typed 'option --num-prompts needs a value' "$LOAD" $url --num-prompts
typed '--max-seconds: expected a duration' "$LOAD" $url --max-seconds 30x
typed '--num-warmups: expected a number >= 0, got "-1"' "$LOAD" $url --num-warmups -1
typed '--drop changes nothing without --rate or --trace' "$LOAD" $url --users 3 --drop
typed '--users: expected @TIME behind every piece but the last, got "1,2,4"; --sweep LEVELS' "$LOAD" $url --users 1,2,4
typed 'unknown option --max_concurrency; did you mean --concurrency?' "$LOAD" $url --max_concurrency 4
typed 'unknown option --num_prompts; did you mean --requests?' "$LOAD" $url --num_prompts 4
typed 'unknown option --max_tokens; did you mean --max-tokens?' "$LOAD" $url --max_tokens 4
typed 'unknown option --random_input_len; did you mean --input-tokens?' "$LOAD" $url --random_input_len 4
typed '"tpot:20": expected a comma between objectives: --goodput ttft:100,tpot:20' "$LOAD" $url --goodput ttft:100 tpot:20
# A missing part is named alone; a path that another API has is no path of this one.
typed '--burstiness changes nothing without --arrivals gamma' "$LOAD" $url --burstiness 1 --request-rate 5
typed '--drop changes nothing without --concurrency' "$LOAD" $url --drop --rate 5
typed '--endpoint /v1/completions: is the path of another API than openai-chat; add --api openai-completions' "$LOAD" $url --endpoint /v1/completions
typed 'add --api ollama-generate' "$LOAD" $url --path '/proxy/api/generate?x=1'
is "a path of the API's own, or of none, is taken" "$({ "$LOAD" $url --api openai-completions --path /v1/completions -n 1; "$LOAD" $url --path /x -n 1; } | grep -c 'no request succeeded')" 2

# Each program's first help is one screen, and names options that are there.
for program in llmload llmfake taskrate; do
    "$BUILD/bin/$program" --help >short; "$BUILD/bin/$program" --help all >long
    is "$program --help: at most 40 lines of 80 columns" "$(awk '{gsub(/…/, ".")} length > 80 || NR > 40' short)" ""
    is "$program --help options has all that --help names" "$(grep -oE -- '--[a-z][a-z-]+' short | sort -u | comm -23 - <(grep -oE -- '--[a-z][a-z-]+' long | sort -u))" ""
    is "$program help is --help" "$("$BUILD/bin/$program" help | cksum) $("$BUILD/bin/$program" help options | cksum)" "$(cksum <short) $(cksum <long)"
done
done_testing
