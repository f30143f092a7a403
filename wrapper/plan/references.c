/* references.c: a run is judged by reference files. */
#include "plan/references.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/show.h"

#include <errno.h>
#include <string.h>

/* Loads the references. What cannot be read is reported, and the rest still judges. A named file
 * that fails now (it was read before the program started) judges nothing. Returns how many. */
static size_t references_load_files(const struct reference_files *files, struct record *r, bool public_profile, struct references **ret)
{
    size_t n = 0;
    for (size_t i = 0; i < files->count; i++) {
        struct err err = {0};
        if (references_load(&ret[n], files->path[i], &err) == 0) {
            if (public_profile)
                references_call(ret[n], str_base_name(files->path[i]));
            n++;
        } else if (files->named || (err.sys != ENOENT && err.sys != ENOTDIR))
            record_warning(r, "reference: %s", err.text);
    }
    return n;
}

/* Updates verdict and reason by the references: a reference that failed decides, and with an
 * explicit file (`file`) that judged nothing there is no verdict. New texts are in the record's
 * arena. */
static void references_combine(const struct reference_outcome *o, struct record *r, bool failed, bool loaded, const char *file,
                               const char **verdict, const char **reason)
{
    if (o->failed) {
        *verdict = "fail";
        const char *both = arena_printf(&r->arena, "%s%s%s", *reason, **reason ? "; " : "", o->reason);
        *reason = both ? both : o->reason;
    } else if (file && !o->judged && strcmp(*verdict, "fail") != 0) {
        *verdict = "none";
        const char *why = loaded ? arena_printf(&r->arena, "no entry of %s fits this run", file) : "the reference file cannot be read";
        *reason = why ? why : "no reference fits this run";
    } else if (o->judged && !failed && strcmp(*verdict, "none") == 0)
        *verdict = "pass";
}

void run_judge_references(const struct reference_files *files, struct record *r, bool failed, bool public_profile, const char **verdict,
                          const char **reason)
{
    struct references *refs[REFERENCE_FILES_MAX];
    struct reference_outcome outcome;
    struct err err = {0};
    if (!files->count)
        return;
    const char *source = r->source;
    r->source = "reference";
    size_t n = references_load_files(files, r, public_profile, refs);
    const char *file = files->named ? public_profile ? str_base_name(files->path[0]) : files->path[0] : NULL;
    if (n || file) {
        if (references_judge((const struct references *const *)refs, n, r, &outcome, &err) == 0)
            references_combine(&outcome, r, failed, n > 0, file, verdict, reason);
        else
            record_warning(r, "%s", err.text);
    }
    for (size_t i = 0; i < n; i++)
        references_free(refs[i]);
    r->source = source;
}

/* Returns the record's references as JSON; the caller frees. NULL: there are none. */
static struct json *references_parsed(const struct record *r)
{
    CLEANUP_BUF struct buf text;
    struct json *all = NULL;
    buf_init(&text, r->references.n + 16);
    if (!r->references.n)
        return NULL;
    buf_putc(&text, '[');
    buf_str(&text, r->references);
    buf_putc(&text, ']');
    return json_parse(&all, buf_text(&text), NULL, NULL) ? NULL : all;
}

void run_reference_range(const struct json *m, double scale, struct buf *to)
{
    const struct json *low = json_get(m, "low"), *high = json_get(m, "high"), *value = json_get(m, "reference");
    bool both = json_is_number(low) && json_is_number(high);
    if (!both && json_is_number(value)) {
        show_value(to, json_number(value, 0) * scale);
        buf_puts(to, json_is_number(low) || json_is_number(high) ? ", " : "");
    }
    buf_puts(to, both ? "" : json_is_number(low) ? "at least " : json_is_number(high) ? "at most " : "");
    if (json_is_number(low))
        show_value(to, json_number(low, 0) * scale);
    buf_puts(to, both ? " … " : "");
    if (json_is_number(high))
        show_value(to, json_number(high, 0) * scale);
}

const char *run_reference_of(const struct record *r, const char *key, double scale, struct arena *a, bool *ret_fails)
{
    const char *text = NULL;
    struct json *all = references_parsed(r);
    *ret_fails = false;
    for (const struct json *m = json_first(all); m && !text; m = json_next(m)) {
        CLEANUP_BUF struct buf b;
        const char *verdict = json_string(json_get(m, "verdict"), "");
        buf_init(&b, 512);
        if (strcmp(json_string(json_get(m, "metric"), ""), key) != 0 || strcmp(verdict, referred_name(REFERRED_NONE)) == 0)
            continue;
        *ret_fails = json_bool(json_get(m, "fails"), true);
        buf_printf(&b, "%s, reference ", *ret_fails || strcmp(verdict, "pass") == 0 ? verdict : "better");
        run_reference_range(m, scale, &b);
        text = b.failed ? NULL : arena_dup(a, b.p, b.n);
    }
    json_free(all);
    return text;
}

void run_references_print(const struct record *r, const char *prefix, size_t lines, struct buf *to)
{
    struct json *all = references_parsed(r);
    size_t more = 0;
    for (const struct json *m = json_first(all); m; m = json_next(m)) {
        const char *verdict = json_string(json_get(m, "verdict"), "");
        if (json_bool(json_get(m, "fails"), true) || (strcmp(verdict, "above") != 0 && strcmp(verdict, "below") != 0))
            continue; /* the reason names what failed */
        if (!lines) {
            more++;
            continue;
        }
        lines--;
        buf_puts(to, prefix);
        buf_plain(to, str_of(json_string(json_get(m, "text"), "")), 200);
        buf_putc(to, '\n');
    }
    if (more)
        buf_printf(to, "%sand %zu more better than their band\n", prefix, more);
    json_free(all);
}
