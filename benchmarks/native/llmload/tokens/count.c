/* count.c: `llmload tokens`: how many tokens the texts of a file have. */
#include "base/fs.h"
#include "base/json.h"
#include "base/opt.h"
#include "benchmarks/native/llmload/tokens/tokenizer.h"
#include "benchmarks/native/llmload/tokens/unicode.h"
#include "benchmarks/native/llmload/verbs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 1 << 30 };

static const struct opt_row tokens_rows[] = {
    {.name = OPTION_TOKENIZER,
     .letter = 't',
     .kind = OPT_TEXT,
     .arg = "PATH",
     .group = "Counting",
     .help = "tokenizer.json, SentencePiece model, or the model's folder"},
    {.name = OPTION_IDS, .kind = OPT_FLAG, .group = "Counting", .help = "print the ids instead of their number"},
    {.name = OPTION_STRINGS,
     .kind = OPT_FLAG,
     .group = "Counting",
     .help = "each line is a JSON string, and a text of its own (else all of it is one)"},
    {.name = OPTION_HELP, .letter = 'h', .kind = OPT_FLAG, .group = "Counting", .help = "this text"},
};

static int tokens_print_text(const struct tokenizer *t, struct str text, bool print_ids, struct err *err)
{
    struct ids ids CLEANUP_IDS = {0};
    if (tokenizer_encode(t, text, &ids, err) < 0)
        return -1;
    for (size_t i = 0; print_ids && i < ids.n; i++)
        printf(i ? " %u" : "%u", ids.id[i]);
    if (!print_ids)
        printf("%zu", ids.n);
    return putchar('\n') == EOF ? err_sys(err, "writing") : 0;
}

static int tokens_print_strings(const struct tokenizer *t, struct str rest, bool print_ids, struct err *err)
{
    int rc = 0;
    for (size_t line = 1; rest.p && rc == 0; line++) {
        struct str text = str_cut(&rest, '\n');
        struct json *j;
        if (!str_trim(text).n)
            continue;
        rc = json_parse(&j, text, NULL, err);
        if (rc == 0) {
            if (!json_is_string(j))
                rc = err_set(err, ERR_INPUT, "expected a JSON string, got \"" STR_FMT "\"", STR_ARG(str_sub(text, 0, 40)));
            else if (unicode_has_nul(text))
                rc = err_set(err, ERR_INPUT, "expected a string without a NUL (\\u0000)");
            else
                rc = tokens_print_text(t, str_of(json_string(j, "")), print_ids, err);
            json_free(j);
        }
        if (rc < 0)
            err_wrap(err, "line %zu", line);
    }
    return rc;
}

static int tokens_run(const struct opt_set *set, char **operands, struct err *err)
{
    struct tokenizer *t;
    struct buf text CLEANUP_BUF;
    buf_init(&text, TEXT_MAX);
    if (!opt_text(set, OPTION_TOKENIZER))
        return err_set(err, ERR_USAGE, "tokens: expected --tokenizer PATH");
    if (fs_read(AT_FDCWD, operands[0], TEXT_MAX, 0, &text, err) < 0 || tokenizer_open(&t, opt_text(set, OPTION_TOKENIZER), err) < 0)
        return -1;
    int rc = opt_on(set, OPTION_STRINGS) ? tokens_print_strings(t, buf_text(&text), opt_on(set, OPTION_IDS), err)
                                         : tokens_print_text(t, buf_text(&text), opt_on(set, OPTION_IDS), err);
    tokenizer_free(t);
    return rc == 0 && fflush(stdout) != 0 ? err_sys(err, "writing") : rc;
}

int tokens_main(int argc, char **argv, struct err *err)
{
    static const struct verb verb = {
        .usage = "tokens --tokenizer PATH [--ids] [--strings] FILE",
        .about = "Counts the tokens of a text.",
        .rows = tokens_rows,
        .count = sizeof tokens_rows / sizeof *tokens_rows,
        .operands = 1,
        .expected = "one file (/dev/stdin: standard input)",
        .run = tokens_run,
    };
    return verb_run(&verb, argc, argv, err);
}
