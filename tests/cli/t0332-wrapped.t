#!/bin/sh
# t0332: outputs that real launchers and tools put prefixes around are recognised and read like the plain ones (tests/unit/benchmarks/wrapped.c has all samples).
# shellcheck source=tests/lib/tap.sh
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cp "$ROOT/benchmarks/catalogue/ior/samples/main-human-reps3-fpp/stdout" plain

same() # NAME FILE
{
    is "$1: recognised, with the same values" "$("$BENCHWRAP" parse --json "$2" | jq -c '[.verdict, .metrics]')" "$("$BENCHWRAP" parse --json plain | jq -c '[.verdict, .metrics]')"
}

like "the plain output has values" "$("$BENCHWRAP" parse plain)" 'write.bw_MiB_per_s.max'
if command -v mpirun >/dev/null && mpirun --version | grep -q 'Open MPI'; then
    mpirun --allow-run-as-root --timestamp-output -np 1 cat plain >stamped && same "mpirun --timestamp-output" stamped
    mpirun --allow-run-as-root --timestamp-output --tag-output -np 1 cat plain >both && same "… with --tag-output" both
else
    skip "mpirun --timestamp-output" "Open MPI is not installed"
fi
while IFS= read -r line; do printf '%s %s\n' "$(date +'%b %d %H:%M:%S')" "$line"; done <plain >log
same "a time before each line" log
jmh=$ROOT/benchmarks/catalogue/jmh/samples/text/stdout
for prefix in 'qq07: ' 'bench-1  | ' 'Nov 23 12:00:01 qq07 java[77]: ' '> '; do
    sed "s/^/$prefix/" plain >labelled
    same "lines behind \"$prefix\"" labelled
    sed "s/^/$prefix/" "$jmh" >labelled
    is "jmh: no name joins \"$prefix\"" "$("$BENCHWRAP" parse --json labelled | jq -c .metrics)" "$("$BENCHWRAP" parse --json "$jmh" | jq -c .metrics)"
done
grep --color=always '^' plain >coloured
same "colours" coloured
awk '{printf "\033[31m%s\033[0m\r\n", $0}' plain >coloured-crlf
same "colours and CRLF" coloured-crlf
iconv -f UTF-8 -t UTF-16 plain >wide
like "UTF-16 is refused, with the command" "$("$BENCHWRAP" import --json wide 2>&1)" 'UTF-16: convert it first .iconv -f UTF-16 -t UTF-8'
cp plain out && "$BENCHWRAP" rules new --from out -o of-plain.yaml >/dev/null 2>&1
cp coloured-crlf out && "$BENCHWRAP" rules new --from out -o of-coloured.yaml >/dev/null 2>&1
ok "rules are drafted" grep -q '^readers:' of-plain.yaml
is "… without the colours" "$(cat of-coloured.yaml)" "$(cat of-plain.yaml)"
done_testing
