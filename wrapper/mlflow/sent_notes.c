/* sent_notes.c: where runs of a tree are on MLflow servers; see sent_notes.h. upload_state.c writes
 * the notes. */
#include "mlflow/sent_notes.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/place.h"

#include <fcntl.h>
#include <string.h>

enum { NOTE_MAX = 16 << 10, NOTE_LEVELS = 2, FOLDER_DIGITS = 16, RUN_DIGITS = 32 };

/* Opens the folder of one server's notes. -1: none, or another user can have written them. */
static int open_server_notes(int state, const char *name)
{
    int dir = strlen(name) == FOLDER_DIGITS ? place_open(state, name, O_RDONLY | O_DIRECTORY, 0) : -1;
    if (dir >= 0 && !place_is_own(dir))
        fs_close(&dir);
    return dir;
}

struct json *sent_note_load(int dir, const char *id)
{
    CLEANUP_BUF struct buf b;
    struct json *j = NULL;
    buf_init(&b, NOTE_MAX + 4096);
    if (strlen(id) != RUN_DIGITS || fs_read(dir, id, NOTE_MAX, 0, &b, NULL) || json_parse(&j, buf_text(&b), NULL, NULL))
        return NULL;
    return j;
}

/* Reads the note of the run. NULL: there is none of a run that the server has. */
static struct sent_note *read_sent_note(int dir, const char *id, struct arena *a)
{
    struct json *j = sent_note_load(dir, id);
    const char *known = json_string(json_get(j, "known"), ""), *server = json_string(json_get(j, "server"), ""),
               *run = json_string(json_get(j, "run"), "");
    bool there = (strcmp(known, "complete") == 0 || strcmp(known, "again") == 0) && *server && *run;
    struct sent_note *note = there ? ARENA_NEW(a, struct sent_note) : NULL;
    if (note)
        *note = (struct sent_note){.server = arena_printf(a, "%s", server),
                                   .run = arena_printf(a, "%s", run),
                                   .experiment = arena_printf(a, "%s", json_string(json_get(j, "experiment"), ""))};
    json_free(j);
    return a->failed ? NULL : note;
}

struct sent_note *sent_notes_of(const char *state, const char *id, struct arena *a)
{
    struct sent_note *first = NULL, **tail = &first;
    struct fs_names servers = {0};
    CLEANUP_FD int root = place_open_below(state, NOTE_LEVELS, 0);
    if (root < 0 || fs_list(root, ".", &servers, NULL) < 0)
        return NULL;
    for (size_t i = 0; i < servers.count; i++) {
        CLEANUP_FD int dir = open_server_notes(root, servers.names[i]);
        if (dir >= 0 && (*tail = read_sent_note(dir, id, a)))
            tail = &(*tail)->next;
    }
    fs_names_deinit(&servers);
    return first;
}

/* Searches one server's notes. *ret: the id in the tree. Returns how many runs it has found, 2 at
 * most. */
static unsigned find_in_notes(int dir, const char *server_id, struct arena *a, const char **ret)
{
    struct fs_names runs = {0};
    unsigned n = 0;
    if (fs_list(dir, ".", &runs, NULL) < 0)
        return 0;
    for (size_t i = 0; i < runs.count && n < 2; i++) {
        const struct sent_note *note = read_sent_note(dir, runs.names[i], a);
        if (!note || strncmp(note->run, server_id, strlen(server_id)) != 0)
            continue;
        *ret = arena_printf(a, "%s", runs.names[i]);
        n++;
    }
    fs_names_deinit(&runs);
    return n;
}

const char *sent_notes_find(const char *state, const char *server_id, struct arena *a)
{
    const char *found = NULL;
    unsigned n = 0;
    struct fs_names servers = {0};
    CLEANUP_FD int root = place_open_below(state, NOTE_LEVELS, 0);
    if (root < 0 || fs_list(root, ".", &servers, NULL) < 0)
        return NULL;
    for (size_t i = 0; i < servers.count; i++) {
        CLEANUP_FD int dir = open_server_notes(root, servers.names[i]);
        n += dir >= 0 ? find_in_notes(dir, server_id, a, &found) : 0;
    }
    fs_names_deinit(&servers);
    return n == 1 ? found : NULL;
}

void sent_note_link(const struct sent_note *note, struct buf *to)
{
    buf_puts(to, note->server);
    if (*note->experiment)
        buf_printf(to, "/#/experiments/%s/runs/%s", note->experiment, note->run);
    else
        buf_printf(to, ", run %s", note->run);
}
