/* prompts.c: which source of prompts the options name; see prompts.h. */
#include "benchmarks/native/llmload/prompts/prompts.h"

#include "base/fs.h"
#include "benchmarks/native/llmload/inputs.h"
#include "benchmarks/native/llmload/tokens/tokenizer.h"

#include <fcntl.h>

/* Opens a source that repeats one prompt: `text`, or the content of the file @FILE. The source owns
 * the tokenizer, which is freed after a failure, too. -1 with err. */
static int open_fixed_prompt(struct prompt_source **ret, const char *text, struct tokenizer *tokenizer, struct input_hashes *inputs,
                             struct err *err)
{
    struct buf file CLEANUP_BUF;
    buf_init(&file, 64 << 20);
    if (text[0] == '@') {
        if (fs_read(AT_FDCWD, text + 1, file.max, 0, &file, err) < 0)
            return tokenizer_free(tokenizer), err_wrap(err, "--prompt");
        if (!file.n || memchr(file.p, 0, file.n) || !str_valid_utf8(buf_text(&file)))
            return tokenizer_free(tokenizer), err_set(err, ERR_INPUT, "--prompt: %.300s is empty, or no text in UTF-8", text + 1);
        inputs_note(inputs, "prompt", buf_text(&file));
        text = file.p;
    }
    if (!*text || !str_valid_utf8(str_of(text)))
        return tokenizer_free(tokenizer),
               err_set(err, ERR_USAGE, "--prompt: expected a text in UTF-8, got %s", *text ? "other bytes" : "\"\"");
    return tokenizer ? prompts_text(ret, text, tokenizer, err) : prompt_fixed(ret, text, err);
}

static bool prompt_option_given(const struct opt_set *set, const char *name)
{
    return opt_find(set, name)->text && opt_find(set, name)->origin != OPT_DEFAULT;
}

/* Only one of them can define the prompts. */
static int check_prompt_options(const struct opt_set *set, bool made_up, struct err *err)
{
    const char *first = prompt_option_given(set, "prompt") ? "prompt" : prompt_option_given(set, "dataset") ? "dataset" : NULL;
    if (prompt_option_given(set, "prompt") && prompt_option_given(set, "dataset"))
        return err_set(err, ERR_USAGE, "--prompt and --dataset: only one of them can be the prompts");
    if (first && made_up)
        return err_set(err, ERR_USAGE,
                       "--input-tokens, --prefix-tokens, --prompt-ids and --vocabulary are for made-up prompts; with --%s there are none",
                       first);
    if (prompt_option_given(set, "prompt") && prompt_option_given(set, "output-tokens"))
        return err_set(err, ERR_USAGE, "--output-tokens is for made-up prompts; with --prompt it is --max-tokens");
    if (!prompt_option_given(set, "dataset") && strcmp(opt_text(set, OPTION_SCORE), "no") != 0)
        return err_set(err, ERR_USAGE, "--score: expected a --dataset whose rows have choices");
    return 0;
}

int prompts_open(struct prompt_source **ret, const struct opt_set *set, struct load *load, struct err *err)
{
    static const char *const synthetic[] = {"input-tokens", "prefix-tokens", "prompt-ids", "vocabulary"};
    struct tokenizer *tokenizer = NULL;
    const char *path = opt_text(set, OPTION_TOKENIZER);
    bool made_up = false;
    for (size_t i = 0; i < sizeof synthetic / sizeof *synthetic; i++)
        made_up |= prompt_option_given(set, synthetic[i]);
    if (check_prompt_options(set, made_up, err) < 0)
        return -1;
    if (path && tokenizer_open(&tokenizer, path, err) < 0)
        return -1;
    if (path)
        inputs_note_hash(load->inputs, "tokenizer", tokenizer_hash(tokenizer));
    if (prompt_option_given(set, "dataset"))
        return prompts_dataset(ret, set, load, tokenizer, err);
    if (made_up || prompt_option_given(set, "output-tokens") ||
        (load->trace && !prompt_option_given(set, "prompt"))) /* a trace's lengths are to be replayed */
        return prompts_synthetic(ret, set, load, tokenizer, err);
    return prompt_option_given(set, "prompt") ? open_fixed_prompt(ret, opt_text(set, OPTION_PROMPT), tokenizer, load->inputs, err)
                                              : prompts_varied(ret, load, tokenizer, err);
}
