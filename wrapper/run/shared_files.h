/* shared_files.h: adds the files that the program's own MLflow client logged to the run's record; see shared.h. */
#ifndef WRAPPER_RUN_SHARED_FILES_H
#define WRAPPER_RUN_SHARED_FILES_H
#include "run/shared.h"

/* Adds the file `dir`/`file` as the artifact `wanted`, below mlflow/ where the run has another one of
 * this name. A file that cannot be stored is recorded as missing. */
void shared_add_file(struct shared_into *to, int dir, const char *file, const char *wanted);
/* Adds a file as shared_add_file does; of a folder, every file below it. */
void shared_add_entry(struct shared_into *to, int dir, const char *name, const char *path);
/* Adds every file below the folder `dir`/`name`, if there is one. `path` is its name as an artifact. */
void shared_add_folder(struct shared_into *to, int dir, const char *name, const char *path);
#endif
