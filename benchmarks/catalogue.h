/* catalogue.h: where rule files come from: folders of one's own, searched in their order, then those compiled into the program.
 *
 * A folder holds <name>/rules.yaml. A compiled one has the address "shipped:<name>", which is valid
 * in place of a path. */
#ifndef BENCHMARKS_CATALOGUE_H
#define BENCHMARKS_CATALOGUE_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum { CATALOGUE_FOLDERS_MAX = 32, CATALOGUE_FILE_MAX = 1 << 20 };

struct catalogue {
    const char *folder[CATALOGUE_FOLDERS_MAX]; /* need not exist */
    size_t folders;
};

/* Adds a folder at the end, the same only once; more than CATALOGUE_FOLDERS_MAX are not searched. `path`
 * must outlive the catalogue. */
void catalogue_add(struct catalogue *c, const char *path);
/* Returns the address of the rule file called `name` (also "shipped:<name>"), in the arena; NULL: there is
 * none, or out of memory. */
const char *catalogue_by_name(const struct catalogue *c, const char *name, struct arena *a);
/* Returns the catalogue's rule file for a program: of an entry with its base name, or one that
 * lists it under `programs`. Compiles no rule file. In the arena; NULL: none. */
const char *catalogue_for_program(const struct catalogue *c, const char *program, struct arena *a);
/* Returns the rule file for a command: for the script that it runs by an interpreter, else for its
 * program. argv: NULL at the end, not empty. */
const char *catalogue_for_command(const struct catalogue *c, char *const *argv, struct arena *a);
/* Returns the address that the user means by NAME|FILE, in the arena: a word without a slash is
 * searched first, else it is a path. NULL: neither is there, or out of memory. */
const char *catalogue_find(const struct catalogue *c, const char *text, struct arena *a);
/* Returns the name of the entry, in the arena: "ior" for "…/ior/rules.yaml" and "shipped:ior". NULL: the
 * path has no folder, or out of memory. */
const char *catalogue_name(const char *path, struct arena *a);
/* Appends the text at an address, at most CATALOGUE_FILE_MAX bytes. 0; -1 with err: it cannot be read, is
 * longer, or this program has no such entry. */
int catalogue_read(const char *path, struct buf *ret, struct err *err);

struct catalogue_entry {
    const char *name, *path;
    const char *from; /* the folder; NULL: shipped */
    bool hidden; /* an earlier one has the same name */
};
/* Returns all entries by name, then in the order of search, in the arena. NULL: out of memory, or there
 * are none. */
struct catalogue_entry *catalogue_list(const struct catalogue *c, struct arena *a, size_t *ret_n);

/* The samples stored with a rule file: how many there are, and the program and its arguments in the first one that passes, one a line (empty: none). */
struct catalogue_samples {
    size_t count;
    const char *example;
};
/* Counts the samples of a rule file, and finds the arguments of one that passes. The arena owns the
 * text. */
void catalogue_read_samples(const char *path, struct arena *a, struct catalogue_samples *ret);

/* The compiled ones, made from benchmarks/catalogue by scripts/make-shipped; ends with a name of NULL. */
struct catalogue_shipped {
    const char *name, *text;
    size_t n;
    size_t samples;
    const char *example; /* as in struct catalogue_samples */
};
extern const struct catalogue_shipped catalogue_shipped[];
#endif
