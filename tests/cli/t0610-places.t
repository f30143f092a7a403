#!/bin/bash
# Folders with names of any bytes: the run goes into the tree that was named, and its spool directory is released only for that tree.
. "$(dirname "$0")/../lib/tap.sh"

try() # WHAT NAME
{
    mkdir -p "$WORK/w/$2" && cd "$WORK/w/$2" || exit 1
    is "$1: the program's output" "$("$BENCHWRAP" -q -- echo hi 2>"$WORK/err")" hi
    is "$1: nothing to complain about" "$(cat "$WORK/err")" ""
    is "$1: one run in this folder's tree" "$(printf "%s\n" mlruns/*/*/meta.yaml | wc -l)" 1
    like "$1: ls lists it" "$("$BENCHWRAP" ls 2>&1)" "^[0-9a-f]{8}  .*echo "
    "$BENCHWRAP" sync --local >"$WORK/out" 2>&1
    like "$1: sync finds it safe" "$(cat "$WORK/out")" "1 synced to disk"
    is "$1: the spool is empty" "$(ls .benchwrap/spool)" ""
    rm -rf mlruns .benchwrap
}
try "bytes that are not UTF-8" "$(printf 'x\377\200y')"
try "a line end" "$(printf 'a\nb')"
try "quotes and signs" "a \"b' %d \\n \$(x)"
is "no other folder was made" "$(find "$WORK/w" -mindepth 1 -printf . | wc -c)" 3

# Where it lies is told so that the path can be used from here.
mkdir -p "$WORK/from/here" && cd "$WORK/from" || exit 1
like "a tree below" "$("$BENCHWRAP" -t here/mlruns -- true 2>&1)" "run [0-9a-f]{8} in ./here/mlruns    next: benchwrap show -t here/mlruns\$"
like "a tree elsewhere" "$("$BENCHWRAP" -t "$WORK/there/mlruns" -- true 2>&1)" "run [0-9a-f]{8} in $WORK/there/mlruns "

# A run inside a run: its recorder, which goes on for a moment, is nothing that the program has left behind.
rm -rf mlruns
"$BENCHWRAP" -- "$BENCHWRAP" -q -- true 2>"$WORK/err"
is "no process was left behind" "$(grep -c 'left behind' "$WORK/err"; ls mlruns/*/*/metrics/run.left_running 2>/dev/null)" 0

# The working directory is gone.
mkdir "$WORK/gone" && cd "$WORK/gone" && rmdir "$WORK/gone" || exit 1
is "without a working directory the program runs" "$("$BENCHWRAP" -- echo hi 2>"$WORK/err")" hi
like "it is said" "$(cat "$WORK/err")" "^benchwrap: .*working directory was removed"
like "and the run is kept in the folder for such" "$(cat "$WORK/err")" "run [0-9a-f]{8} in $HOME/.local/state/benchwrap/mlruns "
like "ls looks there" "$("$BENCHWRAP" ls)" "^[0-9a-f]{8}  .*echo "
like "doctor works" "$("$BENCHWRAP" doctor --all 2>&1)" "hwloc"

# Of many recorders one sees to what earlier runs left; who finds another at it leaves it alone.
mkdir "$WORK/swept" && cd "$WORK/swept" || exit 1
"$BENCHWRAP" -q -- true
old=$(ls .benchwrap/spool) && touch -d '5 minutes ago' ".benchwrap/spool/$old/published"
exec 9<.benchwrap/spool
flock 9
"$BENCHWRAP" -q -- true 9<&-
wait_until idle
ok "what is old stays while somebody else is at it" test -d ".benchwrap/spool/$old"
exec 9<&-
"$BENCHWRAP" -q -- true
wait_until '[ ! -d ".benchwrap/spool/$old" ]' 150 # at the lowest priority
ok "then it goes" test ! -e ".benchwrap/spool/$old"

# What cannot be read is not thrown away, however old: a newer benchwrap wrote it, its first line is damaged, or it is no file.
mkdir "$WORK/kept" && cd "$WORK/kept" || exit 1
"$BENCHWRAP" -q -- true
left() { echo ".benchwrap/spool/0000000000000000000000000000000$1"; }
mkdir "$(left 1)" "$(left 2)" "$(left 3)" "$(left 4)" "$(left 3)/journal"
echo '00000000 {"journal":1}' >"$(left 1)/journal"
echo 'd91654d0 {"journal":2,"id":"00000000000000000000000000000002","start":1700000000000}' >"$(left 2)/journal"
printf '12345678 {"jour' >"$(left 4)/journal" # killed while it was written: nothing was promised
for i in 1 2 3 4; do echo output >"$(left $i)/stdout.log"; done
touch -d '2 hours ago' .benchwrap/spool/0*/* .benchwrap/spool/0*
"$BENCHWRAP" sync --local >out 2>&1
is "sync --local: it is a failure" "$?" 1
is "each is kept with its output" "$(cat "$(left 1)/stdout.log" "$(left 2)/stdout.log" "$(left 3)/stdout.log" | wc -l)" 3
is "and told" "$(grep -c '^run 0.* is kept as it is in .*spool: ' out)" 3
like "the newer one" "$(cat out)" 'version 2, this program knows version 1: use the newer benchwrap'
ok "what never was a run goes" test ! -e "$(left 4)"
like "their number" "$(cat out)" ' 3 failed'

# A published run whose tree is out of reach is not released.
mkdir "$WORK/reach" && cd "$WORK/reach" || exit 1
"$BENCHWRAP" -q -t tree/mlruns -- true
mv tree aside && ln -s tree tree
"$BENCHWRAP" sync -t aside/mlruns --local >out 2>&1
find . -path '*/spool/*/published' >found
like "out of reach: kept" "$(cat found)" published
like "and told" "$(cat out)" 'is kept as it is in .*: spool: cannot open .*tree'

# In the folder that several trees share, a tree sees to its own runs: another's may be out of reach.
cd "$WORK" && mkdir other mine || exit 1
touch other/.benchwrap # no folder for a spool
state=$HOME/.local/state/benchwrap/spool
rm -rf "$state"
{ "$BENCHWRAP" -q -t other/mlruns -e theirs -- sh -c 'until grep -qs "\"started\"" "$0"/*/journal; do sleep 0.05; done; kill -KILL $(pgrep -P $PPID -f -- --recorder); exit 0' "$state"; } 2>err
like "its journal is in the shared folder" "$(ls "$state")" "^[0-9a-f]{32}"
mv other gone && mkdir other && touch other/mlruns
mkdir "$state/00000000000000000000000000000001" && echo '00000000 {"journal":1}' >"$state/00000000000000000000000000000001/journal"
touch -d '2 hours ago' "$state"/0*/* "$state"/0*
(cd mine && "$BENCHWRAP" -q -- true && "$BENCHWRAP" sync --local) >out 2>&1
is "sync in one tree does not fail because of another's runs" "$?" 0
like "it says whose they are" "$(cat out)" "^1 run of another tree waits in $state; to finish it: benchwrap sync --local --tree $WORK/other/mlruns"
like "and what cannot be read" "$(cat out)" "^run 00000000 is kept as it is in "
rm -rf other && mv gone other && rm other/.benchwrap
"$BENCHWRAP" sync --local -t other/mlruns >out 2>&1
is "its own tree finishes it" "$? $(find other/mlruns -path '*/tags/benchwrap.ended' | wc -l)" "0 1"

# The command that finishes another tree's runs is one that a shell reads.
mkdir "o'ther tree" && touch "o'ther tree/.benchwrap"
{ "$BENCHWRAP" -q -t "o'ther tree/mlruns" -e theirs -- sh -c 'until grep -qs "\"started\"" "$0"/*/journal; do sleep 0.05; done; kill -KILL $(pgrep -P $PPID -f -- --recorder); exit 0' "$state"; } 2>err
touch -d '2 hours ago' "$state"/*/* "$state"/*
(cd mine && "$BENCHWRAP" sync --local) >out 2>&1
command=$(sed -n "s|^1 run of another tree waits in .*; to finish it: benchwrap \(.*\)|\1|p" out)
eval "'$BENCHWRAP' $command" >out 2>&1
is "a tree with a quote and a blank in its path" "$? $(find "o'ther tree/mlruns" -path '*/tags/benchwrap.ended' | wc -l)" "0 1"
done_testing
