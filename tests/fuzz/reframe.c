/* reframe.c: any bytes as a performance log of ReFrame: each record is a JSON document, and none lies outside the text. */
#include "base/json.h"
#include "import/reframe.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct reframe_record *record;
    arena_init(&a, 64 << 20);
    size_t n = reframe_records((struct str){size ? (const char *)data : "", size}, &a, &record);
    for (size_t i = 0; i < n; i++) {
        struct json *doc;
        if (!record[i].line || json_parse(&doc, record[i].report, NULL, NULL))
            abort();
        json_free(doc);
    }
    arena_deinit(&a);
    return 0;
}
