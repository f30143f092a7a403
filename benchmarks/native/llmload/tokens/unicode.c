/* unicode.c: normal forms by utf8proc, whose one function is bound at run time: ASCII, which is
 * most prompts, needs no library. */
#include "benchmarks/native/llmload/tokens/unicode.h"

#include "base/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/types.h>

/* utf8proc_map of utf8proc 2.x, https://juliastrings.github.io/utf8proc/doc/: options are bits, the
 * result is the caller's to free. */
typedef ssize_t utf8proc_map_fn(const uint8_t *text, ssize_t n, uint8_t **ret, int options);
enum { STABLE = 1 << 1, COMPAT = 1 << 2, COMPOSE = 1 << 3, DECOMPOSE = 1 << 4 };

static const struct {
    const char *name;
    int options;
} forms[] = {
    {"NFC", STABLE | COMPOSE}, {"NFD", STABLE | DECOMPOSE}, {"NFKC", STABLE | COMPOSE | COMPAT}, {"NFKD", STABLE | DECOMPOSE | COMPAT}};

int unicode_form_of(const char *name, enum unicode_form *ret, struct err *err)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(name, forms[i].name) == 0) {
            *ret = (enum unicode_form)i;
            return 0;
        }
    return err_set(err, ERR_INPUT, "\"%.20s\" is no normal form", name);
}

static utf8proc_map_fn *map;

static void load_utf8proc(void)
{
    void *library = library_open(LIBRARY_UTF8PROC);
    if (library)
        map = (utf8proc_map_fn *)dlsym(library, "utf8proc_map");
}

int unicode_normalize(enum unicode_form form, struct str text, struct buf *to, struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    size_t ascii = 0;
    while (ascii < text.n && (signed char)text.p[ascii] >= 0)
        ascii++;
    if (ascii == text.n) {
        buf_str(to, text);
        return 0;
    }
    pthread_once(&once, load_utf8proc);
    if (!map)
        return library_err(LIBRARY_UTF8PROC, err);
    uint8_t *made = NULL;
    ssize_t n = map((const uint8_t *)text.p, (ssize_t)text.n, &made, forms[form].options);
    if (n >= 0)
        buf_add(to, made, (size_t)n);
    free(made);
    return n >= 0 ? 0 : err_set(err, ERR_INPUT, "a text of %zu bytes cannot be brought into form %s", text.n, forms[form].name);
}

bool unicode_has_nul(struct str json)
{
    if (json.n && memchr(json.p, 0, json.n))
        return true;
    for (size_t i = 0; i + 1 < json.n; i++)
        if (json.p[i] == '\\') {
            if (str_starts(str_sub(json, i, 6), "\\u0000"))
                return true;
            i++; /* an escaped backslash begins no escape */
        }
    return false;
}
