/* campaign_prepare.c: steps before a campaign, each made once: images, programs, models. */
#include "base/fs.h"
#include "recipe/campaign.h"
#include "recipe/recipe_keys.h"

#include <fcntl.h>
#include <unistd.h>

enum { MARK_MAX = 400 };

static const char *prepare_lookup(void *context, struct str name)
{
    struct campaign *c = context;
    return str_is(name, "campaign") ? c->state.folder : NULL;
}

/* The mark of a step that was made: a file named by the hash of its command. */
static void step_mark(char *const *words, char ret[MARK_MAX])
{
    struct sha256 h;
    char hex[SHA256_HEX];
    sha256_init(&h);
    for (; *words; words++)
        sha256_add(&h, *words, strlen(*words) + 1);
    sha256_end(&h, hex);
    snprintf(ret, MARK_MAX, "prepared/%s", hex);
}

/* Executes one step of `prepare`, unless its mark or its `creates` exists. Sets the mark
 * afterwards. -1 with err: it failed, or did not create its file. */
static int make_step(struct campaign *c, const struct yaml *step, struct err *err)
{
    const char *name = recipe_scalar(c->recipe, step, "name", "prepare"), *creates = recipe_scalar(c->recipe, step, "creates", NULL), *why;
    char mark[MARK_MAX];
    int code;
    char **words = recipe_words(yaml_get(step, "command"), c->recipe->file, c->arena, err);
    struct campaign_seat seat = {.node = c->hosts.nodes[0].name, .host = c->hosts.nodes[0].address};
    if (!words)
        return -1;
    words = recipe_expand_words(words, prepare_lookup, c, c->arena);
    const char *created = creates ? recipe_expand_text(creates, prepare_lookup, c, c->arena) : NULL;
    if (!words || (creates && !created))
        return recipe_expand_fail(c->arena, name, err), err_wrap(err, "prepare");
    creates = created;
    step_mark(words, mark);
    if (creates ? access(creates, F_OK) == 0 : faccessat(c->state.dir, mark, F_OK, 0) == 0)
        return 0;
    campaign_say(c, "prepare: %s", name);
    if (campaign_start(c, &c->client, name, &seat, words, campaign_process_env(NULL, c->arena), false, c->arena, err))
        return -1;
    if (campaign_run_process(c, &c->client, 0, &code, &why))
        return err_set(err, ERR_SYSTEM, "prepare: %s: %.300s", name, why);
    if (code)
        return err_set(err, ERR_SYSTEM, "prepare: %s ended with exit status %d (%s/logs/%s.err)", name, code, c->state.folder,
                       campaign_log_name(name, &seat, c->arena));
    if (creates && access(creates, F_OK))
        return err_set(err, ERR_SYSTEM, "prepare: %s did not create %.300s", name, creates);
    return fs_mkdirs(c->state.dir, "prepared", 0700, err) || fs_write(c->state.dir, mark, STR(""), 0600, false, err) ? -1 : 0;
}

int campaign_prepare(struct campaign *c, struct err *err)
{
    const struct yaml *list = yaml_get(c->recipe->root, "prepare");
    for (const struct yaml *step = list ? list->child : NULL; step; step = step->next)
        if (make_step(c, step, err))
            return -1;
    return 0;
}
