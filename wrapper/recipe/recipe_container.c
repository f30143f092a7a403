/* recipe_container.c: the command line of a container's program, without a shell and without values of secrets. */
#include "recipe/recipe_point.h"

struct container_line {
    char **words;
    size_t count, room;
    struct arena *a;
};

static void container_add(struct container_line *l, const char *word)
{
    if (!word)
        l->a->failed = true;
    else if (l->count < l->room)
        l->words[l->count++] = (char *)word;
}

static size_t list_length(char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

/* Variables by name: their values stay in the environment. */
static void container_add_env(struct container_line *l, const char *option, char *const *env, char *const *secrets)
{
    for (; env && *env; env++) {
        container_add(l, option);
        container_add(l, arena_printf(l->a, "%.*s", (int)strcspn(*env, "="), *env));
    }
    for (; secrets && *secrets; secrets++) {
        container_add(l, option);
        container_add(l, *secrets);
    }
}

static void container_add_binds(struct container_line *l, const char *option, char *const *binds)
{
    for (; binds && *binds; binds++) {
        container_add(l, option);
        container_add(l, *binds);
    }
}

char **recipe_container_words(const struct recipe_container *c, char *const *env, char *const *secrets, char **command, struct arena *a)
{
    struct container_line l = {.a = a};
    if (!c->runtime || strcmp(c->runtime, "pyxis") == 0)
        return command;
    l.room = 16 + list_length(command) + 2 * (list_length(c->binds) + list_length(env) + list_length(secrets)) + list_length(c->options);
    l.words = arena_get(a, (l.room + 1) * sizeof *l.words);
    if (!l.words)
        return NULL;
    container_add(&l, c->runtime);
    if (strcmp(c->runtime, "podman") == 0) {
        container_add(&l, "run");
        container_add(&l, "--rm");
        container_add(&l, "--network=host");
        if (c->gpus) {
            container_add(&l, "--device");
            container_add(&l, "nvidia.com/gpu=all");
        }
        container_add_binds(&l, "--volume", c->binds);
        container_add_env(&l, "--env", env, secrets);
    } else if (strcmp(c->runtime, "enroot") == 0) {
        container_add(&l, "start");
        container_add_binds(&l, "--mount", c->binds);
        container_add_env(&l, "--env", env, secrets);
    } else { /* apptainer and singularity pass the environment on */
        container_add(&l, "exec");
        if (c->gpus)
            container_add(&l, "--nv");
        container_add_binds(&l, "--bind", c->binds);
    }
    for (char **o = c->options; o && *o; o++)
        container_add(&l, *o);
    container_add(&l, c->image);
    for (; *command; command++)
        container_add(&l, *command);
    return a->failed ? NULL : l.words;
}

/* --OPTION=A,B,… of the part of each text before `end`. */
static void container_add_joined(struct container_line *l, struct buf *joined, char *const *list, const char *end)
{
    for (; list && *list; list++)
        buf_printf(joined, "%s%.*s", joined->p[joined->n - 1] == '=' ? "" : ",", (int)strcspn(*list, end), *list);
    l->a->failed |= joined->failed;
}

char **recipe_pyxis_options(const struct recipe_container *c, char *const *env, char *const *secrets, struct arena *a)
{
    struct container_line l = {.a = a, .room = 4 + list_length(c->options)};
    struct buf mounts CLEANUP_BUF, names CLEANUP_BUF;
    buf_init(&mounts, 1 << 20);
    buf_init(&names, 1 << 20);
    l.words = arena_get(a, (l.room + 1) * sizeof *l.words);
    if (!l.words)
        return NULL;
    container_add(&l, arena_printf(a, "--container-image=%s", c->image));
    buf_puts(&mounts, "--container-mounts=");
    container_add_joined(&l, &mounts, c->binds, "");
    if (list_length(c->binds))
        container_add(&l, arena_dup(a, mounts.p, mounts.n));
    buf_puts(&names, "--container-env=");
    container_add_joined(&l, &names, env, "=");
    container_add_joined(&l, &names, secrets, "");
    if (list_length(env) + list_length(secrets))
        container_add(&l, arena_dup(a, names.p, names.n));
    for (char **o = c->options; o && *o; o++)
        container_add(&l, *o);
    return a->failed ? NULL : l.words;
}
