#!/bin/bash
# sanitizer: no, because it is many short processes of git
# Sites that never meet, day by day: clone, record, pull, share and merge in every order and by every method; nothing conflicts, nothing is lost.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
command -v git >/dev/null 2>&1 || { skip "sites" "git is not installed"; done_testing; exit; }
cd "$WORK" || exit
unset GH_TOKEN GITHUB_TOKEN GITLAB_TOKEN GITEA_TOKEN FORGEJO_TOKEN GH_HOST GITHUB_SERVER_URL CI_SERVER_URL

days() # NAME DAYS SITES USERS SEED KIND
{
    mkdir "$WORK/$1"
    if python3 "$ROOT/tests/forge/simulate.py" "$WORK/$1" "$2" "$3" "$4" "$5" "$6" >"$WORK/$1.log" 2>&1; then
        tap_pass "$3 sites with $4 users each, $2 days, on $6: $(tail -n 1 "$WORK/$1.log" | cut -c3-)"
    else
        tap_fail "$3 sites with $4 users each, $2 days, on $6" "$(grep -v '^# day' "$WORK/$1.log" | head -n 30)"
    fi
}
days short 2 2 1 7 github
if long_tests; then
    days one 30 3 2 1 github
    days two 30 3 2 2 gitlab
    days three 30 3 2 3 forgejo
    if python=$(venv_mlflow 3.17.2); then
        mkdir scratch && cp -r one/site0-user0/mlruns scratch/
        out=$("$python" "$ROOT/tests/mlruns/check_tree.py" scratch 2>&1)
        is "MLflow opens what came of it" "$? $(printf '%s\n' "$out" | grep -c '^not ok') $(printf '%s\n' "$out" | grep -c '^ok' | sed 's/[1-9][0-9]*/some/')" "0 0 some"
    else
        skip "MLflow opens what came of it" "$python"
    fi
fi
done_testing
