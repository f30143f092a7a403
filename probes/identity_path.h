/* identity_path.h: hides folders in what benchwrap itself records of a public run: the name of any
 * of them may be that of a person or a project. */
#ifndef PROBES_IDENTITY_PATH_H
#define PROBES_IDENTITY_PATH_H
#include <stddef.h>

/* Replaces letters and digits of each absolute path in the text by 'd', in place. Names directly below
 * the root ("/data") and those below folders of the machine, /proc and /usr …, stay. A second call
 * changes nothing. Returns the number of paths that it changed. */
size_t identity_hide_paths(char *text, size_t n);
#endif
