#!/bin/bash
# t1503: the tear-down of a campaign ends in time, whatever does not answer. Stand-ins for Slurm's programs hang, as they do when a node or slurmctld is lost.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
mark=$((700000 + $$ % 100000))
mkdir bin "$mark" # in the command line of servers, too
left() { pgrep -fa "$mark" | grep -vc benchwrap-core; }

cat >bin/scontrol <<'S'
#!/bin/bash
case $* in
*'show node '*) echo "NodeName=$4 NodeAddr=127.0.0.1" ;;
*\]) printf 'n1\nn2\n' ;;
*) printf '%s\n' "${3//,/$'\n'}" ;;
esac
S
# srun [OPTION…] COMMAND… on this machine. hang-NAME: what it starts, and srun itself, ignore SIGTERM; silent-NAME: it starts nothing and never ends.
cat >bin/srun <<S
#!/bin/bash
nodes=n1
for a; do
    case \$a in --job-name=*) name=\${a#*=} ;; --nodes=2) nodes='n1 n2' ;; -*) ;; *) break ;; esac
    shift
done
echo "\${name:=bw-node.0}" >>$WORK/sruns
name=\${name%.*}
[ ! -e $WORK/hang-\$name ] || trap '' TERM
if [ -e $WORK/silent-\$name ]; then touch $WORK/is-silent; exec sleep $mark; fi
for n in \$nodes; do SLURMD_NODENAME=\$n "\$@" <&0 & echo \$! >$WORK/pid-\$name-\$n; done
while :; do wait -n; status=\$?; [ \$status = 127 ] && exit \${last:-0}; last=\$status; done
S
cat >bin/squeue <<S
#!/bin/bash
[ ! -e $WORK/hang-squeue ] || exec sleep $mark
case \$* in *--steps*) awk '{ print "1." NR, \$1 }' $WORK/sruns ;; *%T*) echo 'RUNNING n[1-2]' ;; *) echo 1 ;; esac
S
cat >bin/scancel <<S
#!/bin/bash
echo "\$*" >>$WORK/scancels
[ ! -e $WORK/hang-scancel ] || exec sleep $mark
S
cat >cluster <<S
#!/bin/sh
SLURM_JOB_ID=1 SLURM_JOB_NODELIST='n[1-2]' PATH=$WORK/bin:\$PATH exec "$BENCHWRAP" recipe run "\$@"
S
chmod +x cluster bin/*

# Sends SIGTERM once the condition holds, and waits for the end: $took in ms, $status.
ended() # CONDITION PID
{
    wait_until "$1" 60 || tap_fail "the campaign came so far: $1" "$(cat err)"
    local before
    before=$(date +%s%N)
    kill -TERM "$2" 2>/dev/null
    wait "$2"
    status=$?
    took=$((($(date +%s%N) - before) / 1000000))
}
# With a grace of 1 s the tear-down has 3 s. On a busy machine it has until 5 s, which is the time for the default grace.
in_time() # NAME
{
    is "$1: status" "$status" 143
    ok "$1: within 5 s, after $took ms" [ "$took" -lt 5000 ]
    wait_until '[ "$(left)" = 0 ]' 20
    is "$1: nothing is left" "$(left)" 0
    rm -f hang-* silent-* is-silent up sruns scancels pid-*
}

roles="
  server: {command: [python3, -m, http.server, '{port}', --bind, '{host}', --directory, '$WORK/$mark'], ports: {http: 0}, ready: {http: /}}
  client: {command: [sh, -c, 'touch $WORK/up; exec sleep $mark'], nodes_of: server}"
printf 'version: 1\nname: slurm\ngrace: 1s\nroles:%s\n' "$roles" >slurm.yaml

# ---- Slurm's programs ----
touch hang-bw-server hang-bw-client hang-squeue hang-scancel
./cluster slurm.yaml >out 2>err &
ended '[ -e up ]' $!
in_time "no step ends, and no program of Slurm answers"

touch silent-bw-beats hang-bw-beats silent-bw-monitor hang-bw-monitor hang-scancel
python3 -c 'import socket, time; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); open("gateway", "w").write(str(s.getsockname()[1])); time.sleep(600)' &
gateway=$!
wait_until '[ -s gateway ]'
printf 'version: 1\nname: watched\ngrace: 1s\nmonitoring: {interval: 200ms, pushgateway: "http://127.0.0.1:%s", push_interval: 500ms, custom: {x: {command: [sleep, %s]}}}\nroles:%s\n' \
    "$(cat gateway)" $mark "$roles" >watched.yaml
./cluster watched.yaml >out 2>err &
ended '[ -e up ]' $!
in_time "monitors and signs of life hang"
kill $gateway
wait $gateway 2>/dev/null

touch silent-bw-node
./cluster slurm.yaml >out 2>err &
ended '[ -e is-silent ]' $!
in_time "the preflight of the nodes hangs"
is "which refuses no point" "$("$BENCHWRAP" recipe report slurm --json | jq -c '[.[].outcome]')" '["cancelled"]'

touch silent-bw-node
./cluster --preflight-only slurm.yaml >out 2>err &
ended '[ -e is-silent ]' $!
like "a preflight that is interrupted has no result" "$status $(cat err)" '^143 benchwrap: recipe: preflight: interrupted'
rm -f silent-* is-silent sruns

# ---- a lost node ----
touch hang-bw-server hang-bw-client hang-scancel
printf 'version: 1\nname: lost\ngrace: 1s\nnode_timeout: 1s\nroles:%s\n' "$roles" >lost.yaml
./cluster lost.yaml >out 2>err &
campaign=$!
wait_until '[ -e up ] && [ -s pid-bw-beats-n2 ]'
sleep 0.5 # it has sent a sign of life
before=$(date +%s%N)
kill -STOP "$(cat pid-bw-beats-n2)"
wait $campaign
status=$? took=$((($(date +%s%N) - before) / 1000000 - 1000)) # without node_timeout
like "a lost node ends the campaign" "$(cat err)" 'cancelled in .*: the node n2 is lost: it was silent for node_timeout'
like "its steps are cancelled once, all of them" "$(cat scancels)" '^1[.]1( 1[.][0-9]+)+$'
kill -CONT "$(cat pid-bw-beats-n2)" 2>/dev/null
in_time "a lost node"

# ---- steps that survive their srun, while other services go on ----
touch hang-bw-a
cat >again.yaml <<Y
version: 1
name: again
grace: 500ms
sweep: {grid: {n: [1, 2]}}
roles:
  a: {command: [python3, -m, http.server, '{port}', --bind, '{host}', --directory, '$WORK/$mark'], ports: {http: 0}, ready: {http: /}, restart: point}
  b: {command: [python3, -m, http.server, '{port}', --bind, '{host}', --directory, '$WORK/$mark'], ports: {http: 0}, ready: {http: /}, nodes_of: a}
  client: {command: [echo, "rate {n} op/s"]}
Y
./cluster again.yaml >out 2>err
is "a service that ignores SIGTERM starts again" "$? $("$BENCHWRAP" recipe report again --json | jq -c '[.[].outcome]')" '0 ["valid","valid"]'
is "steps of the others go on" "$(head -n 1 scancels)" "1.$(awk '/^bw-a[.]/ { print NR; exit }' sruns)"
rm -f hang-* sruns scancels

# ---- without Slurm ----
printf 'version: 1\nname: ask\ngrace: 1s\npreflight: {commands: [[sh, -c, "touch up; exec sleep %s"]]}\nroles:%s\n' $mark "$roles" >ask.yaml
"$BENCHWRAP" recipe run --local ask.yaml >out 2>err &
ended '[ -e up ]' $!
in_time "a command of the preflight hangs"

# ---- a client whose record is late ----
printf 'version: 1\nname: record\ngrace: 500ms\nroles: {c: {command: [sh, -c, "touch %s/up; exec sleep %s"]}}\n' "$WORK" $mark >record.yaml
"$BENCHWRAP" recipe run --local record.yaml >out 2>err &
campaign=$!
wait_until '[ -e up ] && pgrep -f "recorder.*$mark"'
recorder=$(pgrep -f "recorder.*$mark")
kill -STOP "$recorder"
ended true $campaign
kill -CONT "$recorder"
in_time "the recorder hangs"
is "such a run has no exit status of its own" "$(jq -r 'select(.event == "end") | .exit' .benchwrap/campaigns/record/points.jsonl)" 143

mkdir -p "$HOME/.config/benchwrap/services"
printf '#!/bin/sh\ntouch up\nexec sleep %s\n' $mark >bin/slow
chmod +x bin/slow
printf 'name: slow\ncommand: [%s/bin/slow, serve]\nports: {http: 0}\nready: {http: /}\n' "$WORK" >"$HOME/.config/benchwrap/services/slow.yaml"
printf 'version: 1\nname: help\ngrace: 1s\nroles:\n  s: {service: slow, args: [--one, 1, --two, 2]}\n  c: {command: "true"}\n' >help.yaml
"$BENCHWRAP" recipe run --local help.yaml >out 2>err &
ended '[ -e up ]' $!
in_time "the --help of a service hangs"
done_testing
