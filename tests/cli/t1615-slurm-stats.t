#!/bin/bash
# benchwrap slurm-stats: the output of Slurm's commands as metrics, the cache, commands that fail, slurmctld's own metrics. tests/long/slurm-stats.t has a real Slurm.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
mkdir -p bin answers
for tool in squeue sinfo sdiag sshare; do
    # shellcheck disable=SC2016 # for the script
    printf '#!/bin/sh\necho %s >>"$CALLS"\ncat "$ANSWERS/%s" || exit 1\n' $tool $tool >bin/$tool
done
chmod +x bin/*
cat >answers/squeue <<'A'
RUNNING|None|64|2|gpu:a100:4|gpu|phys|ada
RUNNING|None|8|1|N/A|cpu|chem|bob
PENDING|Resources|16|1|N/A|cpu,gpu|chem|bob
PENDING|Dependency|16|1|N/A|cpu|(null)|evil"\user
COMPLETING|None|1|1|N/A|cpu|chem|bob
A
cat >answers/sinfo <<'A'
n1|mixed|8/56/0/64|cpu*|(null)|(null)|256000|16000|
n2|drained*|0/0/64/64|cpu*|(null)|(null)|256000|0|
g1|allocated|64/0/0/64|gpu|gpu:a100:4(S:0-1)|gpu:a100:4(IDX:0-3)|512000|512000|
g1|allocated|64/0/0/64|all|gpu:a100:4(S:0-1)|gpu:a100:4(IDX:0-3)|512000|512000|
g2|idle|0/64/0/64|all|gpu:a100:4,nvme:1|gpu:a100:0,nvme:0|512000|0|
A
printf 'Server thread count:  3\nAgent queue size:     1\nDBD Agent queue size: 7\nMain schedule statistics (microseconds):\n\tLast cycle:   74\n\tMean cycle:   70\n\tCycles per minute: 2\nBackfilling stats\n\tTotal backfilled jobs (since last slurm start): 11\n\tLast cycle: 900\n\tMean cycle: 800\n\tDepth Mean: 5\nRemote Procedure Call statistics by message type\n\tREQUEST_PING                            ( 1008) count:2      ave_time:140    total_time:280\n\tLast cycle: 5\nRemote Procedure Call statistics by user\n\troot            (       0) count:81     ave_time:319    total_time:25913\nPending RPC statistics\n\tNo pending RPCs\n\tx (1) count:3\n' >answers/sdiag
printf 'root|\n phys|0.75\n chem|0.25\n  ada|x\n' >answers/sshare
export CALLS=$WORK/calls ANSWERS=$WORK/answers XDG_RUNTIME_DIR=$WORK/run PATH=$WORK/bin:$PATH
mkdir -m 700 run
metrics() { "$BENCHWRAP" slurm-stats --max-age 0 "$@"; }
metrics >m; is "metrics are written" $? 0
of() { sed -n "s/^$1 //p" m; }
is "jobs by state" "$(of slurm_queue_running) $(of slurm_queue_pending) $(of slurm_queue_pending_dependency) $(of slurm_queue_completing) $(of slurm_queue_failed)" "2 2 1 1 0"
is "by account, user and partition" "$(of 'slurm_account_cpus_running{account="phys"}') $(of 'slurm_account_gpus_running{account="phys"}') $(of 'slurm_account_jobs_pending{account="chem"}') $(of 'slurm_account_jobs_pending{account="none"}') $(of 'slurm_user_jobs_running{user="bob"}') $(of 'slurm_partition_jobs_pending{partition="cpu"}') $(of 'slurm_partition_jobs_pending{partition="gpu"}')" "64 8 1 1 1 2 1"
is "nodes, each once" "$(of slurm_nodes_mix) $(of slurm_nodes_drain) $(of slurm_nodes_alloc) $(of slurm_nodes_idle) $(of slurm_nodes_down)" "1 1 1 1 0"
is "CPUs" "$(of slurm_cpus_alloc) $(of slurm_cpus_idle) $(of slurm_cpus_other) $(of slurm_cpus_total) $(of 'slurm_partition_cpus_total{partition="all"}') $(of 'slurm_node_cpu_idle{node="n1"}') $(of 'slurm_node_mem_alloc{node="g1"}')" "72 120 64 256 128 56 512000"
is "GPUs" "$(of slurm_gpus_total) $(of slurm_gpus_alloc) $(of slurm_gpus_idle) $(of slurm_gpus_utilization)" "8 4 4 0.5"
is "the scheduler" "$(of slurm_scheduler_threads) $(of slurm_scheduler_dbd_queue_size) $(of slurm_scheduler_last_cycle) $(of slurm_scheduler_backfill_last_cycle) $(of slurm_scheduler_backfilled_jobs_since_start_total) $(grep -c '^# TYPE slurm_scheduler_backfilled_jobs_since_start_total counter' m)" "3 7 74 900 11 1"
is "requests to slurmctld" "$(grep -E '^slurm(_user)?_rpc' m)" 'slurm_rpc_stats{operation="REQUEST_PING"} 2
slurm_rpc_stats_avg_time{operation="REQUEST_PING"} 140
slurm_rpc_stats_total_time{operation="REQUEST_PING"} 280
slurm_user_rpc_stats{user="root"} 81
slurm_user_rpc_stats_avg_time{user="root"} 319
slurm_user_rpc_stats_total_time{user="root"} 25913'
is "what a user's requests are" "$(metrics --openmetrics | grep -c '^# HELP slurm_user_rpc_stats[a-z_]* Requests of a user')" 3
is "fair share" "$(of 'slurm_account_fairshare{account="phys"}') $(of 'slurm_account_fairshare{account="chem"}') $(grep -c 'fairshare{' m)" "0.75 0.25 2"
like "hostile names are escaped" "$(grep evil m)" '^slurm_user_jobs_pending\{user="evil\\"\\\\user"\} 1$'
is "--no-users" "$(metrics --no-users | grep -c slurm_user)" 0
is "OpenMetrics" "$(metrics --openmetrics | sed -n '$p; /backfilled_jobs_since_start/p' | tr '\n' '~')" '# TYPE slurm_scheduler_backfilled_jobs_since_start counter~# HELP slurm_scheduler_backfilled_jobs_since_start Statistics of the scheduler (sdiag); times in microseconds.~slurm_scheduler_backfilled_jobs_since_start_total 11~# EOF~'
rm calls
for _ in 1 2 3 4 5 6; do "$BENCHWRAP" slurm-stats >c.$_ & done; wait
is "callers at one time: one request of each kind" "$(sort calls | uniq -c | awk '{ print $1 $2 }' | xargs) $(cat c.* | md5sum | cut -c1-8; cat m m m m m m | md5sum | cut -c1-8)" "1sdiag 1sinfo 1squeue 1sshare $(cat m m m m m m | md5sum | cut -c1-8)
$(cat m m m m m m | md5sum | cut -c1-8)"
is "the cache is the user's alone" "$(stat -c %a run/benchwrap/slurm-stats)" 600
rm answers/sinfo; printf 'slurm_load: cannot connect\n' >answers/sdiag
metrics >m 2>err
is "a command that fails is left out, and reported" "$? $(of 'benchwrap_slurm_source_up{source="sinfo"}') $(of 'benchwrap_slurm_source_up{source="sdiag"}') $(of 'benchwrap_slurm_source_up{source="squeue"}') $(grep -c nodes_ m) $(grep -c sinfo err)" "0 0 0 1 0 1"
rm answers/*; is "nothing answers" "$(metrics 2>&1 >/dev/null; echo $?)" "benchwrap: slurm-stats: no command of Slurm answers: squeue: cat: $WORK/answers/squeue: No such file or directory
1"
printf 'x|y\n\377\0\n' >answers/squeue; is "an output that is unknown" "$(metrics 2>/dev/null; echo $?)" 1
ok "--output replaces a file" sh -c 'printf "RUNNING|None|8|1|N/A|cpu|chem|bob\n" >answers/squeue; "$0" slurm-stats --max-age 0 -o out.prom 2>/dev/null && grep -q "^slurm_queue_running 1" out.prom' "$BENCHWRAP"
# ---- by an exporter ----
mkdir -p "$HOME/.config/benchwrap" e
python3 "$TESTLIB/http-endpoint.py" "$WORK/e" 2>/dev/null & endpoint=$!
wait_until '[ -s "$WORK/e/port" ]'
printf 'exporters:\n- {type: jsonl, name: lake, file: "%s/lake.jsonl"}\n- {type: otlp, name: otel, url: "http://127.0.0.1:%s/ok"}\n- {type: sns, name: mail, topic: "arn:aws:sns:us-east-1:1:t"}\n' "$WORK" "$(cat e/port)" >"$HOME/.config/benchwrap/config.yaml"
metrics >m 2>/dev/null; values=$(grep -vc '^#' m)
is "--to: each value is a record" "$(SLURM_CLUSTER_NAME=hpc metrics --to lake 2>/dev/null) $(wc -l <lake.jsonl)" "$values metrics delivered $values"
is "... with name, labels and value" "$(jq -c 'select(.Metric == "slurm_account_cpus_running") | [.Labels, .Value, .Cluster, (.TimeGenerated | length > 19), (.Computer | length > 0)]' lake.jsonl)" '[{"account":"chem"},8,"hpc",true,true]'
is "... to OpenTelemetry as metrics, not as log records" "$(metrics --to otel 2>/dev/null) $(jq -r .path e/got.jsonl | sort -u) $(jq -c '.body.resourceMetrics[].scopeMetrics[].metrics[] | select(.name == "slurm_account_cpus_running") | .gauge.dataPoints[] | [.asDouble, .attributes[0].key, .attributes[0].value.stringValue]' e/got.jsonl)" "$values metrics delivered /ok/v1/metrics [8,\"account\",\"chem\"]"
like "... not to a type that delivers runs only" "$(metrics --to mail 2>&1)" 'mail has the type sns, which delivers runs only'
like "... nor to one that is not configured, nor to a file, too" "$(metrics --to none 2>&1; metrics --to lake -o x 2>&1)" 'no exporter has the name none'
kill $endpoint; wait $endpoint 2>/dev/null
"$BENCHWRAP" slurm-stats --max-age 0 --serve 0 2>serve & server=$!
wait_until 'grep -q http serve'
url=$(sed -n 's/.*\(http:.*\)$/\1/p' serve)
is "--serve" "$(curl -s "$url" | grep -c '^slurm_queue_running 1') $(curl -s -o /dev/null -w '%{http_code}' "${url%metrics}")" "1 404"
kill $server; wait $server; is "... until stopped" $? 0
mkdir -p ctl/metrics && for part in jobs nodes partitions jobs-users-accts scheduler; do printf '# TYPE slurm_%s gauge\nslurm_%s 1\n# EOF\n' "${part//-/_}" "${part//-/_}" >ctl/metrics/$part; done
(cd ctl && exec python3 -u -m http.server --bind 127.0.0.1 0) >port 2>/dev/null & ctl=$!
wait_until 'grep -q port port'
ctl_url=http://127.0.0.1:$(sed -n 's/.*port \([0-9]*\).*/\1/p' port)
is "slurmctld's own metrics" "$(metrics --slurmctld "$ctl_url" | grep -v '^#' | xargs) $(metrics --slurmctld "$ctl_url/" --openmetrics --no-users | tail -n 1) $(metrics --slurmctld "$ctl_url" --no-users | grep -c users_accts)" "slurm_jobs 1 slurm_nodes 1 slurm_partitions 1 slurm_jobs_users_accts 1 slurm_scheduler 1 # EOF 0"
kept() { "$BENCHWRAP" slurm-stats --max-age 1h --slurmctld "$@"; }
is "what was read with users is not printed without them" "$(kept "$ctl_url" | grep -c users_accts) $(kept "$ctl_url" --no-users | grep -c users_accts)" "2 0"
is "... nor for another slurmctld" "$(kept "$ctl_url/other" 2>/dev/null | grep -c slurm_jobs)" 0
kill $ctl; wait $ctl 2>/dev/null
like "an older slurmctld" "$(metrics --slurmctld "$ctl_url" 2>&1; echo $?)" '^1$'
done_testing
