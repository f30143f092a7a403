/* curl.h: libcurl's functions, loaded (dlopen) when they are needed first. */
#ifndef BASE_CURL_H
#define BASE_CURL_H
#include "base/err.h"

#include <curl/curl.h>

/* curl_easy_setopt checks its types by a macro, which is in the way of a function pointer. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

#define CURL_CALLS(CALL)                                                                                                                   \
    CALL(curl_global_init)                                                                                                                 \
    CALL(curl_version)                                                                                                                     \
    CALL(curl_easy_init)                                                                                                                   \
    CALL(curl_easy_setopt)                                                                                                                 \
    CALL(curl_easy_getinfo)                                                                                                                \
    CALL(curl_easy_cleanup)                                                                                                                \
    CALL(curl_easy_reset)                                                                                                                  \
    CALL(curl_easy_strerror)                                                                                                               \
    CALL(curl_multi_init)                                                                                                                  \
    CALL(curl_multi_setopt)                                                                                                                \
    CALL(curl_multi_add_handle)                                                                                                            \
    CALL(curl_multi_remove_handle)                                                                                                         \
    CALL(curl_multi_perform)                                                                                                               \
    CALL(curl_multi_poll)                                                                                                                  \
    CALL(curl_multi_socket_action)                                                                                                         \
    CALL(curl_multi_info_read)                                                                                                             \
    CALL(curl_multi_cleanup)                                                                                                               \
    CALL(curl_getdate)                                                                                                                     \
    CALL(curl_slist_append)                                                                                                                \
    CALL(curl_slist_free_all)

struct curl {
    void *handle;
#define CALL(name) __typeof__(name) *name;
    CURL_CALLS(CALL)
#undef CALL
};

/* Loads libcurl, which stays loaded: it keeps state of its own. ERR_SYSTEM: it cannot be loaded
 * (the text names the package), or is too old. */
int curl_load(struct curl *ret, struct err *err);
#endif
