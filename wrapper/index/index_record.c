/* index_record.c: the bytes of what the index knows of one run.
 *
 * A head (struct record_head), the entries (struct record_entry), and the texts that they refer to. Numbers are this machine's own: the head of the
 * index file says which machine's they are. */
#include "index/index_record.h"

#include "base/hash.h"

struct record_head {
    uint64_t check; /* hash of all that follows */
    uint32_t length; /* of the record in bytes, a multiple of 8 */
    uint32_t count; /* of entries */
    uint32_t texts; /* bytes of the texts */
    uint32_t unused;
    char run[INDEX_RUN_MAX];
};
struct record_entry {
    uint64_t stamp;
    uint32_t path, value, size; /* of the texts: where the path begins, which ends in a NUL; where the value does, and its bytes */
    unsigned char kind, unused[3];
};
_Static_assert(sizeof(struct record_head) == INDEX_HEAD && sizeof(struct record_entry) == 24, "no gaps, whose bytes would be undefined");

static uint64_t record_check(const char *record, size_t length)
{
    return hash_bytes(length, record + sizeof(uint64_t), length - sizeof(uint64_t));
}

void index_record_print(const char *run, const struct index_entry *entries, size_t n, struct buf *to)
{
    size_t texts = 0, run_size = strlen(run) + 1;
    for (size_t i = 0; i < n && texts < INDEX_RECORD_MAX; i++)
        texts += strlen(entries[i].path) + 1 + entries[i].value.n;
    size_t length = (INDEX_HEAD + n * sizeof(struct record_entry) + texts + 1 + 7) / 8 * 8;
    char *record = run_size <= INDEX_RUN_MAX && texts < INDEX_RECORD_MAX && n < INDEX_RECORD_MAX / sizeof(struct record_entry) &&
                           length <= INDEX_RECORD_MAX
                       ? buf_room(to, length)
                       : NULL;
    if (!record) {
        to->failed = true;
        return;
    }
    struct record_head head = {.length = (uint32_t)length, .count = (uint32_t)n};
    size_t before = INDEX_HEAD + n * sizeof(struct record_entry), at = 0;
    memset(record, 0, length);
    memcpy(head.run, run, run_size);
    head.texts = (uint32_t)(length - before);
    for (size_t i = 0; i < n; i++) {
        size_t path = strlen(entries[i].path) + 1;
        struct record_entry e = {.stamp = entries[i].stamp,
                                 .path = (uint32_t)at,
                                 .value = (uint32_t)(at + path),
                                 .size = (uint32_t)entries[i].value.n,
                                 .kind = entries[i].kind};
        memcpy(record + before + at, entries[i].path, path);
        if (e.size)
            memcpy(record + before + at + path, entries[i].value.p, e.size);
        memcpy(record + INDEX_HEAD + i * sizeof e, &e, sizeof e);
        at += path + e.size;
    }
    memcpy(record, &head, sizeof head);
    head.check = record_check(record, length);
    memcpy(record, &head, sizeof head);
    to->n += length;
    to->p[to->n] = 0;
}

bool index_record_head(const char *bytes, size_t *ret_length, const char **ret_run)
{
    struct record_head head;
    memcpy(&head, bytes, sizeof head);
    *ret_length = head.length;
    *ret_run = bytes + offsetof(struct record_head, run);
    return head.length > INDEX_HEAD && head.length % 8 == 0 && head.length <= INDEX_RECORD_MAX && memchr(*ret_run, 0, INDEX_RUN_MAX);
}

static struct record_entry entry_at(const struct index_record *r, size_t i)
{
    struct record_entry e;
    memcpy(&e, r->entries + i * sizeof e, sizeof e);
    return e;
}

bool index_record_parse(struct str bytes, struct index_record *ret)
{
    struct record_head head;
    size_t length;
    const char *run;
    if (bytes.n < INDEX_HEAD || !index_record_head(bytes.p, &length, &run) || length > bytes.n)
        return false;
    memcpy(&head, bytes.p, sizeof head);
    size_t behind = length - INDEX_HEAD;
    if (head.check != record_check(bytes.p, length) || head.count > behind / sizeof(struct record_entry) ||
        head.count * sizeof(struct record_entry) + head.texts != behind || !head.texts || bytes.p[length - 1])
        return false;
    *ret = (struct index_record){.run = run,
                                 .count = head.count,
                                 .entries = bytes.p + INDEX_HEAD,
                                 .texts = bytes.p + length - head.texts,
                                 .texts_size = head.texts};
    for (size_t i = 0; i < ret->count; i++) {
        struct record_entry e = entry_at(ret, i);
        if (e.path >= head.texts || e.value > head.texts || e.size > head.texts - e.value)
            return false;
    }
    return true;
}

struct index_entry index_record_get(const struct index_record *r, size_t i)
{
    struct record_entry e = entry_at(r, i);
    return (struct index_entry){.path = r->texts + e.path, .kind = e.kind, .stamp = e.stamp, .value = {r->texts + e.value, e.size}};
}

size_t index_record_find(const struct index_record *r, const char *path)
{
    size_t low = 0, high = r->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(r->texts + entry_at(r, middle).path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
