#!/bin/bash
# sanitizer: no, because each of its shares starts git several times
# A share that is killed at any of its calls of git, or runs out of space, loses nothing: the next share brings every run.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/forge.sh"
command -v git >/dev/null 2>&1 || { skip "killed shares" "git is not installed"; done_testing; exit; }
cd "$WORK" || exit
OUT=$WORK/out.txt
share() { "$BENCHWRAP" share "$@" >"$OUT" 2>&1; }
there() { git -C "$HUB" ls-tree -r -d --name-only "$(git -C "$HUB" for-each-ref --format='%(refname)' refs/heads/benchwrap)" mlruns | grep -cE '/[0-9a-f]{32}$'; }
forge_start github
forge_clone clone && cd clone && git show origin/main:benchwrap.yaml >benchwrap.yaml || exit
export GITHUB_TOKEN=w

# The call of git with this number kills its caller, before or after it works.
mkdir "$WORK/bin"
cat >"$WORK/bin/git" <<END
#!/bin/sh
n=\$((\$(cat "$WORK/n") + 1)); echo \$n >"$WORK/n"
[ "\$n:before" != "\$(cat "$WORK/when")" ] || { kill -9 \$PPID; exit 1; }
$(command -v git) "\$@"
status=\$?
[ "\$n:after" != "\$(cat "$WORK/when")" ] || kill -9 \$PPID
exit \$status
END
chmod +x "$WORK/bin/git"
killed() # WHEN
{
    forge_runs . 1
    echo 0 >"$WORK/n"
    echo "$1" >"$WORK/when"
    { PATH=$WORK/bin:$PATH share; } 2>/dev/null
}
killed never; calls=$(cat "$WORK/n") runs=1 bad=
is "a share of which nothing is killed" "$? $(there)" "0 1"
long_tests && first=1 || first=$((calls - 2)) # the push, and what is noted behind it
for i in $(seq "$first" "$calls"); do
    for side in before after; do
        killed "$i:$side"; status=$?
        runs=$((runs + 1))
        [ $status = 137 ] || bad="$bad [$i:$side was not killed]"
        share || bad="$bad [$i:$side: $(tail -n 1 "$OUT")]"
        [ "$(there)" = $runs ] || bad="$bad [$i:$side: $(there) of $runs runs]"
    done
done
is "killed at each call of git: the next share brings every run, in one request" "$bad $(forge_pulls 'p["number"]')" " 1"
is "git likes both" "$(git fsck --strict --no-dangling 2>&1; git -C "$HUB" fsck --strict --no-dangling 2>&1)" ""
cd "$WORK" || exit

# A full disk, in a mount namespace of its own.
full()
{
    mkdir small && mount -t tmpfs -o size=12m tmpfs small || return 77
    git clone -q clone small/clone && cd small/clone || return 1
    git remote set-url origin "$HUB" && git config benchwrap.site beta && git show origin/main:benchwrap.yaml >benchwrap.yaml
    forge_runs . 1; share || return 2
    forge_runs . 3
    dd if=/dev/zero of=../fill bs=1k count=20000 2>/dev/null
    share; echo "$?"; cat "$OUT"
    rm ../fill
    share && git -C "$HUB" ls-tree -r -d --name-only "$(git -C "$HUB" for-each-ref --format='%(refname)' refs/heads/benchwrap/beta)" mlruns | grep -cE '/[0-9a-f]{32}$'
}
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    export -f full share forge_runs
    export OUT HUB
    unshare -m bash -c full >full.txt 2>&1
    like "a full disk: the cause and the next step" "$(tr '\n' ' ' <full.txt)" "^1 .*No space left on device hint: free space in $WORK/small/clone/, then run benchwrap share again"
    is "... after which every run arrives" "$(tail -n 1 full.txt)" 4
else
    skip_here "a full disk" "no mount namespaces"
fi
forge_stop
done_testing
