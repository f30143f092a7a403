/* curl.c: libcurl, loaded at run time; see curl.h. */
#include "base/curl.h"

#include "base/library.h"

#include <dlfcn.h>

int curl_load(struct curl *l, struct err *err)
{
    if (!l->handle)
        l->handle = library_open(LIBRARY_CURL);
    if (!l->handle)
        return library_err(LIBRARY_CURL, err);
#define CALL(name)                                                                                                                         \
    if (!(l->name = (__typeof__(l->name))dlsym(l->handle, #name)))                                                                         \
        return err_set(err, ERR_SYSTEM, "the libcurl of this machine is too old: it has no %s", #name);
    CURL_CALLS(CALL)
#undef CALL
    return 0;
}
