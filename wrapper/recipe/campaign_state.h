/* campaign_state.h: what a campaign has done, in its folder: one line for each event, synced, so that it
 * can be resumed after any end. */
#ifndef RECIPE_CAMPAIGN_STATE_H
#define RECIPE_CAMPAIGN_STATE_H
#include "base/json.h"
#include "recipe/recipe_point.h"

#include <sys/types.h>

#define CAMPAIGN_FILE "campaign.json"
#define CAMPAIGN_EVENTS "points.jsonl"
#define CAMPAIGN_LIVE "live.json" /* of campaign_live.h */
#define CAMPAIGN_CUSTOM "custom.samples" /* of campaign_monitor.h: a line for each sample: time in ms, name, value */
#define CAMPAIGN_JOB "job" /* id of the job that was submitted last */
enum { CAMPAIGN_EVENTS_MAX = 256 << 20 }; /* bytes */
#define CAMPAIGN_RECIPE "recipe.yaml" /* the own form, as it was executed last */

#define CAMPAIGN_NODES "nodes" /* of --each-node */

/* How a point ended. Each is a word of its own in records and reports. */
enum campaign_outcome {
    OUTCOME_NEVER_RAN,
    OUTCOME_VALID,
    OUTCOME_INVALID, /* measured, and a condition of the gate is not met */
    OUTCOME_FAILED, /* a service or the client failed */
    OUTCOME_CANCELLED,
    OUTCOME_REFUSED, /* by preflight */
    OUTCOME_COUNT
};
/* Returns the word of an outcome for people and files, such as "valid". */
const char *campaign_outcome_word(enum campaign_outcome outcome);

/* One run of a point: begun, and maybe ended. */
struct campaign_run {
    char id[33];
    size_t repetition, order; /* order: over all runs of the campaign */
    bool warmup, ended;
    int exit;
    const char *invalid; /* why the gate refused it; "" it did not */
    int64_t start_ms, end_ms;
    struct campaign_run *next;
};

/* The points of earlier executions and of this one, by the hash of their values. */
struct campaign_point {
    char id[SHA256_HEX], hash[SHA256_HEX];
    const char *label, *reason, *parent; /* parent: id of the run that has its runs */
    enum campaign_outcome outcome;
    int64_t start_ms, end_ms;
    const char *objective; /* condition of a search that the point was compared with; "": none */
    bool met;
    double phase_s[8]; /* campaign_phase; < 0: it was not reached */
    struct campaign_run *runs; /* in their order */
    struct campaign_point *next;
};

enum campaign_phase { PHASE_PREFLIGHT, PHASE_DEPLOY, PHASE_READY, PHASE_WARMUP, PHASE_MEASURE, PHASE_TEARDOWN, PHASE_COUNT };
/* Returns the word of a phase for people and files, such as "deploy". */
const char *campaign_phase_word(enum campaign_phase phase);

struct campaign_program {
    const char *path;
    char hash[SHA256_HEX]; /* "": not known */
    bool is_image; /* of a container; not stored, so false of earlier executions */
    struct campaign_program *next;
};

struct campaign_state {
    struct arena arena;
    const char *folder; /* absolute */
    int dir, lock, events; /* descriptors; -1: none */
    const char *recipe; /* path of the recipe as it was named */
    char parent[33]; /* id of the parent run */
    int64_t begun_ms;
    bool closed; /* the parent run is published */
    struct campaign_program *programs;
    struct campaign_point *points, **points_end;
};

/* Opens or makes the folder and reads its state. write: claims it (below), and acquires the lock of
 * the one execution. 0; 1: there is no campaign (without write), or another process executes it
 * (with write); -1 with err. */
int campaign_state_open(struct campaign_state *ret, const char *folder, bool write, struct err *err);
/* Checks that no other user may change what the open folder has: which points are finished, which process stops. 0; -1 with err. */
int campaign_state_claim(const struct campaign_state *s, struct err *err);
/* Moves the files of a finished or given-up execution into a subfolder, and begins again. */
int campaign_state_restart(struct campaign_state *s, struct err *err);
/* Writes campaign.json. */
int campaign_state_save(struct campaign_state *s, struct err *err);
/* Returns the point of this id; NULL: the campaign has not begun it. */
struct campaign_point *campaign_point_find(const struct campaign_state *s, const char *id);
/* Returns the point of this id, which is made where it does not exist, with the label and hash of today.
 * NULL: out of memory. */
struct campaign_point *campaign_point_add(struct campaign_state *s, const struct recipe_point *p);
/* These three append an event to points.jsonl and sync it. 0; -1 with err. */
int campaign_note_begin(struct campaign_state *s, struct campaign_point *p, const struct campaign_run *run, struct err *err);
int campaign_note_end(struct campaign_state *s, struct campaign_point *p, const struct campaign_run *run, struct err *err);
int campaign_note_point(struct campaign_state *s, struct campaign_point *p, struct err *err);
/* The process that executes the campaign. It may run on another node, where its pid has no meaning here. */
struct campaign_owner {
    pid_t pid; /* 0: none */
    char host[256];
    char job[64]; /* of the scheduler; "": none */
};
/* Returns the process that holds the campaign's lock, as it wrote itself into the lock's file; pid
 * 0: no process holds the lock, or the file cannot be read. */
struct campaign_owner campaign_state_owner(const struct campaign_state *s);
/* Sets ret to the name of this host, as the owner has it; "": not known. */
void campaign_own_host(char *ret, size_t size);
/* Closes the folder, which releases the lock, and frees the state. */
void campaign_state_close(struct campaign_state *s);
#endif
