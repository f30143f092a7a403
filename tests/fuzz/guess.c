/* guess.c: any bytes as an output that `rules new` is begun with. The rule file always loads. */
#include "benchmarks/guess.h"
#include "benchmarks/rules.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct guess_summary found;
    struct rules *rules;
    struct buf text;
    char program[] = "prog", option[] = "-n4", flag[] = "--x=1m", *argv[] = {program, option, flag, NULL};
    buf_init(&text, 1 << 20);
    if (rules_guess((struct str){(const char *)data, size}, "x", size % 2 ? argv : NULL, size % 3 == 0, &text, &found, NULL))
        abort();
    if (rules_load_text(&rules, "guessed", buf_text(&text), NULL))
        abort();
    rules_free(rules);
    buf_deinit(&text);
    return 0;
}
