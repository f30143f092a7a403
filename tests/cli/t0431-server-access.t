#!/bin/bash
# The ways to a server: TLS, HTTP/2, path prefix and limits of a real reverse proxy (nginx), client certificates, tokens, forward proxies,
# workspaces, names that are not known; and the real server's own passwords. No secret is ever said or written.
# sanitizer: long, because a real server is what is waited for; the client's unit tests walk the same code
# early, because it waits long
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
MLFLOW=3.17.2
PATH=$PATH:/usr/sbin
children=

finish()
{
    for pid in $children; do kill -- "-$pid" 2>/dev/null || kill "$pid" 2>/dev/null; done
    wait 2>/dev/null
    tap_exit
}
trap 'exit 130' INT TERM
trap finish EXIT
for need in nginx openssl; do
    command -v $need >/dev/null || { skip "ways to a server" "$need is not installed"; done_testing; exit; }
done
fault=$BUILD/tests/server/fault-server
[ -x "$fault" ] || { skip "ways to a server" "libmicrohttpd is not installed"; done_testing; exit; }
cd "$WORK" || exit

# ---- the server, and nginx before it ----

"$fault" >fault.port &
children="$children $!"
wait_until '[ -s fault.port ]'
F=$(sed 's/port //' fault.port)
direct=http://127.0.0.1:$F

new_key() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$1" 2>/dev/null; }
sign() { # NAME SAN UNTIL…: -days N, or the end itself where OpenSSL (3.4) takes no days that are past
    echo "subjectAltName=$2" >ext
    openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial "${@:3}" -extfile ext -out "$1.pem" 2>/dev/null
}
{
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 2 -subj "/CN=our own CA"
    for c in good expired other client; do new_key $c; done
    sign good DNS:localhost,IP:127.0.0.1 -days 2
    sign expired DNS:localhost,IP:127.0.0.1 -days -1 || sign expired DNS:localhost,IP:127.0.0.1 -not_before 20250101000000Z -not_after 20250102000000Z
    sign other DNS:tracking.example.org -days 2
    sign client DNS:client -days 2
    cat client.key client.pem >client-both.pem
    mkdir cas && cp ca.pem cas/ && openssl rehash cas
} >/dev/null 2>&1
for port in TLS CLIENT EXPIRED OTHER SMALL TOKEN STOPPED; do declare $port="$(free_port)"; done
# shellcheck disable=SC2154 # nginx's own variables
tls() { echo "server { listen 127.0.0.1:$1 ssl http2; ssl_certificate $WORK/$2.pem; ssl_certificate_key $WORK/$2.key; $3 location / { proxy_pass $direct; } location /lab/mlflow/ { proxy_pass $direct/; } }"; }
{
    echo "daemon off; pid $WORK/nginx.pid; error_log $WORK/nginx.err; worker_processes 1; events { worker_connections 64; }"
    [ "$(id -u)" != 0 ] || echo "user root;"
    echo 'http { log_format f "$server_port $server_protocol $request_method $uri $status"; access_log '"$WORK/nginx.log f;"
    for d in client_body proxy fastcgi uwsgi scgi; do echo "${d}_temp_path $WORK/nginx-$d;"; done
    tls "$TLS" good ""
    tls "$CLIENT" good "ssl_client_certificate $WORK/ca.pem; ssl_verify_client on;"
    tls "$EXPIRED" expired ""
    tls "$OTHER" other ""
    echo "server { listen 127.0.0.1:$SMALL; client_max_body_size 3k; location / { proxy_pass $direct; } }"
    echo "server { listen 127.0.0.1:$TOKEN; location / { if (\$http_authorization != 'Bearer sesame-41') { return 401; } proxy_pass $direct; } }"
    echo "}"
} >nginx.conf
nginx -p "$WORK" -e "$WORK/nginx.err" -c "$WORK/nginx.conf" >/dev/null 2>nginx.out &
children="$children $!"
wait_until 'curl -s "http://127.0.0.1:$SMALL/health" >/dev/null'
is "nginx stands before the server" "$(curl -s "http://127.0.0.1:$SMALL/health")" OK

# ---- a tree, sent again and again ----

"$BUILD/tests/lib/write-tree" tree many 1 >/dev/null || exit
secrets='sesame-41|hunter-2|open:wide'
said=$WORK/said
send() # URL [NAME=VALUE…]: sets $out and $rc
{
    send_url=$1
    shift
    rm -rf tree/.benchwrap
    out=$(env MLFLOW_HTTP_REQUEST_MAX_RETRIES=0 "$@" "$BENCHWRAP" sync --to "$send_url" --tree tree/mlruns 2>&1)
    rc=$?
    echo "$out" >>"$said"
    find tree -type f -newer nginx.conf -exec cat {} + >>"$said" 2>/dev/null
}
works() # NAME URL [NAME=VALUE…]
{
    works_name=$1
    shift
    send "$@"
    is "$works_name" "$rc" 0
    [ $rc = 0 ] || echo "# $out" | head -n 5
}
fails() # NAME PATTERN URL [NAME=VALUE…]
{
    fails_name=$1 fails_pattern=$2
    shift 2
    send "$@"
    is "$fails_name: status" "$rc" 2
    like "$fails_name: words" "$out" "$fails_pattern"
}
works "the server itself" "$direct"
ca=MLFLOW_TRACKING_SERVER_CERT_PATH=$WORK/ca.pem
works "TLS with a CA of our own" "https://localhost:$TLS" "$ca"
like "HTTP/2 where it is offered" "$(cat nginx.log)" "^$TLS HTTP/2.0 POST /api/2.0/mlflow/runs/search 200"
works "by address" "https://127.0.0.1:$TLS" "$ca"
works "a folder of certificates" "https://localhost:$TLS" MLFLOW_TRACKING_SERVER_CERT_PATH="$WORK/cas"
works "as Python's HTTP library is told" "https://localhost:$TLS" REQUESTS_CA_BUNDLE="$WORK/ca.pem"
works "a path prefix" "https://localhost:$TLS/lab/mlflow/" "$ca"
like "which is used" "$(cat nginx.log)" "POST /lab/mlflow/api/2.0/mlflow/runs/search 200"
fails "an unknown CA" "certificate.*MLFLOW_TRACKING_SERVER_CERT_PATH" "https://localhost:$TLS"
works "MLFLOW_TRACKING_INSECURE_TLS" "https://localhost:$TLS" MLFLOW_TRACKING_INSECURE_TLS=true
send "https://localhost:$TLS" MLFLOW_TRACKING_INSECURE_TLS=true "$ca"
is "both at once is refused" "$rc" 1
like "with the names of both" "$out" "INSECURE_TLS and MLFLOW_TRACKING_SERVER_CERT_PATH exclude each other"
fails "a CA file that is not there" "none.pem|CAfile|certificate" "https://localhost:$TLS" MLFLOW_TRACKING_SERVER_CERT_PATH="$WORK/none.pem"
fails "an expired certificate" "expired" "https://localhost:$EXPIRED" "$ca"
fails "a certificate of another name" "localhost" "https://localhost:$OTHER" "$ca"
works "a client certificate" "https://localhost:$CLIENT" "$ca" MLFLOW_TRACKING_CLIENT_CERT_PATH="$WORK/client-both.pem"
fails "no client certificate" "No required SSL certificate was sent" "https://localhost:$CLIENT" "$ca"
fails "a client certificate without its key" "MLFLOW_TRACKING_CLIENT_CERT_PATH" "https://localhost:$CLIENT" "$ca" MLFLOW_TRACKING_CLIENT_CERT_PATH="$WORK/client.pem"
fails "https to a server without TLS" "SSL|TLS" "https://127.0.0.1:$SMALL" "$ca"
fails "http to a server with TLS" "plain HTTP request was sent to HTTPS port" "http://127.0.0.1:$TLS"

# ---- limits of a proxy ----

"$BUILD/tests/lib/write-tree" series-tree series >/dev/null
mv tree kept-tree && mv series-tree tree
send "http://127.0.0.1:$SMALL"
like "a proxy takes no large body: batches are sent in small ones" "$(grep "^$SMALL" nginx.log)" "^$SMALL HTTP/1.1 POST /api/2.0/mlflow/runs/log-batch 413"
like "which it takes" "$(grep "^$SMALL" nginx.log)" "^$SMALL HTTP/1.1 POST /api/2.0/mlflow/runs/log-batch 200"
like "a file that it does not take is told" "$out" "413 the reply is a web page \\(\"413 Request Entity Too Large\"\\); .*client_max_body_size"
rm -rf tree && mv kept-tree tree

# ---- who is it? ----

works "a token" "http://127.0.0.1:$TOKEN" MLFLOW_TRACKING_TOKEN=sesame-41
fails "no token" "401 .*set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN" "http://127.0.0.1:$TOKEN"
fails "a wrong token" "401 .*are not accepted" "http://127.0.0.1:$TOKEN" MLFLOW_TRACKING_TOKEN=sesame-41-not
works "a token beside half a pair" "http://127.0.0.1:$TOKEN" MLFLOW_TRACKING_TOKEN=sesame-41 MLFLOW_TRACKING_USERNAME=jo
headers() { curl -s "$direct/fault/log" | tail -n 1; }
forget() { curl -s -d '' "$direct/fault/script"; }
works "a workspace" "$direct" MLFLOW_WORKSPACE=team-a
like "is sent" "$(headers)" "workspace=team-a"
works "none" "$direct"
like "is not" "$(headers)" "workspace=- "
works "credentials in the address" "http://jo:open%3Awide@127.0.0.1:$F"
like "are sent" "$(headers)" "auth=Basic $(printf jo:open:wide | base64) "
mkdir -p "$HOME/.mlflow" && printf '[other]\nmlflow_tracking_username = no\n[mlflow]\n# of the lab\nmlflow_tracking_username = jo\nMLFLOW_TRACKING_PASSWORD: hunter-2%%%%\n' >"$HOME/.mlflow/credentials"
works "a credentials file" "$direct"
like "is read as Python reads it" "$(headers)" "auth=Basic $(printf 'jo:hunter-2%%' | base64) "
works "the environment wins over it" "$direct" MLFLOW_TRACKING_USERNAME=al MLFLOW_TRACKING_PASSWORD=hunter-2
like "as with MLflow's client" "$(headers)" "auth=Basic $(printf al:hunter-2 | base64) "
rm -rf "$HOME/.mlflow"

# ---- proxies of the site ----

python3 "$TESTLIB/connect-proxy.py" "$WORK/proxy.log" >proxy.port &
children="$children $!"
python3 "$TESTLIB/connect-proxy.py" "$WORK/proxy-2.log" jo:hunter-2 >proxy-2.port &
children="$children $!"
wait_until '[ -s proxy.port ] && [ -s proxy-2.port ]'
P=http://127.0.0.1:$(cat proxy.port) P2=127.0.0.1:$(cat proxy-2.port)
: >proxy.log
works "http_proxy" "$direct" http_proxy="$P"
like "is used" "$(cat proxy.log)" "POST $direct/api/2.0/mlflow/runs/search"
: >proxy.log
works "HTTP_PROXY too, as by Python" "$direct" HTTP_PROXY="$P"
like "is used" "$(cat proxy.log)" "POST $direct/api/2.0/mlflow/runs/search"
: >proxy.log
works "no_proxy" "$direct" http_proxy="$P" no_proxy=127.0.0.1
works "NO_PROXY" "$direct" HTTP_PROXY="$P" NO_PROXY=127.0.0.1,localhost
is "is heeded" "$(cat proxy.log)" ""
works "https_proxy" "https://localhost:$TLS" "$ca" https_proxy="$P"
like "makes a tunnel" "$(cat proxy.log)" "^CONNECT localhost:$TLS"
fails "a proxy that wants credentials" "407" "$direct" http_proxy="http://$P2"
works "and gets them" "$direct" http_proxy="http://jo:hunter-2@$P2"
fails "a proxy that is not there" "127.0.0.1" "$direct" http_proxy=http://127.0.0.1:$STOPPED
fails "a name that nobody knows" "no-such-host.invalid.*(resolve|Resolve)" http://no-such-host.invalid:5000

# ---- the real server's own passwords ----

python=$(venv_mlflow "$MLFLOW") && {
    "$python" -c 'import flask_wtf' 2>/dev/null || (flock 9; venv_pip 280 "$python" install -q Flask-WTF) >pip.log 2>&1 9>"$CACHE/flask-wtf.lock"
    "$python" -c 'import flask_wtf' 2>pip.err
}
if [ $? != 0 ]; then
    skip "MLflow's basic-auth" "Flask-WTF or MLflow could not be installed"
else
    mkdir auth
    printf '[mlflow]\ndefault_permission = READ\ndatabase_uri = sqlite:///%s/auth/users.db\nadmin_username = boss\nadmin_password = hunter-2-hunter-2\nauthorization_function = mlflow.server.auth:authenticate_request_basic_auth\n' "$WORK" >auth/auth.ini
    (
        cd auth || exit
        MLFLOW_AUTH_CONFIG_PATH=$WORK/auth/auth.ini MLFLOW_FLASK_SERVER_SECRET_KEY=x MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false exec setsid "$python" "$TESTLIB/mlflow-server.py" server --app-name basic-auth --host 127.0.0.1 --port "$STOPPED" --workers 1 \
            --backend-store-uri "sqlite:///$WORK/auth/mlflow.db" --artifacts-destination "$WORK/auth/artifacts" >server.log 2>&1
    ) &
    children="$children $!"
    wait_until 'curl -s "http://127.0.0.1:$STOPPED/health" >/dev/null'
    real=http://127.0.0.1:$STOPPED
    works "MLflow with basic-auth" "$real" MLFLOW_TRACKING_USERNAME=boss MLFLOW_TRACKING_PASSWORD=hunter-2-hunter-2
    ok "has the tree's facts" "$python" "$ROOT/tests/mlruns/compare_server.py" --user boss:hunter-2-hunter-2 tree/mlruns "$real"
    fails "no password" "401 You are not authenticated" "$real"
    fails "a wrong password" "401 .*are not accepted" "$real" MLFLOW_TRACKING_USERNAME=boss MLFLOW_TRACKING_PASSWORD=hunter-2
    curl -s -u boss:hunter-2-hunter-2 -H 'Content-Type: application/json' -d '{"username":"reader","password":"hunter-2-reads-only"}' "$real/api/2.0/mlflow/users/create" >/dev/null
    run=$(echo tree/mlruns/[1-9]*/[0-9a-f]*)
    printf other >"$run/tags/another" # there is something to send
    fails "a user who may only read" "403" "$real" MLFLOW_TRACKING_USERNAME=reader MLFLOW_TRACKING_PASSWORD=hunter-2-reads-only
fi

ok "there is something to look through" test -s "$said"
is "no secret is said or written" "$(grep -aEn "$secrets" "$said" | head -n 3)" ""
done_testing
