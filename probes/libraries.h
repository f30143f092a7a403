/* libraries.h: finds the shared libraries that the loader would load for a program: NEEDED,
 * resolved as ld.so(8) describes, without running anything. */
#ifndef PROBES_LIBRARIES_H
#define PROBES_LIBRARIES_H
#include "probes/elf.h"
#include "probes/look.h"

enum { LIBRARIES_MOST = 256 };

struct library_file {
    const char *name; /* as in NEEDED */
    const char *path; /* where it was found; NULL: nowhere */
    const char *file; /* base name of the file behind links: "libmpi.so.40.30.4"; NULL with path */
    const char *build_id; /* or "" */
    bool variant; /* a glibc-hwcaps variant exists, too: which one is loaded depends on the processor */
};

struct library_list {
    struct library_file files[LIBRARIES_MOST];
    size_t count;
    struct arena *arena; /* holds the texts */
};

/* Fills the list, breadth first, as the loader does, up to LIBRARIES_MOST. program: absolute path of
 * the ELF file that `elf` was read from. arena holds the texts. */
void libraries_resolve(struct library_list *ret, const struct host *h, const char *program, const struct elf *elf, struct arena *arena);

/* Returns the key of the param for this library, by its file's name (libraries.def); NULL: none. */
const char *library_key(const char *name);
/* Returns whether it is the MPI library itself, and not its part for another language. */
bool library_is_mpi(const char *name);
#endif
