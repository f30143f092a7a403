#!/bin/bash
# Facts of this machine are recorded where the program runs here; of a program that may run elsewhere the record says that they are missing.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
unset "${!SLURM@}" "${!DOCKER@}" "${!CONTAINER@}" 2>/dev/null
mkdir bin
PATH=$WORK/bin:$PATH
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
here() # COMMAND…: "here" with facts of the machine; else the reason; "both" or "neither" are mistakes
{
    for _ in 1 2 3 4 5; do # MPICH's mpirun of Debian 12 dies of SIGPIPE before its first rank now and then, also without benchwrap: t0150
        rm -rf mlruns .benchwrap
        "$BENCHWRAP" -q -e place -- "$@" >out 2>err
        [ $? = 141 ] && [ ! -s out ] || break
    done
    facts=$(find mlruns -name cpu.threads -o -name kernel.release | wc -l)
    sampled=$(find mlruns -path '*metrics/system*' -type f | wc -l)
    reason=$("$BENCHWRAP" show --json | jq -r '.missing[] | select(.key == "machine").reason')
    case "${reason:+gone}$([ "$facts" = 0 ] && [ "$sampled" = 0 ] || echo facts)" in
    facts) echo here ;;
    gone) echo "$reason" ;;
    gonefacts) echo both ;;
    *) echo neither ;;
    esac
}
may='may run the program on another machine'

# Real launchers of MPI, with several names of this host.
name=$(uname -n)
address=$(ip -4 -o addr show scope global 2>/dev/null | awk '{sub("/.*", "", $4); print $4; exit}')
for mpi in mpich openmpi; do
    run=$(command -v mpirun.$mpi) || { skip "$mpi" "not installed"; continue; }
    [ $mpi = mpich ] && H=-hosts F=-f || H=-H F=--hostfile
    is "$mpi: no hosts named" "$(here "$run" -n 1 true)" here
    for host in localhost 127.0.0.1 "$name" ${address:+"$address"}; do
        "$run" "$H" "$host" -n 1 echo ran >bare 2>/dev/null </dev/null # OpenMPI 5 has not always an interface of this address
        is "$mpi $H $host: here, as without benchwrap" "$(here "$run" "$H" "$host" -n 1 echo ran) $(cat out)" "here $(cat bare)"
    done
    printf '# hosts\n\n%s\n' "$name" >hosts
    is "$mpi $F: here, and it ran" "$(here "$run" "$F" hosts -n 1 echo ran) $(cat out)" "here ran"
    echo far.example.org >hosts
    is "$mpi $F with another host" "$(here timeout 5 "$run" "$F" hosts -n 1 true)" "mpirun $may (its option $F): its first host is not known as this one, of which nothing is recorded"
    is "$mpi $H with another host" "$(here timeout 5 "$run" "$H" far.example.org,localhost -n 1 true)" "mpirun $may (its option $([ $mpi = mpich ] && echo --hosts || echo -H)): its first host is not known as this one, of which nothing is recorded"
    like "$mpi $F without a file" "$(here timeout 5 "$run" "$F" nowhere -n 1 true)" "^mpirun $may"
    like "$mpi $F from a pipe" "$(here timeout 5 "$run" "$F" <(echo localhost) -n 1 true)" "^mpirun $may"
done

# A real sshd on this machine: a port, a tunnel or a configuration file could as well lead elsewhere.
if command -v ssh >/dev/null && sshd=$(PATH=$PATH:/usr/sbin command -v sshd); then
    ssh-keygen -q -t ed25519 -N '' -f key && ssh-keygen -q -t ed25519 -N '' -f host && cp key.pub authorized
    port=$(free_port)
    mkdir -p /run/sshd 2>/dev/null
    "$sshd" -D -p "$port" -o ListenAddress=127.0.0.1 -h "$WORK/host" -o AuthorizedKeysFile="$WORK/authorized" -o StrictModes=no \
        -o UsePAM=no -o PidFile=none -f /dev/null >sshd.log 2>&1 &
    server=$!
    wait_until '(: >/dev/tcp/127.0.0.1/"$port") 2>/dev/null'
    is "ssh, a real server: the reason, and it ran" "$(here ssh -p "$port" -i key -o StrictHostKeyChecking=no -o UserKnownHostsFile=known localhost echo ran) $(cat out)" \
        "ssh $may (it connects to a server): nothing of this one is recorded ran"
    is "... the program behind it is known" "$("$BENCHWRAP" show --json | jq -r '.tags.benchmark')" echo
    kill $server
    wait $server 2>/dev/null
else
    skip "ssh" "no sshd"
fi

# The others take their orders from stand-ins that only run the last word.
for p in docker podman kubectl pdsh clush systemd-run apptainer parallel sbatch; do
    printf '#!/bin/sh\nfor last; do :; done\nexec "$last"\n' >"bin/$p" && chmod +x "bin/$p"
done
server="(it connects to a server): nothing of this one is recorded"
is "pdsh" "$(here pdsh -w n1 true)" "pdsh $may $server"
is "clush" "$(here clush -w n1 true)" "clush $may $server"
is "kubectl exec" "$(here kubectl -n x exec pod -- true)" "kubectl $may $server"
is "kubectl version runs here" "$(here kubectl version true)" here
is "docker run" "$(here docker run image true)" here
is "apptainer run" "$(here apptainer exec image true)" here
is "docker --context" "$(here docker --context far run image true)" "docker $may (its option --context): nothing of this one is recorded"
is "DOCKER_HOST" "$(DOCKER_HOST=tcp://n1:2375 here docker run image true)" "docker $may (DOCKER_HOST): nothing of this one is recorded"
is "DOCKER_HOST: a socket" "$(DOCKER_HOST=unix:///run/user/1/docker.sock here docker run image true)" here
mkdir -p "$HOME/.docker" && echo '{"currentContext": "far"}' >"$HOME/.docker/config.json"
is "docker context use" "$(here docker run image true)" "docker $may (its current context): nothing of this one is recorded"
rm -r "$HOME/.docker"
is "podman --remote" "$(here podman --remote run image true)" "podman $may (its option --remote): nothing of this one is recorded"
is "systemd-run -H" "$(here systemd-run -H n1 true)" "systemd-run $may (its option -H): nothing of this one is recorded"
is "parallel -S" "$(here parallel -S n1 true)" "parallel $may (its option -S): nothing of this one is recorded"
is "sbatch --wait" "$(here sbatch --wait true)" "sbatch $may (its option --wait): nothing of this one is recorded"
is "sbatch alone runs here" "$(here sbatch true)" here

is "docker container run, compose: DOCKER_HOST counts" "$(for c in 'container run image' 'compose -f x.yml exec box' 'compose run box'; do DOCKER_HOST=tcp://n1:2375 here docker $c true; done)" \
    "$(for _ in 1 2 3; do echo "docker $may (DOCKER_HOST): nothing of this one is recorded"; done)"
is "docker container run here" "$(here docker container run image true)" here
for p in k3s dbclient tsh ansible charmrun flock unbuffer; do cp bin/docker "bin/$p"; done
is "k3s kubectl exec" "$(here k3s kubectl -n x exec pod -- true)" "k3s $may $server"
is "dbclient" "$(here dbclient -p 22 n1 true)" "dbclient $may $server"
is "tsh ssh" "$(here tsh ssh root@n1 true)" "tsh $may $server"
for p in prun psh sattach qlogin; do
    cp bin/docker bin/$p
    is "$p" "$(here $p -n 1 true)" "$p $may $server"
done
while read -r line; do
    p=${line%% *}
    cp bin/docker "bin/$p"
    # shellcheck disable=SC2086 # words
    is "$line" "$(here $line true)" "$p $may $server"
done <<'L'
qsh -c
qmake -cwd
interact -n 1
runjob --block B :
gh codespace ssh -c x --
coder ssh box
devpod ssh box --command
brev exec box
runai submit job --
runpodctl exec python
databricks jobs submit
dstack apply -f
kitten ssh n1
colima ssh --
dask ssh n1
et n1 -c
accelerate tpu-config --command
L
while IFS='|' read -r line why; do
    p=${line%% *}
    cp bin/docker "bin/$p"
    expected=here
    [ -z "$why" ] || expected="$p $may ($why): nothing of this one is recorded"
    # shellcheck disable=SC2086 # words
    is "$line" "$(here $line true)" "$expected"
done <<'L'
fab -H n1 task|its tasks decide
nextflow run main.nf|its configuration decides
nextflow log|
miniwdl run x.wdl|its configuration decides
snakemake -j 4 all --executor slurm|its option --executor
snakemake --cores 4 -e kubernetes|its option -e
snakemake all --profile /etc/cluster|its option --profile
snakemake --cores 4 all --kubernetes|its option --kubernetes
snakemake --cores 4 all|
toil-cwl-runner --batchSystem slurm x.cwl|its option --batchSystem
toil-cwl-runner --workDir /tmp x.cwl|
mlflow run . -b databricks|its option -b
mlflow run .|
mlflow server|
accelerate launch|
torchrun --nnodes 2|
L
is "gh runs its other commands here" "$(here gh true)" here
cp bin/docker bin/pjsub
is "pjsub --interact" "$(here pjsub --interact true)" "pjsub $may (its option --interact): nothing of this one is recorded"
for p in oshrun shmemrun cafrun; do
    cp bin/docker bin/$p
    like "$p -H" "$(here $p -H far.example.org true)" "^$p $may \(its option (-H|--H)\): its first host"
done
for p in screen tsp; do
    cp bin/docker bin/$p
    here $p true >/dev/null
    like "$p: a service starts the program, which is not counted" "$("$BENCHWRAP" show --json | jq -r '.missing[] | select(.key == "run.user_s").reason')" "^$p has a service start the program"
done
for p in yhrun lrun mpiexec.slurm flux; do
    cp bin/docker bin/$p
    is "$p outside of a job" "$(here $p $([ $p != flux ] || echo mini run) -n 1 true)" "$p runs the program on other machines: this one is no node of its job, and nothing of it is recorded"
done
is "flux exec" "$(here flux exec -r all true)" "flux runs the program on other machines: this one is no node of its job, and nothing of it is recorded"
cp bin/docker bin/bsub
is "bsub -Is" "$(here bsub -Is true)" "bsub $may (its option -Is): nothing of this one is recorded"
is "ansible" "$(here ansible all -m shell -a true)" "ansible $may $server"
is "charmrun" "$(here charmrun +p4 true)" "charmrun $may $server"
cp bin/docker bin/srun && cp bin/docker bin/ssh
is "a program that is no starter, before ssh" "$(here flock lock ssh n1 true)" "ssh $may $server"
is "... before srun outside of a job" "$(here python3 -c 'import subprocess, sys; subprocess.run(sys.argv[1:])' --launcher srun -n 1 true)" \
    "srun runs the program on other machines: this one is no node of its job, and nothing of it is recorded"
is "... before a line of shell" "$(here unbuffer bash -c 'cd . && ssh n1 true')" "ssh $may $server"
is "a line of fish, and of sg" "$(for p in fish sg; do cp bin/docker bin/$p; done; here fish -c 'ssh n1 true'; here sg root -c 'ssh n1 true')" "ssh $may $server
ssh $may $server"
is "... before a launcher of this machine" "$(here unbuffer nice -n 1 true)" here
is "... a word that starts nothing" "$(here unbuffer echo ssh n1)" here
rm bin/srun bin/ssh bin/flock bin/unbuffer
printf '#!/bin/sh\necho ran\n' >bin/mpirun && chmod +x bin/mpirun
is "mpirun in a shell of salloc: its ranks run on the job's nodes" "$(SLURM_JOB_ID=5 SLURM_JOB_NUM_NODES=3 here mpirun -n 2 true)" \
    "mpirun runs the program on other machines: this one is no node of its job, and nothing of it is recorded"
is "... on a node of the job" "$(SLURM_JOB_ID=5 SLURM_JOB_NUM_NODES=3 SLURMD_NODENAME=n1 here mpirun -n 2 true)" here
is "... with its own list of hosts" "$(SLURM_JOB_ID=5 SLURM_JOB_NUM_NODES=3 here mpirun -H localhost -n 2 true)" here
rm bin/mpirun

is "sshpass" "$(mv bin/pdsh bin/ssh; cp bin/ssh bin/sshpass; here sshpass -p x ssh n1 true)" "ssh $may $server"

# A line of shell that the user typed shows its commands; variables that the line sets count.
is "sh -c" "$(here sh -c 'cd / && ssh n1 true')" "ssh $may $server"
is "bash -lc, a condition" "$(here bash -lc 'if true; then A=1 exec ssh n1 true; fi')" "ssh $may $server"
is "sh -c 'sh -c …'" "$(here sh -c "sh -c 'ssh n1 true'")" "ssh $may $server"
is "env -S" "$(here env -S 'ssh n1 true')" "ssh $may $server"
is "a word that is no command" "$(here sh -c 'echo ssh n1; true')" here
is "env DOCKER_HOST=" "$(here env DOCKER_HOST=tcp://n1:2375 docker run image true)" "docker $may (DOCKER_HOST): nothing of this one is recorded"

ln -s bin/ssh link && ln -s "$(command -v nice)" bin/slow
is "a symbolic link to ssh" "$(here ./link n1 true)" "ssh $may $server"
is "... to a starter of this machine" "$(here slow -n 1 true)" here
is "a variable in a line of shell" "$(here bash -c 'L=(ssh n1); "${L[@]}" true')" "ssh $may $server"
is "a function in a line of shell" "$(here bash -c 'f() { ssh n1 "$@"; }; f true')" "ssh $may $server"

# Scripts: a part of them may run here, so the facts stay, with a warning.
warned() { "$BENCHWRAP" -q -e place -- "$@" >out 2>err; "$BENCHWRAP" show --json | jq -r '[.warnings[] | .text? // . | select(test("run.user_s"))] | join("+")'; }
outside() { echo "$1 starts $2, which may run programs on another machine: the hardware and system metrics of this run are those of this one, and run.user_s, run.system_s and run.max_rss_MiB do not count them"; }
served() { echo "$1 starts $2, whose programs are no processes of this run: run.user_s, run.system_s and run.max_rss_MiB do not count them"; }
write() { cat >"$1" && chmod +x "$1"; }
write inner.sh <<'S'
#!/usr/bin/env bash
far() {
    for i in 1; do
        ssh -q \
            n1 true
    done
}
[ -z "$1" ] || far
S
write outer.sh <<'S'
#!/bin/sh -e
# ssh n1 is not called
echo "ssh n1 true; srun true" # ssh n1 true
cat <<'E' >/dev/null
ssh n1 true
E
case ${1:-} in
ssh) true ;;
srun) true ;;
esac
./inner.sh "$@"
S
sed 's/^.\/inner.*/true/' outer.sh | write plain.sh
echo docker run image true >lib.sh
echo X=1 . ./lib.sh >caller
is "a script that ssh is named in, never as a command" "$(warned ./plain.sh)" ""
is "a script, called by a script, has ssh in a function" "$(warned ./outer.sh)" "$(outside ./inner.sh ssh)"
is "... with options of the shell" "$(warned nice -n 1 bash -e ./outer.sh 1)" "$(outside ./inner.sh ssh)"
is "... in a line of shell" "$(warned sh -c 'cd . && ./outer.sh')" "$(outside ./inner.sh ssh)"
is "a file that is sourced has docker" "$(warned sh caller)" "$(served ./lib.sh docker)"
is "docker in a line of shell" "$(warned sh -c 'docker run image true')" "$(served "a line of shell" docker)"
is "... which is the program" "$(warned docker run image true)" ""
write value.sh <<'S'
#!/bin/sh
if true; then L="env X=1 ssh n1"; else L="nice -n 1"; fi
time ${L} true
S
sed -i 's/env X=1 //' value.sh
is "a variable of the script" "$(warned ./value.sh)" "$(outside ./value.sh ssh)"
printf '#!/bin/bash\nX=$(which ssh)\n$X n1 true\n' | write which.sh
is "... with a command's path" "$(warned ./which.sh)" "$(outside ./which.sh ssh)"
printf '#!/bin/bash\n${LAUNCHER:-ssh n1} true\n' | write default.sh
is "... with a default" "$(warned ./default.sh)" "$(outside ./default.sh ssh)"
is "... which the environment has" "$(LAUNCHER='nice -n 1' warned ./default.sh)" ""
is "... which the line has" "$(warned env LAUNCHER='ssh n2' nice -n 1 ./default.sh)" "$(outside ./default.sh ssh)"
printf '#!/bin/bash\nMPI=${MPI:-mpirun}\n$MPI -H n9 -n 1 true\n' | write own.sh
is "... with a default of its own" "$(warned ./own.sh)" "$(outside ./own.sh mpirun)"
printf '#!/bin/bash\nexport L="ssh n1"\n$L true\n' | write export.sh
is "... that is exported" "$(warned ./export.sh)" "$(outside ./export.sh ssh)"
printf '#!/bin/bash\nbash <<<"ssh n1 true"\n' | write string.sh
is "a line that a shell of the script reads" "$(warned ./string.sh)" "$(outside ./string.sh ssh)"
printf '#!/bin/bash\nbash <<X\nssh n1 true\nX\n' | write lines.sh
is "... and a here document" "$(warned ./lines.sh)" "$(outside ./lines.sh ssh)"
printf '#!/bin/bash\non() { "$@"; }\non ssh n1 true\n' | write words.sh
is "a function of the script gets a command" "$(warned ./words.sh)" "$(outside ./words.sh ssh)"
printf '#!/bin/bash\nssh() { echo ran; }\nssh n1 true\n' | write shadow.sh
is "a function with the name of a starter" "$(warned ./shadow.sh)" ""
write wait.py <<'S'
import glob, subprocess, time
def samples():
    return sum(open(f, errors="replace").read().count("system/process_count") for f in glob.glob(".benchwrap/spool/*/journal"))
p = subprocess.Popen(["ssh", "n1", "./until"])
seen = samples() + 2 # one may have begun before it
while samples() < seen:
    time.sleep(0.05)
open("go", "w").close()
p.wait()
S
write until <<'S'
#!/bin/sh
while [ -e until ] && [ ! -e go ]; do sleep 0.1; done
S
printf '#!/bin/bash\nfor last; do :; done\n"$last"; exit $?\n' >bin/ssh # it stays as a process of this name
is "a program of another language, whose process a sample saw" "$(warned python3 wait.py)" "$(outside "the program" ssh)"

# srun in a job, to another job or to nodes that are not this one.
cp bin/docker bin/srun
in_job() { SLURM_JOB_ID=5 SLURM_JOB_NUM_NODES=3 SLURMD_NODENAME=n1 here "$@"; }
not_listed="srun runs the program on other machines: this one is not in the list of its option"
is "srun" "$(in_job srun -n 1 true)" here
echo srun -n 1 true >job.sh
is "a script with srun in a job" "$(SLURM_JOB_ID=5 SLURM_JOB_NUM_NODES=3 SLURMD_NODENAME=n1 warned sh ./job.sh)" "$(served ./job.sh srun)"
is "... outside of one" "$(warned sh ./job.sh)" "$(outside ./job.sh srun)"
scheduler() { here "$@" >/dev/null; "$BENCHWRAP" show --json | jq -r '.params["job.scheduler"] // (.missing[] | select(.key == "job.scheduler").reason)'; }
is "no job, and none that the command makes" "$(scheduler true)" none
is "srun outside of a job makes one" "$(scheduler srun -n 1 true)" "srun makes the job of the program, which this environment does not describe"
in_job_scheduler() { SLURM_JOB_ID=5 SLURM_JOB_NUM_NODES=3 SLURM_NTASKS=6 SLURMD_NODENAME=n1 scheduler "$@" | xargs; }
for p in 'salloc -N 1' 'sbatch --wait' 'bsub -K' 'srun --jobid 9' 'srun -M c2'; do
    cp bin/docker "bin/${p%% *}"
    is "$p in a job: the program's is another one" "$(in_job_scheduler $p true)" "${p%% *} makes the job of the program, which this environment does not describe"
done
like "sbatch in a job, without --wait" "$(in_job_scheduler sbatch true)" "^slurm"
cp /bin/sh bin/slurmstepd
is "below slurmstepd, without the variables of the job" "$(slurmstepd -c 'scheduler() { "$@" >/dev/null; "$BENCHWRAP" show --json | jq -r "$0"; }; scheduler "$BENCHWRAP" -q -e place -- true; true' \
    '.params["job.scheduler"] // (.missing[] | select(.key == "job.scheduler").reason)')" "slurmstepd shows that this process is in a job, which its environment does not describe"
is "srun -w, with this node" "$(in_job srun -w 'n[1-2]' true)" here
is "srun -w, without it" "$(in_job srun -w 'n[2-3]' true)" "$not_listed -w, and nothing of it is recorded"
is "srun --nodelist, without it" "$(in_job srun --nodelist=n2 true)" "$not_listed --nodelist, and nothing of it is recorded"
is "srun --jobid of this job" "$(in_job srun --jobid=5 true)" here
is "srun --jobid of another one" "$(in_job srun --jobid 9 true)" "srun $may (its option --jobid): nothing of this one is recorded"

# The binding of the program: inherited, or chosen by what starts it.
binding() { "$BENCHWRAP" -q -e place -- "$@" >/dev/null 2>&1; "$BENCHWRAP" show --json | jq -r '[.warnings[] | .text? // .] | map(select(test("binds"))) | join("+")'; }
is "a program has the binding of benchwrap" "$(binding nice -n 1 true)" ""
is "taskset: another binding than the one that is recorded" "$(binding env A=1 taskset -c 0 true)" \
    "taskset binds the program: cpu.bound_* and numa.bound_nodes are those of benchwrap"

# On this machine, but started by a service, or in groups of its own: what the launcher counts and its groups limit is not the program's.
usage='[([.metrics[].key | select(test("^run.(user_s|system_s|max_rss_MiB)|process_"))] | length), (.params["cgroup.cpu_limit"] // .params["cgroup.memory_limit_GiB"] // .params["cgroup.cpus"]), (.missing[] | select(.key == "run.user_s").reason), ([.missing[] | select(.key | test("cgroup.(throttled_s|oom_kills)")).reason] | unique | .[])]'
usage_of() { "$BENCHWRAP" -q -e place -- "$@" >/dev/null 2>&1; "$BENCHWRAP" show --json | jq -c "$usage"; }
printf '#!/bin/sh\nfor last; do :; done\nexec "$last"\n' >bin/cgexec && chmod +x bin/cgexec && cp bin/cgexec bin/srun
for p in 'docker run image' 'podman run image' 'docker exec box' 'systemd-run -P' 'env X=1 docker run image' 'srun -n 1'; do
    name=${p#env X=1 }
    service="${name%% *} has a service start the program, which is no process of this run"
    is "$p: another process starts it" "$(SLURMD_NODENAME=$(uname -n) usage_of $p true)" "[0,null,\"$service\",\"$service\"]"
done
for p in 'systemd-run --scope -p CPUQuota=20%' 'cgexec -g cpu:x'; do
    is "$p: a group of its own" "$(usage_of $p true)" "[3,null,\"${p%% *} starts the program in a control group of its own\"]"
done
done_testing
