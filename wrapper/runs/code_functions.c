/* code_functions.c: the functions that a run's program was sampled in; see code_functions.h. */
#include "runs/code_functions.h"

#include "mlruns-format/missing.h"

void code_functions_read(const struct runs *runs, const struct tree_run *run, struct arena *a, struct code_profile *ret)
{
    const char *text = runs_file(runs, run, "artifacts/" CODE_PROFILE_FILE, CODE_PROFILE_BYTES, a);
    code_profile_parse(str_of(text), a, ret);
    code_profile_merge(ret, true);
}

const char *code_functions_missing(const struct json *detail)
{
    return missing_reason(detail, "code_profile.samples");
}

size_t code_functions_words(const struct code_profile *p, size_t most, struct buf *to)
{
    size_t n = p->count < most ? p->count : most;
    for (size_t i = 0; i < n; i++) {
        const struct profiled_function *f = &p->list[i];
        buf_printf(to, "%s%.3g %% %s (%s)", i ? ", " : "", 100 * (double)f->samples / (double)p->samples, f->function, f->module);
    }
    return p->count - n;
}

void code_functions_json(const struct code_profile *p, struct json_out *j)
{
    if (!p->count)
        return;
    json_open(j, "functions", '[');
    for (size_t i = 0; i < p->count; i++) {
        json_open_row(j, NULL, '{');
        json_text(j, "function", p->list[i].function);
        json_text(j, "module", p->list[i].module);
        json_uint(j, "samples", p->list[i].samples);
        json_close(j, '}');
    }
    json_close(j, ']');
}
