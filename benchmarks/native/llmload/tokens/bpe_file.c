/* bpe_file.c: reading tokenizer.json, and texts through it; see bpe_file.h. */
#include "benchmarks/native/llmload/tokens/bpe_file.h"

#include "base/fs.h"
#include "base/json.h"
#include "benchmarks/native/llmload/tokens/added.h"
#include "benchmarks/native/llmload/tokens/bpe.h"
#include "benchmarks/native/llmload/tokens/steps.h"

#include <fcntl.h>
#include <stdlib.h>

enum { FILE_MAX = 256 << 20 };

struct bpe_file {
    struct bpe bpe;
    struct steps normal, cut; /* normalizers, pre-tokenizers */
    struct added_list added;
    bool byte_level; /* tokens are written in characters that stand for bytes */
};

static size_t merge_count(const struct json *model)
{
    return json_count(json_get(model, "merges"));
}

/* "left right", or ["left", "right"] as newer files have it. */
static int read_merge(struct bpe *b, const struct json *j, struct err *err)
{
    if (json_is_array(j))
        return bpe_add_merge(b, str_of(json_string(json_at(j, 0), "")), str_of(json_string(json_at(j, 1), "")), err);
    struct str right = str_of(json_string(j, "")), left = str_cut(&right, ' ');
    return bpe_add_merge(b, left, right.p ? right : STR(""), err);
}

/* Returns 0 where the model is one that is read exactly, else another value with *err. */
static int bpe_check_model(const struct json *model, struct err *err)
{
    static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    const char *type = json_string(json_get(model, "type"), "BPE");
    if (strcmp(type, "BPE") != 0)
        return err_set(
            err, ERR_INPUT,
            "the model is of type \"%.40s\"; BPE is read (others: its SentencePiece model, or no --tokenizer: the server's usage counts then)",
            type);
    for (size_t i = 0; i < sizeof affixes / sizeof *affixes; i++)
        if (*json_string(json_get(model, affixes[i]), ""))
            return err_set(err, ERR_INPUT, "its %s is not supported", affixes[i]);
    if (json_number(json_get(model, "dropout"), 0) > 0)
        return err_set(err, ERR_INPUT, "it has dropout: its counts are random");
    return json_is_object(json_get(model, "vocab")) ? 0 : err_set(err, ERR_INPUT, "model/vocab is missing");
}

/* Reads the vocabulary, merges and flags of "model" into b, which bpe_init has begun, with capacity
 * for so many added tokens. Returns 0, or -1 with *err: ERR_INPUT, or ERR_SYSTEM when out of memory.
 * The caller ends b with bpe_deinit in both cases. */
static int read_model(struct bpe *b, const struct json *model, size_t added, struct err *err)
{
    const struct json *vocab = json_get(model, "vocab");
    if (bpe_check_model(model, err) < 0 || bpe_reserve(b, json_count(vocab) + added, merge_count(model), err) < 0)
        return -1;
    for (const struct json *j = json_first(vocab); j; j = json_next(j))
        if (bpe_add_token(b, str_of(json_key(j)), json_integer(j, -1), err) < 0)
            return err_wrap(err, "model/vocab, \"%.40s\"", json_key(j));
    for (const struct json *j = json_first(json_get(model, "merges")); j; j = json_next(j))
        if (read_merge(b, j, err) < 0)
            return err_wrap(err, "model/merges");
    const char *unknown = json_string(json_get(model, "unk_token"), NULL);
    b->unknown = unknown ? bpe_find(b, str_of(unknown)) : -1;
    b->fuse_unknown = json_bool(json_get(model, "fuse_unk"), false);
    b->byte_fallback = json_bool(json_get(model, "byte_fallback"), false);
    b->whole_first = json_bool(json_get(model, "ignore_merges"), false);
    bpe_find_bytes(b);
    return 0;
}

/* Reads the model, the steps before it and the added tokens. Returns 0, or another value with
 * *err. */
static int bpe_read_members(struct bpe_file *f, const struct json *j, struct err *err)
{
    const struct json *added = json_get(j, "added_tokens");
    if (read_model(&f->bpe, json_get(j, "model"), json_count(added), err) < 0)
        return -1;
    if (steps_add(&f->normal, json_get(j, "normalizer"), err) < 0)
        return err_wrap(err, "normalizer");
    if (steps_add(&f->cut, json_get(j, "pre_tokenizer"), err) < 0)
        return err_wrap(err, "pre_tokenizer");
    for (const struct json *t = json_first(added); t; t = json_next(t)) {
        const char *text = json_string(json_get(t, "content"), "");
        int64_t id = json_integer(json_get(t, "id"), -1);
        if (*text && (bpe_add_token(&f->bpe, str_of(text), id, err) < 0 || added_read(&f->added, t, (uint32_t)id, &f->normal, err) < 0))
            return err_wrap(err, "added_tokens, \"%.40s\"", text);
    }
    struct buf space CLEANUP_BUF;
    char one[2];
    buf_init(&space, 16);
    buf_add(&space, one, steps_byte(' ', one));
    f->byte_level = bpe_find(&f->bpe, buf_text(&space)) >= 0;
    return 0;
}

int bpe_file_parse(struct bpe_file **ret, struct str text, struct err *err)
{
    struct json *j = NULL;
    struct bpe_file *f = calloc(1, sizeof *f);
    if (!f)
        return err_memory(err, "a vocabulary");
    bpe_init(&f->bpe);
    int rc = str_valid_utf8(text) ? json_parse(&j, text, NULL, err) : err_set(err, ERR_INPUT, "not valid UTF-8");
    if (rc == 0)
        rc = bpe_read_members(f, j, err);
    json_free(j);
    if (rc < 0) {
        bpe_file_free(f);
        return -1;
    }
    *ret = f;
    return 0;
}

int bpe_file_open(struct bpe_file **ret, const char *path, struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, FILE_MAX);
    if (fs_read(AT_FDCWD, path, FILE_MAX, 0, &text, err) < 0)
        return -1;
    return bpe_file_parse(ret, buf_text(&text), err);
}

void bpe_file_free(struct bpe_file *f)
{
    if (!f)
        return;
    bpe_deinit(&f->bpe);
    steps_deinit(&f->normal);
    steps_deinit(&f->cut);
    added_deinit(&f->added);
    free(f);
}

/* ---- encoding: tokens that were added are cut out first, from the text as it is and then from the
 * normalized one ---- */

struct encoding {
    const struct bpe_file *file;
    struct bpe_work work;
    struct ids *to;
    struct err *err;
    bool first;
    int rc;
};

static void encode_word(void *to, struct str word)
{
    struct encoding *e = to;
    bpe_encode(&e->file->bpe, &e->work, word, e->to);
}

static void encode_plain(void *to, struct str text, int64_t id)
{
    struct encoding *e = to;
    if (id >= 0)
        ids_add(e->to, (uint32_t)id);
    else if (e->rc == 0)
        e->rc = steps_run(&e->file->cut, text, e->first, encode_word, e, e->err);
    e->first = false;
}

static void encode_normal(void *to, struct str text)
{
    struct encoding *e = to;
    added_cut(&e->file->added, true, text, encode_plain, e);
}

/* Appends an added token (id >= 0), or encodes the text between two of them. After an error no
 * further text is encoded. */
static void encode_stretch(void *to, struct str text, int64_t id)
{
    struct encoding *e = to;
    if (id >= 0)
        ids_add(e->to, (uint32_t)id);
    else if (e->rc == 0 && steps_run(&e->file->normal, text, e->first, encode_normal, e, e->err) < 0)
        e->rc = -1;
    e->first = false;
}

int bpe_file_encode(const struct bpe_file *f, struct str text, struct ids *to, struct err *err)
{
    struct encoding e = {.file = f, .to = to, .err = err, .first = true};
    added_cut(&f->added, false, text, encode_stretch, &e);
    bpe_work_deinit(&e.work);
    return e.rc;
}

uint32_t bpe_file_size(const struct bpe_file *f)
{
    return f->bpe.tokens;
}

bool bpe_file_text(const struct bpe_file *f, uint32_t id, struct buf *to)
{
    struct str text = id < f->bpe.tokens ? f->bpe.text[id] : (struct str){0};
    if (!text.p || added_has(&f->added, id))
        return false;
    if (f->byte_level)
        return steps_bytes(text, to);
    for (size_t i = 0; i < 256; i++)
        if (f->bpe.byte_id[i] == (int64_t)id)
            return false;
    while (text.n) { /* the lower one eighth block stands for a blank */
        bool blank = str_starts(text, "\xe2\x96\x81");
        buf_putc(to, blank ? ' ' : text.p[0]);
        text = str_sub(text, blank ? 3 : 1, text.n);
    }
    return true;
}
