/* rules_file.c: any bytes as a rule file: refused with a message, or a rule set that reads an output to its end. */
#include "base/fs.h"
#include "benchmarks/rules.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char output[] = "x-1.0: start\nOptions: \napi : POSIX\naccess bw(MiB/s) iter\nwrite 1.5 0\nread nan 0\n{\"a\": [{\"b\": 1, \"c\": \"d\"}]}\nERROR: x\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    struct rules *rules;
    struct rules_run *run;
    struct rules_outcome out;
    struct record record;
    struct err err = {0};
    char *argv[] = {"x", "-b", "1m", "--long=2", "-abc", "--", NULL};
    if (!path[0])
        snprintf(path, sizeof(path), "/dev/shm/bw-fuzz-rules.%d", (int)getpid());
    if (fs_write(AT_FDCWD, path, (struct str){(const char *)data, size}, 0600, false, NULL) < 0)
        abort();
    if (rules_load(&rules, path, &err)) {
        if (!err.text[0])
            abort();
        return 0;
    }
    if (rules_begin(&run, rules, argv, NULL, &err) == 0) {
        rules_feed(run, "stdout", output, sizeof(output) - 1);
        record_init(&record, "00000000000000000000000000000000", 1);
        rules_end(run, 0, 0, 1, &record, &out, &err);
        record_deinit(&record);
    }
    rules_free(rules);
    return 0;
}
