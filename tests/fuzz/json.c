/* json.c: any bytes as JSON: what is taken is printed, and the print reads back and prints the same. */
#include "base/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json *j, *again;
    struct err err = {0};
    size_t end = 0;
    struct str text = {size ? (const char *)data : "", size};
    struct buf once CLEANUP_BUF, twice CLEANUP_BUF;
    buf_init(&once, 16 << 20);
    buf_init(&twice, 16 << 20);
    if (json_parse(&j, text, &end, NULL) == 0) {
        if (end > size)
            abort();
        json_free(j);
    }
    if (json_parse(&j, text, NULL, &err) < 0) {
        if (!err.text[0])
            abort();
        return 0;
    }
    json_pointer(j, "/a/0/b");
    json_print(j, &once);
    json_free(j);
    if (json_parse(&again, buf_text(&once), NULL, &err) < 0)
        abort();
    json_print(again, &twice);
    json_free(again);
    if (!str_eq(buf_text(&once), buf_text(&twice)))
        abort();
    return 0;
}
