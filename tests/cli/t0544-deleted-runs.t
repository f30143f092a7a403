#!/bin/sh
# Runs that are deleted: by MLflow (lifecycle_stage), or by another process while a command reads the tree. All readers have one rule.
# sanitizer: no, because a preloaded library deletes the runs
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >rate.sh <<'P'
echo "rate: ${B:-500} MB/s"
P
record() { B=$2 "$BENCHWRAP" -q -e h -p size="$1" -- sh rate.sh >/dev/null; }
for b in 500 510 505 490 515 500; do record 4k $b; done
record 8k 700
record 4k 502
record 4k 503
"$BENCHWRAP" -q -e s --repeat 3 -- sh rate.sh >/dev/null
id_of() { "$BENCHWRAP" ls --all --filter "$1" --json | sed -n 's/.*"id": *"\([0-9a-f]*\)".*/\1/p' | head -n 1; }
gone=$(id_of "params.size = '8k'")
path=$(ls -d mlruns/*/"$gone")

# ---- deleted while the command reads: as another process would, at the $NTH open of a file whose path ends with $AT, or, with an
# index, which only looks at files, at the $NTH look at anything of the run $RUN ----
cat >gone.c <<'X'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static void path_seen(const char *path, int is_open)
{
    static int seen;
    const char *nth = getenv("NTH"), *at = getenv("AT"), *run = getenv("RUN");
    int ends = is_open && at && strlen(path) >= strlen(at) && strcmp(path + strlen(path) - strlen(at), at) == 0;
    if (!ends && !(run && strstr(path, run)))
        return;
    if (__atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST) == (nth ? atoi(nth) : 1))
        rename(getenv("GONE"), getenv("TO"));
}

long syscall(long number, ...)
{
    long x[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        x[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_openat2)
        path_seen((const char *)x[1], 1);
    return ((long (*)(long, long, long, long, long, long, long))dlsym(RTLD_NEXT, "syscall"))(number, x[0], x[1], x[2], x[3], x[4], x[5]);
}

int statx(int dir, const char *restrict path, int flags, unsigned mask, struct statx *restrict to)
{
    path_seen(path, 0);
    return ((int (*)(int, const char *, int, unsigned, struct statx *))dlsym(RTLD_NEXT, "statx"))(dir, path, flags, mask, to);
}
X
${CC:-cc} -shared -fPIC -o gone.so gone.c -ldl || { skip "runs that are deleted while they are read" "no compiler for a library"; done_testing; exit; }
left='^benchwrap: left out 1 run: deleted after the command had listed it$'
without() { # AT NTH COMMAND…: "STATUS: how often the note, other lines of stderr, how often the run's id in the output"
    at=$1 nth=$2
    shift 2
    BENCHWRAP_NO_INDEX=1 AT=$at NTH=$nth GONE=$path TO=$WORK/away LD_PRELOAD=$WORK/gone.so "$BENCHWRAP" "$@" >out 2>err
    echo "$?: $(grep -c "$left" err) $(grep -vc "$left" err) $(grep -c "$(basename "$path" | cut -c1-8)" out)"
    [ -d away ] || echo "not deleted"
    mv away "$path" 2>/dev/null
}
is "ls: before the run is read" "$(without /meta.yaml 1 ls -e h)" "0: 1 0 0"
is "ls: while rows are read" "$(without tags/benchwrap.verdict 1 ls -e h)" "0: 1 0 0"
is "ls --all" "$(without /meta.yaml 1 ls --all --json)" "0: 1 0 0"
is "ls --columns" "$(without metrics/rate_MB_per_s 1 ls -e h --columns run_id,metrics.rate_MB_per_s --format csv)" "0: 1 0 0"
is "ls --sort" "$(without metrics/rate_MB_per_s 1 ls -e h --sort 'metrics.rate_MB_per_s DESC' --format csv)" "0: 1 0 0"
is "ls with a filter: no value is missing that was there" "$(without /meta.yaml 1 ls -e h --filter 'params.nope IS NULL' --json)" "0: 1 0 0"
is "show --children" "$(path=$(ls -d mlruns/*/"$(id_of "tags.benchwrap.repetition = '2'")"); without tags/benchwrap.verdict 2 show --children last)" "0: 1 0 0"
is "plot" "$(without tags/benchwrap.repetition 1 plot -e h)" "0: 1 0 0"
is "report" "$(without tags/benchwrap.repetition 1 report -e h -o out.html; grep -c "$gone" out.html)" "0: 1 0 0
0"
is "compare --by, which has one group less" "$(without tags/benchwrap.warmup 1 compare -e h --by size | cut -c1-4)" "1: 1"
is "compare --history" "$(path=$(ls -d mlruns/*/"$(id_of "metrics.rate_MB_per_s = 490")"); without artifacts/benchwrap.json 2 compare --history last~1 | cut -d' ' -f-2)" "0: 1"
for form in csv jsonl parquet; do
    is "export as $form" "$(without /metrics 1 export -e h --format $form)" "0: 1 0 0"
done
is "export --columns" "$(without metrics/rate_MB_per_s 1 export -e h --columns run_id,metrics.rate_MB_per_s)" "0: 1 0 0"
is "export --long" "$(without artifacts/benchwrap.json 1 export -e h --long)" "0: 1 0 0"
is "grep" "$(without /artifacts 1 grep -e h rate)" "0: 1 0 0"
is "reference, which proposes nothing of these runs" "$(without params 1 reference -e h --last 20)" "1: 1 1 0"
is "history, while facts are read" "$(without artifacts/benchwrap.json 1 history -e h)" "0: 1 0 0"
is "history, while keys are read" "$(without params 1 history -e h)" "0: 1 0 0"
is "explain" "$(without artifacts/benchwrap.json 1 explain "$(id_of "metrics.rate_MB_per_s = 490")" last)" "0: 1 0 0"
is "explain of the run itself" "$(without artifacts/benchwrap.json 1 explain "$gone" last~1 | cut -c1-4; grep -c "$(printf %.8s "$gone") cannot be explained: .*or was deleted" err)" "1: 1
1"
"$BENCHWRAP" pages -o pages >/dev/null
is "pages, which lose the run's page" "$(without artifacts/benchwrap.json 1 pages --rebuild -o pages; find pages -name "$gone*"; grep -rl "$gone" pages)" "0: 1 0 0"
"$BENCHWRAP" pages -o pages >/dev/null
is "... and have it again" "$(find pages -name "$gone*" | wc -l)" 2
is "export-tree" "$(without stdout.log 1 export-tree -e h copy; ls -d copy/mlruns/*/"$gone" 2>/dev/null)" "0: 1 0 0"

# The same with an index: whenever the run is deleted, the answer is that with the run or that without it, which the note tells.
with_index() { # COMMAND…: "good", or the first deviation
    "$BENCHWRAP" "$@" >full 2>/dev/null
    mv "$path" away && "$BENCHWRAP" "$@" >less 2>/dev/null
    mv away "$path"
    cmp -s full less && echo "the run makes no difference"
    for nth in 1 2 3 5 8 13 21 34 55; do
        "$BENCHWRAP" "$@" >/dev/null 2>&1
        RUN=$(basename "$path") NTH=$nth GONE=$path TO=$WORK/away LD_PRELOAD=$WORK/gone.so "$BENCHWRAP" "$@" >out 2>err
        status=$?
        deleted=$([ -d away ] && echo deleted)
        mv away "$path" 2>/dev/null
        note=$(grep -c "$left" err)
        case $status-$note-$(grep -vc "$left" err)-$(cmp -s out full && echo full)$(cmp -s out less && echo less)-$deleted in
        0-0-0-full-*) ;;
        0-0-0-less-deleted) [ "$nth" = 1 ] || echo "look $nth: no note" ;;
        0-1-0-less-deleted) ;;
        *) echo "look $nth: status $status, $note notes, $(grep -v "$left" err | head -n 1) $(diff out less | head -n 3)" ;;
        esac
    done | head -n 1 | grep . || echo good
}
for command in "ls -e h" "ls -e h --json" "ls -e h --sort metrics.rate_MB_per_s --columns run_id,metrics.rate_MB_per_s --format csv" \
    "ls -e h --json --all" "export -e h" "export -e h --format jsonl --columns run_id,params.size" "export -e h --long" \
    "grep -e h rate" "history -e h --json" "plot -e h --ignore size"; do
    is "$command, with an index" "$(with_index $command)" good
done

# A history with a change, whose causes are read run by run.
cp -r mlruns/*/"$(id_of "metrics.rate_MB_per_s = 490")" one 2>/dev/null
run=$(ls -d mlruns/*/"$(id_of "metrics.rate_MB_per_s = 490")")
python3 -c 'for i in range(24): print("{\"metrics\": {\"rate_MB_per_s\": %d}, \"params\": {\"size\": \"1k\", \"kernel.release\": \"6.%d\"}, \"details\": {\"rate_MB_per_s\": {\"direction\": \"higher\", \"unit\": \"MB_per_s\"}}}" % ((1000 if i < 12 else 800) + i % 3, i >= 12))' | "$TESTLIB/make_history.py" "$run" >ids
path=$(ls -d mlruns/*/"$(sed -n 11p ids)")
is "history, while causes are read" "$(without params 2 history -e h --filter "params.size = '1k'"); $(grep -c 'also changed: kernel.release' out)" "0: 1 0 0; 1"

# ---- a damaged run is none that was deleted ----
path=$(ls -d mlruns/*/"$gone")
mv "$path/meta.yaml" kept.yaml
for command in "ls -e h" "export -e h" "pages -o pages" "plot -e h"; do
    "$BENCHWRAP" $command >out 2>err
    is "$command: a run without meta.yaml is not said to be deleted" "$(grep -c 'deleted' err)" 0
done
mv kept.yaml "$path/meta.yaml"

# ---- deleted in MLflow ----
sed -i 's/^lifecycle_stage: .*/lifecycle_stage: deleted/' "$path/meta.yaml"
short=$(printf %.8s "$gone")
for command in "ls --all" "ls --all --columns run_id" "export --columns run_id" "export --long" "grep rate" "history" "reference -e h --last 20" "plot -e h" "compare -e h --by size"; do
    "$BENCHWRAP" $command >out 2>err
    is "$command: has no deleted run" "$(grep -c "$short" out err)" "out:0
err:0"
done
"$BENCHWRAP" pages -o pages >/dev/null
is "nor have pages" "$(find pages -name "$gone*"; grep -rl "$gone" pages)" ""
"$BENCHWRAP" report -e h -o out.html; is "nor has a report" "$(grep -c "$gone" out.html)" 0
note="benchwrap: the run $short is deleted: only its id finds it"
for command in "show $gone" "show --json $gone" "compare $gone last~1" "plot groups $gone last~1 --by size" "compare --history $gone" "report $gone -o one.html" "report $gone last~1 -o two.html"; do
    "$BENCHWRAP" $command >out 2>err
    is "$command: it is used, with a note" "$? $(grep -Fxc "$note" err)" "0 1"
done
for command in "history $gone" "explain $gone last~1"; do
    "$BENCHWRAP" $command >out 2>err
    like "$command" "$? $(cat err)" "^1 |^benchwrap: [a-z]+: the run $short .*: it is deleted\$"
done

# Statistics of a parent run include a repetition that is deleted afterwards: readers say so.
"$BENCHWRAP" -q -e p --repeat 4 -- sh rate.sh >/dev/null
parent=$("$BENCHWRAP" ls -e p --json | sed -n 's/.*"id": *"\([0-9a-f]*\)".*/\1/p' | head -n 1)
child=$(grep -lx 2 mlruns/*/*/tags/benchwrap.repetition | while read -r f; do grep -l "$parent" "$(dirname "$f")/mlflow.parentRunId"; done | cut -d/ -f3)
mark() { "$BENCHWRAP" ls -e p --json 2>/dev/null | jq -r '.[0].stale // "none"'; }
is "no repetition is deleted" "$(mark)" none
sed -i 's/^lifecycle_stage: .*/lifecycle_stage: deleted/' mlruns/*/"$child"/meta.yaml
stale="1 of 4 child runs is deleted ($(printf %.8s "$child")), which these statistics include until it is retracted"
is "... one is: the parent run is marked" "$(mark)" "$stale"
is "... without an index, too" "$(BENCHWRAP_NO_INDEX=1 mark)" "$stale"
for command in "show $parent" "history -e p" "report $parent -o p.html" "compare $parent last" "plot groups $parent" "export -e p"; do
    like "$command: the note says it" "$("$BENCHWRAP" $command 2>&1 >/dev/null)" "^benchwrap: 1 of 4 child runs is deleted .*; hint: benchwrap retract --why TEXT $(printf %.8s "$child")\$"
done
is "... and a filter finds it" "$("$BENCHWRAP" ls --filter "tags.benchwrap.stale LIKE '%deleted%'" --json | jq length)" 1
"$BENCHWRAP" retract "$child" --why wrong >out 2>&1
is "what the hint says helps" "$(mark)" none
is "... the statistics are those of the others" "$("$BENCHWRAP" show "$parent" --json 2>/dev/null | jq '[.metrics[] | select(.key == "rate_MB_per_s") | .samples | length] | first')" 3
done_testing
