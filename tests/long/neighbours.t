#!/bin/bash
# Two real users attack each other: at least 10,000 scripted attempts, each race at least 1,000 times, and nothing is gained. The table of SECURITY.md
# comes from the lines "# |" of this test. NEIGHBOUR_TRIES=N makes N attempts of a race for each of the two users (default: 500).
# shellcheck disable=SC2016 # the inner shells' variables
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/users.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/mlflow_server.sh"
users_required "two users who attack each other"

tries=${NEIGHBOUR_TRIES:-500}
PYTHON=/usr/bin/python3
NEIGHBOUR=$WORK/neighbour.py SEND=$WORK/log-sender.py LLMLOAD=$BUILD/bin/llmload
cp "$TESTLIB/neighbour.py" "$TESTLIB/log-sender.py" "$WORK/"
cp "$LLMLOAD" "$WORK/llmload"
chmod 755 "$WORK"/*.py "$WORK/llmload"
LLMLOAD=$WORK/llmload
export PYTHON NEIGHBOUR SEND LLMLOAD
background=()
trap 'kill "${background[@]}" 2>/dev/null; tap_exit' EXIT

# ---- what a victim has, and what was gained ----
declare -A uid=([alice]=$(as_alice id -u) [bob]=$(as_bob id -u)) # the names go where another program replaces /etc/passwd
secret_of() { echo "PRIVATE-KEY-OF-$1-7c1e"; }
for user in alice bob; do
    as_user $user sh -c 'umask 077; mkdir -p ~/.ssh ~/target/pack && echo "$1" >~/.ssh/id && echo "$1" >~/target/precious && echo keep >~/target/pack/keep
        printf "experiment: stolen\n" >~/private.yaml' sh "$(secret_of $user)"
done
state_of() { (cd "$HOMES/$1" && find .ssh target -type f -exec md5sum {} + | sort; find .ssh target -printf '%p %y %m %U\n' | sort); } # USER
alice_state=$(state_of alice)
bob_state=$(state_of bob)
gained() # VICTIM: how much of the victim's was read, written or removed, or carried out of their home
{
    gained_state=$1_state
    diff <(echo "${!gained_state}") <(state_of "$1") | grep '^[<>]'
    grep -rlF "$(secret_of "$1")" "$LAB" "$STICKY" "$WORK/said" "$HOMES/$1/.local" "$HOMES/$1/out" 2>/dev/null |
        while read -r file; do [ "$file" -ef "$HOMES/$1/.ssh/id" ] || echo "the secret is in $file"; done # but for a hard link to the file itself
    find "$LAB" "$STICKY" -name 'precious*' 2>/dev/null
    [ ! -e "$WORK/ran" ] || echo "ran: $(cat "$WORK/ran")"
    rm -f "$WORK/ran"
}

declare -A attempts=() gains=()
order=()
tally() # KIND ATTEMPTS GAINED-LINES
{
    [ -n "${attempts[$1]:-}" ] || { order+=("$1"); attempts[$1]=0; gains[$1]=0; }
    attempts[$1]=$((attempts[$1] + $2))
    [ -z "$3" ] || { gains[$1]=$((gains[$1] + $(wc -l <<<"$3"))); sed "s/^/# $1: /" <<<"$3" | head -n 5 >&2; }
}
fresh() # empty places; a recorder may still be at work there
{
    cd "$STICKY" || exit 1
    for _ in $(seq 100); do
        rm -rf "${STICKY:?}"/* "$STICKY"/.[a-z]* "${LAB:?}"/* "$LAB"/.[a-z]* "$HOMES"/*/out "$HOMES"/*/out2 "$HOMES"/*/.local 2>/dev/null
        [ -n "$(ls -A "$STICKY" "$LAB" | grep -v ':$')" ] || break
        sleep 0.1
    done
    rm -f "$WORK/said"
}
attack() # USER VERB ARGUMENTS…: without end, in the background; stop_attacks ends it, $succeeded is how often it succeeded
{
    attack_user=$1
    shift
    attacker=$attack_user
    as_user "$attack_user" "$PYTHON" "$NEIGHBOUR" "$HOMES/$attack_user/tmp/count" "$@" &
    wait_until '[ -s "$HOMES/$attacker/tmp/count.pid" ]'
    background+=("$(cat "$HOMES/$attacker/tmp/count.pid")")
}
stop_attacks()
{
    kill "${background[@]}" 2>/dev/null
    wait 2>/dev/null
    background=()
    succeeded=$(cat "$HOMES/$attacker/tmp/count" 2>/dev/null)
    rm -f "$HOMES/$attacker/tmp/count" "$HOMES/$attacker/tmp/count.pid"
}
race() # KIND VICTIM SCRIPT: the victim runs the script `tries` times, several at once, while the attacks run
{
    race_kind=$1 race_victim=$2
    shift 2
    as_user "$race_victim" sh -c 'umask 022; j=0; while [ $j -lt 5 ]; do (i=$j; while [ $i -lt "$1" ]; do eval "$2"; i=$((i + 5)); done) & j=$((j + 1)); done; wait' \
        sh "$tries" "$@" >>"$WORK/said" 2>&1
    stop_attacks
    [ -z "${NEIGHBOUR_SAID:-}" ] || sed 's/[0-9a-f]\{6,\}/N/g' "$WORK/said" | sort | uniq -c | sort -rn | head -n 8 | cut -c1-150 >&2
    [ "${succeeded:-0}" -ge $((tries / 10)) ] || tap_fail "$race_kind: the attacks happen" "only ${succeeded:-none} succeeded"
    tally "$race_kind" "$tries" "$(gained "$race_victim")"
}
other() { [ "$1" = alice ] && echo bob || echo alice; }
each_way() # FUNCTION: with each of the two as the victim
{
    for victim in alice bob; do
        thief=$(other $victim)
        theirs=$HOMES/$victim
        fresh
        "$1"
    done
}
as_thief() { as_user "$thief" sh -c "umask 0; $1" sh "$theirs"; } # SCRIPT: $1 is the victim's home
as_victim() { as_user "$victim" sh -c "umask 022; $1" sh "$theirs"; }

# ---- races ----
race_place() # a run, while its places are exchanged with links
{
    for part in .benchwrap mlruns; do
        fresh
        as_thief "mkdir $part && ln -s \$1/target x"
        attack "$thief" exchange $part x
        race "race: place of a run ↔ link" "$victim" '"$BENCHWRAP" -q --sample 0 -- true'
    done
}
race_spool() # each new run below a folder of the thief's is replaced by a link
{
    as_thief 'mkdir -p .benchwrap/spool'
    attack "$thief" replace .benchwrap/spool "$theirs/target"
    race "race: unfinished run → link" "$victim" '"$BENCHWRAP" -q --sample 0 -- true'
}
race_tree()
{
    as_thief 'mkdir mlruns && ln -s $1/target x'
    id=$(as_victim 'mkdir -p ~/x && cd ~/x && "$BENCHWRAP" -q -e planted -- true; ls mlruns | grep "^[0-9]*$"')
    as_thief "mkdir mlruns/$id"
    attack "$thief" exchange "mlruns/$id" x
    race "race: experiment ↔ link" "$victim" '"$BENCHWRAP" -q --sample 0 -e planted -- true'
    fresh
    as_thief "mkdir -p mlruns/$id/tags && ln -s \$1/target y"
    attack "$thief" exchange "mlruns/$id/tags" y
    race "race: tags of an experiment ↔ link" "$victim" '"$BENCHWRAP" -q --sample 0 -e planted -- true'
}
race_read()
{
    as_thief '"$BENCHWRAP" -q --sample 0 -p leak=x --tag leak=x -- echo hello'
    run=$(echo mlruns/*/*/meta.yaml)
    run=$STICKY/${run%/meta.yaml}
    as_thief "cd $run && for f in params/leak tags/leak artifacts/stdout.log artifacts/benchwrap.json meta.yaml metrics/run.wall_s; do mkdir -p .x/\${f%/*}; ln -s \$1/.ssh/id .x/\$f.link; done"
    cd "$run" || exit 1
    attack "$thief" exchange params/leak .x/params/leak.link tags/leak .x/tags/leak.link artifacts/stdout.log .x/artifacts/stdout.log.link \
        artifacts/benchwrap.json .x/artifacts/benchwrap.json.link meta.yaml .x/meta.yaml.link metrics/run.wall_s .x/metrics/run.wall_s.link
    race "race: file of a run ↔ link" "$victim" 'cd "$STICKY"; case $((i % 8)) in 0) "$BENCHWRAP" ls ;; 1) "$BENCHWRAP" show --all ;; 2) "$BENCHWRAP" show --json ;;
        3) "$BENCHWRAP" compare ;; 4) "$BENCHWRAP" parse --from last ;; 5) "$BENCHWRAP" export-tree ~/out ;; 6) "$BENCHWRAP" check . ;; 7) "$BENCHWRAP" reparse ;; esac'
}
race_artifact()
{
    as_thief 'echo fine >out.json; ln -s $1/.ssh/id link.json'
    attack "$thief" exchange out.json link.json
    race "race: result (--artifact) ↔ link" "$victim" '"$BENCHWRAP" -q --sample 0 -t ~/out/mlruns -a out.json -- true'
    mkdir -m 777 "$STICKY/sub"
    chown "${uid[$thief]}" "$STICKY/sub"
    ln "$theirs/.ssh/id" "$STICKY/sub/hard.json" # as the thief may where fs.protected_hardlinks is 0
    as_thief 'echo fine >sub/out.json'
    attack "$thief" exchange sub/out.json sub/hard.json
    race "race: result (--artifact) ↔ hard link" "$victim" '"$BENCHWRAP" -q --sample 0 -t ~/out/mlruns -a "sub/*.json" -- true'
    rm -f "$STICKY/sub/hard.json" "$STICKY/sub/out.json"
}
race_import()
{
    as_thief 'mkdir -p d/sub; echo "copy.rate 1 MB/s" >d/sub/out.txt; ln -s $1/.ssh d/x; ln -s $1/.ssh/id d/link; cp d/sub/out.txt d/plain; echo hello >d/sub/id'
    attack "$thief" exchange d/sub d/x d/plain d/link
    race "race: output (import) ↔ link" "$victim" 'if [ $((i % 2)) = 0 ]; then "$BENCHWRAP" import -t ~/out/mlruns --rules generic -R d; else "$BENCHWRAP" import -t ~/out/mlruns --rules generic d/plain; fi; grep -rh PRIVATE-KEY ~/out; rm -rf ~/out/mlruns'
}
race_logged()
{
    as_thief 'echo fine >out.txt; ln -s $1/.ssh/id link.txt'
    attack "$thief" exchange out.txt link.txt
    race "race: file (benchwrap log) ↔ link" "$victim" '"$BENCHWRAP" -q --sample 0 -t ~/out/mlruns -- "$BENCHWRAP" log artifact out.txt'
}
race_configuration()
{
    as_thief 'mkdir d && printf "experiment: planted\nparam: [planted=1]\n" >d/benchwrap.yaml; mkdir d/mlruns'
    as_victim 'echo "# an output" >d/out.txt'
    cd d || exit 1
    attack "$thief" exchange benchwrap.yaml out.txt
    race "race: configuration of two users" "$victim" '"$BENCHWRAP" plan experiment --json -- true'
    planted=$(grep -c planted "$WORK/said")
    [ "$planted" = 0 ] || tally "race: configuration of two users" 0 "$planted plans with the thief's configuration"
    cd "$STICKY" || exit 1
    fresh
    as_thief 'ln -s $1/private.yaml x; echo "experiment: planted" >benchwrap.yaml; mkdir mlruns'
    attack "$thief" exchange benchwrap.yaml x
    race "race: configuration ↔ link" "$victim" '"$BENCHWRAP" plan experiment --json -- true'
    planted=$(grep -c 'planted\|stolen' "$WORK/said")
    [ "$planted" = 0 ] || tally "race: configuration ↔ link" 0 "$planted plans with another configuration"
}
repository() # one of the victim's, in which the thief writes
{
    fresh
    cd "$LAB" || exit 1
    as_victim 'cd "$LAB"; umask 002; mkdir repo && cd repo && git -c init.defaultBranch=main init -q --shared=group . && git config user.name v && git config user.email v@example.org &&
        printf "profile: private\ncommit: run\n" >benchwrap.yaml && "$BENCHWRAP" init --private --site here . && "$BENCHWRAP" -q -- true && "$BENCHWRAP" commit' >"$WORK/repository" 2>&1
    cd "$LAB/repo" || exit 1
    chmod -R g+w .git
}
race_repository()
{
    repository
    as_thief 'cp -r .git/benchwrap .git/mine || mkdir .git/mine; rm -rf .git/benchwrap; mv .git/mine .git/benchwrap; ln -s $1/target .git/x'
    attack "$thief" exchange .git/benchwrap .git/x
    race "race: .git/benchwrap ↔ link" "$victim" 'rm -rf mlruns/*; [ $((i % 4)) != 0 ] || "$BENCHWRAP" -q --sample 0 -- true; "$BENCHWRAP" commit'
    repository
    as_thief 'chmod -R a+rwX .git/benchwrap; cd .git/benchwrap; for f in *; do [ ! -f "$f" ] || { cp "$f" c; mv -f c "$f"; }; done; ln -s $1/target/precious x'
    names=$(cd .git/benchwrap && find . -maxdepth 1 -type f | head -n 1)
    attack "$thief" exchange ".git/benchwrap/${names#./}" .git/benchwrap/x
    race "race: lock of a repository ↔ link" "$victim" '"$BENCHWRAP" commit'
}
race_caches()
{
        as_thief 'mkdir mlruns; mkdir -p .benchwrap/sync .benchwrap/ui .benchwrap/nodes; ln -s $1/target .benchwrap/x'
    as_victim '"$BENCHWRAP" -q --sample 0 -- true'
    attack "$thief" exchange .benchwrap/sync .benchwrap/x
    race "race: cache of sync ↔ link" "$victim" 'MLFLOW_HTTP_REQUEST_MAX_RETRIES=0 timeout 20 "$BENCHWRAP" sync --to http://127.0.0.1:9'
    attack "$thief" exchange .benchwrap/nodes .benchwrap/x
    race "race: folder of collectors ↔ link" "$victim" 'env SLURM_JOB_ID=7 SLURM_STEP_ID=$i SLURM_STEP_NUM_NODES=2 SLURM_NTASKS=2 SLURM_PROCID=1 SLURM_LOCALID=0 SLURM_NODEID=1 SLURMD_NODENAME=n1 \
        "$BENCHWRAP" -q -- true'
}
race_ref() # the folder in which sync --ref writes the files of a commit
{
    repository
    as_victim 'cd "$LAB/repo"; git add -f mlruns; git commit -qm runs; mkdir -p .benchwrap/sync; chmod 777 .benchwrap .benchwrap/sync' >/dev/null
    attack "$thief" replace .benchwrap/sync "$theirs/target"
    race "race: files of a commit (sync --ref) → link" "$victim" 'MLFLOW_HTTP_REQUEST_MAX_RETRIES=0 timeout 20 "$BENCHWRAP" sync --ref HEAD --to http://127.0.0.1:9'
}
race_signature() # the folder in which ssh-keygen signs a run
{
    repository
    as_victim 'cd "$LAB/repo"; [ -e ~/key ] || ssh-keygen -q -t ed25519 -N "" -f ~/key; git config benchwrap.signingKey ~/key'
    as_thief 'cp -r .git/benchwrap .git/mine || mkdir .git/mine; rm -rf .git/benchwrap; mv .git/mine .git/benchwrap'
    attack "$thief" replace .git/benchwrap "$theirs/target" sign-
    race "race: signature of a run → link" "$victim" 'rm -rf mlruns/*; "$BENCHWRAP" -q --sample 0 -- true; "$BENCHWRAP" commit'
}
race_temporary() # temporary folders in a folder of the thief's
{
    as_thief 'mkdir tmp'
    as_victim 'mkdir -p ~/out && cd ~/out && "$BENCHWRAP" -q --sample 0 -- echo "copy.rate 1 MB/s"'
    attack "$thief" replace tmp "$theirs/target"
    race "race: temporary folder → link" "$victim" 'cd ~/out; TMPDIR=$STICKY/tmp "$BENCHWRAP" reparse --dry-run --all'
}
race_named() # the folder of a file, and of a tree, that an option names
{
    as_thief 'mkdir d && ln -s $1/target x'
    as_victim 'echo "copy.rate 1 MB/s" >~/out.txt'
    attack "$thief" exchange d x
    race "race: folder of a file that an option names ↔ link" "$victim" '"$BENCHWRAP" rules new --from ~/out.txt -o d/$i.yaml'
    fresh
    as_thief 'mkdir d && ln -s $1/target x'
    attack "$thief" exchange d x
    race "race: tree that an option names ↔ link" "$victim" '"$BENCHWRAP" -q --sample 0 -t d -- true'
}
race_written() # pages, an export and a campaign in the thief's folders
{
    as_victim 'mkdir -p ~/out && cd ~/out && "$BENCHWRAP" -q --sample 0 -- true'
    as_thief 'mkdir -p pub/run && ln -s $1/target pub/x'
    attack "$thief" exchange pub/run pub/x
    race "race: folder of pages ↔ link" "$victim" 'cd ~/out; "$BENCHWRAP" pages --rebuild -o "$STICKY/pub"'
    as_victim 'mkdir -p ~/out && cd ~/out && "$BENCHWRAP" -q --sample 0 -- true'
    as_thief 'mkdir d && ln -s $1/target x && ln -s $1/target/precious d/out.csv.new'
    attack "$thief" exchange d x
    race "race: folder of an export ↔ link" "$victim" 'cd ~/out; "$BENCHWRAP" export --format csv -o "$STICKY/d/out.csv"'
    as_victim 'printf "version: 1\nname: camp\nroles: {c: {command: \"echo hi\"}}\n" >~/out/rec.yaml'
    as_thief 'mkdir -p .benchwrap/campaigns/camp && ln -s $1/target .benchwrap/x'
    attack "$thief" exchange .benchwrap/campaigns .benchwrap/x
    race "race: folder of campaigns ↔ link" "$victim" '"$BENCHWRAP" recipe run --local ~/out/rec.yaml'
    as_thief 'rm -rf .benchwrap; mkdir -p .benchwrap/campaigns/camp && ln -s $1/target .benchwrap/campaigns/x'
    attack "$thief" exchange .benchwrap/campaigns/camp .benchwrap/campaigns/x
    race "race: folder of a campaign ↔ link" "$victim" '"$BENCHWRAP" recipe run --local ~/out/rec.yaml'
}
race_token() # the file with the token of llmload's agent
{
    as_thief 'mkdir d && umask 077 && echo 00000000000000000000000000000000 >d/token'
    as_victim 'umask 077; echo 11111111111111111111111111111111 >d/mine'
    attack "$thief" exchange d/token d/mine
    as_victim 'for i in $(seq '"$tries"'); do rm -f ~/port; timeout 20 "$LLMLOAD" agent --listen 127.0.0.1:0 --idle 100ms --port-file ~/port --token-file d/token & p=$!
        n=0; while [ ! -s ~/port ] && kill -0 $p 2>/dev/null && [ $n -lt 200 ]; do sleep 0.01; n=$((n + 1)); done
        [ ! -s ~/port ] || curl -s -m 5 -o ~/reply -w "%{http_code}\n" -H "Authorization: Bearer 00000000000000000000000000000000" http://127.0.0.1:$(cat ~/port)/status; kill $p 2>/dev/null; wait $p; done' >"$WORK/token" 2>/dev/null
    stop_attacks
    tally "race: token of llmload's agent" "$tries" "$(grep -x 200 "$WORK/token")"
}
race_ui() # the folder in which ui starts MLflow, and the file with its secret
{
    mkdir -p "$WORK/fake" && printf '#!/bin/sh\necho started >mlflow.db; echo started >artifacts; exit 1\n' >"$WORK/fake/mlflow" && chmod -R a+rx "$WORK/fake"
    as_thief 'mkdir -p mlruns .benchwrap/spool && ln -s $1/target .benchwrap/x'
    as_victim '"$BENCHWRAP" -q --sample 0 -- true; mkdir -p .benchwrap/ui' 2>/dev/null
    attack "$thief" exchange .benchwrap/ui .benchwrap/x
    race "race: folder of ui ↔ link" "$victim" 'PATH='"$WORK/fake"':$PATH timeout 60 "$BENCHWRAP" ui'
    fresh
    as_victim 'for i in 0 1 2 3 4; do mkdir -p ~/out/$i && cd ~/out/$i && "$BENCHWRAP" -q --sample 0 -- true; done'
    as_thief 'mkdir d && umask 077 && echo planted0planted0planted0 >d/secret; ln -s $1/.ssh/id d/link; mkfifo d/fifo'
    as_victim 'umask 077; echo mine0mine0mine0mine0mine0 >d/mine'
    attack "$thief" exchange d/secret d/mine d/secret d/link d/secret d/fifo
    race "race: secret of ui ↔ file and link of another user" "$victim" 'cd ~/out/$((i % 5)); PATH='"$WORK/fake"':$PATH timeout 60 "$BENCHWRAP" ui --secret-file "$STICKY/d/secret"; grep -rhs planted0 .benchwrap/ui'
    planted=$(grep -c planted0 "$WORK/said")
    [ "$planted" = 0 ] || tally "race: secret of ui ↔ file and link of another user" 0 "$planted servers with the thief's secret"
}
race_adopt() # a dead run of the victim's own, in a folder of the thief's, while sync finishes it
{
    as_thief 'mkdir -p .benchwrap/spool mlruns && chmod -R a+rwX .benchwrap mlruns'
    as_victim 'cd "$STICKY"; exec "$BENCHWRAP" -q --sample 0 -- sh -c "echo output; exec sleep 600"' >/dev/null 2>&1 &
    at=0
    until grep -qs output .benchwrap/spool/*/stdout.log || [ $at -gt 300 ]; do sleep 0.1; at=$((at + 1)); done
    kill -KILL $(pgrep -u "${uid[$victim]}") 2>/dev/null # all of this test's own user
    wait 2>/dev/null
    name=$(basename .benchwrap/spool/*)
    as_victim "mv .benchwrap/spool/$name ~/dead"
    attack "$thief" replace .benchwrap/spool "$theirs/target"
    race "race: dead run of one's own → link" "$victim" 'cp -r ~/dead ~/dead.$i && mv -T ~/dead.$i "$STICKY/.benchwrap/spool/'"${name%????}"'$(printf %04x $i)"; timeout 60 "$BENCHWRAP" sync --local'
    rm -rf "$theirs"/dead*
}

# ---- without a race ----
attack_socket()
{
    as_victim 'echo data >~/kept.txt'
    as_thief 'echo theirs >/tmp/benchwrap-$$; mv /tmp/benchwrap-$$ theirs.txt; mkfifo fifo'
    as_victim '"$BENCHWRAP" -q --sample 0 -t ~/out/mlruns -- sh -c "echo \"\$BENCHWRAP_SOCKET\" >\$STICKY/name.new; mv \$STICKY/name.new \$STICKY/name; while [ ! -e \$STICKY/end ]; do sleep 0.1; done; \"\$BENCHWRAP\" log mine=1"' 2>/dev/null &
    run=$!
    wait_until '[ -s name ]'
    sent=0
    for kind in metric path root caller=0 "caller=$(as_victim 'id -u')" file many fifo 'text={' 'text={"tag":"mlflow.user","value":"eve"}' 'text={"param":"planted","value":"1"}'; do
        now=$(as_user "$thief" env FILE="$STICKY/theirs.txt" FIFO="$STICKY/fifo" "$PYTHON" "$SEND" "$(cat name)" "$kind" "$tries")
        case $now in *\ *) tally "log socket: a claim of another uid" "$tries" "" ;; *) sent=$((sent + now)) ;; esac
    done
    touch end
    wait $run
    run=$(echo "$theirs"/out/mlruns/*/*/meta.yaml)
    run=${run%/meta.yaml}
    tally "log socket: messages" $sent "$(ls "$run"/metrics/write.bw "$run"/params/planted "$run"/artifacts/files 2>/dev/null; grep -x eve "$run/tags/mlflow.user")"
    is "$victim: every message of $thief is counted" "$(cat "$run/tags/benchwrap.log_dropped")" $sent
    is "$victim: the own message counts" "$(cut -d' ' -f2 "$run/metrics/mine")" 1
}
attack_squat() # the socket of a recorder that has ended
{
    cat >"$WORK/squat.py" <<'S'
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("\0benchwrap/squat-" + sys.argv[1])
print(os.getpid(), flush=True)
s.settimeout(600)
while True:
    data, fds, flags, address = socket.recv_fds(s, 4096, 4)
    if data == b"end":
        break
    for fd in fds:
        print("received", os.read(fd, 100), flush=True)
        os.close(fd)
S
    chmod 644 "$WORK/squat.py"
    rm -f "$WORK/squat"
    as_user "$thief" "$PYTHON" "$WORK/squat.py" "$$" >"$WORK/squat" &
    wait_until '[ -s "$WORK/squat" ]'
    as_victim 'i=0; while [ $i -lt '"$tries"' ]; do i=$((i + 1)); BENCHWRAP_SOCKET=@benchwrap/squat-'"$$"' "$BENCHWRAP" log artifact ~/.ssh/id; done' >>"$WORK/said" 2>&1
    kill "$(head -n 1 "$WORK/squat")"
    wait 2>/dev/null
    tally "log socket: another process has the name" "$tries" "$(grep received "$WORK/squat")"
}
dead_spool() # one of the thief's in $STICKY, $spool
{
    fresh
    as_user "$thief" sh -c 'umask 0; exec "$BENCHWRAP" -q -- sh -c "echo output; exec sleep 600"' >/dev/null 2>&1 &
    at=0
    until grep -qs output .benchwrap/spool/*/stdout.log || [ $at -gt 300 ]; do sleep 0.1; at=$((at + 1)); done
    kill -KILL $(pgrep -u "${uid[$thief]}") 2>/dev/null # all of this test's own user
    wait 2>/dev/null
    spool=$(ls -d "$STICKY"/.benchwrap/spool/*)
    as_thief "chmod -R a+rwX .benchwrap"
}
attack_spool()
{
    dead_spool
    n=0
    as_thief "cp -r $spool .keep"
    names=$(ls -A "$spool"; echo files job nodes.json published tree)
    for name in $names; do
        for what in 'ln -s $1/.ssh/id' 'ln -s $1/.ssh' 'ln -s $1/target' 'ln -s $1/target/precious' 'mkfifo -m 666' 'ln -s /dev/zero'; do
            as_thief "rm -rf $spool/$name && cp -r .keep/. $spool/ && rm -rf $spool/$name && $what $spool/$name"
            for line in "sync --local" "-q --sample 0 -t $theirs/out/mlruns -- true" "ls --all" "-q --sample 0 -- true"; do
                # shellcheck disable=SC2086
                as_victim 'timeout 60 "$BENCHWRAP" '"$line" >>"$WORK/said" 2>&1
                [ $? != 124 ] || tally "dead run with links" 0 "$line hangs: $what $name"
                n=$((n + 1))
            done
        done
        tally "dead run with links" $n "$(gained "$victim")"
        n=0
    done
    # with the victim's uid on the folder's entry alone: a folder of the victim's own is moved there
    is "the dead run of $thief is not finished by $victim" "$(ls -d "$spool")" "$spool"
}
attack_config()
{
    cd "$STICKY" || exit 1
    as_thief 'mkdir mlruns .benchwrap'
    printf 'experiment: own\n' >"$WORK/own.yaml"
    n=0
    for line in 'experiment: planted' 'profile: private' 'quiet: true' 'sample: 0' 'site: planted' 'tree: /tmp/planted' 'tag: {mlflow.user: planted}' 'reference: $1/.ssh/id' 'server: http://127.0.0.1:9/planted' 'catalogue: planted' \
        'rules: planted' 'archive: planted' 'artifact: [$1/.ssh/id]' 'param: [planted=1]' 'note: planted'; do
        for where in benchwrap.yaml .benchwrap/config.yaml references.yaml .benchwrap/references.yaml; do
            for owner in thief both; do
                rm -f benchwrap.yaml .benchwrap/config.yaml references.yaml .benchwrap/references.yaml
                [ $owner = thief ] || as_victim 'echo "experiment: own" >benchwrap.yaml' # a repository of the victim's, among foreign files
                [ -e "$where" ] || as_thief "echo \"$line\" >$where"
                as_victim '"$BENCHWRAP" plan --json -- true' >plan.out 2>&1
                as_victim '"$BENCHWRAP" --sample 0 -t ~/out/mlruns -- true' >run.out 2>&1
                n=$((n + 2))
                tally "configuration of another user" 2 "$(grep -h 'planted\|/.ssh/id' plan.out | head -n 1; grep -q finished run.out || echo "the summary is silenced: $line")$(find "$theirs/out" -name 'planted*')"
                rm -f plan.out run.out "$theirs"/out/mlruns/*/*/params/planted
            done
        done
    done
    tally "configuration of another user" 0 "$(gained "$victim")"
}
attack_repository() # one of the thief's
{
    as_thief 'umask 0; mkdir theirs && cd theirs && git -c init.defaultBranch=main init -q --shared=all . && git config user.name t && git config user.email t@example.org && printf "profile: private\ncommit: run\n" >benchwrap.yaml &&
        git add . && git commit -qm begin && printf "#!/bin/sh\nid -un >>$WORK/ran\n" >run && chmod 755 run
        for h in pre-commit post-commit pre-push reference-transaction post-index-change post-checkout commit-msg; do cp run .git/hooks/$h; done; printf "* filter=x diff=x merge=x\n" >.gitattributes'
    chmod 777 "$WORK"
    cp theirs/.git/config "$WORK/config"
    cd theirs || exit 1
    run=$STICKY/theirs/run
    for setting in core.hooksPath=. "core.fsmonitor=$run" "core.sshCommand=$run" "gpg.program=$run" "gpg.ssh.program=$run" "remote.origin.url=ext::$run" "filter.x.clean=$run" "filter.x.smudge=$run" "filter.x.process=$run" \
        "diff.x.textconv=$run" "diff.external=$run" "core.pager=$run" "core.editor=$run" "credential.helper=!$run" "core.askPass=$run" "merge.x.driver=$run" "commit.gpgSign=true" "core.alternateRefsCommand=$run" \
        "uploadpack.packObjectsHook=$run" "include.path=$theirs/.ssh/id" "core.attributesFile=$theirs/.ssh/id" "core.worktree=$theirs/target" "benchwrap.site=planted" "benchwrap.signingKey=$theirs/.ssh/id" \
        "benchwrap.forgeUrl=http://127.0.0.1:9/" "protocol.ext.allow=always" "alias.commit=!$run" "core.gitProxy=$run"; do
        as_thief "cd $STICKY/theirs && cp $WORK/config .git/config && git config ${setting%%=*} '${setting#*=}'"
        for line in "-q --sample 0 -- true" commit "share --dry-run" "init --private --site x ." "check ." "ls" "sync --local" "plan -- true"; do
            # shellcheck disable=SC2086
            as_victim 'timeout 60 "$BENCHWRAP" '"$line" >>"$WORK/said" 2>&1
            tally "repository of another user" 1 ""
        done
        tally "repository of another user" 0 "$(gained "$victim")"
    done
    chmod 755 "$WORK"
}
attack_pulls() # branches of the thief's, in a repository of the victim's
{
    as_victim 'git -c init.defaultBranch=main init -q ~/repo && cd ~/repo && git config user.name v && git config user.email v@example.org && "$BENCHWRAP" init --private --site lab . && "$BENCHWRAP" -q --sample 0 --commit none -- echo one && git add -f mlruns benchwrap.yaml && git commit -qm begin; git checkout -qb base' >"$WORK/repository" 2>&1
    "$PYTHON" - "$tries" "$theirs" >"$WORK/branches" <<'P'
import random, sys
n, home = int(sys.argv[1]), sys.argv[2]
evil = b"#!/bin/sh\nid -un >>/tmp/benchwrap-ran; id -un >>ran\n"
out = sys.stdout.buffer
run = "mlruns/1234567890/%032x"
names = ["bin/benchwrap", ".git", ".GIT/config", "git~1", ".gitattributes", ".gitmodules", ".envrc", ".bashrc", "benchwrap.yaml", "summary.md", "../outside", ".benchwrap/config.yaml",
         "mlruns", "mlruns/1234567890", run, run + "/meta.yaml", run + "/artifacts/stdout.log", run + "/artifacts/benchwrap.json", run + "/artifacts/manifest.json", run + "/artifacts/rules.yaml",
         run + "/params/leak", run + "/tags/mlflow.user", run + "/metrics/m", run + "/artifacts/files/x", run + "/artifacts/series.jsonl", "mlruns/1234567890/meta.yaml"]
targets = ["/.ssh/id", "/.ssh", "/target", "/target/precious", "/private.yaml"]
for i in range(n):
    r = random.Random(i)
    out.write(b"commit refs/heads/pull-%d\nmark :%d\ncommitter t <t@example.org> 1700000000 +0000\ndata 4\nruns\nfrom refs/heads/base^0\n" % (i, i + 1))
    for _ in range(r.randint(1, 5)):
        name = r.choice(names)
        name = name % r.getrandbits(128) if "%" in name else name
        mode, data = r.choice([(b"120000", (home + r.choice(targets)).encode()), (b"120000", ("../" * 9 + home[1:] + r.choice(targets)).encode()), (b"100755", evil),
                               (b"100644", b"name: x\nextends: " + home.encode() + b"/.ssh/id\nmetrics:\n  - {name: a, regex: '(.*)'}\n"), (b"100644", b"<!DOCTYPE a [<!ENTITY b SYSTEM \"file://" + home.encode() + b"/.ssh/id\">]><a>&b;</a>")])
        if name in (".git", ".GIT/config", "git~1", "../outside"):
            name = "x/" + name.replace("../", "") + ".x" if r.random() < 0.5 else "mlruns/" + name.replace("..", "dots").replace(".git", "git").replace(".GIT", "GIT")
        out.write(b"M %s inline %s\ndata %d\n%s\n" % (mode, name.encode(), len(data), data))
P
    chmod 644 "$WORK/branches"
    as_victim 'cd ~/repo && git fast-import --quiet --force <'"$WORK/branches" >"$WORK/import" 2>&1 || tap_fail "the branches are made" "$(head -c 2000 "$WORK/import")"
    as_victim 'cd ~/repo; i=0; while [ $i -lt '"$tries"' ]; do "$BENCHWRAP" check --range base..pull-$i && echo accepted; "$BENCHWRAP" ls --ref pull-$i; [ $((i % 4)) != 0 ] || "$BENCHWRAP" compare base:last pull-$i:last
        i=$((i + 1)); done' >>"$WORK/said" 2>&1
    tally "pull request" "$tries" "$(gained "$victim"; grep -c '^accepted' "$WORK/said" | sed 's/^0$//'; cat /tmp/benchwrap-ran 2>/dev/null; ls "$theirs/repo/ran" 2>/dev/null)"
}
attack_agent()
{
    rm -f "$theirs/port"
    as_victim 'echo $$ >~/pid; exec "$LLMLOAD" agent --listen 127.0.0.1:0 --port-file ~/port' 2>/dev/null &
    wait_until '[ -s "$theirs/port" ]'
    at=127.0.0.1:$(cat "$theirs/port")
    for kind in requests raw; do
        said=$(as_user "$thief" "$PYTHON" "$NEIGHBOUR" - $kind "http://$at" $((2 * tries)))
        tally "llmload agent: $kind" $((2 * tries)) "$(tr ' ' '\n' <<<"$said" | grep -v '^4[0-9][0-9]:\|^505:\|^closed:')"
    done
    # a leader of the thief's, with a token of their own: nothing is started
    for i in 1 2 3 4 5; do
        tally "llmload agent: leader, token, memory" 1 "$(as_user "$thief" sh -c 'timeout 60 "$LLMLOAD" --agents "$1" --url http://127.0.0.1:9/v1 --model m --requests 1 && echo started' sh "$at" 2>/dev/null | grep started)"
        tally "llmload agent: leader, token, memory" 3 "$(as_user "$thief" sh -c 'cat "$1/.config/llmload/agent-token" "/proc/$2/environ" "/proc/$2/mem"' sh "$theirs" "$(cat "$theirs/pid")" 2>/dev/null)"
        tally "llmload agent: leader, token, memory" 1 "$(as_user "$thief" kill "$(cat "$theirs/pid")" 2>/dev/null && echo "the agent was ended")"
    done
    is "$victim still has the agent" "$(as_victim 'curl -s -m 20 -o /dev/null -w "%{http_code}" -H "Authorization: Bearer $(cat ~/.config/llmload/agent-token)" http://'"$at"'/status')" 200
    kill "$(cat "$theirs/pid")"
    wait 2>/dev/null
    rm -f "$theirs/port"
}
ui_state() # what MLflow has: experiments, runs, their names, tags and files
{
    curl -s -u "benchwrap:$word" -X POST "$address/api/2.0/mlflow/experiments/search" -H 'Content-Type: application/json' -d '{"max_results":100}'
    curl -s -u "benchwrap:$word" -X POST "$address/api/2.0/mlflow/runs/search" -H 'Content-Type: application/json' -d '{"experiment_ids":["0","1","2"],"max_results":100}'
    (cd "$theirs/shown" && find mlruns .benchwrap/ui/artifacts -type f -exec md5sum {} + | sort)
}
attack_ui()
{
    as_victim 'mkdir -p ~/shown && cd ~/shown && "$BENCHWRAP" -q --sample 0 -- cat ~/.ssh/id; cd ~/shown && echo $$ >~/pid && exec "$BENCHWRAP" ui --port '"$(free_port)" >"$WORK/link" 2>"$WORK/notes" &
    wait_until 'grep -qs "^http" "$WORK/link"' 300
    address=$(sed -n 's,^http://benchwrap:[^@]*@\([0-9.:]*\)/.*,http://\1,p' "$WORK/link")
    word=$(sed -n 's,^http://benchwrap:\([^@]*\)@.*,\1,p' "$WORK/link")
    if [ -z "$address" ]; then
        tap_fail "ui starts" "$(cat "$WORK/notes")"
        return
    fi
    wait_until 'ls "$theirs"/shown/.benchwrap/ui/artifacts/*/*/artifacts/stdout.log >/dev/null 2>&1'
    sleep 1
    # the thief knows the names of experiment, run and files
    run=$(cd "$theirs/shown/.benchwrap/ui/artifacts" && echo */*/artifacts/stdout.log)
    is "$victim sees the file through the artifact path" "$(curl -s -u "benchwrap:$word" "$address/api/2.0/mlflow-artifacts/artifacts/$run")" "$(secret_of "$victim")"
    state=$(ui_state)
    for kind in requests raw; do
        said=$(as_user "$thief" "$PYTHON" "$NEIGHBOUR" - $kind "$address" $((2 * tries)) benchwrap "$run")
        tally "ui: $kind" $((2 * tries)) "$(tr ' ' '\n' <<<"$said" | grep -v '^40[0-9]:\|^closed:')"
    done
    for i in 1 2 3 4 5; do
        tally "ui: socket, files, memory, end" 5 "$(as_user "$thief" sh -c 'curl -s -m 5 --unix-socket "$1"/shown/.benchwrap/ui/mlflow.sock* http://x/version; cat "$1/shown/.benchwrap/ui/lock" "$1/shown/.benchwrap/ui/server.log" "/proc/$2/environ" "/proc/$2/mem"' sh "$theirs" "$(cat "$theirs/pid")" 2>/dev/null)"
        tally "ui: socket, files, memory, end" 2 "$(as_user "$thief" sh -c 'kill "$1" && echo "the server was ended"; kill $(pgrep -u "$2") && echo "a process was ended"' sh "$(cat "$theirs/pid")" "${uid[$victim]}" 2>/dev/null)"
        tally "ui: socket, files, memory, end" 1 "$(as_user "$thief" "$PYTHON" -c 'import socket, sys
s = socket.socket()
for o in (socket.SO_REUSEADDR, socket.SO_REUSEPORT): s.setsockopt(socket.SOL_SOCKET, o, 1)
s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen(); print("the port was taken")' "${address##*:}" 2>/dev/null)"
        tally "ui: socket, files, memory, end" 1 "$(as_user "$thief" sh -c 'cd / && timeout 60 "$BENCHWRAP" ui --tree "$1/shown/mlruns"' sh "$theirs" 2>/dev/null)"
    done
    is "$victim has the server, and in it nothing is changed" "$(ui_state | md5sum)" "$(md5sum <<<"$state")"
    kill -INT "$(cat "$theirs/pid")"
    wait 2>/dev/null
    rm -rf "$WORK/link" "$theirs/shown"
}

todo=${NEIGHBOUR_ONLY:-"race_place race_spool race_tree race_read race_artifact race_import race_logged race_configuration race_repository race_ref race_signature race_caches
race_temporary race_named race_written race_token race_ui race_adopt attack_socket attack_squat attack_spool attack_config attack_repository attack_pulls attack_agent attack_ui"}
for one in $todo; do
    if [ "$one" != attack_ui ]; then
        each_way "$one"
    elif ! python=$(venv_mlflow 3.17.2); then
        skip "ui and another user" "$python"
    elif ! as_carol test -x "$python"; then
        skip_here "ui and another user" "MLflow is in a folder that other users cannot read (BENCHWRAP_TEST_CACHE names another)"
    else
        PATH=$PATH:$(dirname "$python")
        each_way attack_ui
    fi
done

total=0
echo "# | kind | attempts | gained |"
for kind in "${order[@]}"; do
    echo "# | $kind | ${attempts[$kind]} | ${gains[$kind]} |"
    total=$((total + attempts[$kind]))
    is "$kind: nothing gained in ${attempts[$kind]} attempts" "${gains[$kind]}" 0
    case $kind in race*) [ "$tries" -lt 500 ] || [ "${attempts[$kind]}" -ge 1000 ] || is "$kind: enough attempts" "${attempts[$kind]}" 1000 ;; esac
done
echo "# $total attempts"
[ "$tries" -lt 500 ] || [ -n "${NEIGHBOUR_ONLY:-}" ] || ok "$total attempts in all" [ "$total" -ge 10000 ]
done_testing
