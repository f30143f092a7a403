#!/bin/bash
# capture-machine: takes every file that probes read, and none of a machine's identities.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
capture=$ROOT/scripts/capture-machine

# each path in the probes' sources is in capture.def (or in one of the other lists, which the script reads too)
listed() # PATH: with * for a part of a name
{
    while read -r row; do
        # shellcheck disable=SC2254 # patterns
        case $row in $1 | $1/*) return 0 ;; esac
        # shellcheck disable=SC2254
        case $1 in $row | $row/*) return 0 ;; esac
        # shellcheck disable=SC2254 # a folder of which something is taken
        case $1 in ${row%/*}) [ "$(echo "$1" | tr -cd /)" != "$(echo "${row%/*}" | tr -cd /)" ] || return 0 ;; esac
    done <rows
    return 1
}
sed -nE 's/^(TAKE\([a-z_]*, |LINK\(|LEAVE\()"([^"]*)".*/\2/p' "$ROOT/probes/capture.def" >rows
sed -nE 's/^(SETTING|CHOICE)\([^,]*, "(.*)"\)$/\2/p' "$ROOT/probes/kernel.def" >>rows
echo 'sys/devices/system/cpu/vulnerabilities/*' >>rows
unlisted=
for path in $(grep -hoE '"(proc|sys|etc|usr/lib|run|var|dev)/[^"]*"' "$ROOT"/probes/*.c "$ROOT"/probes/*.h | tr -d '"' | grep -v '/$' | sed -E 's/%[.0-9]*l*[dsux]/*/g' | sort -u); do
    listed "$path" || unlisted="$unlisted $path"
done
is "every path that probes read is taken, or left for a reason" "$unlisted" ""

# a machine full of identities
mkdir -p fake/proc/self/net fake/proc/sys/kernel fake/sys/class/net/enx0a1b2c3d4e5f/device fake/sys/class/dmi/id fake/sys/firmware/dmi/entries/17-0 \
    fake/proc/fs/lustre/llite/secretfs-ffff8a0c12345678 fake/sys/class/infiniband/mlx5_0/ports/1/counters fake/etc
secret=hunter2hunter2
printf 'BOOT_IMAGE=/vmlinuz root=UUID=6fd7b3f0-1111-2222-3333-444455556666 ip=10.1.2.3 quiet isolcpus=1-3 password=%s mitigations=off\n' $secret >fake/proc/cmdline
printf 'processor\t: 0\nmodel name\t: A\nSerial\t\t: SN-11223344\n' >fake/proc/cpuinfo
printf '22 1 8:1 /home/alice/root / rw - ext4 /dev/disk/by-uuid/6fd7b3f0-1111-2222-3333-444455556666 rw\n30 22 0:50 / /scratch rw - nfs4 filer7.site.example:/vol/alice rw,addr=10.9.8.7,clientaddr=10.9.8.6\n31 22 0:51 / /opt/alice rw - nfs4 filer8.site.example:/opt rw\n' >fake/proc/self/mountinfo
printf '0::/user.slice/user-10123.slice/user@10123.service/slurm/uid_10123/job_998877\n' >fake/proc/self/cgroup
printf 'Name:\tx\nUid:\t10123\nCpus_allowed_list:\t0-3\nMems_allowed_list:\t0\n' >fake/proc/self/status
printf 'Inter-| Receive\n face |bytes\nenx0a1b2c3d4e5f: 5 0 0 0 0 0 0 0 7 0 0 0 0 0 0 0\n' >fake/proc/self/net/dev
echo 1000 >fake/sys/class/net/enx0a1b2c3d4e5f/speed
echo 0a:1b:2c:3d:4e:5f >fake/sys/class/net/enx0a1b2c3d4e5f/address
echo ASSET-4711 >fake/sys/class/dmi/id/chassis_asset_tag
echo SERIAL-4712 >fake/sys/class/dmi/id/product_serial
echo "Model 5 SERIAL-4713" >fake/sys/class/dmi/id/product_version
echo node1234 >fake/proc/sys/kernel/hostname
echo "read_bytes 1 samples [bytes] 1 1 1" >fake/proc/fs/lustre/llite/secretfs-ffff8a0c12345678/stats
echo 77 >fake/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data
echo 'alice:x:10123:100::/home/alice:/bin/sh' >fake/etc/passwd
# SMBIOS type 17: 40 bytes, then texts
{ printf '\021\050\0\0\0\0\0\0\110\0\100\0\0\100\011\0\0\0\032\0\0\200\014'; head -c 17 /dev/zero; printf 'Maker\0SN-55667788\0TAG-1\0PN-1\0\0'; } >fake/sys/firmware/dmi/entries/17-0/raw
# the scheduler's answer: a reply of scontrol full of identities, as JSON and as text
mkdir bin
sed -e 's/"biology"/"proj0815"/' -e 's/"cn3"/"juwels3"/' -e 's/"comment": ""/"comment": "alice 10.1.2.3 \\"x\\" 10123"/' -e 's/"user_name": "[^"]*"/"user_name": "alice"/' \
    -e 's/"name": "[^"]*"/"name": "alice\\nJobState=10.2.3.4"/' -e 's,"current_working_directory": "[^"]*","current_working_directory": "/home/alice",' \
    "$ROOT/tests/slurm/24.11-running/reply.json" >answer.json
sed -e 's/alice/alice10123/g' -e 's/cn\[/juwels[/' -e 's/cn001/juwels001/' -e 's/^JobId=2 /JobId=42 /' -e '3a\   Partition=alice Secret10.1.2.3=1 TRES=alice\n   Alice=10.1.2.3' "$ROOT/tests/slurm/text-22.05/reply.txt" >answer.txt
printf '#!/bin/sh\n[ "$SLURM_TIME_FORMAT $1 $2 $3" = "%%s show job $SLURM_JOB_ID" ] || exit 1\ncase $4 in --json) exec cat "$0.json" ;; *) exec cat "$0.txt" ;; esac\n' >bin/scontrol
chmod +x bin/scontrol
cp answer.json bin/scontrol.json
cp answer.txt bin/scontrol.txt
PATH=$WORK/bin:$PATH SLURM_JOB_ID=6368 sh "$ROOT/scripts/capture-scheduler" json
is "scontrol's JSON: what is taken of a job stays" "$(jq -r '.jobs[0] | .job_id, .tres_alloc_str, .nodes, .account, .name, .comment, .user_name, .time_limit.number, .start_time.number, .array_job_id.number' json/reply.json | xargs) $(jq -r .meta.slurm.release json/reply.json) $(cat json/id)" \
    "42 cpu=4,mem=2G,node=1,billing=4 x x x x 2 1762788801 0 24.11.5 42"
rm bin/scontrol.json
PATH=$WORK/bin:$PATH SLURM_JOB_ID=42 sh "$ROOT/scripts/capture-scheduler" text
is "scontrol's text: what is taken of a job stays" "$(grep -oE '(JobId|JobName|TimeLimit|StartTime|NodeList|NumCPUs|TRES|Account)=[^ ]*' text/reply.txt | xargs) $(cat text/id text/name)" \
    "JobId=42 JobName=x Account=x TRES=x TimeLimit=00:30:00 StartTime=2026-11-20T23:28:07 NodeList=0 NodeList=x[001-002] NumCPUs=8 TRES=cpu=8,mem=8000M,node=2,billing=8,license/x=2 42x"
out=$(PATH=$WORK/bin:$PATH ROOT=$WORK/fake SLURM_JOB_ID=42 SLURM_JOB_NAME="alice's work" SLURM_JOB_ACCOUNT=proj0815 SLURM_JOB_NODELIST='juwels[01-04],node1234' SLURM_JOB_CPUS_PER_NODE='8(x4)' \
    SLURM_CLUSTER_NAME=juwels SLURM_JOB_PARTITION=alicequeue sh "$capture" "$WORK/case" 2>&1)
is "it succeeds" "$? $(printf '%s' "$out" | grep -vc '^captured into')" "0 0"
is "no identity is in it" "$(cd case && grep -raoiE "$secret|6fd7b3f0|10\.[129]\.[0-9.]+|SN-[0-9]+|SERIAL-|ASSET|TAG-1|alice|filer[78]|10123|998877|0a1b2c3d4e5f|0a:1b|node1234|8a0c12345678|secretfs|proj0815|juwels" . | sort -u; find case 2>&1 | grep -E '0a1b2c|secretfs|8a0c1')" ""
is "what probes want is" "$(cat case/root/proc/cmdline; grep -c . case/root/proc/self/mountinfo; cat case/root/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data; grep NODELIST case/env; cat case/root/sys/class/net/enx*/speed)" "isolcpus=1-3 mitigations=off
2
77
SLURM_JOB_NODELIST=x[01-04],x
1000"
modules() { BENCHWRAP_NO_COLLECT=1 "$BENCHWRAP" probe --root "$1" --json | jq -r '.facts[] | select(.key | startswith("dimm.")) | .key + "=" + .value' | xargs; }
like "the memory module is read" "$(modules fake)" '^dimm\.count=1 dimm\.size_GiB=16 '
same "... and the same in numbers" "$(modules case/root)" "$(modules fake)"
done_testing
