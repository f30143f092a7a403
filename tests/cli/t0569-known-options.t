#!/bin/bash
# An option that the rules know without a param is an input where it changes what is measured, and none where it changes the output.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
printf '#!/bin/sh\n' >prog && chmod +x prog
count=0
pair() { # RULES WHAT DIFFERS: two command lines ($3, $4), each one word list
    count=$((count + 1))
    for line in "$3" "$4"; do "$BENCHWRAP" -q -e "e$count" -r "$1" -- ./prog $line >/dev/null 2>&1; done
    "$BENCHWRAP" compare -e "e$count" last~1 last | tr -s '\n ' ' ' >compare.out
    if [ "$2" = same ]; then
        like "$1 $4: the same inputs" "$(cat compare.out)" 'A and B have the same inputs\.'
    else
        like "$1 $4: other inputs" "$(cat compare.out)" "Inputs that differ: (.*, )?argument\.$2[,.]"
    fi
}
pair bonnie D '-d x' '-d x -D'
pair bonnie b '-d x' '-d x -b'
pair bonnie c '-c 1' '-c 2'
pair bonnie same '-d x' '-q -d x'
pair elbencho sync '-w x' '-w --sync x'
pair elbencho dropcache '-w x' '-w --dropcache x'
pair elbencho same '-w x' '-w --lat x'
pair iozone L '-L 64' '-L 128'
pair iozone p '-a' '-a -p'
pair iozone same '-s 1' '-s 1 -R -b x.xls'
pair k6 batch 'run --batch 5 x.js' 'run --batch 50 x.js'
pair k6 discard-response-bodies 'run x.js' 'run --discard-response-bodies x.js'
pair k6 same 'run x.js' 'run --quiet --no-color x.js'
pair ab H '-H X:1 http://x/' '-H X:2 http://x/'
pair iperf3 cntl-ka '-c x' '-c x --cntl-ka=3'
pair iperf3 same '-c x' '-c x -J --pidfile p'
pair dcgm-diag train '-r 1' '-r 1 --train'
pair llmload header '--header X-Route:a' '--header X-Route:b'
pair wrk H '-H X:1 http://x/' '-H X:2 http://x/'
pair oha http2 'http://x/' '--http2 http://x/'
pair perftest Q '-Q 1' '-Q 16'
pair vllm-bench extra-body '--extra-body 1' '--extra-body 2'
cat >own.yaml <<'Y'
name: own
version: "1"
arguments: {options: [{flags: [-x], param: x, input: true}]}
readers: [{name: r, regex: '^(?<v>\S+)$', metrics: [{name: r, cell: v}]}]
Y
like "input with a param is refused" "$("$BENCHWRAP" rules check own.yaml 2>&1)" 'own.yaml:3.*input: expected an option without a param'
done_testing
