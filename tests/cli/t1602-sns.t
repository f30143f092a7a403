#!/bin/bash
# The exporter sns: messages, FIFO topics, keys from every place of the usual chain, and what each answer does to a run. long/sns.t uses a real server.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
export BENCHWRAP_FINISH_WAIT=60s # a busy machine finishes a record later
config=$HOME/.config/benchwrap/config.yaml
mkdir -p "$(dirname "$config")" "$WORK/d" "$WORK/e" && cd "$WORK/d" || exit 1
python3 "$TESTLIB/sns-endpoint.py" "$WORK/e" 2>"$WORK/e/err" &
endpoint_pid=$!
finish_here() { kill $endpoint_pid 2>/dev/null; wait $endpoint_pid 2>/dev/null; tap_exit; }
trap finish_here EXIT
wait_until '[ -e "$WORK/e/port" ]'
url=http://127.0.0.1:$(cat "$WORK/e/port")
got=$WORK/e/got.jsonl
unset AWS_PROFILE AWS_SESSION_TOKEN AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
topic=arn:aws:sns:eu-west-1:123456789012:runs
exporter() # [KEYS [TOPIC [PATH]]]
{
    printf 'exporters:\n- {type: sns, name: x, wait: 60s, endpoint: "%s/%s", topic: "%s"%s}\n' "$url" "${3:-}" "${2:-$topic}" "${1:+, $1}" >"$config"
    rm -f "$got"
}
bw() { "$BENCHWRAP" -q "$@"; }
send() { "$BENCHWRAP" exporter send x "$@"; }
state() { "$BENCHWRAP" exporter list --json | jq -c '.[] | [.delivered, .pending, .dead_letters]'; }
problem() { "$BENCHWRAP" exporter list --json | jq -r '.[].problem'; }
fresh() { rm -rf .benchwrap mlruns; }
sent() { jq -r ".form.$1" "$got"; }
keys() { env AWS_ACCESS_KEY_ID=KEY AWS_SECRET_ACCESS_KEY='SE/CR+ET=' "$@"; }

# ---- messages ----
exporter "link: 'https://pages/{{id}}'"
keys "$BENCHWRAP" -q -e io --cluster 't&t' -- sh -c 'echo "bandwidth: 12.5 MB/s"' >/dev/null
is "a run is published, and the signature is right" "$(state) $(sent TopicArn) $(sent Subject)" "[1,0,0] $topic io: FINISHED"
like "... with outcome, headline metric and link" "$(sent Message | tr '\n' '~')" 'FINISHED~bandwidth 12.5 MB/s.*~https://pages/[0-9a-f]{32}~$'
is "... attributes for filters, the type of a form" "$(jq -r '.form | to_entries[] | select(.key | test("StringValue|Name")) | .value' "$got" | paste -sd' ') $(jq -r .type "$got")" "status FINISHED verdict none experiment io benchmark sh cluster t&t application/x-www-form-urlencoded"
is "no file has the secret" "$(grep -rl 'CR+ET' mlruns .benchwrap | wc -l)" 0
exporter "subject: \"$(printf 'h\303\251llo\\tx') {{status}}\", message: '{{experiment}} & {{metric.bandwidth_MB_per_s}}'"
keys "$BENCHWRAP" exporter send x last >/dev/null
is "subject and message of one's own; the subject is ASCII" "$(sent Subject) $(sent Message)" "h?llo x FINISHED io & 12.5"
exporter "subject: '{{tag.long}}', message: '$(printf '{{tag.long}}%.0s' $(seq 40))'"
keys "$BENCHWRAP" -q --tag "long=$(printf '%100000s' x | tr ' ' y)" -- true
is "a subject has at most 99 characters, a message 256 KiB" "$(sent Subject | wc -c) $(sent Message | wc -c)" "100 262145"
exporter "" "$topic.fifo"
id=$("$BENCHWRAP" show --json last | jq -r .id)
keys "$BENCHWRAP" exporter send x last >/dev/null
is "a FIFO topic gets group and id of the run" "$(sent MessageGroupId) $(sent MessageDeduplicationId)" "benchwrap $id"
exporter
is "a message of the user's" "$(keys "$BENCHWRAP" exporter send x --message 'test: ä') $(sent Message)" "x: message sent test: ä"
like "check" "$(keys "$BENCHWRAP" exporter check x)" 'good +AWS accepts the keys of the environment; benchwrap exporter send x --message TEXT proves'
is "--dry-run shows the request without a secret" "$(keys "$BENCHWRAP" exporter send x last --dry-run | head -n 2 | paste -sd' ')" "POST $url/ Authorization: AWS4-HMAC-SHA256 ***"
exporter "on: fail"; fresh; keys "$BENCHWRAP" -q -- true; keys "$BENCHWRAP" -q -- false; is "on: fail" "$(sent 'Message' | grep -c FAILED) $(grep -c . "$got") $(state)" "1 1 [2,0,0]"

# ---- keys ----
fresh; bw -- true 2>/dev/null
chain() { exporter "${1:-}"; shift; "$@" "$BENCHWRAP" exporter check x --json | jq -r '.[] | .result + " " + .found' | sed 's/; benchwrap.*//; s/127.0.0.1:[0-9]*/HOST/'; }
is "temporary keys of the environment are signed with their token" "$(chain '' env AWS_ACCESS_KEY_ID=TEMP AWS_SECRET_ACCESS_KEY='SE/CR+ET=' AWS_SESSION_TOKEN=T0KEN==)" "good AWS accepts the keys of the environment"
is "keys of the configuration" "$(chain 'access-key: KEY, secret-key: {env: SECRET}' env SECRET='SE/CR+ET=')" "good AWS accepts the keys of the configuration"
mkdir -p "$HOME/.aws"; (umask 077; printf '[default]\naws_access_key_id = no\n[work]\n# x\naws_access_key_id=KEY\naws_secret_access_key = SE/CR+ET=\n' >"$HOME/.aws/credentials")
printf '[profile tool]\ncredential_process = %s "a b"\ns3 =\n  x = 1\n[profile role]\nrole_arn = arn:x\n' "$PWD/tool" >"$HOME/.aws/config"
printf '#!/bin/sh\n[ "$1" = "a b" ] && echo "{\\"Version\\": 1, \\"AccessKeyId\\": \\"TEMP\\", \\"SecretAccessKey\\": \\"SE/CR+ET=\\", \\"SessionToken\\": \\"T0KEN==\\"}"\n' >tool; chmod +x tool
is "a profile of ~/.aws/credentials" "$(chain 'profile: work' env) $(chain '' env AWS_PROFILE=work)" "good AWS accepts the keys of the profile work good AWS accepts the keys of the profile work"
is "a program of ~/.aws/config" "$(chain 'profile: tool' env)" "good AWS accepts the keys of the program of the profile tool"
like "a profile with a role: the reason, and the way" "$(chain 'profile: role' env)" 'failed no keys for AWS: .*uses a role.*export-credentials'
like "a profile that is not there" "$(chain 'profile: none' env)" 'failed no keys for AWS: the profile none has no keys'
chmod 644 "$HOME/.aws/credentials"; like "a file of keys that others can read is refused" "$(chain 'profile: work' env)" 'can be read by others'; rm -r "$HOME/.aws"
(umask 077; echo WEB.TOKEN >web)
is "a web identity" "$(chain '' env AWS_WEB_IDENTITY_TOKEN_FILE="$PWD/web" AWS_ROLE_ARN=arn:aws:iam::1:role/r AWS_ENDPOINT_URL_STS="$url")" "good AWS accepts the keys of a web identity"
is "a container's role" "$(chain '' env AWS_CONTAINER_CREDENTIALS_FULL_URI="$url/container" AWS_CONTAINER_AUTHORIZATION_TOKEN=CONTAINER)" "good AWS accepts the keys of the container's role"
like "... also with a name that seems to be this machine's" "$(chain '' env AWS_CONTAINER_CREDENTIALS_FULL_URI=http://localhost:x@127.0.0.1:9/container)" 'failed .*an address of this machine'
like "... whose service must be of this machine" "$(chain '' env AWS_CONTAINER_CREDENTIALS_FULL_URI=http://example.org/x)" 'failed .*an address of this machine'
is "the machine's role (IMDSv2)" "$(chain '' env AWS_EC2_METADATA_SERVICE_ENDPOINT="$url/")" "good AWS accepts the keys of the machine's role"
like "no keys anywhere" "$(chain '' env AWS_EC2_METADATA_SERVICE_ENDPOINT=http://127.0.0.1:9)" 'failed no keys for AWS: the environment and ~/.aws have no keys, and the machine has no service'

# ---- answers ----
answer() # NAME PATH STATE PATTERN
{
    fresh; exporter "deadline: 4s, timeout: 2s" "" "$2"
    keys "$BENCHWRAP" -q -- true
    is "$1" "$(state)" "$3"
    [ -z "${4:-}" ] || like "$1: the reason" "$(problem; "$BENCHWRAP" exporter dead-letter x)" "$4"
}
answer "400: a dead letter" status/400/InvalidParameter/ "[0,0,1]" InvalidParameter
answer "400 for too many requests: it waits" status/400/Throttling/ "[0,1,0]" Throttling
answer "403: it waits" status/403/AuthorizationError/ "[0,1,0]" AuthorizationError
answer "404: it waits" status/404/NotFound/ "[0,1,0]" NotFound
answer "500: it waits" status/500/InternalFailure/ "[0,1,0]"
exporter; fresh; AWS_ACCESS_KEY_ID=KEY AWS_SECRET_ACCESS_KEY=wrong bw -- true; like "a wrong secret: it waits" "$(state) $(problem)" '^\[0,1,0\] .*SignatureDoesNotMatch'
is "recovery" "$(keys "$BENCHWRAP" sync >/dev/null; state)" "[1,0,0]"
bad() { exporter "$1" "${2:-}"; bw -- true 2>err; grep -c "this exporter is ignored" err; }
is "wrong keys are named" "$(bad 'secret-key: abc') $(bad 'access-key: KEY') $(bad '' arn:aws:sqs:eu-west-1:1:x) $(bad '' arn:aws:sns:e.example.org/:1:x) $(bad 'message: "{{nope}}"') $(bad 'on: never')" "1 1 1 1 1 1"

# ---- sns-setup ----
"$BENCHWRAP" exporter sns-setup runs.fifo >setup.sh
is "sns-setup prints a script with a policy for this topic only" "$(grep -c 'FifoTopic=true' setup.sh) $(grep -o '"Action": "sns:Publish", "Resource": "$topic"' setup.sh)" '1 "Action": "sns:Publish", "Resource": "$topic"'
like "... and refuses another name" "$("$BENCHWRAP" exporter sns-setup 'a;b' 2>&1)" 'expected the name of a topic'
if command -v shellcheck >/dev/null 2>&1; then
    ok "shellcheck finds nothing in the script" shellcheck setup.sh
fi
done_testing
