#!/bin/bash
# What withholds processors or limits memory is recorded only where the control groups above, and their files, are visible.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/cgroup.sh"
cd "$WORK" || exit 1
busy='end=$(($(date +%s%N) + 1500000000)); while [ $(date +%s%N) -lt $end ]; do :; done'
known() # KEY…: the value, or why it is missing
{
    "$BENCHWRAP" show --json --tree t last | jq -r --arg keys "$*" '. as $d | $keys / " " | .[] | . as $k |
        ($d.params[$k] // ([$d.metrics[] | select(.key == $k).value] | first) // ([$d.missing[] | select(.key == $k).reason] | first) // "nothing") | tostring' | paste -sd '|'
}
parents="no visible control group has a limit, and those above the container's are not visible"
covered="another file system covers the control group of this process"
if ! unshare -m true 2>/dev/null || ! quota_group 30; then
    quota_remove
    skip_here "control groups that are not visible" "no control group or mount namespace can be made here"
    done_testing
    exit
fi
cpu=${quota_groups%% *} top=${quota_groups%% *}
top=${top%/*}
mkdir "$cpu/in"

# The limit that holds the program back is above what is visible in a container.
if [ "$top" = /sys/fs/cgroup/cpu ]; then
    echo "$busy" >busy.sh
    sh -c "echo \$\$ >$cpu/in/cgroup.procs; exec unshare -C -m sh -c 'mkdir seen && mount -t cgroup -o cpu none seen && umount -l $top && exec \"\$BENCHWRAP\" -q --tree t -- bash busy.sh'"
    is "a limit above what is visible: not 0, but missing" "$(known cgroup.cpu_limit cgroup.throttled_s cgroup.throttled_percent)" "$parents|$parents|$parents"
else
    skip_here "a limit above what is visible" "no control group of version 1 here"
fi

# A file system that covers the hierarchy shows no group, or false ones.
for files in '' "mkdir -p $cpu/in; echo -1 >$cpu/in/cpu.cfs_quota_us; echo 100000 >$cpu/in/cpu.cfs_period_us; echo max 100000 >$cpu/in/cpu.max"; do
    sh -c "echo \$\$ >$cpu/in/cgroup.procs; exec unshare -m sh -c 'mount -t tmpfs none $top && { ${files:-true}; } && exec \"\$BENCHWRAP\" -q --tree t -- sleep 0.2'"
    is "a hierarchy that tmpfs covers${files:+, with files of its own}" "$(known cgroup.cpu_limit cgroup.throttled_s)" "$covered|$covered"
done

# A limit that changes and comes back.
file=cpu.max slow='10000 100000' first='30000 100000'
[ "$top" != /sys/fs/cgroup/cpu ] || file=cpu.cfs_quota_us slow=10000 first=30000
cat >change.sh <<S
samples() { cat .benchwrap/spool/*/journal t/.benchwrap/spool/*/journal 2>/dev/null | grep -ac system/process_count; }
two_more() { n=\$((\$(samples) + 2)); until [ "\$(samples)" -ge \$n ]; do sleep 0.05; done; }
two_more
echo "$slow" >$cpu/$file
two_more
echo "$first" >$cpu/$file
S
sh "$join" "$BENCHWRAP" -q --tree t --sample 100ms -- timeout 60 bash change.sh
is "a limit that changed and came back is missing" "$(known cgroup.cpu_limit)" "it changed while the program ran, and again to its first value"

# A level whose file is refused may have the smallest limit.
if python3 "$TESTLIB/landlock.py" file "$WORK/busy.sh" true 2>/dev/null; then
    sh -c "echo \$\$ >$cpu/in/cgroup.procs; exec python3 $TESTLIB/landlock.py file $cpu/$file $BENCHWRAP -q --tree t -- sleep 0.2"
    is "a limit that is not readable" "$(known cgroup.cpu_limit cgroup.throttled_s)" \
        "not readable: the limit of a control group: Permission denied|a control group's limit of processors is not readable"
    memory=/sys/fs/cgroup/memory/benchwrap-test-$$
    if mkdir $memory 2>/dev/null && mkdir $memory/in && echo 300M >$memory/memory.limit_in_bytes; then
        sh -c "echo \$\$ >$memory/in/cgroup.procs; exec python3 $TESTLIB/landlock.py file $memory/memory.limit_in_bytes $BENCHWRAP -q --tree t -- true"
        is "... of memory" "$(known cgroup.memory_limit_GiB)" "not readable: the limit of a control group: Permission denied"
        wait_until "rmdir $memory/in && rmdir $memory"
    fi
else
    skip_here "a limit that is not readable" "no Landlock in this kernel"
fi
wait_until 'rmdir "$cpu/in"'
quota_remove
done_testing
