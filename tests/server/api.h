/* api.h: enough of the MLflow REST API to keep experiments, runs and artifacts in memory, stricter than the real server: a wrong JSON type is
 * an error here, where the real one answers 200 and loses what follows. For tests only; nothing is ever freed. */
#ifndef SERVER_API_H
#define SERVER_API_H
#include "base/buf.h"

struct api;

struct answer {
    int status;
    const char *type, *etag; /* etag NULL: none */
    struct buf body; /* the caller frees it */
};

/* journal: a file to which every request that changes something is appended, and which is done again at the start; NULL: none.
 * unfiltered: searches overlook their filter. */
struct api *api_new(const char *journal, bool unfiltered);
/* uri as in the request line; host as in its header, for the addresses in replies. From several threads at once. */
void api_do(struct api *api, const char *method, const char *uri, const char *host, struct str body, struct answer *ret);
#endif
