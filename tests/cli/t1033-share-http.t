#!/bin/bash
# sanitizer: long, because each of its shares starts git several times
# Pushing over smart HTTP with TLS and authentication: git http-backend behind nginx, the forge's interface on the same host, credentials from git's helper.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/forge.sh"
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
for need in git nginx openssl fcgiwrap; do
    command -v $need >/dev/null || { skip "share over http" "$need is not installed"; done_testing; exit; }
done
backend=$(git --exec-path)/git-http-backend
[ -x "$backend" ] || { skip "share over http" "git http-backend is not installed"; done_testing; exit; }
cd "$WORK" || exit
OUT=$WORK/out.txt
share() { "$BENCHWRAP" share "$@" >"$OUT" 2>"$WORK/err.txt"; }
said() { cat "$OUT" "$WORK/err.txt"; }

forge_start gitea --token sesame-41=write --token look-42=read
children=$forge_pid
git -C "$HUB" config http.receivepack true
fcgiwrap -s "unix:$WORK/cgi.sock" 2>/dev/null &
children="$children $!"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2>/dev/null
printf 'writer:%s\nreader:%s\n' "$(openssl passwd -apr1 sesame-41)" "$(openssl passwd -apr1 look-42)" >users
port=$(free_port)
# shellcheck disable=SC2154 # nginx's own variables
{
    echo "daemon off; pid $WORK/nginx.pid; error_log $WORK/nginx.err; worker_processes 1; events { worker_connections 64; }"
    [ "$(id -u)" != 0 ] || echo "user root;"
    echo "http { access_log $WORK/nginx.log;"
    for d in client_body proxy fastcgi uwsgi scgi; do echo "${d}_temp_path $WORK/nginx-$d;"; done
    cat <<END
    map "\$remote_user:\$uri" \$writes { default 0; "~^reader:.*/git-receive-pack" 1; }
    server {
        listen 127.0.0.1:$port ssl; ssl_certificate $WORK/cert.pem; ssl_certificate_key $WORK/key.pem; client_max_body_size 0;
        location /api/ { proxy_pass $FORGE; }
        location / {
            auth_basic git; auth_basic_user_file $WORK/users;
            if (\$writes) { return 403; }
            fastcgi_pass unix:$WORK/cgi.sock; fastcgi_request_buffering off;
            fastcgi_param SCRIPT_FILENAME $backend; fastcgi_param GIT_PROJECT_ROOT $WORK; fastcgi_param GIT_HTTP_EXPORT_ALL 1; fastcgi_param REMOTE_USER \$remote_user;
            fastcgi_param PATH_INFO \$uri; fastcgi_param QUERY_STRING \$query_string; fastcgi_param REQUEST_METHOD \$request_method;
            fastcgi_param CONTENT_TYPE \$content_type; fastcgi_param CONTENT_LENGTH \$content_length; fastcgi_param HTTP_CONTENT_ENCODING \$http_content_encoding;
            fastcgi_param GIT_PROTOCOL \$http_git_protocol;
        }
    }
}
END
} >nginx.conf
nginx -p "$WORK" -e "$WORK/nginx.err" -c "$WORK/nginx.conf" >/dev/null 2>nginx.out &
children="$children $!"
wait_until 'curl -sk "https://127.0.0.1:$port/" >/dev/null'
export GIT_SSL_CAINFO=$WORK/cert.pem
web=https://127.0.0.1:$port

helper() { printf '#!/bin/sh\n[ "$1" = get ] && echo "username=%s" && echo "password=%s"\nexit 0\n' "$1" "$2" >"$WORK/helper"; chmod +x "$WORK/helper"; }
helper writer sesame-41
git config --global credential.helper "$WORK/helper"
git clone -q "$web/o/results.git" clone 2>clone.err || cat clone.err nginx.err
cd clone || { tap_fail "a clone over https"; done_testing; exit; }
printf '/mlruns/\n/.benchwrap/\n' >>.git/info/exclude
git config benchwrap.forge gitea
forge_runs . 3
share; like "pushed over https, opened with the helper's password" "$? $(said)" "pull request #1 opened: "
branch=$(git for-each-ref --format='%(refname:short)' refs/heads/benchwrap)
is "… and it is there" "$(git -C "$HUB" rev-parse "$branch")" "$(git rev-parse "$branch")"
forge_runs . 1
helper reader look-42
share; like "one who may only read" "$? $(said)" "not accepted by origin: you have no right to push there.*nothing is lost"
if long_tests; then
    helper writer wrong-43
    share; like "a password that is wrong" "$? $(said)" "^1 .*the remote origin does not answer.*Authentication failed"
    git config --global --unset credential.helper
    share --no-pull-request; like "no credentials at all" "$? $(said)" "the remote origin does not answer.*could not read Username"
    git config --global credential.helper "$WORK/helper"
    helper writer sesame-41
    trusted=$GIT_SSL_CAINFO
    unset GIT_SSL_CAINFO
    share --no-pull-request; like "a certificate that nobody trusts" "$? $(said)" "does not answer.*certificate"
    export GIT_SSL_CAINFO="$trusted"
    forge_runs . 500
    share; like "500 runs more" "$? $(said)" "pull request #1 is up to date"
    is "… are there" "$(git -C "$HUB" ls-tree -r -d --name-only "$branch" mlruns | grep -cE '/[0-9a-f]{32}$')" 504
fi
is "no secret in what was said, nor in the repository" "$(said | cat - "$WORK"/nginx.log | grep -cE 'sesame|look-42'; grep -rlE 'sesame|look-42' .git mlruns | wc -l)" "$(printf '0\n0')"
is "git likes what was received" "$(git -C "$HUB" fsck --strict --no-dangling 2>&1)" ""
done_testing
