#!/bin/sh
# benchwrap probe: facts, costs, reasons; the public profile names nobody; captured machines.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1

ok "probe runs" sh -c '"$BENCHWRAP" probe >probe.txt'
like "it shows the processor" "$(cat probe.txt)" "cpu\.threads"
like "it shows the costs" "$(cat probe.txt)" "BEFORE +BESIDE +AFTER +SAMPLE"
for command in probe "doctor --all"; do
    # shellcheck disable=SC2086 # two words
    COLUMNS=60 python3 "$ROOT/tests/lib/on-pty.py" "size 24 60" -- "$BENCHWRAP" $command | python3 -c 'import ast, re, sys
text = next(ast.literal_eval(l[7:]).decode() for l in sys.stdin if l.startswith("shown: "))
lines = re.sub("\033\\[[0-9;]*m", "", text).split("\r\n")
print(len(lines) > 20, [l for l in lines if len(l) > 60 and len(l.split()) > 1], [l for l in lines if l != l.rstrip()])' >shown
    is "$command: no line but a single word is wider than 60 columns, none ends in blanks" "$(cat shown)" "True [] []"
done
like "a sample is shown" "$(cat probe.txt)" "system/system_memory_usage_megabytes"

"$BENCHWRAP" probe --json >probe.json
ok "the JSON is JSON" python3 -c 'import json; d = json.load(open("probe.json")); assert d["facts"] and d["probes"]; assert all(m["reason"] for m in d["missing"])'
is "as many threads as the system says" "$(python3 -c 'import json; print([f["value"] for f in json.load(open("probe.json"))["facts"] if f["key"] == "cpu.threads"][0])')" \
    "$(getconf _NPROCESSORS_ONLN)"
is "the kernel's release" "$(python3 -c 'import json; print([f["value"] for f in json.load(open("probe.json"))["facts"] if f["key"] == "kernel.release"][0])')" "$(uname -r)"
is "bound to one processor" "$(taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$BENCHWRAP" probe --json | python3 -c 'import json, sys; print([f["value"] for f in json.load(sys.stdin)["facts"] if f["key"] == "cpu.bound_threads"][0])')" 1
if setpriv --groups 1000000 true 2>/dev/null; then
    is "... also of a user in a thousand groups" "$(setpriv --groups "$(seq -s , 1000000 1000999)" taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$BENCHWRAP" probe --json | python3 -c 'import json, sys; print([f["value"] for f in json.load(sys.stdin)["facts"] if f["key"] == "cpu.bound_threads"][0])')" 1
else
    skip_here "... also of a user in a thousand groups" "root, who may set groups"
fi

# What lasts until the next boot is kept.
XDG_RUNTIME_DIR=$WORK/run
export XDG_RUNTIME_DIR
mkdir -m 700 run
"$BENCHWRAP" probe --json >cold.json
"$BENCHWRAP" probe --json >warm.json
cached() { jq -r '[.probes[] | select(.cached == "yes" and .probe != "dimm").probe] | sort | join(" ")' "$1"; }
is "a cold cache answers nothing" "$(cached cold.json)" ""
is "a warm one answers what lasts" "$(cached warm.json)" "cpu gpu machine topology"
is "with the same facts" "$(python3 -c 'import json
a, b = ({f["key"]: f["value"] for f in json.load(open(n))["facts"] if f["kind"] == "param"} for n in ("cold.json", "warm.json"))
print("same" if a == b else [k for k in set(a) | set(b) if a.get(k) != b.get(k)])')" same
is "the cache is private" "$(find run/benchwrap -type f -perm /077 | wc -l | tr -d ' ')" 0
for file in run/benchwrap/*topology*; do printf x >>"$file"; done
is "a damaged file is not believed" "$("$BENCHWRAP" probe --json >damaged.json; cached damaged.json)" "cpu gpu machine"

# A sandbox that hides a part of the machine has no hash of it, and leaves the cache to those that see all.
hashes() # FILE: of node.type and node.state, a line each, or why there is none
{
    jq -r '("node.type", "node.state") as $key | ([.facts[] | select(.key == $key).value] | first) //
        "missing: " + ([.missing[] | select(.key == $key or .key == "probe.topology").reason] | first)' "$1"
}
"$BENCHWRAP" probe --json >full.json
full=$(hashes full.json)
if unshare -m true 2>/dev/null; then
    for hide in 'mount --bind /dev/null /proc/cpuinfo' 'mount -t tmpfs none /sys/bus' 'mount -t tmpfs none /sys/devices/system/cpu' \
        'mount -t tmpfs none /sys/devices/system/clocksource' 'mount --bind /dev/null /usr/lib/os-release' 'mount -t tmpfs none /sys/module' \
        'mount -t tmpfs none /sys/devices/system/node' \
        'mount -t tmpfs none "$(dirname "$(ls -d /sys/devices/*/0000:* | head -1)")"' 'mount -t tmpfs none /sys/devices' 'mount -t tmpfs none /sys'; do
        case $hide in *ls\ -d*) [ -n "$(ls -d /sys/devices/*/0000:* 2>/dev/null)" ] || continue ;; esac
        for kept in warm cold; do
            [ $kept = warm ] || rm -rf run/benchwrap
            unshare -m sh -c "$hide && \"\$BENCHWRAP\" probe --json" >hidden.json
            { read -r type && read -r state; } <<H
$(hashes hidden.json)
H
            why="^missing: (a part of the .* is hidden: a mount of type|the probe|the hardware cannot be read|/sys/devices/system/node shows no node|not readable)"
            like "$kept, $hide: no node.type" "$type" "$why"
            like "$kept, $hide: no node.state" "$state" "$why"
            "$BENCHWRAP" probe --json >after.json
            same "$kept: the next run outside has the machine's hashes" "$(hashes after.json)" "$full"
        done
    done
    # A personality changes what uname says, and neither the machine nor what is kept of it.
    if setarch linux32 true 2>/dev/null; then
        for kept in warm cold; do
            [ $kept = warm ] || rm -rf run/benchwrap
            setarch linux32 "$BENCHWRAP" probe --json >hidden.json
            like "$kept, linux32: no hash" "$(hashes hidden.json | paste -sd ' ')" "^missing: .* missing: .*personality"
            "$BENCHWRAP" probe --json >after.json
            same "$kept, linux32: the next run has the machine's hashes" "$(hashes after.json)" "$full"
        done
    else
        skip_here "linux32: no hash" "no such personality"
    fi
    # lxcfs shows containers numbers of their own: they are not the machine's.
    printf 'MemTotal: 1048576 kB\nMemAvailable: 10 kB\nSwapTotal: 0 kB\n' >meminfo
    echo 0 >online
    unshare -m sh -c 'mount --bind meminfo /proc/meminfo && mount --bind online /sys/devices/system/cpu/online && "$BENCHWRAP" probe --json --no-cache' >hidden.json
    is "files that a container replaces are not read" "$(python3 -c 'import json
d = json.load(open("hidden.json"))
keys = ("cpu.threads", "memory.total_GiB", "system/system_memory_usage_megabytes")
print([f["key"] for f in d["facts"] if f["key"] in keys], [m["key"] for m in d["missing"] if m["key"] in keys and "another file system covers it" in m["reason"]])')" \
        "[] ['cpu.threads', 'memory.total_GiB', 'system/system_memory_usage_megabytes']"
    # What Docker and Podman mask by default hides nothing that a hash depends on.
    for hide in /sys/devices/virtual/powercap /sys/firmware /proc/acpi /proc/scsi; do
        [ -d $hide ] || continue
        unshare -m sh -c "mount -t tmpfs none $hide && \"\$BENCHWRAP\" probe --json" >masked.json
        same "$hide masked: the machine's hashes" "$(hashes masked.json)" "$full"
    done
else
    skip_here "a sandbox that hides a part of the machine has no hash of it" "no mount namespace can be made here"
fi

# Processes of the node are counted where /proc shows them all.
others() { python3 -c 'import json, sys
d = json.load(sys.stdin)
keys = ("noise.processes", "noise.other_users")
print(sum(f["key"] in keys for f in d["facts"]), " | ".join(m["reason"] for m in d["missing"] if m["key"] in keys))'; }
# One file that cannot be read, for want of a descriptor: no hash of the rest, and nothing of it in the cache.
hash_or_why() { jq -r --arg key "$1" '(.facts[] | select(.key == $key).value), (.missing[] | select(.key == $key).reason)'; }
fails_once() # KEY FILE PATTERN [NUMBER]: the file's first opening fails, or this one
{
    rm -rf run/benchwrap
    strace -o trace -e trace=openat "$BENCHWRAP" probe --json >full.json 2>/dev/null
    n=$(grep -n "$2" trace | sed -n "${4:-1}p" | cut -d: -f1)
    [ -n "$n" ] || { skip_here "$2 fails once: no $1" "no such file here, or no strace"; return; }
    rm -rf run/benchwrap
    like "$2 fails once: no $1" "$(strace -o trace -e trace=openat -e inject=openat:error=EMFILE:when="$n" "$BENCHWRAP" probe --json 2>/dev/null | hash_or_why "$1")" "$3"
    is "... and the next probe has the true one" "$("$BENCHWRAP" probe --json | hash_or_why "$1")" "$(hash_or_why "$1" <full.json)"
}
fails_once node.state vulnerabilities/spectre_v1 "^a part of it is hidden: not readable: /sys/devices/system/cpu/vulnerabilities/spectre_v1: Too many open files"
fails_once node.type cpu0/cache/index0/size "^the hardware cannot be read: not readable: /sys/devices/system/cpu/cpu0/cache/index0/size: Too many open files"
fails_once node.type cpu0/cache/index0/size "^two readings of the hardware differ" 2 # of hwloc's

if unshare -pf --mount-proc true 2>/dev/null; then
    is "in a PID namespace no processes of the node" "$(unshare -pf --mount-proc "$BENCHWRAP" probe --json --no-cache | others)" \
        "0 in a container, where /proc does not show the node's processes | in a container, where /proc does not show the node's processes"
    # From Linux 5.8 on each mount of proc has its own options.
    [ "$(printf '%s\n' 5.8 "$(uname -r)" | sort -V | head -n 1)" = 5.8 ] &&
        is "hidepid: none either" "$(unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc && HOME=/ setpriv --reuid 12345 --regid 12345 --clear-groups "$BENCHWRAP" probe --json --no-cache' | others)" \
        "0 /proc hides the processes of other users (hidepid) | /proc hides the processes of other users (hidepid)"
else
    skip_here "in a PID namespace no processes of the node" "no PID namespace can be made here"
fi
unshare -U true 2>/dev/null &&
    is "in a user namespace no owners" "$(unshare -U "$BENCHWRAP" probe --json --no-cache | others)" "1 in a user namespace, which does not show the owners of processes"
# A script that changes settings: the record says so.
if unshare -n sh -c 'echo reno >/proc/sys/net/ipv4/tcp_congestion_control' 2>/dev/null; then
    unshare -n "$BENCHWRAP" -q -t "$WORK/set/mlruns" -- sh -c 'echo "4096 1 1" >/proc/sys/net/ipv4/tcp_rmem'
    like "a setting that the program changed" "$("$BENCHWRAP" show -t "$WORK/set/mlruns" --json | jq -r '.warnings[].text')" "^kernel.tcp_rmem changed while the program ran: .* before, 4096 1 1 after"
else
    skip_here "a setting that the program changed" "no network namespace can be made here"
fi

# A process that was moved out of its control group's namespace: what is mounted there is another group's, and no limit of its own.
top=/sys/fs/cgroup/memory
one=$top/benchwrap-one-$$ other=$top/benchwrap-other-$$
if unshare -C -m true 2>/dev/null && mkdir $one $other 2>/dev/null && echo 1G >$one/memory.limit_in_bytes && echo 2G >$other/memory.limit_in_bytes; then
    sh -c "echo \$\$ >$one/cgroup.procs; exec unshare -C -m sh -c 'mkdir \"$WORK/seen\" && umount $top && mount -t cgroup -o memory none $top && while [ ! -e \"$WORK/moved\" ]; do sleep 0.05; done; \"\$BENCHWRAP\" probe --json --no-cache'" >moved.json &
    wait_until '[ -e "$WORK/seen" ]'
    for pid in $(cat $one/cgroup.procs); do echo "$pid" >$other/cgroup.procs 2>/dev/null; done
    touch "$WORK/moved"
    wait
    is "moved out of the namespace of its control group: no limit of another" "$(python3 -c 'import json
d = json.load(open("moved.json"))
print([f["value"] for f in d["facts"] if f["key"] == "cgroup.memory_limit_GiB"], [m["reason"] for m in d["missing"] if m["key"] == "cgroup.memory_limit_GiB"])')" \
        "[] ['the control group of this process is outside of what is mounted']"
else
    skip_here "moved out of the namespace of its control group: no limit of another" "no control group of version 1 can be made here"
fi
wait_until 'rmdir $one $other; [ ! -d $one ] && [ ! -d $other ]'

# The public profile.
USER=quentin HOME=/home/quentin SLURM_JOB_ID=5 SLURM_JOB_ACCOUNT=projectx SLURM_JOB_NODELIST=gpu07 MY_TOKEN=geheim OMP_NUM_THREADS=4 \
    "$BENCHWRAP" probe --json --profile public -- /bin/true >public.json
for word in quentin projectx gpu07 geheim /bin/true; do
    ok "a public record does not hold $word" sh -c "! grep -q '$word' public.json"
done
like "but what explains the number" "$(cat public.json)" "env.omp_num_threads"

# The program.
printf '#!/bin/sh\necho hello\n' >prog
chmod +x prog
"$BENCHWRAP" probe --json -- ./prog >prog.json
like "the digest of the program" "$(cat prog.json)" "$(sha256sum <prog | cut -d' ' -f1)"
like "a script is a script" "$(cat prog.json)" '"script"'
ok "a program that is not there is missing" sh -c '"$BENCHWRAP" probe -- ./nothing | grep -q "program.sha256 .*not found"'

# Its repository.
if command -v git >/dev/null; then
    mkdir repo && cp prog repo/ && cd repo || exit 1
    git init -q -b trunk . && git -c user.name=a -c user.email=a@b add prog && git -c user.name=a -c user.email=a@b commit -qm one
    git remote add origin https://alice:geheim@host.example/x.git
    "$BENCHWRAP" probe -- ./prog >../source.txt
    cd ..
    if grep -q "libgit2 is not installed" source.txt; then
        skip "git state" "libgit2 is not installed"
    else
        like "the commit" "$(cat source.txt)" "$(git -C repo rev-parse HEAD)"
        like "the branch" "$(cat source.txt)" "trunk"
        like "clean" "$(grep git.dirty source.txt)" "false"
        like "the origin without credentials" "$(cat source.txt)" "https://host.example/x.git"
        ok "no password" sh -c '! grep -q geheim source.txt'
        touch repo/untracked && echo >>repo/prog
        like "changed" "$(cd repo && "$BENCHWRAP" probe -- ./prog | grep git.dirty)" "true"
    fi
fi

# What the launcher before the program was told is the step's, what the scheduler gave the job is the job's.
mkdir -p bin
printf '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n' >bin/srun
chmod +x bin/srun
SLURM_JOB_ID=5 SLURM_JOB_NUM_NODES=2 SLURM_NTASKS=8 SLURM_TASKS_PER_NODE='4(x2)' "$BENCHWRAP" -q --no-scontrol -t "$WORK/shape/mlruns" -- bin/srun -n 2 --ntasks-per-node=2 --cpus-per-task=3 -- true
cd "$WORK"/shape/mlruns/*/*/params || exit 1
is "the launcher's and the allocation's" "$(for key in step.tasks step.cpus_per_task job.nodes job.tasks job.tasks_per_node; do cat $key; echo; done | xargs)" "2 3 2 8 4"
ok "no tasks per node of the step, which are a maximum beside -n" test ! -e step.tasks_per_node
like "no nodes of the step" "$("$BENCHWRAP" show -t "$WORK/shape/mlruns" --json | jq -r '.missing[] | select(.key == "step.nodes").reason')" "options do not state"
cd "$WORK" || exit 1

# The shape that options and variables give only where it holds.
printf '#!/bin/sh\nfor last; do :; done\nexec "$last"\n' >bin/mpirun
chmod +x bin/mpirun
step() # LAUNCHER…: in a job of two nodes with eight tasks
{
    rm -rf "$WORK/step"
    SLURM_JOB_ID=5 SLURM_JOB_NUM_NODES=2 SLURMD_NODENAME=n1 SLURM_NTASKS=8 SLURM_TASKS_PER_NODE='4(x2)' "$BENCHWRAP" -q --no-scontrol -t "$WORK/step/mlruns" -- "$@" true
    "$BENCHWRAP" show -t "$WORK/step/mlruns" --json | jq -r '[.params["step.nodes", "step.tasks", "step.tasks_per_node"]] | map(. // "-") | join(" ")'
}
is "srun --ntasks-per-node without -n: the tasks are the job's" "$(step bin/srun --ntasks-per-node=2 --)" "- - -"
is "mpiexec -ppn: all ranks on the first node" "$(step bin/mpirun -ppn 8 -n 8)" "1 8 8"
is "... one turn over both" "$(step bin/mpirun -ppn 4 -n 8)" "2 8 4"
is "... four turns" "$(step bin/mpirun -ppn 1 -n 8)" "2 8 -"
is "Open MPI's pattern, which may leave nodes free" "$(step bin/mpirun --map-by ppr:8:node -np 8)" "- 8 -"
is "... and one that does not" "$(step bin/mpirun --map-by core -np 8)" "2 8 -"
is "outside of a job all may run here" "$("$BENCHWRAP" -q -t "$WORK/here/mlruns" -- bin/mpirun -ppn 2 -n 4 true; "$BENCHWRAP" show -t "$WORK/here/mlruns" --json | jq -r '.params["step.tasks_per_node"] // "-"')" "-"
SLURM_JOB_ID=5 SLURM_JOB_NUM_NODES=1 SLURM_JOB_NODELIST=n1 SLURM_JOB_CPUS_PER_NODE=2 SLURM_CPUS_PER_TASK=1 SLURM_GPUS_PER_NODE=1 SLURM_HET_SIZE=2 SLURM_JOB_PARTITION=a \
    SLURM_JOB_NUM_NODES_HET_GROUP_0=1 SLURM_JOB_NODELIST_HET_GROUP_0=n1 SLURM_JOB_CPUS_PER_NODE_HET_GROUP_0=2 SLURM_CPUS_PER_TASK_HET_GROUP_0=1 SLURM_JOB_PARTITION_HET_GROUP_0=a \
    SLURM_JOB_NUM_NODES_HET_GROUP_1=2 SLURM_JOB_NODELIST_HET_GROUP_1='n[2-3]' SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1=6,2 SLURM_CPUS_PER_TASK_HET_GROUP_1=2 SLURM_JOB_PARTITION_HET_GROUP_1=a \
    "$BENCHWRAP" -q --no-scontrol -t "$WORK/het/mlruns" -- true
is "heterogeneous: of all components, or missing" "$("$BENCHWRAP" show -t "$WORK/het/mlruns" --json | jq -r '.params["job.nodes", "job.cpus_per_node", "job.partition"], .tags["job.nodelist"], (.missing[] | select(.key | test("per_task|gpus_per")) | .reason)' | xargs)" \
    "3 2,6,2 a n1,n[2-3] the components of this heterogeneous job have 1,2 SLURM_GPUS_PER_NODE is of one component of this heterogeneous job"

# srun on a login node: nothing of this machine is told, what does not depend on it is.
"$BENCHWRAP" -q -t "$WORK/login/mlruns" -- bin/srun -n 2 -- true
is "elsewhere: no fact of this machine" "$(ls "$WORK"/login/mlruns/*/*/params | grep -E '^(cpu|memory|kernel|numa|os|node)\.' | xargs) $(ls "$WORK"/login/mlruns/*/*/tags | grep -E '^node\.' | xargs) $(ls -d "$WORK"/login/mlruns/*/*/metrics/system 2>/dev/null)" "  "
is "elsewhere: the reason, and the job" "$("$BENCHWRAP" show -t "$WORK/login/mlruns" --json | jq -r '(.missing[] | select(.key == "machine").reason), .params["step.tasks"]' | xargs)" "srun runs the program on other machines: this one is no node of its job, and nothing of it is recorded 2"
SLURM_JOB_ID=5 SLURMD_NODENAME=n1 "$BENCHWRAP" -q -t "$WORK/node/mlruns" -- bin/srun -n 2 -- true
ok "on a node of the job they are told" test -s "$(echo "$WORK"/node/mlruns/*/*/params/cpu.model)"

# The recorder raises its own limits; the program has the caller's, and they are recorded.
(ulimit -Sn 300; ulimit -St 500; ulimit -Sf 4000000; ulimit -Ss 4096; ulimit -Sd 30000000; "$BENCHWRAP" -q -t "$WORK/limits/mlruns" -- sh -c 'ulimit -n; ulimit -t; ulimit -s; ulimit -d') >limits.out
is "limits are those of the program" "$("$BENCHWRAP" show -t "$WORK/limits/mlruns" --json | jq -r '.params["limits.open_files", "limits.cpu_s", "limits.stack_KiB", "limits.data_KiB"]' | xargs)" "$(xargs <limits.out)"

# Captured machines, and what is wrong with a call.
like "a captured machine" "$("$BENCHWRAP" probe --root "$ROOT/tests/probes/neoverse-v1/root")" "ARM Neoverse-V1"
ok "a root that is not there is said" sh -c '"$BENCHWRAP" probe --root ./gone 2>&1 | grep -q "gone cannot be opened: No such file"'
done_testing
