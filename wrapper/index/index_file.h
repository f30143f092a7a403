/* index_file.h: the file of an index: records of runs, the last one of a run counts. It only grows,
 * or is removed and made again.
 *
 * Any number of processes read it while one writes. A writer that finds another one writes nothing. A record that a crash, a full disk or a bad disk has
 * damaged is not found; a file of another version, or of a machine with other numbers, has none. */
#ifndef INDEX_INDEX_FILE_H
#define INDEX_INDEX_FILE_H
#include "base/buf.h"
#include "index/index_record.h"

struct index_file;
/* Opens the file `name` of the user's own folder at the path, neither of which needs to exist. NULL: out of memory. */
struct index_file *index_file_open(const char *folder, const char *name);
/* Finds the newest record of the run, "<experiment>/<run>": its first part into `bytes`, to which *ret points; *ret_at: where it is. Threads may call it at
 * once. */
bool index_file_find(struct index_file *f, const char *run, struct buf *bytes, struct index_record *ret, uint64_t *ret_at);
/* Appends the long value of an entry of the record that is there. False: it is damaged. */
bool index_file_value(struct index_file *f, uint64_t at, const struct index_entry *e, struct buf *to);
/* Adds a record, which replaces the older one of its run, with the number of its new values.
 * Nothing is written before that are many. Threads may call it at once. */
void index_file_add(struct index_file *f, struct str record, size_t new_values);
/* Writes what was added, and releases it. */
void index_file_close(struct index_file *f);
#endif
