# shellcheck shell=sh
# jobs.sh: the jobs that `benchwrap init` writes, executed step by step as the forges do. Sourced after tap.sh.

# job_source: a source of benchwrap in $WORK/source whose build is quick, since it links the program under test. Sets $source, as BENCHWRAP_SOURCE has it.
job_source()
{
    git init -q "$WORK/source"
    mkdir "$WORK/source/scripts"
    printf '#!/bin/sh\nexit 0\n' >"$WORK/source/scripts/install-needs"
    chmod +x "$WORK/source/scripts/install-needs"
    printf 'all:\n\tmkdir -p build/bin\n\tln -s %s build/bin/benchwrap\n' "$BENCHWRAP" >"$WORK/source/Makefile"
    (cd "$WORK/source" && git add -A && git -c user.name=s -c user.email=s@example.org commit -qm source)
    commit=$(git -C "$WORK/source" rev-parse HEAD)
    source=$WORK/source#$commit
    image=debian@sha256:$(printf %064d 0)
}

# job_steps FILE [JOB]: writes $WORK/step-1, $WORK/step-2, …: the shell text of each step. JOB: of GitLab's file, which has several (default: benchwrap check).
job_steps()
{
    rm -f "$WORK"/step-*
    python3 - "$1" "$WORK/step-" "${2:-}" <<'END'
import re, sys
lines, n, i = open(sys.argv[1]).read().split("\n"), 0, 0
job = (sys.argv[3] or "benchwrap check") if sys.argv[1].endswith(".gitlab-ci.yml") else ""
mine = not job
while i < len(lines):
    if job and re.match(r"[^\s#].*:$", lines[i]):
        mine = lines[i] == job + ":"
    m = re.match(r"( *)(?:run:|-) \|$", lines[i]) if mine else None
    i += 1
    if not m:
        continue
    body = []
    while i < len(lines) and (not lines[i].strip() or len(lines[i]) - len(lines[i].lstrip()) > len(m[1])):
        body.append(lines[i]); i += 1
    depth = len(body[0]) - len(body[0].lstrip())
    n += 1
    open(sys.argv[2] + str(n), "w").write("\n".join(l[depth:] for l in body) + "\n")
END
}

# job_options SHELL FORGE: the options that the forge's runner starts the shell of a step with.
job_options()
{
    case $1-$2 in
    *-gitlab) ;;
    bash-forgejo | bash-gitea) echo "--noprofile --norc -e -o pipefail" ;;
    *) echo "-e" ;;
    esac
}

# job_script SHELL FORGE: both steps as one script; that of GitLab as its runner passes it to the shell.
job_script()
{
    case $2 in
    gitlab)
        [ "$1" != bash ] || printf 'set -o pipefail\nset +o noclobber\n'
        cat "$WORK/step-1" "$WORK/step-2" | python3 -c 'import shlex, sys; print("set -e\n: | eval " + shlex.quote(sys.stdin.read()) + "\nexit 0")'
        ;;
    *) cat "$WORK/step-1" "$WORK/step-2" ;;
    esac
}

# job SHELL FORGE BASE HEAD: the steps in $WORK/checkout, where HEAD is checked out. Sets $status; $WORK/shown is the summary, $WORK/step.log what was printed.
job()
{
    rm -rf "$WORK/temp" "$WORK/shown" "$WORK/step.log" "$WORK/summary"
    mkdir "$WORK/temp"
    status=0
    case $2 in
    gitlab) # one shell reads all items of the script
        job_script "$1" gitlab >"$WORK/temp/script"
        (cd "$WORK/checkout" && PATH=.:bin:$PATH BENCHWRAP_SOURCE="$source" CI_PROJECT_DIR=$PWD CI_MERGE_REQUEST_DIFF_BASE_SHA=$3 CI_COMMIT_SHA=$4 \
            CI_JOB_IMAGE="$image" TMPDIR=$WORK/temp "/bin/$1" "$WORK/temp/script") >"$WORK/step.log" 2>&1 || status=$?
        [ ! -f "$WORK/checkout/benchwrap-check/summary.md" ] || cp "$WORK/checkout/benchwrap-check/summary.md" "$WORK/shown"
        ;;
    *)
        for step in 1 2; do
            [ "$status" = 0 ] || break
            (cd "$WORK/checkout" && PATH=.:bin:$PATH BENCHWRAP_SOURCE="$source" GITHUB_WORKSPACE=$PWD RUNNER_TEMP=$WORK/temp RANGE=$3..$4 \
                GITHUB_STEP_SUMMARY=$WORK/summary "/bin/$1" $(job_options "$1" "$2") "$WORK/step-$step") >>"$WORK/step.log" 2>&1 || status=$?
        done
        [ ! -f "$WORK/summary" ] || cp "$WORK/summary" "$WORK/shown"
        ;;
    esac
    touch "$WORK/shown"
}

# job_file FORGE: the file of its job, below the repository.
job_file()
{
    case $1 in
    gitlab) echo .gitlab-ci.yml ;;
    gitea) echo .github/workflows/benchwrap.yml ;; # Gitea reads .gitea and .github
    *) echo ".$1/workflows/benchwrap.yml" ;;
    esac
}
