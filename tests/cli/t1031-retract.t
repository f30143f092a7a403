#!/bin/bash
# A run is withdrawn by a run that says so: nothing of the old one is altered, readers leave it out, and once is enough.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit
id_of() { "$BENCHWRAP" ls --all --json | jq -r --arg n "$1" '.[] | select(.name == $n) | .id'; }
state() { (cd mlruns && find . -path "*$1*" -type f | LC_ALL=C sort | xargs -d '\n' sha256sum); }
for i in one two; do "$BENCHWRAP" -q -e e -n "$i" --site s1 -- echo "$i"; done
one=$(id_of one) two=$(id_of two)
out=$(BENCHWRAP_SITE=s2 "$BENCHWRAP" retract --why x "$one" 2>&1); like "another site's run is not retracted" "$? $out" "^1 .*is a run of the site .s1., and this is the site s2"
export BENCHWRAP_SITE=s1
"$BENCHWRAP" retract "$one" >/dev/null 2>&1; is "without a reason nothing is retracted" "$?" 125
"$BENCHWRAP" retract --why "  " "$one" >/dev/null 2>&1; is "nor with an empty one" "$?" 125
"$BENCHWRAP" retract --why x >/dev/null 2>&1; is "nor nothing" "$?" 125
out=$("$BENCHWRAP" retract --why x 0123456789abcdef 2>&1); like "nor what is not there" "$? $out" "^1 .*no run with id"
state "" >before.txt
out=$("$BENCHWRAP" retract --dry-run --why "wrong disk" "$one"); like "a dry run tells" "$out" "${one:0:8} +one +e +would be retracted"
is "… and writes nothing" "$(state "")" "$(cat before.txt)"
out=$("$BENCHWRAP" retract --why $'wrong\tdisk "x"' "${one:0:12}"); like "retracted" "$? $out" "${one:0:8} +one +e +retracted"
new=$(basename "$(dirname "$(dirname "$(ls mlruns/*/*/tags/benchwrap.retracts)")")")
is "by a run that names it" "$(cat mlruns/*/"$new"/tags/benchwrap.retracts)" "$one"
is "… and the reason" "$(cat mlruns/*/"$new"/tags/benchwrap.why)" $'wrong\tdisk "x"'
is "… in the same experiment" "$(ls -d mlruns/*/"$new" | cut -d/ -f2)" "$(ls -d mlruns/*/"$one" | cut -d/ -f2)"
is "… with what MLflow wants of a run" "$(cd mlruns/*/"$new" && for d in params metrics tags artifacts; do ls $d | head -n 1 | grep -c .; done | tr -d '\n')" 1111
is "the old run is as it was" "$(state "$one")" "$(grep "$one" before.txt)"
is "ls leaves both out" "$("$BENCHWRAP" ls --json | jq -r '.[].name' | tr '\n' ' ')" "two "
is "ls --all shows them" "$("$BENCHWRAP" ls --all --json | jq length)" 3
like "show says what became of it" "$("$BENCHWRAP" show "$one" 2>&1 >/dev/null)" "is retracted"
like "… by which run, whose, when and why" "$("$BENCHWRAP" show "$one" 2>&1 >/dev/null)" "the run ${one:0:8} is retracted by the run ${new:0:8}, site s1, [0-9]{4}-[0-9 :-]+: wrong.+disk \"x\""
like "… and the retraction that it retracts" "$("$BENCHWRAP" show "$new" 2>&1 >/dev/null)" "the run ${new:0:8} retracts the run ${one:0:8}, site s1, [0-9]{4}-[0-9 :-]+: wrong.+disk"
like "check names the retraction" "$("$BENCHWRAP" check)" "3 runs checked, 1 retracts another run"
out=$("$BENCHWRAP" retract --why $'wrong\tdisk "x"' "$one" 2>/dev/null); is "the same word again is no new run" "$? $("$BENCHWRAP" ls --all --json | jq length)" "0 3"
out=$("$BENCHWRAP" retract --why again "=$new" 2>&1); like "a retraction is not retracted" "$? $out" "^1 .*is itself a retraction, of the run ${one:0:8}"
out=$("$BENCHWRAP" retract --json --why "several at once" "$two" "=$one"); is "several at once, as JSON" "$(echo "$out" | jq -r '.[].result' | tr '\n' ' ')" "retracted retracted "
is "nothing is left of the tree's runs" "$("$BENCHWRAP" ls --json 2>/dev/null | jq length)" 0
like "… and ls says what is there" "$("$BENCHWRAP" ls 2>&1)" 'no runs in .*; "ls --all" also lists [0-9]+ retractions and retracted runs'
BENCHWRAP_PROFILE=public "$BENCHWRAP" retract --why "in public" "=$two" >/dev/null
is "the public profile names no host and no user" "$(grep -l 'in public' mlruns/*/*/tags/benchwrap.why | xargs dirname | xargs dirname | xargs -I{} sh -c 'grep -c "^user_id: \"\"" {}/meta.yaml; jq -r .run.host {}/artifacts/benchwrap.json')" "$(printf '1\n')"
public=$(basename "$(dirname "$(dirname "$(grep -l 'in public' mlruns/*/*/tags/benchwrap.why)")")")
like "show has its site, as of other runs" "$("$BENCHWRAP" show "=$public" 2>/dev/null)" "^  s1, [0-9]{4}-"
# The reason is a text like any other of the record: without secrets, and in the public profile without names.
BENCHWRAP_PROFILE=public USER=kq7user "$BENCHWRAP" retract --why "ask kq7user, anna.miller@gmail.com at 10.1.2.3, password=hunter22" "=$two" >out.txt; is "a reason with names in public" "$?" 0
is "… is recorded without them" "$(grep -rlE 'kq7user|miller|gmail|10\.1\.2\.3|hunter22' mlruns out.txt)" ""
is "… and the rest of it stays" "$(grep -lE '^ask .{7}, .* at .*, password=' mlruns/*/*/tags/benchwrap.why | grep -c .)" 1
"$BENCHWRAP" retract --why "ask kq8user, password=hunter23" "=$two" >/dev/null
is "the private profile leaves out secrets alone" "$(grep -l '^ask kq8user, password=' mlruns/*/*/tags/benchwrap.why | grep -c .) $(grep -rl hunter23 mlruns)" "1 "

# A clock that was set back behind the run and what amends it: the retraction counts all the same.
printf 'name: prog\nversion: "1"\nreaders:\n  - {name: line, regex: "^result (?<v>.*)", metrics: [{name: speed, cell: v, unit: MB_per_s, from: MB/s, better: higher, headline: max}]}\n' >one.yaml
sed 's/"1"/"2"/; s/name: speed/name: rate/' one.yaml >two.yaml
"$BENCHWRAP" -q -e clock --rules one.yaml -- echo result 10 >/dev/null && "$BENCHWRAP" reparse --rules two.yaml last >/dev/null
for meta in $("$BENCHWRAP" ls -e clock --all --json | jq -r '.[].id' | sed 's,.*,mlruns/*/&/meta.yaml,'); do
    # shellcheck disable=SC2086 # a pattern
    sed -i -E 's/^((start|end)_time: )([0-9]+)([0-9]{8})$/echo \1$((\3 + 10))\4/e' $meta # some days later
done
is "a clock that was set back: retracted" "$("$BENCHWRAP" retract --why "back" "$("$BENCHWRAP" ls -e clock --json | jq -r '.[].id')" 2>/dev/null | grep -c retracted) $("$BENCHWRAP" ls -e clock --json 2>/dev/null | jq length)" "1 0"
is "… and starts 1 ms behind the amendment" "$("$BENCHWRAP" ls -e clock --all --json | jq -r '.[].id' | sed 's,.*,mlruns/*/&/meta.yaml,' | xargs -I{} sh -c 'sed -n "s/^start_time: //p" {}' | sort -n | awk '{ printf "%s ", (NR > 1 ? $1 - was : ""); was = $1 }')" " 1 1 "
done_testing
