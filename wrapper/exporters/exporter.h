/* exporter.h: the contract of an exporter: one kind of destination for published runs, one file each.
 *
 * Add one: write exporters/x.c ending in `const struct exporter exporter_x = {…};` and a row
 * EXPORTER(x) in exporters.def. Its keys in the configuration, `benchwrap exporter`, help and manual
 * come from the struct. See docs/howto-exporter.md.
 *
 * Exporters run after the program, in a process of their own or in a command. They read runs of the
 * tree, which are redacted and have their profile. exporter_queue.h stores what is not delivered yet,
 * exporter_pass.h delivers it. */
#ifndef EXPORTERS_EXPORTER_H
#define EXPORTERS_EXPORTER_H
#include "exporters/exporter_config.h"
#include "exporters/exporter_run.h"

/* The outcome of a call. All but SENT come with err. */
enum exporter_answer {
    EXPORTER_SENT,
    EXPORTER_LATER, /* the destination accepts nothing now: this run and the later ones wait */
    EXPORTER_FAILED, /* this run failed there; another one may not: it waits, and the next one is sent */
    EXPORTER_REFUSED, /* the destination will never accept this run: it becomes a dead letter */
};

/* An open destination. */
struct exporter_link {
    const struct exporter_config *config;
    char *const *env; /* NULL-terminated */
    struct arena *arena; /* lives as long as the link */
    int64_t until_ns; /* monotonic time: no call waits longer */
    int cancel_fd; /* a call ends early when it is readable; -1: none */
    double retry_after_s; /* with LATER and FAILED: when the destination requests the next attempt; -1: unknown */
    bool is_full; /* send sets it: flush is called before the next run */
    bool is_foreign; /* a message quotes lines of programs: a preset that knows mentions escapes them */
    void *state; /* the exporter's own, usually in the arena */
};

/* What no other record has, also when it is sent again. */
struct exporter_record_id {
    uint64_t high, low;
};
struct exporter_series;
/* Records that are no runs, such as log lines. */
struct exporter_batch {
    const struct str *records; /* a JSON object each, on one line */
    size_t count; /* > 0 */
    const char *stream; /* where the destination has several: which one; NULL: the configured one */
    const struct exporter_record_id *ids; /* of each record; NULL: exporter_records_send makes them */
    const struct exporter_series *series; /* of each record: the series whose last sample it states; NULL: they state none */
    void (*refused)(void *context, struct str record, const char *why); /* send_records may call it for records in `*taken` */
    void *context;
};

struct exporter {
    const char *type; /* "jsonl" */
    const char *summary; /* one line, no full stop */
    const char *description; /* paragraphs for the manual */
    const struct opt_row *rows; /* keys of its own; exporter_config.h has those of all */
    size_t count;
    size_t batch; /* runs between two calls of flush, at most; 0 or 1: after each */
    const char *const *secret_variables; /* of the environment that it reads by itself, NULL-terminated; may be NULL */
    /* Checks the keys together: no file or server is touched. May be NULL. 0; -1 with ERR_INPUT. */
    int (*configure)(const struct exporter_config *c, struct err *err);
    /* Opens the destination. */
    enum exporter_answer (*open)(struct exporter_link *l, struct err *err);
    /* Sends a run, or collects it until flush. *done, 0 at first, counts parts of this run that are
     * delivered already: the exporter continues there and updates it, also when it fails. */
    enum exporter_answer (*send)(struct exporter_link *l, const struct exporter_run *run, uint64_t *done, struct err *err);
    /* Returns SENT when all runs since the last flush are delivered for good. REFUSED and FAILED: they
     * are sent again one by one, to find the run at fault. What was collected is forgotten in any case.
     * May be NULL. */
    enum exporter_answer (*flush)(struct exporter_link *l, struct err *err);
    /* Queries the destination whether it would accept runs, and appends what it found as a sentence.
     * NULL: open is enough. */
    enum exporter_answer (*check)(struct exporter_link *l, struct buf *found, struct err *err);
    /* Sends a record and reads it back from where it is stored, within the link's time. NULL: it cannot. */
    enum exporter_answer (*read_back)(struct exporter_link *l, struct buf *found, struct err *err);
    /* Appends what send would send, without secrets, and sends nothing. The link is not open. */
    int (*print)(struct exporter_link *l, const struct exporter_run *run, struct buf *to, struct err *err);
    /* Sends the first records of a batch with one request: as many as it may hold, at least one. `*taken`
     * has their number, also after a failure, which means that none of them is delivered. After SENT each
     * is delivered, or was given to b->refused. NULL: this type delivers runs only. Called by
     * exporter_records_send. */
    enum exporter_answer (*send_records)(struct exporter_link *l, const struct exporter_batch *b, size_t *taken, struct err *err);
    /* Sends a text of the user's, once. NULL: this type has no messages. */
    enum exporter_answer (*send_message)(struct exporter_link *l, const char *text, struct err *err);
    /* Also after a failed open. May be NULL. */
    void (*close)(struct exporter_link *l);
};

extern const struct exporter *const exporters[];
extern const size_t exporters_count;
/* NULL: there is none of this type. */
const struct exporter *exporter_find(struct str type);
/* Opens the destination, sends one text with send_message, and closes the destination. The type must
 * have send_message. until_ns, cancel_fd and is_foreign: see struct exporter_link. 0; -1 with err. */
int exporter_send_message(const struct exporter_config *c, char *const *env, const char *text, int64_t until_ns, int cancel_fd,
                          bool is_foreign, struct err *err);
#endif
