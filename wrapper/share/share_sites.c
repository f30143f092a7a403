/* share_sites.c: runs of other sites: those that the target has lost are offered by their own sites alone. */
#include "share/share.h"

#include "base/fs.h"
#include "git/tree.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOG_ENTRIES = 500, LOG_LIMIT_S = 60, NOTE_MAX = 64 << 20, SITES_NAMED = 5 };

static bool is_other_site(const struct share *s, const struct share_run *r)
{
    return r->site && strcmp(r->site, s->site) != 0;
}

/* Returns whether the run is still offered, and of another site. */
static bool is_doubtful(const struct share *s, const struct share_run *r)
{
    return !r->left_out && is_other_site(s, r);
}

static bool has_doubtful(const struct share *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (is_doubtful(s, &s->list[i]))
            return true;
    return false;
}

/* Leaves out the other sites' runs that the commit has, for the reason. Returns how many. */
static size_t leave_out_runs_of(struct share *s, const struct repo_id *commit, const char *reason)
{
    struct repo_entry mlruns, found;
    size_t n = 0;
    if (repo_find(s->repo, commit, s->results.prefix, &mlruns, NULL) || mlruns.mode != REPO_MODE_DIR)
        return 0;
    for (size_t i = 0; i < s->count; i++) {
        struct share_run *r = &s->list[i];
        char path[80];
        snprintf(path, sizeof path, "%s/%s", r->experiment, r->id);
        if (!is_doubtful(s, r) || repo_find(s->repo, &mlruns.id, path, &found, NULL))
            continue;
        r->left_out = reason;
        n++;
    }
    return n;
}

/* Leaves out runs that this clone has checked out, unless in the branch that share makes: a merge
 * that was not pushed yet, or a state of the target that is in no log any more. */
static void leave_out_checked_out(struct share *s)
{
    const char *branch = NULL;
    struct repo_id head;
    if (repo_symbolic(s->repo, "HEAD", s->arena, &branch, NULL) == 0 && branch && strcmp(branch, s->results.branch) == 0)
        return;
    if (repo_ref(s->repo, "HEAD", &head, NULL) == 0)
        leave_out_runs_of(s, &head, "another site recorded it; it is checked out here, and not in the target");
}

/* Leaves out runs that the log of the tracking branch has: each state of the target that was
 * fetched in the last 90 days. Adds their number to *n. Returns -1 with err. */
static int leave_out_logged(struct share *s, size_t *n, struct err *err)
{
    struct program_end end;
    const char *const args[] = {"reflog",
                                "show",
                                "--format=%H",
                                arena_printf(s->arena, "--max-count=%d", LOG_ENTRIES),
                                arena_printf(s->arena, "refs/remotes/%s/%s", s->remote, s->base),
                                "--",
                                NULL};
    if (share_git(s, LOG_LIMIT_S, args, (struct str){0}, &end, err))
        return -1;
    for (struct str text = end.status ? (struct str){0} : buf_text(&end.out); text.p && has_doubtful(s);) {
        struct repo_id commit;
        if (repo_id_parse(&commit, str_cut(&text, '\n')))
            *n += leave_out_runs_of(s, &commit, SHARE_LOST);
    }
    program_end_deinit(&end);
    return 0;
}

/* Leaves out the runs in the lines of ids. What was found once is noted, as logs expire and the
 * refs of the last push move on. */
static void leave_out_noted(struct share *s, struct str text)
{
    struct run_ids noted = {0};
    while (text.p) {
        char id[33] = "";
        struct str line = str_cut(&text, '\n');
        if (!record_is_id(line))
            continue;
        memcpy(id, line.p, 32);
        if (run_ids_add(&noted, id))
            break;
    }
    run_ids_sort(&noted);
    for (size_t i = 0; i < s->count; i++)
        if (is_doubtful(s, &s->list[i]) && run_ids_has(&noted, s->list[i].id))
            s->list[i].left_out = SHARE_LOST;
    run_ids_deinit(&noted);
}

static int write_lost(struct share *s, int folder, const char *file, struct buf *b, struct err *err)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].left_out && strcmp(s->list[i].left_out, SHARE_LOST) == 0 && (!b->n || !strstr(b->p, s->list[i].id)))
            buf_printf(b, "%s\n", s->list[i].id);
    if (b->failed || folder < 0 || fs_write(folder, file, buf_text(b), 0666, false, err))
        return err_set(err, ERR_SYSTEM, "cannot note in %sbenchwrap which runs the target has lost", repo_common(s->repo));
    return 0;
}

int share_leave_out_lost(struct share *s, struct err *err)
{
    struct buf b CLEANUP_BUF;
    size_t found = 0;
    buf_init(&b, NOTE_MAX);
    for (size_t i = 0; s->rewritten && i < s->count; i++) {
        struct share_run *r = &s->list[i];
        struct repo_entry there;
        const char *path = arena_printf(s->arena, "%s/%s/%s", s->results.prefix, r->experiment, r->id);
        if (path && !r->left_out && !r->on_disk && repo_find(s->repo, &s->old_target, path, &there, NULL) == 0)
            r->left_out = "the target has lost it, and it is not on this disk";
    }
    if (!has_doubtful(s))
        return 0;
    const char *file = share_note_file(s, "lost");
    CLEANUP_FD int folder = share_note_folder(s);
    if (!file)
        return err_memory(err, "the list of sites");
    if (folder >= 0 && fs_read(folder, file, NOTE_MAX / 2, 0, &b, NULL) == 0)
        leave_out_noted(s, buf_text(&b));
    if (s->rewritten)
        found += leave_out_runs_of(s, &s->old_target, SHARE_LOST);
    if (has_doubtful(s) && leave_out_logged(s, &found, err))
        return -1;
    leave_out_checked_out(s);
    return found ? write_lost(s, folder, file, &b, err) : 0;
}

size_t share_other_sites(const struct share *s, struct buf *names)
{
    size_t runs = 0, sites = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct share_run *r = &s->list[i];
        bool named = false;
        if (r->left_out || !is_other_site(s, r))
            continue;
        runs++;
        for (size_t k = 0; k < i && !named; k++)
            named = !s->list[k].left_out && s->list[k].site && strcmp(s->list[k].site, r->site) == 0;
        if (named || ++sites > SITES_NAMED)
            continue;
        buf_puts(names, sites > 1 ? ", " : "");
        buf_plain(names, str_of(r->site), 60);
    }
    if (sites > SITES_NAMED)
        buf_printf(names, " and %zu more", sites - SITES_NAMED);
    return runs;
}
