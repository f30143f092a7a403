#!/bin/sh
# t0323: what is read of a program that the catalogue does not know: figures with a unit, said to be guesses, and never a verdict.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
mkdir bin
cat >bin/mybench <<'S'
#!/bin/sh
printf 'threads: 8\nBandwidth: 12.5 MB/s\nLatency (us): 3.25\nrate: 5 s\nrate: 6 s\n'
exit "${1:-0}"
S
chmod +x bin/mybench
run() { tree=$1; shift; "$BENCHWRAP" -t "$tree/mlruns" "$@" >/dev/null 2>"$tree.err"; }

like "plan says that it would guess, and how not to" "$("$BENCHWRAP" plan -- bin/mybench)" 'knows no program mybench: guesses .*--rules none'
run one -- bin/mybench
is "a figure with a unit is a metric" "$(cut -d' ' -f2 one/mlruns/*/*/metrics/bandwidth_MB_per_s)" 12.5
like "in brackets too" "$(cat one/mlruns/*/*/metrics/latency_s)" ' 3\.25e-06 '
ok "a number without unit is none" sh -c '! ls one/mlruns/*/*/metrics/threads* 2>/dev/null'
ok "what comes with two values is missing" sh -c '! ls one/mlruns/*/*/metrics/rate_s 2>/dev/null'
is "a guess gives no verdict" "$(cat one/mlruns/*/*/tags/benchwrap.verdict)" none
is "and a tag tells what it is" "$(cat one/mlruns/*/*/tags/benchwrap.rules)" generic
mkdir none && printf 'Hello\nx y\n' >none/out
like "no metric: the record says how many lines were read" \
    "$("$BENCHWRAP" -t none/mlruns -- cat none/out 2>&1)" 'no metrics: 2 lines read, none with a result like "rate: 12\.5 MB/s"'
left_out() { printf "$1" >none/left; "$BENCHWRAP" -t none/mlruns -- cat none/left 2>&1 >/dev/null | sed -n 's/.*known score); \(.*\): sizes, settings.*/\1/p'; }
is "... and names the first size that was left out" "$(left_out 'timeout: 5 s\ncompressed size: 1976308 B\noutput: 5 B\n'); $(left_out 'size: 12 MiB\n'); $(left_out 'compressed file: 44 MiB\n')" \
    '"compressed size: 1976308 B" is a size; "size: 12 MiB" is a size; "compressed file: 44 MiB" is a size'
is "... else the first line with a number and a unit" "$(left_out 'x\ntimeout: 5 s\n')" '"timeout: 5 s" is not read'
is "a size behind a result is none" "$("$BENCHWRAP" -t none/mlruns -- sh -c 'echo "output: 5 B"; echo "rate: 5 MB/s"' 2>&1 >/dev/null | grep -c 'no metrics')" 0
several() { printf "$1" >none/several; "$BENCHWRAP" -t none/mlruns -- cat none/several 2>&1 >/dev/null; }
like "several values of one name: the reason has name and values, and the next step" "$(several 'rate: 5 MB/s\nrate: 6.5 MB/s\nrate: 7 MB/s\n')" \
    'no metrics: rate has 3 different values \(5, 6\.5, 7 MB/s\); use --repeat N with one value a run, or write a rule file$'
like "... of many the first" "$(several 'rate: 5 MB/s\nrate: 6.5 MB/s\nrate: 7 MB/s\nrate: 5 MB/s\nrate: 8 MB/s\n')" 'rate has more than 3 different values \(5, 6\.5, 7 … MB/s\)'
like "... of several names two" "$(several 'a rate: 5 MB/s\na rate: 6 MB/s\nb rate: 5 MB/s\nb rate: 6 MB/s\nc rate: 5 MB/s\nc rate: 6 MB/s\n')" \
    'no metrics: a_rate has 2 different values \(5, 6 MB/s\); b_rate has 2 different values \(5, 6 MB/s\); and 1 more; use'
like "... next to a result, what is left out is a warning" "$(several 'rate: 5 MB/s\nrate: 6 MB/s\nspeed: 7 op/s\n')" '! left out: rate has 2 different values \(5, 6 MB/s\)$'
like "... show has it without --all" "$("$BENCHWRAP" show -t none/mlruns)" '^Warnings +left out: rate has 2 different values \(5, 6 MB/s\)$'
like "... a sweep or repetitions too" "$("$BENCHWRAP" -t none/mlruns --repeat 2 -- cat none/several 2>&1 >/dev/null)" '! left out: rate has 2 different values \(5, 6 MB/s\)$'
like "... what was not measured has its own reason" "$(several 'rate: 0 MB/s\n')" 'no metrics: rate: zero: not measured, printed "0"$'
is "... which is no warning next to a result" "$(several 'rate: 0 MB/s\nspeed: 7 op/s\n' | grep -c 'left out')" 0
is "a program without output gets no such warning" "$("$BENCHWRAP" -t none/mlruns -- true 2>&1 | grep -c 'no metrics')" 0
# Of a line that a program writes over and over only the last state counts: what a terminal shows in the end.
last_state() { printf "$1" >none/drawn; "$BENCHWRAP" parse --rules generic --json none/drawn | jq -c '[.metrics[] | [.key, .value]]'; }
is "written over by carriage returns" "$(last_state '10 %% rate: 1 MB/s\r50 %% rate: 2 MB/s\rrate: 3.5 MB/s \r\n')" '[["rate_MB_per_s",3.5]]'
is "... by backspaces" "$(last_state 'rate: 1.5\b\b\b3.5 MB/s\n')" '[["rate_MB_per_s",3.5]]'
is "... by moving the cursor" "$(last_state 'rate: 1 MB/s\033[G\033[2Krate: 3.5 MB/s\033(B\033[m\n')" '[["rate_MB_per_s",3.5]]'
is "... by a saved place" "$(last_state 'rate: \0337 1 MB/s\0338 3.5 MB/s\n')" '[["rate_MB_per_s",3.5]]'
is "a line that was erased has no result" "$(last_state 'rate: 1 MB/s\r\033[K\n')" '[]'
is "rows of a screen are not joined" "$(last_state 'read: 1\033[5;1Hrate: 3.5 MB/s\n')" '[["rate_MB_per_s",3.5]]'
why_none() { printf "$1" >none/odd; "$BENCHWRAP" -t none/mlruns -- cat none/odd 2>&1 >/dev/null | sed -n 's/^benchwrap:   no metrics: *//p'; }
is "binary data is called so, without a piece of it" "$(why_none '\001\002 7s[\n\377\376 5 s\n7s[^\n\200\n')" "4 lines read, 3 of them not text (binary data or control characters), none with a result like \"rate: 12.5 MB/s\" (name, number, unit) or \"loss 0.3\" (a known score); sizes, settings, errors, progress and lines that begin with a rank or step do not count"
is "... also where nothing else is there" "$(why_none '\001\002 7s[\n\377\376 5 s\n')" "the output is not text: 2 lines of binary data or control characters"
like "the last lines of a failed program are as a terminal shows them" "$("$BENCHWRAP" -t none/mlruns -- sh -c 'printf "10 %%\r50 %%\r\033[K\033[31mdisk full\033[0m\r\n" >&2; exit 1' 2>&1 >/dev/null)" '^benchwrap:   stderr: +disk full$'
like "parse of a file nobody knows names the generic reader" "$("$BENCHWRAP" parse none/out 2>&1)" '--rules generic'
printf 'Read rate: 0 ops/second\nspeed: 0 op/s\nspeed: 5 op/s\ntime: 0.00 s\nrate: 107 852 ops/s\n' >none/zero
is "a rate or time of zero, a name with several values, and digits in groups are no metrics" \
    "$("$BENCHWRAP" parse --rules generic --json none/zero | tr -d '\n ' | grep -c '"metrics":\[\]')" 1
like "a rate of zero is missing, with the reason" "$("$BENCHWRAP" parse --rules generic none/zero)" 'read_rate_op_per_s +zero: not measured, printed "0"'
lone() { printf "$1" >none/lone; "$BENCHWRAP" parse --rules generic --json none/lone | jq -c '[.metrics[].value, (.missing[] | .key)]'; }
is "a time without a name at the end is the result" "$(lone 'a b\n0.25 seconds\nVerification ok\n')" '[0.25]'
is "... in the middle of a log it is not" "$(lone 'loading\n0.25 seconds\nstep 1 of 2\nstep 2 of 2\nok\n')" '[]'
is "... nor where more than two lines follow" "$(lone 'loading\n0.25 seconds\ncomputing\nwriting\nended\n')" '[]'
is "several of them contradict each other" "$(lone '0.25 seconds\nstep 2\n0.5 seconds\n')" '["time_s"]'
is "a number of points is no score" "$(lone ' number of:\n   points per element:     8\n   data points in all sets:   2\n')" '[]'
like "a list before a column is one name" "$(lone 'write, fsync, close    172.5 ops/sec\n' && "$BENCHWRAP" parse --rules generic none/lone)" ' write_fsync_close_op_per_s '
is "a time without a unit is recorded without one; of zero it is missing" "$(lone 'CPU time: 0.25\nwall time: 0.00\n')" '[0.25,"wall_time"]'
named() { printf "$1" >none/named; "$BENCHWRAP" parse --rules generic --json none/named | jq -c '[.metrics[] | [.key, .value]], [.missing[].key]'; }
is "headings tell results of one name apart" "$(named '=== AES-128 ===\nrate: 5 MB/s\n=== 16 threads ===\nrate: 6 MB/s\n')" \
    '[["aes_128_rate_MB_per_s",5],["n16_threads_rate_MB_per_s",6]]
[]'
is "... that of the test above that of the part" "$(named 'bench\n\nCopy\nLatency:\nrate: 5 MB/s\n\nSort\nLatency:\nrate: 6 MB/s\n')" \
    '[["copy_rate_MB_per_s",5],["sort_rate_MB_per_s",6]]
[]'
is "... words before the name in the line" "$(named '[read] threads=2: rate: 5 MB/s\n[write] threads=2: rate: 6 MB/s\n')" \
    '[["read_rate_MB_per_s",5],["write_rate_MB_per_s",6]]
[]'
is "... an argument behind it" "$(named 'fib(30): 5.5 ms\nfib(32): 6.5 ms\n')" '[["fib_30_s",0.0055],["fib_32_s",0.0065]]
[]'
is "... one of which may have the name alone" "$(named 'C copy: 5 MB/s\nC copy (32 bytes): 6 MB/s\n')" '[["c_copy_MB_per_s",5],["c_copy_32_bytes_MB_per_s",6]]
[]'
is "... words behind it" "$(named 'time: 0.5 s: parsing\ntime: 0.6 s: sorting\n')" '[["time_parsing_s",0.5],["time_sorting_s",0.6]]
[]'
is "... a line below it that has a number ends no heading" "$(named 'bench: a\n\twarmup... 61.4 ms (2 runs)\n\trate: 5 MB/s\nbench: b\n\twarmup... 6.4 ms (2 runs)\n\trate: 6 MB/s\n')" \
    '[["bench_a_rate_MB_per_s",5],["bench_b_rate_MB_per_s",6]]
[]'
is "... a heading without a mark, where the results are indented further" "$(named 'x\n  tone-16\n    rate: 5 MB/s\n  tone-32\n    rate: 6 MB/s\n'; named 'x\ntone a\nrate: 5 MB/s\ntone b\nrate: 6 MB/s\n')" \
    '[["tone_16_rate_MB_per_s",5],["tone_32_rate_MB_per_s",6]]
[]
[]
["rate_MB_per_s"]'
is "... nothing else: the end of a test, runs, lines below a line of words, one heading for two values" \
    "$(named 'copy\nrate: 5 MB/s\ncopy finished\nrate: 6 MB/s\n'; named 'Run 1:\nrate: 5 MB/s\nRun 2:\nrate: 6 MB/s\n'; named '== a ==\nx y\nrate: 5 MB/s\n== b ==\nrate: 6 MB/s\n'; named '== a ==\nrate: 5 MB/s\nrate: 6 MB/s\n== b ==\nrate: 7 MB/s\n'; named '== a ==\nrate: 5 MB/s\n== b ==\nrate: 6 MB/s\n== c ==\n')" \
    '[]
["rate_MB_per_s"]
[]
["rate_MB_per_s"]
[]
["rate_MB_per_s"]
[]
["rate_MB_per_s"]
[]
["rate_MB_per_s"]'
is "a value that is the same below each heading has its own name" "$(named '== a ==\nrate: 5 MB/s\n== b ==\nrate: 5 MB/s\n')" '[["rate_MB_per_s",5]]
[]'
is "the first column of a table is the step" "$(printf 'Size   Rate (MB/s)\n16   5.5\n32   6.5\n' >none/named; "$BENCHWRAP" parse --rules generic --json none/named | jq -c '[.metrics[] | [.key, .step, .value]]')" \
    '[["rate_MB_per_s",16,5.5],["rate_MB_per_s",32,6.5]]'
is "... and a size that comes twice makes the rows contradict each other" "$(named 'Size   Rate (MB/s)\n16   5.5\n16   6.5\n')" '[]
["rate_MB_per_s"]'
steps() { # the metrics of an output, with the step of each
    printf -- "$1" >none/named
    "$BENCHWRAP" parse --rules generic --json none/named | jq -c '[.metrics[] | [.key, .step, .value]], .missing'
}
is "scores of a loop's rounds are a series, and the last one is the result" "$(steps 'Epoch 1/2: loss=0.5\nEpoch 2/2: loss=0.25\n')" '[["loss_of_each_step",1,0.5],["loss_of_each_step",2,0.25],["loss",0,0.25]]
[]'
is "... below the line with the round too, with times" "$(steps '-- Epoch 1\nloss: 0.5\ntime: 1.5 s\n-- Epoch 2\nloss: 0.25\ntime: 2.5 s\n')" \
    '[["loss_of_each_step",1,0.5],["loss_of_each_step",2,0.25],["loss",0,0.25],["time_s",1,1.5],["time_s",2,2.5]]
[]'
is "... and the value behind the loop keeps the name" "$(steps 'Epoch 1/2: loss=0.5\nEpoch 2/2: loss=0.25\nloss: 0.125\n')" \
    '[["loss_of_each_step",1,0.5],["loss_of_each_step",2,0.25],["loss",0,0.125]]
[]'
is "... a line that comes again counts once" "$(steps '[1]\trmse: 0.5\n[2]\trmse: 0.25\nBest:\n[2]\trmse: 0.25\n')" '[["rmse_of_each_step",1,0.5],["rmse_of_each_step",2,0.25],["rmse",0,0.25]]
[]'
is "... an earlier round that comes again at the end is the best one" "$(steps '[1]\trmse: 0.25\n[2]\trmse: 0.5\nBest:\n[1]\trmse: 0.25\n')" \
    '[["rmse_of_each_step",1,0.25],["rmse_of_each_step",2,0.5],["rmse",0,0.25]]
[]'
is "... of a loop that did not reach its end there is no result" "$(steps 'Epoch 1/3: loss=0.5\nEpoch 2/3: loss=0.25\n')" '[["loss_of_each_step",1,0.5],["loss_of_each_step",2,0.25]]
[]'
is "... nor of two loops" "$(steps '[1]\trmse: 0.5\n[2]\trmse: 0.25\n[1]\trmse: 0.75\n' | sed 's/{.*/missing/')" '[]
[missing'
is "... two values of one round contradict each other" "$(steps 'Epoch 1: loss=0.5\nEpoch 1: loss=0.25\n' | sed 's/{.*/missing/')" '[]
[missing'
printf 'rate: 12.5 MB/s\ntimeout: 5 s\n512 4.5 us\n10.5 MB/s 11.5 MB/s\n1024 5.5 us\n2048 6.5 us\n4096 7.5 us\nended\n' >none/ignored
is "lines with a number and a unit that are not read are named" "$("$BENCHWRAP" parse --rules generic none/ignored | sed -n '/^not read/,$p')" "not read: 6 lines with a number and a unit
  timeout: 5 s
  512 4.5 us
  10.5 MB/s 11.5 MB/s
  1024 5.5 us
  2048 6.5 us
  and 1 more"
is "... in JSON too" "$("$BENCHWRAP" parse --rules generic --json none/ignored | jq -c '[.not_read_lines, .not_read[0]]')" '[6,"timeout: 5 s"]'
keys() { printf -- "$1" >none/keys; "$BENCHWRAP" parse --rules generic --json none/keys | jq -c '[.metrics[] | [.key, .value]]'; } # without what is missing
is "words and numbers in turn: a word between two numbers names the second one" "$(keys 'info nodes 30000 nps 116731 time 257 hashfull 1\n'; keys 'info depth 7 nodes 30000 nps 116731 pv a8d8\n'; keys ' * Acc@1 76.130 Acc@5 92.862\n'; keys 'seed 1 runs 20\n')" \
    '[["nps_op_per_s",116731]]
[]
[["acc_1",76.13],["acc_5",92.862]]
[]'
is "a number behind dots has the words before it as its name, and is no part of the next one" "$(keys 'assembling...0.49s, total: 0.5 s\n')" '[["assembling_s",0.49],["total_s",0.5]]'
is "members of an object, unless it is a line of a log" "$(keys "{'eval_loss': 0.33, 'epoch': 3.0, 'eval_samples_per_second': 130.2}\n"; keys '{"level": "info", "loss": 0.33}\n')" \
    '[["eval_loss",0.33],["eval_samples_per_second_op_per_s",130.2]]
[]'
is "a name and a value alone in a box" "$(keys '| time/     |      |\n|    fps    | 1234 |\n|  episodes | 20   |\n')" '[["fps_op_per_s",1234]]'
is "a percentage next to the two numbers that show it, but no progress" "$(keys 'Statements : 60%% ( 3/5 )\n'; keys 'Test set: Average loss: 0.0266, Accuracy: 9912/10000 (99%%)\n'; keys 'Counting objects: 50%% (1/2)\nLines: 60%% (4/5)\n')" \
    '[["statements_percent",60]]
[["test_set_average_loss",0.0266],["accuracy_percent",99]]
[]'
is "a share behind its amount, in columns" "$(keys 'Correctly Classified Instances    147    98      %%\nMemory Used    147    98      %%\n')" '[["correctly_classified_instances_percent",98]]'
is "titles with a percent sign, and one blank between some: the words' ends show what is above what" \
    "$(keys '10:11:12     CPU    %%usr %%iowait   %%idle\n10:11:13     all   33.00    1.00   66.00\nAverage:     all   33.50    1.50   65.00\n')" \
    '[["all_usr_percent",33],["all_iowait_percent",1],["all_idle_percent",66],["average_all_usr_percent",33.5],["average_all_iowait_percent",1.5],["average_all_idle_percent",65]]'
is "a first column without a title is the step where the others have units" "$(steps '            read MB/s   write MB/s\n   4        12.5        13.5\n   8        14.5        15.5\n')" \
    '[["read_mb_s_MB_per_s",4,12.5],["read_mb_s_MB_per_s",8,14.5],["write_mb_s_MB_per_s",4,13.5],["write_mb_s_MB_per_s",8,15.5]]
[]'
is "... not of scores: it may be a class" "$(keys '              precision    recall\n\n           0       0.90       0.80\n           1       0.70       0.60\n')" '[]'
is "seconds below user, system and elapsed" "$(keys '   user  system elapsed\n  0.078   0.003   0.450\n')" '[["time_user_s",0.078],["time_system_s",0.003],["time_elapsed_s",0.45]]'
is "a time in whole units and again with a fraction" "$(keys 'process-time:          1s       0.51 seconds\n')" '[["process_time_s",0.51]]'
is "energies, and no threshold of one" "$(keys 'converged SCF energy = -76.25\n'; keys '| TOTAL ENERGY    -5.0703 Eh |\n'; keys 'energy convergence thresh: 0.0001\ncutoff energy: 30.0 Ry\n')" \
    '[["converged_scf_energy",-76.25]]
[["total_energy_eh",-5.0703]]
[]'
is "a bar's scores behind a bar" "$(keys '100%%|####| 50/50 [00:00<00:00, 192.79it/s, loss=0.25 | acc=0.5]\n')" '[["rate_op_per_s",192.79],["loss",0.25],["acc",0.5]]'
is "the size of something per second is no rate of operations" "$(keys 'sizePerSec: 639680.15\n')" '[]'
is "a share of what follows \"of\", and no state of the machine" "$(keys 'Lines executed:85.71%% of 7\n'; keys 'ok  \ta/b\t0.005s\tcoverage: 85.7%% of statements\n'; keys 'Memory: 45.5%% of 16 GB\n')" \
    '[["lines_executed_percent",85.71]]
[["a_b_s",0.005],["coverage_percent",85.7]]
[]'
is "brackets around all of a line, and rounds with a number sign" "$(keys '[total 345ms]\n'; steps '** Iteration #1 **\nLoss: 0.5\n** Iteration #2 **\nLoss: 0.25\n')" \
    '[["total_s",0.345]]
[["loss_of_each_step",1,0.5],["loss_of_each_step",2,0.25],["loss",0,0.25]]
[]'
printf '#!/bin/sh\necho "matmul 0.25"\n' >bin/matmul && chmod +x bin/matmul && bin/matmul >none/matmul.out
cp none/matmul.out matmul && "$BENCHWRAP" rules new --from matmul -o matmul.yaml >/dev/null 2>&1
is "a result behind the program's name is no version" "$(grep -c version_cell matmul.yaml 2>/dev/null)" 0
run two --rules none -- bin/mybench
ok "--rules none reads nothing" sh -c '! ls two/mlruns/*/*/metrics/bandwidth_MB_per_s two/mlruns/*/*/tags/benchwrap.rules 2>/dev/null'
like "and plan says so" "$("$BENCHWRAP" plan --rules none -- bin/mybench)" 'rules .*--rules: none'
run three -- bin/mybench 3
is "a program that fails is a failed run all the same" "$(cat three/mlruns/*/*/tags/benchwrap.verdict)" fail
is "for its own reason" "$(cat three/mlruns/*/*/tags/benchwrap.reason)" 'exit status 3'
done_testing
