/* prompt_fixed.c: one text for all requests. */
#include "benchmarks/native/llmload/prompt.h"

#include <stdlib.h>
#include <string.h>

struct fixed_prompt {
    struct prompt_source source;
    char *text;
};

/* Sets the fixed text as the prompt, which the source owns. Returns 0. */
static int fixed_make_prompt(const struct prompt_source *source, const struct prompt_want *want, struct buf *scratch, struct prompt *ret,
                             struct err *err)
{
    const struct fixed_prompt *f = (const struct fixed_prompt *)source;
    (void)want, (void)scratch, (void)err;
    ret->text = str_of(f->text);
    return 0;
}

static void fixed_close(struct prompt_source *source)
{
    struct fixed_prompt *f = (struct fixed_prompt *)source;
    free(f->text);
    free(f);
}

int prompt_fixed(struct prompt_source **ret, const char *text, struct err *err)
{
    struct fixed_prompt *f = calloc(1, sizeof *f);
    if (!f || !(f->text = strdup(text))) {
        free(f);
        return err_memory(err, "the prompt");
    }
    f->source = (struct prompt_source){.name = "fixed", .constant = true, .make = fixed_make_prompt, .close = fixed_close};
    *ret = &f->source;
    return 0;
}
