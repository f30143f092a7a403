#!/bin/bash
# ls, show, compare, log, ui, doctor, version over real runs; damaged trees; full disks and closed pipes.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
PATH=$(dirname "$BENCHWRAP"):$PATH
bw() { "$BENCHWRAP" "$@" 2>"$WORK/err"; }
get() # EXPRESSION: of the JSON on stdin, called v
{
    python3 -c 'import json, sys
v = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1"
}

bw ls >out; is "no tree: a message" "$?" 1
like "that says what to do" "$(cat err)" 'no runs in .*/mlruns yet: record one'
bw -q -e one -p size=1 --tag team=x -- sh -c 'benchwrap log --unit MiB/s speed=10.5; benchwrap log -p colour=red -t mood=good; for i in 0 1 2 3; do benchwrap log --step $i lat=$((10 + i)); done; benchwrap log odd=NaN' || echo "run failed: $(cat err)"
for i in 0 1 2 3; do bw -q -e one -p size=2 -- sh -c "benchwrap log speed=2$i lat=5"; done
bw -q -e two -- false

is "ls shows all runs" "$(bw ls --json | get 'len(v)')" 6
is "newest first" "$(bw ls --json | get 'v[0]["experiment"] + " " + v[0]["status"]')" "two FAILED"
# A client of MLflow with a database of its own puts files of its runs here: they are no damaged runs.
mkdir -p mlruns/0/c86fac900f0e47c1a842ae8a7f2e949a/artifacts mlruns/0/models/m-1
is "files of another store are no runs" "$(bw ls --json | get 'len(v)') $(cat err)" "6 "
rm -r mlruns/0/c86fac900f0e47c1a842ae8a7f2e949a/artifacts && mkdir mlruns/0/c86fac900f0e47c1a842ae8a7f2e949a/params
like "a run that lost its meta.yaml is damaged" "$(bw ls 2>&1; cat err)" "c86fac900f0e47c1a842ae8a7f2e949a: damaged"
rm -r mlruns/0
is "of one experiment" "$(bw ls -e one --json | get 'len(v)')" 5
is "of one status" "$(bw ls --status failed --json | get 'len(v)')" 1
is "with a tag" "$(bw ls --tag team=x --json | get 'len(v)')" 1
is "the last ones" "$(bw ls --last 2 --json | get 'len(v)')" 2
is "each run has a line" "$(bw ls | grep -cE '^[0-9a-f]{8} ')" 6
is "each experiment a table" "$(bw ls | grep -cE '^(one|two)( |$)')" 2
is "no tab, no escape in a pipe" "$(bw ls | tr -d '\n[:print:]' | wc -c)" 0
bw ls -e nothing >out; is "nothing found is no failure" "$?" 0
like "but said, with the experiments that there are" "$(cat err)" 'no experiment "nothing" in .*/mlruns; there are: two, one$'
bw ls -e one --status killed >out
like "of one that exists, by another filter" "$(cat err)" 'no runs that pass --status and --tag of experiment "one" in '
bw ls --tag x >out; is "a tag without a value is refused" "$?" 125

first=$(bw ls -e one --json | get 'v[-1]["id"]')
bw show "${first:0:12}" --json >run.json; is "show takes the beginning of an id" "$?" 0
is "its params" "$(get 'v["params"]["size"] + v["params"]["colour"]' <run.json)" 1red
is "its tags" "$(get 'v["tags"]["mood"]' <run.json)" good
is "its metrics with unit" "$(get '[(m["value"], m["unit"]) for m in v["metrics"] if m["key"] == "speed"]' <run.json)" "[(10.5, 'MiB_per_s')]"
is "its series" "$(get '[(s["step"], s["value"]) for m in v["metrics"] if m["key"] == "lat" for s in m["samples"]]' <run.json)" "[(0, 10), (1, 11), (2, 12), (3, 13)]"
is "… the last sample, and the median that show prints" "$(get '[(m["value"], m["median"]) for m in v["metrics"] if m["key"] == "lat"]' <run.json)" "[(13, 11.5)]"
like "… namely" "$(bw show "$first")" '^ +lat +11\.5 '
is "… null where no value is a number" "$(get '[m["median"] for m in v["metrics"] if m["key"] == "odd"]' <run.json)" "[None]"
is "NaN is kept, as MLflow spells it" "$(get '[m["value"] for m in v["metrics"] if m["key"] == "odd"]' <run.json)" "['NaN']"
is "its artifacts with size" "$(get '[a["size"] for a in v["artifacts"] if a["path"] == "benchwrap.json"][0] > 100' <run.json)" True
is "without RUN: the newest" "$(bw show --json | get 'v["experiment"]')" two
is "last~1" "$(bw show last~1 --json | get 'v["experiment"]')" one
is "what the program measured stands first, the machine last" \
    "$(bw show --all "$first" | sed -n '/^Metrics/,/^$/p' | grep -oE '^(speed|run\.wall_s|host\.uptime_s)' | tr '\n' ' ')" "speed run.wall_s host.uptime_s "
bw show last~99 >out; is "last~99 is not there" "$?" 1
bw show zz >out; is "not a run" "$?" 1
like "is told" "$(cat err)" 'no run with id or name "zz"'
commands=$("$BENCHWRAP" help commands | sed -n '/^ *usage:\|^ *benchwrap /d; s/^.\{12\}\([a-z][a-z-]*\) .*/\1/p')
is "no help has a heading twice" "$(for command in $commands; do "$BENCHWRAP" help "$command" | grep -E '^[A-Z][A-Za-z ]*:$' | sort | uniq -d; done)" ""
is "the text has every part" "$(bw show --all "$first" | grep -cE '^(Metrics|Parameters|Tags|Artifacts)$')" 4

bw compare last~1 last --json >cmp.json; is "compare two runs" "$?" 0
is "one run each without repetitions: too few" "$(get '[m["groups"][1]["verdict"] for m in v["metrics"] if m["key"] == "run.wall_s"]' <cmp.json)" "['too few']"
bw compare --by size -e one --json >cmp.json; is "compare by a param" "$?" 0
is "makes its groups, the oldest first" "$(get '[(g["name"], len(g["runs"])) for g in v["groups"]]' <cmp.json)" "[('1', 1), ('2', 4)]"
is "the params that differ" "$(get 'v["params"]["size"]' <cmp.json)" "['1', '2']"
is "a run counts once beside groups" "$(get '[(g["n"], g["median"]) for m in v["metrics"] if m["key"] == "lat" for g in m["groups"]]' <cmp.json)" "[(1, 11.5), (4, 5)]"
is "medians" "$(get '[g["median"] for m in v["metrics"] if m["key"] == "speed" for g in m["groups"]]' <cmp.json)" "[10.5, 21.5]"
bw compare "last~1,last~2" vs "last~3,last~4" --json >cmp.json; is "groups by commas" "$(get '[len(g["runs"]) for g in v["groups"]]' <cmp.json)" "[2, 2]"
bw compare last >out; is "one run is not enough" "$?" 125
bw compare last,last vs last~1 >out; is "twice the same is refused" "$?" 125

bw log a=1; is "log outside a run does nothing" "$?" 0
is "silently" "$(cat err)" ""
bw log a=one; is "log: no number" "$?" 1
bw log a=inf; is "log: infinite" "$?" 1
bw log --unit furlong a=1; is "log: an unknown unit" "$?" 125
bw log; is "log: nothing" "$?" 125
BENCHWRAP_SOCKET=@benchwrap/none bw log --strict a=1; is "log: nobody listens, and that matters" "$?" 1
BENCHWRAP_SOCKET=@benchwrap/none bw log a=1; is "log: nobody listens" "$?" 0
like "says so too" "$(cat err)" 'recorder of this run does not answer'

like "ui prints the command" "$(bw ui --print)" 'mlflow server --backend-store-uri sqlite:///mlflow.db --artifacts-destination ./artifacts'
like "and its address" "$(bw ui --print -e one)" '^http://127.0.0.1:5000/$'
free=$(free_port)
mkdir stub; printf '#!/bin/sh\necho "$(basename "$PWD")|$MLFLOW_TRACKING_URI|$*"\n' >stub/mlflow; chmod +x stub/mlflow; mkdir sub
like "what a server that ends at once has said is told" "$(cd sub && MLFLOW_TRACKING_URI=.. PATH=$WORK/stub:$PATH "$BENCHWRAP" ui -t .. --port "$free" 2>&1)" \
    "ended while it started.*: ui\\|\\|server --backend-store-uri sqlite:///mlflow.db .*--host unix:mlflow.sock --port $free"
printf '#!/bin/sh\nexec sleep 2\n' >stub/mlflow
like "a terminal counts the seconds while MLflow starts" "$(PATH=$WORK/stub:$PATH TERM=xterm script -qec "$BENCHWRAP ui -t . --port $free" /dev/null)" 'starting MLflow: second 1'
like "without MLflow it says what to do" "$(PATH=/usr/bin:/bin "$BENCHWRAP" ui 2>&1)" 'MLflow is not installed.*ui --install'
"$BENCHWRAP" -q -t quoted -- sh -c 'echo "a b"; exit 0' x >/dev/null
like "show has the command line as a shell reads it" "$("$BENCHWRAP" show -t quoted)" "^  sh -c 'echo \"a b\"; exit 0' x$"
is "doctor finds nothing broken" "$(bw doctor --json | get 'v["ok"]')" True
mkdir -p lone/libexec/benchwrap; cp "$BUILD/libexec/benchwrap/benchwrap-core" lone/libexec/benchwrap
lone/libexec/benchwrap/benchwrap-core doctor >out; is "a core without its launcher is" "$?" 1
mkdir -p "$HOME/.config/benchwrap/catalogue/mine"; echo "name: [" >"$HOME/.config/benchwrap/catalogue/mine/rules.yaml"
like "rules of one's own that cannot be read are told" "$(bw doctor)" "mine: .*mine/rules.yaml:[0-9]+:[0-9]+"
like "doctor: the answer comes first" "$(bw doctor | head -n 1)" '^benchwrap [0-9.]+ can record here[.]$'
shown=$(cd / && COLUMNS=60 script -qec "$BENCHWRAP doctor" /dev/null | tr -d '\r' | sed 's/\x1b\[[0-9;]*m//g')
like "  on a terminal too" "$shown" 'can record here[.]$'
is "  which is never wider than 60 columns" "$(echo "$shown" | awk 'length > 60 && NF > 1')" ""
empty=$WORK/empty; mkdir "$empty"
out=$(PATH=$empty "$BENCHWRAP" doctor)
is "doctor: schedulers of other machines are no findings" "$(echo "$out" | grep -cE 'scheduler|flux|bsub|qsub|MPI')" 0
like "  what is missing has a step" "$(echo "$out" | tr '\n' ' ')" 'git +none +to keep and share runs in a repository: install git'
like "  --all has every check" "$(PATH=$empty "$BENCHWRAP" doctor --all)" '^scheduler +flux +-'
is "  --json too" "$(PATH=$empty "$BENCHWRAP" doctor --json | get '[r["state"] for r in v["checks"] if r["what"] == "flux"]')" "['-']"
printf '#!/bin/sh\n[ "$*" = ping ] && echo "Slurmctld(primary) at head is $STATE"\n' >stub/scontrol; chmod +x stub/scontrol
like "  slurmctld answers" "$(STATE=UP PATH=$WORK/stub:$PATH "$BENCHWRAP" doctor)" '^ +slurmctld answers$'
like "  or does not, with the step" "$(STATE=DOWN PATH=$WORK/stub:$PATH "$BENCHWRAP" doctor | tr -s '\n ' ' ')" 'slurmctld does not answer: Slurmctld\(primary\) at head is DOWN runs in jobs lack .* see "scontrol ping"'
rm -r "$HOME/.config/benchwrap"
is "version" "$(bw --version | head -n 1)" "benchwrap $(cat "$ROOT/VERSION")"
is "with all libraries" "$(bw version --json | get 'sorted(v["libraries"])')" "['PCRE2', 'cJSON', 'hwloc', 'libcurl', 'libgit2', 'libuuid', 'libyaml']"

bw ls --json >/dev/full; is "a full disk is an error" "$?" 1
like "that is told" "$(cat err)" 'writing to standard output: No space left'
bw show --json | true; is "a closed pipe is none" "${PIPESTATUS[0]}$(cat err)" 0
bw ls >&-; is "no standard output at all is an error" "$?" 1

# damage: the others are still shown
cp -a mlruns whole
second=$(bw ls -e one --json | get 'v[0]["id"]'); exp=$(basename "$(dirname mlruns/*/"$second")")
printf 'status: [\n' >"mlruns/$exp/$second/meta.yaml"
bw ls --json >out.json; is "a damaged run: status 1" "$?" 1
is "and it is not told to be running" "$(get '[r["status"] for r in v if r["problem"]]' <out.json)" "['DAMAGED']"
is "the others are there" "$(get 'len(v)' <out.json)" 6
like "it is named" "$(cat err)" "$second: damaged: meta.yaml"
printf 'no sample\n' >"mlruns/$exp/$first/metrics/speed"
bw show "$first" >out; is "a damaged metric: status 1" "$?" 1
like "is named" "$(cat out)" 'damaged .*speed'
printf '{' >"mlruns/$exp/$first/artifacts/benchwrap.json"
bw show "$first" --json >out.json; is "a damaged record: status 1" "$?" 1
is "params are shown" "$(get 'v["params"]["size"]' <out.json)" 1
rm "mlruns/$exp/meta.yaml"; bw ls >out; like "a damaged experiment is named" "$(cat err)" "experiment's meta.yaml"
rm -rf mlruns; mv whole mlruns
# A clock that was ahead: the last run is the newest of those that have started.
newest=$(bw ls --json | get 'v[0]["id"]'); meta=$(echo mlruns/*/"$newest"/meta.yaml); next=$(bw ls --json | get 'v[1]["id"]')
cp "$meta" meta.kept; sed -i "s/^start_time: .*/start_time: $(date -d '+3 days' +%s)000/; s/^end_time: .*/end_time: $(date -d '+3 days' +%s)001/" "$meta"
is "a run of the future is not the last" "$(bw show --json last | get 'v["id"]')" "$next"
like "… and a note says so" "$(cat err)" '^benchwrap: last: ignoring 1 run with a start in the future; hint: check the clock of this machine$'
is "… but the first row" "$(bw ls --json | get 'v[0]["id"]')" "$newest"
cp meta.kept "$meta"; is "… once its time has come" "$(bw show --json last 2>/dev/null | get 'v["id"]')" "$newest"
printf 'evil \033]0;x\007\t\302\233name' >"mlruns/$exp/$first/tags/team"
is "foreign text is harmless" "$(bw show --all "$first" | LC_ALL=C tr -d '\n[:print:]' | LC_ALL=C tr -d '\200-\377' | wc -c)" 0
sed -i 's/^lifecycle_stage:.*/lifecycle_stage: "deleted"/' "mlruns/$exp/$first/meta.yaml"
is "deleted runs are hidden" "$(bw ls -e one --json | get 'len(v)')" 4
done_testing
