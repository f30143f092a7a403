/* range.c: check a range of commits: compare its last tree with that of the merge base, then each
 * commit with its parents. */
#include "check/range.h"
#include "base/array.h"

#include "check/parts.h"
#include "git/folder.h"
#include "git/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    COMMITS_MAX = 20000,
    HISTORY_TOLD = 20,
    LOOKUPS_MAX = 200000,
    ADDED_MAX = 1000000,
    MESSAGE_MAX = 64 << 10,
    AHEAD_MS = 5 * 60 * 1000
};

struct added_run {
    char experiment[12], id[33];
    struct repo_id tree;
};

struct range_state {
    struct check_state *k;
    struct repo *repo;
    const char *at;
    size_t at_n;
    struct repo_id to_tree;
    struct added_run *runs;
    size_t count, room;
    struct experiments {
        const char *id;
        struct experiments *next;
    } * experiments; /* new, or something of their own is */
    bool failed;
    /* history */
    const struct repo_id *from;
    char commit[REPO_HEX];
    struct repo_commit now;
    struct folder end, parent[8]; /* the tree of the range's last commit, those of now's parents, where they were needed */
    struct arena a; /* of one commit */
    size_t commits, told, lookups;
};

/* ---- paths ---- */

enum range_place {
    PLACE_ABOVE /* the tree's folder, or one on the way to it */,
    PLACE_EXPERIMENT,
    PLACE_OF_EXPERIMENT,
    PLACE_RUN,
    PLACE_OF_RUN,
    PLACE_OUTSIDE
};

/* Returns which part of the checked tree a path belongs to. *ret_experiment and *ret_run are parts
 * of `path`; empty where the path has none. */
static enum range_place range_place_of(const struct range_state *x, const char *path, struct str *ret_experiment, struct str *ret_run)
{
    size_t n = strlen(path);
    *ret_experiment = *ret_run = (struct str){"", 0};
    if (n <= x->at_n)
        return strncmp(path, x->at, n) == 0 && (n == x->at_n || x->at[n] == '/') ? PLACE_ABOVE : PLACE_OUTSIDE;
    if (strncmp(path, x->at, x->at_n) != 0 || path[x->at_n] != '/')
        return PLACE_OUTSIDE;
    struct str rest = str_of(path + x->at_n + 1), experiment = str_cut(&rest, '/'),
               run = rest.p ? str_cut(&rest, '/') : (struct str){"", 0};
    if (!check_is_experiment(experiment))
        return PLACE_OUTSIDE;
    *ret_experiment = experiment;
    if (!run.n)
        return PLACE_EXPERIMENT;
    if (!record_is_id(run))
        return PLACE_OF_EXPERIMENT;
    *ret_run = run;
    return rest.p ? PLACE_OF_RUN : PLACE_RUN;
}

/* Notes an experiment to be checked, once: its paths follow each other. Out of memory sets
 * x->failed. */
static void range_add_experiment(struct range_state *x, struct str id)
{
    if (x->experiments && str_is(id, x->experiments->id)) /* a tree has what belongs to one side by side */
        return;
    struct experiments *e = ARENA_NEW(x->k->arena, struct experiments);
    if (!e || !(e->id = arena_dup(x->k->arena, id.p, id.n))) {
        x->failed = true;
        return;
    }
    e->next = x->experiments;
    x->experiments = e;
}

/* Appends a run that the range adds. Sets x->failed where ADDED_MAX runs are there, or out of
 * memory: the run is then not checked. */
static void range_add_run(struct range_state *x, struct str experiment, struct str id, const struct repo_id *tree)
{
    if (x->count >= ADDED_MAX || !ARRAY_FITS(x->runs, x->room, x->count + 1)) {
        x->failed = true;
        return;
    }
    struct added_run *own = &x->runs[x->count++];
    *own = (struct added_run){.tree = *tree};
    snprintf(own->experiment, sizeof own->experiment, STR_FMT, STR_ARG(experiment));
    snprintf(own->id, sizeof own->id, STR_FMT, STR_ARG(id));
}

/* ---- the end compared with the beginning ---- */

static const char *odd_kind(unsigned mode)
{
    return mode == REPO_MODE_LINK ? "a symbolic link" : mode == REPO_MODE_MODULE ? "a submodule" : NULL;
}

/* Checks an entry that is new in the range, and adds the run or the experiment that it is part
 * of. Returns REPO_SKIP for a folder whose entries need no check, else 0. */
static int range_check_added(struct range_state *x, const char *path, const struct repo_entry *is)
{
    struct str experiment, run;
    enum range_place place = range_place_of(x, path, &experiment, &run);
    bool folder = is->mode == REPO_MODE_DIR;
    if (!check_file_name(x->k, str_of(is->name), path))
        return folder ? REPO_SKIP : 0;
    if (odd_kind(is->mode))
        check_found(x->k, CHECK_TYPE, path, 0, "it is %s", odd_kind(is->mode));
    else if (place == PLACE_OUTSIDE || (!folder && (place == PLACE_ABOVE || place == PLACE_EXPERIMENT || place == PLACE_RUN)))
        check_found(x->k, CHECK_OUTSIDE, path, 0, "it is added, and is no run below %s/", x->at);
    else if (place == PLACE_ABOVE)
        return 0;
    else if (place == PLACE_EXPERIMENT || place == PLACE_OF_EXPERIMENT) {
        range_add_experiment(x, experiment);
        return place == PLACE_EXPERIMENT || !folder ? 0 : REPO_SKIP; /* check_experiments checks the experiment's other files */
    } else if (place == PLACE_RUN)
        range_add_run(x, experiment, run, &is->id);
    else
        check_found(x->k, CHECK_INTO_RUN, path, 0, "it is added to the run %.8s, which is published", run.p);
    return folder ? REPO_SKIP : 0;
}

/* Called for each difference between the merge base and the end of the range: collects added runs,
 * reports all else. Returns 0 to visit what a folder holds; else REPO_SKIP. */
static int each_difference(void *context, const char *path, const struct repo_entry *was, const struct repo_entry *is)
{
    struct range_state *x = context;
    struct str experiment, run;
    if (!was)
        return range_check_added(x, path, is);
    bool inside = range_place_of(x, path, &experiment, &run) != PLACE_OUTSIDE;
    if (!is)
        check_found(x->k, CHECK_DELETED, path, 0, was->mode == REPO_MODE_DIR ? "the folder is deleted" : "the file is deleted");
    else if (odd_kind(is->mode))
        check_found(x->k, CHECK_TYPE, path, 0, "it becomes %s", odd_kind(is->mode));
    else
        check_found(x->k, inside ? CHECK_CHANGED : CHECK_OUTSIDE, path, 0, "%s",
                    was->mode != is->mode && repo_id_eq(&was->id, &is->id) ? "its mode is changed" : "it is changed");
    return is && is->mode == REPO_MODE_DIR && was->mode == REPO_MODE_DIR ? 0 : REPO_SKIP;
}

/* ---- the runs ---- */

static int compare_added_runs(const void *a, const void *b)
{
    const struct added_run *x = a, *y = b;
    int c = strcmp(x->experiment, y->experiment);
    return c ? c : strcmp(x->id, y->id);
}

/* Checks each added run that `published` does not have, the tree with which the range is
 * compared; ops NULL: it has none. Stops at the limits of all runs. */
static void check_added(struct range_state *x, const struct folder *published)
{
    struct check_state *k = x->k;
    for (size_t i = 0; i < x->count; i++) {
        CLEANUP_FOLDER struct folder run = {0};
        const struct added_run *own = &x->runs[i];
        const char *path = arena_printf(k->arena, "%s/%s/%s", x->at, own->experiment, own->id);
        struct repo_entry there = {.mode = 0};
        if (!path) {
            check_found(k, CHECK_LIMIT, x->at, 0, "out of memory after %zu run%s; the others were not checked", k->runs,
                        str_plural(k->runs));
            return;
        }
        if (k->runs == k->limits.runs) {
            check_found(k, CHECK_LIMIT, path, 0, "stopped after %zu run%s", k->runs, str_plural(k->runs));
            return;
        }
        if (check_is_full(k, path))
            return;
        int rc = published->ops ? git_folder_find(published, path + x->at_n + 1, &there) : 1;
        if (rc == 0 && repo_id_eq(&there.id, &own->tree))
            continue; /* merged already, in another way */
        if (rc < 0)
            check_found(k, CHECK_UNREADABLE, path, 0, "what the target has cannot be read: %s", err_words(errno));
        else if (rc == 0)
            check_found(k, CHECK_ID_KNOWN, path, 0, "the target has a run of this id, with other content");
        if (i && repo_id_eq(&own->tree, &own[-1].tree)) { /* a run names itself, so one is wrong; many would be slow */
            check_found(k, CHECK_IDENTITY, path, 0, "it is, byte by byte, the run %s", own[-1].id);
            k->runs++;
            k->runs_bad++;
        } else if (git_folder_open(x->repo, &own->tree, &run) < 0)
            check_found(k, CHECK_UNREADABLE, path, 0, "it cannot be read: %s", err_words(errno));
        else
            check_run(k, &run, path);
        if (k->progress)
            k->progress(k->context, i + 1, x->count);
    }
}

/* Returns whether a run of the experiment was added. Requires sorted runs. */
static bool has_run(const struct range_state *x, const char *experiment)
{
    size_t low = 0, high = x->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (strcmp(x->runs[mid].experiment, experiment) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < x->count && strcmp(x->runs[low].experiment, experiment) == 0;
}

/* Checks the files of each experiment that the range adds or touches, in the tree of its end, and
 * reports those of which it brings no run. Requires x->runs sorted. */
static void check_experiments(struct range_state *x, const struct folder *tree)
{
    for (const struct experiments *e = x->experiments; e; e = e->next) {
        CLEANUP_FOLDER struct folder in = {0};
        const char *path = arena_printf(x->k->arena, "%s/%s", x->at, e->id);
        if (!path) {
            check_found(x->k, CHECK_LIMIT, x->at, 0, "out of memory for the path of an experiment, which was not checked");
            continue;
        }
        if (!has_run(x, e->id))
            check_found(x->k, CHECK_EXPERIMENT_META, path, 0, "the experiment is touched, and no run of it is brought");
        if (folder_enter(tree, e->id, &in) < 0)
            check_found(x->k, CHECK_UNREADABLE, path, 0, "it cannot be read: %s", err_words(errno));
        else
            check_experiment_files(x->k, &in, path);
    }
}

/* ---- each commit ---- */

static void report_history(struct range_state *x, const char *path, const char *what)
{
    if (x->told++ < HISTORY_TOLD)
        check_found(x->k, CHECK_HISTORY, path, 0, "commit %.12s %s", x->commit, what);
}

/* Returns whether the path is this entry (NULL: absent) in a commit or tree. *kept caches its
 * folder. */
static bool is_so_in(struct range_state *x, const struct repo_id *commit_or_tree, struct folder *kept, const char *path,
                     const struct repo_entry *is)
{
    struct repo_entry there;
    struct repo_id tree;
    char hex[REPO_HEX];
    if (!kept->ops) {
        repo_id_hex(commit_or_tree, hex);
        if (repo_resolve(x->repo, hex, REPO_TREE, &tree, NULL) || git_folder_open(x->repo, &tree, kept) < 0)
            return false;
    }
    int rc = git_folder_find(kept, path, &there);
    return is ? rc == 0 && there.mode == is->mode && repo_id_eq(&there.id, &is->id) : rc == 1;
}

/* Returns whether another parent of the merge has the same entry, so that the entry comes from
 * there. */
static bool from_other_parent(struct range_state *x, const char *path, const struct repo_entry *is)
{
    for (unsigned i = 1; i < x->now.parents && i < sizeof x->now.parent / sizeof *x->now.parent; i++)
        if (is_so_in(x, &x->now.parent[i], &x->parent[i], path, is))
            return true;
    return false;
}

static void range_leave_commit(struct range_state *x)
{
    for (size_t i = 0; i < sizeof x->parent / sizeof *x->parent; i++)
        folder_leave(&x->parent[i]);
    arena_deinit(&x->a);
}

/* Returns whether the range adds this run with the same content. */
static bool is_added_run(const struct range_state *x, struct str experiment, struct str id, const struct repo_id *tree)
{
    struct added_run key = {.tree = {{0}}};
    snprintf(key.experiment, sizeof key.experiment, STR_FMT, STR_ARG(experiment));
    snprintf(key.id, sizeof key.id, STR_FMT, STR_ARG(id));
    const struct added_run *found = x->count ? bsearch(&key, x->runs, x->count, sizeof *x->runs, compare_added_runs) : NULL;
    return found && repo_id_eq(&found->tree, tree);
}

/* Reports a change of one commit that the end of the range does not have, besides added runs.
 * Returns 0: visit what the folder holds; else REPO_SKIP. Stops after LOOKUPS_MAX changes. */
static int each_step(void *context, const char *path, const struct repo_entry *was, const struct repo_entry *is)
{
    struct range_state *x = context;
    struct str experiment, run;
    bool folder = is && is->mode == REPO_MODE_DIR;
    enum range_place place = range_place_of(x, path, &experiment, &run);
    if (folder && !was && (place == PLACE_ABOVE || place == PLACE_EXPERIMENT))
        return 0; /* the check of its content explains more */
    if (folder && !was && place == PLACE_RUN && is_added_run(x, experiment, run, &is->id))
        return REPO_SKIP;
    if (x->lookups++ == LOOKUPS_MAX)
        check_found(x->k, CHECK_LIMIT, "", 0,
                    "the commits of the range change more than %d things besides adding runs; older ones were not checked one by one",
                    LOOKUPS_MAX);
    if (x->lookups > LOOKUPS_MAX || (x->now.parents > 1 && from_other_parent(x, path, is)))
        return REPO_SKIP;
    if (!is_so_in(x, &x->to_tree, &x->end, path, is)) /* else visiting the differences of the range has reported it */
        report_history(x, path,
                       !is   ? "deletes it, and later it is there again"
                       : was ? "changes it, and later it is another"
                             : "adds it, and later it is gone or another");
    return REPO_SKIP;
}

/* Returns whether the author's or the committer's line has a carriage return, which hides the
 * text before it. Signatures may contain some. */
static bool has_return_in_names(struct str header)
{
    while (header.n) {
        struct str line = str_cut(&header, '\n');
        if ((str_starts(line, "author ") || str_starts(line, "committer ")) && memchr(line.p, '\r', line.n))
            return true;
    }
    return false;
}

/* Checks message and header of the commit, which are published with it, for secrets and control
 * characters. */
static void check_message(struct range_state *x)
{
    char where[64];
    const char *message = x->now.message ? x->now.message : "";
    size_t n = strlen(message);
    snprintf(where, sizeof where, "in the message of commit %.12s: ", x->commit);
    check_secrets_in(x->k, "", where, message);
    if (n > MESSAGE_MAX)
        check_found(x->k, CHECK_MESSAGE, "", 0, "the message of commit %.12s has %zu bytes, more than %d", x->commit, n, MESSAGE_MAX);
    if (strchr(message, '\r') || !str_is_plain(str_of(message)))
        check_found(
            x->k, CHECK_MESSAGE, "", 0,
            "the message of commit %.12s holds control characters, which a terminal obeys, or such as change the direction of writing",
            x->commit);
    if (!str_is_plain(str_of(x->now.header)) || has_return_in_names(str_of(x->now.header)))
        check_found(x->k, CHECK_MESSAGE, "", 0, "the author, the committer or another header of commit %.12s holds control characters",
                    x->commit);
}

/* Checks one commit of the range: its message, its parent, and each change against its first
 * parent. A commit that cannot be read is a finding. Returns 0; 1: more than COMMITS_MAX, the visit
 * ends. */
static int each_commit(void *context, const struct repo_id *id)
{
    struct range_state *x = context;
    struct err err = {0};
    int rc = 0;
    if (x->commits++ == COMMITS_MAX) {
        check_found(x->k, CHECK_LIMIT, "", 0, "the range has more than %d commits; older ones were not checked one by one", COMMITS_MAX);
        return 1;
    }
    range_leave_commit(x);
    arena_init(&x->a, 64 << 20);
    repo_id_hex(id, x->commit);
    if (repo_commit_read(x->repo, id, &x->a, &x->now, &err) < 0)
        rc = -1;
    else
        check_message(x);
    if (rc == 0 && x->now.parents == 0)
        report_history(x, "", "has no parent: a history of its own");
    else if (rc == 0) {
        struct repo_id was;
        char parent[REPO_HEX];
        repo_id_hex(&x->now.parent[0], parent);
        rc = repo_resolve(x->repo, parent, REPO_TREE, &was, &err);
        if (rc == 0)
            rc = repo_diff(x->repo, &was, &x->now.tree, NULL, each_step, x, &err);
    }
    if (rc)
        check_found(x->k, CHECK_UNREADABLE, "", 0, "commit %.12s: %s", x->commit, err.text);
    return 0;
}

/* Checks each commit of the range (each_commit); of findings in its history HISTORY_TOLD are
 * reported, and the number of the others. */
static void check_history(struct range_state *x, const struct repo_id *to)
{
    struct err err = {0};
    arena_init(&x->a, 64 << 20);
    if (repo_history(x->repo, to, x->from, each_commit, x, &err) < 0)
        check_found(x->k, CHECK_UNREADABLE, "", 0, "the commits of the range cannot be read: %s", err.text);
    if (x->told > HISTORY_TOLD)
        check_found(x->k, CHECK_HISTORY, "", 0, "%zu more of this kind", x->told - HISTORY_TOLD);
    range_leave_commit(x);
    folder_leave(&x->end);
}

/* ---- all of a range ---- */

/* Applies profile and policy of the target to the check: a branch cannot make itself private, nor
 * its findings harmless. -1 with err: the policy cannot be read. */
static int range_read_target(struct range_state *x, struct err *err)
{
    CLEANUP_BUF struct buf b;
    struct repo_entry e;
    buf_init(&b, 1 << 20);
    if (repo_find(x->repo, x->from, "benchwrap.yaml", &e, NULL) == 0)
        repo_read(x->repo, &e.id, REPO_BLOB, 64 << 10, &b, NULL);
    if (check_is_public(buf_text(&b), x->k->has_remote))
        x->k->public_profile = true;
    buf_clear(&b);
    int rc = repo_find(x->repo, x->from, CHECK_POLICY_FILE, &e, err);
    if (rc == 0)
        rc = repo_read(x->repo, &e.id, REPO_BLOB, 64 << 10, &b, err);
    if (rc == 0)
        rc = check_policy(x->k, buf_text(&b), err);
    return rc < 0 ? err_wrap(err, "the policy of the target") : 0;
}

/* Opens the folder of the tree in a commit. 1: it has none, or it cannot be read, which is
 * reported. */
static int range_open_tree(struct range_state *x, const struct repo_id *commit, struct folder *ret)
{
    struct repo_entry e;
    struct err err = {0};
    int rc = repo_find(x->repo, commit, x->at, &e, &err);
    *ret = (struct folder){.fd = -1};
    if (rc < 0)
        check_found(x->k, CHECK_UNREADABLE, x->at, 0, "%s", err.text);
    if (rc || e.mode != REPO_MODE_DIR)
        return 1;
    return git_folder_open(x->repo, &e.id, ret) < 0 ? 1 : 0;
}

/* Checks the runs that the range adds: each for itself, against each other and against those of the
 * target. Findings are added to x->k. */
static void check_brought(struct range_state *x, const struct repo_id *to)
{
    struct check_state *k = x->k;
    CLEANUP_FOLDER struct folder tree = {0}, published = {0};
    if (x->count)
        qsort(x->runs, x->count, sizeof *x->runs, compare_added_runs);
    if (range_open_tree(x, to, &tree) == 0) {
        k->tree = &tree;
        check_experiments(x, &tree);
    }
    bool there = range_open_tree(x, x->from, &published) == 0;
    check_added(x, &published);
    if (k->runs && there) {
        k->published = &published;
        check_index_add_published(k, &published, x->at);
    }
    check_duplicates(k);
    k->tree = k->published = NULL;
}

int check_range(struct check_state *k, struct repo *repo, const struct repo_id *from, const struct repo_id *to, const char *at,
                struct err *err)
{
    struct range_state x = {.k = k, .repo = repo, .at = at, .at_n = strlen(at), .from = from};
    struct repo_id base;
    struct repo_commit last, first;
    struct arena a;
    int rc = repo_merge_base(repo, from, to, &base, err);
    if (rc == 1)
        return err_set(err, ERR_INPUT, "the two have no common ancestor"), 1;
    if (rc == 0 && (rc = repo_history_is_cut(repo, to, from, err)) == 1)
        return err_set(err, ERR_INPUT, "this clone lacks commits of the range"), 1;
    arena_init(&a, 64 << 20);
    if (rc == 0 && (repo_commit_read(repo, &base, &a, &first, err) < 0 || repo_commit_read(repo, to, &a, &last, err) < 0))
        rc = -1;
    if (rc == 0)
        rc = range_read_target(&x, err);
    if (rc == 0) {
        struct err why = {0};
        x.to_tree = last.tree;
        k->committed_ms = last.committer_s * 1000;
        if (k->committed_ms > k->now_ms + AHEAD_MS)
            check_found(k, CHECK_TIME_ODD, "", 0, "the last commit is %.0f s in the future", (double)(k->committed_ms - k->now_ms) / 1e3);
        if (repo_diff(repo, &first.tree, &last.tree, NULL, each_difference, &x, &why) < 0)
            check_found(k, CHECK_UNREADABLE, "", 0, "the trees cannot be compared: %s", why.text);
        check_brought(&x, to);
        check_history(&x, to);
        if (x.failed)
            check_found(k, CHECK_LIMIT, "", 0, "more than %d runs, or out of memory for them", ADDED_MAX);
    }
    free(x.runs);
    arena_deinit(&a);
    return rc;
}
