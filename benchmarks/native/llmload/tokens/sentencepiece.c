/* sentencepiece.c: loads the object that calls libsentencepiece, and passes texts to it; see
 * sentencepiece.h. */
#include "benchmarks/native/llmload/tokens/sentencepiece.h"

#include "base/installed.h"
#include "benchmarks/native/llmload/tokens/sentencepiece_calls.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLS(CALL) CALL(open) CALL(close) CALL(encode) CALL(size) CALL(text)

struct sentencepiece {
    void *library, *model;
#define CALL(name) llmload_pieces_##name##_fn *name;
    CALLS(CALL)
#undef CALL
};

/* Loads llmload's own object with libsentencepiece, which stays loaded in s->library. Returns 0, or
 * another value with *err. */
static int sentencepiece_load_library(struct sentencepiece *s, struct err *err)
{
    struct buf path CLEANUP_BUF;
    buf_init(&path, PATH_MAX + 64);
    if (installed_path("libexec/benchwrap/llmload-sentencepiece.so", &path) < 0)
        return err_sys(err, "finding the program's own folder");
    s->library = dlopen(path.p, RTLD_NOW | RTLD_LOCAL);
    if (!s->library) {
        const char *why = dlerror();
        if (access(path.p, F_OK) < 0)
            return err_set(err, ERR_SYSTEM,
                           "this build cannot read SentencePiece models: install libsentencepiece-dev (Debian) or sentencepiece-devel and "
                           "a C++ compiler, and run make; without --tokenizer the server's own counts apply");
        return err_set(err, ERR_SYSTEM, "cannot load libsentencepiece (package libsentencepiece0): %.300s", why ? why : "");
    }
#define CALL(name)                                                                                                                         \
    if (!(s->name = (llmload_pieces_##name##_fn *)dlsym(s->library, "llmload_pieces_" #name)))                                             \
        return err_set(err, ERR_SYSTEM, "%.300s is of another version: it has no %s", path.p, #name);
    CALLS(CALL)
#undef CALL
    return 0;
}

int sentencepiece_check(struct err *err)
{
    struct sentencepiece s = {0};
    int rc = sentencepiece_load_library(&s, err);
    if (s.library)
        dlclose(s.library);
    return rc;
}

int sentencepiece_open(struct sentencepiece **ret, const char *path, struct err *err)
{
    char why[300] = "";
    struct sentencepiece *s = calloc(1, sizeof *s);
    if (!s)
        return err_memory(err, "a SentencePiece model");
    int rc = sentencepiece_load_library(s, err);
    if (rc == 0 && !(s->model = s->open(path, why, sizeof why)))
        rc = err_set(err, ERR_INPUT, "no SentencePiece model: %s", why);
    if (rc < 0) {
        sentencepiece_free(s);
        return -1;
    }
    *ret = s;
    return 0;
}

void sentencepiece_free(struct sentencepiece *s)
{
    if (!s)
        return;
    if (s->model)
        s->close(s->model);
    free(s); /* the library stays: C++ does not like to be unloaded */
}

int sentencepiece_encode(const struct sentencepiece *s, struct str text, struct ids *to, struct err *err)
{
    if (text.n > 1u << 30)
        return err_set(err, ERR_INPUT, "a text of %zu bytes is too long for a SentencePiece model", text.n);
    size_t room = text.n + 16; /* a byte has one token at most, and a few more precede it; normalizing can make text longer */
    long n = -1;
    for (bool again = true; again; again = n > (long)room, room = again ? (size_t)n : room) {
        uint32_t *ids = calloc(room ? room : 1, sizeof *ids);
        if (!ids)
            return err_memory(err, "the tokens of a text");
        n = s->encode(s->model, text.p ? text.p : "", text.n, ids, room);
        for (long i = 0; i < n && n <= (long)room; i++)
            ids_add(to, ids[i]);
        free(ids);
    }
    return n < 0 ? err_set(err, ERR_INPUT, "cannot encode a text of %zu bytes with the SentencePiece model", text.n) : 0;
}

uint32_t sentencepiece_size(const struct sentencepiece *s)
{
    int n = s->size(s->model);
    return n < 0 ? 0 : (uint32_t)n;
}

bool sentencepiece_text(const struct sentencepiece *s, uint32_t id, struct buf *to)
{
    const char *text = s->text(s->model, (int)id);
    for (; text && *text; text++)
        if (strncmp(text, "\xe2\x96\x81", 3) == 0) {
            buf_putc(to, ' ');
            text += 2;
        } else
            buf_putc(to, *text);
    return text != NULL;
}
