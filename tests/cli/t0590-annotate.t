#!/bin/bash
# Notes, names and tags that a later run gives a run: every reader applies them, nothing of the run is altered, and two sites can annotate one run.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit
export BENCHWRAP_SITE=s1
state() { (cd mlruns && find . -path "*$1*" -type f | LC_ALL=C sort | xargs -d '\n' sha256sum); }
tag() { "$BENCHWRAP" show --json "$1" 2>/dev/null | jq -r --arg k "$2" '.tags[$k] // "-"'; }
annotate() { "$BENCHWRAP" annotate "$@" 2>&1; }
printf 'name: prog\nversion: "1"\nreaders:\n  - {name: line, regex: "^result (?<v>.*)", metrics: [{name: speed, cell: v, unit: MB_per_s, from: MB/s, better: higher, headline: max}]}\n' >one.yaml
sed 's/"1"/"2"/; s/name: speed/name: rate/' one.yaml >two.yaml
"$BENCHWRAP" -q -e e -n one --tag team=a --note first --rules one.yaml -- echo result 10 >/dev/null
"$BENCHWRAP" -q -e e -n two -- true
one=$("$BENCHWRAP" ls --json | jq -r '.[] | select(.name == "one") | .id')
for wrong in "$one" "--tag x=1" "$one --tag site=s2" "$one --tag benchwrap.verdict=pass" "$one --remove mlflow.parentRunId" "$one --tag ../x=1" "$one --tag x=1 --remove x" "$one --name $(printf '%0300d' 0)"; do
    # shellcheck disable=SC2086 # several words
    annotate $wrong >/dev/null; is "refused: ${wrong:0:60}" "$?" 125
done
annotate "$one" --note $'a\e[31m' >/dev/null; is "refused: escapes" "$?" 125
out=$(annotate 0123456789abcdef --note x); like "a run that is not there" "$? $out" "^1 .*no run with id"
state "" >before.txt
like "a dry run prints" "$(annotate --dry-run "$one" --note x)" "${one:0:8} +one +e +would be annotated"
is "… and writes nothing" "$(state "")" "$(cat before.txt)"
like "annotated" "$(annotate "$one" --note "<b>cold</b> & quiet" --tag quality=good --remove team --name "cold cache")" "${one:0:8} +one +e +annotated"
by=$(basename "$(dirname "$(dirname "$(ls mlruns/*/*/tags/benchwrap.annotates)")")")
is "by a run that names it" "$(cat mlruns/*/"$by"/tags/benchwrap.annotates) $(cat mlruns/*/"$by"/tags/benchwrap.format) $(cat mlruns/*/"$one"/tags/benchwrap.format)" "$one 2 1"
is "… that copies no artifact" "$(ls mlruns/*/"$by"/artifacts | tr '\n' ' ')" "annotation.json benchwrap.json manifest.json "
is "the run is as it was" "$(state "$one")" "$(grep "$one" before.txt)"
is "ls shows the name, and no annotation" "$("$BENCHWRAP" ls --json | jq -r '.[].name' | sort | tr '\n' ' ')" "cold cache two "
is "ls --all shows the annotation, too" "$("$BENCHWRAP" ls --all --json | jq length)" 3
is "show: name, note, tags" "$(tag "$one" mlflow.runName)|$(tag "$one" mlflow.note.content)|$(tag "$one" quality)|$(tag "$one" team)" "cold cache|<b>cold</b> & quiet|good|-"
like "… on the screen" "$("$BENCHWRAP" show "$one" | tr '\n' ' ')" "Note +<b>cold</b> & quiet.*Annotated +note, name, quality=good, without team"
is "=ID shows the run as recorded" "$(tag "=$one" team)|$(tag "=$one" quality)|$(tag "=$one" mlflow.note.content)" "a|-|first"
is "filters apply it" "$("$BENCHWRAP" ls --filter "tags.quality = 'good' AND attributes.run_name LIKE 'cold%'" --json | jq length) $("$BENCHWRAP" ls --tag team=a --json 2>/dev/null | jq length)" "1 0"
is "columns apply it" "$("$BENCHWRAP" ls --columns run_name,tags.quality,tags.team --format jsonl | head -n 2 | jq -c '[.[]]' | sort | tail -n 1)" '["two",null,null]'
is "export applies it" "$("$BENCHWRAP" export --format jsonl 2>/dev/null | jq -r 'select(.run_id? // .id | startswith("'"${one:0:8}"'")) | .["tags.quality"] // .tags.quality')" good
annotate two --tag quality=bad >/dev/null
is "compare applies it" "$("$BENCHWRAP" compare --by quality --json 2>/dev/null | jq -c '[.groups[].name] | sort')" '["bad","good"]' 
like "the same again changes nothing" "$(annotate "$one" --tag quality=good)" "unchanged"
like "… nor does a name that is there" "$(annotate last --name two)" "unchanged"
annotate "$one" --tag quality=bad --note "" >/dev/null; is "changed and removed" "$(tag "$one" quality)|$(tag "$one" mlflow.note.content)" "bad|-"
annotate "$one" --tag quality=good --name "" >/dev/null; is "… and back again, the recorded name" "$(tag "$one" quality)|$(tag "$one" mlflow.runName)" "good|one"
out=$(annotate "$by" --note x); like "an annotation is not annotated" "$? $out" "^1 .*is itself an annotation"
"$BENCHWRAP" reparse --rules two.yaml "$one" >/dev/null 2>&1
new=$("$BENCHWRAP" ls --json | jq -r '.[] | select(.name == "one") | .id')
is "a run that amends it has its annotations" "$([ "$new" != "$one" ] && echo new)|$(tag "$new" quality)|$(tag "$one" quality)|$(tag "$new" team)" "new|good|good|-"
annotate "$new" --tag seen=yes >/dev/null; is "… and can be annotated" "$(tag "$one" seen) $(grep -L "$one" mlruns/*/*/tags/benchwrap.annotates | wc -l)" "yes 1"
like "check counts them" "$("$BENCHWRAP" check 2>&1)" "5 annotate other runs"

"$BENCHWRAP" export-tree --filter "run_id = '$one'" exported >/dev/null 2>&1; is "an exported run has its annotations and what amends it, others stay" "$("$BENCHWRAP" ls --tree exported/mlruns --all --json | jq length) $("$BENCHWRAP" show --tree exported/mlruns --json | jq -r '.tags.quality')" "6 good"
"$BENCHWRAP" annotate "$new" --name '<b>bold</b>' >/dev/null
is "a report shows the name, escaped" "$("$BENCHWRAP" report "$new" 2>/dev/null | grep -c '&lt;b&gt;bold&lt;/b&gt;' | sed 's/^[1-9].*/some/') $("$BENCHWRAP" report "$new" 2>/dev/null | grep -c '<b>bold')" "some 0"
"$BENCHWRAP" annotate "$new" --name "" >/dev/null

# Secrets and names.
BENCHWRAP_PROFILE=public USER=kq7user annotate two --note "ask kq7user, anna.miller@gmail.com, password=hunter22" >out.txt
is "a public note has no names and no secrets" "$(grep -rlE 'kq7user|miller|gmail|hunter22' mlruns out.txt)" ""
like "… the rest of it stays" "$(tag two mlflow.note.content)" '^ask .{7}, .*password='

# Two sites, a clock that went back, a retracted annotation, a damaged one.
cp -r mlruns other-mlruns && mkdir other && mv other-mlruns other/mlruns
(cd other && BENCHWRAP_SITE=s2 annotate two --tag by=s2 --tag from=s2 >/dev/null)
annotate two --tag by=s1 >/dev/null
cp -rn other/mlruns/. mlruns/
is "two sites annotate one run: the later one counts for each tag" "$(tag two by) $(tag two from)" "s1 s2"
out=$("$BENCHWRAP" check 2>&1); like "check accepts another site's annotation" "$? $out" "^0 "
late=$(grep -l '"by": "s1"' mlruns/*/*/artifacts/annotation.json); late=${late%/artifacts*}
sed -i -E 's/^((start|end)_time: )([0-9]+)([0-9]{8})$/echo \1$((\3 + 10))\4/e' "$late/meta.yaml" # some days later
annotate two --tag by=now >/dev/null; is "a clock that was set back: the last command counts" "$(tag two by)" now
last=$(grep -l '"by": "now"' mlruns/*/*/artifacts/annotation.json); last=${last%/artifacts*}
"$BENCHWRAP" retract --why wrong "=${last##*/}" >/dev/null; is "a retracted annotation changes nothing" "$(tag two by)" s1
mkdir -p c/benchwrap && printf 'exporters:\n- {type: jsonl, name: lake, file: "%s/lake.jsonl"}\n' "$WORK" >c/benchwrap/config.yaml
two=$("$BENCHWRAP" ls --json | jq -r '.[] | select(.name == "two") | .id')
XDG_CONFIG_HOME=$WORK/c "$BENCHWRAP" exporter send lake "=$two" "=${late##*/}" >/dev/null
is "exporters send a run as recorded, and an annotation as its own run" "$(jq -c '[.tags.by, .tags["benchwrap.annotates"] == "'"$two"'"]' lake.jsonl | sort | tr '\n' ' ')" '[null,false] [null,true] '
echo '{"format": 2, "run": 5}' >"$late/artifacts/annotation.json"
out=$("$BENCHWRAP" ls --json 2>err.txt | jq length); like "a damaged annotation is reported, the runs are listed" "$out $(cat err.txt)" "^2 .*${late##*/}: damaged: artifacts/annotation.json: it names no run"
is "… and not applied" "$(tag two by)" s2
out=$("$BENCHWRAP" check 2>&1 | tr '\n' ' '); like "check refuses it" "$out" "error +annotates .*artifacts/annotation.json.*1 of [0-9]+ runs have errors|error +annotates"
done_testing
