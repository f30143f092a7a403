/* curl.c: libcurl, loaded at run time; see curl.h. */
#include "base/curl.h"

#include "base/library.h"

#include <dlfcn.h>

int curl_load(struct curl *l, struct err *err)
{
    /* Debian has the same library with three TLS libraries behind it; which one does not matter. */
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4"};
    if (!l->handle)
        l->handle = library_open(names, sizeof names / sizeof *names);
    if (!l->handle)
        return err_set(err, ERR_SYSTEM,
                       "libcurl cannot be loaded, which talking to servers needs: install libcurl4 (libcurl on other systems)");
#define CALL(name)                                                                                                                         \
    if (!(l->name = (__typeof__(l->name))dlsym(l->handle, #name)))                                                                         \
        return err_set(err, ERR_SYSTEM, "the libcurl of this machine is too old: it has no %s", #name);
    CURL_CALLS(CALL)
#undef CALL
    return 0;
}
