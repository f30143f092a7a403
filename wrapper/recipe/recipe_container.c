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

/* A runtime is a word of the command line. pyxis is none: srun starts its containers. */
static const struct container_form {
    const char *runtime, *start[4], *gpus[3], *bind, *env; /* env NULL: it passes the environment on */
} container_forms[] = {
    {"apptainer", {"exec"}, {"--nv"}, "--bind", NULL},
    {"singularity", {"exec"}, {"--nv"}, "--bind", NULL},
    {"podman", {"run", "--rm", "--network=host"}, {"--device", "nvidia.com/gpu=all"}, "--volume", "--env"},
    {"enroot", {"start"}, {NULL}, "--mount", "--env"},
};

static const struct container_form *find_container_form(const char *runtime)
{
    for (size_t i = 0; runtime && i < sizeof container_forms / sizeof *container_forms; i++)
        if (strcmp(container_forms[i].runtime, runtime) == 0)
            return &container_forms[i];
    return NULL;
}

static void container_add_list(struct container_line *l, char *const *words)
{
    for (; words && *words; words++)
        container_add(l, *words);
}

char **recipe_container_words(const struct recipe_container *c, char *const *env, char *const *secrets, char **command, struct arena *a)
{
    const struct container_form *form = find_container_form(c->runtime);
    struct container_line l = {.a = a};
    if (!form)
        return command;
    l.room = 16 + list_length(command) + 2 * (list_length(c->binds) + list_length(env) + list_length(secrets)) + list_length(c->options);
    l.words = arena_get(a, (l.room + 1) * sizeof *l.words);
    if (!l.words)
        return NULL;
    container_add(&l, c->runtime);
    container_add_list(&l, (char *const *)form->start);
    if (c->gpus)
        container_add_list(&l, (char *const *)form->gpus);
    container_add_binds(&l, form->bind, c->binds);
    if (form->env)
        container_add_env(&l, form->env, env, secrets);
    container_add_list(&l, c->options);
    container_add(&l, c->image);
    container_add_list(&l, command);
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
    container_add_list(&l, c->options);
    return a->failed ? NULL : l.words;
}
