#!/bin/sh
# What must not be written is not: secrets in every record, in public ones also hosts, people, addresses, serials; in spool, journal, tree and artifacts.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
XDG_RUNTIME_DIR=$WORK/run
export XDG_RUNTIME_DIR
mkdir -m 700 run

# Secrets of many shapes; some are put together from parts here, so that no scanner takes this file for a leak.
cat >secrets <<X
AKIA""IOSFODNN7EXAMPLQ
wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
ghp_""16C7e42F292c6912E7710c838347Ae178B4a
glpat-""xY7kQ2mN8pR4sT6vW1zB
xoxb-""123456789012-abcdefghijkl
hf_""abcdefghijklmnopqrstuvwxyz12345678
eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U
npm_""AbCdEfGhIjKlMnOpQrStUvWxYz0123456789
X
tr -d '"' <secrets >list
cat >prog <<'X'
#!/bin/sh
# Prints secrets and identities in the ways programs do.
cat "$1"
while read -r s; do
    printf 'value %s end\n' "$s"
    printf '%s' "$(printf %s "$s" | cut -c1-9)"
    sleep 0.01
    printf '%s\n' "$(printf %s "$s" | cut -c10-)"
    printf '{"token": "%s"}\n' "$s" >&2
done <"$1"
echo "DB_PASSWORD=hunter-two"
echo "fetch https://quentin:pa55word@host.example/x"
echo "Authorization: Bearer opaque.secret-one"
echo "-----BEGIN RSA PRIVATE KEY-----"
echo "MIIEpAIBAAKCAQEA"
echo "-----END RSA PRIVATE KEY-----"
echo "user quentin of projectx on gpu08.site.example (gpu[07-09]), $(uname -n), uid=$(id -u)"
echo "at 10.20.30.40 and fe80::b83f:d2ff:fe12:3456, b8:3f:d2:12:34:56, node 01234567-89ab-cdef-0123-456789abcdef, bob@mail.example"
cat /sys/class/net/*/address /etc/machine-id 2>/dev/null
cp "$1" result.txt
echo "host gpu07 home /home/quentin/data" >>result.txt
printf 'a\0quentin' >binary
env
echo "write: 1150.92 MiB/s 12:34:56 1.2.3 tokens: 5000"
X
chmod +x prog
record() # PROFILE
{
    rm -rf mlruns .benchwrap
    USER=quentin LOGNAME=quentin HOME=/home/quentin HOSTNAME=gpu07.site.example SLURM_JOB_ID=5 SLURM_JOB_ACCOUNT=projectx SLURM_JOB_NODELIST='gpu[07-09]' \
        SLURM_SUBMIT_HOST=frontend3 SLURMD_NODENAME=gpu07 WANDB_API_KEY=wandb-value-77 HTTPS_PROXY=http://me:proxypw@proxy:1 MLFLOW_TRACKING_PASSWORD=mlf-pw-88 \
        "$BENCHWRAP" -q --profile "$1" --sample 20ms --site lab --param note=password=paramsecret1 --tag by=quentin --artifact result.txt --artifact binary -- ./prog list --password argvsecret --api-key=argvsecret2 \
        http://u:argvsecret3@h/ /home/quentin/in >pass 2>pass.err
}
scan() # NAME WORD: in contents and names of all that was written
{
    ok "$1" sh -c 'if grep -rlaF -e "$1" mlruns .benchwrap run; then exit 1; fi; if find mlruns .benchwrap run | grep -F -e "$1"; then exit 1; fi' sh "$2"
}
for profile in private public; do
    record $profile
    n=0
    while read -r secret; do
        n=$((n + 1))
        scan "$profile: secret $n is nowhere" "$secret"
        scan "$profile: nor its end, written apart" "$(printf %s "$secret" | cut -c10-)"
        ok "$profile: it was passed on unchanged" grep -qF -e "$secret" pass
    done <list
    for word in hunter-two pa55word opaque.secret-one MIIEpAIBAAKCAQEA wandb-value-77 proxypw mlf-pw-88 argvsecret paramsecret1; do
        scan "$profile: $word is nowhere" $word
    done
    like "$profile: results stay" "$(cat mlruns/*/*/artifacts/stdout.log)" "^write: 1150.92 MiB/s 12:34:56 1.2.3 tokens: 5000$"
    is "$profile: the stream is as long as it was" "$(cat mlruns/*/*/artifacts/stdout.log | wc -c)" "$(wc -c <pass)"
    like "$profile: the record says so" "$(cat mlruns/*/*/tags/benchwrap.secrets_redacted)" "^[0-9]+$"
    ok "$profile: the file the program wrote is kept" test -s "$(echo mlruns/*/*/artifacts/files/result.txt)"
done
for word in quentin projectx gpu07 gpu08 'gpu[07-09]' site.example frontend3 10.20.30.40 fe80::b83f b8:3f:d2:12 01234567-89ab bob@mail.example; do
    scan "public: $word is nowhere" "$word"
done
for file in /sys/class/net/*/address /etc/machine-id; do
    value=$(cat "$file" 2>/dev/null)
    case $value in '' | 00:00:00:00:00:00) continue ;; esac
    scan "public: what $file says is nowhere" "$value"
done
host=$(uname -n)
if [ ${#host} -ge 3 ] && [ "$host" != localhost ]; then scan "public: the host's own name is nowhere" "$host"; fi
like "public: what is no text is not kept, and why" "$(cat mlruns/*/*/artifacts/benchwrap.json)" "is no text"
ok "public: nor where it was recorded" sh -c '! grep -rlaF -e "$WORK" --exclude=stdout.log mlruns .benchwrap run'

# A journal without names is finished by another run as any other.
rm -rf mlruns .benchwrap
"$BENCHWRAP" -q --profile public -- sh -c 'sleep 60' &
pid=$!
wait_until 'grep -qs "\"started\"" .benchwrap/spool/*/journal'
pkill -KILL -P $pid 2>/dev/null
kill -KILL $pid
wait $pid 2>/dev/null
wait_until idle
"$BENCHWRAP" sync --local >/dev/null 2>&1
is "an orphan of the public profile is closed" "$(find mlruns -name meta.yaml -path '*/*/*/*' | wc -l | tr -d ' ')" 1

# benchwrap redact
printf 'user quentin on gpu07 password=abc 10.2.3.4\nok 12 %s\n' "$(sed -n 3p list)" >text
is "a text is cleaned, and as long as before" "$(USER=quentin SLURM_JOB_NODELIST=gpu07 "$BENCHWRAP" redact text | sed 's/uuuuu*[0-9]*/U/; s/hhh*[0-9]*/H/')" \
    "$(printf 'user U on H password=*** xx.x.x.x\nok 12 [redacted]******************************')"
explained=$(USER=quentin SLURM_JOB_NODELIST=gpu07 "$BENCHWRAP" redact --explain - <text)
like "places and reasons" "$explained" "^1:32 .*a name that means a secret"
like "of the second line" "$explained" "^2:7 .*token of a known service"
like "of names" "$explained" "^1:6 .*user"
ok "the secret is not shown" sh -c '! printf %s "$1" | grep -q ghp' sh "$explained"
facts=$(USER=quentin MY_TOKEN=geheim OMP_PLACES=cores "$BENCHWRAP" redact --explain)
like "this machine: kept" "$facts" "^param cpu.threads +kept"
like "dropped" "$facts" "^tag hostname +dropped"
like "variables" "$facts" "^variable OMP_PLACES +kept"
ok "and no secret" sh -c '! printf %s "$1" | grep -q geheim' sh "$facts"
ok "as JSON" sh -c '"$BENCHWRAP" redact --json text | python3 -c "import json, sys; assert all(r[\"why\"] for r in json.load(sys.stdin))"'
done_testing
