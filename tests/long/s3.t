#!/bin/bash
# Artifacts in a real object store behind MLflow: in parts through addresses that the server gives, and whole where the server proxies nothing. Parts
# that fail are sent again, what is given up leaves no half upload behind, what was killed is completed by the next sync.
# sanitizer: no, because real servers are what is waited for; the client's unit tests walk the same code
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/mlflow_server.sh"
MLFLOW=3.17.2
if ! python=$(venv_mlflow "$MLFLOW"); then
    skip "artifacts in an object store" "$python"
    done_testing
    exit
fi
if ! store_python=$(venv_python s3-1 900 'moto==5.2.5' 'boto3==1.44.5' 'flask==3.1.3' 'flask-cors==6.0.5'); then
    skip "artifacts in an object store" "$store_python"
    done_testing
    exit
fi
cd "$WORK" || exit
store='' proxy=''
finish()
{
    mlflow_server_stop parts
    mlflow_server_stop direct
    # shellcheck disable=SC2086 # numbers
    kill $store $proxy 2>/dev/null
    wait 2>/dev/null
    tap_exit
}
trap finish EXIT

# ---- the store, a proxy before it that may meddle, and MLflow with boto3 ----

mkdir aws
for p in boto3 botocore s3transfer jmespath; do
    ln -s "$(dirname "$("$store_python" -c "import $p; print($p.__file__)")")" aws/
done
export AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=secret AWS_DEFAULT_REGION=us-east-1 AWS_EC2_METADATA_DISABLED=true
unset AWS_PROFILE AWS_SESSION_TOKEN http_proxy https_proxy
store_port=$(free_port)
"$store_python" -m moto.server -H 127.0.0.1 -p "$store_port" >store.log 2>&1 &
store=$!
until curl -s "http://127.0.0.1:$store_port/" >/dev/null; do kill -0 $store || break; sleep 0.2; done

# s3 COMMAND [ARGUMENT]: make; pending (how many uploads in parts are begun and not ended); object NAME's end: parts, sum of its bytes
s3()
{
    "$store_python" - "$store_port" "$@" <<'P'
import hashlib, sys
import boto3
s3 = boto3.client("s3", endpoint_url="http://127.0.0.1:" + sys.argv[1])
if sys.argv[2] == "make":
    s3.create_bucket(Bucket="runs")
elif sys.argv[2] == "pending":
    print(len(s3.list_multipart_uploads(Bucket="runs").get("Uploads", [])))
else:
    for o in s3.list_objects_v2(Bucket="runs").get("Contents", []):
        if o["Key"].endswith(sys.argv[3]):
            tag = o["ETag"].strip('"').partition("-")[2]
            print(tag or "whole", hashlib.sha256(s3.get_object(Bucket="runs", Key=o["Key"])["Body"].read()).hexdigest())
P
}
proxy_port=$(free_port)
meddle() # RULE…: of the way to the store, from now on
{
    [ -z "$proxy" ] || { kill "$proxy"; wait "$proxy" 2>/dev/null; }
    python3 "$TESTLIB/meddling-proxy.py" "$proxy_port" "$store_port" "$@" >proxy.log 2>&1 &
    proxy=$!
    until grep -qs ready proxy.log; do kill -0 "$proxy" || break; sleep 0.05; done
}
s3 make
meddle
export MLFLOW_S3_ENDPOINT_URL=http://127.0.0.1:$proxy_port PYTHONPATH=$WORK/aws
port=$(free_port) direct=$(free_port)
mlflow_server_start parts "$python" "$port" --backend-store-uri sqlite:///m.db --artifacts-destination s3://runs/parts
is "MLflow with a store behind it" $? 0
mlflow_server_start direct "$python" "$direct" --backend-store-uri sqlite:///m.db --no-serve-artifacts --default-artifact-root s3://runs/direct
is "MLflow that serves no artifacts" $? 0
unset PYTHONPATH
url=http://127.0.0.1:$port
export MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD=true MLFLOW_MULTIPART_UPLOAD_MINIMUM_FILE_SIZE=10485760 MLFLOW_MULTIPART_UPLOAD_CHUNK_SIZE=10485760
export MLFLOW_HTTP_REQUEST_MAX_RETRIES=3 MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR=0.1

# run_with NAME: a run with an artifact of 33 MB (four parts) of that name, and small ones; sets $sum
run_with()
{
    head -c 33000000 /dev/urandom >"$1"
    sum=$(sha256sum <"$1" | cut -d' ' -f1)
    "$BENCHWRAP" -q -e "$1" --tree "$1.tree" --artifact "$1" -- echo a line >/dev/null
    rm "$1"
}
equal() # WHAT NAME
{
    ok "$1" "$python" "$ROOT/tests/mlruns/compare_server.py" "$2.tree/mlruns" "$url"
}
sync() # NAME [URL]
{
    "$BENCHWRAP" sync --to "${2:-$url}" --tree "$1.tree" >"$1.out" 2>&1
}

# ---- in parts ----

run_with plain.bin
sync plain.bin
is "a large file goes there in parts" "$? $(s3 object /plain.bin)" "0 4 $sum"
equal "and the run is equal" plain.bin
is "nothing is left half" "$(s3 pending)" 0

run_with again.bin
meddle refuse:partNumber=2:2 drop:partNumber=3:1
sync again.bin
is "parts that fail are sent again" "$? $(s3 object /again.bin) $(grep -c "partNumber=[23]" proxy.log)" "0 4 $sum 3"
is "nothing is left half then" "$(s3 pending)" 0

for how in refuse drop; do
    run_with "never-$how.bin"
    meddle "$how:partNumber=3:0"
    sync "never-$how.bin"
    like "a part that never gets there fails the run ($how)" "$? $(s3 object "/never-$how.bin")" '^[1-9][0-9]* $'
    meddle
    is "and what the store has is given up ($how)" "$(s3 pending)" 0
    sync "never-$how.bin"
    is "the next sync completes it ($how)" "$? $(s3 object "/never-$how.bin")" "0 4 $sum"
    equal "once, and equal ($how)" "never-$how.bin"
done

# ---- the end of the upload is lost on its way back ----

run_with end.bin
between=$(free_port)
python3 "$TESTLIB/meddling-proxy.py" "$between" "$port" drop:/mpu/complete/:1 >between.log 2>&1 &
proxy="$proxy $!"
wait_until 'grep -qs ready between.log'
sync end.bin "http://127.0.0.1:$between"
sync end.bin
is "the answer to the last call is lost: the file is there, once and whole" "$? $(s3 object /end.bin) $(s3 pending)" "0 4 $sum 0"
equal "equal" end.bin
# shellcheck disable=SC2086 # numbers
{ kill $proxy; wait $proxy 2>/dev/null; }
proxy=

# ---- the client ends in the middle ----

for signal in TERM KILL; do
    name=$signal.bin
    run_with "$name"
    meddle hold:partNumber=3:1:600
    "$BENCHWRAP" sync --to "$url" --tree "$name.tree" >"$name.out" 2>&1 &
    client=$!
    wait_until 'grep -q hold proxy.log' 300
    kill -$signal $client
    wait $client 2>/dev/null
    is "nothing is there that is not whole (SIG$signal)" "$(grep -c hold proxy.log) $(s3 object "/$name")" "1 "
    [ $signal != TERM ] || is "a client that is asked to end gives up what the store has" "$(s3 pending)" 0
    meddle
    sync "$name"
    is "the next sync completes it (SIG$signal)" "$? $(s3 object "/$name")" "0 4 $sum"
    equal "once, and equal (SIG$signal)" "$name"
done

# ---- whole, to an address that the server gives ----

run_with direct.bin
meddle refuse:direct.bin:2
sync direct.bin "http://127.0.0.1:$direct"
is "a server that proxies nothing: by an address of the store, once more where that fails" \
    "$? $(s3 object /direct.bin) $(grep -c refuse proxy.log)" "0 whole $sum 2"
done_testing
