#!/bin/bash
# Which command lines are the same inputs, for compare --history and for compare, where no rule explains the arguments: their order and the written form
# of options count. tests/unit/compare/argument_list.c has more lines.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >rules.yaml <<'Y'
name: x
version: "1"
readers:
  - {name: speed, regex: '^speed: (?<v>\S+)', metrics: [{name: speed, cell: v, unit: MB_per_s, better: higher}]}
Y
printf '#!/bin/sh\necho speed: 12.5\n' >prog && chmod +x prog
count=0 options=
pair() # same|NAME FIRST SECOND [PROGRAM]: words of two command lines, of PROGRAM or, with "", without it; NAME: the argument in which they differ
{
    count=$((count + 1)) pair="[${2:0:30}], [${3:0:30}]"
    pair=${pair//$'\n'/ }
    for line in "$2" "$3"; do eval "\"\$BENCHWRAP\" -q $options -e e$count -r rules.yaml -- ${4-./prog} $line" >/dev/null 2>err || cat err; done
    "$BENCHWRAP" compare --history >history.out
    "$BENCHWRAP" compare last~1 last >compare.out
    earlier=$(grep -c '^History: 1 earlier run ' history.out)
    if [ "$1" = same ]; then
        is "$pair: one history" "$earlier" 1
        like "… and the same inputs" "$(cat compare.out)" '^A and B have the same inputs\.'
    else
        is "$pair: two histories" "$earlier" 0
        like "… which differ in $1" "$(cat history.out)" "differ in ([^;]*, )?argument\.$1[,;]"
        like "… so do the inputs" "$(cat compare.out)" "^Inputs that differ: .*argument\.$1[,.]"
    fi
}
pair order '--a 1 --b 2' '--b 2 --a 1'
pair order '-ss 10 -i a out' '-i a -ss 10 out'
pair 1 "$'\\xff'" "$'\\xfe'"
is "a byte that is no text is recorded as its digits" "$(jq -r '.run.argv[1]' mlruns/*/"$("$BENCHWRAP" ls -e e$count --json | jq -r '.[0].id')"/artifacts/benchwrap.json)" $'\xef\xbf\xbdfe'
is "with --ignore its place does not count either" "$("$BENCHWRAP" -q -e ignored -r rules.yaml -- ./prog --b 2 --a 1 >/dev/null
"$BENCHWRAP" -q -e ignored -r rules.yaml -- ./prog --a 1 >/dev/null
"$BENCHWRAP" compare --history --ignore argument.b | grep -c '^History: 1 earlier run ')" 1
pair v '-v' '-v -v'
pair x '-x a -x b' '-x b'
pair x '-x a -x b' '-x b -x a'
pair x "-x 'a, b'" '-x a -x b'
pair sync '--sync' ''
pair n4 '-n4' '-n5'
pair -- '-- a' 'a'
pair 1 "'a b'" 'a b'
pair 1 'in out' 'out in'
pair 3 '1 2 3' '1 2'
pair c $'-c \'echo 1\necho 2\'' $'-c \'echo 1\necho 3\''
pair c $'-c \'a\nb\'' $'-c \'b\na\''
pair 5000 "$(seq -s ' ' 5000)" "$(seq -s ' ' 4999) 7"
pair 1 "$(printf '%050000d' 1)" "$(printf '%050000d' 2)"
pair size '--size=' '--size 1'
pair size '--size=' '--size'
pair order '-O2 -O3' '-O3 -O2'
pair order '--color --no-color' '--no-color --color'
pair order '-O2 --b' '--b -O2'
pair lr '--lr=1e-3' '--lr=0.001'

# What starters before the program say is part of the command line, but for names, limits of time, and what step.* records.
mkdir bin && PATH=$WORK/bin:$PATH
for p in numactl docker mpirun srun ssh autossh flux strace; do printf '#!/bin/sh\nfor last; do :; done\nexec "$last"\n' >bin/$p && chmod +x bin/$p; done
pair env.OMP_NUM_THREADS 'env OMP_NUM_THREADS=1 ./prog' 'env OMP_NUM_THREADS=2 ./prog' ''
pair numactl.m 'numactl -N0 -m0 ./prog' 'numactl -N0 -m1 ./prog' ''
pair nice 'nice -n 5 ./prog' './prog' ''
pair taskset.1 'taskset 0x1 ./prog' 'taskset 0x3 ./prog' ''
pair pass '--pass 1' '--pass 2'
pair docker.2 'docker run image:1 ./prog' 'docker run image:2 ./prog' ''
pair docker.cpus 'docker run --cpus 1 image ./prog' 'docker run --cpus=2 image ./prog' ''
pair ssh.1 'ssh n1 ./prog' 'ssh n2 ./prog' ''
pair mpirun.bind-to 'mpirun --bind-to core -n 1 ./prog' 'mpirun --bind-to none -n 1 ./prog' ''
pair mpirun.btl 'mpirun --mca btl self,tcp -n 1 ./prog' 'mpirun --mca btl self,vader -n 1 ./prog' ''
pair srun.cpu-bind 'srun -n1 --cpu-bind=cores ./prog' 'srun -n1 ./prog' ''
pair same 'docker run --rm -it --name a image ./prog' 'docker run --name=b image ./prog' ''
pair same 'timeout 20 nohup ./prog' 'timeout -k 1 30 ./prog' ''
pair same 'srun -J a -o x -n1 ./prog' 'srun --ntasks=1 --job-name=b -l ./prog' ''
pair same 'autossh -M 0 -v n1 ./prog' 'autossh -M 0 n1 ./prog' ''
pair same 'flux run -l -n1 -o a=1 --job-name=a ./prog' 'flux run -n1 -o a=1 --output x ./prog' ''
pair same 'strace -f -o a ./prog' 'strace -f -o b ./prog' ''
pair same 'env B=2 A=1 ./prog' 'env A=1 B=2 ./prog' ''
is "a swept word of a starter is the sweep's" "$("$BENCHWRAP" -q -e swept -r rules.yaml --sweep t=1,2 -- env T={t} ./prog >/dev/null 2>&1
"$BENCHWRAP" compare --by t -e swept | grep -c 'argument')" 0

# Hidden values may differ although they look alike: every comparison of runs names them.
hidden() # NAMES: what the last pair of lines hides
{
    for file in compare.out history.out; do
        like "hidden values cannot be compared ($file)" "$(cat $file)" "^Hidden values may differ: $1\\."
    done
    is "… in JSON" "$("$BENCHWRAP" compare last~1 last --json | jq -r .keys.hidden) $("$BENCHWRAP" compare --history --json | jq -r .key.hidden)" "$1 $1"
}
pair same '--secret aa' '--secret bb'
hidden --secret
pair same '--secret=aa --url http://u:abcdefgh@h/' '--secret=bb --url http://u:bcdefghi@h/'
hidden '--secret, --url'
like "… in a proposal" "$("$BENCHWRAP" reference -e e$count 2>&1)" '^# hidden values may differ: --secret, --url'
like "… in a history" "$("$BENCHWRAP" history -e e$count | tr -s '\n ' ' ')" 'Hidden values may differ: --secret, --url\.'
pair same '-f x' '-f x'
is "a short value is not hidden" "$(cat compare.out history.out | grep -c 'Hidden values')" 0
options='--profile public'
pair same '--host 10.1.2.3 --dir=/home/alice/x' '--host 10.4.5.6 --dir=/home/bobby/x'
hidden '--host, --dir'
options=''

# Variables around benchwrap are no inputs: a comparison names those that differ.
for t in 1 4; do OMP_NUM_THREADS=$t "$BENCHWRAP" -q -e around -r rules.yaml -- ./prog >/dev/null; done
like "compare names variables that differ" "$("$BENCHWRAP" compare last~1 last)" '^The environment differs: env\.omp_num_threads \(1, 4\)\.'
like "… and so does the history" "$("$BENCHWRAP" compare --history)" '^The environment differs \(earlier runs, this run\): env\.omp_num_threads \(1, 4\)\.'

# Runs without a command line, and without a machine: what is not known is said.
for i in 1 2; do
    sed "s/^Triad: .*/Triad: 3000$i.0 0.01 0.01 0.01/" "$ROOT/benchmarks/catalogue/stream/samples/5.10-zen/stdout" >"s$i.out"
    "$BENCHWRAP" import -e imported "s$i.out" >/dev/null 2>&1
done
like "of imported runs the history states what is not known" "$("$BENCHWRAP" compare --history | tr -s '\n ' ' ')" \
    'with the same recorded inputs\. The command lines are not known\. The hardware is not recorded\.'
like "of others it does not" "$("$BENCHWRAP" compare --history "$("$BENCHWRAP" ls -e e1 --json | jq -r '.[0].id')" | tr -s '\n ' ' ')" 'with the same inputs on the same node type\. '
done_testing
