# shellcheck shell=bash
# kubernetes.sh: a real Kubernetes on loopback without containers, built from its Go modules once and kept in $CACHE: etcd, API server, controllers,
# scheduler and kubectl are the real ones; kwok stands for the kubelets of its nodes.
KUBERNETES_VERSION=v1.34.4 KWOK_VERSION=v0.7.0 ETCD_VERSION=v3.6.4

# kubernetes_ready: sets $kubernetes, the folder of its programs. Status 1 and the reason in $kubernetes_why where it cannot be had. It takes half an hour
# the first time.
kubernetes_ready()
{
    kubernetes=$CACHE/kubernetes-$KUBERNETES_VERSION
    [ ! -e "$kubernetes/.complete" ] || return 0
    command -v go >/dev/null || { kubernetes_why="no Go compiler (golang-go) to build Kubernetes with"; return 1; }
    mkdir -p "$kubernetes" || { kubernetes_why="no folder in $CACHE"; return 1; }
    (
        flock 9
        [ -e "$kubernetes/.complete" ] || kubernetes_build >"$kubernetes/build.log" 2>&1
    ) 9>"$kubernetes.lock"
    [ -e "$kubernetes/.complete" ] || { kubernetes_why="Kubernetes $KUBERNETES_VERSION could not be built: $(tail -n 1 "$kubernetes/build.log")"; return 1; }
}

# Kubernetes names its own modules by folders of its repository, which the published module lacks: the published ones have the same version.
kubernetes_build()
(
    rm -rf "$kubernetes/src"; mkdir -p "$kubernetes/src"; cd "$kubernetes/src" || exit
    export GOFLAGS='-modcacherw -mod=mod' GOMODCACHE=$kubernetes/mod GOCACHE=$kubernetes/cache GOTOOLCHAIN=local
    printf 'module kubernetes-here\n\ngo 1.24.0\n' >go.mod
    mod=$(timeout 900 go mod download -json "k8s.io/kubernetes@$KUBERNETES_VERSION" | jq -r .GoMod) && [ -f "$mod" ] || exit
    {
        sed -n "s,^replace,&,; s,^[[:space:]]*\(k8s.io/[a-z-]*\) => ./staging/.*,replace \1 => \1 ${KUBERNETES_VERSION/v1/v0},p" "$mod"
        printf 'require (\n k8s.io/kubernetes %s\n sigs.k8s.io/kwok %s\n go.etcd.io/etcd/server/v3 %s\n)\n' "$KUBERNETES_VERSION" "$KWOK_VERSION" "$ETCD_VERSION"
    } >>go.mod
    go mod download sigs.k8s.io/kwok && # names a constant that was moved
        sed -i 's,metav1.InitialEventsListBlueprintAnnotationKey,"kubernetes.io/initial-events-list-blueprint",' "$kubernetes/mod/sigs.k8s.io/kwok@$KWOK_VERSION/pkg/utils/informer/informer.go" || exit
    build() { timeout 5400 go build -p 4 -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$KUBERNETES_VERSION" -o "$kubernetes/$1" "$2"; }
    build etcd go.etcd.io/etcd/server/v3 && build kubectl k8s.io/kubernetes/cmd/kubectl || exit
    for program in kube-apiserver kube-controller-manager kube-scheduler; do build $program k8s.io/kubernetes/cmd/$program || exit; done
    build kwok sigs.k8s.io/kwok/cmd/kwok || exit
    rm -rf "$kubernetes/mod" "$kubernetes/cache" && touch "$kubernetes/.complete"
)

kubernetes_start_one() # NAME PROGRAM OPTIONS…: in the background; its output is in $WORK/kubernetes/NAME.log
{
    kubernetes_name=$1
    shift
    "$@" >"$WORK/kubernetes/$kubernetes_name.log" 2>&1 &
    kubernetes_pids="$kubernetes_pids $!"
}

# kubernetes_start: a cluster with the kubeconfig $KUBECONFIG, which may do all, and kubectl first in PATH. kwok takes the nodes with the annotation
# kwok.x-k8s.io/node=fake; what other nodes report is the test's to write. Status 1 and $kubernetes_why. kubernetes_stop ends it.
kubernetes_start()
{
    kubernetes_ready || return 1
    kubernetes_pids='' kubernetes_dir=$WORK/kubernetes
    mkdir -p "$kubernetes_dir" && cd "$kubernetes_dir" || return 1
    kubernetes_etcd=$(free_port) kubernetes_peer=$(free_port) kubernetes_port=$(free_port) kubernetes_kubelet=$(free_port)
    openssl genrsa -out sa.key 2048 2>/dev/null
    printf 'admin-token,admin,admin,system:masters\nreader-token,reader,reader\n' >tokens.csv
    kubernetes_start_one etcd "$kubernetes/etcd" --data-dir "$kubernetes_dir/etcd" --listen-client-urls "http://127.0.0.1:$kubernetes_etcd" \
        --advertise-client-urls "http://127.0.0.1:$kubernetes_etcd" --listen-peer-urls "http://127.0.0.1:$kubernetes_peer" \
        --initial-advertise-peer-urls "http://127.0.0.1:$kubernetes_peer" --initial-cluster "default=http://127.0.0.1:$kubernetes_peer" --unsafe-no-fsync
    kubernetes_start_one apiserver "$kubernetes/kube-apiserver" --etcd-servers "http://127.0.0.1:$kubernetes_etcd" --bind-address 127.0.0.1 \
        --advertise-address 127.0.0.1 --secure-port "$kubernetes_port" --cert-dir "$kubernetes_dir/certs" --token-auth-file tokens.csv \
        --service-account-key-file sa.key --service-account-signing-key-file sa.key --service-account-issuer https://kubernetes.default.svc \
        --service-cluster-ip-range 10.0.0.0/24 --authorization-mode RBAC --disable-admission-plugins ServiceAccount
    for kubernetes_user in admin reader; do
        cat >"$kubernetes_user.conf" <<END
apiVersion: v1
kind: Config
clusters: [{name: here, cluster: {server: "https://127.0.0.1:$kubernetes_port", certificate-authority: "$kubernetes_dir/certs/apiserver.crt"}}]
users: [{name: $kubernetes_user, user: {token: $kubernetes_user-token}}]
contexts: [{name: here, context: {cluster: here, user: $kubernetes_user}}]
current-context: here
END
    done
    export KUBECONFIG=$kubernetes_dir/admin.conf PATH=$kubernetes:$PATH
    wait_until 'kubectl get --raw /readyz' 300 || { kubernetes_why="the API server does not answer: $(tail -n 1 apiserver.log)"; return 1; }
    kubernetes_start_one controllers "$kubernetes/kube-controller-manager" --kubeconfig admin.conf --leader-elect=false --bind-address 127.0.0.1 --secure-port "$(free_port)" \
        --cert-dir "$kubernetes_dir/certs-controllers" --controllers '*,-serviceaccount-token-controller'
    kubernetes_start_one scheduler "$kubernetes/kube-scheduler" --kubeconfig admin.conf --leader-elect=false --bind-address 127.0.0.1 --secure-port "$(free_port)" \
        --cert-dir "$kubernetes_dir/certs-scheduler"
    printf 'apiVersion: kwok.x-k8s.io/v1alpha1\nkind: ClusterLogs\nmetadata: {name: all}\nspec:\n  logs:\n  - {logsFile: %s/pod.log}\n' "$kubernetes_dir" >kwok.yaml
    kubernetes_start_one kwok "$kubernetes/kwok" --kubeconfig admin.conf --config kwok.yaml --manage-all-nodes=false --manage-nodes-with-annotation-selector kwok.x-k8s.io/node=fake \
        --node-ip 127.0.0.1 --node-port "$kubernetes_kubelet" --tls-cert-file certs/apiserver.crt --tls-private-key-file certs/apiserver.key --cidr 10.1.0.1/24
    cd "$WORK" || return 1
}

kubernetes_stop()
{
    for kubernetes_pid in $kubernetes_pids; do
        kill -KILL "$kubernetes_pid" 2>/dev/null # what they have written is not needed
        wait "$kubernetes_pid" 2>/dev/null
    done
    kubernetes_pids=''
}
