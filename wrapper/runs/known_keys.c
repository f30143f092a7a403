/* known_keys.c: searches the keys of runs for the one that a filter probably means. */
#include "runs/known_keys.h"

#include <stdio.h>
#include <string.h>

enum { SEARCHED = 20000, LISTED = 100 }; /* runs that may have the key; runs whose keys are compared with it */

static const char *const known_folders[] = {[FILTER_METRIC] = "metrics", [FILTER_PARAM] = "params", [FILTER_TAG] = "tags"};

/* Returns whether one of the newest SEARCHED runs has the key. */
static bool is_known_key(const struct runs *runs, const struct filter_key *key)
{
    char path[1024];
    struct folder_entry e;
    for (size_t i = 0; i < runs->count && i < SEARCHED; i++) {
        const struct folder tree = runs_tree(runs, runs->all[i]);
        if (key->kind == FILTER_TAG && tree_annotated_tag(runs->all[i], key->name))
            return true;
        if ((size_t)snprintf(path, sizeof path, "%s/%s/%s", tree_run_path(runs->all[i]), known_folders[key->kind], key->name) <
                sizeof path &&
            folder_look(&tree, path, &e, NULL) == 0)
            return true;
    }
    return false;
}

struct nearest_key {
    struct str wanted;
    char name[300];
    unsigned least;
};

/* Notes the name where it is nearer to the key of the filter than the nearest so far. A name that
 * contains that key, of 3 bytes or more, counts as 2 edits away at most. */
static int compare_known_name(void *context, const struct folder_entry *e)
{
    struct nearest_key *n = context;
    unsigned d = str_distance(n->wanted, e->name);
    bool within = n->wanted.n >= 3 && str_find(e->name, n->wanted) >= 0;
    if (within && d > 2)
        d = 2;
    bool better = d < n->least || (d == n->least && strcmp(e->name.p, n->name) < 0);
    if (better && e->kind != FOLDER_FOLDER && e->name.n < sizeof n->name) {
        memcpy(n->name, e->name.p, e->name.n + 1);
        n->least = d;
    }
    return 0;
}

/* Searches the first LISTED runs for the key nearest to the one of the filter. Of another kind than
 * the filter's, only an equal name counts. Returns false where none is near. */
static bool find_nearest_key(const struct runs *runs, const struct filter_key *wanted, enum filter_kind kind, struct nearest_key *n)
{
    char path[300];
    unsigned far = (unsigned)(strlen(wanted->name) / 3 + 2);
    *n = (struct nearest_key){.wanted = str_of(wanted->name), .least = kind != wanted->kind ? 1 : far < 6 ? far : 6};
    for (size_t i = 0; i < runs->count && i < LISTED; i++) {
        CLEANUP_FOLDER struct folder in = {0};
        const struct folder tree = runs_tree(runs, runs->all[i]);
        snprintf(path, sizeof path, "%s/%s", tree_run_path(runs->all[i]), known_folders[kind]);
        if (folder_enter(&tree, path, &in) == 0)
            folder_names(&in, compare_known_name, n);
    }
    return n->name[0] != 0;
}

/* Returns "no run has params.bs; the nearest key is …", with a key of another kind where no key of
 * this kind is near. The text is in the arena. */
static const char *explain_unknown_key(const struct runs *runs, const struct filter_key *key, struct arena *a)
{
    struct nearest_key nearest;
    CLEANUP_BUF struct buf b, plain;
    buf_init(&b, 4096);
    buf_init(&plain, 16384);
    if (runs->count > SEARCHED)
        buf_printf(&b, "none of the newest %d runs has ", SEARCHED);
    else
        buf_puts(&b, "no run has ");
    filter_key_show(&b, key);
    enum filter_kind kind = key->kind;
    bool found = find_nearest_key(runs, key, kind, &nearest);
    for (int other = FILTER_METRIC; other <= FILTER_TAG && !found; other++)
        if ((enum filter_kind)other != key->kind)
            found = find_nearest_key(runs, key, kind = (enum filter_kind)other, &nearest);
    if (found) {
        buf_puts(&b, "; the nearest key is ");
        filter_key_show(&b, &(struct filter_key){.kind = kind, .name = nearest.name});
    }
    buf_plain(&plain, buf_text(&b), 2000);
    return arena_dup(a, plain.p ? plain.p : "", plain.n);
}

const char *known_keys_explain(const struct runs *runs, const struct filter *query, struct arena *a)
{
    const struct filter_key *keys;
    size_t n = filter_keys(query, a, &keys);
    for (size_t i = 0; i < n && runs->count; i++)
        if (keys[i].kind <= FILTER_TAG && !is_known_key(runs, &keys[i]))
            return explain_unknown_key(runs, &keys[i], a);
    return NULL;
}
