/* runs_find.c: find the run that a user names, and what corrects it; see runs.h. */
#include "base/clock.h"
#include "base/show.h"
#include "mlruns-format/corrections.h"
#include "runs/annotations.h"
#include "runs/runs.h"
#include "runs/runs_ref.h"
#include "runs/server_copies.h"
#include "runs/stale.h"

#include <stdlib.h>
#include <string.h>

enum { AHEAD_MS = 5 * 60 * 1000 };

/* Returns whether the run starts in the future. Its machine's clock was ahead, or this one's is
 * behind. */
static bool is_ahead(const struct tree_run *run, int64_t now_ms)
{
    return run->start_ms > now_ms + AHEAD_MS;
}

/* Lists the runs among which the user names one, once. */
static int load_nameable(struct runs *runs, struct arena *a, struct err *err)
{
    static const struct runs_filter everything;
    const struct runs_filter *filter = runs->place.filter ? runs->place.filter : &everything;
    return runs->all ? 0 : runs_load(runs, filter, a, err);
}

/* Finds the newest run, or the one `back` runs before it. Runs that start in the future come last:
 * the newest is the one that was just recorded. Returns 1 with err where there are fewer, -1 with
 * err. */
static int find_last(struct runs *runs, const char *name, uint64_t back, struct arena *a, const char **ret_id, struct err *err)
{
    int64_t now = clock_wall_ms();
    if (load_nameable(runs, a, err) < 0)
        return -1;
    size_t own = 0, ahead = 0; /* runs without a parent: of repetitions the parent is meant, not the last one */
    while (ahead < runs->count && is_ahead(runs->all[ahead], now))
        ahead++;
    if (ahead && ahead < runs->count)
        fprintf(runs->place.notes, "benchwrap: %s: ignoring %zu run%s with a start in the future; hint: check the clock of this machine\n",
                name, ahead, str_plural(ahead));
    for (size_t i = 0; i < runs->count; i++) {
        const struct tree_run *run = runs->all[(i + ahead) % runs->count];
        if (!runs_file(runs, run, "tags/mlflow.parentRunId", 64, a) && own++ == back) {
            *ret_id = run->id;
            return 0;
        }
    }
    if (runs->place.filter)
        err_set(err, ERR_INPUT, "%s: %s", name,
                own ? arena_printf(a, "these options choose %zu run%s (without child runs)", own, str_plural(own))
                    : runs_explain_none(runs, runs->place.filter, a));
    else
        err_set(err, ERR_INPUT, "%s: the tree %s has %zu run%s (without child runs)", name, runs->tree, own, str_plural(own));
    return 1;
}

struct seeing {
    struct runs *runs;
    const char *folder; /* of the experiment */
    struct corrections corrections;
    struct annotations annotations;
    struct arena *a;
};

/* Notes what the run of this folder amends, retracts or annotates. An annotation that cannot be
 * read is reported to the user and has no effect. Returns true, which stops the listing, when out
 * of memory. */
static int read_one_correction(void *context, const struct folder_entry *entry)
{
    struct seeing *s = context;
    struct tree_run *run, look = {.tree = &s->runs->folder};
    if (!correction_possible(entry->name.p))
        return 0;
    look.path = arena_printf(s->a, "mlruns/%s/%s", s->folder, entry->name.p);
    snprintf(look.id, sizeof look.id, "%s", entry->name.p);
    bool retracts;
    const char *target = look.path ? correction_target(look.tree, &look, s->a, &retracts) : NULL,
               *annotates = target || !look.path ? NULL : annotation_target(look.tree, &look, s->a), *problem = NULL;
    if ((!target && !annotates) || tree_find_in(&s->runs->folder, entry->name.p, TREE_META, s->a, &run, NULL) ||
        strcmp(run->lifecycle, "deleted") == 0)
        return s->a->failed;
    corrections_add(&s->corrections, run, target, retracts);
    if (annotates)
        annotations_add(&s->annotations, run, annotates, annotation_changes(look.tree, &look, annotates, s->a, &problem));
    if (problem)
        fprintf(s->runs->place.notes, "benchwrap: the annotation %.8s is not applied: %s\n", run->id, problem);
    return s->a->failed;
}

static void leave_corrections(struct seeing *s)
{
    corrections_deinit(&s->corrections);
    annotations_deinit(&s->annotations);
}

/* Reads the corrections and annotations of one experiment: of its folder only runs whose ids can be
 * theirs are read. leave_corrections must follow. */
static int read_corrections(struct runs *runs, const struct tree_run *of, struct seeing *s, struct arena *a, struct err *err)
{
    CLEANUP_FOLDER struct folder in = {0};
    *s = (struct seeing){.runs = runs, .folder = arena_dup(a, tree_run_path(of), strcspn(tree_run_path(of), "/")), .a = a};
    if (!s->folder || folder_enter(runs_ready_folder(runs), s->folder, &in) < 0 || folder_list(&in, read_one_correction, s) < 0)
        return err_sys(err, "reading mlruns/%s", s->folder ? s->folder : "");
    corrections_sort(&s->corrections);
    annotations_sort(&s->annotations, &s->corrections);
    return s->corrections.failed || s->annotations.failed ? err_memory(err, "the list of corrections") : 0;
}

int runs_latest_start(struct runs *runs, const struct tree_run *run, struct arena *a, int64_t *ret_ms, struct err *err)
{
    struct seeing s;
    int rc = read_corrections(runs, run, &s, a, err);
    const struct correction *chosen = rc ? NULL : corrections_of(&s.corrections, run->id);
    *ret_ms = chosen && chosen->start_ms > run->start_ms ? chosen->start_ms : run->start_ms;
    leave_corrections(&s);
    return rc;
}

const char *runs_root_id(const struct runs *runs, const struct tree_run *run, struct arena *a)
{
    const char *amends = correction_possible(run->id) ? runs_file(runs, run, "tags/benchwrap.amends", 64, a) : NULL;
    return amends ? amends : run->id;
}

int runs_current_ids(struct runs *runs, const struct tree_run *of, char (*ids)[33], size_t count, struct arena *a, struct err *err)
{
    struct seeing s;
    int rc = read_corrections(runs, of, &s, a, err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        const char *shown = corrections_shown(&s.corrections, ids[i]);
        if (!shown)
            ids[i][0] = 0;
        else if (shown != ids[i])
            memcpy(ids[i], shown, sizeof *ids);
    }
    leave_corrections(&s);
    return rc;
}

int runs_annotated(struct runs *runs, const struct tree_run *run, struct arena *a, struct run_annotated *ret, struct err *err)
{
    struct seeing s;
    const struct annotation *newest;
    *ret = (struct run_annotated){.latest_ms = run->start_ms};
    int rc = read_corrections(runs, run, &s, a, err);
    if (rc == 0) {
        const struct correction *chosen = corrections_of(&s.corrections, run->id);
        memcpy(ret->root, chosen ? chosen->root : run->id, 33);
        ret->changes = annotations_of(&s.annotations, &s.corrections, run->id, a, &newest);
        if (chosen && chosen->start_ms > ret->latest_ms)
            ret->latest_ms = chosen->start_ms;
        if (newest && newest->start_ms > ret->latest_ms)
            ret->latest_ms = newest->start_ms;
        if (newest)
            memcpy(ret->newest, newest->id, 33);
    }
    leave_corrections(&s);
    return rc;
}

/* Prints which run retracts which, with site or user, time and reason: for a retracted run, and for
 * the retraction itself. */
static void print_retraction(struct runs *runs, const struct tree_run *run, const struct correction *chosen, struct arena *a)
{
    const char *target = runs_file(runs, run, "tags/benchwrap.retracts", 64, a);
    const struct tree_run *by = run;
    struct tree_run *found = NULL;
    CLEANUP_BUF struct buf b;
    if (!target && chosen && tree_find_in(runs_ready_folder(runs), chosen->id, TREE_META, a, &found, NULL) == 0)
        by = found;
    const char *site = runs_file(runs, by, "tags/site", 64, a), *why = runs_file(runs, by, "tags/benchwrap.why", 1000, a);
    buf_init(&b, 8192);
    buf_printf(&b, target ? "the run %.8s retracts the run %.8s" : "the run %.8s is retracted by the run %.8s", run->id,
               target ? target : by->id);
    if (site || *by->user)
        buf_puts(&b, site ? ", site " : ", user ");
    buf_plain(&b, str_of(site ? site : by->user), 60);
    buf_puts(&b, ", ");
    show_time(&b, by->start_ms);
    if (why) {
        buf_puts(&b, ": ");
        buf_plain(&b, str_of(why), 1000);
    }
    fprintf(runs->place.notes, "benchwrap: %s\n", b.p ? b.p : "");
}

/* Finds the run that counts now in place of *run. */
static int runs_find_current(struct runs *runs, unsigned what, struct arena *a, struct tree_run **run, struct err *err)
{
    struct seeing s;
    if (strcmp((*run)->lifecycle, "deleted") == 0)
        fprintf(runs->place.notes, "benchwrap: the run %.8s is deleted: only its id finds it\n", (*run)->id);
    int got = read_corrections(runs, *run, &s, a, err);
    const char *id = got ? (*run)->id : corrections_shown(&s.corrections, (*run)->id);
    if (!id) {
        print_retraction(runs, *run, corrections_of(&s.corrections, (*run)->id), a);
    } else if (strcmp(id, (*run)->id) != 0) {
        fprintf(runs->place.notes, "benchwrap: the run %.8s is amended by %.8s, which is used; =%.8s names the run as it was recorded\n",
                (*run)->id, id, (*run)->id);
        got = tree_find_in(runs_ready_folder(runs), id, what, a, run, err);
    }
    if (got == 0) {
        const struct tree_entry *changes = annotations_of(&s.annotations, &s.corrections, (*run)->id, a, NULL);
        bool valued = what & TREE_METRICS && what & TREE_TAGS;
        tree_annotate(*run, valued ? stale_marked(runs_ready_folder(runs), *run, &s.corrections, changes, a) : changes, what, a);
    }
    leave_corrections(&s);
    return got;
}

/* Finds the run by its name, typed where an id is expected. Returns NULL with err where no run or
 * several have it. */
static const struct tree_run *find_named(struct runs *runs, const char *name, struct arena *a, struct err *err)
{
    const struct tree_run *found = NULL;
    size_t n = 0;
    if (load_nameable(runs, a, err) < 0)
        return NULL;
    for (size_t i = 0; i < runs->count; i++)
        if (strcmp(runs->all[i]->name, name) == 0) {
            found = runs->all[i];
            n++;
        }
    if (n == 1)
        return found;
    if (n)
        err_set(err, ERR_INPUT, "no run with id \"%.40s\"; %zu runs have this name: benchwrap compare --by name", name, n);
    else
        err_set(err, ERR_INPUT, "no run with id or name \"%.80s\" in %s (an id has 4 to 32 digits 0-9 a-f%s); see \"benchwrap ls\"", name,
                runs->tree, strchr(name, '/') ? ", without its folder" : "; the newest run is \"last\"");
    return NULL;
}

/* Applies annotations to a run that was found by its id, and reports statistics that ignore corrections. */
static void settle_found(struct runs *runs, struct tree_run *run, unsigned what, bool listed, struct arena *a)
{
    if (listed)
        tree_annotate(run, runs_listed_changes(runs, run), what, a);
    if (what & TREE_METRICS && what & TREE_TAGS)
        stale_note(runs->place.notes, run);
}

static int several_runs(const struct runs *runs, const char *id, struct err *err)
{
    return err_set(err, ERR_INPUT, "several runs in %s have an id that begins with \"%.40s\"; add digits", runs->tree, id);
}

int runs_find_listed(struct runs *runs, const struct tree_run *listed, unsigned what, struct arena *a, struct tree_run **ret,
                     struct err *err)
{
    *ret = NULL;
    int got = tree_find_in(runs_ready_folder(runs), listed->id, what, a, ret, err);
    if (got == 1 || (got == 0 && runs_is_gone(runs, listed))) {
        runs->gone++;
        return 1;
    }
    if (got == 0)
        settle_found(runs, *ret, what, true, a);
    return got == 2 ? several_runs(runs, listed->id, err) : got;
}

int runs_find(struct runs *runs, const char *name, unsigned what, struct arena *a, struct tree_run **ret, struct err *err)
{
    uint64_t back = 0;
    const char *id = name[0] == '=' ? name + 1 : name, *colon = strrchr(name, ':');
    if (colon) { /* REF:RUN */
        struct runs *other = runs_of_ref(runs, arena_dup(a, name, (size_t)(colon - name)), a, err);
        return other ? runs_find(other, colon + 1, what, a, ret, err) : -1;
    }
    if (strcmp(name, "last") == 0 || (strncmp(name, "last~", 5) == 0 && str_uint(str_of(name + 5), &back))) {
        int got = find_last(runs, name, back, a, &id, err);
        if (got)
            return got;
    }
    int got = tree_find_in(runs_ready_folder(runs), id, what, a, ret, err);
    if (got == 0 && id == name)
        got = runs_find_current(runs, what, a, ret, err);
    if (got == 0)
        settle_found(runs, *ret, what, id != name, a);
    const char *local = got == 1 ? server_copies_find(runs, name, a) : NULL;
    if (local && strcmp(local, name) != 0) { /* it may be deleted here */
        got = runs_find(runs, local, what, a, ret, err);
        if (got == 0)
            fprintf(runs->place.notes, "benchwrap: the server's run %s is %.8s in %s\n", name, local, runs->tree);
        if (got != 1)
            return got;
    }
    const struct tree_run *named = got == 1 ? find_named(runs, name, a, err) : NULL;
    if (named) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 4096);
        buf_plain(&b, str_of(name), 400);
        fprintf(runs->place.notes, "benchwrap: the run named \"%s\" is %.8s\n", b.p ? b.p : "", named->id);
        return runs_find(runs, named->id, what, a, ret, err);
    }
    if (got == 2)
        several_runs(runs, name, err);
    return got > 0 ? 1 : got;
}
