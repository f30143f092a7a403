#!/bin/bash
# Slurm with accounting: slurmdbd on a MariaDB of its own, and what --sacct takes of it.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/slurm.sh"
cd "$WORK" || exit 1
PATH=$PATH:/usr/sbin
for tool in mariadbd mariadb-install-db slurmdbd sacctmgr; do
    command -v $tool >/dev/null || { skip "sacct" "$tool is not installed"; done_testing; exit 0; }
done
slurm_dir=$WORK/slurm
trap 'slurm_kill; tap_exit' EXIT
slurm_munge || { skip "sacct" "munged did not come up"; done_testing; exit 0; }
db=$WORK/db
mkdir -p "$db"
mariadb-install-db --no-defaults --datadir="$db" --auth-root-authentication-method=normal --skip-test-db --user="$(id -un)" >"$WORK/db.log" 2>&1
setsid mariadbd --no-defaults --datadir="$db" --socket="$WORK/db.sock" --skip-networking --user="$(id -un)" --innodb-lock-wait-timeout=900 </dev/null >>"$WORK/db.log" 2>&1 &
slurm_pids="$slurm_pids $!"
wait_until '[ -S "$WORK/db.sock" ]'
port=$(slurm_free_port 1)
cat >"$slurm_dir/etc/slurmdbd.conf" <<C
DbdHost=$(uname -n | cut -d. -f1)
DbdAddr=127.0.0.1
DbdPort=$port
SlurmUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$slurm_dir/munge/socket
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm
LogFile=$slurm_dir/log/slurmdbd.log
PidFile=$slurm_dir/run/slurmdbd.pid
C
chmod 600 "$slurm_dir/etc/slurmdbd.conf"
SLURM_CONF=$slurm_dir/etc/slurmdbd.conf MYSQL_UNIX_PORT=$WORK/db.sock setsid slurmdbd -D </dev/null >"$slurm_dir/log/dbd.out" 2>&1 &
slurm_pids="$slurm_pids $!"
wait_until 'grep -q started "$slurm_dir/log/slurmdbd.log"'
slurm_gather=jobacct_gather/linux
slurm_accounting=accounting_storage/slurmdbd
slurm_more="JobAcctGatherFrequency=1
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$port
AccountingStoragePass=$slurm_dir/munge/socket"
if ! slurm_start 2; then
    skip "sacct" "$slurm_why $(tail -n 2 "$slurm_dir/log/slurmdbd.log")"
    done_testing
    exit 0
fi
timeout 20 sacctmgr -i add cluster ci >/dev/null 2>&1
wait_until '[ -n "$(timeout 5 sacctmgr -nP list cluster format=ControlPort | grep -v "^0")" ]'
cat >batch.sh <<S
#!/bin/sh
srun -N1 -n1 sh -c ': before'
"$BENCHWRAP" -q --sacct -- srun -n2 -N2 -J 'a|b
c' sh -c 'i=0; while [ \$i -lt 300000 ]; do i=\$((i+1)); done; sleep 2.5'
sleep 1.1
"$BENCHWRAP" -q --sacct -- true
srun -N1 -n1 "$BENCHWRAP" -q --sacct -- true
S
timeout 120 sbatch -Q --wait -N2 -n2 -o batch.log batch.sh >/dev/null 2>&1
is "the job's own output" "$(cat batch.log)" ""
first=$("$BENCHWRAP" ls --json | jq -r '[.[] | select(.benchmark == "sh")][0].id // empty')
"$BENCHWRAP" show "$first" --json >run.json
is "the steps that ran meanwhile, not the one before, nor the collectors'" "$(cat mlruns/*/"$first"*/metrics/slurm.steps 2>/dev/null | cut -d' ' -f2)" 1
is "its tasks" "$(cat mlruns/*/"$first"*/metrics/slurm.step_tasks | cut -d' ' -f2)" 2
ok "its processor time" awk '{exit !($2 > 0)}' "$(echo mlruns/*/"$first"*/metrics/slurm.cpu_s)"
ok "its memory" awk '{exit !($2 > 0)}' "$(echo mlruns/*/"$first"*/metrics/slurm.max_rss_MiB)"
is "its state" "$(cat mlruns/*/"$first"*/tags/job.step_state)" COMPLETED
is "without steps: why" "$(for r in $("$BENCHWRAP" ls --json | jq -r '.[] | select(.benchmark == "true").id'); do "$BENCHWRAP" show "$r" --json | jq -r '.missing[] | select(.key == "slurm.steps").reason'; done | sort)" \
    "sacct: no step of this job began while the program ran
sacct: the step of these ranks ends after the record; write benchwrap before srun"
slurm_stop
done_testing
