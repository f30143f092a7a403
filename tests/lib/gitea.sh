# shellcheck shell=bash
# gitea.sh: a real Gitea on loopback, built from source with Go and kept in $CACHE. Sourced after forge.sh, whose functions it replaces.
GITEA_VERSION=v1.26.0

# gitea_program: prints the program; status 1 and a reason where it cannot be built.
gitea_program()
{
    gitea_dir=$CACHE/gitea-$GITEA_VERSION
    command -v go >/dev/null || { echo "go is not installed"; return 1; }
    mkdir -p "$gitea_dir" || return 1
    (
        flock 9
        [ ! -e "$gitea_dir/.complete" ] || exit 0
        cd "$gitea_dir" && chmod -R u+w . && rm -rf src
        export GOFLAGS=-modcacherw GOMODCACHE=$gitea_dir/mod GOCACHE=$gitea_dir/cache
        # Without the module's own pages for browsers: the interface for programs and git's protocol need none.
        timeout "${GITEA_BUILD_S:-3000}" bash -c 'cp -r "$(go mod download -json "code.gitea.io/gitea@$0" | jq -r .Dir)" src && chmod -R u+w src && cd src &&
            go build -tags "sqlite sqlite_unlock_notify" -o ../gitea .' "$GITEA_VERSION" >build.log 2>&1 && rm -rf mod cache && touch .complete
    ) 9>"$gitea_dir.lock"
    [ -e "$gitea_dir/.complete" ] || { echo "Gitea $GITEA_VERSION could not be built: $(tail -n 1 "$gitea_dir/build.log" 2>/dev/null)"; return 1; }
    echo "$gitea_dir/gitea"
}

gitea_call() # USER METHOD PATH [JSON]
{
    curl -sS -X "$2" -H "Authorization: token $(cat "$WORK/gitea/token-$1")" -H 'Content-Type: application/json' ${4:+--data-binary "$4"} "$FORGE/api/v1$3"
}

gitea_admin() { GITEA_WORK_DIR=$WORK/gitea GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT=true HOME=$WORK/gitea "$gitea_binary" "$@" -c "$WORK/gitea/app.ini" 2>>"$WORK/gitea/admin.log"; }

# gitea_start PROGRAM: users o and tux with tokens, an empty repository o/results: $HUB (its path), $FORGE, $forge_pid. git has the password of $FORGE_USER, or o's.
gitea_start()
{
    gitea_binary=$1
    mkdir -p "$WORK/gitea"
    gitea_port=$(free_port)
    FORGE=http://127.0.0.1:$gitea_port
    cat >"$WORK/gitea/app.ini" <<END
RUN_USER = $(id -un)
RUN_MODE = prod
WORK_PATH = $WORK/gitea
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = $gitea_port
ROOT_URL = $FORGE/
STATIC_ROOT_PATH = $(dirname "$gitea_binary")/src
OFFLINE_MODE = true
DISABLE_SSH = true
LFS_START_SERVER = false
[database]
DB_TYPE = sqlite3
PATH = $WORK/gitea/gitea.db
SQLITE_TIMEOUT = 60000
[repository]
ROOT = $WORK/gitea/repos
[security]
INSTALL_LOCK = true
SECRET_KEY = only-for-tests
[log]
LEVEL = Warn
[actions]
ENABLED = false
END
    git config --global init.defaultBranch main
    git config --global maintenance.auto false
    git config --global advice.detachedHead false
    gitea_admin migrate >/dev/null
    # Before the server starts, since each waits for the other's lock of the database.
    for user in o tux; do
        # A command that found the database busy has not done its work, and says so in its log alone.
        for try in $(seq 20); do
            gitea_admin admin user create --username $user --password pass-word-1 --email $user@example.org --must-change-password=false >/dev/null
            gitea_admin admin user generate-access-token --username $user --token-name "t$try" --scopes write:repository,write:user --raw | tail -n 1 >"$WORK/gitea/token-$user" # behind a warning about root
            grep -qE '^[0-9a-f]{40}$' "$WORK/gitea/token-$user" && break
            sleep 0.5
        done
        grep -qE '^[0-9a-f]{40}$' "$WORK/gitea/token-$user" || tap_stop "Gitea gives no token: $(tail -c 1000 "$WORK/gitea/token-$user" "$WORK/gitea/admin.log" | tr '\n' ' ')"
    done
    GITEA_WORK_DIR=$WORK/gitea GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT=true HOME=$WORK/gitea "$gitea_binary" web -c "$WORK/gitea/app.ini" >"$WORK/gitea/web.log" 2>&1 &
    forge_pid=$!
    wait_until 'curl -s "$FORGE/api/v1/version"' 120
    gitea_call o POST /user/repos '{"name": "results", "default_branch": "main"}' >/dev/null
    HUB=$WORK/gitea/repos/o/results.git
    printf '#!/bin/sh\n[ "$1" = get ] || exit 0\nuser=${FORGE_USER:-o}\necho "username=$user"\necho "password=$(cat "%s/gitea/token-$user")"\n' "$WORK" >"$WORK/gitea/helper"
    chmod +x "$WORK/gitea/helper"
    git config --global credential.helper "$WORK/gitea/helper"
}

# The functions of forge.sh, by Gitea's interface.
forge_do() # merge/NUMBER/METHOD
{
    IFS=/ read -r _ gitea_number gitea_method <<<"$1"
    for _ in $(seq 60); do # it looks for conflicts by and by
        gitea_said=$(gitea_call o POST "/repos/o/results/pulls/$gitea_number/merge" "{\"Do\": \"$gitea_method\"}")
        [ -n "$gitea_said" ] || return 0
        sleep 0.5
    done
    echo "$gitea_said" >&2
    return 1
}

forge_pulls() # EXPRESSION: over each request p, as the fake forge has it
{
    gitea_call o GET '/repos/o/results/pulls?state=all&limit=50' | python3 -c 'import json, sys
for q in json.load(sys.stdin):
    p = {"number": q["number"], "title": q["title"], "text": q["body"], "state": q["state"], "merged": q["merged"], "sha": q["head"]["sha"],
         "head": q["head"]["ref"], "base": q["base"]["ref"], "source": (q["head"]["repo"] or {"full_name": ""})["full_name"], "target": q["base"]["repo"]["full_name"]}
    v = eval(sys.argv[1])
    if v not in (None, False): print(v)' "$1"
}
