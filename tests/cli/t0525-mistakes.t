#!/bin/bash
# t0525: mistakes of people who use benchwrap for the first time: each answer names what failed, on what, why, and what to do.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
mkdir folder; echo text >file; echo 'echo hi' >script; printf '#!/bin/sh\necho "rate: 5 MB/s"\n' >prog; chmod +x prog
"$BENCHWRAP" -q -e demo -n one -- ./prog >/dev/null
answers() { # WHAT PATTERN ARGUMENTS…
    local what=$1 pattern=$2; shift 2
    like "$what" "$("$BENCHWRAP" "$@" 2>&1 </dev/null)" "$pattern"
}
answers "a folder instead of a program" '/folder: cannot be executed: Permission denied\. It is a folder: name a program in it' -- "$WORK/folder"
answers "a script without the right to execute" '\./script: cannot be executed: Permission denied\. Make it executable \(chmod \+x\), or name its interpreter first' -- ./script
answers "a program of this folder without ./" 'prog: command not found\. The file in this folder is \./prog$' -- prog
answers "no repetition" '^benchwrap: --repeat: expected a number from 1 to [0-9]+, got "0"' --repeat 0 -- true
answers "a sweep without values" '^benchwrap: --sweep n=: expected NAME=VALUES, for example n=1,2,4$' --sweep n= -- true '{n}'
answers "a server without http://" '"localhost:5000" is not the address of an MLflow server: expected http://HOST:5000, https://.*, or none' --to localhost:5000 -- true
answers "rules that do not exist" '"fioo" is neither an entry of the catalogue \("benchwrap benchmarks"\) nor a file' -r fioo -- true
answers "... with parse, too" '--rules: "fioo" is neither an entry of the catalogue \("benchwrap benchmarks"\) nor a file' parse -r fioo file
answers "a metric without metrics." 'no attribute is called "rate": write metrics\.rate, params\.rate or tags\.rate' ls --filter 'rate > 5'
answers "a misspelt attribute" 'no attribute is called "star_time"; did you mean start_time\?' ls --filter 'star_time > 5'
answers "a run by its folder" 'no run with id or name "mlruns/.*an id has 4 to 32 digits 0-9 a-f, without its folder' show mlruns/0/0123456789abcdef0123456789abcdef
answers "a run that does not exist" 'no run with id or name "nosuch" in .*; the newest run is "last"\); see "benchwrap ls"' show nosuch
answers "pull without an experiment" 'expected an experiment, for example: benchwrap pull http://HOST:5000 EXPERIMENT' pull
answers "a file instead of a folder" '^benchwrap: init: expected a folder, and "file" is a file$' init file
answers "a folder instead of a file" '^benchwrap: report: cannot write \.: Is a directory$' report -o . last
answers "recipe without a verb" '^benchwrap: recipe: expected list, create, check, .* schema or migrate$' recipe
answers "an operand of doctor" '^benchwrap: doctor: expected options only, got "x"$' doctor x
mkdir -p store/0; printf 'experiment_id: 0\n' >store/0/meta.yaml
answers "a store of MLflow by another name" '/store is a store of MLflow: benchwrap reads a folder that is called mlruns' ls -t store
is "... with what to do" "$("$BENCHWRAP" ls -t store 2>&1 | sed -n 's/.*hint: //p')" "rename it, or use a link: ln -s $WORK/store mlruns"
is "... which works" "$(mkdir link && ln -s "$WORK/store" link/mlruns && "$BENCHWRAP" ls -t link 2>&1 | grep -c 'store of MLflow')" 0
answers "a tree that does not exist" 'no runs in .*/nowhere/mlruns yet: record one' ls -t nowhere
# A run has the id that it has on a server, and is deleted here.
id=00112233445566778899aabbccddeeff
mkdir -p .benchwrap/sync/0123456789abcdef; chmod 700 .benchwrap .benchwrap/sync .benchwrap/sync/*
echo '{"known": "complete", "server": "http://s", "run": "'$id'"}' >.benchwrap/sync/0123456789abcdef/$id
answers "a run that is only on the server" "^benchwrap: show: no run with id or name \"$id\"" show $id
done_testing
