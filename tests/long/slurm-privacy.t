#!/bin/bash
# A public record of a real Slurm job in which identities and secrets stand everywhere: job name, comment, account, environment, arguments, paths,
# output, batch script, names of nodes. Everything written is scanned: spool while it runs, tree, archive, git's objects, what a server is sent, caches.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/slurm.sh"
cd "$WORK" || exit 1
unset "${!SLURM_@}" 2>/dev/null
if ! unshare --uts true 2>/dev/null; then
    skip_here "nodes with names of their own" "no name space of names can be made"
    done_testing
    exit 0
fi
slurm_names=1 slurm_prefix=kestrelnode
if ! slurm_start 2; then
    skip "Slurm" "$slurm_why"
    done_testing
    exit 0
fi
chmod 755 "$WORK"
cat >server.py <<'P'
# Takes whatever a client of MLflow's REST interface sends, and keeps all of it.
import http.server, json, sys
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self):
        if self.headers.get("Expect"):
            pass
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with open("requests", "ab") as f:
            f.write(self.requestline.encode() + b"\n" + str(self.headers).encode() + body + b"\n")
        info = {"run_id": "a" * 32, "run_uuid": "a" * 32, "experiment_id": "1", "artifact_uri": "mlflow-artifacts:/1/" + "a" * 32 + "/artifacts", "status": "RUNNING", "lifecycle_stage": "active"}
        out = json.dumps({"experiment": {"experiment_id": "1", "name": "privacy", "lifecycle_stage": "active", "artifact_location": "mlflow-artifacts:/1"},
                          "experiment_id": "1", "run": {"info": info, "data": {}}, "run_info": info, "runs": [], "files": []}).encode()
        self.send_response(200); self.send_header("Content-Type", "application/json"); self.send_header("Content-Length", str(len(out))); self.end_headers(); self.wfile.write(out)
    do_GET = do_POST = do_PUT = do_PATCH = answer
    def log_message(self, *a): pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
print(s.server_address[1], flush=True); s.serve_forever()
P
python3 server.py >port &
server=$!
wait_until '[ -s port ]' 120

git init -q -b main results && cd results || exit 1
git config user.name site && git config user.email site@example.invalid
git remote add origin https://forge.invalid/x/y.git
"$BENCHWRAP" init --public --site lab . >../init.out 2>&1
export XDG_CACHE_HOME=$WORK/cache XDG_STATE_HOME=$WORK/state XDG_RUNTIME_DIR=$WORK/runtime
mkdir -p -m 700 "$WORK/cache" "$WORK/state" "$WORK/runtime" "$WORK/home/wendelin"
secret="ghp_""16C7e42F292c6912E7710c838347Ae178B4z" password=correcthorse99battery
cat >../prog <<S
#!/bin/bash
echo "on \$(hostname) by wendelin of projektx, uid=10177, 10.77.66.55 fd00:aa:bb::77 0a:1b:2c:3d:4e:5f, kestrelnode[1-2]"
echo "token $secret" >&2
echo "PASSWORD=$password"
echo "job \$SLURM_JOB_NAME in \$SLURM_JOB_NODELIST"
for i in \$(seq 600); do [ ! -e $WORK/go ] || break; sleep 0.1; done
echo "write: 5 MiB/s"
S
chmod +x ../prog
cat >../batch.sh <<S
#!/bin/bash
#SBATCH --comment="wendelin at 10.77.66.55, $password"
# mail wendelin@kestrel.example
export API_TOKEN=$secret
"$BENCHWRAP" -q -e privacy --sample 500ms --to http://127.0.0.1:$(cat ../port) --archive "$WORK/arch" -- srun -n2 "$WORK/prog" --user wendelin --password $password "$WORK/home/wendelin/data"
S
mkdir -p "$WORK/home/wendelin"
job=$(USER=wendelin LOGNAME=wendelin HOME=$WORK/home/wendelin SLURM_JOB_ACCOUNT=projektx sbatch --parsable -N2 -n2 -J "wendelin's kestrelnode1 job" -o ../job.out ../batch.sh)
ok "it runs on both nodes" wait_until "[ \"\$(cat .benchwrap/spool/*/nodes.lines 2>/dev/null | grep -c '\"s\"')\" -ge 2 ]" 120
words="wendelin projektx 10.77.66.55 fd00:aa:bb 0a:1b:2c kestrelnode $password ${secret#ghp_} kestrel.example"
scan() # WHERE FOLDER…: prints what is found
{
    for word in $words; do
        grep -rlaiF -e "$word" "${@:2}" 2>/dev/null | sed "s|^|$1: $word in |"
        find "${@:2}" 2>/dev/null | grep -iF -e "$word" | grep -vF "$WORK/home" | sed "s|^|$1: $word in the name |"
    done
}
is "spool and caches while it runs" "$(scan spool .benchwrap "$WORK/cache" "$WORK/state" "$WORK/runtime")" ""
touch "$WORK/go"
ok "it ends" wait_until "[ -z \"\$(timeout 10 squeue -h -j $job 2>/dev/null)\" ] && [ -e mlruns/*/*/meta.yaml ]" 120
"$BENCHWRAP" sync --to "http://127.0.0.1:$(cat ../port)" >../sync.out 2>&1
"$BENCHWRAP" commit >../commit.out 2>&1
is "it is a public run of two nodes" "$("$BENCHWRAP" show --json | jq -r '[.tags["benchwrap.profile"], .params["nodes.count"]] | join(" ")')" "public 2"
like "the job's own output has all" "$(cat ../job.out)" 'wendelin of projektx'
like "results stay" "$(cat mlruns/*/*/artifacts/stdout.log)" '^write: 5 MiB/s$'
is "the tree, the spool, caches" "$(scan tree mlruns .benchwrap "$WORK/cache" "$WORK/state" "$WORK/runtime")" ""
ok "the server was sent the run" grep -aq 'runs/log-batch\|runs/create' ../requests
is "what the server was sent" "$(for word in $words; do grep -aiF -e "$word" ../requests | head -c 300; done)" ""
ok "the run is committed" sh -c 'git log --all --oneline | grep -q .'
git cat-file --batch-all-objects --batch >../objects 2>/dev/null
ok "git's objects are there" test -s ../objects
is "git's objects" "$(for word in $words; do grep -aiF -e "$word" ../objects | head -c 300; done)" ""
is "the archive of a public run holds no secret" "$(for word in "$password" "${secret#ghp_}"; do grep -rlaF -e "$word" "$WORK/arch"; done)" ""
is "and is private" "$(find "$WORK/arch" -type f -perm /077; find "$WORK/arch" -mindepth 1 -type d -perm /077)" ""
kill $server
slurm_stop
done_testing
