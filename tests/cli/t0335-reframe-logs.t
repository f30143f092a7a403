#!/bin/sh
# t0335: performance logs as ReFrame 3.7.0, 3.12.0, 4.0.5, 4.6.4 and 4.9.2 wrote them, and posted records: each record's values, verdict and references.
# shellcheck source=tests/lib/tap.sh
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >v3.7.log <<'END'
2026-11-27T23:01:23|reframe 3.7.0|echo_test on generic:default using builtin|jobid=12164|bw=12.5|ref=12.0 (l=-0.1, u=0.1)|MB/s
2026-11-27T23:01:23|reframe 3.7.0|echo_test on generic:default using builtin|jobid=12164|lat=3.25|ref=1.0 (l=null, u=0.5)|us
END
sed 's/3\.7\.0/3.12.0/; s/ on generic:default using / @generic:default+/' v3.7.log >v3.12.log
cat >v4.0.log <<'END'
job_completion_time,version,display_name,system,partition,environ,jobid,result,bw_value,bw_unit,bw_ref,bw_lower,bw_upper,lat_value,lat_unit,lat_ref,lat_lower,lat_upper
2026-03-23T22:17:50,4.0.5,echo_test %n=1,generic,default,builtin,28775,fail,12.5,MB/s,12.0,-0.1,0.1,3.25,us,1.0,None,0.5
2026-03-23T22:17:51,4.0.5,echo_test %n=2,generic,default,builtin,28776,pass,12.5,MB/s,12.0,-0.1,0.1,1.25,us,1.0,None,0.5
END
cat >v4.9.log <<'END'
result|job_completion_time|job_completion_time_unix|jobid|name|partition|bw_value|bw_unit|bw_ref|bw_lower_thres|bw_upper_thres|display_name|system
fail|2026-03-23 22:20:01|1774304401.4|15459|echo_test %n=1|default|12.5|MB/s|20|-0.1|0.1|echo_test %n=1|generic
pass|2026-03-23 22:20:02|1774304402.4|15460|echo_test %n=1|default|19.5|MB/s|20|-0.1|0.1|echo_test %n=1|generic
END
printf '\357\273\277' | cat - v4.9.log >mark.log
printf 'system,latency_value,unit\nalpha,12.5,us\n' >table.csv

# 4.x with perflog_compat: a header line, and lines as 3.x wrote them.
{
    echo 'job_completion_time|reframe version|info|jobid=jobid|perf_var=perf_value|ref=perf_ref (l=perf_lower_thres, u=perf_upper_thres)|perf_unit'
    sed 's/3\.7\.0/4.6.4/; s/echo_test on generic:default using /echo_test \/191dd81c @generic:default+/' v3.7.log
} >v4.6-compat.log

imported() { "$BENCHWRAP" import -t "$1" --json "$1.log" 2>err | jq -c '[.[] | [.result, .verdict]]'; }
values() { cat "$1"/mlruns/*/*/metrics/"$2" | cut -d' ' -f2 | LC_ALL=C sort | tr '\n' ' '; }

for v in 3.7 3.12 4.6-compat; do
    is "$v: a run for each record, its verdict by reference and thresholds" "$(imported v$v)" '[["imported","pass"],["imported","fail"]]'
    is "… and its values" "$(values v$v bw_MB_per_s)$(values v$v lat_s)" "12.5 3.25e-06 "
    is "… and where it ran" "$(for file in v"$v"/mlruns/*/*/params/system v"$v"/mlruns/*/*/params/partition v"$v"/mlruns/*/*/params/environ v"$v"/mlruns/*/*/params/test; do cat "$file"; echo; done | LC_ALL=C sort -u | tr '\n' ' ')" "builtin default echo_test generic "
done
is "4.0, with commas: a run for each record, with ReFrame's verdict" "$(imported v4.0)" '[["imported","fail"],["imported","pass"]]'
is "… and its values" "$(values v4.0 bw_MB_per_s)$(values v4.0 lat_s)" "12.5 12.5 1.25e-06 3.25e-06 "
like "… references and thresholds" "$("$BENCHWRAP" reference --from-reframe v4.0.log)" '"bw_MB_per_s": \[12, -0.1, 0.1\]'
is "4.9" "$(imported v4.9)" '[["imported","fail"],["imported","pass"]]'
is "… and its values" "$(values v4.9 bw_MB_per_s)" "12.5 19.5 "
is "a byte order mark hides no verdict" "$(imported mark)" '[["imported","fail"],["imported","pass"]]'
# Records of one variable each: all that 3.x posted, which has no verdict in them, and perflog_multiline of 4.9 and later, where the record
# repeats the test's other variables.
common='"check_name": "stream", "check_system": "demo", "check_partition": "gpu", "check_environ": "gnu", "check_jobid": "7"'
one() # VARIABLE VALUE REFERENCE LOWER UPPER UNIT
{
    printf '{%s, "check_perf_var": "%s", "check_perf_value": %s, "check_perf_ref": %s, "check_perf_lower_thres": %s, "check_perf_upper_thres": %s, "check_perf_unit": "%s"%s}\n' \
        "$common" "$@"
}
{ one bw 12.5 12.0 -0.1 0.1 MB/s; one lat 3.25 1.0 null 0.5 us; } >posted3.log
both='"check_perf_bw_value": 12.5, "check_perf_bw_unit": "MB/s", "check_perf_lat_value": 3.25, "check_perf_lat_unit": "us"'
{ one bw 12.5 12.0 -0.1 0.1 MB/s ', "check_result": "fail", '"$both"; one lat 3.25 1.0 null 0.5 us ', "check_result": "fail", '"$both"; } >multi.log
sed 's/.*/[&]/' multi.log >array.log
{ printf '[\n'; sed '1s/$/,/' multi.log; printf ']\n'; } >spread.log
printf '%s\n' 'result|name|system|partition|environ|perf_var|perf_value|perf_ref|perf_lower_thres|perf_upper_thres|perf_unit' \
    'fail|stream|demo|gpu|gnu|bw|12.5|12.0|-0.1|0.1|MB/s' 'fail|stream|demo|gpu|gnu|lat|3.25|1.0|None|0.5|us' >multifile.log
is "3.x, posted: a run for each record, its verdict by reference and thresholds" "$(imported posted3)" '[["imported","pass"],["imported","fail"]]'
for log in posted3 multi array spread multifile; do
    [ $log = posted3 ] || is "$log: ReFrame's verdict" "$(imported $log)" '[["imported","fail"],["imported","fail"]]'
    is "… a variable each" "$(values $log bw_MB_per_s)$(values $log lat_s)" "12.5 3.25e-06 "
    like "… with its reference" "$("$BENCHWRAP" reference --from-reframe $log.log | tr '\n' ' ')" '"bw_MB_per_s": \[12, -0.1, 0.1\].*"lat_s": \[1e-06, null, 0.5\]'
done
printf '[7, ["check_name"]]\n' >other.log
is "an array of something else is none of ReFrame's" "$("$BENCHWRAP" import -t other --json other.log 2>err | jq -c '[.[].result]')" '["not recognised"]'
is "another table with commas is none of ReFrame's" "$("$BENCHWRAP" import -t table --json table.csv 2>err | jq -c '[.[].result]')" '["not recognised"]'
done_testing
