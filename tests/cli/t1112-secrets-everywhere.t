#!/bin/bash
# Twenty secrets of different kinds, planted through every way in which text enters a record: none of them is in a file of it, in git, or on a server.
# sanitizer: long, because t1111 walks the same code
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/forge.sh"
unset "${!SLURM_@}" 2>/dev/null
cd "$WORK" || exit 1
export BENCHWRAP_FINISH_WAIT=300s # a large file is in the record before anything is compared
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

# The text and the secret in it. Both are put together from parts here, so that no scanner takes this file for a leak.
cat >planted <<'X'
id AK@IAQ3EGRV7LWMT2Z9KXused	AK@IAQ3EGRV7LWMT2Z9KX
ghp@_Zq7Rk2Wm9Xt4Vb8Nc3Jd6Hf5Lg1PsYaEuTi	ghp@_Zq7Rk2Wm9Xt4Vb8Nc3Jd6Hf5Lg1PsYaEuTi
glp@at-tR7kQ2mN8pX4sV6wB1zD	glp@at-tR7kQ2mN8pX4sV6wB1zD
xox@b-482910573641-qkwpzmrtyubn	xox@b-482910573641-qkwpzmrtyubn
https://hooks.sl@ack.com/services/T8Q2KX/B3WZ7R/kq8Zr2Vm5Tx9Wn4Lp7	kq8Zr2Vm5Tx9Wn4Lp7
hf@_QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi	hf@_QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi
npm@_Kd8Fj3Ls7Gh2Qw9Er4Ty6Ui1Op5As0Df3Zxc	npm@_Kd8Fj3Ls7Gh2Qw9Er4Ty6Ui1Op5As0Df3Zxc
AI@zaSyB7k2Xm9Qr4Wt8Vn3Lp6Jd1Hf5Gc0Ya2Zs	AI@zaSyB7k2Xm9Qr4Wt8Vn3Lp6Jd1Hf5Gc0Ya2Zs
ey@JhbGciOiJIUzI1NiJ9.ey@JzdWIiOiI3NzQyIn0.kV3mQ8rT2wX7zN4bL9pD	kV3mQ8rT2wX7zN4bL9pD
postgres://bob:pgword-4471@db.example/x	pgword-4471
redis://:reword/77#x@cache.example:6379	reword/77#x
password=plainword-9182	plainword-9182
"client_secret": "quotedword-3344"	quotedword-3344
Authorization: Basic YWxpY2U6YmFzaWN3b3Jk	YWxpY2U6YmFzaWN3b3Jk
curl -u alice:curlword-5566 http://x.example/	curlword-5566
sshpass -p password-7788x ssh host	password-7788x
machine h.example login alice password netrcword-6611	netrcword-6611
<password>tagword-2299</password>	tagword-2299
prog --api-key optionword-8833 --n 5	optionword-8833
openssl enc -passin pass:sslword-1177 -in x	sslword-1177
X
tr -d @ <planted | sed 's/9KXused/9KX used/' | cut -f1 | sed 's,bob:pgword-4471db,bob:pgword-4471@db,; s,#xcache,#x@cache,' >texts
cut -f2 planted | tr -d @ >secrets
is "twenty secrets" "$(wc -l <secrets)" 20
is "each is in its text" "$(paste texts secrets | awk -F'\t' 'index($1, $2)' | wc -l)" 20
mapfile -t texts <texts
# What starts a program for each text takes every fourth of them; the long tier takes all, and a larger file.
some=() large=4
for ((i = 1; i < ${#texts[@]}; i += 4)); do some+=("${texts[i]}"); done
if long_tests; then some=("${texts[@]}") large=40; fi
printf '%s\n' "${some[@]}" >some
bw() { "$BENCHWRAP" "$@"; }

gone() # NAME [FOLDER…]: in no file below, in no name of one, and in no object of git
{
    gone_name=$1
    shift
    found=$(grep -rlaF -f "$WORK/secrets" "${@:-.}" 2>/dev/null | head -n 5; find "${@:-.}" | grep -F -f "$WORK/secrets" | head -n 3)
    for git in $(find "${@:-.}" -name .git -type d); do
        found=$found$(git -C "${git%/.git}" cat-file --batch-all-objects --batch --unordered 2>/dev/null | grep -caF -f "$WORK/secrets" | grep -v '^0$')
    done
    is "$gone_name" "$found" ""
    if [ -n "$found" ]; then
        grep -rnaoF -f "$WORK/secrets" "${@:-.}" | sort | uniq | head -n 25 | cut -c1-200 | sed 's/^/# /'
        find "${@:-.}" | grep -F -f "$WORK/secrets" | sed 's/^/# /'
    fi
}
place() # NAME: an empty folder of its own
{
    mkdir -p "$WORK/at/$1" && cd "$WORK/at/$1" || exit 1
}
published() { is "$1: the run is there" "$(find mlruns -name benchwrap.json | wc -l | sed 's/^[1-9].*/some/')" some; } # NAME

for profile in private public; do
    BENCHWRAP_PROFILE=$profile
    export BENCHWRAP_PROFILE
    # ---- the command line, the environment, the streams ----
    place "$profile-run"
    options=() words=()
    for i in "${!texts[@]}"; do
        options+=(-p "p$i=${texts[i]}" --tag "t$i=${texts[i]}")
        words+=("${texts[i]}")
        export "PLANTED_$i=${texts[i]}"
    done
    # shellcheck disable=SC2016,SC2046
    bw -q --site lab --note "$(cat ../../texts)" "${options[@]}" -- sh -c 'cat "$0"; cat "$0" >&2; exit 3' ../../texts "${words[@]}" $(cat ../../texts) >/dev/null 2>err.txt
    is "$profile: the program ends as it did" $? 3
    mv err.txt ../../err.txt
    published "$profile"
    gone "$profile: argv, params, tags, note, environment, stdout, stderr"
    unset "${!PLANTED_@}"
    place "$profile-names"
    for text in "${some[@]}"; do bw -q --site lab -n "$text" -e "$text" -- true; done 2>/dev/null
    published "$profile names"
    gone "$profile: names of runs and experiments"
    place "$profile-keys"
    for text in "${some[@]}"; do bw -q --site lab -p "$text=1" --tag "$text=1" -- true; done >/dev/null 2>&1
    gone "$profile: names of params and tags"
    place "$profile-missing" # a program that does not exist, and one that fails in its last line
    for text in "${some[@]}"; do
        bw --site lab -- "./missing $text"
        bw --site lab -- sh -c 'echo "$0" >&2; exit 5' "$text"
    done >/dev/null 2>../../err.txt
    published "$profile failures"
    gone "$profile: failures"

    # ---- what the program logs ----
    place "$profile-log"
    cat >../../logs <<'X'
while IFS= read -r text; do
    n=$((n + 1))
    "$BENCHWRAP" log param "lp$n=$text"
    "$BENCHWRAP" log tag "lt$n=$text"
    "$BENCHWRAP" log metric "$text=1"
    "$BENCHWRAP" log param "$text=1"
    "$BENCHWRAP" log tag "$text=1"
    case $text in */*) continue ;; esac
    printf 'x\n' >"$1/$text"
    "$BENCHWRAP" log artifact "$1/$text"
done <"$2"
"$BENCHWRAP" log artifact "$2"
X
    mkdir ../../files-$profile
    bw -q --site lab -- sh ../../logs ../../files-$profile ../../some >../../out 2>../../err.txt
    published "$profile log"
    gone "$profile: logged params, tags, metrics, files and their names"

    # ---- files ----
    place "$profile-files"
    f=$WORK/kinds-$profile
    mkdir "$f"
    cp ../../texts "$f/text"
    python3 - ../../texts "$f" "$large" <<'P'
import json, random, sys
texts = open(sys.argv[1]).read().splitlines()
to = sys.argv[2] + "/"
from xml.sax.saxutils import escape
import csv
json.dump({"lines": texts, "n": 5}, open(to + "a.json", "w"))
json.dump({"lines": texts, "n": 5}, open(to + "b.json", "w"), indent=2)
open(to + "a.xml", "w").write("<r>" + "".join("<l>%s</l>\n" % escape(t) if "<" not in t else t + "\n" for t in texts) + "</r>")
csv.writer(open(to + "a.csv", "w")).writerows([i, t, i] for i, t in enumerate(texts))
open(to + "nul", "wb").write(b"".join(b"head\0" + t.encode() + b"\0tail" for t in texts))
open(to + "crlf", "wb").write("\r\n".join(texts).encode())
open(to + "cr", "wb").write("\r".join(texts).encode())
open(to + "wide", "wb").write("\r\n".join(texts).encode("utf-16"))
open(to + "wide.be", "wb").write(b"\xfe\xff" + "\n".join(texts).encode("utf-16-be"))
out = open(to + "large", "wb")  # a secret across the borders of blocks
at, i = 0, 0
for border in range(65536, int(sys.argv[3]) << 20, 65536):
    t = texts[i % len(texts)].encode()
    i += 1
    start = border - len(t) // 2 - 1
    filler = b"value 12.5 MB/s\n" * ((start - at) // 16)
    filler += b"." * (start - at - len(filler) - 1) + b"\n"
    out.write(filler + t + b"\n")
    at = start + len(t) + 1
P
    bw -q --site lab --artifact-max 100M --artifact "$f/*" -- true 2>../../err.txt
    published "$profile files"
    gone "$profile: artifacts of all kinds"
    is "$profile: a large file is kept" "$(stat -c %s mlruns/*/*/artifacts/files/large)" "$(stat -c %s "$f/large")"

    # ---- a job: script, scheduler ----
    place "$profile-job"
    mkdir ../../fake-$profile
    python3 - "$ROOT/tests/slurm/24.11-running/reply.json" ../../texts >../../reply.json <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
texts = open(sys.argv[2]).read().splitlines()
j = d["jobs"][0]
j["comment"] = j["admin_comment"] = j["command"] = " ; ".join(texts)
j["standard_output"] = j["current_working_directory"] = "/tmp/" + texts[1]
j["name"] = "wrap"
j["features"] = j["licenses"] = j["partition"] = texts[11]
json.dump(d, sys.stdout)
P
    printf '#!/bin/sh\ncat %s\n' "$WORK/reply.json" >../../fake-$profile/scontrol
    { echo '#!/bin/sh'; sed 's/^/# /' ../../texts; cat ../../texts; } >../../script.sh
    chmod +x ../../fake-$profile/scontrol ../../script.sh
    PATH=$WORK/fake-$profile:$PATH SLURM_JOB_ID=6368 SLURM_JOB_NAME=wrap BENCHWRAP_JOB_SCRIPT=$WORK/script.sh bw -q --site lab --archive-job --job-script "$WORK/script.sh" -- cat ../../texts >../../out 2>../../err.txt ||
        PATH=$WORK/fake-$profile:$PATH SLURM_JOB_ID=6368 SLURM_JOB_NAME=wrap bw -q --site lab --archive-job -- cat ../../texts >../../out 2>../../err.txt
    published "$profile job"
    gone "$profile: job script and scontrol"
    bw archive -q --site lab --archive ./jobs -- sh -c 'cat "$0"; cat "$0" >&2' ../../texts >../../out 2>../../err.txt
    ok "$profile: an archive was written" test -n "$(find jobs -name '*.out')"
    gone "$profile: the archive of a job"

    # ---- repetitions ----
    place "$profile-series"
    bw -q --site lab --repeat 2 --note "$(cat ../../texts)" -n "${texts[1]}" "${options[@]}" -- sh -c 'cat "$0"' ../../texts "${words[@]}" >/dev/null 2>../../err.txt
    published "$profile series"
    gone "$profile: repetitions"

    # ---- reread, imported, retracted ----
    place "$profile-reparse"
    bw -q --site lab -n reread -- cat ../../texts >/dev/null 2>&1
    { cat ../../texts; cat "$ROOT"/benchmarks/catalogue/stream/samples/5.10-zen/stdout; } >../../stored
    cp ../../stored "../../${texts[1]}.out"
    bw import "${options[@]}" ../../stored "../../${texts[1]}.out" >../../out 2>../../err.txt || bw import ../../stored "../../${texts[1]}.out" >../../out 2>../../err.txt
    published "$profile import"
    bw reparse --all >../../out 2>&1 || bw reparse last >../../out 2>&1
    bw -q --site lab -n withdrawn -- true
    BENCHWRAP_SITE=lab bw retract --why "$(cat ../../texts)" last >../../out 2>../../err.txt
    ok "$profile: a retraction is there" sh -c 'find mlruns | grep -q benchwrap.why'
    gone "$profile: import, reparse and retract"

    # ---- git: the remote of the sources, and a results repository ----
    place "$profile-sources"
    if command -v git >/dev/null 2>&1; then
        (
            git init -q . && git config user.name t && git config user.email t@example.org
            git remote add origin "https://${texts[2]}:x-oauth-basic@git.example/x.git"
            git commit -q --allow-empty -m begin
            bw -q --site lab -- true
            git remote set-url origin "https://alice:pgword-4471@git.example/x.git"
            bw -q --site lab -- true
        ) 2>../../err.txt
        published "$profile sources"
        gone "$profile: the remote of the sources" mlruns .benchwrap
    fi
done
unset BENCHWRAP_PROFILE

# ---- a results repository, its commits and its pull request ----
if command -v git >/dev/null 2>&1; then
    mkdir "$WORK/forge" && cd "$WORK/forge" || exit 1
    forge_start gitlab
    servers="$servers $forge_pid"
    git clone -q "$HUB" clone
    git -C clone config benchwrap.forge gitlab
    git -C clone config benchwrap.forgeUrl "$FORGE"
    cd clone || exit 1
    bw -q -n "${texts[1]}" -e "${texts[1]}" --note "$(cat "$WORK/texts")" "${options[@]}" -- sh -c 'cat "$0"' "$WORK/texts" "${words[@]}" >/dev/null 2>../../err.txt
    bw commit >../../out 2>&1
    ok "runs are committed" test "$(git rev-list --all --count)" -gt 1
    GITLAB_TOKEN=w bw share >../../out 2>&1 # a run that is retracted before it is shared stays here
    bw retract --why "${texts[2]}" last >../../out 2>../../err.txt
    bw commit >../../out 2>&1
    gone "a results repository, its objects and messages"
    GITLAB_TOKEN=w bw share >../../out 2>&1
    forge_pulls 'p["title"] + p["text"]' >"$WORK/pull.txt" 2>&1
    ok "a pull request is open" test "$(wc -c <"$WORK/pull.txt")" -gt 20
    gone "the text of the pull request" "$WORK/pull.txt"
    forge_stop
fi

# ---- a server ----
if [ -x "$fault" ]; then
    mkdir "$WORK/server" && cd "$WORK/server" || exit 1
    "$fault" --journal "$WORK/server/journal" >"$WORK/server/port" &
    servers="$servers $!"
    wait_until '[ -s port ]'
    url=http://127.0.0.1:$(sed 's/port //' port)
    for tree in private-run private-log private-files private-series private-reparse; do
        (cd "$WORK/at/$tree" && bw sync --to "$url") >>"$WORK/out" 2>&1
    done
    place live
    MLFLOW_TRACKING_URI=$url bw -q -n "${texts[1]}" -e "${texts[1]}" --note "$(cat ../../texts)" "${options[@]}" -- sh ../../logs ../../files-private ../../some >/dev/null 2>../../err.txt
    ok "the server received runs" test "$(grep -c . "$WORK/server/journal")" -gt 5
    gone "what the server received" "$WORK/server"

    # A run of another program's, with secrets, is pulled.
    python3 - "$url" "$WORK/texts" "$f" <<'P'
import json, os, sys, urllib.request
url, texts, folder = sys.argv[1], open(sys.argv[2]).read().splitlines(), sys.argv[3]
def call(path, data, method="POST"):
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    r = urllib.request.Request(url + path, body, {"Content-Type": "application/json"}, method=method)
    return json.loads(urllib.request.urlopen(r).read() or b"{}")
api = "/api/2.0/mlflow/"
e = call(api + "experiments/create", {"name": "foreign"})["experiment_id"]
run = call(api + "runs/create", {"experiment_id": e, "start_time": 1700000000000, "run_name": texts[1], "user_id": "ann"})["run"]["info"]["run_id"]
call(api + "runs/log-batch", {"run_id": run, "params": [{"key": "p%d" % i, "value": t} for i, t in enumerate(texts)],
                              "tags": [{"key": "t%d" % i, "value": t} for i, t in enumerate(texts)] + [{"key": "mlflow.note.content", "value": "\n".join(texts)}],
                              "metrics": [{"key": "m", "value": 1, "timestamp": 1700000000001, "step": 0}]})
try:
    call(api + "runs/log-inputs", {"run_id": run, "datasets": [{"dataset": {"name": texts[1], "digest": "d", "source_type": "s", "source": texts[9]}}]})
except Exception as error:
    print("inputs:", error)
for name in sorted(os.listdir(folder)):
    call("/api/2.0/mlflow-artifacts/artifacts/%s/%s/artifacts/%s" % (e, run, name), open(folder + "/" + name, "rb").read(), "PUT")
call("/api/2.0/mlflow-artifacts/artifacts/%s/%s/artifacts/%s" % (e, run, texts[1]), b"x", "PUT")
call(api + "runs/update", {"run_id": run, "status": "FINISHED", "end_time": 1700000005000})
P
    place pull
    bw pull "$url" foreign --artifact-max 100M >../../out 2>../../err.txt
    is "pull: status" $? 0
    published "pull"
    ok "files were pulled" test -s "$(echo mlruns/*/*/artifacts/text)"
    is "a large file is as long as it was" "$(stat -c %s mlruns/*/*/artifacts/large)" "$(stat -c %s "$f/large")"
    gone "runs and files from a server"
else
    skip "servers" "libmicrohttpd is not installed"
fi
out=$("$BENCHWRAP" init --site a http://user:pass-of-init@127.0.0.1:1/x.git cloned 2>&1)
like "init names the address that it cannot clone" "$out" 'cannot clone http://127.0.0.1:1/x.git'
is "… without its password" "$(printf '%s' "$out" | grep -c pass-of-init)" 0
done_testing
