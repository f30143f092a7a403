#!/bin/bash
# What was asked: origins and their order, places, experiment, rules; wrong lines end 125 before anything starts.
. "$(dirname "$0")/../lib/tap.sh"
mkdir -p "$WORK/w" && cd "$WORK/w" || exit 1

# value of the plan's JSON at a dotted path
plan() # PATH [ARGUMENTS OF plan]
{
    path=$1; shift
    "$BENCHWRAP" plan --json "$@" 2>"$WORK/notes" | python3 -c '
import json, sys
v = json.load(sys.stdin)
for k in sys.argv[1].split("."): v = v[int(k)] if isinstance(v, list) else v.get(k)
print(json.dumps(v) if isinstance(v, (list, dict)) or v is None else v)' "$path"
}
status() { "$BENCHWRAP" "$@" >"$WORK/out" 2>"$WORK/err"; echo $?; }

is "the program is what stands behind --" "$(plan argv -- a -b --json)" '["a", "-b", "--json"]'
is "launchers are seen through" "$(plan program -- env A=1 numactl -N 0 ior -a POSIX)" '["ior", "-a", "POSIX"]'
is "the tree is ./mlruns" "$(plan tree -- true)" "$WORK/w/mlruns"
is "the spool lies beside the tree" "$(plan spool -- true)" "$WORK/w/.benchwrap/spool"
is "a folder of another name holds the tree" "$(plan tree -t ../res -- true)" "$WORK/w/../res/mlruns"
is "a folder called mlruns is the tree" "$(plan tree -t /x/mlruns/ -- true)" /x/mlruns
is "BENCHWRAP_TREE" "$(BENCHWRAP_TREE=/y plan tree -- true)" /y/mlruns
is "the line is stronger than the environment" "$(BENCHWRAP_TREE=/y plan tree -t /x -- true)" /x/mlruns
is "MLFLOW_TRACKING_URI as a path" "$(MLFLOW_TRACKING_URI=/z plan tree -- true)" /z/mlruns
is "MLFLOW_TRACKING_URI as a file: URI, decoded" "$(MLFLOW_TRACKING_URI=file:///a%20b/mlruns plan tree -- true)" "/a b/mlruns"
is "a file: URI of another host is not used" "$(MLFLOW_TRACKING_URI=file://other/a plan tree -- true)" "$WORK/w/mlruns"
is "BENCHWRAP_TREE is stronger than MLFLOW_TRACKING_URI" "$(MLFLOW_TRACKING_URI=/z BENCHWRAP_TREE=/y plan tree -- true)" /y/mlruns
nobody=http://127.0.0.1:1 # where nothing listens
is "a server is not a tree" "$(MLFLOW_TRACKING_URI=$nobody plan tree -- true)" "$WORK/w/mlruns"
is "it is the server" "$(MLFLOW_TRACKING_URI=$nobody/x/ plan server -- true)" "$nobody/x"
is "its password is not told" "$(MLFLOW_TRACKING_URI=http://jo:s3cret@127.0.0.1:1 plan server -- true)" "$nobody"
is "nowhere else either" "$(BENCHWRAP_TO=http://jo:s3cret@127.0.0.1:1 "$BENCHWRAP" plan --json -- true 2>&1 | grep -c s3cret)" 0
like "one on the line is refused" "$("$BENCHWRAP" plan --to http://jo:s3cret@127.0.0.1:1 -- true 2>&1)" "everybody .* could see"
is "the password is not repeated" "$("$BENCHWRAP" plan --to http://jo:s3cret@127.0.0.1:1 -- true 2>&1 | grep -c s3cret)" 0
like "it is asked whether it answers" "$(MLFLOW_TRACKING_URI=$nobody plan server_answer -- true)" "127.0.0.1"
is "--to is stronger" "$(MLFLOW_TRACKING_URI=http://127.0.0.1:2 plan server --to $nobody -- true)" "$nobody"
is "--to none: no server" "$(MLFLOW_TRACKING_URI=$nobody plan server --to none -- true)" null
like "--to wants a server" "$("$BENCHWRAP" plan --to /tmp -- true 2>&1)" "is not the address of an MLflow server"
is "MLFLOW_RUN_ID: appended to that run" "$(MLFLOW_TRACKING_URI=$nobody MLFLOW_RUN_ID=0a1b plan server_run -- true)" 0a1b
is "but not to the one that our parent has shared" "$(MLFLOW_TRACKING_URI=$nobody MLFLOW_RUN_ID=0a1b BENCHWRAP_SHARED_RUN=0a1b plan server_run -- true)" null
ln -s "$WORK/far/mlruns" "$WORK/w/link"; mkdir -p "$WORK/far/mlruns"
is "a link to a tree is the tree" "$(plan tree -t link -- true)" "$WORK/far/mlruns"
mkdir -p "$WORK/l"; ln -s "$WORK/far/mlruns" "$WORK/l/mlruns"
is "the spool lies beside the real tree" "$(plan spool -t "$WORK/l" -- true)" "$WORK/far/.benchwrap/spool"
is "no home: no fallback" "$(HOME='' plan spool_fallback -- true)" null
is "XDG_STATE_HOME" "$(XDG_STATE_HOME=/s plan spool_fallback -- true)" /s/benchwrap/spool
is "a relative XDG_STATE_HOME is ignored" "$(XDG_STATE_HOME=s plan spool_fallback -- true)" "$HOME/.local/state/benchwrap/spool"

is "the experiment is default" "$(plan experiment -- true)" default
is "or the benchmark's name" "$(plan experiment -- /opt/x/ior -a POSIX)" ior
is "or MLFLOW_EXPERIMENT_NAME" "$(MLFLOW_EXPERIMENT_NAME=m plan experiment -- ior)" m
is "or -e" "$(MLFLOW_EXPERIMENT_NAME=m plan experiment -e e -- ior)" e
is "an illegal name from the environment is made legal" "$(MLFLOW_EXPERIMENT_NAME=a/b plan experiment -- ior)" a_b
is "an illegal name on the line is refused" "$(status plan -e a/b -- true)" 125
is "the rules of a program are found by its name" "$(plan rules -- /opt/bin/ior)" shipped:ior
is "or named" "$(plan benchmark -r ior -- ./other)" ior
is "or none" "$(plan rules -r none -- ior)" null
is "rules that are not there are refused" "$(status plan -r nothing -- true)" 125
like "with their name" "$(cat "$WORK/err")" 'rules: "nothing" is neither'
printf 'name: [\n' >bad.yaml
is "wrong rules are refused" "$(status plan -r ./bad.yaml -- true)" 125
like "with file, line and column" "$(cat "$WORK/err")" 'bad.yaml:[0-9]+:[0-9]+'
is "so does a recorded run" "$(status -r ./bad.yaml -- touch ran)" 125
ok "and nothing was started" test ! -e ran

mkdir -p "$HOME/.config/benchwrap"
cat >"$HOME/.config/benchwrap/config.yaml" <<'Y'
experiment: mine
tag: [a=1, b=2]
param: {x: 1}
timeout: 5s
nonsense: 1
name: not here
log-max: much
tree: /user
Y
is "a configuration file is read" "$(plan options.experiment -- true)" "{\"value\": \"mine\", \"origin\": \"user\", \"where\": \"$HOME/.config/benchwrap/config.yaml:1\"}"
is "lists" "$(plan options.tag.value -- true)" '["a=1", "b=2"]'
is "maps" "$(plan options.param.value -- true)" '["x=1"]'
is "a flag replaces the list" "$(plan options.tag.value --tag c=3 --tag d=4 -- true)" '["c=3", "d=4"]'
is "a tree of one's own" "$(plan tree -- true)" /user/mlruns
is "a wrong value leaves the default" "$(plan options.log-max.value -- true)" 16M
like "and is said with its place" "$(plan warnings -- true)" 'config.yaml:7: .*much'
like "so is an unknown name" "$(plan warnings -- true)" 'config.yaml:5: .*nonsense'
like "and one that may not stand there" "$(plan warnings -- true)" 'config.yaml:6: name is no key'
like "nor one that the launcher acts on" "$(plan warnings -- true)" 'config.yaml:4: timeout is no key'
is "the environment is stronger" "$(MLFLOW_EXPERIMENT_NAME='env' plan experiment -- true)" env
mkdir -p "$WORK/repo/mlruns" "$WORK/repo/a/b"
printf 'experiment: shared\nrules: ior\ntree: /elsewhere\n' >"$WORK/repo/benchwrap.yaml"
cd "$WORK/repo/a/b" || exit 1
is "the results repository is found upwards" "$(plan repository -- true)" "$WORK/repo"
is "and is stronger than one's own file" "$(plan experiment -- true)" shared
is "its rules are not taken" "$(plan rules -- true)" shipped:generic
is "its tree option neither" "$(plan tree -- true)" /user/mlruns
rm "$HOME/.config/benchwrap/config.yaml"
is "its own tree is" "$(plan tree -- true)" "$WORK/repo/mlruns"
printf 'a: [' >"$WORK/repo/benchwrap.yaml"
is "a broken file does not stop anything" "$(status plan -- true)" 0
like "and is said with line and column" "$(cat "$WORK/err")" 'benchwrap.yaml:[0-9]+:[0-9]+.*ignored'
cd "$WORK/w" || exit 1

is "no arguments" "$(status)" 125
is "an unknown command" "$(status ior -a X)" 125
is "is answered with the right line" "$(cat "$WORK/err")" "benchwrap: 'ior' is not a benchwrap command; to run and record it: benchwrap -- ior -a X"
status sho >/dev/null
like "what was probably meant" "$(cat "$WORK/err")" 'did you mean "benchwrap show"'
status ior 'a b' "it's" "\$x" '' >/dev/null
is "quoted for the shell" "$(sed 's/.*benchwrap -- //' "$WORK/err")" "ior 'a b' 'it'\\''s' '\$x' ''"
status ior "$(printf '\033[31m')" >/dev/null
is "nothing reaches the terminal raw" "$(tr -d '\n[:print:]' <"$WORK/err" | wc -c)" 0
is "an unknown option of a command" "$(status ls --nope)" 125
is "a wrong value" "$(status ls --last x)" 125
is "a wrong value is told with its option" "$(grep -c -- '--last' "$WORK/err")" 1
for pair in nokey =x ''; do
    is "a parameter written \"$pair\"" "$(status -p "$pair" -- touch "$WORK/started")" 125
    is "a tag written \"$pair\"" "$(status --tag "$pair" -- touch "$WORK/started")" 125
done
like "what is wanted is said" "$(cat "$WORK/err")" "expected KEY=VALUE"
ok "nothing was started" [ ! -e "$WORK/started" ]
is "an empty value is a value" "$(status -p k= --tag t= -- true)" 0
"$BENCHWRAP" plan -- no-such-program-here >out 2>err
like "a program that is not there" "$(cat err)" 'plan: no-such-program-here: there is no such program in PATH'
"$BENCHWRAP" plan -- ./nope >out 2>err
like "... by its path" "$(cat err)" 'plan: \./nope: there is no such program$'
"$BENCHWRAP" plan --sweep 'p=true,gone-program' -- '{p}' >out 2>err
like "... at one point of a sweep" "$(cat err)" 'plan: gone-program: there is no such'
"$BENCHWRAP" plan --sweep 'p=true,false' -- '{p}' >out 2>err
is "programs that are there" "$(cat err)" ""
done_testing
