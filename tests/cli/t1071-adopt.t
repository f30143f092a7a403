#!/bin/bash
# `benchwrap adopt`: runs that Python MLflow or another program wrote into a folder are shared as they are, without names in a public repository, and pass check.
# sanitizer: long, because each of its shares starts git several times
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
for need in git jq python3; do
    command -v $need >/dev/null 2>&1 || { skip "adopt" "$need is not installed"; done_testing; exit; }
done
cd "$WORK" || exit
export GIT_CONFIG_GLOBAL="$WORK/gitconfig" GIT_CONFIG_NOSYSTEM=1 NO_COLOR=1
printf '[user]\nname = Site\nemail = site@users.noreply.github.com\n[init]\ndefaultBranch = main\n[maintenance]\nauto = false\n' >gitconfig
bw() { "$BENCHWRAP" "$@" >"$WORK/out.txt" 2>"$WORK/err.txt"; }
said() { cat "$WORK/out.txt" "$WORK/err.txt"; }
errors() { "$BENCHWRAP" check --json "$@" | jq -r '.findings[] | select(.severity == "error" or (.finding | startswith("personal"))) | .finding + " " + .path + ": " + .text'; }

# An archive as its program left it: keys with blanks, equal times, infinite values, a deleted run, a run without an end, names of people, odd files.
cat >archive.py <<'END'
import os, sys
top = sys.argv[1]
exp = "183424918237412345"
def put(path, text):
    os.makedirs(os.path.dirname(f"{top}/{exp}/{path}"), exist_ok=True)
    with open(f"{top}/{exp}/{path}", "w", newline="", encoding="utf-8") as f:
        f.write(text)
put("meta.yaml", f"artifact_location: mlflow-artifacts:/{exp}\ncreation_time: 1700000000000\nexperiment_id: '{exp}'\nlast_update_time: 1700000000000\nlifecycle_stage: active\nname: parsl-perf\n")
for i, (status, life) in enumerate([(3, "active"), (4, "active"), (1, "active"), (3, "deleted"), (5, "active")]):
    run, start = f"{i + 1}" * 32, 1758000000000 + i * 100000
    end = "null" if status == 1 else start + 9000
    put(f"{run}/meta.yaml", f"artifact_uri: mlflow-artifacts:/{exp}/{run}/artifacts\nend_time: {end}\nentry_point_name: ''\nexperiment_id: '{exp}'\nlifecycle_stage: {life}\nrun_id: {run}\n"
        f"run_name: gifted-fox-{i}\nsource_name: ''\nsource_type: 4\nsource_version: ''\nstart_time: {start}\nstatus: {status}\ntags: []\nuser_id: alvidrez\n")
    put(f"{run}/params/Cores Per Worker", "4")
    put(f"{run}/params/max blocks", "1")
    put(f"{run}/tags/Parsl Provider", "LocalProvider" if i == 1 else "SlurmProvider")
    put(f"{run}/tags/site", "Big Site")
    put(f"{run}/tags/mlflow.user", "alvidrez")
    put(f"{run}/tags/mlflow.runName", f"gifted-fox-{i}")
    put(f"{run}/tags/mlflow.source.name", "/home/alvidrez/parsl/perf.py")
    put(f"{run}/tags/mlflow.source.type", "LOCAL")
    put(f"{run}/tags/contact", "alvidrez@cluster.example.edu at 10.1.2.3")
    put(f"{run}/tags/title", "\x1b[31mred\x1b[0m\nsecond line")
    put(f"{run}/tags/benchwrap.verdict", "pass")
    put(f"{run}/metrics/tasks per second", "".join(f"{start + 5} {100.123456 + k + i} {k}\n" for k in range(3)))
    put(f"{run}/metrics/runtime_s", f"{start + 7} {12.34567 + i} 0\n")
    put(f"{run}/metrics/worst", f"{start + 7} inf 0\n")
    put(f"{run}/metrics/none", f"{start + 7} nan 0\n")
    put(f"{run}/artifacts/log.txt", "alvidrez began\n")
    put(f"{run}/artifacts/manifest.json", "{}\n")
    put(f"{run}/artifacts/plots/a b:c.txt", "text\n")
    os.symlink("/etc/passwd", f"{top}/{exp}/{run}/artifacts/link")
END
python3 archive.py archive/mlruns
cp -R archive untouched

# ---- private ----
bw init --private --site alpha private && cd private || exit
bw adopt --dry-run ../archive; like "a dry run" "$? $(said)" '^4 would be adopted, 0 already there, 1 not ended, 0 recorded by benchwrap, 0 failed'
is "... writes nothing" "$(ls -d mlruns .benchwrap/spool 2>&1 | grep -vc 'No such')" 0
bw adopt ../archive; like "the runs are adopted" "$? $(said)" '^4 adopted, 0 already there, 1 not ended'
like "... but for one that has not ended" "$(said)" '33333333 +running .*--all'
bw adopt --all ../archive/mlruns; like "... and with --all that one, too" "$? $(said)" '^1 adopted, 4 already there, 0 not ended'
bw adopt --all ../archive; like "once more" "$? $(said)" '^0 0 adopted, 5 already there'
is "nothing of the archive is changed" "$(diff -r --no-dereference ../archive ../untouched)" ""
is "check accepts them" "$(errors)" ""
like "... and reports the values as claims" "$("$BENCHWRAP" check 2>&1)" 'note +claimed .*adopted run: no stored output shows them'
run=$(echo mlruns/*/11111111111111111111111111111111)
is "id, times, status and user are kept" "$(sed -n '/^run_id\|^start_time\|^end_time\|^status\|^user_id\|^run_name/p' "$run/meta.yaml" | tr '\n' ' ')" \
    'end_time: 1758000009000 run_id: "11111111111111111111111111111111" run_name: "gifted-fox-0" start_time: 1758000000000 status: 3 user_id: "alvidrez" '
is "tags and params with blanks are kept" "$(cat "$run/tags/Parsl Provider") $(cat "$run/params/Cores Per Worker")" "SlurmProvider 4"
is "every sample is kept, one millisecond apart" "$(cut -d' ' -f1,3 "$run/metrics/tasks per second" | tr '\n' ' ')" "1758000000005 0 1758000000006 1 1758000000007 2 "
is "infinity is missing" "$(jq -r '.missing[] | select(.key == "worst") | .reason' "$run/artifacts/benchwrap.json" | grep -c .)$(ls "$run/metrics/worst" 2>/dev/null)" 1
is "NaN is kept" "$(cut -d' ' -f2 "$run/metrics/none")" nan
is "the deleted run stays deleted" "$(grep -h lifecycle mlruns/*/*/meta.yaml | sort | uniq -c | tr -s ' \n' ' ') $("$BENCHWRAP" ls --json | jq length)" ' 4 lifecycle_stage: "active" 1 lifecycle_stage: "deleted"  4'
is "the run without an end is closed at its last sample" "$(sed -n '/^end_time\|^status/p' mlruns/*/33333333333333333333333333333333/meta.yaml | tr '\n' ' ')" "end_time: 1758000200007 status: 5 "
is "control characters are written as text" "$(cat "$run/tags/title")" '\x1b[31mred\x1b[0m\x0asecond line'
is "a site's name that is not legal has another key" "$(cat "$run/tags/site") $(cat "$run/tags/adopted.site")" "alpha Big Site"
is "a tag of benchwrap's own is not adopted" "$(ls "$run/tags/benchwrap.verdict" 2>&1 | grep -c 'No such') $(jq -r '.missing[].key' "$run/artifacts/benchwrap.json" | grep -c verdict)" "1 1"
is "artifacts are kept, links are not" "$(cd "$run/artifacts" && find . -type f | sort | tr '\n' ' ')" "./adopted/manifest.json ./benchwrap.json ./log.txt ./manifest.json ./plots/a b_c.txt "
cd "$WORK" || exit

# ---- public: shared, merged, read by a colleague ----
git init -q --bare hub.git && bw init --site alpha hub.git public && cd public && git push -q -u origin main || exit
bw adopt --all ../archive; is "public: adopted" "$?" 0
is "no name of the archive is in a file" "$(grep -rlE 'alvidrez|example.edu|10\.1\.2\.3' mlruns)" ""
bw share; like "share sends them all" "$? $(said)" '^0 .*'
like "... the deleted run, too" "$(said)" 'parsl-perf +5 '
branch=$(git for-each-ref --format='%(refname:short)' refs/heads/benchwrap)
is "check accepts the branch" "$(errors --range "origin/main..$branch" .)" ""
git push -q origin "$branch:main" && git pull -q 2>/dev/null
bw share; like "nothing is left" "$(said)" 'nothing to share'
git clone -q "$WORK/hub.git" ../colleague && cd ../colleague || exit
is "a colleague has the runs" "$("$BENCHWRAP" ls --json | jq -r '[.[].name] | sort | join(" ")')" "gifted-fox-0 gifted-fox-1 gifted-fox-2 gifted-fox-4"
like "... and compares them by the archive's tags" "$("$BENCHWRAP" compare --by 'Parsl Provider' 2>&1)" 'SlurmProvider'
cd "$WORK" || exit

# ---- forged ----
git clone -q hub.git forged && cd forged || exit
deleted=$(dirname mlruns/*/44444444444444444444444444444444/meta.yaml)
rm "$deleted/tags/benchwrap.adopted"
like "a deleted run that nobody adopted is refused" "$(errors .)" 'run-meta .*lifecycle_stage is not "active"'
git checkout -q . && sed -i 's/lifecycle_stage: "deleted"/lifecycle_stage: "active"/' "$deleted/meta.yaml"
like "... and so is a tag that says otherwise than meta.yaml" "$(errors .)" 'run-meta .*as the tag benchwrap.lifecycle says'
cd "$WORK" || exit

# ---- troubles ----
cd private || exit
bw adopt mlruns; like "its own tree" "$? $(said)" '^125 .*is the tree that its runs would be written into'
bw adopt ../absent; like "no such folder" "$? $(said)" '^1 .*cannot open ../absent: No such file'
bw adopt; like "no operand" "$? $(said)" '^125 .*expected one DIR'
mkdir -p ../own && (cd ../own && "$BENCHWRAP" -q -- true 2>/dev/null)
bw adopt ../own; like "runs that benchwrap recorded" "$? $(said | tr '\n' ' ')" "^0 .*benchwrap's .*benchwrap recorded it"
cp -R ../untouched ../damaged && echo 'status: [' >../damaged/mlruns/183424918237412345/11111111111111111111111111111111/meta.yaml
echo 'no sample' >../damaged/mlruns/183424918237412345/22222222222222222222222222222222/metrics/runtime_s
mkdir ../other && cd ../other || exit
bw adopt --artifact-max 8 ../damaged; like "a damaged run fails, the others are adopted" "$? $(said | tr '\n' ' ')" '^1 .*11111111 +failed .*3 adopted, 0 already there, 1 not ended, 0 recorded by benchwrap, 1 failed'
like "... with a warning where a part cannot be read" "$(jq -r '.warnings[].text' mlruns/*/22222222222222222222222222222222/artifacts/benchwrap.json)" 'metrics/runtime_s:1 is not a sample'
like "... and with what is larger than --artifact-max as missing" "$(jq -r '.missing[] | select(.key == "log.txt") | .reason' mlruns/*/22222222222222222222222222222222/artifacts/benchwrap.json)" 'larger than --artifact-max'
for i in $(seq 12); do
    { timeout -s KILL "0.0$i" "$BENCHWRAP" adopt --all -t killed/mlruns ../untouched; } >/dev/null 2>&1
done
bw adopt --all -t killed/mlruns ../untouched; is "killed at twelve moments, and repeated: all are there" "$? $("$BENCHWRAP" ls --all -t killed/mlruns --json | jq length) $(errors killed)" "0 4 "
cd "$WORK" || exit

if long_tests; then
    if python=$(venv_mlflow 3.17.2); then
        cat >real.py <<'END'
import os, sys
os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
import mlflow
mlflow.set_tracking_uri(sys.argv[1])
mlflow.set_experiment("parsl perf Slurm")
for i in range(3):
    with mlflow.start_run() as run:
        mlflow.log_params({"cores per worker": i, "max/blocks": 2})
        mlflow.set_tags({"Parsl Version": "2025.10", "note": "a\nb"})
        for step in range(5):
            mlflow.log_metric("tasks per second", 100.5 + step, step=step)
        mlflow.log_text("hello", "a/b.txt")
        with mlflow.start_run(nested=True):
            mlflow.log_metric("x", 1)
mlflow.delete_run(run.info.run_id)
END
        cat >same.py <<'END'
import os, sys
os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
import mlflow
from mlflow.entities import ViewType
mlflow.set_tracking_uri(sys.argv[1])
c = mlflow.MlflowClient()
for e in c.search_experiments():
    for r in sorted(c.search_runs([e.experiment_id], run_view_type=ViewType.ALL), key=lambda r: r.info.run_id):
        print(e.name, r.info.run_id, r.info.run_name, r.info.status, r.info.lifecycle_stage, r.info.start_time, r.info.end_time, {k: v for k, v in sorted(r.data.params.items()) if k != "run.program"},
              sorted((k, v) for k, v in r.data.tags.items() if not k.startswith(("benchwrap", "mlflow.user", "mlflow.source", "site"))),
              [(k, [(m.value, m.step) for m in c.get_metric_history(r.info.run_id, k)]) for k in sorted(r.data.metrics) if k != "run.duration_s"])
END
        mkdir real && "$python" real.py "$WORK/real/mlruns" >real.log 2>&1 || tap_fail "MLflow writes a tree" "$(tail -n 5 real.log)"
        bw init --site beta real-repo && cd real-repo || exit
        bw adopt ../real; like "a tree of Python MLflow" "$? $(said)" '^6 adopted'
        is "... is accepted by check" "$(errors)" ""
        is "... and MLflow reads the same from both" "$("$python" ../same.py "$WORK/real-repo/mlruns" 2>&1)" "$("$python" ../same.py "$WORK/real/mlruns" 2>&1)"
        like "... runs, that is" "$("$python" ../same.py "$WORK/real-repo/mlruns" 2>&1 | grep -c deleted)" '^1$'
    else
        skip "a tree of Python MLflow" "$python"
    fi
fi
done_testing
