# shellcheck shell=bash
# mcp_kubernetes.sh: what agents get to know of the cluster that tests/long/mcp-kubernetes.t makes: checks on the real one, and on kubectl's recorded answers.
# The caller has `ask TOOL ARGUMENTS`, and runs in the tree of the pods $bad and $bad-2.

# kubernetes_answer_file WORDS…: the name of the file with kubectl's answer to these words
kubernetes_answer_file() { echo "$*" | tr -c 'a-z0-9=.\n-' _; }

kubernetes_runs()
{
    KUBERNETES_SERVICE_HOST=10.0.0.1 HOSTNAME=$bad "$BENCHWRAP" -q -e job -n bad -- sh -c 'echo bandwidth: 5 MB/s'
    KUBERNETES_SERVICE_HOST=10.0.0.1 HOSTNAME=$bad-2 "$BENCHWRAP" -q -e job -n other -- sh -c 'echo bandwidth: 6 MB/s'
} >/dev/null

kubernetes_node_checks()
{
    nodes=$(ask cluster_nodes)
    is "nodes: state, cordoned, taints" "$(jq -c '.data | map([.node, .state, .unschedulable, (.taints | map(.key + ":" + .effect) | map(select(contains("unreachable") | not)))])' <<<"$nodes")" \
        '[["n1","Ready",false,["team:PreferNoSchedule"]],["n2","Ready",true,["node.kubernetes.io/unschedulable:NoSchedule"]],["n3","Unknown",false,["broken:NoSchedule"]]]'
    is "… reason and conditions" "$(jq -c '.data[0] | [.reason, .message, (.conditions | map(.type) | sort)]' <<<"$nodes")" '["KubeletReady","kubelet is posting ready status",["DiskPressure","MemoryPressure","NetworkUnavailable","PIDPressure","Ready"]]'
    is "… what pods can get" "$(jq -c '.data[0].allocatable' <<<"$nodes")" '{"cpu":"4","memory":"8Gi","pods":"20"}'
    is "… by state" "$(ask cluster_nodes '{"state": "unknown,cordoned"}' | jq -c '.data | map(.node)')" '["n2","n3"]'
}

kubernetes_checks()
{
    queue=$(ask cluster_queue)
    is "the queue: Jobs with their states" "$(jq -c '[.cluster, (.data.jobs | map([.name, .state, .reason, .succeeded, .failed]))]' <<<"$queue")" '["kubernetes",[["bad","Failed","BackoffLimitExceeded",0,1],["good","Complete","CompletionsReached",2,0]]]'
    is "… pods: why one waits, how one failed, where one runs" "$(jq -c '.data.pods | map(select(.owner != "good") | [.owner // .name, .state, .reason, .node])' <<<"$queue")" '[["bad","Failed","OOMKilled","n3"],["big","Pending","Unschedulable",null],["server","Running",null,"n1"]]'
    like "… the scheduler's message" "$(jq -r '.data.pods[] | select(.name == "big") | .message' <<<"$queue")" '3 nodes are available.*Insufficient cpu|nodes are available'
    is "… counted by state" "$(jq -c '.data.pods_by_state | to_entries | map([.key, .value]) | sort' <<<"$queue")" '[["Failed",1],["Pending",1],["Running",1],["Succeeded",2]]'
    all=$(ask cluster_queue '{"all": true}')
    is "… of other namespaces without names" "$(jq -c '[.data.pods[] | select(.own | not) | [.name, .namespace, .message, .state]]' <<<"$all") $(grep -c steal-this <<<"$all")" '[[null,null,null,"Running"]] 0'
    is "… of a namespace that the call names" "$(ask cluster_queue '{"namespace": "elsewhere"}' | jq -c '[.data.jobs, (.data.pods | map(.name))]')" '[[],["steal-this"]]'
    job=$(ask cluster_job '{"job": "bad"}')
    is "a Job: its pod with exit code and restarts" "$(jq -c '.data | [.job.state, (.pods[0].containers[0] | [.ended.exit_code, .ended.reason, .restarts, .ended_before.exit_code])]' <<<"$job")" '["Failed",[137,"OOMKilled",2,1]]'
    like "… what the container said, without its secret and its colours" "$(jq -r '.data.pods[0].containers[0].message' <<<"$job")" '^last words: password=[^h]* \\x1b\[31mred$'
    like "… events of the Job" "$(jq -c '.data.events | map(.reason)' <<<"$job")" 'BackoffLimitExceeded'
    is "… the run in the tree that belongs to it, and no other" "$(jq -c '.data.runs | map(.run_name)' <<<"$job")" '["bad"]'
    is "… and its archive" "$(jq -c '.data.archive | map(.run) | unique | length' <<<"$job")" 1
    is "a pod alone: its events" "$(ask cluster_job '{"job": "big"}' | jq -c '.data | [.job, (.events | map(.reason) | unique)]')" '[null,["FailedScheduling"]]'
    like "… one that there is not" "$(ask cluster_job '{"job": "none"}' | jq -r .error)" 'no pod has this name, and no Job: .*"none" not found'
    log=$(ask cluster_log '{"pod": "server", "lines": 5}')
    is "the log of a pod: its last lines, without secrets" "$(jq -c '[(.data | length), .data[4][0:8]]' <<<"$log") $(grep -c ghp_ <<<"$log")" '[5,"line 400"] 0'
    like "… of a container that there is not" "$(ask cluster_log '{"pod": "server", "container": "x"}' | jq -r .error)" 'container x is not valid'
    is "no value of an environment is in any answer" "$(cat <(echo "$queue" "$all" "${nodes:-}" "$job") | grep -c -e hunter22 -e DB_PASSWORD)" 0
}
