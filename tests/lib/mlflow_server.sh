# shellcheck shell=sh
# mlflow_server.sh: real MLflow tracking servers for tests, on free ports below $WORK; ended with their whole process group. Sourced after venv.sh.

# mlflow_server_start NAME PYTHON PORT OPTION…: starts it in $WORK/NAME and waits until it answers. Sets nothing; 1 if it does not come.
# Without the nine processes that would run jobs: each loads all of MLflow.
mlflow_server_start()
{
    server_name=$1 server_python=$2 server_port=$3
    shift 3
    mkdir -p "$WORK/$server_name"
    (cd "$WORK/$server_name" && MLFLOW_ALLOW_FILE_STORE=true MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false exec setsid "$server_python" "$TESTLIB/mlflow-server.py" server --host 127.0.0.1 --port "$server_port" --workers 1 "$@" >log 2>&1) &
    echo $! >"$WORK/$server_name/pid"
    echo "$server_port" >"$WORK/$server_name/port"
    wait_until 'curl -sf "http://127.0.0.1:$server_port/health" || has_ended "$(cat "$WORK/$server_name/pid")"' 120
    ! has_ended "$(cat "$WORK/$server_name/pid")"
}

mlflow_server_stop() # NAME
{
    [ -f "$WORK/$1/pid" ] || return 0
    server_group=$(cat "$WORK/$1/pid")
    kill -TERM "-$server_group" 2>/dev/null
    sleep 0.3
    kill -KILL "-$server_group" 2>/dev/null
    server_port=$(cat "$WORK/$1/port")
    wait_until '! curl -s "http://127.0.0.1:$server_port/health"'
    rm -f "$WORK/$1/pid"
}
