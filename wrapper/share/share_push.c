/* share_push.c: pushes the site's branch with the user's own git. It overwrites the remote branch
 * only where no change on it would be lost. */
#include "share/share.h"

#include "git/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PUSH_LIMIT_S = 3600, PIECES_MAX = 10000 };
static const uint64_t at_once = (uint64_t)1 << 30; /* GitHub refuses pushes of more than 2 GB */

/* ---- what a refusal means ---- */

/* Appends the other side's own messages: the lines "remote: …", without the decoration. */
static void remote_words(struct str text, struct buf *to)
{
    while (text.p && to->n < 500) {
        struct str line = str_cut(&text, '\n');
        if (!str_starts(line, "remote:"))
            continue;
        line = str_trim(str_sub(line, 7, line.n));
        while (line.n && strchr("=-*#> ", line.p[0]))
            line = str_trim(str_sub(line, 1, line.n));
        if (!line.n || str_is(line, "error:"))
            continue;
        buf_puts(to, to->n ? "; " : "");
        buf_plain(to, line, 200);
    }
}

static const struct {
    const char *sign, *meaning;
} refusals[] = {
    {"stale info", "it was changed there at the same time, for example by another share of this clone; share again"},
    {"denying non-fast-forward",
     "it accepts no push with force, which the branches benchwrap/* need: git config receive.denyNonFastForwards false, there"},
    {"non-fast-forward", "it was changed there while this share ran; share again"},
    {"fetch first", "it was changed there while this share ran; share again"},
    {"cannot lock ref", "another process writes it just now; share again"},
    {"failed to update ref", "another process writes it just now; share again"},
    {"protected branch",
     "the branch is protected there: branches benchwrap/* must be free for pushes with force, or push to a fork (--to)"},
    {"not allowed to force push",
     "the branch is protected there: branches benchwrap/* must be free for pushes with force, or push to a fork (--to)"},
    {"large file", "a file is larger than it accepts"},
    {"file size limit", "a file is larger than it accepts"},
    {"exceeds", "it is larger than it accepts"},
    {"hook declined",
     "a rule of that repository refuses it: let its maintainer allow forced pushes to benchwrap/*, or push to a fork of yours (--to)"},
    {"shallow update not allowed", "this clone is shallow, and the other side requires the complete history: git fetch --unshallow"},
    {"no space left", "its disk is full"},
    {"unpacker error", "it cannot store what was sent: its owner must check the permissions of the repository's folder, and its quota"},
    {"permission denied (publickey", "your SSH key is not accepted (ssh-add -l lists the loaded ones)"},
    {"authentication failed", "your credentials are not accepted"},
    {"could not read username", "it requires credentials, and no credential helper of git has them (git config credential.helper)"},
    {"could not read password", "it requires credentials, and no credential helper of git has them (git config credential.helper)"},
    {"write access to repository not granted", "you have no right to push there; push to a fork of yours (--to)"},
    {"permission to", "you have no right to push there; push to a fork of yours (--to)"},
    {"not allowed to push", "you have no right to push there; push to a fork of yours (--to)"},
    {"error: 403", "you have no right to push there; push to a fork of yours (--to)"},
    {"repository not found", "there is no such repository, or you may not see it"},
    {"could not resolve host", "there is no way to that host"},
    {"read-only", "it cannot be written"},
};

static bool has_sign(const struct buf *b, const char *sign)
{
    return b->p && strcasestr(b->p, sign) != NULL;
}

/* Appends the messages of a failed pre-push hook: git reports only that it failed to push, after
 * them, and no ref has a line. Returns false where it is no such failure. */
static bool hook_words(const struct program_end *end, struct buf *to)
{
    struct str text = buf_text(&end->words);
    ptrdiff_t at = text.p ? str_find(text, STR("error: failed to push some refs")) : -1;
    if (at < 0 || has_sign(&end->out, "!\t"))
        return false;
    buf_plain(to, str_trim(str_sub(text, 0, (size_t)at)), 400);
    return true;
}

/* Sets err to why the push was not accepted: time limit, a known cause, the remote's words, or the
 * local pre-push hook. Returns -1. */
static int explain_refusal(struct share *s, const struct program_end *end, struct err *err)
{
    struct buf words CLEANUP_BUF;
    const char *meaning = NULL;
    buf_init(&words, 4096);
    buf_puts(&words, "");
    remote_words(buf_text(&end->words), &words);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals && !meaning; i++)
        if (has_sign(&end->out, refusals[i].sign) || has_sign(&end->words, refusals[i].sign))
            meaning = refusals[i].meaning;
    const char *kept = "nothing is lost: the runs are here and in the branch";
    if (end->timed_out)
        return err_set(err, ERR_REMOTE, "pushing %s to %s was stopped after %d s; %s", s->branch, s->to, PUSH_LIMIT_S, kept);
    if (meaning)
        return err_set(err, ERR_REMOTE, "%s was not accepted by %s: %s%s%s%s; %s", s->branch, s->to, meaning, words.n ? " (" : "", words.p,
                       words.n ? ")" : "", kept);
    if (words.n)
        return err_set(err, ERR_REMOTE, "%s was not accepted by %s: %s; %s", s->branch, s->to, words.p, kept);
    if (hook_words(end, &words))
        return err_set(err, ERR_INPUT, "the pre-push hook of this clone does not let %s go to %s%s%s; %s (--no-verify leaves the hook out)",
                       s->branch, s->to, words.n ? ": " : "", words.p, kept);
    program_err(end, err, "%s was not accepted by %s", s->branch, s->to);
    return err_wrap(err, "%s", kept);
}

/* ---- what is there ---- */

struct theirs {
    struct share *s;
    const char *lost; /* a path that only they have */
    struct err *err;
};

/* Checks that what the remote branch has added since it left the target is in the local branch,
 * too. */
static int also_ours(void *context, const char *path, const struct repo_entry *was, const struct repo_entry *is)
{
    struct theirs *t = context;
    struct repo_entry ours;
    (void)was;
    if (is && is->mode == REPO_MODE_DIR)
        return 0;
    int rc = repo_find(t->s->repo, &t->s->tip, path, &ours, t->err);
    if (rc < 0)
        return -1;
    if (is ? rc == 0 && repo_id_eq(&ours.id, &is->id) : rc == 1)
        return 0;
    t->lost = arena_printf(t->s->arena, "%s", path);
    return 2;
}

/* Fetches the commit that the remote has as this clone's branch, unless it is stored here, into a
 * ref of benchwrap. Returns -1 with err. */
static int fetch_seen(struct share *s, struct err *err)
{
    struct program_end end;
    char hex[REPO_HEX];
    repo_id_hex(&s->seen, hex);
    if (repo_has(s->repo, &s->seen))
        return 0;
    const char *spec = arena_printf(s->arena, "+refs/heads/%s:refs/benchwrap/seen/%s/%s", s->branch, s->to, s->branch);
    const char *const args[] = {"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--", s->to, spec, NULL};
    if (share_git(s, 600, args, (struct str){0}, &end, err))
        return -1;
    int rc = end.status ? program_err(&end, err, "looking at %s of %s", s->branch, s->to) : 0;
    program_end_deinit(&end);
    repo_refresh(s->repo);
    return rc;
}

/* Another process has moved this clone's branch on the remote. It may be replaced if the local branch holds all that it holds, as after "update branch" of a forge. */
static int check_seen(struct share *s, struct err *err)
{
    struct repo_commit theirs, from = {0};
    struct repo_id base;
    struct theirs t = {.s = s, .err = err};
    if (!s->is_seen || (s->was_pushed && repo_id_eq(&s->seen, &s->pushed)) || repo_id_eq(&s->seen, &s->tip))
        return 0;
    if (fetch_seen(s, err) || repo_commit_read(s->repo, &s->seen, s->arena, &theirs, err))
        return -1;
    int none = repo_merge_base(s->repo, &s->seen, &s->target, &base, err);
    if (none < 0 || (none == 0 && repo_commit_read(s->repo, &base, s->arena, &from, err)))
        return -1;
    int rc = repo_diff(s->repo, none ? NULL : &from.tree, &theirs.tree, NULL, also_ours, &t, err);
    if (rc == 2) {
        err_set(
            err, ERR_INPUT,
            "%s at %s is not as it was pushed from here: %.200s was changed there, which would be lost. To keep the change: git fetch %s %s; git branch theirs "
            "FETCH_HEAD. Then, or to drop it: git push %s --delete %s; benchwrap share --reopen",
            s->branch, s->to, t.lost ? t.lost : "it", s->to, s->branch, s->to, s->branch);
        return err_hint(err, "if this clone is a copy of another one: git config --unset benchwrap.clone; benchwrap share");
    }
    return rc < 0 ? -1 : 0;
}

/* ---- the push ---- */

/* Pushes one commit as this clone's branch, and only if the remote's branch is still where it was
 * read last. Then notes the commit as its tip. Returns -1 with err. */
static int push_commit(struct share *s, const struct repo_id *commit, struct err *err)
{
    char hex[REPO_HEX], old[REPO_HEX] = "";
    struct program_end end;
    repo_id_hex(commit, hex);
    if (s->is_seen)
        repo_id_hex(&s->seen, old);
    const char *lease = arena_printf(s->arena, "--force-with-lease=refs/heads/%s:%s", s->branch, old);
    const char *spec = arena_printf(s->arena, "%s:refs/heads/%s", hex, s->branch);
    const char *const args[] = {"push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no", lease, "--", s->to, spec, NULL};
    int rc = share_git(s, PUSH_LIMIT_S, args, (struct str){0}, &end, err);
    if (rc < 0 && !end.timed_out)
        return -1;
    rc = rc < 0 || end.status ? explain_refusal(s, &end, err) : 0;
    program_end_deinit(&end);
    if (rc == 0) {
        s->is_seen = true;
        s->seen = *commit;
    }
    return rc;
}

/* Sets a ref of the local repository by git update-ref. Returns -1 with err. */
static int set_ref(struct share *s, const char *ref, const struct repo_id *id, struct err *err)
{
    struct program_end end;
    char hex[REPO_HEX];
    repo_id_hex(id, hex);
    const char *const args[] = {"update-ref", ref, hex, NULL};
    if (share_git(s, 60, args, (struct str){0}, &end, err))
        return -1;
    int rc = end.status ? program_err(&end, err, "remembering what was pushed") : 0;
    program_end_deinit(&end);
    return rc;
}

/* Stores two refs. "pushed" is the branch as pushed last: check_seen compares the remote's branch with
 * it, and the tracking branch cannot serve for that, as every fetch moves it. "base" is the target at
 * that time: after a forced rewrite of the target, it shows which files of the branch came from the
 * old one. */
static int remember_pushed(struct share *s, struct err *err)
{
    return set_ref(s, share_ref(s, "pushed"), &s->seen, err) || set_ref(s, share_ref(s, "base"), &s->target, err) ? -1 : 0;
}

struct pieces {
    struct repo_id *id;
    size_t count;
};

static int note_piece(void *context, const struct repo_id *id)
{
    struct pieces *p = context;
    if (p->count < PIECES_MAX)
        p->id[p->count++] = *id;
    return 0;
}

/* Pushes what is too much for one push commit by commit, oldest first. */
static int push_pieces(struct share *s, struct err *err)
{
    struct pieces p = {.id = calloc(PIECES_MAX, sizeof *p.id)};
    int rc = p.id ? repo_history(s->repo, &s->tip, &s->target, note_piece, &p, err) : err_memory(err, "the push");
    for (size_t i = p.count; rc == 0 && i > 1; i--)
        rc = push_commit(s, &p.id[i - 1], err) || remember_pushed(s, err) ? -1 : 0;
    free(p.id);
    return rc < 0 ? -1 : 0;
}

int share_push(struct share *s, enum share_pushed *ret, struct err *err)
{
    uint64_t bytes = 0;
    *ret = SHARE_THERE;
    if (check_seen(s, err))
        return -1;
    if (s->is_seen && repo_id_eq(&s->seen, &s->tip))
        return s->was_pushed && repo_id_eq(&s->pushed, &s->seen) ? 0 : remember_pushed(s, err);
    for (size_t i = 0; i < s->count; i++)
        bytes += s->list[i].left_out ? 0 : s->list[i].bytes;
    *ret = SHARE_PUSHED;
    if (bytes > at_once && s->commits > 1 && push_pieces(s, err))
        return -1;
    return push_commit(s, &s->tip, err) || remember_pushed(s, err) ? -1 : 0;
}
