/* index_record.h: what the index knows of one run, as bytes: files, listings of folders and derived values, each with the stamp of the file it is from.
 *
 * The first part of a record has all but the long values, which follow it: most commands need none of them, or one. */
#ifndef INDEX_INDEX_RECORD_H
#define INDEX_INDEX_RECORD_H
#include "base/buf.h"
#include "base/folder.h"

enum {
    INDEX_RUN_MAX = 104, /* bytes of "<experiment>/<run>" and its NUL */
    INDEX_HEAD = 128, /* bytes of a record before its entries */
    INDEX_RECORD_MAX = 64 << 20,
    INDEX_LONG = 512, /* bytes from which a value is long */
    INDEX_DERIVED = FOLDER_OTHER + 1 /* a kind: what a program made of a file */
};

struct index_entry {
    const char *path; /* below the run's folder; of a derived value: the file's, a blank, and what it is */
    unsigned char kind; /* enum folder_kind, or INDEX_DERIVED */
    uint64_t stamp; /* of the file or folder when it was read; 0: its content is not known */
    struct str value; /* of a file or a derived value; .p NULL: it is long, and not in the first part. A folder with a stamp has all of its entries in
                         the record */
    uint64_t at, check; /* of a long value: where it begins in the record, and its hash */
};
struct index_record {
    const char *run; /* "<experiment>/<run>" */
    size_t count;
    const char *entries, *texts; /* of the bytes */
    size_t first, length; /* bytes of the first part, and of the record */
};

/* Appends the record of n entries, which are sorted by the bytes of their paths, each once. A record that is too long sets to->failed. */
void index_record_print(const char *run, const struct index_entry *entries, size_t n, struct buf *to);
/* What the first INDEX_HEAD bytes of a record contain. */
struct index_head {
    size_t length, first; /* bytes of the record, and of its first part */
    const char *run; /* in these bytes */
};
/* Reads these bytes. False: they are no head of a record. */
bool index_record_head(const char *bytes, struct index_head *ret);
/* Reads the first part of a record, which must be complete, undamaged and not longer than its bytes. Nothing in it is trusted. It points into the bytes. */
bool index_record_parse(struct str bytes, struct index_record *ret);
/* Returns the hash of a long value. */
uint64_t index_value_check(struct str value);
/* Returns the entry i < count. */
struct index_entry index_record_get(const struct index_record *r, size_t i);
/* Returns the first entry whose path is not less than `path`; r->count: none. */
size_t index_record_find(const struct index_record *r, const char *path);
#endif
