/* httpjson_bulk.c: requests of many documents to Elasticsearch or OpenSearch; see httpjson_bulk.h.
 *
 * POST /INDEX/_bulk, https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-bulk. The reply has status 200 also where documents failed:
 * {"errors":true,"items":[{"create":{"_id":"…","status":201}}, …]}, in the order of the request. */
#include "exporters/httpjson_bulk.h"

#include "base/json.h"
#include "base/json_out.h"

enum { EXISTS_ALREADY = 409, TOO_MANY = 429, WORDS_MAX = 300 };

void httpjson_bulk_put(struct buf *to, const char *id, struct str record)
{
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_open(&j, "create", '{');
    json_text(&j, "_id", id);
    json_close(&j, '}');
    json_close(&j, '}');
    buf_putc(to, '\n');
    buf_str(to, record);
    if (!str_ends(record, "\n"))
        buf_putc(to, '\n');
}

/* The outcome of one document: SENT, LATER or REFUSED, the latter two with err. */
static enum exporter_answer bulk_item_answer(const struct json *item, struct err *err)
{
    const struct json *outcome = json_get(item, "create"), *error = json_get(outcome, "error");
    int64_t status = json_integer(json_get(outcome, "status"), 0);
    struct buf words CLEANUP_BUF;
    buf_init(&words, 8 * WORDS_MAX);
    if ((status >= 200 && status < 300) || status == EXISTS_ALREADY)
        return EXPORTER_SENT;
    buf_plain(&words, str_of(json_string(json_get(error, "type"), "no type")), WORDS_MAX / 4);
    buf_puts(&words, ": ");
    buf_plain(&words, str_of(json_string(json_get(error, "reason"), json_string(error, "no reason"))), WORDS_MAX);
    err_set(err, ERR_REMOTE, "the document has status %lld: %s", (long long)status, words.p ? words.p : "");
    return status >= 400 && status < 500 && status != TOO_MANY ? EXPORTER_REFUSED : EXPORTER_LATER;
}

enum exporter_answer httpjson_bulk_answer(const struct exporter_batch *b, struct str reply, size_t *taken, struct err *err)
{
    struct json *doc = NULL;
    enum exporter_answer answer = EXPORTER_SENT;
    size_t n = 0;
    if (json_parse(&doc, reply, NULL, NULL) || !json_is_array(json_get(doc, "items")) || json_count(json_get(doc, "items")) != *taken) {
        json_free(doc);
        return err_set(err, ERR_REMOTE, "the reply names no outcome for each document: is this the address of _bulk?"), EXPORTER_LATER;
    }
    for (const struct json *item = json_first(json_get(doc, "items")); item; item = json_next(item), n++) {
        answer = bulk_item_answer(item, err);
        if (answer == EXPORTER_REFUSED && b->refused)
            b->refused(b->context, b->records[n], err->text);
        else if (answer != EXPORTER_SENT)
            break;
        answer = EXPORTER_SENT;
    }
    json_free(doc);
    if (n > 0)
        answer = EXPORTER_SENT; /* what is behind a document that waits comes again, and is there already */
    *taken = n > 0 ? n : 1;
    return answer;
}
