/* references.c: any bytes as a reference file: refused with a message, or entries that judge a run, in words that benchwrap.json can hold. */
#include "base/buf.h"
#include "base/json.h"
#include "benchmarks/reference.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(const struct references *refs)
{
    struct record r;
    struct reference_outcome out;
    struct json *json = NULL;
    struct buf text;
    record_init(&r, "00000000000000000000000000000000", 1);
    record_tag(&r, "benchmark", STR("ior"));
    record_tag(&r, "cluster", STR("alpha"));
    record_tag(&r, "benchwrap.headline", STR("write.bw_MiB_per_s.max latency_ms"));
    record_param(&r, "job.partition", STR("gpu-long"));
    record_param(&r, "transfer_size_B", STR("1048576"));
    record_metric(&r, "write.bw_MiB_per_s.max", 1000, "MiB_per_s", DIR_HIGHER, 0, 1);
    record_metric(&r, "latency_ms", 2, "ms", DIR_LOWER, 0, 1);
    for (int i = 0; i < 4; i++)
        record_metric(&r, "bw", i, "", DIR_NONE, 1 << i, 1);
    if (references_judge(&refs, 1, &r, &out, NULL) == 0) {
        buf_init(&text, 64 << 20);
        buf_putc(&text, '[');
        buf_str(&text, r.references);
        buf_putc(&text, ']');
        if (!text.failed && json_parse(&json, buf_text(&text), NULL, NULL))
            abort();
        if ((out.failed > 0) != (out.reason[0] != 0))
            abort();
        json_free(json);
        buf_deinit(&text);
    }
    record_deinit(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct references *refs;
    struct err err = {0};
    if (references_parse(&refs, "r.yaml", (struct str){(const char *)data, size}, &err)) {
        if (!err.text[0])
            abort();
        return 0;
    }
    judge(refs);
    references_free(refs);
    return 0;
}
