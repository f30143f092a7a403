#!/bin/sh
# llmload over TLS and HTTP/2 (nginx before llmfake) and through a proxy.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/llmfake.sh"

command -v nginx >/dev/null 2>&1 && command -v openssl >/dev/null 2>&1 || { skip 'llmload over TLS' 'nginx and openssl'; done_testing; exit; }
llm_start "$FAKE" --ttft 5ms --itl 1ms
back=$url
cd "$WORK" || exit 1
openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -days 2 -subj /CN=localhost -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' 2>/dev/null
port=$(free_port) plain=$(free_port)
cat >n.conf <<N
daemon off; master_process off; pid $WORK/pid; error_log $WORK/err;
events { worker_connections 500; }
http { gzip on; gzip_types text/event-stream application/json application/x-ndjson; gzip_min_length 1; gzip_proxied any;
 access_log off; client_body_temp_path $WORK/b; proxy_temp_path $WORK/p; fastcgi_temp_path $WORK/f; uwsgi_temp_path $WORK/u; scgi_temp_path $WORK/s;
 server { listen 127.0.0.1:$plain; location / { proxy_pass $back; proxy_http_version 1.1; proxy_buffering off; proxy_set_header Connection ""; } }
 server { listen 127.0.0.1:$port ssl http2; ssl_certificate $WORK/c.pem; ssl_certificate_key $WORK/k.pem;
  location / { proxy_pass $back; proxy_http_version 1.1; proxy_buffering off; proxy_set_header Connection ""; } } }
N
nginx -c "$WORK/n.conf" 2>/dev/null &
llm_pids="$llm_pids $!"
wait_until '[ -s pid ]'
url=https://localhost:$port
is 'TLS' "$("$LOAD" --url "$url" --ca-file c.pem -c 4 -n 40 --max-tokens 8 --json -q | jq -c '[.completed, .failed, .total_output_tokens, .client.clock, .metrics.connect.n == .client.connections]')" \
    '[40,0,320,"after the read",true]'
is 'HTTP/2: many requests on few connections' "$("$LOAD" --url "$url" --ca-file c.pem --http2 -c 20 -n 100 --max-tokens 8 --json -q | jq -c '[.completed, .failed, .client.connections <= 2]')" '[100,0,true]'
is 'a certificate that nobody trusts' "$("$LOAD" --url "$url" -n 2 --json -q | jq -c '.endings')" '{"tls":2}'
is '  unless that is wished' "$("$LOAD" --url "$url" --insecure -n 2 --json -q | jq -c '.endings')" '{"ok":2}'
pids='' # all at once: only counts are compared
for at in "http://localhost:$plain" "$url"; do
    for how in '' --no-stream '--api ollama-chat'; do
        # shellcheck disable=SC2086 # words
        "$LOAD" --url "$at" --ca-file c.pem -H 'Accept-Encoding: gzip' -c 4 -n 20 --max-tokens 8 $how --json -q >"coded ${at%%:*} $how" &
        pids="$pids $!"
    done
done
# shellcheck disable=SC2086 # several
wait $pids
for coded in coded*; do
    is "compressed answers, asked for and undone: ${coded#coded }" "$(jq -c '[.completed, .failed, .total_output_tokens, .tokens.output_source]' "$coded")" '[20,0,160,"usage"]'
done
llm_start python3 "$TESTLIB/connect-proxy.py" "$WORK/proxy.log"
is 'through a proxy' "$("$LOAD" --url "$back" --proxy "$url" -c 2 -n 6 --max-tokens 4 --json -q | jq -c '[.completed, .total_output_tokens]')" '[6,24]'
ok '  which has seen it' grep -q 'chat/completions' "$WORK/proxy.log"
done_testing
