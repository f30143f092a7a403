# shellcheck shell=sh
# venv.sh: Python virtual environments with real libraries and MLflow, made once and kept in $CACHE. Sourced after tap.sh.

# venv_pip SECONDS PYTHON ARGUMENT…: pip for the packages of this python, by the pip that is already here: to unpack
# another one takes four seconds. An environment has its own where that one is older than 22.3 or missing.
venv_pip()
{
    venv_limit=$1 venv_for=$2
    shift 2
    if [ -e "${venv_for%/*}/pip3" ]; then
        timeout "$venv_limit" "$venv_for" -m pip --disable-pip-version-check "$@"
    else
        timeout "$venv_limit" python3 -m pip --disable-pip-version-check --python "$venv_for" "$@"
    fi
}

# venv_python NAME SECONDS PACKAGE…: prints the path of a python that has these packages. Status 1 and a reason on stdout where it cannot be made.
# Several tests may ask at once: one makes it, the others wait.
venv_python()
{
    venv_dir=$CACHE/venv-$1 venv_seconds=$2
    shift 2
    if [ ! -e "$venv_dir/.complete" ]; then
        command -v python3 >/dev/null 2>&1 || { echo "python3 is not installed"; return 1; }
        mkdir -p "$CACHE" || { echo "no folder $CACHE"; return 1; }
        (
            flock 9
            [ ! -e "$venv_dir/.complete" ] || exit 0
            rm -rf "$venv_dir"
            {
                python3 -m venv --without-pip "$venv_dir" &&
                    { python3 -m pip --python "$venv_dir/bin/python" --version || "$venv_dir/bin/python" -m ensurepip; } &&
                    venv_pip "$venv_seconds" "$venv_dir/bin/python" install -q --no-compile "$@"
            } >"$venv_dir.log" 2>&1 || exit
            # Modules that no test imports are a third of the code. One that cannot be compiled is left as it is.
            "$venv_dir/bin/python" -m compileall -q -x '/site-packages/.*/tests?/' "$venv_dir/lib" >/dev/null 2>&1
            touch "$venv_dir/.complete"
        ) 9>"$venv_dir.lock"
    fi
    if [ ! -e "$venv_dir/.complete" ]; then
        echo "$1 could not be installed: $(tail -n 1 "$venv_dir.log" 2>/dev/null)"
        return 1
    fi
    echo "$venv_dir/bin/python"
}

# venv_mlflow VERSION [SECONDS]: one with this mlflow, jsonschema and PyYAML.
venv_mlflow()
{
    # MLflow 2 names a class that SQLAlchemy 2.1 has no more, and allows that version.
    case $1 in 2.*) set -- "$1" "${2:-280}" "sqlalchemy<2.1" ;; *) set -- "$1" "${2:-280}" ;; esac
    venv_python "mlflow-$1" "$2" "mlflow==$1" jsonschema pyyaml ${3:+"$3"}
}

# venv_mlflow_client VERSION: one with the client alone: a fifth of what mlflow installs for its server.
venv_mlflow_client()
{
    venv_python "mlflow-client-$1" 280 "mlflow-skinny==$1" pandas
}

pandas_howto() # PYTHON: the lines of docs/howto-server.md load the runs of ./mlruns
{
    sed -n '/^```python/,/^```/p' "$ROOT/docs/howto-server.md" | grep -v '^```' >howto.py
    env -u MLFLOW_ALLOW_FILE_STORE "$1" howto.py 2>howto.err
}
