#!/bin/bash
# Kept outputs read again by newer rules: a new run amends the old one, nothing of the old is altered, and readers take the new one.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit
mkdir tmp
export TMPDIR="$WORK/tmp"
record() { "$BENCHWRAP" -q -e e "$@" >out.txt 2>err.txt; }

rules() # NAME COLUMN VERSION: rules that read one number of a line
{
    cat <<END
name: prog
version: "$3"
readers:
  - name: line
    regex: '^result (?<first>\S+) (?<second>\S+)'
    params:
      - {param: flavour, cell: first, type: text}
    metrics:
      - {name: speed, cell: $2, unit: MB_per_s, from: MB/s, better: higher, headline: max}
checks:
  - {expect: "samples(speed) > 0", reason: "no speed was printed"}
END
}
rules prog first 1 >v1.yaml
rules prog second 2 >v2.yaml
sed 's/speed, cell: second/velocity, cell: second/; s/samples(speed)/samples(velocity)/; s/"2"/"3"/' v2.yaml >v3.yaml
id_of() { "$BENCHWRAP" ls --all --json | jq -r --arg name "$1" '.[] | select(.name == $name).id'; }
state() { (cd mlruns && find . -type f | LC_ALL=C sort | xargs -d '\n' sha256sum); }

record -n one --rules ./v1.yaml --param mine=7 --tag who=me -a 'extra.txt' -- \
    sh -c 'echo 17 >extra.txt; echo "result 10 20"; echo "result 11 22"; echo noise >&2'
first=$(id_of one)
state >before.txt

out=$("$BENCHWRAP" reparse --rules ./v1.yaml "$first")
is "the same rules change nothing" "$out" "0 amended, 1 unchanged, 0 skipped"
is "… and write nothing" "$(state)" "$(cat before.txt)"

out=$("$BENCHWRAP" reparse --dry-run --rules ./v2.yaml "$first")
like "a dry run shows the differences" "$out" "^$(echo "$first" | cut -c1-8) +metric +speed_MB_per_s.max +11 MB_per_s +22 MB_per_s$"
like "… and counts" "$out" "^1 would be amended"
is "… and writes nothing" "$(state)" "$(cat before.txt)"
is "… nor leaves anything" "$(find .benchwrap/spool -name '.making*' | wc -l; find tmp -mindepth 1 | wc -l)" "$(printf '0\n0')"

out=$("$BENCHWRAP" reparse --json --rules ./v2.yaml "$first")
is "read again" "$(echo "$out" | field runs/0/result)" amended
second=$(echo "$out" | field runs/0/amending)
is "the old run is as it was" "$(state | grep "$first")" "$(grep "$first" before.txt)"
is "it names the run that it amends" "$(cat mlruns/*/"$second"/tags/benchwrap.amends)" "$first"
is "in the same experiment" "$(cd mlruns && ls -d ./*/"$second" | cut -d/ -f2)" "$(cd mlruns && ls -d ./*/"$first" | cut -d/ -f2)"
is "the new number" "$(cut -d' ' -f2 mlruns/*/"$second"/metrics/speed_MB_per_s | tr '\n' ' ')" "20 22 "
is "params of one's own are kept" "$(cat mlruns/*/"$second"/params/mine)" 7
is "tags too" "$(cat mlruns/*/"$second"/tags/who)" me
is "what was seen of the machine is kept" "$(cat mlruns/*/"$second"/params/cpu.threads)" "$(cat mlruns/*/"$first"/params/cpu.threads)"
is "all metrics that the rules did not make are kept" "$(cd mlruns/*/"$second"/metrics && find . -type f ! -name 'speed*' | sort | xargs -d '\n' sha256sum)" \
    "$(cd mlruns/*/"$first"/metrics && find . -type f ! -name 'speed*' | sort | xargs -d '\n' sha256sum)"
is "the streams are kept" "$(cat mlruns/*/"$second"/artifacts/stdout.log mlruns/*/"$second"/artifacts/stderr.log)" "$(printf 'result 10 20\nresult 11 22\nnoise')"
is "files are kept" "$(cat mlruns/*/"$second"/artifacts/files/extra.txt)" 17
is "the rules are those of now" "$(cat mlruns/*/"$second"/artifacts/rules.yaml)" "$(cat v2.yaml)"
is "their version is told" "$(cat mlruns/*/"$second"/tags/benchwrap.rules_version)" 2

out=$("$BENCHWRAP" reparse --rules ./v2.yaml "$first")
is "once more changes nothing" "$out" "0 amended, 1 unchanged, 0 skipped"
is "ls shows the amending run only" "$("$BENCHWRAP" ls --json | field 0/id) $("$BENCHWRAP" ls --json | jq length)" "$second 1"
is "ls --all shows both" "$("$BENCHWRAP" ls --all --json | jq length)" 2
is "show takes it for the old one" "$("$BENCHWRAP" show "$first" --json 2>/dev/null | field id)" "$second"
like "… and says so" "$("$BENCHWRAP" show "$first" 2>&1 >/dev/null)" "is amended by"
is "the old one can be had" "$("$BENCHWRAP" show "=$first" --json | field id)" "$first"

"$BENCHWRAP" reparse --rules ./v3.yaml "$first" >/dev/null 2>&1
third=$("$BENCHWRAP" ls --json | field 0/id)
is "a correction of a correction names the first run" "$(cat mlruns/*/"$third"/tags/benchwrap.amends)" "$first"
is "… and is the one shown, for each of them" "$(for i in $first $second $third; do "$BENCHWRAP" show "$i" --json 2>/dev/null | field id; done | sort -u)" "$third"
is "metrics that are no more are not kept" "$(ls mlruns/*/"$third"/metrics | grep -c '^speed')" 0

# What cannot be read again is left alone, with the reason.
record -n cut --rules ./v1.yaml --log-max 200 -- sh -c 'seq 1 500; echo "result 1 2"'
cut=$(id_of cut)
out=$("$BENCHWRAP" reparse --rules ./v2.yaml "$cut" 2>&1)
is "named and skipped is status 1" "$?" 1
like "a cut output is not read again" "$out" "part of its output was not kept"
record -n public --profile public --rules ./v1.yaml -- echo "result 1 2"
is "a public one is read as it was kept" "$("$BENCHWRAP" reparse --rules ./v2.yaml "$(id_of public)" >/dev/null 2>&1; echo $?)" 0
record -n silent -- true
like "nor none" "$("$BENCHWRAP" reparse --rules ./v2.yaml "$(id_of silent)" 2>&1)" "no output was kept"
record -n other -- echo "result 1 2"
like "rules that nobody knows" "$("$BENCHWRAP" reparse "$(id_of other)" 2>&1)" "no rules for it"
"$BENCHWRAP" reparse >/dev/null 2>&1
is "no run at all is a mistake of use" "$?" 125

# What became of the program stays; failed runs stay failed.
record -n bad --rules ./v1.yaml -- sh -c 'echo "result 1 2"; exit 3'
out=$("$BENCHWRAP" reparse --json --rules ./v2.yaml "$(id_of bad)")
bad=$(echo "$out" | field runs/0/amending)
is "a failed program stays failed" "$(grep -h '^status' mlruns/*/"$bad"/meta.yaml) $(cat mlruns/*/"$bad"/tags/benchwrap.verdict)" "status: 4 fail"
# … and a run that failed for want of its number is one that is whole, when the rules find it.
record -n blind --rules ./v1.yaml -- echo "Result 1 2"
is "first without its number" "$(grep -h '^status' mlruns/*/"$(id_of blind)"/meta.yaml)" "status: 4"
sed "s/'^result/'^[Rr]esult/" v1.yaml >v4.yaml
out=$("$BENCHWRAP" reparse --json --rules ./v4.yaml "$(id_of blind)")
is "then with it" "$(grep -h '^status' mlruns/*/"$(echo "$out" | field runs/0/amending)"/meta.yaml)" "status: 3"

# Retraction.
root=$(id_of other)
retract=4cd605e7afa25360b5b9c5e9fb5c76f4
dir=$(dirname "$(ls -d mlruns/*/"$root")")
cp -r "$dir/$root" "$dir/$retract"
sed -i "s/$root/$retract/g" "$dir/$retract/meta.yaml"
printf %s "$root" >"$dir/$retract/tags/benchwrap.retracts"
is "a retracted run is not listed" "$("$BENCHWRAP" ls --json | grep -c -e "$root" -e "$retract")" 0
like "show says that it is retracted" "$("$BENCHWRAP" show "$root" 2>&1 >/dev/null)" "is retracted"

# Filters.
out=$("$BENCHWRAP" reparse -e e --dry-run --rules ./v2.yaml)
like "filters choose runs" "$out" "would be amended, [0-9]+ unchanged, [0-9]+ skipped"

# The statistics of a parent run are computed again, see t0812.
"$BENCHWRAP" -q -e parents --repeat 2 --rules ./v1.yaml -- echo "result 1 2" >/dev/null 2>&1
out=$("$BENCHWRAP" reparse -e parents --rules ./v2.yaml 2>&1)
like "the child runs of a series are amended, and the series" "$out" "3 amended"

# Killed in the middle: nothing half, nothing twice.
rm -rf mlruns .benchwrap
for i in 1 2 3 4 5 6 7 8; do record -n "k$i" --rules ./v1.yaml -- echo "result $i 2$i"; done
for i in $(seq 1 "$(long_tests && echo 25 || echo 3)"); do
    "$BENCHWRAP" reparse --all --rules ./v2.yaml >/dev/null 2>&1 &
    sleep "0.0$((i % 9))$((i % 5))"
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
done
"$BENCHWRAP" reparse --all --rules ./v2.yaml >/dev/null
is "each run is amended once" "$(cat mlruns/*/*/tags/benchwrap.amends | fold -w 32 | sort | uniq -c | awk '{print $1}' | sort | uniq -c | awk '{print $1 "x" $2}')" 8x1
is "no run is half" "$(for d in mlruns/*/*/metrics; do [ -f "$d/../meta.yaml" ] && [ -f "$d/../artifacts/manifest.json" ] || echo "$d"; done)" ""
touch -c -d '2 days ago' .benchwrap/spool/.making* 2>/dev/null # without a first line it may be somebody's, until it is old
"$BENCHWRAP" reparse --all --rules ./v2.yaml >/dev/null
is "nothing is left being made" "$(ls -A .benchwrap/spool | grep -c '^.making')" 0
is "ls shows eight" "$("$BENCHWRAP" ls --json | jq length)" 8
done_testing
