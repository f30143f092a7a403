/* campaign_cluster.c: run a recipe on another cluster by ssh, and fetch its results. */
#include "recipe/campaign_cluster.h"

#include "base/fs.h"
#include "base/query.h"
#include "recipe/recipe_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { REMOTE_BYTES = 1 << 20, FETCH_BYTES = 1 << 30, COPY_MS = 60000, REMOTE_TURN_MS = 200, WRITE_TRIES = 600 };

/* ---- configuration ---- */

int campaign_cluster_read(struct campaign_cluster *ret, const char *file, const char *name, struct arena *a, struct err *err)
{
    CLEANUP_BUF struct buf text;
    struct yaml *root = NULL;
    const struct recipe r = {.arena = a, .file = file};
    buf_init(&text, RECIPE_FILE_MAX + 1);
    if (file && access(file, F_OK) == 0 &&
        (fs_read(AT_FDCWD, file, RECIPE_FILE_MAX, 0, &text, err) || yaml_parse(&root, file, buf_text(&text), a, err) ||
         recipe_keys_check(root, "clusters", file, err)))
        return -1;
    const struct yaml *map = yaml_get(yaml_get(root, "clusters"), name), *modules = yaml_get(map, "modules");
    *ret = (struct campaign_cluster){.name = name,
                                     .host = recipe_scalar(&r, map, "host", name),
                                     .user = recipe_scalar(&r, map, "user", getenv("MLUX_USER")),
                                     .key = recipe_scalar(&r, map, "key", getenv("MLUX_KEY")),
                                     .folder = recipe_scalar(&r, map, "folder", "benchwrap"),
                                     .benchwrap = recipe_scalar(&r, map, "benchwrap", "benchwrap"),
                                     .account = recipe_scalar(&r, map, "account", getenv("MLUX_ACCOUNT")),
                                     .partition = recipe_scalar(&r, map, "partition", NULL)};
    if (ret->host[0] == '-')
        return err_set(err, ERR_USAGE, "--cluster: expected a name, got \"%.60s\"", ret->host);
    ret->modules = modules && !yaml_is_null(modules) ? recipe_words(modules, file, a, err) : NULL;
    return modules && !yaml_is_null(modules) && !ret->modules ? -1 : 0;
}

/* ---- commands there ---- */

/* ssh gives its command to a shell there. */
static void put_remote_word(struct buf *to, const char *word)
{
    buf_putc(to, '\'');
    for (; *word; word++)
        if (*word == '\'')
            buf_puts(to, "'\\''");
        else
            buf_putc(to, *word);
    buf_putc(to, '\'');
}

static char **ssh_words(const struct campaign_cluster *c, const char *command, struct arena *a)
{
    char **words = arena_get(a, 12 * sizeof *words);
    size_t n = 0;
    if (!words || !command)
        return NULL;
    words[n++] = (char *)"ssh";
    words[n++] = (char *)"-o";
    words[n++] = (char *)"BatchMode=yes";
    if (c->key) {
        words[n++] = (char *)"-i";
        words[n++] = (char *)c->key;
    }
    if (c->user) {
        words[n++] = (char *)"-l";
        words[n++] = (char *)c->user;
    }
    words[n++] = (char *)c->host;
    words[n++] = (char *)"--";
    words[n++] = (char *)command;
    return words;
}

static int cluster_failed(const struct campaign_cluster *c, const char *what, const struct query *q, struct err *err)
{
    return err_set(err, ERR_REMOTE, "cannot %s on %.100s%s%.300s", what, c->name, q->why.n ? ": " : "", q->why.n ? q->why.p : "");
}

static int copy_recipe(const struct campaign_cluster *c, const struct recipe *r, struct arena *a, struct err *err)
{
    CLEANUP_BUF struct buf command;
    struct query q = QUERY_NONE;
    size_t at = 0, n = strlen(r->text);
    buf_init(&command, REMOTE_BYTES);
    buf_puts(&command, "mkdir -p ");
    put_remote_word(&command, c->folder);
    buf_puts(&command, " && cd ");
    put_remote_word(&command, c->folder);
    buf_printf(&command, " && cat >%s.yaml", r->name); /* a legal name: nothing in it means anything to a shell */
    char **words = command.failed ? NULL : ssh_words(c, command.p, a);
    if (!words)
        return err_memory(err, "the recipe");
    int rc = query_start(&q, words, environ, REMOTE_BYTES, COPY_MS, QUERY_INPUT | QUERY_NO_NICE, err);
    for (int tries = 0; rc == 0 && at < n && tries < WRITE_TRIES;) {
        ssize_t wrote = write(q.in, r->text + at, n - at);
        if (wrote > 0)
            at += (size_t)wrote;
        else if (errno != EINTR && errno != EAGAIN)
            break;
        else
            query_wait(&q, REMOTE_TURN_MS / 2), tries++;
    }
    if (rc == 0) {
        fs_close(&q.in);
        if (query_wait(&q, COPY_MS) != QUERY_DONE || q.status != 0 || at < n)
            rc = cluster_failed(c, "copy the recipe", &q, err);
    }
    query_close(&q);
    return rc;
}

static void put_environment(const struct campaign_cluster *c, struct buf *to)
{
    for (char **m = c->modules; m && *m; m++) {
        buf_puts(to, "module load ");
        put_remote_word(to, *m);
        buf_puts(to, " && ");
    }
    buf_puts(to, "cd ");
    put_remote_word(to, c->folder);
    buf_puts(to, " && ");
    if (c->account) { /* sbatch prefers these to the directives of the script */
        buf_puts(to, "SBATCH_ACCOUNT=");
        put_remote_word(to, c->account);
        buf_putc(to, ' ');
    }
    if (c->partition) {
        buf_puts(to, "SBATCH_PARTITION=");
        put_remote_word(to, c->partition);
        buf_putc(to, ' ');
    }
}

static int run_there(const struct campaign_cluster *c, const struct recipe *r, const char *options, struct arena *a, FILE *out, struct err *err)
{
    CLEANUP_BUF struct buf command;
    struct query q = QUERY_NONE;
    size_t shown = 0;
    buf_init(&command, REMOTE_BYTES);
    put_environment(c, &command);
    put_remote_word(&command, c->benchwrap);
    buf_printf(&command, " recipe run --submit --wait%s ./%s.yaml 2>&1", options, r->name);
    char **words = command.failed ? NULL : ssh_words(c, command.p, a);
    if (!words)
        return err_memory(err, "the recipe");
    if (query_start(&q, words, environ, REMOTE_BYTES, 0, QUERY_NO_NICE, err))
        return -1;
    enum query_end end;
    do {
        CLEANUP_BUF struct buf text;
        buf_init(&text, 4 * REMOTE_BYTES);
        end = query_wait(&q, REMOTE_TURN_MS);
        for (struct str rest = str_sub(buf_text(&q.text), shown, q.text.n), line; rest.p && memchr(rest.p, '\n', rest.n);) {
            line = str_cut(&rest, '\n');
            shown += line.n + 1;
            buf_plain(&text, line, 4000);
            buf_putc(&text, '\n');
        }
        fwrite(text.p ? text.p : "", 1, text.n, out);
        fflush(out);
    } while (end == QUERY_RUNS);
    int rc = end != QUERY_DONE || (q.status & 0x7f) || q.status >> 8 == 255 ? cluster_failed(c, "run the recipe", &q, err) : q.status ? 1 : 0;
    query_close(&q);
    return rc;
}

/* ---- results ---- */

/* Unpacks members of an archive below a folder; no name leads out of it (tar removes such prefixes). */
static int unpack_results(const char *archive, const char *folder, const char *member, unsigned strip, struct arena *a, struct err *err)
{
    char *words[] = {(char *)"tar", (char *)"--extract", arena_printf(a, "--file=%s", archive), (char *)"--skip-old-files", (char *)"--no-same-owner",
                     arena_printf(a, "--directory=%s", folder), arena_printf(a, "--strip-components=%u", strip), (char *)member, NULL};
    struct query q = QUERY_NONE;
    int rc = query_start(&q, words, environ, REMOTE_BYTES, COPY_MS * 10, QUERY_NO_NICE, err);
    if (rc == 0 && (query_wait(&q, COPY_MS * 10) != QUERY_DONE || q.status))
        rc = err_set(err, ERR_SYSTEM, "cannot unpack the results%s%.300s", q.why.n ? ": " : "", q.why.n ? q.why.p : "");
    query_close(&q);
    return rc;
}

static int fetch_results(const struct campaign_cluster *c, const struct recipe *r, const char *tree, struct arena *a, struct err *err)
{
    CLEANUP_BUF struct buf command;
    struct query q = QUERY_NONE;
    const char *slash = strrchr(tree, '/');
    const char *parent = arena_printf(a, "%.*s", (int)(slash ? slash - tree : 0), tree);
    const char *folder = arena_printf(a, "%s/.benchwrap/campaigns/%s@%s", parent, r->name, c->name);
    const char *member = arena_printf(a, ".benchwrap/campaigns/%s", r->name);
    const char *path = arena_printf(a, "%s/results.tar", folder);
    buf_init(&command, REMOTE_BYTES);
    buf_puts(&command, "cd ");
    put_remote_word(&command, c->folder);
    buf_printf(&command, " && tar --create --file=- mlruns .benchwrap/campaigns/%s", r->name);
    char **words = command.failed || a->failed ? NULL : ssh_words(c, command.p, a);
    if (!words)
        return err_memory(err, "the results");
    if (fs_mkdirs(AT_FDCWD, folder, 0700, err) || query_start(&q, words, environ, FETCH_BYTES, 0, QUERY_NO_NICE, err))
        return -1;
    while (query_wait(&q, REMOTE_TURN_MS) == QUERY_RUNS) {
    }
    int rc = q.end != QUERY_DONE || q.status ? cluster_failed(c, "fetch the results", &q, err) : fs_write(AT_FDCWD, path, buf_text(&q.text), 0600, false, err);
    query_close(&q);
    if (rc == 0)
        rc = unpack_results(path, parent[0] ? parent : "/", "mlruns", 0, a, err) || unpack_results(path, folder, member, 3, a, err) ? -1 : 0;
    unlink(path);
    return rc;
}

int campaign_cluster_run(const struct campaign_cluster *c, const struct recipe *r, const char *options, const char *tree, struct arena *a,
                         FILE *out, struct err *err)
{
    if (copy_recipe(c, r, a, err))
        return -1;
    int status = run_there(c, r, options, a, out, err);
    if (status < 0 || fetch_results(c, r, tree, a, err))
        return -1;
    fprintf(out, "the results are in %s; benchwrap recipe report %s@%s\n", tree, r->name, c->name);
    return status;
}
