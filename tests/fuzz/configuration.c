/* configuration.c: any bytes as a configuration file: of the user, tracked in a repository, or of a clone. A plan comes out, and no file says more than it may. */
#include "plan/plan.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const files[] = {"../config/benchwrap/config.yaml", "benchwrap.yaml", ".benchwrap/config.yaml"};
enum { USER, TRACKED, CLONE, FILES, STRICT_USER = 4 };
static char top[] = "/tmp/benchwrap-fuzz-configuration.XXXXXX";

static void put(const char *path, const void *text, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, text, n) != (ssize_t)n || close(fd))
        abort();
}

static void leave(void)
{
    for (size_t i = 0; i < FILES; i++)
        unlink(files[i]);
    if (rmdir("mlruns") || rmdir(".benchwrap") || rmdir("../config/benchwrap") || rmdir("../config") || chdir("/"))
        return;
    char path[sizeof top + 8];
    snprintf(path, sizeof path, "%s/repo", top);
    rmdir(path);
    rmdir(top);
}

/* <top>/config/benchwrap and <top>/repo, the working directory. */
static void enter(void)
{
    if (top[sizeof top - 2] != 'X')
        return;
    if (!mkdtemp(top) || chdir(top) || setenv("HOME", top, 1) || unsetenv("XDG_CONFIG_HOME") || unsetenv("XDG_STATE_HOME") ||
        mkdir("config", 0755) || mkdir("config/benchwrap", 0755) || mkdir("repo", 0755) || chdir("repo") || mkdir("mlruns", 0755) ||
        mkdir(".benchwrap", 0755))
        abort();
    char path[sizeof top + 8];
    snprintf(path, sizeof path, "%s/config", top);
    setenv("XDG_CONFIG_HOME", path, 1);
    atexit(leave);
}

static bool is_one_of(const char *name, const char *const *list)
{
    while (*list && strcmp(*list, name) != 0)
        list++;
    return *list != NULL;
}

/* What no file of a repository may set. */
static void check_origins(const struct plan *p, int file)
{
    static const char *const tracked[] = {"experiment", "cluster", "profile", "commit", "param", "tag", "reference", NULL},
                             *const clone[] = {"experiment", "cluster", "profile", "commit", "param", "tag", "reference", "site", NULL};
    for (size_t i = 0; i < plan_rows_count; i++) {
        const struct opt_value *v = &p->opts.values[i];
        if (v->origin == OPT_REPOSITORY && !is_one_of(plan_rows[i].name, file == CLONE ? clone : tracked))
            abort();
        if (v->text && !v->where)
            abort();
    }
    for (const struct opt_value *v = opt_find(&p->opts, "tag"); v && v->text; v = v->next) {
        struct str tag = str_trim(str_of(v->text));
        if (v->origin == OPT_REPOSITORY && (str_starts(tag, "benchwrap.") || str_starts(tag, "mlflow.") || str_starts(tag, "site=")))
            abort();
    }
}

static void check_words(const struct plan *p)
{
    for (const struct plan_warning *w = p->warnings; w; w = w->next)
        for (const char *c = w->text; *c; c++)
            if ((unsigned char)*c < ' ' || *c == 0x7f)
                abort();
    if (!p->experiment || !*p->experiment || strlen(p->experiment) > 128 || strchr(p->experiment, '/') || !p->tree || p->tree[0] != '/')
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char stricter[] = "profile: public\n", marker[] = "profile: private\n";
    struct plan p;
    struct err err = {0};
    char none[] = "benchwrap", end[] = "--", program[] = "true", *argv[] = {none, end, program, NULL};
    if (size == 0)
        return 0;
    enter();
    int file = (data[0] & 3) % FILES;
    bool strict = (data[0] & STRICT_USER) && file != USER;
    put(files[TRACKED], marker, sizeof marker - 1); /* without it there is no repository */
    put(files[USER], stricter, strict ? sizeof stricter - 1 : 0);
    put(files[CLONE], "", 0);
    put(files[file], data + 1, size - 1);
    if (plan_make(&p, 3, argv, environ, &err)) /* what is wrong in a file that was found is a warning */
        abort();
    check_origins(&p, file);
    check_words(&p);
    if (strict && strcmp(opt_text(&p.opts, "profile"), "public") != 0)
        abort();
    plan_deinit(&p);
    return 0;
}
