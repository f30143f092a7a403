#!/bin/bash
# sanitizer: no, because a description and another client are what is compared with
# What share sends to GitLab, held against GitLab's own OpenAPI description, and against python-gitlab doing the same: from an own project and from a fork.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/forge.sh"
. "$TESTLIB/venv.sh"
for need in git python3; do
    command -v $need >/dev/null 2>&1 || { skip "GitLab's own description" "$need is not installed"; done_testing; exit; }
done
finish()
{
    forge_stop
    tap_exit
}
trap finish EXIT
cd "$WORK" || exit
mkdir me && git init -q --bare me/results.git
forge_start gitlab --repo "me/results=$WORK/me/results.git"
export GITLAB_TOKEN=w
shared() { "$BENCHWRAP" share >"$WORK/out.txt" 2>&1 || tap_fail "a share" "$(cat "$WORK/out.txt")"; }
two_shares() # CLONE: what they ask goes to $WORK/CLONE.txt
{
    forge_do script '' >/dev/null
    forge_runs . 2
    shared
    forge_runs . 1
    shared
    forge_do log >"$WORK/$1.txt"
}
methods() { cut -d' ' -f1 "$1" | tr '\n' ' '; }

forge_clone own && cd own || exit
two_shares own
is "the requests of two shares" "$(methods ../own.txt)" "GET POST GET GET PUT "
is "GitLab's description allows each" "$(python3 "$ROOT/tests/forge/gitlab_requests.py" ../own.txt)" "good 5"
cd "$WORK" && forge_clone fork && cd fork || exit
git remote rename origin upstream 2>/dev/null
git remote add mine "$WORK/me/results.git" && git config remote.pushDefault mine
two_shares fork
is "... and from a fork" "$(methods ../fork.txt)" "GET GET GET POST GET GET GET GET PUT "
is "GitLab's description allows each" "$(python3 "$ROOT/tests/forge/gitlab_requests.py" ../fork.txt)" "good 9"
sed 's/"title":"[^"]*"/"title":7/; s/state=all/state=any/' ../own.txt >../wrong.txt
like "... and would not allow a wrong one" "$(python3 "$ROOT/tests/forge/gitlab_requests.py" ../wrong.txt)" '^bad 5$'

if long_tests; then
    if python=$(venv_python gitlab 280 python-gitlab); then
        shape='import json, sys, urllib.parse
for line in open(sys.argv[1]):
    method, path, body = (line.rstrip("\n").split(" ", 2) + [""])[:3]
    url = urllib.parse.urlsplit(path)
    print(method, url.path.rsplit("/", 1)[0] if method == "PUT" else url.path, sorted(urllib.parse.parse_qs(url.query)), sorted((k, type(v).__name__) for k, v in json.loads(body or "{}").items()))'
        reference() # FILE ARGUMENTS…
        {
            forge_do script '' >/dev/null
            number=$("$python" "$ROOT/tests/forge/reference_gitlab.py" "$FORGE" w "${@:2}" 2>"$WORK/client.err") || tap_fail "python-gitlab" "$(tail -n 3 "$WORK/client.err")"
            forge_do log >"$WORK/$1"
        }
        (cd "$WORK/first" && git checkout -q -b reference && echo x >x && git add x && git commit -qm x && git push -q "$HUB" reference && git push -q "$WORK/me/results.git" reference)
        reference theirs.txt reference
        is "python-gitlab asks the same of the same addresses" "$(sed -n '1p;2p;5p' ../own.txt >../ours3.txt; python3 -c "$shape" ../ours3.txt)" "$(python3 -c "$shape" ../theirs.txt)"
        is "... and its request is seen like ours" "$(forge_pulls "p['number'] == $number and p['title']")" "another title"
        reference theirs-fork.txt reference me/results
        is "... and from a fork" "$(sed -n '2p;3p;4p;9p' ../fork.txt >../ours4.txt; python3 -c "$shape" ../ours4.txt)" "$(python3 -c "$shape" ../theirs-fork.txt)"
    else
        skip "python-gitlab" "$python"
    fi
fi
done_testing
