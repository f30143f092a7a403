/* finish_options.c: what the finish step needs to know again after a crash, as the journal's first line keeps it. */
#include "run/finish_options.h"

#include "base/json.h"
#include "base/json_out.h"

#include <string.h>

void finish_options_print(const struct finish_options *o, struct buf *to)
{
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_uint(&j, "log_max", o->log_max);
    json_uint(&j, "artifact_max", o->artifact_max);
    json_flag(&j, "merged", o->merged);
    json_flag(&j, "public", o->public_profile);
    const struct {
        const char *key;
        bool is_set;
    } flags[] = {{"made", o->made}, {"series", o->series}, {"told", o->told}, {"archive", o->archive}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].is_set)
            json_flag(&j, flags[i].key, true);
    if (o->archive_dir)
        json_text(&j, "archive_dir", o->archive_dir);
    if (o->rules)
        json_text(&j, "rules", o->rules);
    if (o->made)
        json_str(&j, "host", str_of(o->host));
    if (o->exporters)
        json_text(&j, "exporters", o->exporters);
    if (o->references.count) {
        json_texts(&j, "references", o->references.path, o->references.count);
        json_flag(&j, "references_named", o->references.named);
    }
    json_close(&j, '}');
}

int finish_options_parse(struct finish_options *ret, const char *text, struct arena *a, struct err *err)
{
    struct json *j = NULL;
    if (json_parse(&j, str_of(text), NULL, err))
        return err_wrap(err, "journal: options");
    const char *rules = json_string(json_get(j, "rules"), NULL), *host = json_string(json_get(j, "host"), "");
    const char *archive_dir = json_string(json_get(j, "archive_dir"), NULL), *exporters = json_string(json_get(j, "exporters"), NULL);
    *ret = (struct finish_options){.log_max = (uint64_t)json_integer(json_get(j, "log_max"), 16 << 20),
                                   .artifact_max = (uint64_t)json_integer(json_get(j, "artifact_max"), 1 << 20),
                                   .merged = json_bool(json_get(j, "merged"), false),
                                   .public_profile = json_bool(json_get(j, "public"), false),
                                   .made = json_bool(json_get(j, "made"), false),
                                   .archive = json_bool(json_get(j, "archive"), false),
                                   .exporters = exporters ? arena_dup(a, exporters, strlen(exporters)) : NULL,
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
