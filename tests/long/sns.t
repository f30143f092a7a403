#!/bin/bash
# The exporter sns against moto, which verifies signatures: topics made by sns-setup and the real aws, messages read back by a queue, keys that lack the right.
# sanitizer: no, because a real server is what is waited for; t1602-sns walks the same code
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/mlflow_server.sh"
if ! python=$(venv_python sns-1 900 'moto[server]==5.2.5' 'awscli'); then
    skip "messages to SNS" "$python"
    done_testing
    exit
fi
config=$HOME/.config/benchwrap/config.yaml
mkdir -p "$(dirname "$config")" "$WORK/d" && cd "$WORK/d" || exit 1
unset AWS_PROFILE AWS_SESSION_TOKEN http_proxy https_proxy
export AWS_EC2_METADATA_DISABLED=true AWS_DEFAULT_REGION=eu-west-1 PATH=${python%/*}:$PATH
port=$(free_port)
"$python" -m moto.server -H 127.0.0.1 -p "$port" >moto.log 2>&1 &
moto=$!
trap 'kill $moto 2>/dev/null; wait $moto 2>/dev/null; tap_exit' EXIT
until curl -s "http://127.0.0.1:$port/" >/dev/null; do kill -0 $moto || break; sleep 0.2; done
url=http://127.0.0.1:$port
export AWS_ENDPOINT_URL=$url AWS_ACCESS_KEY_ID=admin AWS_SECRET_ACCESS_KEY=admin
aws iam create-user --user-name bench >/dev/null
"$BENCHWRAP" exporter sns-setup >setup.sh; "$BENCHWRAP" exporter sns-setup runs.fifo >fifo.sh
PUBLISHER=bench EMAIL=ada@example.org sh setup.sh >setup.out
is "sns-setup makes topic, subscription and policy by the real aws" "$(aws sns list-subscriptions --query 'Subscriptions[].Protocol' --output text) $(aws iam get-user-policy --user-name bench --policy-name benchwrap-publish --query PolicyDocument | jq -c '.Statement[0] | [.Action, .Resource]')" 'email ["sns:Publish","arn:aws:sns:eu-west-1:123456789012:benchwrap"]'
is "a second call changes nothing" "$(PUBLISHER=bench sh setup.sh | grep -v '^# ada' | md5sum)" "$(grep -v '^# ada' setup.out | md5sum)"
sh fifo.sh >fifo.out
for name in benchwrap runs.fifo; do
    attributes='{}'; case $name in *.fifo) attributes='{"FifoQueue":"true"}' ;; esac
    queue=$(aws --endpoint-url "$url" sqs create-queue --queue-name "q-$name" --attributes "$attributes" --query QueueUrl --output text)
    aws --endpoint-url "$url" sns subscribe --topic-arn "arn:aws:sns:eu-west-1:123456789012:$name" --protocol sqs --notification-endpoint "arn:aws:sqs:eu-west-1:123456789012:q-$name" >/dev/null
    eval "queue_${name%.*}=$queue"
done
# moto does not evaluate the resource of a policy: sns:Publish on everything stands for the policy of sns-setup.
publish='{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sns:Publish","Resource":"*"}]}'
aws iam put-user-policy --user-name bench --policy-name moto --policy-document "$publish"
user_key=$(aws iam create-access-key --user-name bench)
aws iam create-user --user-name other >/dev/null; other_key=$(aws iam create-access-key --user-name other)
curl -s -X POST -H 'Content-Type: text/plain' -d 0 "$url/moto-api/reset-auth" >/dev/null # from now on signatures and rights count
unset AWS_ENDPOINT_URL
AWS_ACCESS_KEY_ID=$(jq -r .AccessKey.AccessKeyId <<<"$user_key") AWS_SECRET_ACCESS_KEY=$(jq -r .AccessKey.SecretAccessKey <<<"$user_key")
received() # QUEUE: the messages, read as another program reads them
{
    curl -s -X POST -H 'Content-Type: text/plain' -d 100000 "$url/moto-api/reset-auth" >/dev/null
    aws --endpoint-url "$url" sqs receive-message --queue-url "$1" --max-number-of-messages 10 --attribute-names All | jq -c '.Messages[] | [(.Body | fromjson), .Attributes]'
    curl -s -X POST -H 'Content-Type: text/plain' -d 0 "$url/moto-api/reset-auth" >/dev/null
}
exporter() { { sed -n '/^exporters:/,$p' "$1" | grep -v '^# Then'; } | sed "s|{type: sns,|{type: sns, wait: 20s, endpoint: '$url/',|" >"$config"; }
exporter setup.out
"$BENCHWRAP" -q -e io --cluster tst -- sh -c 'echo "bandwidth: 12.5 MB/s"' >/dev/null
is "a run is published, by keys that may do nothing else" "$("$BENCHWRAP" exporter list --json | jq -c '.[] | [.delivered, .pending, .dead_letters, .problem]') $(received "$queue_benchwrap" | jq -r '.[0] | .Subject, (.Message | test("FINISHED.*\n.*bandwidth 12.5 MB/s")), .MessageAttributes.cluster.Value' | paste -sd' ')" '[1,0,0,""] io: FINISHED true tst'
is "a message of the user's" "$("$BENCHWRAP" exporter send sns --message 'héllo & = + /') $(received "$queue_benchwrap" | jq -r '.[0].Message')" "sns: message sent héllo & = + /"
like "check: the keys are right, and may not read the topic" "$("$BENCHWRAP" exporter check sns)" 'good +AWS accepts the keys of the environment; '
exporter fifo.out
other_id=$(jq -r .AccessKey.AccessKeyId <<<"$other_key") other_secret=$(jq -r .AccessKey.SecretAccessKey <<<"$other_key")
is "keys without the right: it waits" "$(AWS_ACCESS_KEY_ID=$other_id AWS_SECRET_ACCESS_KEY=$other_secret "$BENCHWRAP" exporter send sns last --json | jq -c '[.delivered, .pending, (.why | test("status 403.*not authorized"))]')" '[0,1,true]'
is "the secret of another user" "$(AWS_SECRET_ACCESS_KEY=$other_secret "$BENCHWRAP" exporter check sns --json | jq -r '.[] | .result, (.found | test("SignatureDoesNotMatch"))' | paste -sd' ')" "failed true"
aws_admin() { curl -s -X POST -H 'Content-Type: text/plain' -d 100000 "$url/moto-api/reset-auth" >/dev/null; aws --endpoint-url "$url" "$@"; curl -s -X POST -H 'Content-Type: text/plain' -d 0 "$url/moto-api/reset-auth" >/dev/null; }
aws_admin iam put-user-policy --user-name other --policy-name moto --policy-document "$publish"
id=$("$BENCHWRAP" show --json last | jq -r .id)
is "... with the right it goes out, to a FIFO topic with group and id of the run" "$(AWS_ACCESS_KEY_ID=$other_id AWS_SECRET_ACCESS_KEY=$other_secret "$BENCHWRAP" sync >/dev/null; "$BENCHWRAP" exporter list --json | jq -c '.[] | [.delivered, .pending]') $(received "$queue_runs" | jq -r '.[1] | .MessageGroupId + " " + .MessageDeduplicationId')" "[2,0] benchwrap $id"
session=$(aws_admin sts get-session-token | jq -r '.Credentials | [.AccessKeyId, .SecretAccessKey, .SessionToken] | join(" ")')
read -r AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN <<<"$session"
export AWS_SESSION_TOKEN
like "temporary keys are signed with their token" "$("$BENCHWRAP" exporter check sns)" 'good|not authorized|InvalidClientTokenId|InvalidAccessKeyId'
done_testing
