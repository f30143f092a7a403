#!/bin/sh
# t0307: `benchwrap benchmarks`: what is understood, a page for each made from its rule file, the rule file itself, and one's own before those.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
bw() { "$BENCHWRAP" "$@" 2>err; }

is "every folder of the catalogue is listed" "$(bw benchmarks | sed 1d | cut -d' ' -f1 | LC_ALL=C sort)" "$(cd "$ROOT/benchmarks/catalogue" && ls -d */ | tr -d / | LC_ALL=C sort)"
for name in $(cd "$ROOT/benchmarks/catalogue" && ls); do
    ok "a page: $name" "$BENCHWRAP" benchmarks "$name"
    ok "its rule file, byte by byte: $name" sh -c '"$BENCHWRAP" benchmarks --rules "$1" | cmp - "$ROOT/benchmarks/catalogue/$1/rules.yaml"' sh "$name"
done
text=$(bw benchmarks ior)
like "programs" "$text" '^programs +ior, IOR$'
like "versions whose real output was read" "$text" '^verified +.*3\.3\.0, 4\.0\.0'
like "… and those of which only reproduced outputs were read" "$(bw benchmarks nvbandwidth)" '^reproduced +0\.2'
is "what an entry claims to have read is among its samples, and nothing else is" "$(python3 "$ROOT/tests/benchmarks/verified.py" "$ROOT/benchmarks/catalogue" 2>&1)" ""
cp -R "$ROOT/benchmarks/catalogue/ior" claims && sed -i 's/^verified: \[/&"9.8", /' claims/rules.yaml && mkdir -p claimed && mv claims claimed/ior
like "a claim without a sample is found" "$(BENCHWRAP_CATALOGUE=$WORK/claimed python3 "$ROOT/tests/benchmarks/verified.py" "$ROOT/benchmarks/catalogue" 2>&1)" '^ior: verified 9.8: in no real sample'
sed -i 's/^verified:.*/verified: ["4.0.0"]/' claimed/ior/rules.yaml
like "a version that is among the samples, and not claimed, too" "$(BENCHWRAP_CATALOGUE=$WORK/claimed python3 "$ROOT/tests/benchmarks/verified.py" "$ROOT/benchmarks/catalogue" 2>&1)" '^ior: a real output of 3.3.0 is a sample'
like "samples" "$text" "^samples +$(ls "$ROOT/benchmarks/catalogue/ior/samples" | wc -l)\$"
like "a metric with unit and direction" "$text" '^\{access\}\.bw_MiB_per_s\.max +MiB_per_s +higher +series'
like "a param and where it comes from" "$text" '^block_size_B +-b .*output'
like "a check with its reason" "$text" '^expect +fail +.*repetitions'
like "an example" "$text" '^example +benchwrap -- ior -a POSIX'
like "by the name of a program" "$(bw benchmarks IOR)" '^rules +shipped:ior'
ok "JSON" sh -c '"$BENCHWRAP" benchmarks --json | "${PYTHON:-python3}" -c "import json, sys; assert json.load(sys.stdin)[0][\"from\"] == \"shipped\""'
ok "JSON of one" sh -c '"$BENCHWRAP" benchmarks --json ior | "${PYTHON:-python3}" -c "import json, sys; assert json.load(sys.stdin)[\"metrics\"]"'
bw benchmarks nosuch; is "no such name: status" "$?" 125
bw benchmarks --rules; is "--rules without a name: status" "$?" 125

own=$HOME/.config/benchwrap/catalogue
mkdir -p "$own/ior/samples/one" "$own/mine" site/mine site/theirs
bw benchmarks --rules shipped:ior | sed -e 's/^summary:.*/summary: "my own"/' -e 's/^verified:.*/verified: ["9.9"]/' >"$own/ior/rules.yaml"
printf '%s\n' ior -o "it's here" >"$own/ior/samples/one/argv"
echo 'verdict pass' >"$own/ior/samples/one/expect"
for at in "$own/mine" site/mine site/theirs; do printf 'name: x\nversion: "1"\nsummary: "%s"\nprograms:\n  - theirs-2\nreaders:\n  - {name: a, regex: "^a"}\n' "$at" >"$at/rules.yaml"; done
like "one's own hides the shipped one" "$(bw benchmarks)" "^ior +$own"
is "which is hidden altogether" "$(bw benchmarks | grep -c '^ior ')" 1
text=$(bw benchmarks ior)
like "its samples" "$text" '^samples +1$'
like "its versions" "$text" '^verified +9\.9$'
like "its example, as one would type it" "$text" "^example +benchwrap -- ior -o 'it'.''s here'"
like "the shipped one is still there" "$(bw benchmarks shipped:ior)" '^rules +shipped:ior'
like "a folder from the environment goes first" "$(BENCHWRAP_CATALOGUE=/none:$WORK/site bw benchmarks mine)" "^rules +$WORK/site/mine"
like "for a run too" "$(bw plan --catalogue site -- theirs-2)" "^rules +$WORK/site/(mine|theirs)/rules.yaml +by the program's name"
like "a module of Python by its name" "$(bw plan -- python3 -u -m parsl.benchmark.perf --config f.py)" 'rules +.*shipped:parsl-perf'
like "… and its arguments" "$(bw plan --json -- python3 -u -m parsl.benchmark.perf --config f.py)" '"experiment": "parsl-perf"'
like "a file" "$(bw benchmarks site/mine/rules.yaml)" '^rules +site/mine/rules.yaml'
echo "name: [" >"$own/mine/rules.yaml"
like "a file that cannot be read is told" "$(bw benchmarks >out; cat err)" "mine/rules.yaml:2:1"
done_testing
