/* json_reader.c: any bytes as an output read by fio's rules, in one piece and in pieces. */
#include "feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct rules *rules;
    struct err err = {0};
    if (!rules && rules_load(&rules, "benchmarks/catalogue/fio/rules.yaml", &err))
        abort();
    feed_both_ways(rules, data, size);
    return 0;
}
