/* index_record.c: the bytes of what the index knows of one run.
 *
 * The first part is a head (struct stored_head), the entries (struct stored_entry), and the texts that they refer to. Long values follow. Numbers are
 * this machine's own: the head of the index file names the machine. */
#include "index/index_record.h"

#include "base/hash.h"

struct stored_head {
    uint64_t check; /* of the rest of the first part */
    uint32_t length, first; /* bytes of the record and of its first part, multiples of 8 */
    uint32_t count; /* of entries */
    uint32_t unused;
    char run[INDEX_RUN_MAX];
};
struct stored_entry {
    uint64_t stamp;
    uint32_t path, value, size; /* of the texts: where the path begins, which ends in a NUL; where the value does, and its bytes */
    unsigned char kind, is_long, unused[2]; /* a long value: a stored_value is in the place of the value */
};
struct stored_value {
    uint64_t at, check;
};
_Static_assert(sizeof(struct stored_head) == INDEX_HEAD && sizeof(struct stored_entry) == 24 && sizeof(struct stored_value) == 16,
               "no gaps, whose bytes would be undefined");

/* Four sums at once: one would wait for each product. */
static uint64_t bytes_check(const char *p, size_t n)
{
    uint64_t sums[4] = {1, 2, 3, 4};
    size_t blocks = n / 32;
    for (size_t i = 0; i < blocks; i++)
        for (size_t k = 0; k < 4; k++) {
            uint64_t word;
            memcpy(&word, p + i * 32 + k * 8, 8);
            sums[k] = (sums[k] ^ word) * UINT64_C(0xff51afd7ed558ccd);
            sums[k] ^= sums[k] >> 32;
        }
    return hash_bytes(hash_bytes(n, sums, sizeof sums), p + blocks * 32, n - blocks * 32);
}

static uint64_t record_check(const char *record, size_t first)
{
    return bytes_check(record + sizeof(uint64_t), first - sizeof(uint64_t));
}

uint64_t index_value_check(struct str value)
{
    return bytes_check(value.p, value.n);
}

static size_t to_eight(size_t n)
{
    return (n + 7) / 8 * 8;
}

void index_record_print(const char *run, const struct index_entry *entries, size_t n, struct buf *to)
{
    size_t texts = 0, longs = 0, run_size = strlen(run) + 1;
    for (size_t i = 0; i < n && texts + longs < INDEX_RECORD_MAX; i++) {
        bool is_long = entries[i].value.n >= INDEX_LONG;
        texts += strlen(entries[i].path) + 1 + (is_long ? sizeof(struct stored_value) : entries[i].value.n);
        longs += is_long ? to_eight(entries[i].value.n) : 0;
    }
    size_t first = to_eight(INDEX_HEAD + n * sizeof(struct stored_entry) + texts + 1), length = first + longs;
    char *record = run_size <= INDEX_RUN_MAX && texts + longs < INDEX_RECORD_MAX && n < INDEX_RECORD_MAX / sizeof(struct stored_entry) &&
                           length <= INDEX_RECORD_MAX
                       ? buf_room(to, length)
                       : NULL;
    if (!record) {
        to->failed = true;
        return;
    }
    struct stored_head head = {.length = (uint32_t)length, .first = (uint32_t)first, .count = (uint32_t)n};
    size_t before = INDEX_HEAD + n * sizeof(struct stored_entry), at = 0, long_at = first;
    memset(record, 0, length);
    memcpy(head.run, run, run_size);
    for (size_t i = 0; i < n; i++) {
        struct str value = entries[i].value;
        size_t path = strlen(entries[i].path) + 1;
        struct stored_entry e = {.stamp = entries[i].stamp,
                                 .path = (uint32_t)at,
                                 .value = (uint32_t)(at + path),
                                 .size = (uint32_t)value.n,
                                 .kind = entries[i].kind,
                                 .is_long = value.n >= INDEX_LONG};
        memcpy(record + before + at, entries[i].path, path);
        at += path;
        if (e.is_long) {
            struct stored_value v = {long_at, index_value_check(value)};
            memcpy(record + before + at, &v, sizeof v);
            memcpy(record + long_at, value.p, value.n);
            at += sizeof v;
            long_at += to_eight(value.n);
        } else if (value.n) {
            memcpy(record + before + at, value.p, value.n);
            at += value.n;
        }
        memcpy(record + INDEX_HEAD + i * sizeof e, &e, sizeof e);
    }
    memcpy(record, &head, sizeof head);
    head.check = record_check(record, first);
    memcpy(record, &head, sizeof head);
    to->n += length;
    to->p[to->n] = 0;
}

bool index_record_head(const char *bytes, struct index_head *ret)
{
    struct stored_head head;
    memcpy(&head, bytes, sizeof head);
    *ret = (struct index_head){head.length, head.first, bytes + offsetof(struct stored_head, run)};
    return head.first > INDEX_HEAD && head.first % 8 == 0 && head.length % 8 == 0 && head.first <= head.length &&
           head.length <= INDEX_RECORD_MAX && memchr(ret->run, 0, INDEX_RUN_MAX);
}

static struct stored_entry entry_at(const struct index_record *r, size_t i)
{
    struct stored_entry e;
    memcpy(&e, r->entries + i * sizeof e, sizeof e);
    return e;
}

bool index_record_parse(struct str bytes, struct index_record *ret)
{
    struct stored_head head;
    struct index_head h;
    if (bytes.n < INDEX_HEAD || !index_record_head(bytes.p, &h) || h.first > bytes.n)
        return false;
    memcpy(&head, bytes.p, sizeof head);
    size_t behind = h.first - INDEX_HEAD;
    if (head.check != record_check(bytes.p, h.first) || head.count > behind / sizeof(struct stored_entry) || bytes.p[h.first - 1])
        return false;
    size_t texts = behind - head.count * sizeof(struct stored_entry);
    *ret = (struct index_record){.run = h.run,
                                 .count = head.count,
                                 .entries = bytes.p + INDEX_HEAD,
                                 .texts = bytes.p + h.first - texts,
                                 .first = h.first,
                                 .length = h.length};
    for (size_t i = 0; i < ret->count; i++) {
        struct stored_entry e = entry_at(ret, i);
        struct stored_value v;
        size_t size = e.is_long ? sizeof v : e.size;
        if (e.path >= texts || e.value > texts || size > texts - e.value)
            return false;
        if (!e.is_long)
            continue;
        memcpy(&v, ret->texts + e.value, sizeof v);
        if (v.at < h.first || v.at > h.length || e.size > h.length - v.at)
            return false;
    }
    return true;
}

struct index_entry index_record_get(const struct index_record *r, size_t i)
{
    struct stored_entry e = entry_at(r, i);
    struct stored_value v = {0};
    if (e.is_long)
        memcpy(&v, r->texts + e.value, sizeof v);
    return (struct index_entry){.path = r->texts + e.path,
                                .kind = e.kind,
                                .stamp = e.stamp,
                                .value = {e.is_long ? NULL : r->texts + e.value, e.size},
                                .at = v.at,
                                .check = v.check};
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
