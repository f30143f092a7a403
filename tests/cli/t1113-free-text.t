#!/bin/bash
# Every option of every command that takes a value gets a text with secrets: they are in no file of a record, no object of git, and not on a server or forge.
# The options come from the tables of the program, so a new one fails this test until the list below has it.
# sanitizer: long, because t1111 walks the same code
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/forge.sh"
unset "${!SLURM_@}" 2>/dev/null
cd "$WORK" || exit 1
if ! command -v git >/dev/null 2>&1; then
    skip "texts of the user" "git is not installed"
    done_testing
    exit
fi
fault=$BUILD/tests/server/fault-server
servers=
finish_here()
{
    # shellcheck disable=SC2086 # numbers
    [ -z "$servers" ] || kill $servers 2>/dev/null
    wait 2>/dev/null
    tap_exit
}
trap finish_here EXIT

# ---- what is planted ----
# Put together from parts here, so that no scanner takes this file for a leak. What is cut off in a message is still a secret: the beginnings count.
token=ghp""_Zq7Rk2Wm9Xt4Vb8Nc3Jd6Hf5Lg1PsYaEuTi
word=plainword-9182
person=quentinbrown
printf '%s\n' "${token:0:14}" "$word" >secrets
long=$(printf 'x%.0s' {1..45})

# ---- the list ----
# VERB:--OPTION | where the text is found later: stored (in a file, an object of git, on the server or the forge), private (only in that profile) or nowhere | the value | the rest of the command
# In values, @ is a text with a mark, two secrets and the name of a person; + a long text with a secret at its end, ^ a secret alone; & a file and % a folder with them in their
# names. In the rest, RUN is a recorded run, OUT an output, URL a server. VERB:WORDS is an operand of a command. A command without a verb is a run.
cat >list <<'X'
:--experiment|nowhere|@|-- true
:--experiment|stored|# ^|-- true
:--name|stored|@|-- true
:--tree|nowhere|%|-- true
:--to|nowhere|http://#:!~127.0.0.1:9/|-- true
:--tag|stored|@=@|-- true
:--tag|stored|# db_password=!|-- true
:--param|stored|@=@|-- true
:--param|stored|# db_password=!|-- true
:--note|stored|@|-- true
:--artifact|stored|&|-- true
:--archive|nowhere|%|-- true
:--site|nowhere|@|-- true
:--cluster|stored|@|-- true
:--rules|nowhere|@|-- true
:--rules|nowhere|&.yaml|-- true
:--catalogue|nowhere|%|-- true
:--reference|nowhere|@|-- true
:--reference|nowhere|&|-- true
:--log-max|nowhere|@|-- true
:--artifact-max|nowhere|@|-- true
:--timeout|nowhere|@|-- true
:--kill-after|nowhere|@|-- true
:--signal|nowhere|@|-- true
:--repeat|nowhere|@|-- true
:--warmup|nowhere|@|--repeat 2 -- true
:--until-stable|nowhere|@|-- true
:--max-repeat|nowhere|@|--until-stable 2% -- true
:--max-time|nowhere|@|--repeat 2 -- true
:--sweep|stored|point=@,b|-- true {point}
:--sweep|stored|password=#-!,#-b|-- true {password}
:--seed|nowhere|@|--repeat 2 --interleave -- true
:--input|nowhere|&|--repeat 2 -- cat
:--sample|nowhere|@|-- true
:--cloud-metadata|nowhere|http://#:!~127.0.0.1:9/|-- true
:--probe-wait|nowhere|@|-- true
:--finish-wait|nowhere|@|-- true
:WORDS|stored|@|-- echo
archive:WORDS|stored|@|-q --note @ -- echo
import:--rules|nowhere|@|OUT
import:--rules|nowhere|&.yaml|OUT
import:--exit-status|nowhere|@|OUT
import:--time|nowhere|@|OUT
import:--experiment|stored|# ^|OUT
import:--param|stored|@=@|OUT
import:--param|stored|# db_password=!|OUT
import:--tag|stored|@=@|OUT
import:--tag|stored|# db_password=!|OUT
import:--artifact-max|nowhere|@|OUT
import:--tree|nowhere|%|OUT
import:WORDS|private|&|--rules generic
adopt:--tree|nowhere|%|ADOPTED
adopt:--profile|nowhere|@|ADOPTED
adopt:--artifact-max|nowhere|@|ADOPTED
adopt:WORDS|nowhere|%|
log:--step|stored|@|m=1
log:--time|stored|@|m=1
log:--unit|stored|@|m=1
log:--param|stored|@=@|
log:--param|stored|# db_password=!|
log:--tag|stored|@=@|
log:--tag|stored|# db_password=!|
log:--artifact|stored|&|
log:WORDS|stored|@=1|
pull:--from|nowhere|http://#:!~SERVER|foreign
pull:--since|nowhere|@|URL foreign
pull:--tree|nowhere|%|URL foreign
pull:--artifact-max|nowhere|@|URL foreign
pull:WORDS|nowhere|@|URL
retract:--why|stored|@|RUN
retract:--why|stored|+|RUN
retract:--tree|nowhere|%|--why x RUN
retract:--experiment|nowhere|@|--why x last
retract:WORDS|nowhere|@|--why x
reparse:--rules|nowhere|&.yaml|RUN
reparse:*|nowhere|@|RUN
commit:--tree|nowhere|%|
commit:--repo|nowhere|%|
commit:--wait|nowhere|@|
share:--remote|nowhere|@|
share:--base|nowhere|@|
share:--to|nowhere|@|
share:--no-check|stored|@|
share:--token-file|nowhere|&|
share:--tree|nowhere|%|
sync:--to|nowhere|http://#:!~SERVER|
sync:--tree|nowhere|%|--to URL
sync:--experiment|nowhere|@|--to URL
sync:--since|nowhere|@|--to URL
sync:--ref|nowhere|@|--to URL
sync:WORDS|nowhere|@|--to URL
exporter:--tree|nowhere|%|list
exporter:*|nowhere|@|send
exporter:WORDS|nowhere|@|
export-tree:*|nowhere|@|OUTSIDE
export-tree:WORDS|nowhere|%|
init:--site|nowhere|@|OUTSIDE
init:WORDS|nowhere|%|--site ok
:--node-hour-price|nowhere|@|-- true
:--serve|nowhere|@|-- true
:--power-command|nowhere|@|-- true
annotate:--name|stored|@|RUN
annotate:--note|stored|@|RUN
annotate:--tag|stored|@=@|RUN
annotate:--tag|stored|# db_password=!|RUN
annotate:--remove|nowhere|@|RUN
annotate:--tree|nowhere|%|--note x RUN
annotate:--experiment|nowhere|@|--note x last
explain:*|nowhere|@|RUN RUN
grafana:--output|nowhere|%|
grep:*|nowhere|@|x
history:*|nowhere|@|
mcp:*|nowhere|@|
export:--output|nowhere|&|
plot:--output|nowhere|&|
report:--output|nowhere|&|
pages:--output|nowhere|%|
pages:*|nowhere|@|
plot:*|nowhere|@|
recipe:*|nowhere|@|check
report:*|nowhere|@|
ship-logs:*|nowhere|@|
slurm-stats:*|nowhere|@|
watch:*|nowhere|@|
ls:*|nowhere|@|
export:*|nowhere|@|
show:*|nowhere|@|
compare:*|nowhere|@|
doctor:*|nowhere|@|
plan:*|nowhere|@|-- true
probe:*|nowhere|@|
parse:*|nowhere|@|OUT
check:*|nowhere|@|
rules:--output|nowhere|&|new --from OUT
rules:*|nowhere|@|new --from OUT
reference:*|nowhere|@|RUN
redact:*|nowhere|@|OUT
benchmarks:*|nowhere|@|
ui:*|nowhere|@|--print
X

# ---- every option is in it ----
"$BENCHWRAP" completion bash | sed -n 's/^        \([a-z-]*:--[a-z-]*\)\(|[a-z-]*:-.\)\{0,1\}) \(.*\)$/\1 \3/p' | grep -v "compgen -W '" | cut -d' ' -f1 | sort -u >options
like "the program has a hundred options with values" "$(wc -l <options)" '^(9[0-9]|[1-9][0-9]{2})$'
cut -d'|' -f1 list | sort -u >listed
is "each is in the list" "$(while IFS= read -r option; do grep -qxF -e "$option" -e "${option%%:*}:*" "$WORK/listed" || echo "$option"; done <options)" ""
is "the list has no other" "$(grep -v -e ':\*$' -e ':WORDS$' "$WORK/listed" | comm -23 - options)" ""
is "each command is in the list" "$("$BENCHWRAP" help --list | while read -r verb; do grep -q "^$verb:" "$WORK/listed" || echo "$verb"; done | tr '\n' ' ')" "help completion version "

# ---- a folder of another program's runs ----
archived=$WORK/archive/mlruns/183424918237412345
mkdir -p "$archived"
printf "artifact_location: ''\ncreation_time: 1700000000000\nexperiment_id: '183424918237412345'\nlast_update_time: 1700000000000\nlifecycle_stage: active\nname: foreign\n" >"$archived/meta.yaml"
archived=$archived/11111111111111111111111111111111
mkdir -p "$archived/params" "$archived/tags" "$archived/metrics" "$archived/artifacts"
printf "artifact_uri: ''\nend_time: 1758000009000\nentry_point_name: ''\nexperiment_id: '183424918237412345'\nlifecycle_stage: active\nrun_id: %s\nrun_name: '%s'\nsource_name: ''\nsource_type: 4\nsource_version: ''\nstart_time: 1758000000000\nstatus: 3\ntags: []\nuser_id: %s\n" \
    "${archived##*/}" "named $token" "$person" >"$archived/meta.yaml"
for name in params/p tags/t tags/mlflow.note.content artifacts/log.txt; do echo "password=$word $token $person" >"$archived/$name"; done
echo "$word" >"$archived/params/db_password"
echo "$token" >"$archived/tags/mlflow.runName"
echo "1758000000005 1.5 0" >"$archived/metrics/m"
is "its run is adopted" "$(HOME=$WORK "$BENCHWRAP" adopt --dry-run -t "$WORK/none/mlruns" archive 2>&1 | grep -c '^1 would be adopted')" 1

# ---- the places ----
mark_count=0
place_of() # KIND: a new file or folder with the secrets in its name
{
    place="$WORK/paths/$mark-$token-password=$word"
    case $1 in
    '&') echo "copy.rate 1 MB/s" >"$place" ;;
    '&.yaml') place=$place.yaml && printf 'name: named\nversion: "1"\nsummary: "named: reads nothing"\nprograms: [named]\nreaders:\n  - name: x\n    regex: "^x (?<v>[0-9]+)$"\n    metrics:\n      - {name: x, value: v, unit: s, better: lower}\n' >"$place" ;;
    '%') mkdir "$place" ;;
    esac
}
value_of() # TEMPLATE: $value and $mark
{
    mark_count=$((mark_count + 1)) mark=mark${mark_count}x
    case $1 in
    '&' | '&.yaml' | '%') place_of "$1" && value=$place ;;
    *)
        value=${1//@/"# ! of $person"}
        value=${value//+/"# $long $token"}
        value=${value//^/"$token"}
        value=${value//\~/@}
        value=${value//!/"$token password=$word"}
        value=${value//SERVER/"${url#http://}"}
        value=${value//"#:$token password=$word"/"#:$word"}
        value=${value//#/$mark} ;;
    esac
}
words_of() # the rest of a command as words: $words
{
    words=()
    for part in $1; do
        case $part in
        RUN) part=last ;; OUT) part=$WORK/outputs/$mark_count.txt; { cat "$WORK/out.txt"; echo "# output $mark_count"; } >"$part" ;; URL) part=$url ;; OUTSIDE) part=$WORK/outside/$mark_count ;; ADOPTED) part=$WORK/archive ;; @) part="$mark ! $token" ;;
        esac
        words+=("$part")
    done
}
bw() { timeout 300 "$BENCHWRAP" "$@" </dev/null >>"$WORK/said" 2>&1; }
printf '#!/bin/sh\nexec xargs -0 "$BENCHWRAP" log <"$WORK/words"\n' >logs
chmod +x logs
declare -A expected=()
each_of() # OPTION-OF-THE-LIST: the options that it stands for
{
    case $1 in
    *:\*) grep "^${1%\*}" "$WORK/options" | grep -vxF -f "$WORK/listed" ;;
    *) echo "$1" ;;
    esac
}
try() # VERB:--OPTION OUTCOME TEMPLATE REST
{
    local verb=${1%%:*} option=${1#*:} command=()
    value_of "$3"
    words_of "$4"
    expected[$mark]="$2 $1 $3"
    case $verb in
    '') command=(-q --sample 0) ;;
    log) command=(-q --sample 0 -- "$WORK/logs") ;; # which are not in the record as arguments
    *) command=("$verb") ;;
    esac
    if [ "$verb" = log ]; then
        [ "$option" = WORDS ] && words+=("$value") || words=("$option" "$value" "${words[@]}")
        printf '%s\0' "${words[@]}" >"$WORK/words"
        bw "${command[@]}"
        return
    fi
    case $option in
    WORDS) bw "${command[@]}" "${words[@]}" "$value" ;;
    *) bw "${command[@]}" "$option" "$value" "${words[@]}" ;;
    esac
    [ "$verb" != share ] || forge_pulls 'p["title"] + p["text"]' >>"$WORK/server/pulls"
}
runs() { find "$repository/mlruns" -name meta.yaml -path '*/*/*/*' 2>/dev/null | wc -l; }
damaged_run() # one that check refuses, in no commit
{
    BENCHWRAP_COMMIT=none bw -q --sample 0 -n damaged -- true
    find mlruns -path '*/metrics/run.wall_s' -newer "$WORK/before" -exec sed -i 's/ [0-9.e-]* 0$/ 99999 0/' {} +
}

# The options of a run as variables and in configuration files: the program runs in any case, and a warning has the text that is ignored.
tables=$ROOT/wrapper/launch/options.def
by_variables()
{
    sed -n 's/^OPTION(OPTION_\([A-Z_]*\), [^,]*, OPT_[A-Z]*, \("[^"]*"\|NULL\), "\([A-Z_]*\)".*/\1 \3/p' "$tables" >"$WORK/variables"
    while read -r _ variable; do
        for template in @ +; do
            value_of "$template"
            case $variable in BENCHWRAP_TREE | BENCHWRAP_ARCHIVE | BENCHWRAP_CATALOGUE) value="$WORK/paths/$value" ;; MLFLOW_EXPERIMENT_NAME) value=${value% of *} ;; esac
            bw_before=$(runs)
            (export "$variable=$value" && bw -q -t "$repository/mlruns" -- true)
            case $variable in BENCHWRAP_TREE | BENCHWRAP_STRICT) ;; *) [ "$(runs)" -gt "$bw_before" ] || echo "$variable: no run" ;; esac
        done
    done <"$WORK/variables"
}
by_files()
{
    sed -n 's/^OPTION(OPTION_\([A-Z_]*\), [^,]*, OPT_\([A-Z]*\),.*OPT_FROM_FILE.*/\1 \2/p' "$tables" |
        while read -r name kind; do echo "$(tr A-Z_ a-z- <<<"$name") $kind"; done >"$WORK/keys"
    while read -r key kind; do
        for file in "$HOME/.config/benchwrap/config.yaml" "$repository/benchwrap.yaml"; do
            case $file:$key in */benchwrap.yaml:experiment | */benchwrap.yaml:[cprt]*) ;; */benchwrap.yaml:*) continue ;; esac # it ignores the others
            for template in @ +; do
                value_of "$template"
                cp "$repository/benchwrap.yaml" "$WORK/benchwrap.yaml"
                mkdir -p "$HOME/.config/benchwrap"
                case $key in tree | archive | catalogue) value="$WORK/paths/$value" ;; experiment) value=${value% of *} ;; esac
                [ "$kind" = LIST ] && value="db_password=$value"
                printf "profile: $profile\n'%s': '%s'\n" "$key" "$value" >"$file"
                [ "$key" != profile ] || printf "'%s': '%s'\n" "$key" "$value" >"$file"
                bw_before=$(runs)
                bw -q -t "$repository/mlruns" -- true
                case $key in tree | strict) ;; *) [ "$(runs)" -gt "$bw_before" ] || echo "$key: no run" ;; esac
                cp "$WORK/benchwrap.yaml" "$repository/benchwrap.yaml"
                rm -rf "$HOME/.config/benchwrap"
            done
        done
    done <"$WORK/keys"
}

# ---- everything that was written or sent, as one text ----
collect()
{
    {
        find "$repository" "$WORK/state" "$WORK/outside" "$WORK/server" -not -path '*/.git/objects/*' -print -type f -exec cat {} +
        find "$WORK/paths" -name spool -prune -o -type f -exec cat {} + # an unfinished run names its tree
        for git in "$repository" "$HUB"; do git -C "$git" cat-file --batch-all-objects --batch --unordered; git -C "$git" for-each-ref; done
    } 2>/dev/null | tr '\0' '\n' >"$WORK/all"
}

export XDG_STATE_HOME=$WORK/state USER=$person LOGNAME=$person
profiles=public # the private profile takes the same ways, with fewer replacements
! long_tests || profiles='private public'
for profile in $profiles; do
    rm -rf paths state outside server outputs o first port all
    mkdir paths outside server outputs
    cp -R "$ROOT/benchmarks/catalogue/stream/samples/5.10-zen/stdout" out.txt
    url=http://127.0.0.1:9
    if [ -x "$fault" ]; then
        "$fault" --journal "$WORK/server/journal" >"$WORK/server-port" &
        server=$!
        servers="$servers $server"
        wait_until '[ -s server-port ]'
        url=http://127.0.0.1:$(sed 's/port //' server-port)
    else
        skip "$profile: a server" "libmicrohttpd is not installed"
    fi
    forge_start gitlab
    servers="$servers $forge_pid"
    sed -i "s/private/$profile/" first/benchwrap.yaml
    git -C first commit -qam profile; git -C first push -q "$HUB" HEAD:main
    repository=$WORK/$profile
    forge_clone "$repository"
    cd "$repository" || exit 1
    bw -q -n first -- true
    touch "$WORK/before" && sleep 0.02
    damaged_run
    while IFS='|' read -r option outcome template rest; do
        for one in $(each_of "$option"); do GITLAB_TOKEN=w MLFLOW_HTTP_REQUEST_MAX_RETRIES=0 try "$one" "$outcome" "$template" "$rest"; done
    done <"$WORK/list"
    is "$profile: a run with each variable" "$(by_variables)" ""
    is "$profile: a run with each key of a configuration file" "$(by_files)" ""
    bw adopt "$WORK/archive"
    bw commit
    GITLAB_TOKEN=w bw share
    forge_pulls 'p["title"] + p["text"]' >>"$WORK/server/pulls"
    MLFLOW_HTTP_REQUEST_MAX_RETRIES=0 bw sync --to "$url"
    collect
    is "$profile: no secret in what was written and sent" "$(grep -aoF -f "$WORK/secrets" "$WORK/all" | sort | uniq -c)" ""
    grep -aF -f "$WORK/secrets" "$WORK/all" | sort -u | head -n 40 | cut -c1-300 | sed 's/^/# /'
    [ "$profile" = private ] || is "public: no name of a person" "$(grep -acF "$person" "$WORK/all")" 0
    differing=
    for mark in "${!expected[@]}"; do
        read -r outcome option template <<<"${expected[$mark]}"
        [ "$outcome" != private ] || case $profile in private) outcome=stored ;; *) outcome=nowhere ;; esac
        found=nowhere
        ! grep -aqF "$mark" "$WORK/all" || found=stored
        [ "$found" = "$outcome" ] || differing="$differing
$option $template ($mark) is $found"
    done
    is "$profile: ${#expected[@]} texts are stored, or not, as the list says" "$differing" ""
    expected=()
    forge_stop
    [ ! -x "$fault" ] || kill "$server"
    cd "$WORK" || exit 1
done
done_testing
