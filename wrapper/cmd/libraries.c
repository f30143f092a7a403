/* libraries.c: the libraries this program runs with. */
#include "base/http.h"
#include "cmd/libraries.h"
#include "git/repo.h"
#include "mlruns-format/record.h"

#include <cjson/cJSON.h>
#include <dlfcn.h>
#include <hwloc.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uuid/uuid.h>
#include <yaml.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* The file a function of the library was loaded from, links followed ("libuuid.so.1.3.0"). */
static const char *library_file_of(const void *function, struct arena *a)
{
    Dl_info info, self;
    char real[PATH_MAX];
    if (!dladdr(function, &info) || !info.dli_fname || !realpath(info.dli_fname, real))
        return "not known";
    if (dladdr((const void *)(uintptr_t)libraries_list, &self) && self.dli_fbase == info.dli_fbase)
        return "linked in";
    return arena_dup(a, real, strlen(real));
}

/* Without a call that returns it: the number at the end of the file's name. */
static const char *version_of_file(const char *file)
{
    const char *so = strstr(file, ".so.");
    return so ? so + 4 : "not known";
}

static const char *hwloc_text(struct arena *a)
{
    unsigned api = hwloc_get_api_version();
    return arena_printf(a, "API %u.%u, built with %s", api >> 16, api >> 8 & 255, HWLOC_VERSION);
}

static const char *pcre2_text(struct arena *a)
{
    char text[64] = "not known"; /* at most 24 characters, by pcre2api(3) */
    pcre2_config(PCRE2_CONFIG_VERSION, text);
    return arena_dup(a, text, strlen(text));
}

#define ADDRESS(f) ((const void *)(uintptr_t)(f))

size_t libraries_list(struct library *ret, struct arena *a)
{
    size_t n = 0;
    ret[n++] = (struct library){"hwloc", hwloc_text(a), library_file_of(ADDRESS(hwloc_get_api_version), a)};
    ret[n++] = (struct library){"cJSON", cJSON_Version(), library_file_of(ADDRESS(cJSON_Version), a)};
    ret[n++] = (struct library){"libyaml", yaml_get_version_string(), library_file_of(ADDRESS(yaml_get_version_string), a)};
    ret[n++] = (struct library){"PCRE2", pcre2_text(a), library_file_of(ADDRESS(pcre2_config_8), a)};
    const char *uuid = library_file_of(ADDRESS(uuid_is_null), a);
    ret[n++] = (struct library){"libuuid", version_of_file(uuid), uuid};
    const char *curl = http_library(); /* "libcurl/7.88.1 OpenSSL/3.0 …" */
    ret[n++] = (struct library){"libcurl", curl ? arena_printf(a, "%.*s", (int)strcspn(curl + 8, " "), curl + 8) : "not installed",
                                "loaded when a server is talked to"};
    const char *git = repo_library();
    ret[n++] = (struct library){"libgit2", git ? git : "not installed", "loaded when a repository is worked with"};
    return n;
}

#if __has_include(<microhttpd.h>)
enum { HAS_AGENTS = true };
#else
enum { HAS_AGENTS = false };
#endif

size_t libraries_build_parts(struct build_part *ret, struct arena *a)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/'); /* PREFIX/libexec/benchwrap/benchwrap-core */
    const char *object = arena_printf(a, "%.*s/llmload-sentencepiece.so", slash ? (int)(slash - self) : 0, self);
    ret[BUILD_AGENTS] = (struct build_part){"agents of llmload", HAS_AGENTS, "not in this build",
                                            "install libmicrohttpd-dev (Debian) or libmicrohttpd-devel and run make"};
    ret[BUILD_SENTENCEPIECE] =
        (struct build_part){"SentencePiece models", object && access(object, R_OK) == 0, "not in this build",
                            "install libsentencepiece-dev (Debian) or sentencepiece-devel and a C++ compiler, and run make"};
    return BUILD_PARTS_MAX;
}

const char *libraries_format(void)
{
    _Static_assert(MLRUNS_FORMAT == 1, "the text below has the same content");
    return "1";
}
