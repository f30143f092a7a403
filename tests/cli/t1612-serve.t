#!/bin/bash
# --serve and live groups of a Pushgateway: metrics of a run in progress, hostile requests, and what is left at the end, also after a kill.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
config=$HOME/.config/benchwrap/config.yaml
mkdir -p "$(dirname "$config")" "$WORK"/{d,e} && cd "$WORK/d" || exit 1
python3 "$TESTLIB/http-endpoint.py" "$WORK/e" 2>/dev/null &
endpoint_pid=$!
finish_here() { kill $endpoint_pid 2>/dev/null; wait $endpoint_pid 2>/dev/null; tap_exit; }
trap finish_here EXIT
export BENCHWRAP
# run OPTION…: starts a program that ends when the file `enough` exists; sets $url and $runner
run()
{
    rm -f enough err
    "$BENCHWRAP" --serve 0 --sample 100ms -p size=4 "$@" -e live -- sh -c '"$BENCHWRAP" log loss=0.25; until [ -e enough ]; do sleep 0.05; done' >/dev/null 2>err &
    runner=$!
    wait_until 'grep -q "/metrics has" err'
    url=$(sed -n 's,.*\(http://[0-9.:]*\)/metrics has.*,\1,p' err)
}
stop() { touch enough; wait $runner; }
until_has() { has=$1; wait_until 'curl -s "$url/metrics" | grep -q "$has"'; }
run
like "it serves on loopback" "$url" '^http://127\.0\.0\.1:[0-9]+$'
ok "what the program logs arrives" until_has '^benchwrap_loss{.*run="[0-9a-f]*".* 0.25$'
ok "... and samples of the machine" until_has '^benchwrap_node_process_threads{.*node="'
is "the type is Prometheus's" "$(curl -s -o /dev/null -w '%{http_code} %{content_type}' "$url/metrics")" "200 text/plain; version=0.0.4; charset=utf-8"
is "OpenMetrics on request" "$(curl -s -H 'Accept: application/openmetrics-text;version=1.0.0' -w '%{content_type}' "$url/metrics?x=1" | tail -n 2)" "# EOF
application/openmetrics-text; version=1.0.0; charset=utf-8"
is "other paths and methods" "$(for a in /nope / "-I /metrics" "-X POST /metrics" "-X DELETE /"; do
    # shellcheck disable=SC2086 # words
    set -- $a; curl -s -o /dev/null -w '%{http_code} ' "${@:1:$#-1}" "$url${*: -1}"; done)" "404 200 200 405 405 "
cat >hostile.py <<'P'
import socket, sys, time
port = int(sys.argv[1].rsplit(":", 1)[1])
def ask(data, wait=60):
    s = socket.create_connection(("127.0.0.1", port), timeout=wait)
    try:
        s.sendall(data)
        return s.recv(100)[:12].decode() or "closed"
    except (ConnectionError, TimeoutError) as e:
        return type(e).__name__ if isinstance(e, TimeoutError) else "closed"
print(ask(b"\0\xff\n\n"), ask(b"GET /\r\n\r\n"), ask(b"GET http://x/ HTTP/1.1\r\n\r\n"), ask(b"GET /metrics HTTP/1.1\n\n"), ask(b"GET /" + b"a" * 20000))
silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
time.sleep(6)
print(ask(b"GET / HTTP/1.0\r\n\r\n"))
P
is "hostile requests, and 40 connections that say nothing" "$(python3 hostile.py "$url")" "HTTP/1.1 400 HTTP/1.1 400 HTTP/1.1 400 HTTP/1.1 200 closed
HTTP/1.1 200"
stop
is "the run is recorded as any other" "$("$BENCHWRAP" show --json last | jq -r '.status')" FINISHED
ok "the endpoint ends with the run" wait_until '! curl -s "$url/metrics"'
run
port=${url##*:}
"$BENCHWRAP" --serve "$port" -- true 2>second
like "a port in use: a warning, and the program runs" "$(echo $?; cat second)" "cannot listen on 127.0.0.1:$port: Address already in use"
launcher=$runner
kill -9 $launcher; wait $launcher 2>/dev/null; touch enough
ok "it also ends when the launcher is killed" wait_until '! curl -s "$url/"'
is "wrong addresses are refused before the program" "$(for a in x 70000 localhost:1 1.2.3:4 :1 '[::1' '[zz]:1' ''; do "$BENCHWRAP" --serve "$a" -- echo ran 2>/dev/null; echo $?; done | sort | uniq -c | awk '{ print $1, $2 }')" "8 125"

# ---- behind nginx, by the lines of the howto ----
if command -v nginx >/dev/null; then
    run
    front=$(free_port) grafana=$(free_port)
    "$BENCHWRAP" pages -o pages >/dev/null
    mkdir -p ngx && printf 'ada:{PLAIN}pw\n' >ngx/htpasswd
    { [ "$(id -u)" != 0 ] || echo 'user root;'
      printf 'daemon off; pid ngx/pid; error_log ngx/log; events {} http { access_log off; client_body_temp_path ngx/a; proxy_temp_path ngx/b; fastcgi_temp_path ngx/c; uwsgi_temp_path ngx/d; scgi_temp_path ngx/e;
        server { listen 127.0.0.1:%s; location / { return 200 "$request_uri $http_host $http_upgrade $http_connection $http_authorization"; } } server { listen 127.0.0.1:%s;\n' "$grafana" "$front"
      sed -n '/^```nginx/,/^```$/p' "$ROOT/docs/howto-exporter.md" | grep -v '^```' | sed "s,/etc/nginx/benchwrap.htpasswd,$PWD/ngx/htpasswd,; s,http://127.0.0.1:9400/,$url/,; s,/srv/benchwrap/public,$PWD/pages,; s,127.0.0.1:3000,127.0.0.1:$grafana,"
      echo '} }'; } >ngx/conf
    nginx -p "$PWD" -c ngx/conf 2>ngx/err & nginx_pid=$!
    wait_until 'curl -s "http://127.0.0.1:$front/" >/dev/null'
    at() { curl -s -o body -w '%{http_code} ' "$@"; }
    is "behind nginx: a path, and a password" "$(at "http://127.0.0.1:$front/benchwrap/metrics"; at -u ada:pw "http://127.0.0.1:$front/benchwrap/metrics"; grep -c '^benchwrap_run_info{' body)" "401 200 1"
    links() { grep -oE '(href|src)="[^"#]+' "$1" | cut -d'"' -f2 | grep -v '^data:' | sort -u; }
    is "the web pages, with all that their first page links to" "$(at "http://127.0.0.1:$front/results/"; at -u ada:pw "http://127.0.0.1:$front/results/"; cp body first; for a in $(links first); do at -u ada:pw "http://127.0.0.1:$front/results/$a"; done | tr ' ' '\n' | sort -u | xargs) $(links first | wc -l | awk '{ print ($1 >= 4) }')" "401 200 200 1"
    is "Grafana keeps its path, and upgrades to WebSockets" "$(curl -s -H 'Connection: Upgrade' -H 'Upgrade: websocket' "http://127.0.0.1:$front/grafana/api/live/ws?x=1")" "/grafana/api/live/ws?x=1 127.0.0.1:$front websocket Upgrade "
    kill $nginx_pid; wait $nginx_pid 2>/dev/null
    stop
else
    skip "behind nginx" "nginx is not installed"
fi

# ---- live groups ----
printf 'exporters:\n- {type: pushgateway, url: "http://127.0.0.1:%s/bytes", live: 1s, wait: 60s}\n' "$(cat "$WORK/e/port")" >"$config"
got=$WORK/e/got.jsonl
run --cluster tst
wait_until '[ "$(cat "$got" 2>/dev/null | wc -l)" -ge 2 ]'
stop
wait_until 'grep -q "\"method\": \"DELETE\"" "$got"'
is "a group of the run, which its end removes, and the group of the benchmark" "$(jq -r '.method' "$got" | uniq | sort -u | tr '\n' ' ') $(jq -r 'select(.method == "DELETE") | .path' "$got" | sed 's,.*/run@base64/,,' | base64 -d 2>/dev/null) $(jq -r .path "$got" | sort -u | wc -l)" \
    "DELETE PUT  $("$BENCHWRAP" show --json last | jq -r .id) 2"
unhex() { python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))'; }
like "... with what the program logged" "$(jq -r 'select(.path | contains("run@base64")) | select(.method == "PUT") | .body' "$got" | tail -n 1 | unhex | grep '^benchwrap_loss')" '^benchwrap_loss\{benchmark="sh",cluster="tst",experiment="live",key="loss"\} 0.25$'
rm -f "$got"
run
wait_until '[ -s "$got" ]'
recorder=$(pgrep -P $runner -f -- --recorder | head -n 1)
kill -9 "$recorder"
ok "a killed recorder leaves no group" wait_until 'grep -q "\"method\": \"DELETE\"" "$got"'
stop 2>/dev/null
rm -f "$got"
run --no-export
sleep 1.5
stop
is "--no-export pushes nothing" "$(cat "$got" 2>/dev/null)" ""
done_testing
