/* secret_manifest.h: values in the data sections of Kubernetes secrets. The names of the entries need not say that they are secrets. */
#ifndef PROBES_SECRET_MANIFEST_H
#define PROBES_SECRET_MANIFEST_H
#include "base/str.h"

/* What the text before says. Zeroed at the start of a stream and kept between its pieces. */
struct manifest {
    unsigned char kind; /* enum manifest_kind */
    bool in_data, is_plain; /* inside of a data section; its values are not base64 */
    unsigned short indent; /* of the section's name */
};

/* Calls each(context, at, n) for every value of the data section that begins behind the name that ends at this colon, if one does. Also notes version and kind
 * of the manifest. The colon is a position in the text. */
void manifest_check_colon(struct manifest *m, struct str text, size_t colon, void (*each)(void *context, size_t at, size_t n), void *context);
/* The same for the lines of a section that began in an earlier text. `text` begins with a line. */
void manifest_check_lines(struct manifest *m, struct str text, size_t from, void (*each)(void *context, size_t at, size_t n), void *context);
#endif
