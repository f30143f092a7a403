# shellcheck shell=sh
# forge.sh: a results repository behind the tests' own forge (tests/forge/forge.py). Sourced after tap.sh.

# forge_start KIND [ARGUMENTS…]: a bare repository o/results (branch main) and a forge over it: $HUB, $FORGE (address), $forge_pid. Tokens: w may write, r may read.
forge_start()
{
    git config --global user.name "Test Er"
    git config --global user.email tester@example.org
    forge_start_empty "$@"
    git init -q "$WORK/first"
    (cd "$WORK/first" && printf 'profile: private\n' >benchwrap.yaml && git add -A && git commit -qm begin && git push -q "$HUB" HEAD:main)
}

# forge_start_empty KIND [ARGUMENTS…]: the same with an empty repository, and no identity for git.
forge_start_empty()
{
    forge_kind=$1
    shift
    HUB=$WORK/o/results.git
    git config --global init.defaultBranch main
    git config --global maintenance.auto false # nothing of git's may still run when the place is removed
    git config --global advice.detachedHead false
    mkdir -p "$WORK/o"
    git init -q --bare "$HUB"
    rm -f "$WORK/port"
    python3 "$ROOT/tests/forge/forge.py" --repo "o/results=$HUB" --token w=write --token r=read --token n=none --port-file "$WORK/port" "$@" >/dev/null 2>"$WORK/forge.err" &
    forge_pid=$!
    wait_until '[ -e "$WORK/port" ]'
    FORGE=http://127.0.0.1:$(cat "$WORK/port")
    unset GH_TOKEN GITHUB_TOKEN GITLAB_TOKEN GITEA_TOKEN FORGEJO_TOKEN GH_HOST GITHUB_SERVER_URL CI_SERVER_URL
}

forge_stop()
{
    kill "$forge_pid" 2>/dev/null
    wait "$forge_pid" 2>/dev/null
}

# forge_clone DIR: a clone of the hub that knows its forge.
forge_clone()
{
    git clone -q "$HUB" "$1" && printf '/mlruns/\n/.benchwrap/\n' >>"$1/.git/info/exclude" && git -C "$1" config benchwrap.forge "$forge_kind" && git -C "$1" config benchwrap.site alpha &&
        git -C "$1" config benchwrap.forgeUrl "$FORGE"
}

# forge_runs DIR COUNT: as many new small runs in its tree.
forge_runs()
{
    "$BUILD/tests/lib/write-tree" "$1" bulk "$2" && rm -rf "$1/spool"
}

forge_do() # PATH [DATA]: drives the forge: merge/1/squash, close/1, log …
{
    curl -sS -X POST --data-binary "${2:-}" "$FORGE/_/$1"
}

forge_pulls() # EXPRESSION: over each request p, one line each that is true
{
    forge_do pulls | python3 -c 'import json, sys
for p in json.load(sys.stdin):
    v = eval(sys.argv[1])
    if v not in (None, False): print(v)' "$1"
}

hub_runs() # how many runs the target has
{
    git -C "$HUB" ls-tree -r -d --name-only main mlruns | grep -cE '/[0-9a-f]{32}$'
}
