#!/bin/bash
# A sandbox that refuses or hides files of the hardware without a mount has no hash of it, and leaves nothing in the cache.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
mkdir run && chmod 700 run
export XDG_RUNTIME_DIR=$WORK/run
hashes() # of node.type and node.state, or why there is none
{
    jq -r '("node.type", "node.state") as $key | ([.facts[] | select(.key == $key).value] | first) //
        "missing: " + ([.missing[] | select(.key == $key or .key == "probe.topology").reason] | first)' | paste -sd ' '
}
full=$("$BENCHWRAP" probe --json --no-cache | hashes)
why="^missing: [a-z ]*: not readable: /sys/[^ ]*: Permission denied missing: .*not readable: /sys/"

sandboxed() { python3 "$TESTLIB/landlock.py" "$@"; }
if sandboxed file "$WORK/run" true; then
    for pci in /sys/bus/pci/devices/*; do break; done
    for part in "file $pci/class" "file $pci/vendor" "file $pci/device" "tree $pci" "file /sys/devices/system/cpu/cpu0/cache/index0/size" \
        "file /sys/devices/system/cpu/cpu0/cache/index1/shared_cpu_map" "tree /sys/devices/system/cpu/cpu1" \
        "file /sys/devices/system/cpu/cpu1/topology/core_cpus" "file /sys/devices/system/cpu/possible" \
        "file /sys/devices/system/node/node0/meminfo" "file /sys/devices/system/memory/block_size_bytes" "file /sys/class/dmi/id/sys_vendor"; do
        mode=${part% *} path=${part#* }
        [ -e "$path" ] || { skip_here "$part" "no such file here"; continue; }
        rm -rf run/benchwrap
        like "$part refused: no hash" "$(sandboxed "$mode" "$path" "$BENCHWRAP" probe --json | hashes)" "$why"
        same "... and the next probe outside has the machine's" "$("$BENCHWRAP" probe --json | hashes)" "$full"
    done
    vulnerability=/sys/devices/system/cpu/vulnerabilities/spectre_v2
    like "a list of mitigations without one that is refused" "$(sandboxed file $vulnerability "$BENCHWRAP" probe --json --no-cache | jq -r '.missing[] | select(.key == "kernel.mitigations").reason')" \
        "^not readable: /sys/devices/system/cpu/vulnerabilities: Permission denied"
    rm -rf run/benchwrap
    sandboxed tree /sys/bus "$BENCHWRAP" -q -- true
    is "the root cannot be listed: what is readable is recorded" "$("$BENCHWRAP" show --json | jq -r '[.params["kernel.release"], .params["cpu.threads"]] | map(. != null) | join(" ")')" "true true"
    is "... no reason has the error of a folder that was never open" "$("$BENCHWRAP" show --json | jq -r '[.missing[].reason | select(test("Bad file descriptor|mountinfo"))] | length')" 0
else
    skip_here "files that Landlock refuses" "no Landlock in this kernel"
fi

# Flatpak binds some folders of sysfs into one of its own.
if unshare -m true 2>/dev/null; then
    like "folders of /sys, bound into another: no hash" "$(unshare -m sh -c 'for d in bus class devices; do mkdir $d && mount --rbind /sys/$d $d || exit; done
        mount -t tmpfs none /sys && for d in bus class devices; do mkdir /sys/$d && mount --rbind $d /sys/$d || exit; done
        "$BENCHWRAP" probe --json --no-cache' | hashes)" "^missing: .*hidden.* missing: .*hidden"
    # What is not found behind such a mount may exist: the record does not state that the machine has none.
    unshare -m sh -c 'mount -t tmpfs none /sys && "$BENCHWRAP" probe --json --no-cache' >empty.json
    is "an empty /sys: no count of GPUs, and no statement about the kernel or the firmware" "$(jq -r '([.facts[] | select(.key == "gpu.count").value] | length),
        ([.missing[] | select(.key | test("^(gpu.count|kernel.mitigations|cpu.governor|machine.product|dimm.count|energy.package_J|net.cards|cloud.provider)$")) |
        select(.reason | startswith("a part of the machine is hidden: a mount of type tmpfs") | not).key] | join(" "))' empty.json | paste -sd '|')" "0|"
    is "... but the reasons" "$(jq '[.missing[] | select(.reason | startswith("a part of the machine is hidden: "))] | length > 5' empty.json)" true
else
    skip_here "folders of /sys, bound into another" "no mount namespace can be made here"
fi

# An administrator closes files of the hardware to users.
file=/sys/devices/system/cpu/cpu0/cache/index0/size
if [ "$(id -u)" = 0 ] && [ -e $file ] && chmod 0400 $file 2>/dev/null; then
    trap 'chmod 0444 $file; tap_exit' EXIT
    like "a file that only root reads: a user has no hash" "$(HOME=/ setpriv --reuid 65534 --regid 65534 --clear-groups "$BENCHWRAP" probe --json --no-cache 2>&1 | hashes)" "$why"
    chmod 0444 $file
else
    skip_here "a file that only root reads" "not root, or no such file"
fi
done_testing
