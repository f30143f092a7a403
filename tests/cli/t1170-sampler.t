#!/bin/sh
# What is seen while a program runs: its own processes, pressure, counters; nothing of it for a short one; names that are identities stay out.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/cgroup.sh"
cd "$WORK" || exit 1
run=
record() # OPTIONS…: one run, its folder in $run
{
    rm -rf mlruns .benchwrap
    "$BENCHWRAP" -q "$@" >out 2>err
    status=$?
    run=$(dirname "$(find mlruns -name meta.yaml -path '*/*/*/meta.yaml')")
}
# The program lasts until a sample has been taken, however slow the machine: it watches the journal, 60 s at most.
cat >watcher <<'X'
#!/bin/sh
sleep 100 & left=$!
n=0
while [ $n -lt 600 ] && ! grep -qs 'system/process_cpu_percentage' .benchwrap/spool/*/journal; do sleep 0.1; n=$((n + 1)); done
kill $left 2>/dev/null
exit 4
X
chmod +x watcher

record --sample 100ms --counters -- ./watcher
is "the program's end is its own" "$status" 4
for name in process_count process_cpu_percentage process_memory_rss_megabytes process_threads cpu_utilization_percentage; do
    ok "series system/$name" test -s "$run/metrics/system/$name"
done
ok "its own processes are few" sh -c 'awk "{ if (\$2 < 1 || \$2 > 8) bad = 1 } END { exit bad }" "$1"/metrics/system/process_count' sh "$run"
is "counted, or said why not" "$(python3 - "$run" <<'P'
import json, os, sys
run = sys.argv[1]
missing = {m["key"]: m["reason"] for m in json.load(open(run + "/artifacts/benchwrap.json"))["missing"]}
for key in ("cycles", "instructions", "cache_misses", "page_faults"):
    path = run + "/metrics/counters." + key
    good = float(open(path).read().split()[1]) > 0 if os.path.exists(path) else missing.get("counters." + key)
    if not good:
        print(key)
P
)" ""
record -- true
ok "a short run has no samples" sh -c '! test -e "$1"/metrics/system' sh "$run"
ok "and no counters unasked" sh -c '! ls "$1"/metrics | grep -q counters' sh "$run"

# A machine whose names are identities, in the public profile: of all sources.
mkdir -p m/sys/class/net/enx525400a1b2c3/device m/sys/class/infiniband/ibx0c42a1030065f3a2/ports/1/counters m/sys/block/nvme-eui.0025388b11b2c3d4 \
    m/proc/self/net m/proc/fs/lustre/llite/quentinfs-ffff8a0c m/sys/firmware/dmi/entries/17-0
echo 9 >m/sys/class/infiniband/ibx0c42a1030065f3a2/ports/1/counters/port_rcv_data
echo 9 >m/sys/class/infiniband/ibx0c42a1030065f3a2/ports/1/counters/port_xmit_data
printf ' 9 0 nvme-eui.0025388b11b2c3d4 1 0 8 1 0 0 0 0 0 1 1\n' >m/proc/diskstats
printf 'h\nh\n enx525400a1b2c3: 5 0 0 0 0 0 0 0 5 0 0 0 0 0 0 0\n' >m/proc/self/net/dev
printf 'read_bytes 1 samples [bytes] 1 1 1\n' >m/proc/fs/lustre/llite/quentinfs-ffff8a0c/stats
printf '\021\124\0\0\0\0\0\0\0\0\0\0\0\100\0\0\0\0\042\0\0\300\022\0\0\0\0\0\0\0\0\0\060\021' >m/sys/firmware/dmi/entries/17-0/raw
head -c 50 /dev/zero >>m/sys/firmware/dmi/entries/17-0/raw
printf 'SERIAL77\0' >>m/sys/firmware/dmi/entries/17-0/raw
"$BENCHWRAP" probe --json --root m --profile public >public.json
like "the module is told" "$(cat public.json)" '4400 MT/s'
for word in 525400 0c42a1 0025388b quentinfs SERIAL77; do
    ok "nothing holds $word" sh -c '! grep -q "$1" public.json' sh "$word"
done
# A real group with 16 % of one processor, in whichever hierarchy has the controller: the record shows that share, not the machine's.
if quota_group 16; then
    sh "$join" "$BENCHWRAP" -q --tree t --sample 250ms -- timeout 3 sh -c 'while :; do :; done'
    sh "$join" "$BENCHWRAP" show --json --tree t last >group.json
    is "the group's own share is recorded, held back" "$(python3 - <<'P'
import json
v = {m["key"]: m for m in json.load(open("group.json"))["metrics"]}
print(5 < v["system/cgroup_cpu_percentage"]["value"] < 60, v["cgroup.throttled_percent"]["value"] > 20)
P
)" "True True"
    # The quota is of the group above, as a slice's or a job's: what it withholds is counted there.
    for group in $quota_groups; do mkdir "$group/below"; echo "echo \$\$ >$group/below/cgroup.procs"; done >below.sh
    echo 'exec "$@"' >>below.sh
    if [ -d /sys/fs/cgroup/cpu/ ]; then
        sh below.sh "$BENCHWRAP" -q --tree t --sample 250ms -- timeout 3 sh -c 'while :; do :; done'
        is "a limit of a group above is the one that withheld processors" "$("$BENCHWRAP" show --json --tree t last | jq -c '[.metrics[] | select(.key == "cgroup.throttled_percent").value > 20]')" "[true]"
    fi
    wait_until 'rmdir $(printf "%s/below " $quota_groups); [ -z "$(ls -d $(printf "%s/below " $quota_groups))" ]'
    # A limit that is set while the program runs is not the one that was read before.
    set_limit='echo 20000 >"$1/cpu.cfs_quota_us"'
    [ -d /sys/fs/cgroup/cpu/ ] || set_limit='echo "20000 100000" >"$1/cpu.max"'
    # shellcheck disable=SC2086 # the first of the groups
    sh "$join" "$BENCHWRAP" -q --tree t -- sh -c "$set_limit" sh ${quota_groups%% *}
    is "a limit that changed while the program ran is missing" "$("$BENCHWRAP" show --json --tree t last | jq -c '[(.params | has("cgroup.cpu_limit")), (.missing[] | select(.key == "cgroup.cpu_limit").reason)]')" \
        '[false,"it changed while the program ran: 0.16 before, 0.2 after"]'
    # A program that joins a group by itself: the launcher's limits are not its own.
    "$BENCHWRAP" -q --tree t --sample 250ms -- sh "$join" timeout 2 sh -c 'while :; do :; done'
    is "a program that joins another group: its limits and what they withheld are missing" "$("$BENCHWRAP" show --json --tree t last | jq -c '[(.params | has("cgroup.cpu_limit")), (.metrics | map(.key) | any(startswith("cgroup."))), (.missing | map(select(.key | test("cgroup.(cpu_limit|throttled_s|oom_kills)")).reason) | unique)]')" \
        '[false,false,["the program moved to another control group than the one that it was started in"]]'
else
    skip_here "the group's own share is recorded, held back" "no control group can be made here"
fi
quota_remove
done_testing
