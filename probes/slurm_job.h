/* slurm_job.h: parses what `scontrol show job` prints about one job, as JSON (data_parser and openapi 0.0.37 to 0.0.44) or as text.
 *
 * Job names, comments, commands and paths are their user's: they may hold line breaks, "=", escape
 * bytes, complete lines in the form of scontrol's. JSON
 * shows where a text ends; of the text form only fields before the first free text behind the job's
 * name count, in the order in which scontrol
 * prints them, each once. Where two records could be meant, none is believed. */
#ifndef PROBES_SLURM_JOB_H
#define PROBES_SLURM_JOB_H
#include "base/buf.h"
#include "base/err.h"
#include "probes/probe.h"

enum slurm_field {
#define FIELD(id, kind, json, text, fact, key) SLURM_##id,
#include "probes/slurm_job.def"
#undef FIELD
    SLURM_FIELDS
};

struct slurm_job {
    struct arena arena;
    struct str field
        [SLURM_FIELDS]; /* n == 0: not reported. Valid UTF-8 without control characters; TIME and COUNT are digits, DURATION seconds or "unlimited" */
};

/* Who is meant: the first three as in the environment. */
struct slurm_who {
    const char *id; /* SLURM_JOB_ID */
    const char *array; /* SLURM_ARRAY_JOB_ID, NULL: none */
    const char *name; /* SLURM_JOB_NAME, NULL: not known. It distinguishes a job's name with line breaks from scontrol's lines */
};

enum { SLURM_REPLY_MAX = 32 << 20 /* bytes: 1,000 nodes of 128 cores are 8 MB of JSON */, SLURM_TEXT_MAX = 4000 /* of one field */ };

/* Parse the reply about the job `who`. Return 0, or -1 with ERR_INPUT where the reply is not about
 * that job. The caller calls slurm_job_deinit in either case. */
int slurm_job_parse_json(struct slurm_job *ret, struct str reply, const struct slurm_who *who, struct err *err);
int slurm_job_parse_text(struct slurm_job *ret, struct str reply, const struct slurm_who *who, struct err *err);
void slurm_job_deinit(struct slurm_job *job);

/* The fields as lines "NAME text", and back from such lines (unknown names are skipped). */
void slurm_job_print(const struct slurm_job *job, struct buf *to);
void slurm_job_read(struct slurm_job *ret, struct str lines);
/* Seconds since 1970, 0: not known. */
int64_t slurm_job_ends_s(const struct slurm_job *job);
/* Records the fields as facts, except those that the record has already from the environment. */
void slurm_job_emit(const struct slurm_job *job, struct host *h, struct record *r);

/* For the parsers: the rows of slurm_job.def. */
struct slurm_row {
    const char *name;
    enum { SLURM_WORD, SLURM_COUNT, SLURM_TIME, SLURM_DURATION, SLURM_FREE } kind;
    const char *json, *text; /* pointers and keys, in the order in which they are tried */
    enum fact_kind fact; /* FACT_PARAM or FACT_TAG */
    const char *key;
};
extern const struct slurm_row slurm_rows[SLURM_FIELDS];
/* Cleans and stores a value, the first one for its field; leaves out scontrol's words for none. */
void slurm_job_store(struct slurm_job *job, enum slurm_field field, struct str value);
#endif
