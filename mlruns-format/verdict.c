/* verdict.c: the words for a run's verdict. */
#include "mlruns-format/verdict.h"

#include <string.h>

enum { DETAIL_MAX = 64 << 20 };

size_t verdict_judged(const struct json *detail)
{
    size_t n = 0;
    for (const struct json *m = json_first(json_get(detail, "references")); m; m = json_next(m))
        n += strcmp(json_string(json_get(m, "verdict"), ""), "no reference") != 0;
    return n;
}

const char *verdict_shown(const struct folder *tree, const struct tree_run *run, struct arena *a)
{
    const char *verdict = tree_file(tree, run, "tags/benchwrap.verdict", 64, a);
    if (!verdict || strcmp(verdict, "pass") != 0)
        return verdict && strcmp(verdict, "none") != 0 ? verdict : NULL;
    const char *text = tree_file(tree, run, "artifacts/benchwrap.json", DETAIL_MAX, a);
    struct json *detail = NULL;
    bool judged = text && strstr(text, "\"references\"") && json_parse(&detail, str_of(text), NULL, NULL) == 0 && verdict_judged(detail);
    json_free(detail);
    return judged ? verdict : NULL;
}
