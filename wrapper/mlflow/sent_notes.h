/* sent_notes.h: where runs of a tree are on MLflow servers, by the notes that uploads leave. */
#ifndef WRAPPER_MLFLOW_SENT_NOTES_H
#define WRAPPER_MLFLOW_SENT_NOTES_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"

/* A run on one server. */
struct sent_note {
    const char *server; /* its address, without credentials */
    const char *run; /* its id there */
    const char *experiment; /* the server's id of it; "": not known */
    struct sent_note *next;
};

/* Returns what is noted in the folder `state` (.benchwrap/sync) of the run with this id, one note
 * for each server that has the run completely; in the arena. NULL: nothing is noted. */
struct sent_note *sent_notes_of(const char *state, const char *id, struct arena *a);
/* Finds the run whose id on a server begins with this text. Returns its id in the tree, in the
 * arena; NULL: none has, or several have. */
const char *sent_notes_find(const char *state, const char *server_id, struct arena *a);
/* Loads the note of the run with this id. dir: the folder of one server's notes. The caller frees it
 * with json_free. NULL: there is none, or it is damaged. */
struct json *sent_note_load(int dir, const char *id);
/* Appends the address of the run's page; where the experiment is not known, the server's address and
 * the run's id there. */
void sent_note_link(const struct sent_note *note, struct buf *to);
#endif
