/* api_artifacts.c: files of runs, whole and in parts; see api_parts.h. */
#include "server/api_parts.h"

#include <stdio.h>
#include <stdlib.h>

void artifacts_list(struct call *c)
{
    struct run *r = call_run(c);
    char below[1200];
    struct pairs folders = {0};
    bool first = true;
    if (!r)
        return;
    const char *path = call_asked(c, "path");
    snprintf(below, sizeof below, "%s/%s/artifacts/%s%s", r->experiment, r->id, path, *path ? "/" : "");
    buf_printf(&c->a->body, "{\"root_uri\":\"mlflow-artifacts:/%s/%s/artifacts\",\"files\":[", r->experiment, r->id);
    for (size_t i = 0; i < c->s->n_files; i++) {
        const struct file *f = c->s->files[i];
        if (strncmp(f->path, below, strlen(below)) != 0)
            continue;
        struct str name = str_of(f->path + strlen(below)), folder = str_cut(&name, '/');
        char *full = NULL;
        if (name.p && pairs_get(&folders, folder))
            continue;
        if (asprintf(&full, "%s%s" STR_FMT, path, *path ? "/" : "", STR_ARG(folder)) < 0)
            abort();
        if (name.p)
            pairs_set(&folders, strndup(folder.p, folder.n), "");
        buf_puts(&c->a->body, first ? "{" : ",{");
        reply_text(&c->a->body, "path", full);
        buf_printf(&c->a->body, "\"is_dir\":%s,\"file_size\":%zu}", name.p ? "true" : "false", name.p ? 0 : f->bytes.n);
        first = false;
    }
    buf_puts(&c->a->body, "]}");
}

void artifact(struct call *c, struct str path)
{
    const char *name = call_decoded(path);
    if (strstr(name, "..") || strchr(name, '#') || *name == '/')
        return reply_invalid(c, "Invalid path");
    if (strcmp(c->method, "PUT") == 0) {
        store_file_put(c->s, name, c->body);
        return;
    }
    const struct file *f = store_file(c->s, name);
    if (!f)
        return reply_absent(c, "no such artifact");
    c->a->type = "application/octet-stream";
    buf_str(&c->a->body, f->bytes);
}

/* mpu/{create,complete,abort}/<folder>, and the parts' own addresses. */
void multipart(struct call *c, struct str rest)
{
    struct str verb = str_cut(&rest, '/');
    char target[1200];
    snprintf(target, sizeof target, "%s/%s", call_decoded(rest.p ? rest : STR("")), call_text(c, "path"));
    if (str_is(verb, "create")) {
        int64_t n = json_integer(json_get(c->j, "num_parts"), 0);
        buf_printf(&c->a->body, "{\"upload_id\":\"u%zu\",\"credentials\":[", ++c->s->uploads);
        for (int64_t i = 1; i <= n && i <= 10000; i++)
            buf_printf(
                &c->a->body,
                "%s{\"url\":\"http://%s/storage/u%zu/%lld?signature=secret\",\"part_number\":%lld,\"headers\":{\"X-Part\":\"%lld\"}}",
                i > 1 ? "," : "", c->host, c->s->uploads, (long long)i, (long long)i, (long long)i);
        buf_puts(&c->a->body, "]}");
        return;
    }
    if (str_is(verb, "complete")) {
        struct buf whole;
        buf_init(&whole, 1 << 30);
        int64_t at = 0;
        for (const struct json *p = json_first(json_get(c->j, "parts")); p; p = json_next(p)) {
            char name[100], etag[120];
            int64_t number = json_integer(json_get(p, "part_number"), 0);
            snprintf(name, sizeof name, "storage/%.40s/%lld", call_text(c, "upload_id"), (long long)number);
            snprintf(etag, sizeof etag, "\"%s\"", name);
            const struct file *f = store_file(c->s, name);
            if (!f || number != ++at || strcmp(etag, json_string(json_get(p, "etag"), "")) != 0)
                return reply_invalid(c, "InvalidPart: one or more of the specified parts could not be found");
            buf_str(&whole, f->bytes);
        }
        store_file_put(c->s, target, buf_text(&whole));
        buf_deinit(&whole);
    } else
        c->s->aborted++;
    buf_puts(&c->a->body, "{}");
}

void storage_part(struct call *c)
{
    char *name = call_decoded(str_sub(c->path, 1, c->path.n)), *etag = NULL;
    store_file_put(c->s, name, c->body);
    if (asprintf(&etag, "\"%s\"", name) < 0)
        abort();
    c->a->etag = etag;
    c->a->type = "application/xml";
}
