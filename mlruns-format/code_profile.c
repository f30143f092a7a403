/* code_profile.c: the text form of a sampled profile; see code_profile.h. */
#include "mlruns-format/code_profile.h"

#include "base/array.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { FRAME_BYTES = 600, LINE_BYTES = 3 * (FRAME_BYTES + 2) + 200 /* the longest line, and the last one */ };
static const uint64_t SAMPLES_MAX = UINT64_C(1) << 53;

/* Returns foreign text as one frame: harmless on a terminal, without the separator of frames. A
 * frame is its own frame, so that what was printed is read back equal: it is cut in bytes, once it
 * is escaped. */
static const char *profiled_frame(struct str text, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 8 * FRAME_BYTES + 64);
    buf_plain(&b, str_trim(text), FRAME_BYTES);
    for (size_t i = 0; i < b.n; i++)
        if (b.p[i] == ';')
            b.p[i] = ':';
    struct str frame = buf_text(&b);
    frame = str_trim(str_sub(frame, 0, utf8_cut(frame, FRAME_BYTES)));
    return frame.n ? arena_dup(a, frame.p, frame.n) : b.failed ? NULL : "[unknown]";
}

bool code_profile_add(struct code_profile *p, struct arena *a, struct str command, struct str module, struct str function, uint64_t samples)
{
    struct profiled_function f = {.samples = samples};
    if (!samples || samples > SAMPLES_MAX - p->samples || !ARRAY_FITS_IN(a, p->list, p->capacity, p->count + 1))
        return false;
    f.command = profiled_frame(command, a);
    f.module = profiled_frame(module, a);
    f.function = profiled_frame(function, a);
    if (!f.command || !f.module || !f.function)
        return false;
    p->list[p->count++] = f;
    p->samples += samples;
    return true;
}

static int by_profiled_name(const void *a, const void *b)
{
    const struct profiled_function *x = a, *y = b;
    int order = strcmp(x->function, y->function);
    order = order ? order : strcmp(x->module, y->module);
    return order ? order : strcmp(x->command, y->command);
}

static int by_profiled_samples(const void *a, const void *b)
{
    const struct profiled_function *x = a, *y = b;
    return x->samples != y->samples ? (x->samples < y->samples ? 1 : -1) : by_profiled_name(a, b);
}

void code_profile_merge(struct code_profile *p, bool all_commands)
{
    size_t kept = 0;
    for (size_t i = 0; all_commands && i < p->count; i++)
        p->list[i].command = "";
    if (p->count)
        qsort(p->list, p->count, sizeof *p->list, by_profiled_name);
    for (size_t i = 0; i < p->count; i++)
        if (kept && by_profiled_name(&p->list[kept - 1], &p->list[i]) == 0)
            p->list[kept - 1].samples += p->list[i].samples;
        else
            p->list[kept++] = p->list[i];
    p->count = kept;
    if (kept)
        qsort(p->list, kept, sizeof *p->list, by_profiled_samples);
}

void code_profile_print(const struct code_profile *p, struct buf *to)
{
    size_t most = p->count < CODE_PROFILE_FUNCTIONS ? p->count : CODE_PROFILE_FUNCTIONS - 1, shown = 0;
    uint64_t others = p->samples;
    for (; shown < most && to->n < CODE_PROFILE_BYTES - LINE_BYTES; shown++) {
        const struct profiled_function *f = &p->list[shown];
        buf_printf(to, "%s;%s;%s %llu\n", f->command, f->module, f->function, (unsigned long long)f->samples);
        others -= f->samples;
    }
    if (others)
        buf_printf(to, "[others];[others];[%zu other functions] %llu\n", p->count - shown, (unsigned long long)others);
}

void code_profile_parse(struct str text, struct arena *a, struct code_profile *ret)
{
    *ret = (struct code_profile){0};
    while (text.n) {
        struct str line = str_cut(&text, '\n');
        size_t end = line.n;
        uint64_t samples;
        while (end && line.p[end - 1] != ' ')
            end--;
        struct str names = str_sub(line, 0, end ? end - 1 : 0), command = str_cut(&names, ';'), module = str_cut(&names, ';');
        if (module.p && names.p && ret->count < CODE_PROFILE_FUNCTIONS && str_uint(str_sub(line, end, line.n), &samples))
            code_profile_add(ret, a, command, module, names, samples);
    }
}
