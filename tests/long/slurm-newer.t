#!/bin/bash
# Slurm 24.11, with JSON and the allocation's end in the environment, in a root of Debian 13 (slurm_root.sh).
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/slurm_root.sh"
slurm_root trixie "$@"
. "$TESTLIB/slurm.sh"
cd "$WORK" || exit 1
mkdir -p slurm/etc
echo "CgroupPlugin=disabled" >slurm/etc/cgroup.conf
if ! slurm_start 3; then
    tap_fail "Slurm starts" "$slurm_why"
    done_testing
    exit 0
fi
shown() { "$BENCHWRAP" show --json | jq -r "$1"; }
rpcs() { timeout 10 sdiag | sed -n '/by message type/,/by user/p' | sed -n "s/.*$1 *([ 0-9]*) count:\([0-9]*\).*/\1/p"; }
like "the version" "$(scontrol --version)" 'slurm-wlm 2[4-9]'
name='x
   UserId=root(0)
   JobState=FAKE'
timeout 10 sdiag -r >/dev/null 2>&1
timeout 120 srun -N3 -n3 -t 20 -J "$name" --comment="$name" "$BENCHWRAP" -q -- sh -c 'env | grep ^SLURM_JOB_END_TIME= >end.$SLURM_PROCID; sleep 4' </dev/null
is "one run of three nodes" "$("$BENCHWRAP" ls --json | jq length) $(shown '.params["nodes.count"]')" "1 3"
is "scontrol's JSON, by one call" "$(rpcs REQUEST_JOB_INFO_SINGLE) $(rpcs REQUEST_NODE_INFO) $(rpcs REQUEST_JOB_STEP_CREATE)" "1  1"
like "what it told" "$(shown '[.params["slurm.version"], .params["job.time_limit_s"], .params["job.partition"], .params["job.nodes"], .tags["job.nodelist"]] | join(" ")')" '^2[4-9]\.[0-9.]+ 1200 debug 3 n\[1-3\]$'
like "the environment told the end" "$(cat end.0)" '^SLURM_JOB_END_TIME=[0-9]+$'
is "and so did scontrol" "$(date -u -d "$(shown '.tags["job.ends"]')" +%s)" "$(sed 's/.*=//' end.0)"
like "the comment is a text among others" "$(shown '.tags["job.comment"]')" 'x\\x0a   UserId=root\(0\)\\x0a   JobState=FAKE'
is "no reason why something is missing" "$("$BENCHWRAP" show --json | jq -r '.missing[] | select(.key == "job.allocation" or .key == "nodes").reason')" ""
rm -rf mlruns .benchwrap
printf '#!/bin/sh\n"%s" -q -- srun -n3 sleep 4\n"%s" -q -- true\n' "$BENCHWRAP" "$BENCHWRAP" >batch.sh
timeout 120 sbatch -Q --wait -N3 -n3 -o batch.log batch.sh
is "a launcher below: its nodes by a step" "$(cat batch.log) $(jq -r '[.collected_by, .nodes_told] | join(" ")' mlruns/*/*/artifacts/nodes.json)" " step 3"
rm -rf mlruns .benchwrap
timeout 60 sbatch -Q -N1 -n1 -a 1-2 -o array.log --wrap "$BENCHWRAP -q -- sleep 1" --wait
is "tasks of an array do not ask" "$("$BENCHWRAP" show --json | jq -r '.missing[] | select(.key == "job.allocation").reason') $("$BENCHWRAP" ls --json | jq length)" "tasks of an array do not call scontrol: there may be thousands 2"

# A site's limit of a user's calls, which root is free of: calls of taskrate's are not told to wait.
slurm_stop
echo "SlurmctldParameters=rl_enable,rl_bucket_size=12,rl_refill_rate=4,rl_refill_period=1" >>"$SLURM_CONF"
slurm_again || { tap_fail "Slurm with a limit of calls" "$slurm_why"; done_testing; exit; }
chmod 755 "$WORK" slurm slurm/etc && chmod 644 "$SLURM_CONF" && mkdir -m 777 user
for p in slurm-batch slurm-step; do
    (cd user && timeout 120 setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME="$PWD" \
        "$BUILD/bin/taskrate" $p -n 16 -r 1 --warmup 0 --chain 0 --no-floor --json >out.json 2>err)
    is "$p within the limit: the tasks" "$(jq -c '.configurations[0].batches[0] | [.ended, .lost, .throttled]' user/out.json)" "[16,0,true]"
    # Unheld, some twenty calls would be told to wait. On a busy machine those of two commands can meet: their moment is not ours.
    ok "$p within the limit: the calls" test "$(grep -c 'rate limit exceeded' slurm/log/slurmctld.log)" -le 3
    like "… and it is said" "$(jq -c .notes user/out.json)" 'lets a user make 4 calls a second'
    sleep 4
done
slurm_stop
done_testing
