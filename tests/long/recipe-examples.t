#!/bin/bash
# recipe-examples: each shipped recipe is executed on this machine; the toolkit's in t1502, with stand-ins for its images.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
for recipe in "$ROOT"/benchmarks/recipes/*.yaml; do
    name=$(basename "$recipe" .yaml)
    more=
    case $name in
    toolkit-*) continue ;;
    ior-blocks) command -v ior >/dev/null || { skip "$name" "ior is not installed"; continue; } ;;
    node-baseline) more=--each-node ;;
    esac
    "$BENCHWRAP" recipe run --local $more "$name" >out 2>err
    is "$name" $? 0 || cat err >&2
    is "$name: check" "$("$BENCHWRAP" check | grep -c error)" 0
done
like "two services compared" "$("$BENCHWRAP" compare --by service -e two-services 2>&1)" 'service=slow'
like "the highest rate" "$("$BENCHWRAP" recipe report highest-rate --csv)" '^[0-9]+,[0-9]+,valid'
# The orchestration of an empty point: all that is neither the service's start nor load.
printf 'version: 1\nname: empty\nsweep: {grid: {n: 1..20}}\nroles: {c: {command: ["true"]}}\n' >empty.yaml
before=$(date +%s%N); "$BENCHWRAP" recipe run --local empty.yaml >out 2>err; after=$(date +%s%N)
echo "# $(((after - before) / 20000000)) ms for an empty point, at a load of $(cut -d' ' -f1 /proc/loadavg)"
ok "an empty point costs less than a second" [ $(((after - before) / 20000000)) -lt 1000 ]
done_testing
