#!/bin/bash
# Paths in warnings and reasons of a public run: every variable, key of a configuration file and option that may name one holds a path with another user's name.
# The names come from the tables of the program. Without names of runs, clusters and experiments, which the user chooses to publish.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
unset "${!SLURM_@}" 2>/dev/null
cd "$WORK" || exit 1
person=alicesmith
path=$WORK/$person/none
table=$ROOT/wrapper/launch/options.def
export HOME=$WORK/home
mkdir -p "$HOME/.config/benchwrap"
public() { "$BENCHWRAP" -q --sample 0 --profile public "$@" >>"$WORK/out" 2>&1; }
hidden() # NAME: one run in ./mlruns, without the person
{
    is "$1: a run" "$(find mlruns -name benchwrap.json | wc -l)" 1
    is "$1: no person in it" "$(grep -rla "$person" mlruns)" ""
    rm -rf mlruns
}

variables=()
while read -r variable; do
    case $variable in *_TREE | *_PROFILE | *_STRICT | *_NAME | *_CLUSTER | *_EXPERIMENT) ;; *) variables+=("$variable=$path/$variable") ;; esac
done < <(sed -n 's/^OPTION(OPTION_[A-Z_]*, [^,]*, OPT_[A-Z]*, \("[^"]*"\|NULL\), "\([A-Z_]*\)".*/\2/p' "$table")
like "the table has variables" "${#variables[@]}" '^[1-9][0-9]$'
(export "${variables[@]}" && public -- true)
like "a warning names the reference" "$(grep -rh 'BENCHWRAP_REFERENCE: .* cannot read' mlruns)" 'cannot read [/d.]+/d+'
is "the reason" "$(cat mlruns/*/*/tags/benchwrap.reason)" "the reference file cannot be read"
hidden "variables"
(export "BENCHWRAP_REFERENCE=$WORK/$person" && public -- true)
hidden "a reference that is called as a person"

sed -n 's/^OPTION(OPTION_\([A-Z_]*\), [^,]*, OPT_[A-Z]*,.*OPT_FROM_FILE.*/\1/p' "$table" | tr A-Z_ a-z- | grep -vxE 'tree|profile|strict|name|cluster|experiment' |
    while read -r key; do echo "$key: '$path/$key'"; done >"$HOME/.config/benchwrap/config.yaml"
public -- true
hidden "configuration"
rm "$HOME/.config/benchwrap/config.yaml"

public --artifact "$path/a" --artifact "$path/*" --archive "$path" --catalogue "$path" --power-command "$path" -- true
like "a warning names the artifact" "$(grep -rh 'artifact: ' mlruns)" 'artifact: [^/]*/d'
hidden "options"
done_testing
