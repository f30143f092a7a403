#!/bin/bash
# sanitizer: long, because CI has fifteen minutes for everything
# Statistics of a parent run follow its child runs: when those are amended or retracted, the parent run is amended, too.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit
unset BENCHWRAP_TREE
rules() # COLUMN VERSION
{
    cat <<END
name: prog
version: "$2"
readers:
  - name: line
    regex: '^result (?<first>\S+) (?<second>\S+)'
    metrics:
      - {name: speed, cell: $1, unit: MB_per_s, from: MB/s, better: higher, headline: max}
END
}
rules first 1 >v1.yaml
rules second 2 >v2.yaml
# shellcheck disable=SC2016
echo 'n=$(($(cat n) + 10)); echo $n >n; echo "result $n ${n}0"' >prog
record() { echo 0 >n; "$BENCHWRAP" -q -e e --site alpha --rules ./v1.yaml "$@" -- sh ./prog {x} >/dev/null 2>&1; }
key=speed_MB_per_s
speed() { "$BENCHWRAP" show "$1" --json 2>/dev/null | jq -r ".metrics[] | select(.key == \"$key.$2\").value"; } # RUN STATISTIC
read_parent() # every reader: "ls show export compare"
{
    printf '%s ' "$("$BENCHWRAP" ls --json | jq -r '.[] | select(.parent == null).headline_1')" "$(speed "$1" median)" \
        "$("$BENCHWRAP" export --format jsonl | jq -r ".\"metrics.$key.median\" // empty")" \
        "$("$BENCHWRAP" compare "$1" "$1" 2>/dev/null | awk '$1 == "speed" { print $3 }')"
}

record --repeat 3
parent=$("$BENCHWRAP" ls --json | jq -r '.[0].id')
is "every reader prints the median of the repetitions" "$(read_parent "$parent")" "20 20 20 20 "
like "a dry run names the parent run" "$("$BENCHWRAP" reparse --dry-run -e e --rules ./v2.yaml 2>&1)" "${parent:0:8} would be amended: its statistics would be computed again"
find mlruns -path "*$parent*" -type f -exec sha256sum {} + | sort >before.txt
out=$("$BENCHWRAP" reparse -e e --rules ./v2.yaml 2>&1)
is "reparse amends the parent run after its child runs" "$(printf '%s\n' "$out" | awk '$3 == "'$key.median'" { print $1, $4, $6 }; END { print }')" "${parent:0:8} 20 200
4 amended, 0 unchanged, 0 skipped"
is "… and every reader prints the new median" "$(read_parent "$parent")" "200 200 200 200 "
is "… and no file of the old one changed" "$(find mlruns -path "*$parent*" -type f -exec sha256sum {} + | sort)" "$(cat before.txt)"
is "… and keeps its wall time" "$(speed "$parent" n) $("$BENCHWRAP" show "$parent" --json 2>/dev/null | jq '.metrics[] | select(.key == "series.wall_s").value')" \
    "3 $("$BENCHWRAP" show "=$parent" --json | jq '.metrics[] | select(.key == "series.wall_s").value')"
is "… with its child runs below it" "$("$BENCHWRAP" ls --json | jq -r length) $("$BENCHWRAP" ls -c | grep -c '#')" "1 3"
is "once more changes nothing" "$("$BENCHWRAP" reparse -e e --rules ./v2.yaml 2>&1)" "0 amended, 4 unchanged, 0 skipped"
is "check accepts it" "$("$BENCHWRAP" check --json | jq -c '[.findings[].finding] | unique')" '["rules-unknown"]'

child=$("$BENCHWRAP" ls -c --json | jq -r ".[] | select(.name | endswith(\"#1\")).id")
export BENCHWRAP_SITE=alpha
like "retract: the parent run is amended" "$("$BENCHWRAP" retract --why "disk full" "$child" 2>&1)" "amends ${parent:0:8}: its statistics are those of the other child runs"
is "… and every reader prints the median of the others" "$(read_parent "$parent")" "250 250 250 250 "
like "… also the report" "$("$BENCHWRAP" report "$parent" --format markdown 2>/dev/null)" "speed.median</code> [*][*]250[*][*]"
is "… which draws no curve over the repetitions" "$("$BENCHWRAP" report "$parent" --format markdown 2>/dev/null | grep -c 'speed over its steps')" 0
like "… with the reason" "$("$BENCHWRAP" show "$parent" 2>/dev/null)" "1 of 3 repetitions is retracted: the statistics are those of the other 2"
is "… and the verdict is that of the others" "$("$BENCHWRAP" ls --json | jq -r '.[0].verdict')" "$("$BENCHWRAP" ls -c --json | jq -r '.[] | select(.name | endswith("#2")).verdict')"
is "check accepts it, too" "$("$BENCHWRAP" check --json | jq -c '[.findings[].finding] | unique')" '["rules-unknown"]'

# Another site's tree, merged: its runs are as they were, and a reader of both sees what the sites see.
mkdir beta && cd beta && cp ../prog ../v1.yaml . && export BENCHWRAP_SITE=beta
echo 0 >n; "$BENCHWRAP" -q -e e --rules ./v1.yaml --sweep x=1,2 --repeat 2 -- sh ./prog '{x}' >/dev/null 2>&1
sweep=$("$BENCHWRAP" ls --json | jq -r '.[0].id')
cp -r ../mlruns/. mlruns/
key=x_1.speed_MB_per_s
is "a tree of two sites" "$("$BENCHWRAP" show "$parent" --json 2>/dev/null | jq '.metrics[] | select(.key == "speed_MB_per_s.median").value') $(speed "$sweep" median) $("$BENCHWRAP" ls --json | jq length)" "250 15 2"
cp ../v2.yaml . && "$BENCHWRAP" reparse --filter "tags.site = 'beta'" --rules ./v2.yaml >out.txt 2>&1
is "reparse of a sweep amends each point" "$(tail -n 1 out.txt) $(speed "$sweep" median)" "5 amended, 0 unchanged, 0 skipped 150"
is "… and its table" "$(cut -d, -f1,2,7 mlruns/*/"$("$BENCHWRAP" show "$sweep" --json 2>/dev/null | jq -r .id)"/artifacts/points.csv | grep speed)" '"1","speed_MB_per_s",150
"2","speed_MB_per_s",350'
"$BENCHWRAP" retract --why "all wrong" $("$BENCHWRAP" ls -c --json | jq -r ".[] | select(.parent == \"$sweep\").id") >out.txt 2>&1
is "without child runs the statistics are missing" "$(speed "$sweep" median)" ""
like "… with the reason" "$("$BENCHWRAP" show "$sweep" 2>/dev/null)" "all repetitions are retracted"
is "check accepts the merged tree" "$("$BENCHWRAP" check --json | jq -c '[.findings[].finding] | unique')" '["rules-unknown"]'
done_testing
