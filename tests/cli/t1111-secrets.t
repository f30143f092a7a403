#!/bin/sh
# One policy for secrets: names and values of params, tags and logged facts, command lines, variables and artifacts. Results stay, and a number that goes is told.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >prog <<'X'
#!/bin/sh
"$BENCHWRAP" log param password=LogSecret1
"$BENCHWRAP" log tag my_api_key=LogSecret2
printf 'head\0password=BinSecret1 tail\0' >binary
echo "+ curl -u alice:OutSecret1 http://x"
echo "machine h login alice password OutSecret2"
printf 'password: >-\n  OutSecret3\nrate: 5\n'
echo '{"password": 48151623, "n": 5}'
echo "pass_rate: 0.953"
echo "first_pass_ms: 33.25"
echo '{"pass_rate":0.95,"tokens_per_s":11.5}'
echo "sshpass -p OutSecret4 ssh x" >&2
X
chmod +x prog
for profile in private public; do
    rm -rf mlruns .benchwrap
    MY_TOKEN=EnvSecret1 MAX_TOKENS=4096 "$BENCHWRAP" --profile $profile --site lab -p db_password=ParSecret1 --tag api_key=ParSecret2 -p pass_rate=0.5 --artifact binary \
        -- ./prog --pw ArgSecret1 -passin pass:ArgSecret2 mysql -pArgSecret3 >out 2>err
    for word in LogSecret BinSecret OutSecret EnvSecret ParSecret ArgSecret 48151623; do
        ok "$profile: $word is nowhere" sh -c 'if grep -rlaF -e "$1" mlruns .benchwrap; then exit 1; fi' sh $word
    done
    like "$profile: results stay" "$(cat mlruns/*/*/artifacts/stdout.log)" '^pass_rate: 0.953$'
    like "$profile: a longer name is no secret" "$(cat mlruns/*/*/artifacts/stdout.log)" '^first_pass_ms: 33.25$'
    like "$profile: JSON stays JSON" "$(cat mlruns/*/*/artifacts/stdout.log)" '^\{"password": "\*{6}", "n": 5\}$'
    is "$profile: a param's number stays" "$(cat mlruns/*/*/params/pass_rate)" 0.5
    like "$profile: the number that goes is told" "$(cat err)" 'number was replaced'
    like "$profile: and recorded" "$(cat mlruns/*/*/artifacts/benchwrap.json)" 'number was replaced'
done
rm -rf mlruns .benchwrap
"$BENCHWRAP" -q --profile private --artifact binary -- true
ok "an artifact with NUL bytes is kept without it" sh -c 'tr "\0" " " <"$(echo mlruns/*/*/artifacts/files/binary)" | grep -q "head password=.redacted. tail"'

# No value that the rules read from a sample of the catalogue changes (the long tier looks at all samples, this one at every third).
changed=0
compared=0
n=0
every=3
if long_tests; then every=1; fi
for file in "$ROOT"/benchmarks/catalogue/*/samples/*/stdout; do
    n=$((n + 1))
    [ $((n % every)) = 0 ] || continue
    "$BENCHWRAP" redact --profile private "$file" >clean
    compared=$((compared + 1))
    cmp -s "$file" clean && continue
    name=${file#"$ROOT"/benchmarks/catalogue/}
    [ "$("$BENCHWRAP" parse --rules "${name%%/*}" --json "$file" 2>&1)" = "$("$BENCHWRAP" parse --rules "${name%%/*}" --json clean 2>&1)" ] || changed=$((changed + 1))
done
is "no parsed value of a sample changes" $changed 0
ok "samples were compared" [ $compared -gt 100 ]
done_testing
