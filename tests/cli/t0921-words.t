#!/bin/bash
# Words that users of other tools type: every row of the tables is typed, and its answer comes. Aliases are accepted.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
verbs=" $("$BENCHWRAP" help --list | tr '\n' ' ')"

# rows FILE: place, typed and answer of each row, tabs between
rows() { sed -n 's/^WORD("\([^"]*\)", "\([^"]*\)", "\(.*\)")$/\1\t\2\t\3/p' "$1" | sed 's/\\"/"/g'; }
dashes() { case $1 in ?) echo "-$1" ;; *) echo "--$1" ;; esac; }
# typed TEXT COMMAND…: refused as a wrong line, with the text, and nothing recorded
typed() {
    local text=$1 status; shift
    "$@" >out 2>err </dev/null; status=$?
    if [ $status = 125 ] && grep -qF -- "$text" err && [ ! -e mlruns ]; then tap_pass "$*"; else tap_fail "$*" "status $status, expected: $text" "$(cat out err)"; fi
}

like "there are at least forty" "$(rows "$ROOT/wrapper/launch/words.def" | wc -l)" '^([4-9][0-9]|[0-9]{3,})$'
is "none twice" "$(rows "$ROOT/wrapper/launch/words.def" | cut -f 1,2 | sort | uniq -d)" ""
while IFS=$'\t' read -r place word answer; do
    case $place,$answer in
    ,) typed "leave it out: benchwrap -- fio 'a b'" "$BENCHWRAP" "$word" -- fio 'a b' ;;
    ,*) typed "$answer" "$BENCHWRAP" "$word" ;;
    --,*) typed "; $answer" "$BENCHWRAP" "$(dashes "$word")" -- true
        [ "$word" = json ] || typed "; $answer" "$BENCHWRAP" plan "$(dashes "$word")" -- true ;; # plan has --json itself
    *) typed "; $answer" "$BENCHWRAP" "$place" "$(dashes "$word")" ;;
    esac
    for named in $(grep -o 'benchwrap [a-z-]*[a-z]' <<<"$answer" | cut -d' ' -f 2); do # a command that is answered with is one
        case $verbs in *" $named "*) ;; *) tap_fail "$word: answered with a command" "$named" ;; esac
    done
    for named in $(grep -oE -- '--[a-z][a-z-]+' <<<"$answer"); do # … and an option
        grep -qE -- "\"${named#--}\"" "$ROOT"/wrapper/launch/options.def "$ROOT"/wrapper/cmd/cmd_*.c || tap_fail "$word: answered with an option" "$named"
    done
done < <(rows "$ROOT/wrapper/launch/words.def")
typed "leave it out: benchwrap -- fio --x" "$BENCHWRAP" run fio --x
typed 'did you mean "benchwrap ls"? To run and record it: benchwrap -- find . -x' "$BENCHWRAP" find . -x
typed 'no command "diff"; did you mean "benchwrap compare"?' "$BENCHWRAP" help diff

done_testing
