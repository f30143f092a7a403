/* secret_manifest.h: finds the values in the data sections of Kubernetes secrets, whatever the names
 * of the entries. */
#ifndef PROBES_SECRET_MANIFEST_H
#define PROBES_SECRET_MANIFEST_H
#include "base/str.h"

/* What the text before announces. Zeroed at the start of a stream, and passed on between its pieces. */
struct manifest {
    unsigned char kind; /* enum manifest_kind */
    bool in_data, is_plain; /* inside of a data section; its values are not base64 */
    unsigned short indent; /* of the section's name */
};

/* Calls each(context, at, n) for every value of the data section whose name ends at this colon, a
 * position in the text, if one does. Also stores version and kind of the manifest. */
void manifest_check_colon(struct manifest *m, struct str text, size_t colon, void (*each)(void *context, size_t at, size_t n), void *context);
/* The same for the lines of a section that began in an earlier text. `text` begins with a line. */
void manifest_check_lines(struct manifest *m, struct str text, size_t from, void (*each)(void *context, size_t at, size_t n), void *context);
#endif
