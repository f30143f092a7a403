#!/bin/sh
# What can hang is looked at aside: GPU libraries that fail, die or never return, file systems whose server is dead, metadata services. The program starts, the run
# ends and says what is missing.
# sanitizer: long, because libraries that are loaded and processes that are killed take their time under it
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
XDG_RUNTIME_DIR=$WORK/run
export XDG_RUNTIME_DIR
mkdir -m 700 run lib rocm

# One line for each fact, and for each that is missing.
flat() { python3 -c 'import json, sys
d = json.load(sys.stdin)
for f in d["facts"]: print("fact", f["key"], f["value"])
for f in d["missing"]: print("missing", f["key"], f["reason"])' >"$1"; }
fact() { sed -n "s/^fact $2 //p" "$1"; }
why() { sed -n "s/^missing $2 //p" "$1"; }

# ---- GPUs ----
${CC:-cc} -shared -fPIC -o lib/libnvidia-ml.so.1 "$TESTLIB/fake/nvml.c" && ${CC:-cc} -shared -fPIC -o rocm/librocm_smi64.so "$TESTLIB/fake/rocm.c" || exit 1
LD_LIBRARY_PATH=lib "$BENCHWRAP" probe --no-cache --json | flat two
is "NVML: model" "$(fact two gpu.model)" "NVIDIA H100 80GB HBM3"
is "NVML: how many" "$(fact two gpu.count)" 2
is "NVML: power limit" "$(fact two gpu.power_limit_W)" 700
is "NVML: memory" "$(fact two gpu.memory_GiB)" 79.6
is "NVML: the driver" "$(fact two gpu.driver) $(fact two gpu.cuda_driver)" "550.54.15 12.4"
is "NVML: modes" "$(fact two gpu.mig) $(fact two gpu.ecc) $(fact two gpu.persistence)" "off on off"
is "NVML: clocks" "$(fact two gpu.clock_max_Hz) $(fact two gpu.clock_memory_max_Hz)" "1980000000 2619000000"
is "NVML: links and paths" "$(fact two gpu.nvlinks), $(fact two gpu.pairs_on)" "18, several NUMA nodes"
ok "no GPU's identity" sh -c '! grep -q 01234567 two'
LD_LIBRARY_PATH=lib FAKE_NVML=mixed "$BENCHWRAP" probe --no-cache --json | flat mixed
is "different GPUs are told apart" "$(fact mixed gpu.model)" "NVIDIA H100 80GB HBM3*2, NVIDIA A30*1"
is "their limits, too" "$(fact mixed gpu.power_limit_W)" "700*2 500*1"
like "one that the job may not see" "$(why mixed gpu.hidden)" "1 more"
LD_LIBRARY_PATH=lib FAKE_NVML=fault "$BENCHWRAP" probe --json | flat fault
like "a library that fails: its own words" "$(why fault probe.gpu)" "version mismatch"
LD_LIBRARY_PATH=lib "$BENCHWRAP" probe --json | flat again
is "a failure is no fact that lasts" "$(fact again gpu.count)" 2
LD_LIBRARY_PATH=lib FAKE_NVML=mixed "$BENCHWRAP" probe --json | flat later
is "nor is a success: power limits and modes can be set at any time" "$(fact later gpu.power_limit_W)" "700*2 500*1"
LD_LIBRARY_PATH=lib FAKE_NVML=crash "$BENCHWRAP" probe --no-cache --json | flat crash
like "a library that dies takes nobody along" "$(why crash probe.gpu)" "ended early"
like "all else is told" "$(fact crash cpu.threads)" "^[0-9]+$"
LD_LIBRARY_PATH=lib FAKE_NVML=garbage "$BENCHWRAP" probe --no-cache --json | flat garbage
is "a library that tells nonsense: what is none stays, each fault is told once" \
    "$(fact garbage gpu.count) $(fact garbage gpu.driver)$(fact garbage gpu.power_limit_W)$(fact garbage gpu.clock_max_Hz)$(fact garbage gpu.memory_GiB) $(why garbage gpu.device | wc -l)" "2 550.54.15 3"
LD_LIBRARY_PATH=rocm "$BENCHWRAP" probe --no-cache --json | flat amd
is "ROCm SMI" "$(fact amd gpu.model), $(fact amd gpu.count), $(fact amd gpu.power_limit_W), $(fact amd gpu.ecc), $(fact amd gpu.pairs_on)" \
    "AMD Instinct MI300X, 2, 750*1 500*1, on, XGMI"
LD_LIBRARY_PATH=rocm FAKE_ROCM=fault "$BENCHWRAP" probe --no-cache --json | flat amd
like "ROCm SMI that fails" "$(why amd probe.gpu)" "driver is not loaded"

# GPUs while a program runs, which lasts until two samples of them have come, 60 s at most.
cat >watcher <<'X'
#!/bin/sh
n=0
while [ $n -lt 600 ] && [ "$(cat watched/.benchwrap/spool/*/journal 2>/dev/null | grep -c 'system/gpu_1_utilization_percentage')" -lt 2 ]; do sleep 0.1; n=$((n + 1)); done
X
chmod +x watcher
mkdir watched
LD_LIBRARY_PATH=lib "$BENCHWRAP" -q --sample 100ms -t watched/mlruns -- ./watcher
gpu() { tail -n 1 watched/mlruns/*/*/metrics/"$1" | cut -d' ' -f2; }
is "use, power, share of its limit, clock, memory" "$(gpu system/gpu_1_utilization_percentage) $(gpu system/gpu_0_power_usage_watts) $(gpu system/gpu_0_power_usage_percentage) $(gpu system/gpu_0_clock_megahertz) $(gpu system/gpu_0_memory_usage_percentage)" \
    "88 350 50 1755 50"
ok "energy while they were watched" sh -c '[ "$(cut -d" " -f2 "$1" | cut -d. -f1)" -ge 350 ]' sh watched/mlruns/*/*/metrics/energy.gpu_watched_J

# A library that never returns: the program runs at once, the run ends and says so.
rm -rf run/benchwrap
begun=$(date +%s)
LD_LIBRARY_PATH=lib FAKE_NVML=hang "$BENCHWRAP" -q -- sh -c 'date +%s >started; echo hello' >out
ended=$(date +%s)
is "the program's output" "$(cat out)" hello
ok "the program does not wait for it" [ $(($(cat started) - begun)) -lt 20 ]
ok "nor does the end, for long" [ $((ended - begun)) -lt 40 ]
like "the record says what is missing" "$(cat mlruns/*/*/artifacts/benchwrap.json)" "the probe had not finished [0-9]+ ms after the program's end"
wait_until idle
ok "nothing of it is left" sh -c '! grep -l "FAKE_NVML=hang" $(grep -l "^benchwrap-look" /proc/[0-9]*/comm 2>/dev/null | sed s/comm/environ/) /dev/null 2>/dev/null'

# ---- a file system whose server is dead ----
mkdir dead
"$BUILD/tests/lib/hung-mount" "$WORK/dead" >mounted 2>why &
mount_pid=$!
wait_until 'grep -q mounted mounted || has_ended $mount_pid'
if grep -q mounted mounted; then
    rm -rf mlruns started
    begun=$(date +%s)
    "$BENCHWRAP" -q -- sh -c 'date +%s >started' sh "$WORK/dead/file" -o "$WORK/out"
    is "the program ran" $? 0
    ended=$(date +%s)
    ok "it did not wait for the dead file system" [ $(($(cat started) - begun)) -lt 20 ]
    ok "the run ended, too" [ $((ended - begun)) -lt 40 ]
    like "it says so" "$(cat mlruns/*/*/artifacts/benchwrap.json)" "probe.filesystem"
    kill $mount_pid
    wait $mount_pid
else
    wait $mount_pid
    skip_here "a dead file system" "FUSE cannot be mounted here: $(cat why)"
fi

# ---- a cloud's metadata service ----
serve() # KIND
{
    rm -f port
    python3 "$TESTLIB/metadata.py" port asked "$1" &
    server=$!
    wait_until '[ -s port ]'
    url=http://127.0.0.1:$(cat port)
}
stop() { kill $server; wait $server 2>/dev/null; }
metadata() # what the service says; a busy machine may let it miss the deadline
{
    for _ in $(seq 60); do
        http_proxy=http://127.0.0.1:9 "$BENCHWRAP" probe --no-cache --json --cloud-metadata "$url" | flat cloud
        grep -qE "^missing .*(did not answer|had not finished|no answer within)" cloud || break
    done
}
kinds="aws azure"
long_tests && kinds="aws gcp azure oracle"
for kind in $kinds; do
    serve $kind
    metadata
    stop
    case $kind in
    aws) want="c7g.16xlarge eu-west-1 eu-west-1b" ;;
    gcp) want="c3-highcpu-176  us-central1-a" ;;
    azure) want="Standard_HB176rs_v4 westeurope " ;;
    oracle) want="BM.HPC.E5.144 eu-frankfurt-1 " ;;
    esac
    is "$kind tells type, region, zone" "$(fact cloud cloud.instance_type) $(fact cloud cloud.region) $(fact cloud cloud.zone)" "$want"
    ok "no account" sh -c '! grep -Eq "424242|sub-secret|ocid1" cloud'
done
serve part
metadata
stop
is "what the service does not have is missing, with the reason" "$(fact cloud cloud.instance_type) $(why cloud cloud.zone)" "c3-highcpu-176 the metadata service answered 404 to /computeMetadata/v1/instance/zone"
serve evil
metadata
stop
is "what is no name is not told, but said" "$(fact cloud cloud.instance_type)$(why cloud cloud.instance_type)" "the metadata service's answer is not a name"
: >asked
serve silent
begun=$(date +%s)
"$BENCHWRAP" -q --cloud-metadata "$url" -- true
ok "a service that never answers is not waited for" [ $(($(date +%s) - begun)) -lt 30 ]
stop
done_testing
