/* What the reader of unknown programs finds in a line, and what it refuses. */
#include "benchmarks/figure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* "name=value unit;…" of the last line; the lines before it give the context. */
static const char *read_lines(const char *text)
{
    static char out[2000];
    struct figure_context x = {0};
    struct figure f[FIGURES_MAX];
    out[0] = 0;
    for (struct str rest = str_of(text); rest.p;) {
        size_t n = figure_find(&x, str_cut(&rest, '\n'), f), at = 0;
        out[0] = 0;
        for (size_t i = 0; i < n; i++)
            at += (size_t)snprintf(out + at, sizeof out - at, "%s%s=%s %s%s%s%s%s", i ? ";" : "", f[i].name, f[i].value,
                                   f[i].unit ? f[i].unit->name : "-", f[i].bare ? " bare" : "", f[i].unsure ? " unsure" : "",
                                   f[i].step[0] ? " step " : "", f[i].step);
    }
    return out;
}

/* Reads each text, of which the last line gives the second one. */
static void check_rows(const char *const rows[][2], size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_string_equal(read_lines(rows[i][0]), rows[i][1]);
}
#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof *(rows))

static void check_refused(const char *const *lines, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_string_equal(read_lines(lines[i]), "");
}
#define CHECK_REFUSED(lines) check_refused(lines, sizeof(lines) / sizeof *(lines))

/* A name and its value. */
static void values_are_found(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"throughput: 120.5 items/s", "throughput=120.5 op_per_s"},
        {"eval_runtime = 0:00:12.34", "eval_runtime=12.34 s"},
        {"copy...0.5s, total time: 1.5 s", "copy=0.5 s;total time=1.5 s"},
        {"| HOMO-LUMO GAP     14.60 eV   |", "HOMO-LUMO GAP eV=14.60 -"},
        {"val mAP: 37.4", "val mAP=37.4 -"},
        {"mean absolute error: 0.5", "mean absolute error=0.5 -"},
        {"loss: 0.5", "loss=0.5 -"},
        {"loss 0.3", "loss=0.3 -"},
        {"  validation accuracy   0.93", "validation accuracy=0.93 -"},
        {"tokens/s: 500", "tokens/s=500 token_per_s"},
        {"speed 12.5 MB/s", "speed=12.5 MB_per_s"},
        {"Requests per second:    2733.33 [#/sec] (mean)", "Requests per second=2733.33 op_per_s"},
        {"Latency (us): 3.25", "Latency=3.25 us"},
        {"rate: 107 852 015 ops/s", "rate=107852015 op_per_s"},
        {"Accuracy = 85.6667% (514/600) (classification)", "Accuracy=85.6667 percent"},
        {"phase 3 time: 4.5 s", "phase 3 time=4.5 s"},
        {"Time in seconds = 7.65", "Time in seconds=7.65 s"},
        {"Mop/s total     =    4.38", "Mop/s total=4.38 Mop/s"},
        {"Time (Wallclock seconds):       0.19", "Time Wallclock=0.19 s"},
        {"Effective rps:       173", "Effective rps=173 op_per_s"},
        {"# duration_ms 1135.389475", "duration_ms=1135.389475 ms"},
        {" TOTAL JOB TIME:             0.03 SECONDS", "TOTAL JOB TIME=0.03 s"},
        {"encode time: 52 ms", "encode time=52 ms"},
        {"Total running seconds:  0.013316", "Total running seconds=0.013316 s"},
        {"SET: 81000 requests per second", "SET=81000 op_per_s"},
        {"rate: 12.5 MB/s\nRead percentage: 87%", "Read percentage=87 percent"},
        {"Epoch 10/10: loss=0.3", "loss=0.3 - step 10"},
        {"Epoch 3/10: loss 0.5", "loss=0.5 - step 3"},
        {"Iteration 6, inertia 78.855.", "inertia=78.855 - step 6"},
        {"Model:    OLS   R-squared:    0.933", "R-squared=0.933 -"},
        {"a.txt - compression ratio 5.98", "compression ratio=5.98 -"},
        {"0.234      seconds elapsed", "elapsed=0.234 s"},
        {"452        tokens processed per second", "tokens processed=452 op_per_s"},
        {"sum |###| 500/500 [100%] in 1.2s (421.1/s)", "sum=421.1 op_per_s;sum=1.2 s"},
        {"100%|###| 40/40 [00:00<00:00, 114.9it/s, loss=0.25, lr=0.001]", "rate=114.9 op_per_s;loss=0.25 -"},
        {"gen\tnevals\tavg\tmax\n10\t35\t0.754\t-0.76", "avg=0.754 - step 10;max=-0.76 - step 10"},
        {"Iter  Loss  Step size\n   3  0.5   0.25", "Loss=0.5 - step 3"},
        {"Duration  \xe2\x80\xba  1730.5ms (\xc2\xb1" "1.7 seconds)", "Duration=1730.5 ms"},
        {"|      | short     | long      |\n| find | 3.5 ops/s | 4.5 ops/s |", "find short=3.5 op_per_s;find long=4.5 op_per_s"},
        {"==6238== Miss rate:    2.2% (   2.4%   +   1.7%  )", "Miss rate=2.2 percent"},
        {"Time spent: 42ms", "Time spent=42 ms"},
        {"Hits: 22,837 / 30,017 (76.08%)", "Hits=76.08 percent"},
        {"Reads with adapters:      30 (1.5%)", "Reads with adapters=1.5 percent"},
        {"Optimum: 87 in 10 steps", "Optimum=87 -"},
        {"loss: 0.25 accuracy: 0.75", "loss=0.25 -;accuracy=0.75 -"},
        {"CPU seconds to compute hull (after input): 0.0094", "CPU seconds to compute hull=0.0094 s"},
        {"Model:     ARIMA(1, 0, 0)   Log Likelihood      -100.586", "Log Likelihood=-100.586 -"},
        {"931     logical lines per second (18 total)", "logical lines=931 op_per_s"},
        {"51      directories per second (1 total)", "directories=51 op_per_s"},
        {"[20]\tvalid_0's rmse: 74.98", "valid_0 s rmse=74.98 - step 20"},
        {"Speedup: 3.45x", "Speedup=3.45 -"},
        {"Setting done: elapsed_time=0.57 num_records=100000 qps=174720", "Setting done qps=174720 op_per_s"},
        {"Seconds taken: 0.0008 (126582.28 p/s)", "Seconds taken=0.0008 s"},
        {"time to read data: 0.000944 secs at 3177.76 MB/sec", "time to read data=0.000944 s;read data=3177.76 MB_per_s"},
        {"Output file size = 609713 bytes (131175 bytes = 17.71% decrease)", "decrease=17.71 percent"},
        {"Entropy = 4.899779 bits per byte.", "Entropy bits per byte=4.899779 -"},
        {"performance: 0.25 s: parsing", "performance=0.25 s"},
        {"KL divergence after 300 iterations: 0.228761", "KL divergence after 300 iterations=0.228761 -"},
        {"582.5 ops/sec \xc2\xb1" "52.9% (139655 samples)", "rate=582.5 op_per_s"},
        {"GUPS = 0.125", "GUPS=0.125 -"},
        {"1.006:1,  7.956 bits/byte,  0.55% saved, 6000000 in", "saved=0.55 percent"},
        {"a.png: 5000 -> 4000 bytes (20.5%)", "a.png=20.5 percent"},
        {"a.jpg 100x100 24 bit: 5000 --> 4000 bytes (20.5%), optimized.", "a.jpg=20.5 percent"},
        {"5000 bytes => 4000 bytes, 80.5%", "size=80.5 percent"},
        {"=> 12.5 MB/s", "bandwidth=12.5 MB_per_s"},
        {"Final residual: 1.5e-10", "Final residual=1.5e-10 -"},
        {"hash: 3.5 cycles/hash", "hash cycles/hash=3.5 -"},
        {"Epoch [10/10], loss: 0.3, rate: 12.5 it/s", "loss=0.3 - step 10"},
        {"Epoch 2/5\n10/10 - loss: 0.3", "loss=0.3 - step 2"},
        {"sort: 3.4 ns/key", "sort=3.4 ns"},
        {"sort: 3.4 usec per element", "sort=3.4 us"},
    };
    CHECK_ROWS(rows);
}

/* A time that a clock measured, of which the output does not say the unit. */
static void times_without_unit_are_found(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"Total CPU time 0.05", "Total CPU time=0.05 -"},
        {"time: 0.052", "time=0.052 -"},
        {"walltime: 0.00699211", "walltime=0.00699211 -"},
        {"solveTime=0.000162", "solveTime=0.000162 -"},
        {"Average Time:        1.13745", "Average Time=1.13745 -"},
        {"cpu time: 0.7, real time: 0.39, gc time: 0", "cpu time=0.7 -;real time=0.39 -"},
        {"name   CPU time   note\ncopy   0.25   3", "copy CPU time=0.25 -"},
        {"matmul 12.34 ms", "matmul=12.34 ms"},
    };
    CHECK_ROWS(rows);
    static const char *const refused[] = {
        "audio playtime: 10.5 sec", "batch: 32 images per worker", "final time: 2.5", "simulation time = 1.5", "total simulation time: 1.5", "total time: 5", "time: 0.5, step 3",
        "time limit: 2.5", "total time: -0.5", "CPU time: 0.5GHz", "sampling for 0.5 s", "prog 2.4 s", ": 5 MB/s", "max time 2.5",
    };
    CHECK_REFUSED(refused);
}

/* Lines with other numbers, and what names each of them. */
static void values_of_longer_lines_are_found(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"Throughput 51.9662 MB/sec  2 clients  2 procs  max_latency=20.3 ms", "Throughput=51.9662 MB_per_s;max_latency=20.3 ms"},
        {"Dhrystone 2 using register variables       46542.2 lps   (10.0 s, 7 samples)",
         "Dhrystone 2 using register variables=46542.2 op_per_s"},
        {"Double-Precision Whetstone                     834.1 MWIPS (9.9 s, 7 samples)", "Double-Precision Whetstone MWIPS=834.1 -"},
        {"1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.31 s, 3.4 GB/s", "bandwidth=3.4 GB/s"},
        {"2026-11-20 10:11:12,123 INFO throughput: 17.5 MB/s", "throughput=17.5 MB_per_s"},
        {"BenchmarkIndex-2    \t 9009600\t        29.54 ns/op\t       0 B/op\t       0 allocs/op", "BenchmarkIndex-2=29.54 ns"},
        {"Raw:\t10541 c/s real, 18223 c/s virtual", "Raw real=10541 op_per_s;Raw virtual=18223 op_per_s"},
        {"fill :  7.774 micros/op 128320 ops/sec 0.779 seconds", "fill=128320 op_per_s"},
        {"102400.00 MiB transferred (13524.03 MiB/sec)", "transferred=13524.03 MiB_per_s"},
        {"1556 files (778 per second)", "files=778 op_per_s"},
        {"Load: 100%|####| 1000/1000 [00:01<00:00, 950.00it/s]", "Load=950.00 op_per_s"},
        {"  7:   64 bytes  812 times -->      9.80 Mbps in       7.00 usec", "bandwidth=9.80 Mbps;time=7.00 us"},
        {" 2048 MiB total in 11.144 sec, 183.776 MBps, CPB=5.45", "total bandwidth=183.776 MB_per_s"},
        {"read: IOPS=12.3k, BW=48.1MiB/s", "read: IOPS=12300 op_per_s;read BW=48.1 MiB_per_s"},
        {"   inject:    67723.4 i/s - 52.58x  slower", "inject=67723.4 op_per_s"},
        {"Rate (MB/s): 48.914946 Avg time (s): 0.130839", "Rate=48.914946 MB_per_s;Avg time=0.130839 s"},
        {"Rate (MFlops/s): 2243.8 Avg time (s): 0.000222", "Rate=2243.8 MFLOPS;Avg time=0.000222 s"},
        {"times: compile 0.002513s, execution 0.003784s,  mpirank:0", "times: compile=0.002513 s;times execution=0.003784 s"},
        {"Info    : Done meshing 3D (Wall 0.1s)\nInfo    : rate: 12.5 MB/s", "rate=12.5 MB_per_s"},
        {"get (cap)      50000 ops in 0.002 secs, 33 ns/op, 30321407 op/sec", "get cap=30321407 op_per_s"},
        {"set (rand)     50000 ops in 0.004 secs   85.5 ns/op    11698642 op/sec", "set rand=11698642 op_per_s"},
    };
    CHECK_ROWS(rows);
}

/* A name that says "latency" is not that of a rate, one that says "throughput" not that of a time. */
static void times_and_rates_have_names_of_their_own(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"Latency=3 ms, 700 ops/s", "Latency=3 ms;rate=700 op_per_s"},
        {"read latency: 3 ms (700 ops/s)", "read latency=3 ms;read=700 op_per_s"},
        {"ReadLatency avg: 3.5 ms, 700 ops/s", "ReadLatency avg=3.5 ms;Read=700 op_per_s"},
        {"Response times: 3.5 ms, 700 ops/s", "Response times=3.5 ms;Response=700 op_per_s"},
        {"read throughput: 700 ops/s, 3.5 ms", "read throughput=700 op_per_s;read=3.5 ms"},
        {"Throughput: 700 ops/s, 3.5 ms", "Throughput=700 op_per_s"},
        {"requests per second: 700 req/s, 3.5 ms", "requests per second=700 op_per_s"},
        {"connections per seconds: 10.5 ops/s", "connections per seconds=10.5 op_per_s"},
        {"speed: 2.5 ns/op", "speed=2.5 ns"},
        {"bogo-ops-per-second-real-time: 12.5", "bogo-ops-per-second-real-time=12.5 op_per_s"},
    };
    CHECK_ROWS(rows);
}

/* Several statistics of one quantity, in a line or below a title. */
static void statistics_are_found(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"MyBenchmark.run  thrpt    5  123.456 \xc2\xb1 2.345  ops/s", "thrpt=123.456 op_per_s"},
        {"Time (mean \xc2\xb1 \xcf\x83):     10.3 ms \xc2\xb1   0.2 ms", "Time=10.3 ms"},
        {"rtt min/avg/max/mdev = 0.021/0.036/0.061/0.014 ms", "rtt min=0.021 ms;rtt avg=0.036 ms;rtt max=0.061 ms;rtt mdev=0.014 ms"},
        {"rtt min/avg = 0.0210000000000000000000000000/0.036 ms", "rtt min=0.0210000000000000000000000000 ms;rtt avg=0.036 ms"},
        {"Statistics   Avg   Stdev   Max\n  Reqs/sec   90.45   74.11   399.07", "Reqs/sec Avg=90.45 op_per_s;Reqs/sec Max=399.07 op_per_s"},
        {"Mean +- std dev: 17.3 us +- 3.6 us", "Mean=17.3 us"},
        {"Latency (ms):\n    avg: 0.5", "Latency avg=0.5 ms"},
        {"Benchmark          Time       CPU   Iterations\nBM_Copy        29.3 ns   2.52 ns     53688261",
         "BM_Copy Time=29.3 ns;BM_Copy CPU=2.52 ns"},
        {"Connection time [ms]: min 0.3 avg 2.8 max 16.0 median 0.5 stddev 4.0",
         "Connection time min=0.3 ms;Connection time avg=2.8 ms;Connection time max=16.0 ms;Connection time median=0.5 ms"},
        {"speed: (min=1.5; avg=2.5; max=3.5)MiB/s", "speed min=1.5 MiB_per_s;speed avg=2.5 MiB_per_s;speed max=3.5 MiB_per_s"},
        {"Call Time : count 264 avg 0.172 +/- 0.09 min 0.1", "Call Time avg=0.172 - bare;Call Time min=0.1 - bare"},
        {"a (8.28us...18.19us)\nconcat    x 94,281 ops/sec (11 runs sampled) min..max=(8.28us...18.19us)", "concat=94281 op_per_s"},
        {" Performance counter stats for 'true':\n\n   0.01285 +- 0.0063 seconds time elapsed  ( +- 49.01% )", "time elapsed=0.01285 s"},
        {"MFLOPS Summary:\n  Total   : 10441.8", "MFLOPS Summary Total=10441.8 MFLOPS"},
        {"[       OK ] mem.set (mean 0.043us, confidence interval +- 1.3%)", "mem.set mean=0.043 us"},
        {"parse:\n  0.00437 ms (+/- 0.00132 ms) from 200 iterations (1.64834 ms total)", "parse=0.00437 ms"},
        {"Latencies [min, mean, 99]  0.5ms, 1.6ms, 9.8ms", "Latencies min=0.5 ms;Latencies mean=1.6 ms;Latencies p99=9.8 ms"},
        {"Latency (ns):\nAverage: 44.5 Max: 62", "Latency Average=44.5 ns;Latency Max=62 ns"},
    };
    CHECK_ROWS(rows);
}

/* Durations as clocks, time(1) and programs print them. */
static void times_are_found(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"real 1:23.5", "real=83.5 s"},
        {"real\t0m3.203s", "real=3.203 s"},
        {". Time used 0h0m1s", "Time used=1 s"},
        {"Time used 1h02m03.5s", "Time used=3723.5 s"},
        {"real 0.30", "real=0.30 s"},
        {"Run Time: real 0.220 user 0.071451 sys 0.000000", "Run Time real=0.220 s;Run Time user=0.071451 s;Run Time sys=0.000000 s"},
        {"0.51user 0.00system 0:00.55elapsed 95%CPU (0avgtext+0avgdata 4016maxresident)k", "user=0.51 s;system=0.00 s;elapsed=0.55 s"},
        {"0.001u 0.020s 0:00.11 0.0%\t0+0k 0+0io 0pf+0w", "user=0.001 s;system=0.020 s;elapsed=0.11 s"},
        {"make  0.51s user 0.00s system 95% cpu 0.550 total", "total=0.550 s"},
        {"Trace Time:       0 hours  0 minutes  1 seconds (1.009 seconds)", "Trace Time=1.009 s"},
        {"elapsed: 00:01:02.50", "elapsed=62.5 s"},
        {"Time:        1.234 s, estimated 2 s", "Time=1.234 s"},
        {"Total   time    0.007s  (  0.031s elapsed)", "Total   time=0.007 s"},
        {"Took 0min 0.233s", "took=0.233 s"},
        {"elapsed: 2 minutes, 5.5 seconds", "elapsed=125.5 s"},
        {"Time: 1 hour 2 min and 3.5 sec", "Time=3723.5 s"},
        {"Overall time: 00:00:02", "Overall time=2 s"},
        {"ElapsedTime 17.36 (17.36 seconds)", "ElapsedTime=17.36 s"},
        {"src/a.js 47ms", "src/a.js=47 ms"},
        {"\"Elapsed time: 3.5 msecs\"", "Elapsed time=3.5 ms"},
        {"Total seconds in solver = 0.016", "Total seconds in solver=0.016 s"},
    };
    CHECK_ROWS(rows);
}

/* A verb, and how long it took. */
static void times_of_sentences_are_found(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"Ended after 3.01s : 264 calls. qps=87.651", "qps=87.651 op_per_s"},
        {"created /tmp/s.wv in 0.06 secs (lossless, 67.83%)", "created=0.06 s"},
        {"Ran 2 tests in 0.067s", "Ran=0.067 s"},
        {"==== 5 passed in 0.12s ====", "passed=0.12 s"},
        {"    Finished dev [optimized] target(s) in 0.58s", "Finished=0.58 s"},
        {"Parsing took 87 ms", "Parsing=87 ms"},
        {"32076 us", "time=32076 us"},
        {"test result: ok. 1 passed; 0 failed; 0 measured; finished in 1.33s", "finished=1.33 s"},
        {"5 lines compiled, 0.2 sec", "compiled=0.2 s"},
        {"Execution ended after 0:00:00.026373944", "ended=0.026373944 s"},
        {"2 passing (179ms)", "passing=179 ms"},
        {"Finished in 0.0266s, 37.5 runs/s, 75 assertions/s.", "Finished=0.0266 s;runs/s=37.5 op_per_s;assertions/s=75 op_per_s"},
        {"Analysis used 0.13 seconds of CPU time", "Analysis=0.13 s"},
        {"Done in 734 ms!", "Done=734 ms"},
        {"\xe2\x94\x81\xe2\x94\x81\xe2\x94\x81 SUCCESS in 0.24 seconds \xe2\x94\x81\xe2\x94\x81", "SUCCESS=0.24 s"},
        {"Ran 1 test in 1.203s using 2 processes", "Ran=1.203 s"},
        {"Successfully compiled: 2 files with swc (829.97ms)", "compiled=829.97 ms"},
        {"SPASS spent\t0:00:01.50 on the problem.", "SPASS=1.5 s"},
        {"copied 5 GB in 1.2 s", "copied=1.2 s"},
        {"1000000 lookups in 0.253 s", "lookups=0.253 s"},
    };
    CHECK_ROWS(rows);
}

/* What a comma means is known from other numbers; other marks between groups have no second meaning. */
static void groups_are_read(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"lookups/s: 105,263", "lookups/s=105263 op_per_s unsure"},
        {"time: 0.646 s\nlookups/s: 105,263", "lookups/s=105263 op_per_s"},
        {"time: 1.646 s\nlookups/s: 105,263", "lookups/s=105263 op_per_s unsure"}, /* 1646 in another country */
        {"time: 0,646 s\nlookups/s: 105,263", ""},
        {"rate: 1,234,567 op/s\nlatency: 1,234 us", "latency=1234 us"},
        {"rate: 1,234.5 op/s\nlatency: 1,234 us", "latency=1234 us"},
        {"rate: 1'234'567 ops/s", "rate=1234567 op_per_s"},
        {"rate: 1_234_567.5 ops/s", "rate=1234567.5 op_per_s"},
        {"rate: 1\xc2\xa0" "234 ops/s", "rate=1234 op_per_s"},
        {"rate: 12\xe2\x80\xaf" "345.5 MB/s", "rate=12345.5 MB_per_s"},
        {"rate: 1'23 ops/s", ""},
        {"rate: 1'234'56 ops/s", ""},
        {"rate: 1'234_567 ops/s", ""},
    };
    CHECK_ROWS(rows);
}

/* Rows of tables: drawn ones, below titles of which the first is missing, with a line of units, of several lines each. */
static void tables_are_read(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"\xe2\x94\x82 Stat \xe2\x94\x82 2.5% \xe2\x94\x82 50% \xe2\x94\x82 Avg \xe2\x94\x82 Stdev \xe2\x94\x82\n"
         "\xe2\x94\x82 Latency \xe2\x94\x82 41 ms \xe2\x94\x82 44 ms \xe2\x94\x82 45.45 ms \xe2\x94\x82 4.99 ms \xe2\x94\x82",
         "Latency p2.5=41 ms;Latency p50=44 ms;Latency Avg=45.45 ms"},
        {"| Test | Mean [ms] | Runs |\n| copy | 12.5 \xc2\xb1 0.3 | 10 |", "copy Mean=12.5 ms"},
        {"| (index) | Task | Throughput (ops/s) |\n| 0 | 'sort' | '1516 \xc2\xb1 0.03%' |", "sort Throughput=1516 op_per_s"},
        {"| Name | Rate (MB/s) | Note |\n| |  12.5 | x |", "Rate=12.5 MB_per_s"},
        {"| Name | Rate | Note |\n| |  12.5 MB/s | x |", "Rate=12.5 MB_per_s"},
        {"| Name | Wait | Note |\n| |  12.5 ms | x |", ""},
        {"| Set | Value | Use |\n| timeout | 30 s | x |", ""},
        {"                min         max        mean          sd\ntime for request:   182us   41.86ms   3.03ms   5.33ms",
         "time for request min=182 us;time for request max=41.86 ms;time for request mean=3.03 ms"},
        {"           user     system      total        real\nfor:   0.036371   0.000000   0.036371 (  0.056610)",
         "for user=0.036371 s;for system=0.000000 s;for total=0.036371 s;for real=0.056610 s"},
        {"            Mean        Std.Dev.    Min\nreal        0.063       0.007       0.054", "real Mean=0.063 s;real Min=0.054 s"},
        {"FSUse%        Count         Size    Files/sec     App Overhead\n    74          500         4096        375.8             4069",
         "Files/sec=375.8 op_per_s"},
        {"Type   Name   # reqs   # fails |   Avg   req/s\nGET   /   326   0(0.00%) |   45   86.64", "GET req/s=86.64 op_per_s"},
        {"name   samples   iterations   estimated\n       mean   low mean   high mean\n       std dev   low std dev   high\n"
         "fib 20   100   1   21.8 ms\n   228.013 us   27.2 us   1.2 ms",
         "fib 20 mean=228.013 us;fib 20 low mean=27.2 us;fib 20 high mean=1.2 ms"},
        {"Test   Time   CPU   Rate\n       (ms)   (us)   (MB/s)\ncopy   5.6   7.5   12.5", "copy Time=5.6 ms;copy CPU=7.5 us;copy Rate=12.5 MB_per_s"},
        {"name   hz   mean   rme   samples\n  \xc2\xb7 sort   3,758,673.47   0.0003   \xc2\xb1" "12.88%   1127603", "sort hz=3758673.47 op_per_s"},
        {"name   rate   time\nsort   N/A   12.5 ms", "sort time=12.5 ms"},
        {"name   rate (MB/s)   time\nsort   -   12.5 ms", "sort time=12.5 ms"},
        {"suite       fastest   mean\n\xe2\x94\x9c\xe2\x94\x80 copy\n\xe2\x94\x82  \xe2\x95\xb0\xe2\x94\x80 1024   20.04 ns   21.04 ns",
         "copy 1024 fastest=20.04 ns;copy 1024 mean=21.04 ns"},
        {"gid   |stat|avg speed  |path/URI\n3de8b9|OK  |    33MiB/s|./dl", "avg speed=33 MiB_per_s"},
        {"Test   Size   Wait\ncopy   5.6   12.5", ""},
        {"Size   Bandwidth (MB/s)\n1024   12.5", "Bandwidth=12.5 MB_per_s step 1024"},
        {"# bytes   reps   t[usec]   MB/s\n4K   1000   12.5   81.9\n8K   1000   13.5   82.9",
         "t=13.5 us step 8192;MB/s=82.9 MB_per_s step 8192"},
        {"threads   time   note\n4   12.5 ms   3", "time=12.5 ms step 4"},
        {"Test Time(us) MB/s\ncopy 12.5 81.9", "copy Time=12.5 us;copy MB/s=81.9 MB_per_s"},
        {"Size Time(us)\n16 12.5", "Time=12.5 us step 16"},
        {"Test Time(us) MB/s\nx\ncopy 12.5 81.9", ""},
        {"Test Time(us) MB/s\nbig fast copy 12.5 81.9", ""},
        {"MB/s Test time\ncopy 12.5 81.9", ""},
        {"threads,ops_per_sec,latency_ms\n4,1234.5,0.25", "ops_per_sec=1234.5 op_per_s step 4;latency_ms=0.25 ms step 4"},
        {"\"name\",\"time (ms)\",\"n\"\n\"copy\",12.5,3", "copy time=12.5 ms"},
        {"name,time (ms),n\nx\ncopy,12.5,3", ""},
        {"Metric   Value   Unit\nwrite speed   12.5   MB/s", "write speed Value=12.5 MB_per_s"},
        {"| Metric | Value | Unit |\n| latency | 12.5 | foos |", ""},
        {"class   precision   f1\ncat   0.91   0.88", "cat precision=0.91 -;cat f1=0.88 -"},
    };
    CHECK_ROWS(rows);
}

/* Values without a unit are results where a program has computed them: they have many digits, an error, or the name of an average. */
static void computed_values_are_found(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"fidelity: 0.731739", "fidelity=0.731739 -"},
        {"Average (mean) 557.6093410241374", "Average=557.6093410241374 -"},
        {"Total volume:       0.52008007", "Total volume=0.52008007 -"},
        {"RMS     amplitude:     0.707107", "RMS     amplitude=0.707107 -"},
        {"rms of residuals      (FIT_STDFIT) = sqrt(WSSR/ndf)    : 0.731739", "rms of residuals FIT_STDFIT=0.731739 -"},
        {"E(RMP2) = -76.1953677459301", "E RMP2=-76.1953677459301 -"},
        {"b               = 3.04278          +/- 0.2358       (7.75%)", "b=3.04278 -"},
        {"slope = 2.5 +/- 0.01", "slope=2.5 -"},
        {"average:2267891", "average=2267891 -"},
        {"resnet18  min =   23.14  max =   26.36  avg =   23.88", "resnet18 min=23.14 -;resnet18 max=26.36 -;resnet18 avg=23.88 -"},
        {"Name      depth    fidelity\nbell      3        0.731739", "bell fidelity=0.731739 -"},
        {"Single-precision compute (GFLOPS)\n  float   : 22.76", "Single-precision compute float=22.76 GFLOP_per_s"},
        {"MFLOPS measured : 2100.837492", "MFLOPS measured=2100.837492 MFLOPS"},
        {"Performance: 0.21 million atom updates per second", "Performance=210000 op_per_s"},
        {"eval time = 1353.19 ms /   256 runs (    4.56 ms per run)", "eval time=1353.19 ms"},
        {"Compress      --> Frame rate:  358.020283 fps", "Compress      --> Frame rate=358.020283 op_per_s"},
        {"rate: 3.5 gbit/s", "rate=3.5 Gbit/s"},
        {"# 1000000 write requests in 5.44s.", "write requests=5.44 s"},
        {"Elapsed time:       0 days  0 hours  1 minutes  3.5 seconds.", "Elapsed time=63.5 s"},
        {"step 250: train loss 1.9643, val loss 2.0599", "train loss=1.9643 - step 250;val loss=2.0599 - step 250"},
        {"              Fold 1  Fold 2  Mean    Std\nRMSE (test)   1.3430  1.3045  1.3285  0.0171", "RMSE (test) Mean=1.3285 -"},
    };
    CHECK_ROWS(rows);
}

/* Few digits may be a setting, and so may a name of a setting, of a model's parameter, of a variable or of a count. */
static void values_of_settings_are_no_computed_ones(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "fidelity: 0.73",
        "fidelity: 0.500000",
        "depth: 123456",
        "checksum: 1.23456",
        "latitude: 52.520008",
        "machine epsilon = 1.1920929e-07",
        "learning tolerance: 0.0012345",
        "lattice spacing: 3.61521",
        "x3 = 8.66667",
        "C(1) = 0.57741",
        "flops: 7.6288e+07",
        "gcc version 12.2345",
        "kernel 6.1.12345",
        "phase 3 fidelity: 0.731739",
        "Using       2.00 seconds min time per kernel.",
        "resnet18  min = 23  max = 26",
        "resnet18  lr = 0.5  decay = 0.1",
        "Limits (ms)\n  timeout : 22.76",
        "-V/T= 2.0069",
        "TOTAL RUN TIME: 0 days 0 hours 0 minutes 4 seconds 713 msec",
        "learning rate 0.5, weight decay 0.1",
        "a  Box(P   R    mAP50: 100%|####| 8/8 [00:14<00:00,  1.86s/it]",
        "score: 1.66 M",
    };
    CHECK_REFUSED(lines);
}

/* A multiple is applied or stays in the name: it is never lost. */
static void multiples_are_not_lost(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"throughput = 1.66 Melem/s", "throughput=1.66 Mop/s"},
        {"throughput = 1660 Kelem/s", "throughput=1660 kop/s"},
        {"rate: 1.66Mpackets/s", "rate=1.66 Mop/s"},
        {"rate: 1.66 Gcells/sec", "rate=1.66 Gop/s"},
        {"rate: 1.66 Kirows/s", "rate=1.66 Kiop/s"},
        {"rate: 1.66 ksteps/second", "rate=1.66 kop/s"},
        {"rate: 1.66 M elem/s", "rate=1660000 op_per_s"},
        {"rate: 1.66M elem/s", "rate=1660000 op_per_s"},
        {"rate: 1.66 million rows per second", "rate=1660000 op_per_s"},
        {"rate: 1.66 bn rows/s", "rate=1660000000 op_per_s"},
        {"rate: 3.5 ktok/s", "rate=3.5 ktoken/s"},
        {"rate: 3.5 Medges/s", "rate=3.5 MTEPS"},
        {"rate: 3.5 megabytes/s", "rate=3.5 MB_per_s"},
        {"rate: 3.5 Mqps", "rate=3.5 Mop/s"},
        {"throughput (Melem/s): 1.66", "throughput=1.66 Mop/s"},
        {"Mrows per second: 1.66", "Mrows per second=1.66 Mop/s"},
        {"million rows per second: 1.66", "million rows per second=1.66 Mop/s"},
        {"rate: 3.5 Mfoos/s", "rate Mfoos/s=3.5 -"},
        {"rate: 3.5 kfoos/s", "rate kfoos/s=3.5 -"},
        {"rate: 3.5 mrows/s", "rate mrows/s=3.5 -"},
        {"rate: 3.5 mbit/s", "rate mbit/s=3.5 -"},
        {"rate: 3.5 mib/s", "rate mib/s=3.5 -"},
        {"rate: 3.5 million/s", "rate million/s=3.5 -"},
        {"rate: 3.5 kfps", "rate kfps=3.5 -"},
        {"throughput: 3.5 rows/ms", "throughput rows/ms=3.5 -"},
        {"throughput: 3.5 Mrows/min", "throughput Mrows/min=3.5 -"},
        {"score: 1.66 M", ""},
        {"score: 1.66 million points", ""},
        {"qps: 3.5 M", ""},
        {"throughput: 3.5 x 10^6 rows/s", ""},
        {"throughput: 3.5 lakh rows/s", ""},
        {"throughput: 3.5 Mops/s/core", ""},
        {"rate: 3.5 Messages/s", "rate=3.5 op_per_s"}, /* M, k and T begin words, too */
        {"rate: 3.5 kernels/s", "rate=3.5 op_per_s"},
        {"rate: 3.5 Transactions/s", "rate=3.5 op_per_s"},
    };
    CHECK_ROWS(rows);
}

/* Limits, targets, sizes, factors, and durations that were asked for. */
static void settings_are_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "timeout: 30.5 s",
        "refresh rate: 0.5 s",
        "sampling rate: 12.5 ms",
        "cycles_to_ns = 1.000000",
        "ticks_per_us = 2400.0",
        "ops/s (x1000) = 5.5",
        "target rate: 100 MB/s",
        "gcc 12.2",
        "lr 0.001",
        "target accuracy 0.95",
        "loss scale 0.5",
        "version: 1.2.3",
        "Duration: 10 s",
        "Running 10s test @ http://host",
        "1000 requests in 2.00 s",
        "threads: 8",
        "A TIME OF 172800.0 SECONDS REQUESTED",
        "total secs = 1",
        "time: 52 ms",
        "1277 frames in 5.0 seconds",
        "Sampled in 2.00 s",
        "connection timed out in 5.02 s",
        "score: 12.3k",
        "Size [B]: min 0.3 avg 2.8 max 16.0",
        "link speed: 100 Gbit/s",
        "size: 1024 MB",
        "warmup rate: 5.5 MB/s",
        "set rate: 100 MB/s",
        "set point: 100 requests/s",
        "Input Duration: 0min 8.0sec",
        "audio duration: 12.5 s",
        "connections per seconds:          10",
        "Read percentage: 87%",
    };
    CHECK_REFUSED(lines);
}

/* Times of the day, of the future, in a form that has two meanings, or repeated with another value. */
static void times_that_are_no_result_are_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "real 1:23",
        "real: 0:03",
        "Trace Time:   0 hours  0 minutes  1 seconds (1.009 seconds) total",
        "elapsed 1.25",
        "time: 08:43:06",
        "wall time: 2d 3h 4m 5.5s",
        "TREE SEARCH COMPLETED AFTER 2 ITERATIONS / Time: 0h:1m:5s",
        "Analysis completed in less than 1 second",
        "Analysis completed in <1.5 seconds",
        "Time: 10:11:12.5",
        "Duration: 00:00:20.02, start: 0.000000",
        "will be retried in 5.5 s",
        "time: 0.5 s .. 1.5 s",
        "Total: at 10:11:12",
        "Test   Begun   Ended\ncopy   10:11:12   10:11:14",
        "ElapsedTime 17.36 (17.37 seconds)",
        "src/a.js 47 ms",
    };
    CHECK_REFUSED(lines);
}

/* Numbers that could mean two values, or of which it is not clear what each is. */
static void unclear_numbers_are_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "rtt min/avg = 0.02100000000000000000000000000/0.036 ms",
        "a.png: 5000 -> 4000 bytes (20.5%, 79.5%)",
        "a.png: 5000, 4000 bytes (20.5%)",
        "loss 3",
        "loss 0.3 0.4",
        "loss: 1.234,5",
        "Bandwidth: 1.234,5 MB/s",
        "Bandwidth: 1 234 MB/s",
        "Throughput = 12 345.6 op/s",
        "copy 12.5 MB/s 13.5 MB/s",
        "Bandwidth: 12.5 MB/s, 13.5 MB/s",
        "loss 0.3 of it",
        "range: 1.5-2.5 s",
        "DNS+dialup:\t0.0004 secs, 0.0005 secs, 0.0122 secs",
        "Minimum:\t 1 1 (us)",
        "Average:\t 1.054 1.061 (us)",
        "Average:   1.054   1.061 (us)",
        "bandwidth: 12.1 12.9 MB/s",
        "latency: 1.1, 1.2, 1.3 ms",
        "threads 107 852 015 ops/s",
        "rate: 107 852 01 ops/s",
        "rate: 007 852 015 ops/s",
        "rate: 107 852 015 999",
        "rate: 1 234 ops/s",
        "rate: 12 345.6 MB/s",
        "throughput: 12 x 3.5 MB/s",
        "throughput: 4 * 3.5 MB/s",
        "Latency     1.69ms    1.01ms    9.12ms",
        "  1024   12.5   81.9",
        "L0:54.7% L1:40.8% BI: 4.5%",
        "Statistics:\n  Input points: 2000",
        "user 1.25 of 5",
        "Instant rates: 68.4 to 127.2 kbit/s",
        "FLOPS Summary:\n  Total   : 7.6288e+07",
        "Latencies [min, mean, 99]  0.5ms, 1.6ms",
        "Latency (ns):\na\nb\nc\nd\nAverage: 44.5 Max: 62",
    };
    CHECK_REFUSED(lines);
}

/* Progress, estimates, names of another quantity or of tests, and lines that say nothing. */
static void the_rest_is_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "latency 700 ops/s",
        "AverageLatency 700 ops/s",
        "latency max: 700 ops/s",
        "Epoch 3/10: rate: 12.5 it/s, time: 0.5 s",
        "Run 3: loss=0.5",
        "[3] 12.5 ms",
        "3/10 loss=0.5",
        "Train split: 800 (80.0%)",
        "Disk: 12 / 100 (12.5%)",
        "Memory used: 45 / 100 (45.5%)",
        "Step 2: build, loss weight: 0.5",
        "src/mod.py:\n    time: 0.861",
        "931 logical lines per second",
        "Model   seed   -100.586",
        "Start at  \xe2\x80\xba  16:22:52",
        "> 125+000  00:03.00+00:00.00 --- 100=100  96 kb/s  288 B",
        "Time: 500 ms",
        "memory: 100 MB (45.2%)",
        "Cache size: 100 (45.2%)",
        "Downloaded: 45 (45%)",
        "452        tokens allowed per second",
        "sum |###| 499/500 [100%] in 1.2s (421.1/s)",
        "40%|###| 16/40 [00:00<00:00, 114.9it/s, loss=0.25]",
        "Name  Max  Avg\n 3  0.5  0.25",
        "this is our loss 0.5",
        "Correctly classified instances of the second kind among all the others that were offered    147    98 %", /* no part of a name */
        "nodes 30000 nps 116731 pv a8d8",
        "Energy threshold: 0.5",
        "smearing: 0.01 Ry",
        "Counting objects: 50% (1/2)",
        "Runtime: 01:00:00",
        "[ 45%] 12.5 MB/s ETA 10 s",
        "error: 5.5 s",
        "rate: about 5 MB/s",
        "rate: -5 MB/s",
        "(10.0 s, 7 samples)",
        "\xc2\xb1 0.5 ms",
        "rate: up to 5.5 MB/s",
        " 50%|##   | 500/1000 [00:01<00:01, 950.00it/s]",
        "warmup: 100%|####| 9/9 [00:01<00:00, 9.00it/s]",
        "Step 100: 12.5 it/s",
        "frame=   60 fps=12.0 q=-0.0",
        "  Stream #0:0: Video: rgb24, 200 kb/s, 25 fps",
        "\xe2\x9c\x94 is deleted when removed (52ms)",
        "ok 3 - is created (52ms)",
        "Copied 3 of 10 files (52ms)",
        "copy (max 0.5 ms, 3 runs)",
        "copy 5 MB (mean 0.5 ms)",
        "Encoding as 44.1 kHz mono MPEG-1 Layer III (11x) 64 kbps qval=3",
    };
    CHECK_REFUSED(lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found),
        cmocka_unit_test(times_without_unit_are_found),
        cmocka_unit_test(values_of_longer_lines_are_found),
        cmocka_unit_test(times_and_rates_have_names_of_their_own),
        cmocka_unit_test(statistics_are_found),
        cmocka_unit_test(times_are_found),
        cmocka_unit_test(times_of_sentences_are_found),
        cmocka_unit_test(groups_are_read),
        cmocka_unit_test(tables_are_read),
        cmocka_unit_test(computed_values_are_found),
        cmocka_unit_test(values_of_settings_are_no_computed_ones),
        cmocka_unit_test(multiples_are_not_lost),
        cmocka_unit_test(settings_are_refused),
        cmocka_unit_test(times_that_are_no_result_are_refused),
        cmocka_unit_test(unclear_numbers_are_refused),
        cmocka_unit_test(the_rest_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
