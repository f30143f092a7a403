/* rules_load.c: any bytes as a rule file: taken or refused with a message, never a crash; what is taken can read. */
#include "base/fs.h"
#include "benchmarks/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char line[] = "write 1.5 MiB/s: 3\nread 2e3 {\"a\": [1, 2]}\n";
    char path[] = "/dev/shm/bw-fuzz-rules.XXXXXX";
    struct rules *rules;
    struct rules_run *run;
    struct record r;
    struct rules_outcome outcome = {0};
    struct err err = {0};
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
    int rc = rules_load(&rules, path, &err);
    unlink(path);
    if (rc) {
        if (!err.text[0])
            abort(); /* a refusal says why */
        return 0;
    }
    record_init(&r, "0123456789abcdef0123456789abcdef", 1000);
    if (rules_begin(&run, rules, NULL, NULL, &err) == 0) {
        rules_feed(run, "stdout", line, sizeof line - 1);
        rules_end(run, 0, 0, 2000, &r, &outcome, &err);
    }
    record_deinit(&r);
    rules_free(rules);
    return 0;
}
