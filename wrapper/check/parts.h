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
    struct str path; /* below the run's folder, ends in a NUL */
    uint64_t size; /* bytes */
    char sha256[SHA256_HEX]; /* "": not read, too large or unreadable */
    unsigned char id[32]; /* names the content: git's object id, else the SHA-256; rest zero */
};

/* A param or tag with its text, or a metric with its samples. */
struct check_entry {
    char kind; /* 'p' 't' 'm' */
    const char *key;
    struct str value; /* 'm': the file's text; ends in a NUL */
    const struct check_sample {
        int64_t time_ms, step;
        double value;
        struct str text;
    } * samples;
    size_t count; /* samples; lines that are no sample do not count */
};

/* A member of the record's params, tags or metrics. */
struct check_member {
    const char *key;
    const struct json *value;
    size_t at; /* its place in the record */
};

struct run_check {
    struct check_state *k;
    const struct folder *folder;
    const char *path; /* "mlruns/<exp>/<run>" */
    const char *experiment, *id; /* the names of the two folders */
    struct arena a; /* freed at the end of the run */
    struct check_file *files; /* sorted by path once all are known */
    size_t count, room;
    size_t folders; /* which count for the limit of files: a small repository can name the same ones very often */
    struct check_entry *entries; /* sorted by kind and key once all are known */
    size_t entry_count, entry_room;
    uint64_t bytes, unpacked; /* bytes of its files; of the content of compressed ones */
    bool limited; /* a limit was reached: some files were not checked */
    bool unverifiable; /* no stored output shows some of its metrics */
    struct tree_meta meta;
    bool meta_good; /* meta.yaml has no finding */
    struct json *record; /* benchwrap.json; NULL: absent or damaged */
    struct check_members {
        struct check_member *list; /* sorted by key; NULL: not made (run_members_make), or out of memory */
        size_t count;
    } params, tags, metrics; /* of the record */
    struct str record_text, manifest_text, rules_text; /* complete, end in a NUL; p NULL: absent */
};

/* Reports a finding, as check_found, for a file of the run ("": the run itself). */
void run_found(struct run_check *r, enum check_id id, const char *file, unsigned line, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Return the file or entry; NULL: there is none. Require that all are known. */
const struct check_file *run_file(const struct run_check *r, const char *path);
const struct check_entry *run_entry(const struct run_check *r, char kind, const char *key);
/* Returns the text of a param or tag, which ends in a NUL. NULL: there is none. */
const char *run_text(const struct run_check *r, char kind, const char *key);
/* Returns the metric's value of the largest step in its file; `otherwise`: it has none. */
double run_number(const struct run_check *r, const char *key, double otherwise);

/* record.c: sorts the members of the record for run_member; does nothing if that was done. Requires
 * r->record. */
void run_members_make(struct run_check *r);
/* Returns the record's entry of a param, tag or metric, the first of duplicates. NULL: there is
 * none, or out of memory in run_members_make. */
const struct json *run_member(const struct check_members *of, const char *key);

/* check.c: returns true, and reports it at `path`, when the limit of bytes or files of all runs
 * together is reached. */
bool check_is_full(struct check_state *k, const char *path);
/* check.c: returns whether it is the name of an experiment's folder, a number from 1 to 2147483647.
 * name.p may continue behind name.n. */
bool check_is_experiment(struct str name);

/* names.c: reports what is wrong with one name of a folder; `path` is its full path. False: the
 * name leads elsewhere ("..", a slash) and must not be used. */
bool check_file_name(struct check_state *k, struct str name, const char *path);
/* Returns the same key for all names that a file system may treat as one: case and form of letters
 * do not count. In the arena; NULL: out of memory. */
const char *check_name_folded(struct str name, struct arena *a);

/* entries.c: check a file of params/, tags/ (kind 'p', 't') or metrics/, and add it to r->entries;
 * not out of memory, which sets r->a.failed. */
void check_text_entry(struct run_check *r, char kind, const char *key, const char *file, struct str text);
void check_metric_entry(struct run_check *r, const char *key, const char *file, struct str text);

/* record.c, manifest.c: compare benchwrap.json and manifest.json with the files. check_record sets
 * r->record. Both report what is absent or damaged. */
void check_record(struct run_check *r);
void check_manifest(struct run_check *r);
/* tags.c: checks the tags: MLflow's, the site's name, those that name other runs, and counts runs
 * that annotate, amend or retract; those that repeat the record only where r->record is there.
 * After check_meta and check_record. */
void check_tags(struct run_check *r);
/* claims.c: checks the run's verdict, references and checks against its own metrics, which no
 * output shows. */
void check_claims(struct run_check *r);
/* active.c: reports a file with active content, which may run code or load other files when it is
 * opened or displayed. One finding a file at most. */
void check_active(struct run_check *r, const char *file, struct str text);
/* times.c: compares start, end, samples and durations with each other. Requires r->meta_good. */
void check_times(struct run_check *r);
/* verify.c: reads the stored output again by the run's rules, and reports what differs. bounds.c:
 * reports metrics above what the recorded hardware can reach. Both require r->record. */
void check_verify(struct run_check *r);
void check_bounds(struct run_check *r);
/* unpack.c: appends the content of a compressed file, at most `most` bytes; nothing for another
 * file. Returns why there is content that was not unpacked, a static text; NULL: there is none. */
const char *check_unpack(struct str data, size_t most, struct buf *to);
/* decode.c: appends as lines what a text encodes in UTF-16, escapes, base64 or hexadecimal. Returns
 * why a part of it is left out, as check_unpack; NULL: all is there. */
const char *check_decode(struct str text, struct buf *to);
/* privacy.c: reports secrets and personal data in a file of the run, and in compressed content. */
void check_privacy(struct run_check *r, const char *file, struct str text);
/* privacy.c: reports the secrets in a name or message (NULL: none) as findings of `path`;
 * `where` begins their text. */
void check_secrets_in(struct check_state *k, const char *path, const char *where, const char *text);
/* privacy.c: reports a host, and a user but the site, in the record of a
 * public run. */
void check_private_record(struct run_check *r);
/* signature.c: checks the site's signature over the manifest, if k->signers is set. */
void check_signature(struct run_check *r);
/* index.c: adds the run to the index of check: its id and relatives, and hashes of its values,
 * its times and its output. Out of memory: it is not added. */
void check_index_add_run(struct run_check *r);
/* index.c: adds the published runs of a tree in git; `at` is the tree's name in paths. */
void check_index_add_published(struct check_state *k, const struct folder *tree, const char *at);
/* duplicates.c: reports the same id, values, times or output twice, and circles of parents and
 * corrections. Requires that all runs are known. */
void check_duplicates(struct check_state *k);
/* index.c: frees the index. */
void check_index_free(struct check_state *k);
#endif
