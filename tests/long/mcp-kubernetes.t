#!/bin/bash
# The cluster tools of the server for agents on a real Kubernetes (API server, scheduler, controllers; kwok as kubelets), asked by the official client of MCP.
# RECORD=FOLDER writes kubectl's answers there, which t0596 reads (tests/mcp/kubernetes).
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/kubernetes.sh"
. "$TESTLIB/mcp_kubernetes.sh"
cd "$WORK" || exit
python=$(venv_python mcp-2.3.0 280 mcp==2.3.0) || { skip "the official client of MCP" "$python"; done_testing; exit; }
kubernetes_start || { kubernetes_stop; skip "a real Kubernetes" "$kubernetes_why"; done_testing; exit; }
trap 'kubernetes_stop; tap_exit' EXIT
cat >ask.py <<'END'
import sys, json, os, anyio
from mcp import Client, StdioServerParameters, stdio_client
async def main(binary, tool, arguments):
    server = StdioServerParameters(command=binary, args=["mcp"] + os.environ.get("MCP_OPTIONS", "").split(), env=dict(os.environ))
    async with Client(stdio_client(server)) as c:
        r = await c.call_tool(tool, {"cluster": "kubernetes"} | json.loads(arguments)) # Slurm may be installed here, too
        print(r.content[0].text)
anyio.run(main, *sys.argv[1:])
END
ask() { timeout 60 "$python" ask.py "$BENCHWRAP" "$1" "${2:-{\}}"; }

# A cluster: n1 and n2 work, n2 is cordoned; n3's kubelet never reported.
node() { # NAME ANNOTATIONS
    printf 'apiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {kubernetes.io/hostname: %s}, annotations: {%s}}\nstatus: {allocatable: {cpu: "4", memory: 8Gi, pods: "20"}, capacity: {cpu: "4", memory: 8Gi, pods: "20"}}\n---\n' "$1" "$1" "$2"
}
{ node n1 'kwok.x-k8s.io/node: fake'; node n2 'kwok.x-k8s.io/node: fake'; node n3 ''; } | kubectl apply -f - >/dev/null
kubectl taint node n3 broken=yes:NoSchedule >/dev/null
wait_until 'kubectl get nodes n1 n2 | grep -c " Ready " | grep -x 2' 300
kubectl cordon n2 >/dev/null
kubectl taint node n1 team=bench:PreferNoSchedule >/dev/null
kubectl create namespace elsewhere >/dev/null
pod='terminationGracePeriodSeconds: 1, containers: [{name: main, image: "bench:1", env: [{name: DB_PASSWORD, value: hunter22}]'
printf 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: good}\nspec: {completions: 2, parallelism: 2, template: {spec: {restartPolicy: Never, %s}]}}}\n---\n' "$pod" >job.yaml
printf 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: bad}\nspec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, nodeName: n3, tolerations: [{operator: Exists}], %s}]}}}\n---\n' "$pod" >>job.yaml
printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: big}\nspec: {%s, resources: {requests: {cpu: "100"}}}]}\n---\n' "$pod" >>job.yaml
printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: server}\nspec: {%s}]}\n---\n' "$pod" >>job.yaml
printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: steal-this, namespace: elsewhere}\nspec: {%s}]}\n---\n' "$pod" >>job.yaml
kubectl apply -f job.yaml >/dev/null
wait_until 'kubectl get pods -l job-name=bad -o name | grep pod/bad-'
bad=$(kubectl get pods -l job-name=bad -o jsonpath='{.items[0].metadata.name}')
# What n3's kubelet would report.
kubectl patch pod "$bad" --subresource=status --type=merge -p '{"status":{"phase":"Failed","containerStatuses":[{"name":"main","image":"bench:1","imageID":"","ready":false,"restartCount":2,"state":{"terminated":{"exitCode":137,"reason":"OOMKilled","message":"last words: password=hunter22 \u001b[31mred","startedAt":"2026-11-01T00:00:00Z","finishedAt":"2026-11-01T00:01:00Z"}},"lastState":{"terminated":{"exitCode":1,"reason":"Error"}}}]}}' >/dev/null
wait_until 'kubectl get job bad -o json | jq -e ".status.failed == 1"' 300
wait_until 'kubectl get job good -o json | jq -e ".status.succeeded == 2"' 300
wait_until 'kubectl get pod server -o json | jq -e ".status.phase == \"Running\""' 300
wait_until 'kubectl get events | grep FailedScheduling' 300
for i in $(seq 400); do echo "2026-01-01T00:00:00.000000000Z stdout F line $i token=ghp_0123456789abcdefghijklmnopqrstuvwxyz"; done >kubernetes/pod.log
kubernetes_runs

if [ -n "${RECORD:-}" ]; then # every answer of kubectl, by its words
    mkdir -p "$RECORD" bin
    cat >bin/kubectl <<END
#!/bin/bash
. "$TESTLIB/mcp_kubernetes.sh"
file=$RECORD/\$(kubernetes_answer_file "\$@")
"$kubernetes/kubectl" "\$@" >"\$file" 2>"\$file.err" && { rm "\$file.err"; exec cat "\$file"; }
rm "\$file"
cat "\$file.err" >&2
exit 1
END
    chmod +x bin/kubectl
    PATH=$WORK/bin:$PATH
fi
kubernetes_node_checks
kubernetes_checks
PATH=${PATH#"$WORK/bin:"} # later answers are not recorded
ok "pods have an age" jq -e '.data.pods | all(.age_s >= 0 and .age_s < 7200)' <<<"$queue"
ok "… though kubectl prints it" sh -c 'kubectl get pods -o json | grep -q hunter22'
KUBECONFIG=$WORK/kubernetes/reader.conf
like "a user without rights: the server's reason" "$(ask cluster_nodes | jq -r .error)" 'nodes is forbidden: User "reader" cannot list'
is "… each list of the queue has it" "$(ask cluster_queue | jq -r .error | grep -c 'pods is forbidden')" 1
KUBECONFIG=$WORK/kubernetes/admin.conf
kubernetes_stop
like "a server that does not answer" "$(ask cluster_nodes | jq -r .error)" 'kubectl failed: .*(refused|Unable to connect)'
done_testing
