/* partial.c: what a partial clone lacks, by the user's git. */
#include "git/partial.h"

#include "git/program.h"

enum { LIST_LIMIT_S = 300, FETCH_LIMIT_S = 1800, LIST_MAX = 256 << 20, ROUNDS = 20 /* a fetched tree may name others that are missing */ };

const char *partial_remote(struct repo *r, struct arena *a)
{
    const char **list;
    if (repo_remotes(r, a, &list, NULL) < 0)
        return NULL;
    for (; *list; list++) {
        const char *key = arena_printf(a, "remote.%s.promisor", *list);
        if (key && repo_config_on(r, key, false))
            return *list;
    }
    return NULL;
}

static const char *partial_folder(const struct repo *r)
{
    return repo_workdir(r) ? repo_workdir(r) : repo_dir(r);
}

/* Lists the lines "?<id>" of git rev-list, without the mark. */
static int partial_list_missing(struct repo *r, const char *const *what, size_t *count, struct buf *ids, struct err *err)
{
    const char *argv[12] = {"git", "rev-list", "--quiet", "--objects", "--missing=print"};
    size_t n = 5;
    while (*what)
        argv[n++] = *what++;
    struct program p = {.argv = argv, .dir = partial_folder(r), .limit_s = LIST_LIMIT_S, .out_max = LIST_MAX, .whole = true};
    struct program_end end;
    int rc = program_run(&p, &end, err);
    if (rc) {
        program_end_deinit(&end);
        return -1;
    }
    if (end.status)
        rc = program_err(&end, err, "listing the objects that this partial clone lacks");
    for (struct str text = buf_text(&end.out); rc == 0 && text.p;) {
        struct str line = str_cut(&text, '\n');
        if (line.n < 2 || line.p[0] != '?')
            continue;
        ++*count;
        if (ids) {
            buf_str(ids, str_sub(line, 1, line.n));
            buf_putc(ids, '\n');
        }
    }
    program_end_deinit(&end);
    return rc;
}

int partial_missing(struct repo *r, const struct repo_id *from, const struct repo_id *to, size_t *ret_count, struct buf *ids,
                    struct err *err)
{
    char old[REPO_HEX + 1] = "^", new[REPO_HEX];
    const char *const tip[] = {"--no-walk", new, NULL}, *const range[] = {new, old, NULL}, *const base[] = {"--no-walk", old + 1, NULL};
    *ret_count = 0;
    repo_id_hex(to, new);
    if (partial_list_missing(r, tip, ret_count, ids, err))
        return -1;
    if (!from)
        return 0;
    repo_id_hex(from, old + 1);
    return partial_list_missing(r, range, ret_count, ids, err) || partial_list_missing(r, base, ret_count, ids, err) ? -1 : 0;
}

/* Fetches the objects with these ids, a line each, from the remote, without files that they refer
 * to. Returns -1 with err. */
static int partial_run_fetch(struct repo *r, const char *remote, const struct buf *ids, struct err *err)
{
    const char *argv[] = {"git",
                          "-c",
                          "fetch.negotiationAlgorithm=noop",
                          "-c",
                          "core.hooksPath=/dev/null",
                          "-c",
                          "gc.auto=0",
                          "fetch",
                          "--quiet",
                          "--no-tags",
                          "--no-write-fetch-head",
                          "--no-auto-maintenance",
                          "--recurse-submodules=no",
                          "--filter=blob:none",
                          "--stdin",
                          remote,
                          NULL};
    struct program p = {.argv = argv, .dir = partial_folder(r), .in = buf_text(ids), .credentials = true, .limit_s = FETCH_LIMIT_S};
    struct program_end end;
    int rc = program_run(&p, &end, err);
    if (rc) {
        program_end_deinit(&end);
        return -1;
    }
    if (end.status)
        rc = program_err(&end, err, "fetching from %s what this partial clone lacks", remote);
    program_end_deinit(&end);
    repo_refresh(r);
    return rc;
}

int partial_complete(struct repo *r, const struct repo_id *commit, struct err *err)
{
    CLEANUP_BUF struct buf ids;
    struct arena a;
    char hex[REPO_HEX];
    const char *const trees[] = {"--filter=blob:none", hex, NULL};
    size_t count = 1;
    int rc = 0;
    arena_init(&a, 1 << 20);
    buf_init(&ids, LIST_MAX);
    repo_id_hex(commit, hex);
    const char *remote = partial_remote(r, &a);
    for (int i = 0; remote && rc == 0 && count && i < ROUNDS; i++) {
        buf_clear(&ids);
        count = 0;
        rc = partial_list_missing(r, trees, &count, &ids,
                                  err); /* first: a filter leaves out files that are requested together with their trees */
        if (rc == 0 && !count)
            rc = partial_missing(r, NULL, commit, &count, &ids, err);
        if (rc == 0 && count)
            rc = ids.failed ? err_memory(err, "the missing objects") : partial_run_fetch(r, remote, &ids, err);
    }
    arena_deinit(&a);
    if (rc == 0 && remote && count) {
        err_set(err, ERR_REMOTE, "%s does not have all objects that this partial clone lacks", remote);
        return err_hint(err, "git fetch --refetch --no-filter");
    }
    return rc;
}
