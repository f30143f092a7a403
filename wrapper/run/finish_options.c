/* finish_options.c: what the finish step needs to know again after a crash, as the journal's first line keeps it. */
#include "run/finish_options.h"

#include "base/json.h"

#include <inttypes.h>
#include <string.h>

void finish_options_print(const struct finish_options *o, struct buf *to)
{
    buf_printf(to, "{\"log_max\":%" PRIu64 ",\"artifact_max\":%" PRIu64 ",\"merged\":%s,\"public\":%s%s", o->log_max, o->artifact_max,
               o->merged ? "true" : "false", o->public_profile ? "true" : "false", o->made ? ",\"made\":true" : "");
    if (o->series)
        buf_puts(to, ",\"series\":true");
    if (o->told)
        buf_puts(to, ",\"told\":true");
    if (o->archive)
        buf_puts(to, ",\"archive\":true");
    if (o->archive_dir) {
        buf_puts(to, ",\"archive_dir\":");
        buf_json(to, str_of(o->archive_dir));
    }
    if (o->rules) {
        buf_puts(to, ",\"rules\":");
        buf_json(to, str_of(o->rules));
    }
    if (o->made) {
        buf_puts(to, ",\"host\":");
        buf_json(to, str_of(o->host));
    }
    for (size_t i = 0; i < o->references.count; i++) {
        buf_puts(to, i ? "," : ",\"references\":[");
        buf_json(to, str_of(o->references.path[i]));
    }
    if (o->references.count)
        buf_printf(to, "],\"references_named\":%s", o->references.named ? "true" : "false");
    buf_putc(to, '}');
}

int finish_options_parse(struct finish_options *ret, const char *text, struct arena *a, struct err *err)
{
    struct json *j = NULL;
    if (json_parse(&j, str_of(text), NULL, err))
        return err_wrap(err, "journal: options");
    const char *rules = json_string(json_get(j, "rules"), NULL), *host = json_string(json_get(j, "host"), "");
    const char *archive_dir = json_string(json_get(j, "archive_dir"), NULL);
    *ret = (struct finish_options){.log_max = (uint64_t)json_integer(json_get(j, "log_max"), 16 << 20),
                                   .artifact_max = (uint64_t)json_integer(json_get(j, "artifact_max"), 1 << 20),
                                   .merged = json_bool(json_get(j, "merged"), false),
                                   .public_profile = json_bool(json_get(j, "public"), false),
                                   .made = json_bool(json_get(j, "made"), false),
                                   .archive = json_bool(json_get(j, "archive"), false),
                                   .archive_dir = archive_dir ? arena_dup(a, archive_dir, strlen(archive_dir)) : NULL,
                                   .series = json_bool(json_get(j, "series"), false),
                                   .told = json_bool(json_get(j, "told"), false),
                                   .host = arena_dup(a, host, strlen(host)),
                                   .rules = rules ? arena_dup(a, rules, strlen(rules)) : NULL};
    ret->references.named = json_bool(json_get(j, "references_named"), false);
    for (const struct json *p = json_first(json_get(j, "references")); p && ret->references.count < REFERENCE_FILES_MAX; p = json_next(p)) {
        const char *path = json_string(p, "");
        ret->references.path[ret->references.count++] = arena_dup(a, path, strlen(path));
    }
    json_free(j);
    return 0;
}
