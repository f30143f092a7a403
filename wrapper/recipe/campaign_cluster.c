/* campaign_cluster.c: run a recipe on another cluster by ssh, and fetch its results. */
#include "recipe/campaign_cluster.h"

#include "base/fs.h"
#include "base/place.h"
#include "base/query.h"
#include "base/shell_word.h"
#include "mlruns-format/tree.h"
#include "recipe/campaign_state.h"
#include "recipe/recipe_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REMOTE_BYTES = 1 << 20, FETCH_BYTES = 1 << 30, COPY_MS = 60000, REMOTE_TURN_MS = 200 };

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

/* Returns the words of an ssh that runs the command, NULL-terminated, in the arena. ssh passes the
 * command to a shell there: the caller quotes its words. NULL: out of memory. */
static char **ssh_words(const struct campaign_cluster *c, const char *command, struct arena *a)
{
    static const char *const options[] = {"BatchMode=yes", "ConnectTimeout=30", "ServerAliveInterval=20", "ServerAliveCountMax=3"};
    char **words = arena_get(a, 20 * sizeof *words);
    size_t n = 0;
    if (!words || !command)
        return NULL;
    words[n++] = (char *)"ssh";
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) { /* no question, and no wait for a host that is gone */
        words[n++] = (char *)"-o";
        words[n++] = (char *)options[i];
    }
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

static int cluster_failed(const struct campaign_cluster *c, const char *what, struct query *q, struct err *err)
{
    return err_set(err, ERR_REMOTE, "cannot %s on %.100s%s%.300s", what, c->name, *query_reason(q) ? ": " : "", query_reason(q));
}

/* Writes the recipe's own form to NAME.yaml in the folder on the cluster, by one ssh. 0; -1 with
 * err, also when ssh has not ended after COPY_MS. */
static int copy_recipe(const struct campaign_cluster *c, const struct recipe *r, struct arena *a, struct err *err)
{
    CLEANUP_BUF struct buf command;
    struct query q = QUERY_NONE;
    buf_init(&command, REMOTE_BYTES);
    buf_puts(&command, "mkdir -p ");
    shell_word_put(&command, c->folder);
    buf_puts(&command, " && cd ");
    shell_word_put(&command, c->folder);
    buf_printf(&command, " && cat >%s.yaml", r->name); /* a legal name: nothing in it means anything to a shell */
    char **words = command.failed ? NULL : ssh_words(c, command.p, a);
    if (!words)
        return err_memory(err, "the recipe");
    int rc = query_start(&q, words, environ, REMOTE_BYTES, COPY_MS, QUERY_INPUT | QUERY_NO_NICE, err);
    if (rc == 0) {
        bool given = query_write_input(&q, str_of(r->text), COPY_MS);
        if (query_wait(&q, COPY_MS) != QUERY_DONE || q.status != 0 || !given)
            rc = cluster_failed(c, "copy the recipe", &q, err);
    }
    query_close(&q);
    return rc;
}

/* Appends the beginning of a command line for the far shell: modules, folder, account and partition. */
static void put_environment(const struct campaign_cluster *c, struct buf *to)
{
    for (char **m = c->modules; m && *m; m++) {
        buf_puts(to, "module load ");
        shell_word_put(to, *m);
        buf_puts(to, " && ");
    }
    buf_puts(to, "cd ");
    shell_word_put(to, c->folder);
    buf_puts(to, " && ");
    if (c->account) { /* sbatch prefers these to the directives of the script */
        buf_puts(to, "SBATCH_ACCOUNT=");
        shell_word_put(to, c->account);
        buf_putc(to, ' ');
    }
    if (c->partition) {
        buf_puts(to, "SBATCH_PARTITION=");
        shell_word_put(to, c->partition);
        buf_putc(to, ' ');
    }
}

/* Runs `recipe run --submit --wait` on the cluster, and prints complete lines of its output as they
 * arrive, without control characters. 0; 1: it ended with a status other than 0; -1 with err: ssh
 * failed. */
static int run_there(const struct campaign_cluster *c, const struct recipe *r, const char *options, struct arena *a, FILE *out,
                     struct err *err)
{
    CLEANUP_BUF struct buf command;
    struct query q = QUERY_NONE;
    size_t shown = 0;
    buf_init(&command, REMOTE_BYTES);
    put_environment(c, &command);
    shell_word_put(&command, c->benchwrap);
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
    int rc = end != QUERY_DONE || (q.status & 0x7f) || q.status >> 8 == 255 ? cluster_failed(c, "run the recipe", &q, err)
             : q.status                                                     ? 1
                                                                            : 0;
    query_close(&q);
    return rc;
}

/* ---- results ---- */

/* What the cluster sent, in a folder of the caller's alone until it has been checked. */
struct fetched {
    const struct campaign_cluster *cluster;
    struct campaign_state state; /* the campaign's folder */
    char name[16]; /* of the folder in it */
    int stage, campaign; /* the folder, and the campaign in it */
    struct tree_run *runs, **runs_end;
    struct err *err;
};

struct checked_folder {
    const struct fetched *f;
    int dir, depth;
};

/* Checks that a fetched name is a regular file with one name, or a folder of such ones, since tar
 * makes links, FIFOs and devices too. 0; -1 with f->err. */
static int check_fetched_name(void *context, const char *name, unsigned char type)
{
    enum { DEPTH_MAX = 40 };
    const struct checked_folder *above = context;
    const struct fetched *f = above->f;
    struct stat st;
    (void)type;
    if (fstatat(above->dir, name, &st, AT_SYMLINK_NOFOLLOW))
        return err_sys(f->err, "cannot read %.100s of the results", name);
    if (S_ISREG(st.st_mode) && st.st_nlink == 1)
        return 0;
    CLEANUP_FD int dir = S_ISDIR(st.st_mode) && above->depth < DEPTH_MAX ? place_open(above->dir, name, O_RDONLY | O_DIRECTORY, 0) : -1;
    if (dir < 0)
        return err_set(f->err, ERR_REMOTE, "%.100s sent results in which %.100s is no file; nothing of them is stored", f->cluster->name,
                       name);
    return fs_each_name(dir, NULL, check_fetched_name, &(struct checked_folder){f, dir, above->depth + 1});
}

/* Unpacks the archive from the cluster into the folder of stages, and checks the names in it. -1
 * with f->err: tar failed, or a name is not allowed. */
static int unpack_results(struct fetched *f, struct str archive, const char *member, struct arena *a)
{
    static const char file[] = "results.tar";
    const char *folder = arena_printf(a, "%s/%s", f->state.folder, f->name);
    char *words[] = {(char *)"tar",
                     (char *)"--extract",
                     arena_printf(a, "--file=%s/%s", folder, file),
                     (char *)"--no-same-owner",
                     (char *)"--no-same-permissions",
                     arena_printf(a, "--directory=%s", folder),
                     (char *)"mlruns",
                     (char *)member,
                     NULL};
    struct query q = QUERY_NONE;
    if (a->failed)
        return err_memory(f->err, "the results");
    if (fs_write(f->stage, file, archive, 0600, false, f->err))
        return -1;
    int rc = query_start(&q, words, environ, REMOTE_BYTES, COPY_MS * 10, QUERY_NO_NICE, f->err);
    if (rc == 0 && (query_wait(&q, COPY_MS * 10) != QUERY_DONE || q.status))
        rc = err_set(f->err, ERR_SYSTEM, "cannot unpack the results%s%.300s", *query_reason(&q) ? ": " : "", query_reason(&q));
    query_close(&q);
    return rc || fs_each_name(f->stage, NULL, check_fetched_name, &(struct checked_folder){f, f->stage, 0}) ? -1 : 0;
}

static int list_fetched_run(void *context, struct tree_run *run)
{
    struct fetched *f = context;
    if (run->problem)
        return err_set(f->err, ERR_REMOTE, "%.100s sent a damaged run %s: %.200s", f->cluster->name, run->id, run->problem);
    *f->runs_end = run;
    f->runs_end = &run->next;
    run->next = NULL;
    return 0;
}

/* Runs that the tree has stay as they are. */
static int publish_fetched(struct fetched *f, const char *tree, struct arena *a)
{
    CLEANUP_FD int from = place_open(f->stage, "mlruns", O_RDONLY | O_DIRECTORY, 0);
    CLEANUP_FD int root = place_open_folder(tree, 0777);
    if (from < 0 || root < 0)
        return err_sys(f->err, "cannot open %s", from < 0 ? "the results" : tree);
    f->runs_end = &f->runs;
    if (tree_walk(from, TREE_META, a, list_fetched_run, f, f->err))
        return -1;
    for (const struct tree_run *run = f->runs; run; run = run->next) {
        uint32_t id;
        struct str name;
        if (tree_experiment(root, str_of(run->experiment), a, &id, &name, f->err))
            return -1;
        if (id != run->experiment_id)
            return err_set(f->err, ERR_INPUT, "%s has another experiment than \"%.100s\" with its id", tree, run->experiment);
        if (tree_publish(root, id, run->id, from, tree_run_path(run), f->err) < 0)
            return -1;
    }
    return 0;
}

/* One name of the campaign there replaces that of an earlier answer. */
static int store_fetched_name(void *context, const char *name, unsigned char type)
{
    const struct fetched *f = context;
    (void)type;
    if (fs_remove_tree(f->state.dir, name, f->err))
        return -1;
    return renameat(f->campaign, name, f->state.dir, name) ? err_sys(f->err, "cannot store %.100s of the campaign", name) : 0;
}

static int store_results(struct fetched *f, struct str archive, const char *member, const char *tree, struct arena *a)
{
    if (unpack_results(f, archive, member, a) || publish_fetched(f, tree, a))
        return -1;
    CLEANUP_FD int campaign = place_open(f->stage, member, O_RDONLY | O_DIRECTORY, 0);
    f->campaign = campaign;
    return campaign < 0 ? err_sys(f->err, "cannot open the campaign") : fs_each_name(campaign, NULL, store_fetched_name, f);
}

/* Fetches runs and campaign as a tar archive by ssh, and stores them from a temporary folder, which
 * is removed in any case. `tree`: path of the local mlruns. 0; -1 with err. */
static int fetch_results(const struct campaign_cluster *c, const struct recipe *r, const char *tree, struct arena *a, struct err *err)
{
    CLEANUP_BUF struct buf command;
    struct query q = QUERY_NONE;
    struct fetched f = {.cluster = c, .name = "fetch-XXXXXX", .stage = -1, .err = err};
    const char *slash = strrchr(tree, '/');
    const char *folder = arena_printf(a, "%.*s/.benchwrap/campaigns/%s@%s", (int)(slash ? slash - tree : 0), tree, r->name, c->name);
    const char *member = arena_printf(a, ".benchwrap/campaigns/%s", r->name);
    buf_init(&command, REMOTE_BYTES);
    buf_puts(&command, "cd ");
    shell_word_put(&command, c->folder);
    buf_printf(&command, " && tar --create --file=- mlruns .benchwrap/campaigns/%s", r->name);
    char **words = command.failed || a->failed ? NULL : ssh_words(c, command.p, a);
    if (!words)
        return err_memory(err, "the results");
    CLEANUP_FD int dir = place_open_folder(folder, 0700);
    f.state.dir = dir;
    f.state.folder = folder;
    if (dir < 0)
        return err_sys(err, "cannot open the campaign's folder %s", folder);
    if (campaign_state_claim(&f.state, err) || query_start(&q, words, environ, FETCH_BYTES, 0, QUERY_NO_NICE, err))
        return -1;
    while (query_wait(&q, REMOTE_TURN_MS) == QUERY_RUNS) {}
    CLEANUP_FD int stage = q.end == QUERY_DONE && q.status == 0 ? place_make_temporary(dir, f.name) : -1;
    f.stage = stage;
    int rc = q.end != QUERY_DONE || q.status ? cluster_failed(c, "fetch the results", &q, err)
             : stage < 0                     ? err_sys(err, "cannot make a folder in %s", folder)
                                             : store_results(&f, buf_text(&q.text), member, tree, a);
    query_close(&q);
    if (stage >= 0)
        fs_remove_tree(dir, f.name, NULL);
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
