#!/bin/bash
# sanitizer: no, because a description and another client are what is compared with
# What share says to GitHub, held against GitHub's own OpenAPI description (served by Prism) and against PyGithub doing the same.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/forge.sh"
. "$TESTLIB/venv.sh"
long_tests || { skip_here "GitHub's own description and a reference client" "slow tier"; done_testing; exit; }
for need in git npm node python3; do
    command -v $need >/dev/null 2>&1 || { skip "GitHub's own description" "$need is not installed"; done_testing; exit; }
done
npm=$CACHE/npm-prism
mkdir -p "$npm"
(
    flock 9
    [ -e "$npm/.complete" ] || { npm install --no-audit --no-fund --prefix "$npm" @stoplight/prism-cli @octokit/openapi >"$npm.log" 2>&1 && touch "$npm/.complete"; }
) 9>"$npm.lock"
[ -e "$npm/.complete" ] || { skip "GitHub's own description" "npm could not install it: $(tail -n 1 "$npm.log")"; done_testing; exit; }
children=""
finish()
{
    # shellcheck disable=SC2086 # pids
    kill $children 2>/dev/null
    wait 2>/dev/null
    tap_exit
}
trap 'exit 130' INT TERM
trap finish EXIT
cd "$WORK" || exit
forge_start github
children=$forge_pid
forge_clone clone && cd clone || exit
export GITHUB_TOKEN=w
forge_runs . 2
"$BENCHWRAP" share >/dev/null || tap_fail "a share"
forge_runs . 1
"$BENCHWRAP" share >/dev/null || tap_fail "another share"
forge_do log >"$WORK/ours.txt"
is "the requests of two shares" "$(cut -d' ' -f1 "$WORK/ours.txt" | tr '\n' ' ')" "GET POST GET GET PATCH "

python3 "$ROOT/tests/forge/github_subset.py" "$npm/node_modules/@octokit/openapi/generated/api.github.com.deref.json" >"$WORK/pulls.json"
port=$(free_port)
"$npm/node_modules/.bin/prism" mock -p "$port" "$WORK/pulls.json" >"$WORK/prism.log" 2>&1 &
children="$children $!"
wait_until 'curl -s "http://127.0.0.1:$port/repos/o/r/pulls" >/dev/null'
replay() # FILE: each request once more, to GitHub's description
{
    while read -r method path body; do
        curl -s -o /dev/null -D "$WORK/answer" -w "%{http_code} " -X "$method" -H 'Authorization: Bearer w' -H 'Accept: application/json' -H 'X-GitHub-Api-Version: 2022-11-28' \
            -H 'Content-Type: application/json' ${body:+--data-binary "$body"} "http://127.0.0.1:$port${path#/api/v3}"
        grep -i '^sl-violations:.*"location":\["request"' "$WORK/answer" | head -c 300 # its own examples of answers break its rules, too
    done <"$1"
}
is "GitHub's description takes each of them" "$(replay "$WORK/ours.txt")" "200 201 200 200 200 "
sed 's/"title":"[^"]*"/"title":7/' "$WORK/ours.txt" >"$WORK/wrong.txt"
like "… and would not take a wrong one" "$(replay "$WORK/wrong.txt")" "422"

if python=$(venv_python pygithub 280 PyGithub); then
    git push -q origin HEAD:refs/heads/reference 2>/dev/null
    (cd "$WORK/first" && git checkout -q -b reference && echo x >x && git add x && git commit -qm x && git push -q "$HUB" reference)
    git -C "$HUB" update-ref refs/heads/reference "$(git -C "$WORK/first" rev-parse reference)"
    forge_do script '' >/dev/null
    number=$("$python" "$ROOT/tests/forge/reference_client.py" "$FORGE/api/v3" w reference 2>"$WORK/client.err") || tap_fail "PyGithub" "$(tail -n 3 "$WORK/client.err")"
    forge_do log >"$WORK/theirs.txt"
    shape='import json, sys, urllib.parse
for line in open(sys.argv[1]):
    method, path, body = (line.rstrip("\n").split(" ", 2) + [""])[:3]
    url = urllib.parse.urlsplit(path)
    print(method, url.path.rsplit("/", 1)[0] if method == "PATCH" else url.path, sorted(urllib.parse.parse_qs(url.query)), sorted((k, type(v).__name__) for k, v in json.loads(body or "{}").items()))'
    sed -n '1p;2p;5p' "$WORK/ours.txt" >"$WORK/ours3.txt"
    is "PyGithub asks the same of the same addresses" "$(python3 -c "$shape" "$WORK/ours3.txt" | sed "s/'per_page', //; s/, 'per_page'//")" "$(python3 -c "$shape" "$WORK/theirs.txt" | sed "s/'per_page', //; s/, 'per_page'//")"
    is "… and its request is seen like ours" "$(forge_pulls "p['number'] == $number and p['title']")" "another title"
else
    skip "PyGithub" "$python"
fi
done_testing
