/* httpjson_records.c: JSON objects, one after the other in a buffer; see httpjson_keys.h. */
#include "exporters/httpjson_keys.h"

#include "base/array.h"

#include <stdlib.h>

enum { RECORDS_BYTES = 256 << 20 };

void httpjson_records_init(struct httpjson_records *r)
{
    *r = (struct httpjson_records){.count = 0};
    buf_init(&r->text, RECORDS_BYTES);
}

void httpjson_records_deinit(struct httpjson_records *r)
{
    buf_deinit(&r->text);
    free(r->ends);
}

int httpjson_records_add(struct httpjson_records *r, struct err *err)
{
    if (!ARRAY_FITS(r->ends, r->room, r->count + 1))
        return err_memory(err, "records");
    r->ends[r->count++] = r->text.n;
    return r->text.failed ? err_set(err, ERR_SYSTEM, "the records of a run are larger than %d bytes", RECORDS_BYTES) : 0;
}

struct str httpjson_record(const struct httpjson_records *r, size_t i)
{
    size_t from = i ? r->ends[i - 1] : 0;
    return (struct str){r->text.p + from, r->ends[i] - from};
}
