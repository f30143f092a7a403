#!/bin/bash
# What another user, a hostile cluster or a hostile text gains by pages, exports, campaigns and exporters: nothing.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/users.sh"
users_required "pages, exports and campaigns next to other users"

secret='PRIVATE-KEY-OF-ALICE'
as_alice sh -c "umask 077; mkdir -p ~/target/81 ~/target/new ~/.config/benchwrap && echo $secret | tee ~/target/1.html ~/target/81/81.html ~/target/new/file >~/precious"
mine() { (cd "$HOMES/alice" && find target precious -exec ls -ld --time-style=full-iso {} + -type f -exec md5sum {} + 2>/dev/null | sort); }
before=$(mine)
untouched() { is "$1: nothing of alice's is written, removed or read" "$(mine; grep -rlF "$secret" "$LAB" "$STICKY" 2>/dev/null)" "$before"; }
fresh() { rm -rf "${STICKY:?}"/* "$STICKY"/.[bg]* "${LAB:?}"/* "$LAB"/.[bg]*; cd "${1:-$LAB}" || exit 1; }
bob() { as_bob sh -c "umask 0; cd \"\$1\" && $1" sh "$PWD" "$HOMES/alice"; }
alice() { as_alice sh -c "umask 022; cd \"\$1\" && $1" sh "$PWD"; }
recipe() { printf 'version: 1\n%s\n' "$1" >rec.yaml; chmod 644 rec.yaml; }

# ---- pages: folders below the one that is named ----
fresh
alice '"$BENCHWRAP" -q -e io -- true'
for name in run badge experiment machine measurement; do
    rm -rf pub
    bob "mkdir pub && ln -s \$2/target pub/$name"
    alice '"$BENCHWRAP" pages -o pub' >out 2>&1
    untouched "pages: $name is a link"
    like "... and the message names it" "$(cat out)" "^benchwrap: pages: cannot .*$name/"
done
rm -rf pub
alice '"$BENCHWRAP" pages -o pub; umask 0; mkdir -p pub/run; chmod 777 pub pub/run' >out 2>&1
bob 'mv pub/experiment pub/e && ln -s $2/target pub/experiment; rm -rf pub/run/81; ln -s $2/target/81 pub/run/81'
alice '"$BENCHWRAP" pages --rebuild -o pub' >out 2>&1
untouched "pages: links where old pages are removed"

# ---- exports: files beside the one that is named ----
fresh
alice '"$BENCHWRAP" -q -e io -- true'
bob 'for f in a b c; do echo bob >$f.new; done'
for form in csv:a parquet:b sqlite:c; do
    alice "umask 077; \"\$BENCHWRAP\" export --format ${form%:*} -o ${form#*:}" >out 2>&1
    is "export ${form%:*}: the file is alice's alone" "$(stat -c '%U %a' "${form#*:}") $(cat "${form#*:}.new")" "alice 600 bob"
done
bob 'mkdir -p there/mlruns; ln -s $2/target there/mlruns/.benchwrap-export'
alice '"$BENCHWRAP" export-tree there' >out 2>&1
untouched "export-tree: its own folder is a link"

# ---- campaigns: the folder is another user's ----
recipe $'name: camp\nroles: {c: {command: "echo hi"}}'
rm -rf .benchwrap
bob 'mkdir -p .benchwrap/campaigns/camp'
alice '"$BENCHWRAP" recipe run --local rec.yaml' >out 2>&1
is "a campaign's folder of bob: refused" "$? $(grep -c 'belongs to bob' out) $(ls .benchwrap/campaigns/camp)" "1 1 "
rm -rf .benchwrap
bob 'mkdir -p .benchwrap/campaigns'
alice '"$BENCHWRAP" recipe run --local rec.yaml' >out 2>&1
is "a folder of campaigns of bob, who could exchange what is in it: refused" "$? $(grep -c 'belongs to bob' out)" "1 1"
rm -rf .benchwrap
alice 'mkdir -p .benchwrap/campaigns/camp && chmod 770 .benchwrap'
alice '"$BENCHWRAP" recipe run --local rec.yaml' >out 2>&1
is "a folder that the group may write: refused" "$? $(grep -c 'can be written by other users' out)" "1 1"
rm -rf .benchwrap
as_alice sh -c 'echo $$ >~/tmp/victim; exec sleep 60' &
wait_until '[ -s "$HOMES/alice/tmp/victim" ]'
victim=$(cat "$HOMES/alice/tmp/victim")
bob 'mkdir -p .benchwrap/campaigns/camp && cp rec.yaml .benchwrap/campaigns/camp/recipe.yaml && echo "{\"format\":1,\"parent\":\"x\"}" >.benchwrap/campaigns/camp/campaign.json'
python3 - .benchwrap/campaigns/camp/lock "$victim" <<'P' &
import fcntl, struct, sys, time
f = open(sys.argv[1], "w+")
fcntl.fcntl(f, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
f.write(sys.argv[2]); f.flush()
time.sleep(60)
P
holder=$!
wait_until '[ -s .benchwrap/campaigns/camp/lock ]'
chown bob .benchwrap/campaigns/camp/lock
alice '"$BENCHWRAP" recipe stop camp' >out 2>&1
is "a lock of bob's with the number of a process of alice's: stop signals nothing" "$? $(kill -0 "$victim" && echo lives)" "1 lives"
kill "$victim" $holder

# ---- campaigns: what another cluster sends ----
mkdir "$WORK/bin"
printf '#!/bin/sh\nfor a; do last=$a; done\ncase $last in *"tar --create"*) cat "$ANSWER" ;; *"cat >"*) cat >/dev/null ;; esac\n' >"$WORK/bin/ssh"
chmod 755 "$WORK/bin/ssh"
fresh
alice 'mkdir far && cd far && "$BENCHWRAP" -q -e io -- true && mkdir -p .benchwrap/campaigns/camp && echo x >.benchwrap/campaigns/camp/recipe.yaml'
python3 - "$WORK" "$HOMES/alice" far <<'P'
import io, sys, tarfile
work, home, far = sys.argv[1:]
def answer(name, *members):
    with tarfile.open(f"{work}/{name}.tar", "w") as t:
        t.add(far + "/mlruns", "mlruns")
        t.add(far + "/.benchwrap/campaigns", ".benchwrap/campaigns")
        for path, kind, to in members:
            i = tarfile.TarInfo(path)
            i.type, i.linkname = kind, to
            i.size, i.mode = 1 if kind == tarfile.REGTYPE else 0, 0o6777
            t.addfile(i, io.BytesIO(b"x"))
link, hard, fifo, file, device = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.REGTYPE, tarfile.CHRTYPE
answer("good")
answer("link", ("mlruns/5", link, home + "/target"))
answer("through", ("mlruns/5", link, home + "/target"), ("mlruns/5/evil", file, ""))
answer("up", ("mlruns/../../evil", file, ""))
answer("absolute", (home + "/target/evil", file, ""))
answer("hard", ("mlruns/5", hard, "mlruns/" + "meta.yaml"))
answer("fifo", ("mlruns/5", fifo, ""))
answer("logs", (".benchwrap/campaigns/camp/logs", link, home + "/target"))
answer("whole", ("mlruns/sub", link, "../../../../.."), (".benchwrap/campaigns/camp/points.jsonl", link, home + "/precious"))
P
chmod 644 "$WORK"/*.tar
rm -rf far
fetch() { as_alice env PATH="$WORK/bin:$PATH" ANSWER="$WORK/$1.tar" "$BENCHWRAP" recipe run --cluster far rec.yaml >out 2>&1; }
recipe $'name: camp\nroles: {c: {command: "echo hi"}}'
for kind in link through up hard fifo logs whole; do
    fetch $kind
    is "a cluster sends $kind: refused, and nothing is stored" "$? $(find mlruns .benchwrap ! -type d 2>/dev/null)" "1 "
done
fetch absolute
fetch good
is "what it sends without links is stored" "$? $(ls mlruns/*/*/meta.yaml | wc -l) $(cat .benchwrap/campaigns/camp@far/recipe.yaml) $(ls .benchwrap/campaigns/camp@far)" "0 1 x recipe.yaml"
fetch through
fetch good
untouched "what clusters send"
rm -rf mlruns
bob 'mkdir mlruns; ln -s $2/target mlruns/2101163261'
fetch good
untouched "a link of bob's in the tree that gets results"

# ---- logs: links, and folders of other users ----
fresh "$STICKY"
bob 'ln -s $2/precious a.log; ln -s $2 dir; mkfifo c.log; echo line >d.log; ln -s $2/target state; mkdir open; ln -s $2/target/new/file lines'
ship() { "$@" timeout 120 "$BENCHWRAP" ship-logs --once --out "$WORK/shipped/$n" --state "$WORK/shipped/state$n" "$STICKY/*.log" "$STICKY/dir/*" >out 2>&1; }
mkdir -m 1777 "$WORK/shipped"
for n in 1 2; do
    [ $n = 1 ] && ship as_alice || ship env
    is "ship-logs (user $n): another user's links and FIFOs are no logs" "$(jq -r .RawData "$WORK/shipped/$n")" line
done
n=3
for line in "--state state" "--state open" "--out lines --state $HOMES/alice/tmp/s"; do
    # shellcheck disable=SC2086 # words
    as_alice timeout 120 "$BENCHWRAP" ship-logs --once --wait 1s --out "$HOMES/alice/tmp/o" $line "$STICKY/d.log" >out 2>&1
    is "ship-logs ${line%% /*}: refused" "$? $(find open -type f)" "1 "
done
untouched "ship-logs"

# ---- recipes of strangers: reading one starts nothing ----
fresh
recipe $'prepare: [{name: p, command: [touch, RAN1]}]\npreflight: {commands: ["touch RAN2"]}\nroles: {s: {command: "touch RAN3", ready: {command: "touch RAN4"}, ports: {http: 0}}, c: {command: "touch RAN5", warmup: "touch RAN6"}}'
alice 'for v in check plan "plan --all" "plan --script" migrate; do "$BENCHWRAP" recipe $v rec.yaml || exit; done; "$BENCHWRAP" recipe list' >out 2>&1
is "check, plan, migrate and list start nothing" "$? $(ls RAN* 2>/dev/null)" "0 "
for name in ../../x /etc/x .. '"a\nb"'; do
    recipe "name: $name"$'\nroles: {c: {command: "echo hi"}}'
    alice '"$BENCHWRAP" recipe run --local rec.yaml' >out 2>&1
    is "the name $name is no path" "$? $(grep -c 'expected a name of letters' out)" "1 1"
done

# ---- secrets ----
fresh "$HOMES/alice"
token=ghp_abcdefghijklmnopqrstuvwxyz0123456789
printf 'version: 1\nname: words\nsweep: {list: [{db_password: hunter2hunter2zz}]}\nroles: {c: {command: "echo %s", env: {MY_PASSWORD: hunter3hunter3zz}}}\n' $token >rec.yaml
alice 'PROBE_TOKEN=hunter4hunter4zz "$BENCHWRAP" recipe run --local rec.yaml' >out 2>&1
is "a campaign's record has no secret of the recipe" "$(grep -rlE "hunter[23]|$token" mlruns)" ""
ok "... and the recipe" grep -q 'name: words' mlruns/*/*/artifacts/recipe.yaml
cat >.config/benchwrap/config.yaml <<'Y'
exporters:
- {type: httpjson, name: a, url: 'http://127.0.0.1:1/', token: {env: WRONG_KEY_ENTRY}, tokn-scheme: x}
- {type: httpjson, name: b, url: 'http://127.0.0.1:1/', token: {env: SECOND_OF_NAME}, enabled: no}
- {type: httpjson, name: b, url: 'http://127.0.0.1:1/', password: {env: SECOND_ENTRY}}
- {type: nonsense, name: c, anything: {env: UNKNOWN_TYPE}}
Y
alice 'for n in WRONG_KEY_ENTRY SECOND_OF_NAME SECOND_ENTRY UNKNOWN_TYPE; do export $n="Sp3cial/$n"; done; "$BENCHWRAP" -q --no-export -e env -- true' >out 2>&1
is "variables of ignored and disabled exporters are not recorded" "$(grep -rl Sp3cial mlruns .benchwrap) $(grep -c 'UNKNOWN_TYPE=\*' mlruns/*/*/artifacts/environment.txt | grep -c ':1')" " 1"
rm .config/benchwrap/config.yaml

# ---- terminals ----
printf 'version: 1\nroles: {s: {endpoint: "http://127.0.0.1:1/\\e[31m\\r"}, c: {command: ["echo", "\\e[31m\\r"], env: {A: "\\e[31m"}}}\n' >rec.yaml
alice '"$BENCHWRAP" recipe plan rec.yaml; "$BENCHWRAP" recipe plan --all rec.yaml; "$BENCHWRAP" recipe check rec.yaml' >out 2>&1
is "plan prints no control character of a recipe" "$(LC_ALL=C grep -c $'[\033\r]' out) $(grep -c 'runs already at' out)" "0 2"
done_testing
