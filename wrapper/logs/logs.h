/* logs.h: the logs of a campaign: what its processes print, stored as raw streams and merged in the
 * order of time.
 *
 * The folder of the logs holds for each process two raw streams,
 *     COMPONENT.INSTANCE.NODE.out and COMPONENT.INSTANCE.NODE.err
 * with the bytes as they were printed, secrets replaced by texts of equal length. Next to each is
 * an
 * index NAME.idx: when which bytes arrived. It has entries of 16 bytes, little-endian: the number of
 * bytes of the stream that had arrived (uint64), and the time on the node's clock in ns since 1970
 * (int64). A last entry with the bit LOGS_INDEX_END marks the stream as complete. The process that
 * reads a pipe writes both (logs_stream_open). Where nodes wrote indexes by their own clocks, the file
 * `clocks` has lines `NODE TIME OFFSET`: at this time of the node's clock (ns), it was OFFSET ns ahead of the
 * campaign's. Between two times the offset is interpolated.
 *
 * A process may also write its streams itself. Then the merging of a live campaign stores next to
 * them, as
 * `NAME.seen`, the times at which it read their bytes, and replaces secrets in what it passes on.
 *
 * A line has the time at which its last byte arrived, corrected by the clock of its node. Where a
 * stream has no index, lines have the time that they begin with, else that of the line before. */
#ifndef LOGS_LOGS_H
#define LOGS_LOGS_H
#include "base/err.h"
#include "base/listing.h"
#include "base/str.h"
#include "logs/logs_time.h"

#include <stdint.h>
#include <stdio.h>

enum { LOGS_NAME_MAX = 200 /* bytes of the name of a raw stream */ };
#define LOGS_INDEX_END (UINT64_C(1) << 63)
#define LOGS_CLOCKS "clocks"

/* ---- raw streams: for the process that reads the pipes, and for tests ---- */

struct logs_stream;
/* Opens a raw stream in the open folder, and makes it where it is not there; an existing one is
 * continued. component: letters, digits, - and _. node: these and dots. -1 with err. */
struct logs_stream_name {
    const char *component;
    unsigned instance;
    const char *node;
    bool is_error;
};
/* Opens a raw stream and its index in the folder, to append. logs_stream_close frees it. 0; -1 with err. */
int logs_stream_open(struct logs_stream **ret, int folder, const struct logs_stream_name *name, struct err *err);
/* Appends bytes that arrived at this wall time (ns since 1970; 0: now). -1 with err: they are lost, as on a full
 * disk; the index counts them. */
int logs_stream_write(struct logs_stream *s, struct str bytes, int64_t time_ns, struct err *err);
/* Writes what is held back and the end of the index. NULL is allowed. */
int logs_stream_close(struct logs_stream *s, struct err *err);
/* Appends what a pipe holds, at most 64 KiB. False: it is at its end, or empty and not to be waited for (O_NONBLOCK). A full
 * disk ends nothing: the rest is read and lost. */
bool logs_stream_read(struct logs_stream *s, int from);

/* ---- merging ---- */

struct logs_line {
    int64_t time_ns;       /* on the campaign's clock */
    const char *component;
    unsigned instance;
    const char *node;
    bool is_error;         /* of stderr */
    struct str text;       /* without its line end; any bytes */
    bool has_more;         /* a part of a longer line: the next line of this stream continues it */
    size_t stream;         /* number of the raw stream, from 0 */
};

struct logs_merge {
    int folder;            /* with the raw streams */
    bool stamps;           /* stores when it reads bytes of a stream without an index, which the process writes itself */
    bool follow;           /* waits for more, also for new streams, until stop_fd is readable; then it merges what is left */
    int stop_fd;           /* with follow; -1: none */
    double delay_s;        /* with follow: a line waits so long for earlier ones of other nodes; 0: 1 s */
    /* Gets each line. Non-zero ends the merging and is returned. */
    int (*each)(void *context, const struct logs_line *line, struct err *err);
    /* With follow, before it waits. May be NULL. */
    int (*idle)(void *context, struct err *err);
    void *context;
};
/* Passes the lines of all streams on in the order of time. Within a stream the order is that of its
 * bytes. Memory is bounded by the number of streams. *ret_late (may be NULL): lines that came too late for
 * their place. 0; -1 with err. */
int logs_merge_streams(const struct logs_merge *m, uint64_t *ret_late, struct err *err);

/* ---- the merged files ---- */

struct logs_outputs {
    /* Paths from the folder of the logs; NULL: stdout.log, stderr.log, aggregated.jsonl; "": not written. */
    const char *out, *error, *lines;
    double flush_s;        /* with follow; 0: 1 s */
    uint64_t max_bytes;    /* a larger file becomes NAME.1.gz, the next one NAME.2.gz, …; 0: no bound */
    unsigned keep;         /* of these at most so many are kept, the newest; 0: all */
    const char *const *alerts; /* a line with one of these texts calls `alert`; NULL-terminated, or NULL */
    void (*alert)(void *context, const struct logs_line *line, const char *text);
    void *context;
};
/* May a merged file have this path? Not that of another file of the folder, and not one that leaves the folder by "..". */
bool logs_path_is_free(const char *path);
/* Merges into files: `[time] [node] [component] line`, and JSON lines {timestamp, node, component,
 * message, stream}. Of the instances of a component, 0 has the component's name, the others
 * COMPONENT.INSTANCE. follow: writes while the campaign runs, until stop_fd is readable; the file
 * `loggers_ready` appears as soon as it does. At the end, and without follow, the files are in
 * perfect order, with summary.json. Files of an earlier call are replaced. */
int logs_write_merged(int folder, const struct logs_outputs *outputs, bool follow, int stop_fd, struct err *err);

/* ---- printing ---- */

struct logs_filter {
    const char *const *components; /* NULL-terminated; NULL: all. "vllm" accepts all instances, "vllm.1" one */
    const char *const *nodes;      /* the same */
    enum logs_severity least;      /* lines of this severity or worse; LOGS_UNKNOWN: all */
    const char *stream;            /* "stdout" or "stderr"; NULL: both */
    const char *text;              /* lines with this text; NULL */
    const char *request;           /* lines with this id of a request; NULL: all */
};
/* Returns whether the line passes all conditions of the filter. */
bool logs_filter_accepts(const struct logs_filter *f, const struct logs_line *line);

struct logs_view {
    int folder;
    struct logs_filter filter;
    bool follow;
    int stop_fd;           /* with follow */
    size_t last;           /* only the last so many lines, then with follow the new ones; 0: all */
    bool json;             /* as lines of aggregated.jsonl, else as those of stdout.log, harmless for a terminal */
    FILE *out;
};
/* Prints merged lines. 0; -1 with err. */
int logs_view_print(const struct logs_view *v, struct err *err);

/* Adds a row for each raw stream to a listing with these columns: component, node, stream, lines, bytes,
 * first and last time, seconds, lines per second. 0; -1 with err. */
extern const struct listing_column logs_summary_columns[];
extern const size_t logs_summary_columns_count;
int logs_summary_list(int folder, const struct logs_filter *filter, struct listing *l, struct err *err);

/* ---- checking ---- */

/* Checks the merged files against the raw streams. outputs: as they were written, of which the paths count; NULL: the usual
 * ones. Adds a row for each check to a listing with these
 * columns: name, result (good, bad, none), what was found. *ret_bad: how many are bad. 0; -1 with err. */
extern const struct listing_column logs_check_columns[];
extern const size_t logs_check_columns_count;
int logs_check_folder(int folder, const struct logs_outputs *outputs, struct listing *l, size_t *ret_bad, struct err *err);
#endif
