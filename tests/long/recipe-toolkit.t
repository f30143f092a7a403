#!/bin/bash
# recipe-toolkit: the recipe that the HPC Benchmark Toolkit publishes runs unchanged, with stand-ins for the programs in its images: 18 points of three
# minutes each. Its partition, account, GPUs and paths are those of the recipe; the folder of the images is in a file system of its own.
if [ -z "${IN_OWN_ROOT:-}" ]; then
    [ "$(id -u)" = 0 ] || { echo "1..0 # SKIP root makes the folder of the images"; exit 0; }
    root=$(mktemp -d /tmp/benchwrap-root.XXXXXX)
    export root IN_OWN_ROOT=1
    # shellcheck disable=SC2016 # the inner shell expands
    unshare --mount --propagation private bash -c '
        mount -t tmpfs -o size=16m,mode=755 root "$root" || exit 1
        for f in /*; do
            if [ -L "$f" ]; then cp -P "$f" "$root$f"; elif [ -d "$f" ]; then mkdir "$root$f" && mount --rbind "$f" "$root$f"; fi
        done
        mkdir -p "$root/project/containers" "$root/project/models"
        touch "$root/project/containers/vllm.sif" "$root/project/containers/python.sif"
        exec chroot "$root" bash -c "cd \"\$1\" && exec bash \"\$2\"" bash "$1" "$2"' bash "$PWD" "$(realpath "$0")"
    status=$?
    rmdir "$root"
    exit $status
fi
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/slurm.sh"
cd "$WORK" || exit 1
slurm_shape="CPUs=64 RealMemory=200000 Gres=gpu:4" slurm_partition=gpu slurm_more=GresTypes=gpu
mkdir -p "$WORK/slurm/etc" && echo "NodeName=n[1-4] Name=gpu File=/dev/tty[0-3]" >"$WORK/slurm/etc/gres.conf"
if ! slurm_start 4; then
    skip "the toolkit's recipe" "$slurm_why"
    done_testing
    exit
fi
mkdir bin
cat >bin/apptainer <<'S'
#!/bin/bash
# apptainer exec [--nv] [--bind X] IMAGE COMMAND…
shift
while [ "${1#--}" != "$1" ]; do [ "$1" = --bind ] && shift; shift; done
[ -r "$1" ] || { echo "no image $1"; exit 255; }
shift
exec "$@"
S
cat >bin/ray <<'S'
#!/bin/bash
for a; do case $a in --port=*) exec python3 -m http.server "${a#*=}" --bind 127.0.0.1 ;; --address=*) address=${a#*=} ;; esac; done
until (exec 3<>"/dev/tcp/${address%:*}/${address#*:}") 2>/dev/null; do sleep 0.05; done
echo "joined $address"; exec sleep 86400
S
cat >bin/vllm <<'S'
#!/bin/bash
echo "vllm $*"
exec llmfake --listen "$4:$6" --model "$2" --tokens 8 --ttft 400ms --itl 50ms
S
chmod +x bin/*
PATH=$WORK/bin:$PATH "$BENCHWRAP" recipe run --submit --wait ${POINTS:+--points "$POINTS"} toolkit-vllm >out 2>err
is "the toolkit's recipe runs unchanged" "$?" 0 || cat out err .benchwrap/campaigns/vllm-sweep/job-*.log >&2
"$BENCHWRAP" recipe report vllm-sweep --json >report.json
is "all its 18 points are valid" "$(jq -c '[.[].outcome] | group_by(.) | map([.[0], length])' report.json)" '[["valid",18]]'
is "each with the load of its batch, concurrency and prompt" "$(jq -r '.[] | [.batch, .concurrency, .prompt_len] | join(" ")' report.json | sort -u | wc -l)" 18
is "on nodes of their own: two servers, one client" "$(ls .benchwrap/campaigns/vllm-sweep/logs | sed -n 's/^\([a-z-]*\)[.][0-9]*[.]\(n[0-9]\)[.]out$/\1 \2/p' | xargs)" "agents n3 client n3 server-head n1 server-serve n1 server-worker n2"
is "the executor listened at port 6000" "$(grep -h -o 'port 6000' .benchwrap/campaigns/vllm-sweep/logs/agents.0.n3.err | head -n 1)" "port 6000"
like "its outputs have the names of the recipe" "$(ls .benchwrap/campaigns/vllm-sweep/logs/logs)" 'aggregated.jsonl'
is "all logs are complete" "$("$BENCHWRAP" recipe check-logs vllm-sweep --json | jq -c '[.[] | .result] | unique')" '["good"]' || "$BENCHWRAP" recipe check-logs vllm-sweep >&2
ok "metrics.csv has samples of all four nodes" [ "$(cut -d, -f2 metrics.csv | sort -u | grep -c 'n[1-4]')" = 4 ]
ok "and the toolkit's names" grep -q '"agents.0","vllm_throughput_rps"' metrics.csv
is "nothing is left" "$(squeue -h -o %i)" ""
slurm_stop
done_testing
