#!/bin/bash
# `benchwrap check` accepts what benchwrap itself records: a site that has the user's name, and runs that are read again by a user's rules.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit
export GIT_CONFIG_GLOBAL="$WORK/gitconfig" GIT_CONFIG_NOSYSTEM=1 HOME="$WORK/home"
printf '[user]\nname = Site\nemail = site@users.noreply.github.com\n[init]\ndefaultBranch = main\n' >gitconfig
mkdir home
errors() { "$BENCHWRAP" check --json "$@" | jq -r '[.findings[] | select(.severity == "error") | .text] | join("; ")'; }

# The site's name is published on purpose; elsewhere in the record the same word is the user's name.
export USER=eng1b LOGNAME=eng1b
"$BENCHWRAP" init --site eng1b named >/dev/null && cd named || exit
"$BENCHWRAP" -q --param site=eng1b -- sh -c 'echo "eng1b has rate 5 MiB/s"' - eng1b >/dev/null
is "a site with the user's name is recorded" "$(cat mlruns/*/*/tags/site)" eng1b
is "… and check accepts it" "$(errors)" ""
is "… while the output, the arguments and params are without the name" \
    "$(cd mlruns/*/*/artifacts/.. && grep -c eng1b artifacts/stdout.log params/site | cut -d: -f2 | tr -d '\n'; jq -r '.run.argv[-1], .params.site.value' artifacts/benchwrap.json | grep -c eng1b)" 000
"$BENCHWRAP" -q --tag site="eng1b at home" -- true
is "what is no site's name is cleaned as all text" "$(grep -rl 'eng1b at home' mlruns)" ""
export BENCHWRAP_PROFILE=public
"$BENCHWRAP" retract --why "wrong node" last~1 >/dev/null
is "the retraction names the site" "$(cat "$(dirname "$(ls mlruns/*/*/tags/benchwrap.retracts)")/site")" eng1b
printf 'rate 7 MiB/s\n' >../kept.txt && "$BENCHWRAP" import -b sh ../kept.txt >/dev/null 2>&1
is "… as do all other runs" "$(for d in mlruns/*/*/tags; do grep -q 'eng1b' "$d/site" || echo "$d"; done | wc -l)" 1
unset BENCHWRAP_PROFILE USER LOGNAME
cd "$WORK" || exit

# Rules of a user's own over runs of the generic rules, and back.
"$BENCHWRAP" init --site lab again >/dev/null && cd again || exit
"$BENCHWRAP" -q -- sh -c 'echo "rate 5 MiB/s"' >/dev/null
"$BENCHWRAP" rules new --from last -o ../my.yaml 2>/dev/null
like "a run is amended by a user's rules" "$("$BENCHWRAP" reparse --rules ../my.yaml last)" "1 amended"
is "… and check accepts both" "$(errors)" ""
new=$(dirname "$(ls mlruns/*/*/tags/benchwrap.amends)")
is "… as a benchmark, no longer by the generic rules" "$(cat "$new/benchmark") $(ls "$new" | grep -c '^benchwrap.rules$')" "sh 0"
"$BENCHWRAP" -q -e back --rules ../my.yaml -- sh -c 'echo "rate 6 MiB/s"' >/dev/null
like "a run of a user's rules is amended by the generic ones" "$("$BENCHWRAP" reparse --rules generic last)" "1 amended"
is "… and check accepts it" "$(errors)" ""
printf other >"$new/benchmark"
like "a name that the rules do not have is refused as before" "$(errors)" 'it says "other", the rules are those of "sh"'
done_testing
