# shellcheck shell=sh
# cgroup.sh: a real control group with a share of one processor. Sourced after tap.sh.

quota_group() # PERCENT: makes the group in whichever hierarchy has the controller and sets $join, a script that runs its arguments in it; fails where this is not allowed
{
    quota_name=benchwrap-test-$$
    quota_groups=
    if [ -d /sys/fs/cgroup/cpu/ ]; then
        mkdir "/sys/fs/cgroup/cpu/$quota_name" 2>/dev/null || return 1
        quota_groups=/sys/fs/cgroup/cpu/$quota_name
        echo 262144 2>/dev/null >"$quota_groups/cpu.shares" # other work of this machine does not take its share
        { echo 100000 >"$quota_groups/cpu.cfs_period_us" && echo "$1"000 >"$quota_groups/cpu.cfs_quota_us"; } 2>/dev/null || return 1
        [ /sys/fs/cgroup/cpu -ef /sys/fs/cgroup/cpuacct ] || { mkdir "/sys/fs/cgroup/cpuacct/$quota_name" 2>/dev/null && quota_groups="$quota_groups /sys/fs/cgroup/cpuacct/$quota_name"; }
    else
        grep -qw cpu /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null && mkdir "/sys/fs/cgroup/$quota_name" 2>/dev/null || return 1
        quota_groups=/sys/fs/cgroup/$quota_name
        echo 10000 2>/dev/null >"$quota_groups/cpu.weight"
        echo "$1"000 100000 2>/dev/null >"$quota_groups/cpu.max" || return 1
    fi
    join=$WORK/join.sh
    for group in $quota_groups; do echo "echo \$\$ >$group/cgroup.procs"; done >"$join"
    echo 'exec "$@"' >>"$join"
}

quota_remove() # the group, once its last process has gone
{
    for group in ${quota_groups:-}; do
        wait_until 'rmdir "$group"'
    done
    quota_groups=
}
