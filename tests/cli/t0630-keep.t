#!/bin/sh
# t0630: --artifact and what a run may hold: files are kept while there is room, the others are named, the program runs on.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
for f in a b c; do head -c 600000 /dev/zero >$f.bin; done
for f in d e; do head -c 300000 /dev/zero >$f.bin; done

kept() # the files that the only run of tree $1 has kept
{
    (cd "$1"/*/*/artifacts/files 2>/dev/null && ls) | tr '\n' ' '
}

warned() { cat "$1"/*/*/artifacts/benchwrap.json; }

ok "three files fit" "$BENCHWRAP" -q -t all/mlruns -a '[abc].bin' -- true
is "all are kept" "$(kept all/mlruns)" "a.bin b.bin c.bin "
ok "with less room the program runs" "$BENCHWRAP" -q -t some/mlruns --artifact-max 2500K -a '[abc].bin' -- true
is "the files that fit together are kept" "$(kept some/mlruns)" "a.bin b.bin "
like "the other is named" "$(warned some/mlruns)" "c.bin has 600000 bytes, more than the"
ok "a published run is small by itself" "$BENCHWRAP" -q -t public/mlruns --profile public -a '*.bin' -- sh -c 'seq 100000; seq 100000 >&2'
is "one of these fits" "$(kept public/mlruns)" "d.bin "
ok "with streams that are cut it has 1 MiB at most" test "$(cat public/mlruns/*/*/artifacts/* public/mlruns/*/*/artifacts/files/* 2>/dev/null | wc -c)" -le 1048576
ok "unless more is asked for" "$BENCHWRAP" -q -t more/mlruns --profile public --artifact-max 4M -a '[abc].bin' -- true
is "then all are kept" "$(kept more/mlruns)" "a.bin b.bin c.bin "
ok "benchwrap log has the same room" "$BENCHWRAP" -q -t log/mlruns --artifact-max 2500K -- sh -c 'for i in a b c; do "$BENCHWRAP" log --artifact $i.bin; done'
is "so two of its files are kept" "$(kept log/mlruns)" "a.bin b.bin "
like "what matches nothing is said at the end" "$("$BENCHWRAP" -t none/mlruns -a '*.none' -- true 2>&1)" "! artifact: nothing matches \*.none"
like "so is a key that was made legal" "$("$BENCHWRAP" -t none/mlruns -p 'Bad Key!=3' -- true 2>&1)" '! param "Bad Key!" .* kept as "Bad Key_"'
is "but not with -q" "$("$BENCHWRAP" -q -t none/mlruns -p 'Bad Key!=3' -- true 2>&1)" ""
done_testing
