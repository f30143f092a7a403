/* parts.h: what the files that check a run share; private to wrapper/check. */
#ifndef CHECK_PARTS_H
#define CHECK_PARTS_H
#include "base/json.h"
#include "base/sha256.h"
#include "check/check.h"
#include "mlruns-format/record.h"
#include "mlruns-format/tree_meta.h"

/* One regular file of a run. */
struct check_file {
    struct str path;            /* below the run's folder, ends in a NUL */
    uint64_t size;
    char sha256[SHA256_HEX];    /* "": it was not read (too large, or it cannot be) */
    unsigned char id[32];       /* what names its content: git's id of the object, else the SHA-256; beyond id_size zero */
};

/* A param or tag as its file has it, a metric as its lines. */
struct check_entry {
    char kind;                  /* 'p' 't' 'm' */
    const char *key;
    struct str value;           /* 'm': the file's text */
    const struct check_sample { int64_t time_ms, step; double value; struct str text; } *samples;
    size_t count;
};

struct run_check {
    struct check_state *k;
    const struct folder *folder;
    const char *path;           /* "mlruns/<exp>/<run>" */
    const char *experiment, *id;/* the two folders' names */
    struct arena a;             /* of this run */
    struct check_file *files;   /* sorted by path once all are known */
    size_t count, room;
    struct check_entry *entries; /* sorted by kind and key */
    size_t entry_count, entry_room;
    uint64_t bytes, unpacked;
    bool limited;               /* not everything was looked at */
    bool unverifiable;          /* some of its figures nobody can read again */
    struct tree_meta meta;
    bool meta_good;
    struct json *record;        /* benchwrap.json; NULL: not there or no JSON */
    struct str record_text, manifest_text, rules_text; /* whole, ends in a NUL; p NULL: not there */
};

/* check_found for a file of the run ("" the run itself). */
void run_found(struct run_check *r, enum check_id id, const char *file, unsigned line, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
const struct check_file *run_file(const struct run_check *r, const char *path);    /* NULL: none */
const struct check_entry *run_entry(const struct run_check *r, char kind, const char *key);
/* The text of a param or tag, ended by a NUL; NULL if it is not there. */
const char *run_text(const struct run_check *r, char kind, const char *key);
/* The last value of a metric by its file, or `otherwise`. */
double run_number(const struct run_check *r, const char *key, double otherwise);

/* check.c: is what all runs together may cost spent? Then it is told. */
bool check_is_full(struct check_state *k, const char *path);
/* check.c: the name of an experiment's folder: 1 to 2147483647. The text behind it may go on. */
bool check_is_experiment(struct str name);

/* names.c: one name of a folder; `path` is the whole. Tells what is wrong with it; false: do not go on with it (it cannot be a path of its own). */
bool check_file_name(struct check_state *k, struct str name, const char *path);
/* Two names that are one where case or form of letters does not count: the key under which they meet, into the arena. */
const char *check_name_folded(struct str name, struct arena *a);

/* entries.c: a file of params/, tags/ or metrics/. Notes it as an entry. */
void check_text_entry(struct run_check *r, char kind, const char *key, const char *file, struct str text);
void check_metric_entry(struct run_check *r, const char *key, const char *file, struct str text);

/* record.c, manifest.c: the run's own documents against the files. */
void check_record(struct run_check *r);
void check_manifest(struct run_check *r);
/* tags.c: tags that MLflow acts on, and such as repeat what the record says elsewhere. */
void check_tags(struct run_check *r);
/* claims.c: what no output shows. */
void check_claims(struct run_check *r);
/* active.c: a file that may act where it is opened. */
void check_active(struct run_check *r, const char *file, struct str text);
/* times.c */
void check_times(struct run_check *r);
/* truth.c: the output is read again by the run's rules. bounds.c: what the hardware can do. */
void check_verify(struct run_check *r);
void check_bounds(struct run_check *r);
/* unpack.c: appends what is in a compressed file, `most` bytes at most. NULL, or why there is more that is not looked at. */
const char *check_unpack(struct str data, size_t most, struct buf *to);
/* disguise.c: appends what a text says in UTF-16, signs for characters, base64 and hexadecimal digits, as lines. */
void check_decode(struct str text, struct buf *to);
/* privacy.c: a text file of the run. signature.c */
void check_privacy(struct run_check *r, const char *file, struct str text);
void check_secrets_in(struct check_state *k, const char *path, const char *where, const char *text); /* a name or a message; `where` goes before what is said of it */
void check_private_record(struct run_check *r); /* user and host, which a public run does not tell */
void check_signature(struct run_check *r);
/* seen.c: what has been seen under which id. */
void check_index_add_run(struct run_check *r);
void check_index_add_published(struct check_state *k, const struct folder *tree, const char *at); /* the runs of a tree in git that is published, and where it stands */
void check_duplicates(struct check_state *k); /* all runs are known: tells of copies */
void check_index_free(struct check_state *k);
#endif
