#!/bin/bash
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/forge.sh"
cd "$WORK" || exit
forge_start github
export GITHUB_TOKEN=w
forge_clone clone && cd clone || exit
bad=0 killed=0 late=0
: >/tmp/h22-kills/bad.txt
for i in $(seq 110); do
    forge_runs . 1
    if [ $((i % 2)) = 0 ]; then
        setsid "$BENCHWRAP" share >/dev/null 2>&1 &
        pid=$!; sleep "$(awk -v r=$RANDOM 'BEGIN {printf "%.3f", r / 32767 * 1.6}')"
        kill -9 -- -$pid 2>/dev/null && killed=$((killed + 1))
    else
        "$BENCHWRAP" share >/dev/null 2>&1 &
        pid=$!; sleep "$(awk -v r=$RANDOM 'BEGIN {printf "%.3f", r / 32767 * 1.6}')"
        kill -9 $pid 2>/dev/null && killed=$((killed + 1))
    fi
    wait $pid 2>/dev/null
    if ! timeout 100 "$BENCHWRAP" share >out.txt 2>&1; then
        bad=$((bad + 1)); { echo "kill $i"; cat out.txt; } >>/tmp/h22-kills/bad.txt
        if ! timeout 100 "$BENCHWRAP" share >out.txt 2>&1; then late=$((late + 1)); { echo "again $i"; cat out.txt;  find .git "$HUB" -name '*.lock'; } >>/tmp/h22-kills/bad.txt; find .git "$HUB" -name '*.lock' -delete; fi
    fi
done
echo "killed $killed, next share failed $bad, the one after it $late"
"$BENCHWRAP" share; 
branch=$(git for-each-ref --format='%(refname:short)' refs/heads/benchwrap)
echo "runs: $(git -C "$HUB" ls-tree -r -d --name-only "$branch" mlruns | grep -cE '/[0-9a-f]{32}$') of 110; $(git fsck --strict --no-dangling 2>&1; git -C "$HUB" fsck --strict --no-dangling 2>&1) open: $(forge_pulls 'p["state"] == "open" and p["number"]')"
forge_stop
done_testing
