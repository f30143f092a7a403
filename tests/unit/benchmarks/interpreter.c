/* Which word of a command names the program, where an interpreter runs it. */
#include "base/str.h"
#include "benchmarks/interpreter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void scripts_are_found(void **state)
{
    static const struct {
        const char *command, *name;
        size_t at; /* the word that names it */
    } cases[] = {
        {"ior -t 1m", "ior", 0},
        {"python3 sort.py", "sort.py", 1},
        {"/usr/bin/python3.11 -u -X dev bench/sort.py -n 4", "sort.py", 4},
        {"python3 -Wignore sort.py", "sort.py", 2},
        {"python3 -m timeit -n 4 x", "timeit", 2},
        {"python3 -um parsl.benchmark.perf --config f", "parsl.benchmark.perf", 2},
        {"python3 -mtimeit -n 4 x", "timeit", 1},
        {"python3 -c print(1) sort.py", "python3", 0},
        {"python3 -", "python3", 0},
        {"python3 -u", "python3", 0},
        {"python3 -m", "python3", 0},
        {"python3", "python3", 0},
        {"python-config --libs", "python-config", 0},
        {"pypy3 -O sort.py", "sort.py", 2},
        {"bash -x -o pipefail run.sh", "run.sh", 4},
        {"bash +e run.sh", "run.sh", 2},
        {"sh -ec ior", "sh", 0},
        {"bash -- -run.sh", "-run.sh", 2},
        {"perl -I lib Run -c 4", "Run", 3},
        {"perl -wne print x", "perl", 0},
        {"Rscript --vanilla bench.R", "bench.R", 2},
        {"node --max-old-space-size=4096 bench.js", "bench.js", 2},
        {"node --require ./setup.js bench.js", "bench.js", 3},
        {"deno run -A bench.ts", "bench.ts", 3},
        {"deno bench x.ts", "deno", 0},
        {"julia -t 4 --project=. bench.jl", "bench.jl", 4},
        {"lua5.4 fib.lua 30", "fib.lua", 1},
        {"java -Xmx1g -cp a.jar:b.jar site.ycsb.Client -load", "site.ycsb.Client", 4},
        {"java -jar target/benchmarks.jar -f 1", "benchmarks.jar", 2},
        {"java -version", "java", 0},
        {"php -d x=1 bench.php", "bench.php", 3},
        {"ruby -W0 bench.rb", "bench.rb", 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[200], *argv[20] = {NULL}, *rest = text;
        snprintf(text, sizeof(text), "%s", cases[i].command);
        for (size_t n = 0; n < 19 && (argv[n] = strsep(&rest, " ")); n++)
            ;
        if (strcmp(interpreter_name(argv), cases[i].name) != 0 || (size_t)(interpreter_script(argv) - argv) != cases[i].at)
            fail_msg("%s: %s at %td", cases[i].command, interpreter_name(argv), interpreter_script(argv) - argv);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scripts_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
