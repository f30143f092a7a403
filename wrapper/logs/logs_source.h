/* logs_source.h: one raw stream of a campaign, read line by line with the time of each. */
#ifndef LOGS_LOGS_SOURCE_H
#define LOGS_LOGS_SOURCE_H
#include "logs/logs.h"
#include "probes/secrets.h"

enum { LOGS_ENTRY = 16 /* bytes of an entry of an index */ };
#define LOGS_INDEX_SUFFIX ".idx"
#define LOGS_SEEN_SUFFIX ".seen" /* the same, of a stream that the process wrote itself: when the merging read the bytes */

int64_t logs_now_ns(void); /* wall time since 1970 */
/* Returns whether the name is legal for a component; dots: for a node, whose name may contain dots. */
bool logs_name_is_legal(struct str name, bool dots);

struct logs_source_name {
    char component[LOGS_NAME_MAX], node[LOGS_NAME_MAX];
    unsigned instance;
    bool is_error;
};
/* Reads the name of a raw stream, COMPONENT.INSTANCE.NODE.out or .err. False: it has another
 * form. */
bool logs_source_name_read(struct str name, struct logs_source_name *ret);

/* The offsets of the nodes' clocks. */
struct logs_clocks {
    struct logs_clock_point *points; /* by node and time */
    size_t count, room;
};
/* Reads `clocks` of the folder; wrong lines are ignored. A folder without it has equal clocks. 0; -1 with err. */
int logs_clocks_read(struct logs_clocks *ret, int folder, struct err *err);
/* Frees the offsets. */
void logs_clocks_deinit(struct logs_clocks *c);
/* A time of a node's clock on the campaign's. */
int64_t logs_clocks_correct(const struct logs_clocks *c, const char *node, int64_t time_ns);

struct logs_source {
    struct logs_source_name name;
    int data, index;
    char *buffer; /* bytes from `at` on */
    size_t n, size, used; /* in the buffer; its capacity; of them passed on */
    uint64_t at; /* offset of the buffer in the stream */
    unsigned char entries[256 * LOGS_ENTRY];
    size_t entries_n, entries_used; /* bytes */
    uint64_t index_at; /* offset of the next entries in the index */
    uint64_t stamped; /* bytes of the stream whose times are in the index, which `stamps` writes */
    uint64_t entry_end; /* of the entry that is current: bytes before it have its time */
    int64_t entry_ns, file_ns;
    bool is_ended, has_index;
    bool is_clean; /* its writer replaced the secrets */
    bool stamps; /* this process writes when it reads bytes */
    struct secrets_state secrets;
    int64_t time_ns; /* of the last line, on the campaign's clock */
    struct logs_line line; /* the next one, if has_line */
    bool has_line;
    uint64_t lines, bytes; /* passed on so far */
};
/* stamps: stores the time at which bytes are read, of a stream without an index. 0; -1 with err. */
int logs_source_open(struct logs_source *ret, int folder, const char *file, const struct logs_source_name *name, bool stamps,
                     struct err *err);
/* Stores that the bytes are there that the file has now. */
void logs_source_see(struct logs_source *s);
/* Appends the end of the stream to the index. Does nothing where this process writes no index. */
void logs_source_end(struct logs_source *s);
/* Appends an entry to an index: bytes up to `end` had arrived at that time. -1 with errno; a part of an entry is removed
 * again, since all later ones would be read from its middle. */
int logs_index_add(int index, uint64_t end, int64_t time_ns);
/* Closes the stream and its index. */
void logs_source_close(struct logs_source *s);
/* Makes s->line the next line. final: what has no line end is a line, too. False: there is none yet. The line's
 * text is valid until the next call. */
bool logs_source_next(struct logs_source *s, const struct logs_clocks *clocks, bool final);
#endif
