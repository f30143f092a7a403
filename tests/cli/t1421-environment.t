#!/bin/bash
# A wrong value of any variable of the environment never stops the program, nor changes its output and status; a value that cannot be meant is named.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
mkdir run && cd run || exit 1
variables=$(sed -n 's/^OPTION([^,]*, [^,]*, \(OPT_[A-Z]*\), \("[^"]*"\|NULL\), "\(BENCHWRAP_[A-Z_]*\|MLFLOW_[A-Z_]*\)",.*/\3 \1/p' "$ROOT/wrapper/launch/options.def" | sort -u)
ok "the list of variables was read" [ "$(echo "$variables" | wc -l)" -gt 25 ]
long=$(printf 'x%.0s' $(seq 5000))
# The first word: the value must be named. "-": it may be meant (a name, a folder that can be made).
values_of() # VARIABLE KIND
{
    case $1 in
    BENCHWRAP_REFERENCE | BENCHWRAP_RULES) printf '%s\n' 'named /nope/file' "named $long" 'named /' '- ' ;;
    BENCHWRAP_CATALOGUE) printf '%s\n' 'named /nope/folder' "named $long" 'named /dev/null' 'named /nope/a:/nope/b' '- ' ;;
    BENCHWRAP_TREE) printf '%s\n' 'named /proc/1/nope/mlruns' 'named /dev/null/mlruns' '- ' ;;
    BENCHWRAP_TO) printf '%s\n' '- http://127.0.0.1:1' 'named ftp://x' 'named nonsense://' 'named :' '- ' ;;
    BENCHWRAP_SIGNAL) printf '%s\n' 'named NOSUCH' 'named 999' 'named -1' '- ' ;;
    BENCHWRAP_CLOUD_METADATA) printf '%s\n' 'named nonsense' '- http://127.0.0.1:1' '- ' ;;
    *) case $2 in
        OPT_DURATION) printf '%s\n' 'named soon' 'named -1' 'named 1e999' 'named 99999999999999999999d' 'named 1s1' '- ' ;;
        OPT_SIZE) printf '%s\n' 'named big' 'named -1' 'named 99999999999999999999T' 'named 1Q' '- ' ;;
        OPT_CHOICE | OPT_FLAG) printf '%s\n' 'named maybe' "named $long" '- ' ;;
        OPT_INT) printf '%s\n' 'named many' 'named 1e99' '- ' ;;
        OPT_SITE) printf '%s\n' 'named a/b' "named $long" '- ' ;;
        *) printf '%s\n' '- ../../x' "- $long" "- $(printf 'a\377b')" '- ' ;;
        esac ;;
    esac
}
while read -r variable kind; do
    bad=
    while IFS= read -r line; do
        named=${line%% *} value=${line#* }
        rm -rf mlruns .benchwrap
        env "$variable=$value" timeout 120 "$BENCHWRAP" -- sh -c 'echo out; echo err >&2; exit 7' >out 2>err
        status=$?
        shown=$(printf %.40s "$value")
        [ $status = 7 ] || bad="$bad; $shown: status $status"
        [ "$(cat out)" = out ] || bad="$bad; $shown: output $(head -c 60 out)"
        grep -q '^err$' err || bad="$bad; $shown: standard error $(head -c 60 err)"
        ! [ "$named" = named ] || grep -Eq "^benchwrap: .*($variable|$(printf %.20s "$value" | sed 's/[][\.*^$(){}?+|/]/\\&/g'))" err || bad="$bad; $shown: not named: $(grep ^benchwrap: err | head -3)"
    done < <(values_of "$variable" "$kind")
    is "$variable: the program runs, and what cannot be meant is named" "${bad#; }" ""
done <<<"$variables"
# Those that are no option.
for pair in BENCHWRAP_RUN_ID=nonsense "BENCHWRAP_RUN_ID=$long" BENCHWRAP_SOCKET=/nope BENCHWRAP_SOCKET=@ "BENCHWRAP_SOCKET=$long" BENCHWRAP_SHARED_RUN=x BENCHWRAP_SOURCE=x \
    BENCHWRAP_UNKNOWN=x MLFLOW_RUN_ID=nonsense MLFLOW_TRACKING_URI=: MLFLOW_RUN_CONTEXT=x XDG_STATE_HOME=x XDG_RUNTIME_DIR=/nope HOME=/nope HOME= TMPDIR=/nope; do
    rm -rf mlruns .benchwrap
    env "$pair" timeout 120 "$BENCHWRAP" -- sh -c 'echo out; exit 7' >out 2>err
    status=$?
    is "$(printf %.40s "$pair"): the program runs" "$status $(cat out)" "7 out"
done
# Names that nothing reads.
while read -r name meant; do
    env "$name=1" timeout 120 "$BENCHWRAP" -- true >out 2>err
    is "$name is none: $meant" "$? $(grep -c "$name" err) $(grep -o 'did you mean [^?]*' err)" "0 1 did you mean $meant"
done <<'E'
BENCHWRAP_REFERENCES BENCHWRAP_REFERENCE
BENCHWRAP_TIMOUT BENCHWRAP_TIMEOUT
BENCHWRAP_NOCOLLECT BENCHWRAP_NO_COLLECT
BENCHWRAP_EXPERIMENT MLFLOW_EXPERIMENT_NAME
BENCHWRAP_TAG --tag
E
for name in BENCHWRAP_HOME BENCHWRAP_VERSION BENCHWRAP_BIN BENCHWRAP_DIR BENCHWRAP_ $'BENCHWRAP_TIMOUT\e[31m'; do
    env "$name=1" timeout 120 "$BENCHWRAP" -- true >out 2>err
    is "$(printf %q "$name") is somebody's own" "$? $(grep -c 'did you mean' err)" "0 0"
done
done_testing
