#!/bin/bash
# The cluster tools of the server for agents on Kubernetes: kubectl answers what it answered of a real cluster (tests/long/mcp-kubernetes.t), and troubles.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/mcp_kubernetes.sh"
cd "$WORK" || exit
recorded=$ROOT/tests/mcp/kubernetes
mkdir bin
cat >bin/kubectl <<END
#!/bin/bash
. "$TESTLIB/mcp_kubernetes.sh"
echo "\$*" >>"$WORK/calls"
[ ! -e "$WORK/answer" ] || exec "$WORK/answer"
file=$recorded/\$(kubernetes_answer_file "\$@")
[ ! -e "\$file" ] || exec cat "\$file"
cat "\$file.err" >&2
exit 1
END
chmod +x bin/kubectl
PATH=$WORK/bin:$PATH
ask() { # TOOL [ARGUMENTS [CLUSTER]]; Slurm may be installed here, too
    local arguments
    arguments=$(jq -c --arg cluster "${3-kubernetes}" '. + if $cluster == "" then {} else {cluster: $cluster} end' <<<"${2:-{\}}")
    printf '%s\n' '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"'"$1"'","arguments":'"$arguments"'}}' |
        "$BENCHWRAP" mcp 2>/dev/null | jq -r 'select(.id == 1) | .result.content[0].text // .error.message'
}
bad=$(jq -r '.items[0].metadata.name' "$recorded"/*selector=job-name=bad*)
kubernetes_runs
kubernetes_checks
is "kubectl reads: two verbs" "$(cut -d' ' -f1 calls | sort -u | tr '\n' ' ')" "get logs "
rm calls
for argument in 'namespace: "-n"' 'namespace: "../x"' 'namespace: "a b"'; do like "refused: $argument" "$(ask cluster_queue "$(jq -nc "{$argument}")" | jq -r .error)" "^namespace: expected"; done
for argument in 'job: "--all"' 'job: "A"' 'job: "a/b"' 'job: "$(id)"'; do like "refused: $argument" "$(ask cluster_job "$(jq -nc "{$argument}")" | jq -r .error)" "^job: expected"; done
for argument in 'pod: "-f"' 'pod: "a;b"' 'pod: "a", container: "--x"' 'pod: "a", daemon: "kubelet"' 'daemon: "slurmd"' 'lines: 5'; do
    like "refused: $argument" "$(ask cluster_log "$(jq -nc "{$argument}")" | jq -r .error)" "expected"
done
like "refused: a partition" "$(ask cluster_queue '{"partition": "x"}' | jq -r .error)" "^partition: this cluster is Kubernetes, which has no such argument"
like "refused: a state of Slurm" "$(ask cluster_nodes '{"state": "drain"}' | jq -r .error)" "^state: expected ready"
is "… and kubectl was not started" "$(cat calls 2>/dev/null)" ""
answer() { printf '#!/bin/sh\n%s\n' "$1" >answer; chmod +x answer; }
answer 'echo "Error: token=ghp_0123456789abcdefghijklmnopqrstuvwxyz was refused" >&2; exit 1'
like "what kubectl reports has no secret" "$(ask cluster_nodes | jq -r .error)" "^kubectl failed: Error: token=[^g]"
answer 'echo "{\"items\": [{\"status\": {\"conditions\": 5}, \"metadata\": [], \"spec\": null}, null, 7, {\"kind\": \"Node\"}]}"'
is "objects of other forms are not known" "$(ask cluster_nodes | jq -c '.data | map([.node, .state, .age_s]) | unique') $(ask cluster_queue | jq -c '.data.pods | length')" '[[null,"Unknown",null]] 4'
answer 'echo "<html>"'
like "no JSON" "$(ask cluster_nodes | jq -r .error)" "kubectl's output is no JSON"
answer 'head -c 40000000 /dev/zero | tr "\0" x'
like "too much" "$(ask cluster_nodes | jq -r .error)" "the answer is too large"
answer 'exec sleep 100'
like "kubectl that hangs" "$(ask cluster_nodes | jq -r .error)" "no answer within 10 s"
mkdir none; for p in bash sh jq; do ln -s "$(command -v $p)" none/; done
like "a machine without a cluster" "$(PATH=$WORK/none ask cluster_nodes "" "" | jq -r .error)" "there is no cluster here: neither scontrol .Slurm. nor kubectl .Kubernetes. was found"
done_testing
