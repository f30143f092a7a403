#!/bin/sh
# Many writers of one results repository, and kill -9 at any moment: git fsck likes it, and every finished run is in it.
# sanitizer: long, because a hundred recorders start at once
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/commits.sh"
git_ready || { skip "writers of a results repository" "git or libgit2 is not installed"; done_testing; exit; }
cd "$WORK" || exit

campaign() # NAME WRITERS KILLS SEED
{
    rm -rf results; "$BENCHWRAP" init --site lab results >/dev/null
    result=$(python3 "$ROOT/tests/faults/commits.py" "$BENCHWRAP" "$WORK/results" "$2" "$3" "$4")
    is "$1: every run of the tree is in the branch, and git likes it" "$(printf '%s' "$result" | jq -c '[.equal, .commit, .fsck, .branches, .locks == .explained]')" \
        '[true,0,"",1,true]'
    echo "# $result"
}
if long_tests; then
    campaign "64 writers" 64 0 1
    is "as many runs as there were writers of runs" "$(printf '%s' "$result" | jq .disk)" 48
    seed=1
    while [ $seed -le 40 ]; do campaign "24 writers, 12 killed, seed $seed" 24 12 $seed; seed=$((seed + 1)); done
else
    campaign "16 writers" 16 0 1
    is "as many runs as there were writers of runs" "$(printf '%s' "$result" | jq .disk)" 12
    campaign "8 writers, 6 killed" 8 6 1
fi
done_testing
