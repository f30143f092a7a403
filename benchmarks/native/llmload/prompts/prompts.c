/* prompts.c: which source of prompts the options ask for; see prompts.h. */
#include "benchmarks/native/llmload/prompts/prompts.h"

#include "base/fs.h"
#include "benchmarks/native/llmload/tokens/tokenizer.h"

#include <fcntl.h>

static int fixed(struct prompt_source **ret, const char *text, struct err *err)
{
    struct buf file CLEANUP_BUF;
    buf_init(&file, 64 << 20);
    if (text[0] == '@') {
        if (fs_read(AT_FDCWD, text + 1, file.max, 0, &file, err) < 0)
            return err_wrap(err, "--prompt");
        if (!file.n || memchr(file.p, 0, file.n) || !str_valid_utf8(buf_text(&file)))
            return err_set(err, ERR_INPUT, "--prompt: %.300s is empty, or no text in UTF-8", text + 1);
        text = file.p;
    }
    if (!*text || !str_valid_utf8(str_of(text)))
        return err_set(err, ERR_USAGE, "--prompt: a text in UTF-8 is wanted");
    return prompt_fixed(ret, text, err);
}

/* Only one of them can say what the prompts are. */
static int refuse(const struct opt_set *set, struct err *err)
{
    static const char *const synthetic[] = {"input-tokens", "prefix-tokens", "vocabulary"};
    const char *first = opt_text(set, "prompt") ? "prompt" : opt_text(set, "dataset") ? "dataset" : NULL;
    if (opt_text(set, "prompt") && opt_text(set, "dataset"))
        return err_set(err, ERR_USAGE, "--prompt and --dataset: only one of them can be the prompts");
    for (size_t i = 0; first && i < sizeof synthetic / sizeof *synthetic; i++)
        if (opt_text(set, synthetic[i]))
            return err_set(err, ERR_USAGE, "--%s is for made-up prompts; with --%s there are none", synthetic[i], first);
    if (!opt_text(set, "dataset") && strcmp(opt_text(set, "score"), "no") != 0)
        return err_set(err, ERR_USAGE, "--score wants a --dataset whose rows have choices");
    return 0;
}

int prompts_open(struct prompt_source **ret, const struct opt_set *set, struct load *load, struct err *err)
{
    struct tokenizer *tokenizer = NULL;
    const char *path = opt_text(set, "tokenizer");
    if (refuse(set, err) < 0)
        return -1;
    if (opt_text(set, "prompt"))
        return fixed(ret, opt_text(set, "prompt"), err);
    if (path && tokenizer_open(&tokenizer, path, err) < 0)
        return -1;
    return opt_text(set, "dataset") ? prompts_dataset(ret, set, load, tokenizer, err) : prompts_synthetic(ret, set, load, tokenizer, err);
}
