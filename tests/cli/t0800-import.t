#!/bin/bash
# Runs from outputs that lie around: whose they are, when they were made, once and only once, and what is no output at all.
# sanitizer: long, because t0801 and t0810 walk the same code
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
cd "$WORK" || exit
export TZ=UTC
samples=$ROOT/benchmarks/catalogue
ior=$samples/ior/samples
import() { "$BENCHWRAP" import --json "$@" 2>err.txt; }
runs() { find "${1:-.}"/mlruns -mindepth 3 -maxdepth 3 -name meta.yaml 2>/dev/null | wc -l; }
state() { (cd "$1/mlruns" && find . -type f | LC_ALL=C sort | xargs -d '\n' sha256sum); }

# Every sample of the catalogue (four of each, and nothing written, without long tests) is known by its own entry or by none (those of generic by none, or by that of the program that made them: it is what is read where nobody knows).
for dir in "$samples"/*/; do
    find "$dir"samples -type f ! -name argv ! -name environment ! -name status ! -name expect ! -name file ! -name outside -size +0 | LC_ALL=C sort | if long_tests; then cat; else head -n 4; fi
done | xargs -d '\n' "$BENCHWRAP" import --json -t all $(long_tests || echo --dry-run) >all.json 2>all.err
python3 - "$samples" >all.txt <<'END'
import json, os, sys
known, silent = 0, set(os.listdir(sys.argv[1])) - {"generic"}
for r in json.load(open("all.json")):
    name = os.path.relpath(r["file"], sys.argv[1]).split("/")[0]
    own, argv = [None, name], os.path.join(os.path.dirname(r["file"]), "argv")
    if name == "generic" and os.path.exists(argv):
        own.append(os.path.basename(open(argv).readline().strip()))
    if r["benchmark"] not in own or r["result"] == "refused" and " know it" in r["why"]:
        print(r["file"], r["benchmark"], r["why"])
    if r["benchmark"] is not None:
        known += 1
        silent.discard(name)
for name in sorted(silent):
    print(name, "knows none of its samples")
print(known)
END
is "every sample of the catalogue is known by its own entry or by none" "$(sed '$d' all.txt)" ""
known=$(tail -n 1 all.txt)
ok "… and most are known ($known)" [ "$known" -gt "$(long_tests && echo 250 || echo 40)" ]

# MLflow opens the whole.
MLFLOW=3.17.2
if ! long_tests; then
    skip_here "MLflow reads every run" "slow: make check-long (trees in general: t0400)"
elif python=$(venv_mlflow "$MLFLOW"); then
    is "MLflow reads every run" "$(cd all && "$python" - <<'END' 2>&1 | tail -n 1
import mlflow, os
os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
client = mlflow.MlflowClient("file:" + os.path.abspath("mlruns"))
n = 0
for e in client.search_experiments():
    token = None
    while True:
        page = client.search_runs([e.experiment_id], max_results=1000, page_token=token)
        n += len(page)
        token = page.token
        if not token:
            break
print(n)
END
)" "$(runs all)"
    if [ -x "$ROOT/../shared/tools/mlflow-check-tree" ]; then
        ok "a second judge finds nothing in the tree" "$python" "$ROOT/../shared/tools/mlflow-check-tree" all/mlruns --strict
    fi
else
    skip "MLflow reads every run" "$python"
fi

# One output.
cp "$ior/main-human-reps3-fpp/stdout" a.out
out=$(import a.out)
is "an output is imported" "$? $(echo "$out" | field 0/result)" "0 imported"
id=$(echo "$out" | field 0/id)
run=$(ls -d mlruns/*/"$id")
is "the program is known from the output" "$(cat "$run"/tags/benchmark)" ior
is "the time is the output's" "$(grep -h '^start_time' "$run"/meta.yaml)" "start_time: 1795216819000"
is "… and said so" "$(cat "$run"/tags/benchwrap.time_source)" output
is "the place is the output's" "$(cat "$run"/tags/host)" node01
is "its arguments became params" "$(cat "$run"/params/repetitions)" 3
is "the output is kept as it was" "$(sha256sum <"$run"/artifacts/stdout.log)" "$(sha256sum <a.out)"
is "its sum is told" "$(cat "$run"/tags/benchwrap.imported)" "$(sha256sum <a.out | cut -d' ' -f1)"
is "nothing is said of a wall time" "$(ls "$run"/metrics | grep -c wall)" 0
is "the headline is the benchmark's" "$(cut -d' ' -f2 "$run"/metrics/write.bw_MiB_per_s.max)" "$("$BENCHWRAP" parse --rules ior --json a.out | jq '.metrics[] | select(.key == "write.bw_MiB_per_s.max").value')"
is "nothing of the importing machine is in it" "$(ls "$run"/params | grep -c -e '^cpu\.' -e '^memory\.' -e '^os\.')" 0

# Once and only once.
mkdir b && cp a.out b/other-name.txt && touch -d 2001-01-01 b/other-name.txt
is "once more it is there" "$(import a.out | field 0/result) $(import b/other-name.txt | field 0/result) $(runs)" "already there already there 1"
is "… in another experiment too" "$(import -e elsewhere a.out | field 0/result) $(runs)" "already there 1"
import -t site2 a.out >out.json
is "another site makes the same bytes" "$(state site2)" "$(state .)"
is "a dry run says what it would do, and writes nothing" "$(import -t dry --dry-run a.out | field 0/result) $(ls -d dry 2>/dev/null)" "would import "
# What the user adds is cleaned as the output is.
for p in public private; do
    BENCHWRAP_PROFILE=$p USER=kq7user "$BENCHWRAP" import -t "added-$p" --param note="kq7user a.b@gmail.com password=hunter22" --tag who=kq7user a.out >/dev/null 2>&1
done
is "the public profile: names in added params and tags are replaced" "$(ls added-public/mlruns/*/*/params/note | grep -c .) $(ls added-public/mlruns/*/*/tags/who | grep -c .) $(grep -rlE 'kq7user|gmail|hunter22' added-public)" "1 1 "
is "the private profile: secrets alone are" "$(cat added-private/mlruns/*/*/tags/who) $(grep -c '^kq7user a.b@gmail.com password=' added-private/mlruns/*/*/params/note) $(grep -rl hunter22 added-private)" "kq7user 1 "

# Times.
sed -e '/^Began/d' -e '/^Finished/d' a.out >untimed.out
touch -d '2019-05-04 03:02:01Z' untimed.out
run=$(import untimed.out | field 0/path)
is "without a time in it the file's is taken" "$(grep -h '^start_time' "$run"/meta.yaml) $(cat "$run"/tags/benchwrap.time_source)" "start_time: 1556938921000 file"
sed 's/Began  /Began /' untimed.out | sed '1s/$/ x/' >given.out
run=$(import --time 2020-02-03T04:05:06Z given.out | field 0/path)
is "a time that is given wins" "$(grep -h '^start_time' "$run"/meta.yaml) $(cat "$run"/tags/benchwrap.time_source)" "start_time: 1580702706000 option"
import --time yesterday a.out >/dev/null
is "a time that is none is a mistake of use" "$?" 125

# What is known besides.
sed '1s/$/ y/' a.out >status.out
run=$(import --exit-status 3 --param mine=7 --tag who=me -e campaign status.out | field 0/path)
is "a known exit status fails the run" "$(grep -h '^status' "$run"/meta.yaml) $(cat "$run"/tags/benchwrap.reason)" "status: 4 exit status 3"
is "params and tags of one's own" "$(cat "$run"/params/mine "$run"/tags/who)" 7me
like "the experiment is the one that was named" "$(cat "$run"/../meta.yaml)" '^name: "campaign"'
cat >mine.yaml <<'END'
name: mine
version: "1"
readers:
  - {name: r, regex: '^(?<v>\d+) things', metrics: [{name: things, cell: v, better: higher}]}
END
echo "17 things" >mine.log
is "nobody knows it" "$(import mine.log | field 0/result) $(runs)" "not recognised 4"
printf 'is cuda available True\ncuda version: 12.8\n' >cuda.log
is "a line with a version is no HPCG" "$(import --dry-run cuda.log | field 0/result)" "not recognised"
run=$(import --rules ./mine.yaml mine.log | field 0/path)
is "rules of one's own read it" "$(cut -d' ' -f2 "$run"/metrics/things)" 17

# Files that the rules read beside the streams are known by their names.
if [ -d "$samples/hpcc/samples/1.5.0-file" ]; then
    run=$(import "$samples/hpcc/samples/1.5.0-file/hpccoutf.txt" | field 0/path)
    is "a result file is kept as such" "$(cat "$run"/tags/benchwrap.verdict) $(ls "$run"/artifacts/files)" "pass hpccoutf.txt"
fi

# Several outputs in one file: a run each, the same as from a file of its own.
cat "$samples/fio/samples/json/stdout" "$samples/fio/samples/jsonplus/stdout" >two-fio.out
out=$(import -t split two-fio.out "$samples/fio/samples/json/stdout")
is "two outputs in one file are two runs" "$(echo "$out" | jq -r 'map(.result) | join(",")') $(runs split)" "imported,imported,already there 2"
like "… which name their lines" "$(echo "$out" | field 1/file)" 'two-fio.out .lines 290-599.'
{ cat a.out "$samples/fio/samples/human-bits/stdout"; cat "$samples/sysbench/samples/cpu/stdout" "$samples/sysbench/samples/cpu/stdout" "$samples/fio/samples/json/stdout"; } >mixed.out
is "outputs of several programs are runs of each" "$(import -t mix mixed.out | jq -r 'map(.benchmark + " " + .verdict) | join(",")')" "ior pass,fio pass,sysbench pass,fio pass"
for one in ior/4.0.0-human-reps3-fpp sysbench/cpu ab/plain wrk/plain hpl/2.3-superbench stream/5.10-zen imb/2021.11-nbc osu/7.4-bw nvbandwidth/nvidia-0.7 \
    gpcnet/superbench-network-test hackbench/process babelstream/5.0 likwid-bench/copy sockperf/ping-pong 7z/two-threads namd/made-2.14 gromacs/akrr-2018 \
    fio/human-bits bonnie/small; do
    cat "$samples/${one%/*}/samples/${one#*/}/stdout" && echo
done >nineteen.out
is "… also of nineteen programs" "$(import -t nineteen nineteen.out | jq -r '[.[] | select(.verdict == "pass") | .benchmark] | unique | length')" 19
# Two processes that print line by line into one file: each run is that of one of them, or none is good.
paste -d '\n' "$samples/sysbench/samples/cpu/stdout" "$samples/sysbench/samples/cpu/stdout" >interleaved.out
like "lines of two processes mixed" "$(import interleaved.out | jq -c 'map(.verdict)')" '^\[("fail",?)+\]$'
like "parse says that they are several" "$("$BENCHWRAP" parse mixed.out 2>&1)" 'outputs of several programs.*benchwrap import'
is "… and what their rules keep apart are child runs" "$(grep -l sysbench mix/mlruns/*/*/tags/benchmark | wc -l)" 3
cat "$ior/main-human-default/stdout" "$ior/main-human-reps3-fpp/stdout" >two-ior.out
run=$(import two-ior.out | field 0/path)
is "rules that keep tests apart do so" "$(ls "$run"/metrics | sed -n 's/^\(t[0-9]*\)\..*/\1/p' | sort -u | tr '\n' ' ')" "t0 t1 "

# ReFrame's history: a run for each record, with its own time, place and job, and with the verdict that ReFrame gave.
cat >perf.log <<'END'
result|job_completion_time|environ|hashcode|job_nodelist|jobid|name|num_tasks|partition|bw_value|bw_unit|bw_ref|bw_lower_thres|bw_upper_thres|system
pass|2026-11-20T23:14:41|gnu|73b90df6|node01|6810|stream %n=1|1|gpu|44063.6|MB/s|10000|-0.9|None|demo
fail|2026-11-20T23:14:47|gnu|f770b66a|node02|6828|stream %n=2|2|gpu|2308.1|MB/s|10000|-0.1|None|demo
END
cat >posted.jsonl <<'END'
{"check_name": "stream", "check_job_completion_time_unix": 1795216481.9, "check_result": "pass", "check_partition": "gpu", "check_environ": "gnu", "check_job_nodelist": ["node01"], "check_jobid": "6810", "check_system": "demo", "check_perf_value": null, "check_perf_bw_value": 44063.6, "check_perf_bw_ref": 10000, "check_perf_bw_lower_thres": -0.9, "check_perf_bw_upper_thres": null, "check_perf_bw_unit": "MB/s", "check_perf_bw_result": "pass"}
{"check_name": "stream", "check_job_completion_time_unix": 1795216487.4, "check_result": "fail", "check_partition": "gpu", "check_environ": "gnu", "check_job_nodelist": ["node02"], "check_jobid": "6828", "check_system": "demo", "check_perf_value": null, "check_perf_bw_value": 2308.1, "check_perf_bw_ref": 10000, "check_perf_bw_lower_thres": -0.1, "check_perf_bw_upper_thres": null, "check_perf_bw_unit": "MB/s", "check_perf_bw_result": "fail"}
END
cat >old.log <<'END'
2021-03-10T11:15:40|reframe 3.5.0|stream on demo:gpu using gnu|jobid=6810|bw=44063.6|ref=10000 (l=-0.9, u=None)|MB/s
2021-03-11T11:15:40|reframe 3.5.0|stream on demo:gpu using gnu|jobid=6828|bw=2308.1|ref=10000 (l=-0.1, u=None)|MB/s
2021-03-12T11:15:40|reframe 3.5.0|stream on demo:gpu using gnu|jobid=6829|bw=2400.5|ref=None (l=None, u=None)|MB/s
END
for log in perf.log posted.jsonl old.log; do
    out=$(import -t "reframe-$log" "$log")
    is "$log: a run for each record, with ReFrame's verdict" "$(echo "$out" | jq -r '.[:2] | map(.benchmark + " " + .verdict + " " + .time_source) | join(",")')" "reframe pass output,reframe fail output"
    run=reframe-$log/$(echo "$out" | field 1/path)
    is "… its value in its unit, its system, partition, environment and job" \
        "$(cut -d' ' -f2 "$run"/metrics/bw_MB_per_s) $(cat "$run"/params/system "$run"/params/partition "$run"/params/environ "$run"/params/jobid | tr '\n' ' ')" "2308.1 demogpugnu6828"
    like "… and reference and thresholds are kept" "$(jq -c '.runs[0].testcases[0].perfvalues[]' "$run"/artifacts/stdout.log)" '\[2308.1,10000,-0.1,null,"MB/s"'
done
is "the time is the record's" "$(import --dry-run old.log | field 0/start)" "2021-03-10T11:15:40.000Z"
is "without a reference ReFrame judged nothing" "$(cat reframe-old.log/mlruns/*/*/params/result | grep -o unknown | wc -l)" 1
is "a line of 300 fields is no record" "$(seq -s '|' 300 >wide.log; import wide.log | field 0/result)" "not recognised"
sed -e 's/44063.6/.5/; s/|-0.9|/|+1|/; s/2308.1/-inf/' perf.log >odd.log
is "numbers that are no JSON as they stand" "$(import -t odd odd.log | field 0/result) $(cut -d' ' -f2 odd/mlruns/*/*/metrics/bw_MB_per_s) $(for f in odd/mlruns/*/*/artifacts/stdout.log; do python3 -m json.tool "$f" >"$WORK/null" && echo read; done | xargs)" \
    "imported 0.5 read read"
is "a log that has another line is refused" "$( (cat perf.log; echo 'a|b') >torn.log; import torn.log | field 0/result)" "not recognised"

# What tells that it did not come to its end, or cannot be read, is never a pass: there is no exit status to say so.
out=$(import "$samples/fio/samples/killed/stdout" "$samples/ab/samples/html/stdout")
like "a program that was stopped" "$(echo "$out" | field 0/verdict): $(echo "$out" | field 0/why)" "^fail: .*terminating on signal 2"
like "an output in a form that is not read" "$(echo "$out" | field 1/verdict): $(echo "$out" | field 1/why)" "^fail: an HTML table"

# What is no output.
before=$(runs)
head -c 100000 /dev/urandom >binary
: >empty
{ cat a.out; head -c 9000000 /dev/zero | tr '\0' x; echo; } >long-line.out
mkfifo fifo
mkdir folder && ln -s . folder/loop && ln -s loop loop
gzip -c a.out >a.out.gz
printf '\377\376IOR-4.0.0: MPI Coordinated Test of Parallel I/O\n\0\0\0' >torn.out
out=$(timeout 120 "$BENCHWRAP" import --json binary empty fifo folder loop a.out.gz nothing /dev/null 2>err.txt)
is "what is no output is refused, and status 1" "$?" 1
is "… each" "$(echo "$out" | jq -r 'map(.result) | join(",")')" "not recognised,refused,refused,refused,refused,refused,refused,refused"
like "a packed one says what to do" "$out" "unpack it first .gunzip"
like "a pipe is not waited for" "$out" "not a regular file"
is "nothing of them is in the tree" "$(runs)" "$before"
is "a line of 9 MB is survived" "$(import long-line.out | field 0/verdict)" pass
import torn.out >/dev/null
is "half an output is never a good run" "$(import torn.out | jq -c 'map(.verdict)')" "[null]"
if [ "$(id -u)" != 0 ]; then
    cp a.out secret && chmod 0 secret
    like "what cannot be read is told" "$(import secret | field 0/why)" "Permission denied"
fi
printf 'size\n' >big && truncate -s 70M big
like "too large a file" "$(import big | field 0/why)" "artifact-max"

# Folders.
mkdir -p logs/deep/mlruns logs/.hidden && cp "$ior/4.0.0-human-reps3-fpp/stdout" logs/x.out && cp "$ior/3.0.1-human-reps3-fpp/stdout" logs/deep/y.out
cp a.out logs/deep/mlruns/z.out && cp a.out logs/.hidden/z.out && ln -s .. logs/deep/up && echo '#!/bin/sh' >logs/job.sh && mkfifo logs/pipe
out=$(timeout 120 "$BENCHWRAP" import -R logs 2>&1)
is "a folder is gone through, and what nobody knows there is no failure" "$?" 0
like "… without links, hidden files and trees" "$out" "^2 imported .* 1 not recognised, 0 refused"

# Many.
n=$(long_tests && echo 40 || echo 12)
mkdir many
for i in $(seq "$n"); do sed "1s/\$/ $i/" a.out >many/"$i".out; done
ok "many at once" "$BENCHWRAP" import -t manytree -R many
is "all are there" "$(runs manytree)" "$n"
is "and nothing is left in the spool" "$(ls -A manytree/.benchwrap/spool)" ""

# Killed at any time: nothing half, nothing twice.
for i in $(seq "$(long_tests && echo 10 || echo 3)"); do
    "$BENCHWRAP" import -t killed -R many >/dev/null 2>&1 &
    sleep "0.$((i * 3 % 10))$((i * 7 % 10))"
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
done
whole()
{
    for d in killed/mlruns/*/*/metrics; do
        [ -d "$d" ] || continue
        [ -f "$d/../meta.yaml" ] && [ -f "$d/../artifacts/manifest.json" ] && [ -f "$d/../artifacts/stdout.log" ] || echo "$d"
    done
}
is "no run is half after kills" "$(whole)" ""
"$BENCHWRAP" import -t killed -R many >last.txt
is "then all are there, once" "$(runs killed) $(cat killed/mlruns/*/*/tags/benchwrap.imported | fold -w 64 | sort -u | wc -l)" "$n $n"
is "and as if nothing had happened, to the byte" "$(state killed)" "$(state manytree)"
# A folder whose journal has no first line yet may be somebody's who is about to write it; when it is old, it is nobody's.
touch -c -d '2 days ago' killed/.benchwrap/spool/.making* 2>/dev/null
"$BENCHWRAP" import -t killed many/1.out >/dev/null
is "nothing is left being made" "$(ls -A killed/.benchwrap/spool | grep -c '^.making')" 0

# Killed at a system call, one after the other (in the long tier at each): what stands afterwards is what would have stood.
mkdir one && cp a.out one/ && "$BENCHWRAP" import -t onetree one/a.out >/dev/null
good=$(state onetree)
torn=
step=97 calls='write openat'
long_tests && step=1 calls='write openat linkat renameat2 mkdirat unlinkat syncfs'
strace -f -o /dev/null true 2>/dev/null || skip "killed at any system call, the next import leaves the same tree" "no strace"
for call in $calls; do
    strace -f -o /dev/null true 2>/dev/null || break
    at=1
    while rm -rf cut; [ $at -lt 300 ]; do
        (strace -f -o strace.txt -e "trace=$call" -e "inject=$call:signal=KILL:when=$at" "$BENCHWRAP" import -t cut one/a.out; :) >/dev/null 2>&1 # a shell of its own, whose word that it was killed is not shown
        grep -q 'killed by SIGKILL' strace.txt || break
        "$BENCHWRAP" import -t cut one/a.out >/dev/null 2>&1
        [ "$(state cut)" = "$good" ] || torn="$torn $call:$at"
        at=$((at + step))
    done
    [ $at -gt 1 ] || torn="$torn $call:never"
done
strace -f -o /dev/null true 2>/dev/null && is "killed at any system call, the next import leaves the same tree" "$torn" ""
done_testing
