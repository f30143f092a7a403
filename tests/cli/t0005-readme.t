#!/bin/bash
# The README, from the top: every shell block runs in its order in a fresh directory, every sample has the form of what its command prints, the job script runs in a
# Slurm, the lines of Python load the runs. Numbers, ids and times differ; lines of a table may be left out where "…" stands.
# sanitizer: no, because make would build again without it
# early, because it waits long
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/llmfake.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/slurm.sh"
README=$ROOT/README.md
HOME="$WORK/a home" # some have a blank in it
mkdir "$HOME" && cd "$WORK" || exit 1
command -v fio >/dev/null || { skip "the README from the top" "fio is not installed"; done_testing; exit; }
export PATH="$(dirname "$BENCHWRAP"):$PATH" COLUMNS=80 NO_COLOR=1
end() { slurm_stop; llm_end; }
trap end EXIT

is "at most 120 lines of 100 columns" "$(awk '{gsub(/…/, ".")} length > 100 || NR > 120' "$README")" ""
for file in $(grep -oE '\]\([^)#]+' "$README" | cut -c 3- | grep -v ://); do ok "linked: $file" test -e "$ROOT/$file"; done

python3 "$TESTLIB/doc.py" blocks "$README" .
like "there are samples" "$(ls ./*.sample | wc -l)" '^[3-9]$'
echo 'a 1085 MiB/s' >s1; echo 'a 7 MiB/s' >s2; echo 'b 7 MiB/s' >s3; printf 'a 1 MiB/s\nmore\n' >s4
is "the comparison tells forms apart" "$(for f in s2 s3 s4; do python3 "$TESTLIB/doc.py" form s1 $f >/dev/null 2>&1; echo $?; done | tr '\n' ' ')" "0 1 1 "

llm_start "$FAKE" --ttft 2ms --itl 200us
git init -q --bare -b main "$WORK/hub.git"
git config --global user.name A; git config --global user.email a@example.org
# The README's places, as they are here.
here() { sed -e "s,http://localhost:8000,$url,; s,git remote add origin URL,git remote add origin file://$WORK/hub.git,; s,alpha URL alpha,alpha file://$WORK/hub.git $WORK/alpha,; s,cd alpha,cd $WORK/alpha,; s,origin/BRANCH,\$(git branch -r | grep -o 'origin/benchwrap/.*')," "$1"; }
mkdir fresh && cd fresh || exit 1
top=$PWD
for file in $(cd .. && ls -d [0-9]* | sort); do
    case $file in
    *.command)
        bash -c "$(here "../$file")" >../out 2>&1 </dev/null
        is "runs: $(cat "../$file")" "$?" 0
        difference=$(python3 "$TESTLIB/doc.py" form "../${file%.command}.sample" ../out 2>&1)
        if [ $? = 0 ]; then tap_pass "prints what the README shows: $(cat "../$file")"; else tap_fail "prints what the README shows: $(cat "../$file")" "$difference"; fi ;;
    *.sample) ;;
    *.sh)
        case $(cat "../$file") in
        make*) (cd "$ROOT" && unset MAKELEVEL && HOME=$WORK && eval "$(sed "s,^make \&\& make,make -s O='$BUILD' \&\& make -s O='$BUILD'," "$WORK/$file")") >../out 2>&1
            ok "the steps of the installation" test $? = 0 -a -x "$WORK/.local/bin/benchwrap" ;;
        *) here "../$file" >../block.sh
            bash -ec ". ../block.sh" >../out 2>&1 </dev/null; status=$?
            if [ $status = 0 ]; then tap_pass "the block $file runs"; else tap_fail "the block $file runs" "status $status: $(cat ../out)"; fi
            like "... and the reviewer sees one run" "$(tail -n 1 ../out)" '^1 run' ;;
        esac
        cd "$top" || exit 1 ;;
    *.bash) cp "../$file" ../job.sh ;;
    *.python) cp "../$file" ../load.py ;;
    esac
done
llm_stop

# The job script: the same lines with fewer tasks, and an ior that prints what ior prints.
ior=$ROOT/benchmarks/catalogue/ior/samples
mkdir -p "$WORK/.local/bin" ../job && printf '#!/bin/sh\ncat "%s"\n' "$(ls -d "$ior"/*-human-default/stdout | head -n 1)" >"$WORK/.local/bin/ior" && chmod +x "$WORK/.local/bin/ior"
ln -sf "$BENCHWRAP" "$WORK/.local/bin/benchwrap"
if slurm_start 2; then
    cd ../job && sed 's/--ntasks-per-node=32/--ntasks-per-node=1/' ../job.sh >job.sh
    HOME=$WORK sbatch -W -Q -o job.out job.sh
    is "the job script: exit status, one run" "$? $(ls -d mlruns/*/*/meta.yaml | wc -l)" "0 1"
    is "the run knows what the script says" "$(cat mlruns/*/*/params/stripe) $(ls mlruns/*/*/metrics | grep -c '^write.bw.*s$')" "4 1"
    cd "$top" || exit 1
else
    skip_here "the job script" "$slurm_why"
fi

if python=$(venv_mlflow 3.17.2); then
    { cat ../load.py; echo 'print(len(runs), "metrics.run.wall_s" in runs)'; } >../loads.py
    like "the lines of Python load the runs" "$("$python" ../loads.py 2>../err | tail -n 1)$(grep Error ../err)" '^[1-9][0-9]* True$'
else
    skip_here "the lines of Python" "$python"
fi
# The columns of a load test that the howto prints are keys that llmload's rules record.
columns=$(sed -n '/^```python/,/^```/p' "$ROOT/docs/howto-server.md" | grep -o 'metrics\.ttft[^"]*' | sed 's/^metrics\.//')
like "howto-server reads a metric of a load test" "$columns" '^ttft\.'
for column in $columns; do
    like "... under the key it is recorded by" "$(cat "$ROOT/benchmarks/catalogue/llmload/samples/text-search/expect")" "^metric $column "
done
done_testing
