/* tokenizer.c: one interface over both kinds of tokenizer files; see tokenizer.h. */
#include "benchmarks/native/llmload/tokens/tokenizer.h"

#include "base/fs.h"
#include "base/sha256.h"
#include "benchmarks/native/llmload/tokens/bpe_file.h"
#include "benchmarks/native/llmload/tokens/sentencepiece.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct tokenizer {
    struct bpe_file *bpe;
    struct sentencepiece *pieces;
    char hash[SHA256_HEX];
};

enum { FILE_MAX = 1 << 30, CLEAN_MAX = 256 << 20 };

/* Reads the hash of the file, and opens it: as a SentencePiece model where its name ends with
 * ".model", else as tokenizer.json. Returns 0, or -1 with *err. */
static int open_file(struct tokenizer *t, const char *path, struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, FILE_MAX);
    if (fs_read(AT_FDCWD, path, FILE_MAX, 0, &text, err) < 0)
        return -1;
    sha256_of(text.p ? text.p : "", text.n, t->hash);
    if (str_ends(str_of(path), ".model"))
        return sentencepiece_open(&t->pieces, path, err);
    return bpe_file_open(&t->bpe, path, err);
}

/* Opens the first of the usual files that the folder has. Returns 0, or -1 with *err. */
static int tokenizer_open_folder(struct tokenizer *t, const char *path, struct err *err)
{
    static const char *const names[] = {"tokenizer.json", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model"};
    struct buf file CLEANUP_BUF;
    buf_init(&file, 1 << 16);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        buf_clear(&file);
        buf_printf(&file, "%s/%s", path, names[i]);
        if (!file.failed && access(file.p, F_OK) == 0)
            return open_file(t, file.p, err);
    }
    return err_set(err, ERR_INPUT, "the folder has no tokenizer.json and no tokenizer.model");
}

int tokenizer_open(struct tokenizer **ret, const char *path, struct err *err)
{
    struct stat st;
    struct tokenizer *t = calloc(1, sizeof *t);
    int rc = t ? 0 : err_memory(err, "a tokenizer");
    if (rc == 0 && stat(path, &st) < 0)
        rc = err_sys(err, "opening it");
    if (rc == 0)
        rc = S_ISDIR(st.st_mode) ? tokenizer_open_folder(t, path, err) : open_file(t, path, err);
    if (rc < 0) {
        tokenizer_free(t);
        return err_wrap(err, "tokenizer %.300s", path);
    }
    *ret = t;
    return 0;
}

void tokenizer_free(struct tokenizer *t)
{
    if (!t)
        return;
    bpe_file_free(t->bpe);
    sentencepiece_free(t->pieces);
    free(t);
}

const char *tokenizer_kind(const struct tokenizer *t)
{
    return t->bpe ? "bpe" : "sentencepiece";
}

const char *tokenizer_hash(const struct tokenizer *t)
{
    return t->hash;
}

int tokenizer_encode(const struct tokenizer *t, struct str text, struct ids *to, struct err *err)
{
    struct buf clean CLEANUP_BUF;
    buf_init(&clean, CLEAN_MAX);
    if (!str_valid_utf8(text)) {
        buf_utf8(&clean, text);
        if (clean.failed)
            return err_set(err, ERR_INPUT, "a text of %zu bytes is longer than %d MiB in UTF-8 (or out of memory)", text.n,
                           CLEAN_MAX >> 20);
        text = buf_text(&clean);
    }
    int rc = t->bpe ? bpe_file_encode(t->bpe, text, to, err) : sentencepiece_encode(t->pieces, text, to, err);
    return rc == 0 && to->failed ? err_memory(err, "the tokens of a text of %zu bytes", text.n) : rc;
}

long tokenizer_count(const struct tokenizer *t, struct str text, struct err *err)
{
    struct ids ids CLEANUP_IDS = {0};
    return tokenizer_encode(t, text, &ids, err) < 0 ? -1 : (long)ids.n;
}

uint32_t tokenizer_size(const struct tokenizer *t)
{
    return t->bpe ? bpe_file_size(t->bpe) : sentencepiece_size(t->pieces);
}

bool tokenizer_text(const struct tokenizer *t, uint32_t id, struct buf *to)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 1 << 16);
    bool good = t->bpe ? bpe_file_text(t->bpe, id, &text) : sentencepiece_text(t->pieces, id, &text);
    if (!good || text.failed || !text.n || !str_valid_utf8(buf_text(&text)))
        return false;
    buf_str(to, buf_text(&text));
    return true;
}
