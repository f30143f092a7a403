/* upload_state.c: what is known to be on a server, which saves requests: one small file a run. Its
 * loss is harmless. */
#include "base/json_out.h"
#include "base/fs.h"
#include "base/place.h"
#include "base/sha256.h"
#include "mlflow/sent_notes.h"
#include "mlflow/upload_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum { STATE_MAX = 16 << 10, STATE_LEVELS = 3 };

static const char *const words[] = {"", "complete", "deleted", "again"};

/* Opens .benchwrap/sync/<16 digits of the address' sum> once; u->state owns it. Each file contains
 * the address itself (two names of one server are two). -1: none, or it cannot be opened; with make
 * a failure is reported once. */
static int upload_state_folder(struct upload *u, bool make)
{
    char sum[SHA256_HEX], path[4200];
    struct err err = {0};
    if (u->state >= 0 || !u->config.state || u->state_failed)
        return u->state;
    sha256_of(mlflow_uri(u->m), strlen(mlflow_uri(u->m)), sum);
    snprintf(path, sizeof path, "%s/%.16s", u->config.state, sum);
    u->state = place_open_below(path, STATE_LEVELS, make ? 0700 : 0);
    if (u->state >= 0 && !place_is_own(u->state)) { /* what another user noted decides nothing */
        fs_close(&u->state);
        errno = EPERM;
    }
    if (u->state < 0 && make) {
        u->state_failed = true;
        err_sys(&err, "cannot open %s", path);
        upload_note(u, "cannot note what is done, so the next sync will query the server: %s", err.text);
    }
    return u->state;
}

/* Returns whether the server has lost the experiment or is another one now. Notes about the old one
 * would prevent every later upload. A server that does not answer has lost nothing. */
static bool is_gone(struct upload *u, const struct upload_state *s)
{
    int64_t ms;
    if (!s->experiment[0])
        return false;
    for (size_t i = 0; i < UPLOAD_ASKED; i++)
        if (strcmp(u->asked[i].id, s->experiment) == 0 && u->asked[i].ms == s->experiment_ms)
            return u->asked[i].gone;
    enum mlflow_answer answer = mlflow_experiment_made(u->m, s->experiment, &ms, NULL);
    bool gone = answer == MLFLOW_ABSENT || (answer == MLFLOW_FINE && ms && s->experiment_ms && ms != s->experiment_ms);
    __typeof__(u->asked[0]) *to = &u->asked[u->next_asked++ % UPLOAD_ASKED];
    snprintf(to->id, sizeof to->id, "%s", s->experiment);
    to->ms = s->experiment_ms;
    to->gone = gone;
    if (gone)
        upload_note(u, "the server has lost what it had, or is another one now: what was noted of its experiment %.64s does not count",
                    s->experiment);
    return gone;
}

void upload_state_read(struct upload *u, const char *id, struct upload_state *ret)
{
    int dir = upload_state_folder(u, false);
    struct json *j = dir < 0 ? NULL : sent_note_load(dir, id);
    *ret = (struct upload_state){.known = KNOWN_NOTHING};
    if (!j)
        return;
    const char *word = json_string(json_get(j, "known"), "");
    for (size_t i = 1; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0 && strcmp(json_string(json_get(j, "server"), ""), mlflow_uri(u->m)) == 0)
            ret->known = (enum upload_known)i;
    snprintf(ret->server_id, sizeof ret->server_id, "%s", json_string(json_get(j, "run"), ""));
    snprintf(ret->stamp, sizeof ret->stamp, "%s", json_string(json_get(j, "content"), ""));
    snprintf(ret->experiment, sizeof ret->experiment, "%s", json_string(json_get(j, "experiment"), ""));
    ret->experiment_ms = json_integer(json_get(j, "made"), 0);
    json_free(j);
    if (ret->known != KNOWN_NOTHING && is_gone(u, ret))
        *ret = (struct upload_state){.known = KNOWN_NOTHING};
}

void upload_state_write(struct upload *u, const char *id, const struct upload_state *s)
{
    CLEANUP_BUF struct buf b = {0};
    struct err err = {0};
    int dir = upload_state_folder(u, true);
    if (dir < 0 || u->state_failed)
        return;
    buf_init(&b, STATE_MAX);
    struct json_out j = json_begin(&b, JSON_TIGHT, '{');
    json_text(&j, "server", mlflow_uri(u->m));
    json_text(&j, "run", s->server_id);
    json_text(&j, "known", words[s->known]);
    json_text(&j, "content", s->stamp);
    json_text(&j, "experiment", s->experiment);
    json_int(&j, "made", s->experiment_ms);
    json_close(&j, '}');
    buf_putc(&b, '\n');
    if (fs_write(dir, id, buf_text(&b), 0600, false, &err)) {
        u->state_failed = true;
        upload_note(u, "cannot note what is done, so the next sync will query the server: %s", err.text);
    }
}
