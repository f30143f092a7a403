#!/bin/bash
# The path of the howtos, from `benchwrap init` to the merged runs at a colleague's, by each forge's interface: an own repository, a fork, and a path without a forge.
# Every command of the named sections of docs/howto-share.md and docs/howto-review.md runs as it is written there; real programs make the runs.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/forge.sh"
. "$TESTLIB/jobs.sh"
. "$TESTLIB/doc.sh"
. "$TESTLIB/llmfake.sh"
. "$TESTLIB/venv.sh"
for need in git sysbench stress-ng openssl fio python3 jq; do
    command -v $need >/dev/null || { skip "sharing from end to end" "$need is not installed"; done_testing; exit; }
done
# Each way in a process of its own, at the same time, as a subtest. SHARE_FORGES="github path": these alone, one after the other.
if [ -z "${SHARE_FORGES:-}" ]; then
    ways="github gitlab forgejo gitea path"
    trap 'kill $(jobs -p) 2>/dev/null; wait; tap_exit' EXIT
    for way in $ways; do
        SHARE_FORGES=$way BENCHWRAP_TEST_CACHE=$CACHE bash "$ROOT/tests/long/share-end-to-end.t" >"$WORK/$way.tap" 2>"$WORK/$way.said" &
        eval "$way=$!"
    done
    for way in $ways; do
        wait "${!way}"
        rc=$?
        sed 's/^/    /' "$WORK/$way.tap"
        cat "$WORK/$way.said" >&2
        is "sharing from end to end: $way" "$rc" 0
    done
    done_testing
    exit
fi
finish()
{
    forge_stop
    llm_end
}
trap finish EXIT
cd "$WORK" || exit 1
export PATH="$(dirname "$BENCHWRAP"):$PATH" COLUMNS=100 NO_COLOR=1 GIT_CONFIG_NOSYSTEM=1
OUT=$WORK/out.txt
share() { "$BENCHWRAP" share "$@" >"$OUT" 2>&1; }
said() { cat "$OUT"; }

# The pages' places, as they are here.
doc_here()
{
    doc_places "$1" https://git.example.org/hpc/results.git "$hub_url" https://git.example.org/tux/results.git "$fork_url" https://git.example.org "$FORGE" \
        /shared/hpc/results.git "$WORK/shared/results.git" "benchwrap.forge forgejo" "benchwrap.forge $kind" FORGEJO_TOKEN=0123456789abcdef "$variable=$token" \
        pull/17/head "$head_ref" pull/18/head "$head_ref" 5ab32dcc "${wrong_run:-}" tuxlab/d70b6d73 "$(git -C "$WORK/shared/results.git" for-each-ref --format='%(refname:lstrip=3)' refs/heads/benchwrap 2>/dev/null)"
}

# A pull request's own job, executed by bash: pull_job NUMBER.
pull_job()
{
    read -r source_path head base <<<"$(forge_pulls "p['number'] == $1 and ' '.join([p['source'], p['head'], p['base']])")"
    rm -rf "$WORK/checkout" && git clone -q "$HUB" "$WORK/checkout"
    git -C "$WORK/checkout" fetch -q "$(dirname "$(dirname "$HUB")")/$source_path.git" "$head"
    tip=$(git -C "$WORK/checkout" rev-parse FETCH_HEAD)
    git -C "$WORK/checkout" checkout -q --detach "$tip"
    job_steps "$WORK/checkout/$(job_file "$kind")"
    job bash "$kind" "$(git -C "$HUB" rev-parse "$base")" "$tip"
    is "$kind: request $1: the forge's job passes" "$status" 0
    [ "$status" = 0 ] || sed 's/^/# /' "$WORK/step.log" "$WORK/shown" >&2
}

# Runs of every kind by real programs.
record_all()
{
    b() { "$BENCHWRAP" -q "$@" >>"$WORK/log" 2>&1; }
    b -- sysbench cpu --time=1 --threads=2 run
    b -- sysbench memory --time=1 --memory-total-size=1G run
    b -- stress-ng --cpu 1 --timeout 1 --metrics-brief
    b -- openssl speed -seconds 1 -bytes 1024 sha256
    b -- fio --name=text --rw=write --bs=1m --size=16m
    b -- fio --name=json --rw=randread --bs=4k --size=4m --output-format=json
    b -- taskrate local -n 20
    b -- llmload "$url" -c 2 -n 10 --max-tokens 8
    b --repeat 3 --warmup 1 -- fio --name=rep --rw=read --bs=1m --size=4m
    b -e bs --sweep b=4k,64k --repeat 2 -- fio --name=sweep --rw=write --bs={b} --size=4m --output-format=json
    b -- sh -c 'echo no disk >&2; exit 3'
    b --timeout 300ms -- sleep 20
    "$BENCHWRAP" import -q "$ROOT/benchmarks/catalogue/hpcc/samples/$(ls "$ROOT/benchmarks/catalogue/hpcc/samples" | head -n 1)/stdout" >>"$WORK/log" 2>&1 ||
        "$BENCHWRAP" import "$ROOT/benchmarks/catalogue/hpcc/samples/$(ls "$ROOT/benchmarks/catalogue/hpcc/samples" | head -n 1)/stdout" >>"$WORK/log" 2>&1
    b -e wrong -- sh -c 'echo rate: 5 MB/s'
    share # before it, the retracted run would stay here
    "$BENCHWRAP" retract --why "the disk was half full" last >>"$WORK/log" 2>&1
    # Rules that changed: the run read again amends the first.
    sed 's/COLUMN/first/' "$WORK/rules.yaml" >"$WORK/one.yaml"
    sed 's/COLUMN/second/; s/"1"/"2"/' "$WORK/rules.yaml" >"$WORK/two.yaml"
    b -e amended --rules "$WORK/one.yaml" -- sh -c 'echo result 10 20'
    "$BENCHWRAP" reparse --rules "$WORK/two.yaml" last >>"$WORK/log" 2>&1
    rm -f text* json* rep* sweep*
}
cat >rules.yaml <<'END'
name: prog
version: "1"
readers:
  - name: line
    regex: '^result (?<first>\S+) (?<second>\S+)'
    metrics:
      - {name: speed, cell: COLUMN, unit: MB_per_s, from: MB/s, better: higher, headline: max}
checks:
  - {expect: "samples(speed) > 0", reason: "no speed was printed"}
END

# whole KIND VARIABLE: everything by this forge's interface.
whole()
{
    unset GITHUB_TOKEN GITLAB_TOKEN FORGEJO_TOKEN GITEA_TOKEN # of the forge before: FORGEJO_TOKEN is taken for a Gitea, too
    kind=$1 variable=$2 token=w head_ref=
    rm -rf "${WORK:?}"/{o,tux,first,results,reviewer,fork,third,gamma} "$WORK/log"
    if [ -n "${3:-}" ]; then
        gitea_start "$3"
        FORK=$WORK/gitea/repos/tux/results.git hub_url=$FORGE/o/results.git fork_url=$FORGE/tux/results.git token=$(cat "$WORK/gitea/token-o")
    else
        mkdir -p "$WORK/tux"
        FORK=$WORK/tux/results.git
        forge_start_empty "$kind" --repo "tux/results=$FORK"
        hub_url=file://$HUB fork_url=file://$FORK
        # Nobody of tux may push to the target.
        printf '#!/bin/sh\n[ "${FORGE_USER:-}" != tux ] || { echo "error: GH006: not allowed to push" >&2; exit 1; }\n' >"$HUB/hooks/pre-receive"
        chmod +x "$HUB/hooks/pre-receive"
    fi

    cd "$WORK" || exit 1
    mkdir maintainer && cd maintainer || exit 1
    doc_follow howto-share.md "Start a repository" "$kind: "
    cd "$WORK" && mkdir site && cd site || exit 1
    doc_follow howto-share.md "Share runs" "$kind: "
    record_all
    share; is "$kind: runs of every kind are shared" "$? $(said | grep -c 'left out')" "0 0"
    [ -s "$OUT" ] && grep -q 'left out' "$OUT" && said >&2
    like "… into the open request" "$(said)" "pull request #1 is up to date"
    is "… the text has values, machines and what check found" "$(forge_pulls '[w in p["text"] for w in ("### Values", "### Machines", "### benchwrap check: good", "write.bw")]')" "[True, True, True, True]"
    pull_job 1
    like "… and shows the values, too" "$(cat "$WORK/shown")" "### Values"
    forge_do merge/1/merge >/dev/null
    cd "$WORK/site/results" || exit 1
    share; like "$kind: merged by a merge commit: nothing is left" "$(said)" "nothing to share"
    method_round squash 2
    method_round rebase 3
    retraction_round 4

    # A fork, by someone who cannot push to the target.
    export FORGE_USER=tux
    if [ -n "${3:-}" ]; then
        gitea_call tux POST /repos/o/results/forks '{}' >/dev/null
        wait_until 'git ls-remote "$fork_url" main 2>/dev/null | grep -q .'
        token=$(cat "$WORK/gitea/token-tux")
    else
        git clone -q --bare "$HUB" "$FORK"
    fi
    cd "$WORK" && mkdir fork && cd fork || exit 1
    doc_follow howto-share.md "Share from a fork" "$kind: "
    like "$kind: the request comes from the fork" "$(forge_pulls '(p["source"], p["target"], p["state"])')" "tux/results.*o/results.*open"
    unset FORGE_USER
    [ -z "${3:-}" ] || token=$(cat "$WORK/gitea/token-o")
    export "$variable=$token"
    fetch=$(forge_pulls "p['number'] == 5 and p['text']" | sed -n 's/^    git fetch //p')
    like "... and its text says how to check it" "$(cd "$WORK/reviewer" && git fetch -q && git fetch -q ${fetch/#*$FORGE\/tux\/results.git/$fork_url} && "$BENCHWRAP" check --range origin/main..FETCH_HEAD)" '^1 run checked'
    # Another site's request is open at the same time.
    cd "$WORK/site/results" && "$BENCHWRAP" -q -- fio --name=two --rw=write --bs=1m --size=8m >/dev/null 2>&1
    share; like "$kind: two sites have open requests" "$(said)" "pull request #6 opened"
    pull_job 5
    pull_job 6
    forge_do merge/6/rebase >/dev/null
    pull_job 5
    forge_do merge/5/squash >/dev/null
    is "… both are merged" "$(forge_pulls 'p["state"] == "open"')" ""
    cd "$WORK/fork/results" && [ -z "${3:-}" ] || export "$variable=$(cat "$WORK/gitea/token-tux")"
    export FORGE_USER=tux; share; unset FORGE_USER; like "$kind: the fork has nothing left" "$(said)" "nothing to share"

    # A third user.
    cd "$WORK" && git clone -q "$hub_url" third && cd third || exit 1
    "$BENCHWRAP" ls --all --json >runs.json
    is "$kind: a third user lists every run" "$(jq length runs.json)" "$(hub_runs)"
    is "… of both sites" "$(awk 1 mlruns/*/*/tags/site | sort -u | tr '\n' ' ')" "tux tuxlab "
    is "… the retracted run is left out, the amended one is replaced" "$("$BENCHWRAP" ls --json | jq -r '[.[] | .experiment] | map(select(. == "wrong" or . == "amended")) | unique | join(" ")')" amended
    like "… and compares" "$("$BENCHWRAP" compare --by block_size_B -e bs 2>&1)" 'write.bw'
    is "… whose records name no machine and no user" "$(jq -r '.run.host' mlruns/*/*/artifacts/benchwrap.json | sort -u | tr '\n' ' ')$(sed -n 's/^user_id: //p' mlruns/*/*/meta.yaml | sort -u | tr '\n' ' ')" ' "" "tux" "tuxlab" '
    is "git likes all repositories" "$(for r in "$HUB" "$FORK" "$WORK/site/results" "$WORK/fork/results"; do git -C "$r" fsck --strict --no-dangling 2>&1 | grep -v ^notice; done)" ""
    if python=$(venv_mlflow 3.17.2); then
        pandas_howto "$python" >loaded 2>&1
        like "… and opens them in MLflow" "$("$python" - 2>&1 <<'END'
import os
os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
import mlflow
mlflow.set_tracking_uri("mlruns")
print("runs", len(mlflow.search_runs(search_all_experiments=True)))
END
)" "^runs $(hub_runs)$"
    else
        skip "… and opens them in MLflow" "$python"
    fi
    forge_stop
    cd "$WORK" && rm -rf maintainer site fork third reviewer
}

# method_round METHOD NUMBER: one run more, shared, checked and merged.
method_round()
{
    "$BENCHWRAP" -q -- fio --name=again --rw=write --bs=1m --size=16m >/dev/null 2>&1
    rm -f again*
    share; like "$kind: the next request, for $1" "$(said)" "pull request #$2 opened"
    like "… compares with the published runs" "$(forge_pulls "p['number'] == $2 and p['text']")" 'earlier runs'
    pull_job "$2"
    [ "$1" != squash ] || reviewer "$2"
    forge_do "merge/$2/$1" >/dev/null
    share; like "… merged by $1: nothing is left" "$(said)" "nothing to share"
    git pull -q >/dev/null 2>&1; is "… after a pull git status is empty" "$? $(git status --porcelain)" "0 "
}

# reviewer NUMBER [SECTION]: the commands of the page, in a clone of the reviewer's.
reviewer()
{
    case $kind in gitlab) head_ref=merge-requests/$1/head ;; *) head_ref=pull/$1/head ;; esac
    [ -d "$WORK/reviewer" ] || git clone -q "$hub_url" "$WORK/reviewer"
    cd "$WORK/reviewer" || exit 1
    doc_follow howto-review.md "${2:-Review a pull request}" "$kind: "
    cd "$WORK/site/results" || exit 1
}

# retraction_round NUMBER: a published run is retracted, and the request that says so is reviewed and merged.
retraction_round()
{
    wrong_run=$("$BENCHWRAP" ls -e fio --json | jq -r '.[0].short')
    doc_follow howto-share.md "Retract and correct" "$kind: "
    pull_job "$1"
    reviewer "$1" "Review a retraction"
    forge_do "merge/$1/merge" >/dev/null
    git pull -q
    is "$kind: the retracted run is gone from ls, and its files stay" "$("$BENCHWRAP" ls --json | jq "[.[] | select(.short == \"$wrong_run\")] | length") $(git ls-files "mlruns/*/$wrong_run*/meta.yaml" | wc -l)" "0 1"
}

job_source
llm_start "$FAKE" --ttft 2ms --itl 200us
for forge in $SHARE_FORGES; do
    case $forge in
    github) whole github GITHUB_TOKEN ;;
    gitlab) whole gitlab GITLAB_TOKEN ;;
    forgejo) whole forgejo FORGEJO_TOKEN ;;
    gitea) # the real one; last, since it replaces functions of the fake
        if program=$(. "$TESTLIB/gitea.sh" && gitea_program); then
            . "$TESTLIB/gitea.sh"
            whole gitea GITEA_TOKEN "$program"
        else
            skip_here "a real Gitea" "$program"
        fi ;;
    path) # a shared file system, without a forge
        kind=path variable=NONE head_ref= hub_url= fork_url= token=
        mkdir "$WORK/shared" && mkdir "$WORK/alone" && cd "$WORK/alone" || exit 1
        doc_follow howto-share.md "Share by a path" "$kind: " ;;
    esac
done
done_testing
