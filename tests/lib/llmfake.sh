# shellcheck shell=sh
# llmfake.sh: servers for the tests of llmload; sourced behind tap.sh. $LOAD and $FAKE are the programs.
LOAD=$BUILD/bin/llmload FAKE=$BUILD/bin/llmfake
llm_pids=
unset OPENAI_API_KEY http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY

# Starts a server whose first line of output is its address (or port); sets $url, $server, and $said, the file of its standard error.
llm_start() # COMMAND…
{
    said=$WORK/said.$(ls "$WORK" | wc -l)
    "$@" >"$said.address" 2>"$said" &
    server=$!
    llm_pids="$llm_pids $server"
    wait_until '[ -s "$said.address" ] || has_ended "$server"'
    url=$(head -n 1 "$said.address")
    case $url in [0-9]*) url=http://127.0.0.1:$url ;; esac
}
llm_stop() # ends the last one and waits: its last words are in $said
{
    kill "$server" 2>/dev/null
    wait "$server" 2>/dev/null
}
# Repeats a load, whose output goes to the file, until that does not say that the client was late; 1 where a busy machine makes it late each time.
llm_calm() # FILE COMMAND…
{
    llm_result=$1
    shift
    for llm_try in 1 2 3 4 5 6 7 8 9 10 11 12; do
        "$@" >"$llm_result"
        grep -Eq 'the client was (late|the bottleneck)|times are not known' "$llm_result" || return 0
    done
    return 1
}
llm_end() { for llm_pid in $llm_pids; do kill "$llm_pid" 2>/dev/null; wait "$llm_pid" 2>/dev/null; done; tap_exit; }
trap llm_end EXIT
