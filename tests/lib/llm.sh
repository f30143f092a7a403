# shellcheck shell=sh
# llm.sh: servers for the tests of llmload. Sourced after tap.sh; what was started is ended at exit.
LLMLOAD=$BUILD/bin/llmload
llm_pids=
trap 'llm_end; tap_exit' EXIT
llm_end()
{
    for llm_pid in $llm_pids; do kill "$llm_pid" 2>/dev/null && wait "$llm_pid" 2>/dev/null; done
    llm_pids=
}
llm_wait() # FILE: until it is there and not empty
{
    llm_file=$1
    wait_until '[ -s "$llm_file" ]'
}
llm_server() # [OPTIONS of llm-server.py]: $url, $server_pid
{
    rm -f "$WORK/.port"
    "${PYTHON:-python3}" "$TESTLIB/llm-server.py" "$WORK/.port" "$@" 2>"$WORK/.server-err" &
    server_pid=$!
    llm_pids="$llm_pids $server_pid"
    llm_wait "$WORK/.port" || tap_stop "the test's server starts: $(cat "$WORK/.server-err")"
    url=http://127.0.0.1:$(cat "$WORK/.port")
}
llm_agent() # NAME [OPTIONS]: an agent at a port of its own; $agent is its address, $agent_pid
{
    llm_name=$1
    shift
    rm -f "$WORK/.$llm_name"
    "$LLMLOAD" agent --listen 127.0.0.1:0 --port-file "$WORK/.$llm_name" "$@" 2>"$WORK/.$llm_name-err" &
    agent_pid=$!
    llm_pids="$llm_pids $agent_pid"
    wait_until '[ -s "$WORK/.$llm_name" ] || has_ended $agent_pid'
    [ -s "$WORK/.$llm_name" ] || {
        if grep -q "this build has no agents" "$WORK/.$llm_name-err"; then
            skip "llmload's agents" "$(cat "$WORK/.$llm_name-err")"
            done_testing
            exit $tap_failed
        fi
        tap_stop "agent $llm_name starts: $(cat "$WORK/.$llm_name-err")"
    }
    agent=127.0.0.1:$(cat "$WORK/.$llm_name")
}
