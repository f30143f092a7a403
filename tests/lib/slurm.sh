# slurm.sh: a private Slurm of some virtual nodes on this machine. Sourced after tap.sh.
#   slurm_start [NODES]   0: it runs, SLURM_CONF is exported; 1: not installed or not started ($slurm_why says why)
#                         slurm_killwait=SECONDS before it: between TERM and KILL (5); slurm_more=LINES: of slurm.conf;
#                         slurm_gather, slurm_accounting: the plugins; slurm_names=1: each node has its name as host name too (root alone);
#                         slurm_prefix: of the nodes' names (n); slurm_shape: processors, memory, GPUs of a node; slurm_partition: its name (debug)
#   slurm_again           after slurm_stop: starts it anew, with what was altered in $SLURM_CONF
#   slurm_kill_node NODE  ends its slurmd, its steps and all of their processes by SIGKILL
#   slurm_restart_node NODE   starts its slurmd again; its last job may still be completing for two minutes
#   slurm_stop            cancels everything and ends the daemons
# Daemons run in the foreground as children, each in a session of its own, and are ended by their pids.

slurm_pids=
slurm_munge() # the socket's folder and what lies in it; 1: it did not come up
{
    mkdir -p "$slurm_dir"/{etc,state,run,log,munge,spool}
    chmod 755 "$WORK" "$slurm_dir" "$slurm_dir/munge" # munged wants its socket reachable by all
    head -c 1024 /dev/urandom >"$slurm_dir/munge/key"
    chmod 400 "$slurm_dir/munge/key"
    setsid munged -F --key-file="$slurm_dir/munge/key" --socket="$slurm_dir/munge/socket" --pid-file="$slurm_dir/munge/pid" \
        --log-file="$slurm_dir/munge/log" --seed-file="$slurm_dir/munge/seed" --num-threads=2 </dev/null >"$slurm_dir/log/munged" 2>&1 &
    slurm_pids=$!
    wait_until '[ -S "$slurm_dir/munge/socket" ]'
}

slurm_free_port() # COUNT: first of so many free ports in a row
{
    python3 - "$1" <<'P'
import random, socket, sys
n = int(sys.argv[1])
while True:
    first = random.randrange(12000, 32000 - n) # the kernel gives these to no one else
    try:
        held = []
        for p in range(first, first + n):
            s = socket.socket(); s.bind(("", p)); held.append(s)
        print(first); break
    except OSError:
        pass
P
}

slurm_start()
{
    slurm_nodes=${1:-2} slurm_prefix=${slurm_prefix:-n}
    for slurm_tool in munged slurmctld slurmd srun sbatch scancel; do
        PATH=$PATH:/usr/sbin command -v $slurm_tool >/dev/null || { slurm_why="$slurm_tool is not installed"; return 1; }
    done
    PATH=$PATH:/usr/sbin
    slurm_dir=$WORK/slurm
    mkdir -p "$slurm_dir"/{etc,log}
    trap 'slurm_kill; tap_exit' EXIT
    slurm_host=$(uname -n | cut -d. -f1)
    slurm_ports=$(slurm_free_port $((slurm_nodes + 1)))
    cat >"$slurm_dir/etc/slurm.conf" <<C
ClusterName=ci
SlurmctldHost=$slurm_host(127.0.0.1)
SlurmctldPort=$slurm_ports
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$slurm_dir/munge/socket
CredType=cred/munge
StateSaveLocation=$slurm_dir/state
SlurmdSpoolDir=$slurm_dir/spool/%n
SlurmctldPidFile=$slurm_dir/run/slurmctld.pid
SlurmdPidFile=$slurm_dir/run/slurmd.%n.pid
SlurmctldLogFile=$slurm_dir/log/slurmctld.log
SlurmdLogFile=$slurm_dir/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=${slurm_gather:-jobacct_gather/none}
AccountingStorageType=${slurm_accounting:-accounting_storage/none}
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
Epilog=/bin/true
${slurm_more:-}
KillWait=${slurm_killwait:-5}
NodeName=${slurm_prefix}[1-$slurm_nodes] NodeHostname=$slurm_host NodeAddr=127.0.0.1 Port=[$((slurm_ports + 1))-$((slurm_ports + slurm_nodes))] ${slurm_shape:-CPUs=8 RealMemory=2000} State=UNKNOWN
PartitionName=${slurm_partition:-debug} Nodes=ALL Default=YES MaxTime=INFINITE State=UP
C
    case $(slurmd -V) in # newer ones do not start where no cgroups are mounted
    *" 22."*) ;;
    *) echo CgroupPlugin=disabled >"$slurm_dir/etc/cgroup.conf" ;;
    esac
    export SLURM_CONF=$slurm_dir/etc/slurm.conf
    slurm_again
}

slurm_start_node() # NUMBER
{
    mkdir -p "$slurm_dir/spool/$slurm_prefix$1"
    if [ -n "${slurm_names:-}" ]; then
        setsid unshare --uts sh -c 'hostname "$1" && exec slurmd -D -N "$1"' sh "$slurm_prefix$1" </dev/null >"$slurm_dir/log/d$1.out" 2>&1 &
    else
        setsid slurmd -D -N "$slurm_prefix$1" </dev/null >"$slurm_dir/log/d$1.out" 2>&1 &
    fi
    slurm_pids="$slurm_pids $!"
}

slurm_node_pids() # NODE: those of slurmd and of its steps, which have its log open, and of their children
{
    slurm_found=$(find /proc/[0-9]*/fd -lname "$slurm_dir/log/slurmd.$1.log" 2>/dev/null | cut -d/ -f3 | sort -u)
    while [ -n "$slurm_found" ]; do
        echo "$slurm_found"
        slurm_found=$(for slurm_pid in $slurm_found; do pgrep -P "$slurm_pid"; done)
    done
}

slurm_kill_node()
{
    slurm_gone=$(slurm_node_pids "$1" | sort -un)
    # shellcheck disable=SC2086 # several
    kill -STOP $slurm_gone 2>/dev/null # none starts another one
    slurm_gone=$(slurm_node_pids "$1" | sort -un)
    # shellcheck disable=SC2086
    kill -KILL $slurm_gone 2>/dev/null
    # shellcheck disable=SC2086
    wait $slurm_gone 2>/dev/null # without the shell's word about slurmd
}

slurm_restart_node()
{
    slurm_start_node "${1#"$slurm_prefix"}"
    slurm_up=$1
    wait_until 'scontrol update nodename="$slurm_up" state=resume; ! sinfo -h -N -n "$slurm_up" -o %T | grep -q down'
}

slurm_again() # starts the daemons with the configuration there is, which may have been altered after slurm_stop
{
    if [ -z "$slurm_pids" ] && ! slurm_munge; then
        slurm_why="munged did not come up: $(tail -n 3 "$slurm_dir/log/munged")"
        slurm_kill
        return 1
    fi
    setsid slurmctld -D -c </dev/null >"$slurm_dir/log/ctld.out" 2>&1 &
    slurm_pids="$slurm_pids $!"
    for slurm_i in $(seq "$slurm_nodes"); do
        slurm_start_node "$slurm_i"
    done
    wait_until '[ "$(timeout 5 sinfo -h -N -t idle -o %N | sort -u | wc -l)" = "$slurm_nodes" ]' && return 0
    slurm_why="the nodes did not come up: $(for slurm_log in "$slurm_dir"/log/*; do echo "$slurm_log: $(tail -n 3 "$slurm_log")"; done)"
    slurm_kill
    return 1
}

slurm_kill() # a slurmd whose node failed can wait for its step for ever: after 20 s SIGKILL ends it
{
    for slurm_pid in $slurm_pids; do kill "$slurm_pid" 2>/dev/null; done
    # shellcheck disable=SC2086 # several
    { sleep 20; kill -9 $slurm_pids; } >/dev/null 2>&1 &
    slurm_late=$!
    for slurm_pid in $slurm_pids; do wait "$slurm_pid" 2>/dev/null; done
    kill "$slurm_late" 2>/dev/null
    wait "$slurm_late" 2>/dev/null
    slurm_pids=
}

slurm_stop()
{
    timeout 5 scancel -u "$(id -un)" 2>/dev/null
    wait_until '[ -z "$(timeout 5 squeue -h)" ]' 20
    slurm_kill
}
