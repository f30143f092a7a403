#!/bin/bash
# recipe-services: campaigns over real servers: llama.cpp's by the shipped service file, and nginx by one of the user's own.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
cd "$WORK" || exit 1
mkdir -p bin "$HOME/.config/benchwrap/services"

# ---- llama.cpp's server, with a model of random weights ----
if python=$(venv_python llama 900 xllamacpp==2026.10.11549 gguf==0.19.0); then
    ok "a model of random weights" "$python" "$TESTLIB/llama-model.py" model.gguf
    # The package has the server, and not the program of that name: --model FILE --host HOST --port PORT --metrics
    printf '#!/bin/sh\nexec env OMP_NUM_THREADS=1 "%s" "%s/llama-serve.py" "$2" "$6"\n' "$python" "$TESTLIB" >bin/llama-server
    chmod +x bin/llama-server
    cat >llama.yaml <<Y
version: 1
name: llama
sweep: {grid: {conc: [1, 4], tokens: [8, 24]}}
roles:
  server: {service: llama.cpp, with: {model: $WORK/model.gguf}}
  client: {command: [llmload, "{server.url}", --api, openai-chat, -c, "{conc}", -n, 12, --max-tokens, "{tokens}", --json]}
monitoring: {interval: 300ms, csv: llama.csv, metrics: ["llamacpp:*"]}
Y
    PATH=$WORK/bin:$PATH "$BENCHWRAP" recipe run --local llama.yaml >out 2>err
    is "a campaign over llama.cpp's server: every point is valid" "$? $("$BENCHWRAP" recipe report llama --json | jq -c '[.[].outcome]')" '0 ["valid","valid","valid","valid"]' || cat err >&2
    made=$("$BENCHWRAP" recipe report llama --csv | wc -l)
    is "a row for each point" "$made" 5
    predicted=$(grep 'llamacpp:tokens_predicted_total' llama.csv | tail -n 1 | cut -d, -f5)
    sum=$(cat mlruns/*/*/metrics/tokens.output 2>/dev/null | awk '{n += $2} END {print n}')
    ok "the server counts as many tokens as the clients ($predicted, $sum)" [ "${predicted%.*}" = "${sum:-none}" ]
    is "nothing is left" "$(pgrep -fc "$WORK/model.gguf")" 0
else
    skip "llama.cpp's server is measured" "$python"
fi

# ---- nginx ----
if command -v nginx >/dev/null || [ -x /usr/sbin/nginx ]; then
    PATH=$PATH:/usr/sbin
    cat >"$HOME/.config/benchwrap/services/nginx.yaml" <<'Y'
name: nginx
description: nginx, a folder of its own for each instance
command: [sh, -c, 'mkdir -p "$1/t" && cd "$1" && printf "daemon off; pid $1/pid; error_log stderr; worker_processes 1; events {} http { client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; scgi_temp_path t; access_log off; server { listen $2; location / { return 200 ok; } location /status { stub_status; } } }" >conf && exec nginx -p "$1" -c "$1/conf"', nginx, "{campaign}/nginx-{instance}", "{host}:{port}"]
ports: {http: 8080}
ready: {http: /}
Y
    cat >nginx.yaml <<'Y'
version: 1
name: nginx
sweep: {grid: {n: [20, 40]}}
roles:
  server: {service: nginx, instances: 2}
  client: {command: [sh, -c, 'n=$1; shift; for i in $(seq "$n"); do for u; do curl -sf "$u" >/dev/null || exit 1; done; done; echo "served $((n * $#)) requests"', sh, "{n}", "{server.urls}"]}
repeat: 2
Y
    "$BENCHWRAP" recipe run --local nginx.yaml >out 2>err
    is "a campaign over two instances of nginx" "$? $("$BENCHWRAP" recipe report nginx --json | jq -c '[.[] | [.outcome, .runs]] | unique')" '0 [["valid",2]]' || cat err >&2
    is "nothing is left" "$(pgrep -fc "$WORK/.benchwrap")" 0
else
    skip "nginx is measured" "nginx is not installed"
fi
done_testing
