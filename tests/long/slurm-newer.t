#!/bin/bash
# Slurm 24.11, with JSON and the allocation's end in the environment, in a root of Debian 13. Needs root and debootstrap; the root is kept as an
# archive in the cache. The inner part of this test runs in the root: it is this file with "inside" as its argument.
. "$(dirname "$0")/../lib/tap.sh"
if [ "${1:-}" != inside ]; then
    if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
        skip "Slurm 24.11" "needs root and debootstrap"
        done_testing
        exit 0
    fi
    archive=$CACHE/roots/trixie-slurm.tar root=$WORK/root
    mkdir -p "$CACHE/roots" "$root"
    if [ ! -s "$archive" ]; then
        mirror=$(awk '$1 == "URIs:" {print $2; exit} $1 == "deb" {print $2; exit}' /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null)
        script=/usr/share/debootstrap/scripts/trixie
        [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
        packages=munge,slurm-wlm,python3-minimal,procps,hostname,jq,libhwloc15,libcjson1,libyaml-0-2,libpcre2-8-0,libuuid1
        unshare -m debootstrap --variant=minbase --include=$packages trixie "$root" ${mirror:+"$mirror" "$script"} >"$WORK/boot.log" 2>&1 &&
            tar -C "$root" --one-file-system --exclude='./proc/*' --exclude='./var/cache/apt/archives/*.deb' -cf "$archive.new" . && mv "$archive.new" "$archive"
        rm -rf --one-file-system "$root"
        mkdir -p "$root"
    fi
    if [ ! -s "$archive" ]; then
        tap_fail "a root of Debian 13 with Slurm" "$(tail -n 3 "$WORK/boot.log")"
        done_testing
        exit 0
    fi
    tar -C "$root" -xf "$archive"
    chmod 755 "$WORK" "$root"
    mkdir -p "$root/opt/benchwrap/tests/long" "$root/opt/benchwrap/build" "$root/tmp"
    cp -a "$BUILD/bin" "$BUILD/libexec" "$root/opt/benchwrap/build/"
    cp -a "$ROOT/tests/lib" "$root/opt/benchwrap/tests/"
    cp "$0" "$root/opt/benchwrap/tests/long/newer.t"
    echo "127.0.0.1 localhost newer" >"$root/etc/hosts"
    unshare -m -p -u -f --kill-child bash -c 'hostname newer; mount -t proc proc "$0/proc"; mount --bind /dev "$0/dev"
        exec chroot "$0" /usr/bin/env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 LC_ALL=C.UTF-8 TMPDIR=/tmp BENCHWRAP_REQUIRE='"'${BENCHWRAP_REQUIRE:-}'"' bash /opt/benchwrap/tests/long/newer.t inside' "$root"
    tap_finished=1 # the inner one has told its plan
    exit 0
fi

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
is "tasks of an array do not ask" "$("$BENCHWRAP" show --json | jq -r '.missing[] | select(.key == "job.allocation").reason') $("$BENCHWRAP" ls --json | jq length)" "scontrol is not asked by tasks of an array: there may be thousands 2"

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
