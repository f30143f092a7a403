# shellcheck shell=sh
# mlflow_server.sh: real MLflow tracking servers for tests, on free ports below $WORK; ended with their whole process group. Sourced after venv.sh.

free_port()
{
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# mlflow_server_start NAME PYTHON PORT OPTION…: starts it in $WORK/NAME and waits until it answers. Sets nothing; 1 if it does not come.
# Without the nine processes that would run jobs: each loads all of MLflow.
mlflow_server_start()
{
    server_name=$1 server_python=$2 server_port=$3
    shift 3
    mkdir -p "$WORK/$server_name"
    (cd "$WORK/$server_name" && MLFLOW_ALLOW_FILE_STORE=true MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false exec setsid "$(dirname "$server_python")/mlflow" server --host 127.0.0.1 --port "$server_port" --workers 1 "$@" >log 2>&1) &
    echo $! >"$WORK/$server_name/pid"
    server_tries=0
    until curl -sf "http://127.0.0.1:$server_port/health" >/dev/null 2>&1; do
        server_tries=$((server_tries + 1))
        [ $server_tries -lt 600 ] && kill -0 "$(cat "$WORK/$server_name/pid")" 2>/dev/null || return 1
        sleep 0.1
    done
}

mlflow_server_stop() # NAME
{
    [ -f "$WORK/$1/pid" ] || return 0
    kill -TERM "-$(cat "$WORK/$1/pid")" 2>/dev/null
    sleep 0.3
    kill -KILL "-$(cat "$WORK/$1/pid")" 2>/dev/null
    rm -f "$WORK/$1/pid"
}
