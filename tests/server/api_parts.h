/* api_parts.h: what the parts of the API in memory share: one request under way, and what replies hold. */
#ifndef SERVER_API_PARTS_H
#define SERVER_API_PARTS_H
#include "base/json.h"
#include "server/api.h"
#include "server/store.h"

/* One request under way. */
struct call {
    struct store *s;
    struct str path, query, body;
    const char *method, *host;
    struct json *j; /* the body, where it is JSON */
    struct answer *a;
};

/* api_reply.c: the body of a reply; the first three replace it by an error. */
void reply_say(struct call *c, int status, const char *code, const char *text);
void reply_invalid(struct call *c, const char *text);
void reply_absent(struct call *c, const char *text);
void reply_text(struct buf *b, const char *key, const char *value);
void reply_pairs(struct buf *b, const char *name, const struct pairs *pairs);
void reply_sample(struct buf *b, const char *key, const struct sample *s);
void reply_info(struct buf *b, const struct run *r);
void reply_run(struct buf *b, const struct run *r);
void reply_experiment(struct buf *b, const struct experiment *e);
/* What was asked: a text decoded from an address; a value of the query, decoded, or of the body: "" if it is not there. */
char *call_decoded(struct str s);
const char *call_asked(const struct call *c, const char *name);
const char *call_text(const struct call *c, const char *key);

/* api_calls.c: experiments, runs, metrics. The run that is asked for; NULL: there is none, and the reply says so. */
struct run *call_run(struct call *c);
void experiment_create(struct call *c);
void experiment_get(struct call *c);
void experiment_search(struct call *c);
void experiment_change(struct call *c);
void run_create(struct call *c);
void run_get(struct call *c);
void run_update(struct call *c);
void run_life(struct call *c);
void run_search(struct call *c);
void run_tag(struct call *c);
void log_batch(struct call *c);
void log_inputs(struct call *c);
void history(struct call *c);

/* api_artifacts.c: what runs keep as files. path, rest: what stands in the address behind .../artifacts/ or .../mpu/. */
void artifacts_list(struct call *c);
void artifact(struct call *c, struct str path);
void multipart(struct call *c, struct str rest);
void storage_part(struct call *c);
#endif
