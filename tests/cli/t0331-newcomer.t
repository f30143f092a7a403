#!/bin/bash
# What somebody meets who knows little: a program nobody knows, an output whose program is not named, a narrow terminal, the Tab key.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
samples=$(cd "$(dirname "$0")/../../benchmarks/catalogue" && pwd)
cd "$WORK" || exit 1

# a program that nobody knows: its figures are guesses, and they are shown
printf '#!/bin/sh\necho "speed: $((100 * $1)) MB/s"\n' >bench; chmod +x bench
shown=$("$BENCHWRAP" -- ./bench 2 2>&1 >/dev/null)
like "the summary shows a guess as one" "$shown" '^benchwrap:   metrics guessed from the output'
like "with value and unit" "$shown" '^benchwrap:   speed  200 MB/s$'
shown=$("$BENCHWRAP" --sweep n=1,2 --repeat 3 -- ./bench '{n}' 2>&1 >/dev/null)
like "a sweep has a block for the guessed metric" "$shown" '^benchwrap:   speed, MB/s +median +min … max'
like "with a row for each point" "$shown" 'n=2 .* 200 +200 … 200$'
like "and a block for the wall time" "$shown" '^benchwrap:   run\.wall, [mu]?s'
is "show --json has the points too" "$("$BENCHWRAP" show last --json | python3 -c 'import json, sys
print([(r["n"], r["median"]) for r in json.load(sys.stdin)["repetitions"] if r["point"] == "n=2" and r["metric"] == "speed_MB_per_s"])')" "[(3, 200)]"
like "a series has no output to be read again" "$("$BENCHWRAP" reparse last 2>&1)" 'is a series, without an output of its own: .* its child runs are not read again \(benchwrap show --children [0-9a-f]{8}\)$'
shown=$("$BENCHWRAP" ls)
like "ls has the range of the points, without a metric for each" "$shown" '  bench, 2 points +speed 100 … 200 MB/s '
like "the summary has a short time in its own unit" "$("$BENCHWRAP" -- sh -c 'echo "latency: 0.02 ms"' 2>&1 >/dev/null)" '^benchwrap:   latency  20 us$'
shown=$(COLUMNS=60 "$BENCHWRAP" ls)
like "programs of one experiment without a common metric: each its own" "$shown" '^[0-9a-f]{8} .* sh +latency 20 us'
like "... also the first" "$shown" '^[0-9a-f]{8} .*  bench +speed 200 MB/s'
like "-n with a number is answered" "$("$BENCHWRAP" -n 5 -e named -- true 2>&1)" 'the run is named "5" .*srun -n 5 benchwrap -- PROGRAM.*--repeat 5'
is "ls --children names the points, not the parent again" "$("$BENCHWRAP" ls --children | grep -cE '    n=[12] #[123] +speed')" 6

# no result in any repetition: the summary, show and compare print why
why='no metrics: +1 line read, .*"size: 12 MiB" is a size'
like "a sweep without results: the summary names the reason" "$("$BENCHWRAP" -e none --sweep n=1,2 -- sh -c 'echo "size: 12 MiB"; : {n}' 2>&1 >/dev/null)" "$why"
like "... so does show" "$("$BENCHWRAP" show -e none last)" "$why"
like "... and compare, in one clause with the command that has the rest" "$("$BENCHWRAP" compare -e none --by n)" '^! no metrics: 1 line read; why: benchwrap show [0-9a-f]{8} --all$'
# what the program logs is what its user wants to see
"$BENCHWRAP" -q -e logged --sweep n=1,2 -- sh -c '"$0" log size_B={n}000; echo "speed: 5 MB/s"' "$BENCHWRAP" >/dev/null
like "a logged metric: ls has it" "$("$BENCHWRAP" ls -e logged)" 'size 1000 … 2000 B'
like "... show has it for each point" "$("$BENCHWRAP" show -e logged last)" '^ +size, B'
like "... compare has it" "$("$BENCHWRAP" compare -e logged --by n)" '^size +B +1000 +2000'
like "... ui and MLflow's table, which read this tag, have it" "$(cat mlruns/*/*/tags/benchwrap.headline)" 'size_B speed_MB_per_s run\.wall_s'
like "... report has it" "$("$BENCHWRAP" report -e logged last)" 'size.*1000'
"$BENCHWRAP" -q -e logged --rules none -- sh -c '"$0" log size_B=7' "$BENCHWRAP"
is "... also without rules; the key says its unit" "$("$BENCHWRAP" show -e logged --json last | jq -r '.tags["benchwrap.headline"], (.metrics[] | select(.key == "size_B").unit)' | xargs)" "size_B B"
like "a key and --unit that differ are refused" "$("$BENCHWRAP" log -u MiB size_B=7 2>&1)" '"size_B=7": the name ends in the unit B, and --unit is MiB'
sed -n '/^## The smallest one/,/^It makes/p' "$ROOT/docs/howto-benchmark.md" | sed -n '/^```yaml/,/^```$/p' | sed '/^```/d' >smallest.yaml
"$BENCHWRAP" -q -e ruled --rules ./smallest.yaml -- sh -c '"$0" log size_B=7; echo "speed: 5 MB/s"' "$BENCHWRAP" >/dev/null
is "rules that name headline metrics stay" "$(cat mlruns/*/"$("$BENCHWRAP" show -e ruled --json last | jq -r .id)"/tags/benchwrap.headline)" speed_MB_per_s.max
# the options that choose runs are those of each command that takes RUN
for command in show compare history explain plot report reference reparse annotate retract sync watch; do
    like "$command takes -e" "$("$BENCHWRAP" $command --help)" '-e, --experiment NAME'
done
is "last is the newest run of that experiment" "$(for e in none ruled; do "$BENCHWRAP" show -e $e --json last | jq -r .experiment; done | xargs)" "none ruled"
like "... which has fewer runs than the tree" "$("$BENCHWRAP" show -e ruled last~1 2>&1)" 'last~1: these options choose 1 run '
is "so does --filter" "$("$BENCHWRAP" show --filter "metrics.size_B = 7 AND tags.\"benchwrap.rules_version\" = '1'" --json last | jq -r .experiment)" ruled
"$BENCHWRAP" annotate -e none --tag quality=good last >/dev/null
is "the --tag of annotate chooses nothing" "$("$BENCHWRAP" ls --tag quality=good --json | jq -r '.[].experiment')" none

# warm-up runs count nowhere, and a series does not count beside its repetitions
"$BENCHWRAP" -q -e warm --sweep n=1,2 --repeat 3 --warmup 1 -- ./bench '{n}' >/dev/null 2>&1
shown=$("$BENCHWRAP" compare -e warm --by n 2>&1)
like "compare --by leaves the warm-up runs out, and says so" "$shown" 'ignored 2 warm-up runs'
like "three runs are a group" "$shown" '^A  n=1  3 runs of warm  base'
"$BENCHWRAP" -q -e warm -- sleep 0
shown=$("$BENCHWRAP" compare -e warm --by benchmark 2>/dev/null)
like "of a series the repetitions count alone" "$shown" '^A  benchmark=bench +6 runs of warm'

like "compare without --by names the keys that differ" "$("$BENCHWRAP" compare -e warm 2>&1)" 'expected two runs or --by KEY; keys that differ: .*\bn\b'
like "so does --by with a key that none has" "$("$BENCHWRAP" compare -e warm --by nosuch 2>&1)" '^benchwrap: compare: --by nosuch: expected two groups, got 0; keys that differ: '
like "an experiment that is not there: those that are" "$("$BENCHWRAP" compare -e nosuch --by n 2>&1)" 'no experiment "nosuch" in .*there are: .*warm'
for command in 'ls' 'reference' 'sync --to http://127.0.0.1:9' 'ui --print'; do
    like "$command -e: which experiments there are" "$("$BENCHWRAP" $command -e nosuch 2>&1)" 'no experiment "nosuch" in .*; there are: .*warm'
done
like "no run to make a reference of" "$("$BENCHWRAP" reference --tag a=b 2>&1)" 'no run is chosen by these options: no runs that pass --status and --tag in '

# rules new: a word that tells tests apart becomes part of the names; a compiler's options are no results
printf '%b\n' '0	Method: MEMCPY	Copy: 2458.0 MiB/s' '1	Method: MEMCPY	Copy: 2634.9 MiB/s' '0	Method: DUMB	Copy: 5378.6 MiB/s' \
    'compiler: gcc -Wa,--noexecstack -DLEVEL=2 -O2' "The 'numbers' are in 1000s of bytes per second." >mbw.out
printf 'Pass: CPU time used = 2.5 seconds\nPass: Real time used = 3.5 seconds\n' >>mbw.out
shown=$("$BENCHWRAP" rules new --from mbw.out -n mbw -o mbw.yaml 2>&1); file=$(cat mbw.yaml)
like "one reader for all methods" "$file" 'name: "\{method\}\.copy"'
like "which reads each" "$("$BENCHWRAP" parse -r mbw.yaml mbw.out 2>&1)" 'dumb\.copy_MiB_per_s'
like "words that go on are no such word" "$file" 'real_time_used'
is "options and thousands are no results" "$(printf '%s' "$file" | grep -ciE 'name: "[^"]*(noexec|numbers)')" 0

shown=$("$BENCHWRAP" rules new --json --from mbw.out 2>&1); status=$?
is "an option of check is refused with new" "$status" 125
like "and says whose it is" "$shown" '\-\-json is for "rules check"'

# parse finds the rules
out=$(find "$samples/sysbench/samples" -name stdout | sort | head -n 1)
like "by the looks of the output" "$("$BENCHWRAP" parse "$out" 2>&1)" '^sysbench \(rules'
echo "nothing" >nothing
like "by the program behind --, launchers seen through" "$("$BENCHWRAP" parse nothing -- srun -n 4 ior -a POSIX 2>&1)" '^ior \(rules .*fail'
shown=$("$BENCHWRAP" parse nothing 2>&1); status=$?
is "an output that nobody knows: status" "$status" 125
like "and what to do" "$shown" 'name its rules with --rules'
like "a file that is not there" "$("$BENCHWRAP" parse not-there 2>&1)" 'open not-there: No such file'
like "import of a folder names the right option" "$("$BENCHWRAP" import . 2>&1)" 'a directory: -R '

# Tab
complete_line()
{
    bash -c 'source <("$1" completion bash); read -ra COMP_WORDS <<<"$2"; [[ $2 == *" " ]] && COMP_WORDS+=("")
             COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _benchwrap; echo "${COMPREPLY[*]}"' - "$BENCHWRAP" "$1"
}
PATH=$(dirname "$BENCHWRAP"):$PATH
like "names of the catalogue complete --rules" "$(complete_line 'benchwrap parse --rules st')" 'stream stress-ng'
like "and the verb benchmarks" "$(complete_line 'benchwrap benchmarks i')" 'imb io500 ior iozone iperf3'
like "the verbs of rules" "$(complete_line 'benchwrap rules ')" 'check new'

# a narrow terminal: no line is longer, and what the reader came for stays
if python3 -c 'import pty' 2>/dev/null && command -v script >/dev/null; then
    shown=$(COLUMNS=60 TERM=dumb script -qec "'$BENCHWRAP' show --all last~1" /dev/null | tr -d '\r' | sed 's|…|~|g')
    table=$(printf '%s\n' "$shown" | sed -n '/^Metrics/,/^Parameters/p')
    is "no line of a table is longer than COLUMNS" "$(printf '%s\n' "$table" | awk '{ if (length($0) > 60) n++ } END { print n + 0 }')" 0
    is "and its metrics are complete" "$(printf '%s\n' "$table" | grep -c '~')" 0
else
    skip "a narrow terminal" "script(1) is not here"
fi
is "in a pipe nothing is cut" "$(COLUMNS=40 "$BENCHWRAP" show last | grep -c '…')" "$("$BENCHWRAP" show last | grep -c '…')"

# --help of the scripts is help, and an argument that is none starts nothing
for script in quickstart install-needs; do
    like "$script --help" "$(sh "$ROOT/scripts/$script" --help 2>&1)" "^usage: scripts/$script"
    is "$script --help: exit status, and nothing else" "$(sh "$ROOT/scripts/$script" --help >out 2>&1; echo $?; grep -c '^==' out)" "0
0"
done
mkdir -p needs/scripts/packaging && cp "$ROOT/scripts/install-needs" needs/scripts/ && printf 'build cmd:sh dash dash dash dash\n' >needs/scripts/packaging/needs.txt
is "install-needs -n says that nothing is missing" "$(needs/scripts/install-needs -n build; echo $?)" "nothing is missing: build
0"
is "quickstart refuses an argument" "$(sh "$ROOT/scripts/quickstart" nonsense >out 2>&1; echo $?; grep -c '^==' out)" "2
0"
# what a program logs itself is no guess; its values have one statistic everywhere
log='"$BENCHWRAP" log metric loss=0.9 --step 1; "$BENCHWRAP" log metric loss=0.5 --step 2; "$BENCHWRAP" log metric loss=0.3 --step 3; echo hello'
shown=$("$BENCHWRAP" -t logged -- sh -c "$log" 2>&1 >/dev/null)
like "the summary has the median of a metric with several values" "$shown" '^benchwrap:   loss +0\.5$'
is "and does not call it a guess, nor missing" "$(echo "$shown" | grep -cE 'guessed|no metrics')" 0
like "show has the same" "$("$BENCHWRAP" show -t logged)" '^  loss +0\.5  median of 3, 0\.3 … 0\.9'
is "and no guess and no warning" "$("$BENCHWRAP" show -t logged | grep -cE 'guessed|no metrics')" 0
like "so has ls" "$("$BENCHWRAP" ls -t logged)" ' sh +0\.5 '
like "so has show --all" "$("$BENCHWRAP" show --all -t logged)" '^loss +0\.5 '

# a program that failed: its own last lines first, and nothing of the metrics that it could not give
shown=$("$BENCHWRAP" -t broken -- sh -c 'echo "rank 0 rate: 10.5 MB/s"; kill -SEGV $$' 2>&1 >/dev/null)
is "a failed run: its own words, then the reason" "$(echo "$shown" | sed '1d;$d')" "benchwrap:   output:     rank 0 rate: 10.5 MB/s
benchwrap:   reason:     ended by signal SEGV"
is "as in show, without a warning" "$("$BENCHWRAP" show -t broken | grep -E '^(output|Failed|Warnings)' | tr -s ' ')" "output rank 0 rate: 10.5 MB/s
Failed ended by signal SEGV"
like "the reason of the reader is in the record" "$("$BENCHWRAP" show --all -t broken | tr -s '\n ' ' ')" 'no metrics: 1 line read, none with a result .*begin with a rank'
"$BENCHWRAP" -t refused -- "$(dirname "$BENCHWRAP")/llmload" --bogus >out 2>&1; shown=$("$BENCHWRAP" show -t refused)
is "a misspelt option: the program's words, no consequence" "$(cat out - <<<"$shown" | grep -cE 'is missing|no metrics:|reason:')" 0
like "... in the summary" "$(grep -m 1 unknown <(sed 1d out))" '^benchwrap:   (stderr|output): +llmload: unknown option --bogus$'
like "... in show" "$shown" '^(stderr|output) +llmload: unknown option --bogus$'
shown=$("$BENCHWRAP" -t twice --repeat 2 --keep-going -- sh -c 'exit 2' 2>&1)
like "repetitions that failed did not finish" "$shown" '^benchwrap: sh, 2 of 2 repetitions failed \(exit status 2\) in '
"$BENCHWRAP" -q -t twice -- sh -c 'exit 2'
like "compare says that runs failed" "$("$BENCHWRAP" compare -t twice last~1 last)" '^! Failed: A 1 of 1, B 1 of 1 runs\.$'
like "what is not found" "$("$BENCHWRAP" -- nosuchprog 2>&1)" '^benchwrap: nothing was recorded$'
is "an unknown command has one answer" "$("$BENCHWRAP" help foo 2>&1)" 'benchwrap: help: no command "foo"; "benchwrap help commands" lists them'

# from a guess to rules
shown=$("$BENCHWRAP" -t drafts -- sh -c 'echo "rate: 10.5 MB/s"; echo "RMSE 0.0123"' 2>&1 >/dev/null)
like "beside a guess the summary names the way to other results" "$shown" 'To add a metric: benchwrap log NAME=VALUE'
like "rules new -o says how to use the file" "$("$BENCHWRAP" rules new -t drafts --from last -o mine.yaml 2>&1)" '^hint: benchwrap -r mine\.yaml -- PROGRAM .*reparse -r mine\.yaml RUN'
"$BENCHWRAP" reparse -t drafts -r mine.yaml last >/dev/null 2>&1
is "the hint holds, and what rules read is no guess" "$("$BENCHWRAP" show -t drafts | grep -c guessed)" 0
like "a verdict without a reference is no pass" "$("$BENCHWRAP" show --all -t drafts)" '^verdict +output valid, no reference to judge by$'
done_testing
