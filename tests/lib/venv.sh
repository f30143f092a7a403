# shellcheck shell=sh
# venv.sh: Python virtual environments with the real MLflow, made once and kept in $CACHE. Sourced after tap.sh.

# venv_mlflow VERSION [SECONDS]: prints the path of a python that has this mlflow, jsonschema and PyYAML. Status 1 and a reason on
# stdout where it cannot be made. Several tests may ask at once: one makes it, the others wait.
venv_mlflow()
{
    venv_dir=$CACHE/venv-mlflow-$1
    if [ ! -e "$venv_dir/.complete" ]; then
        command -v python3 >/dev/null 2>&1 || { echo "python3 is not installed"; return 1; }
        mkdir -p "$CACHE" || { echo "no folder $CACHE"; return 1; }
        (
            flock 9
            [ ! -e "$venv_dir/.complete" ] || exit 0
            rm -rf "$venv_dir"
            python3 -m venv "$venv_dir" >"$venv_dir.log" 2>&1 &&
                timeout "${2:-280}" "$venv_dir/bin/python" -m pip install -q --disable-pip-version-check "mlflow==$1" jsonschema pyyaml >>"$venv_dir.log" 2>&1 &&
                touch "$venv_dir/.complete"
        ) 9>"$venv_dir.lock"
    fi
    if [ ! -e "$venv_dir/.complete" ]; then
        echo "mlflow $1 could not be installed: $(tail -n 1 "$venv_dir.log" 2>/dev/null)"
        return 1
    fi
    echo "$venv_dir/bin/python"
}
