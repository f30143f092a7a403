/* upload_facts.c: facts on their way to a server's run: legal keys, cut values, step by step. */
#include "base/fs.h"
#include "base/json.h"
#include "base/place.h"
#include "mlruns-format/key.h"
#include "mlflow/upload_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum { PLACE_BYTES = 1 << 30, CUT_BYTES = 4000 };

void upload_place_init(struct upload_place *p)
{
    arena_init(&p->arena, PLACE_BYTES);
    buf_init(&p->cut, CUT_BYTES);
    batch_begin(&p->batch, p->u->m, NULL);
}

void upload_close(struct upload_place *p)
{
    batch_end(&p->batch);
    buf_deinit(&p->cut);
    json_free(p->run.reply);
    arena_deinit(&p->arena);
    p->run.reply = NULL;
}

/* Returns whether the server accepts the key. MLflow's own rule allows more than the tree's format:
 * letters of all languages, and ':'. What such a rule accepts is a file's path here. */
static bool server_takes(struct str key)
{
    size_t characters = 0;
    for (size_t i = 0; i < key.n;) {
        size_t n = str_utf8(key.p + i, key.n - i);
        if (n == 0 || (n == 1 && !strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/.-: ", key.p[i])))
            return false;
        i += n;
        characters++;
    }
    return key.n > 0 && characters <= KEY_MAX && memchr(key.p, 0, key.n) == NULL;
}

/* Returns the key as the server accepts it. */
static struct str upload_legal_key(struct upload_place *p, const char *key)
{
    CLEANUP_BUF struct buf made = {0};
    struct str s = str_of(key);
    if (server_takes(s))
        return s;
    buf_init(&made, 4 * KEY_MAX + 64);
    key_make(&made, s);
    upload_note(p->u, "run %.8s: the server rejects the key \"%.80s\": it is \"%.80s\" there", p->id, key, made.p ? made.p : "");
    s = buf_text(&made);
    return (struct str){arena_dup(&p->arena, s.p ? s.p : "_", s.n), s.n};
}

void upload_note_cut(struct upload_place *p, bool param, struct str key)
{
    const char *kind = param ? "param:" : "tag:";
    for (struct str rest = buf_text(&p->cut); rest.n;) { /* named once */
        struct str named = str_trim(str_cut(&rest, ','));
        if (str_starts(named, kind) && str_eq(str_sub(named, strlen(kind), named.n), key))
            return;
    }
    bool fits = p->cut.n + key.n + 40 < CUT_BYTES;
    if (fits)
        buf_printf(&p->cut, "%s%s" STR_FMT, p->cut.n ? ", " : "", kind, STR_ARG(key));
    else if (!str_ends(buf_text(&p->cut), ", ..."))
        buf_puts(&p->cut, ", ...");
}

void upload_pair(struct upload_place *p, bool param, const char *key, struct str value)
{
    size_t cut = p->batch.cut;
    struct str k = upload_legal_key(p, key);
    if (param)
        batch_param(&p->batch, k, value);
    else
        batch_tag(&p->batch, k, value);
    if (p->batch.cut > cut)
        upload_note_cut(p, param, k);
}

const char *upload_metric_key(const struct upload *u, const char *key, struct arena *a)
{
    bool apart = u->config.machine_apart && !key_is_result(key) && strncmp(key, "system/", 7) != 0 && strcmp(key, "run.wall_s") != 0 &&
                 strcmp(key, "run.wall_s.median") != 0;
    const char *name = apart ? arena_printf(a, "system/%s", key) : key;
    return name ? name : key;
}

void upload_sample(struct upload_place *p, const char *key, const struct tree_sample *s)
{
    batch_metric(&p->batch, upload_legal_key(p, upload_metric_key(p->u, key, &p->arena)), s->value, s->time_ms, s->step);
}

bool upload_tag_stays(const char *key)
{
    return strncmp(key, "mlflow.", 7) == 0 || strcmp(key, UPLOAD_TAG_ID) == 0 || strcmp(key, UPLOAD_TAG_SERVER_RUN) == 0;
}

bool upload_is_server_tag(const char *key)
{
    static const char *const tags[] = {UPLOAD_TAG_SYNCED,    UPLOAD_TAG_CORRECTED, UPLOAD_TAG_CUT,
                                       UPLOAD_TAG_DUPLICATE, UPLOAD_TAG_PARENT,    "benchwrap.experiment"};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (strcmp(key, tags[i]) == 0)
            return true;
    return false;
}

void upload_fact(struct upload_place *p, const struct fact *fact)
{
    char key[4096]; /* the record's keys are far shorter */
    snprintf(key, sizeof key, STR_FMT, STR_ARG(fact->key));
    struct tree_sample sample = {fact->time_ms, fact->step, fact->value};
    if (fact->kind == FACT_METRIC)
        upload_sample(p, key, &sample);
    else if (fact->kind == FACT_PARAM)
        upload_pair(p, true, key, fact->text);
    else if (fact->kind == FACT_TAG && strcmp(key, "mlflow.parentRunId") != 0 && strcmp(key, UPLOAD_TAG_ID) != 0 &&
             strcmp(key, "mlflow.runName") != 0 && !(p->foreign && upload_tag_stays(key)))
        upload_pair(p, false, key, fact->text);
}

enum mlflow_answer upload_flush(struct upload_place *p, struct err *err)
{
    if (p->cut.n > p->cut_told)
        batch_tag(&p->batch, STR(UPLOAD_TAG_CUT), buf_text(&p->cut));
    enum mlflow_answer answer = batch_send(&p->batch);
    if (answer != MLFLOW_FINE)
        *err = p->batch.err;
    else
        p->cut_told = p->cut.n;
    return answer;
}

enum mlflow_answer upload_status(struct upload_place *p, enum run_status status, int64_t end_ms, struct err *err)
{
    const char *name = (int)status == 2 ? "SCHEDULED" : record_status_name(status);
    return mlflow_run_update(p->u->m, p->run.id, name, end_ms, NULL, err);
}
