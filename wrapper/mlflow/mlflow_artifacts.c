/* mlflow_artifacts.c: files of a run: sent, listed, fetched; through the server's proxy wherever it
 * has one. */
#include "base/fs.h"
#include "base/json.h"
#include "mlflow/mlflow.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum {
    UPLOAD_MAX = 10 << 20, /* of the server's own upload call */
    FOLDERS_DEEP = 32,
};

/* Appends the address below which the server's proxy has a run's files. False: they are elsewhere. */
static bool proxy_of(const struct mlflow *m, const char *uri, struct buf *to)
{
    struct str s = str_of(uri), rest;
    if (mlflow_is_server(uri)) {
        if (str_find(s, STR("/mlflow-artifacts/artifacts/")) < 0)
            return false;
        buf_str(to, s);
        return true;
    }
    if (!str_starts(s, "mlflow-artifacts:"))
        return false;
    rest = str_sub(s, strlen("mlflow-artifacts:"), s.n);
    if (str_starts(rest, "//")) { /* another server: mlflow-artifacts://host:port/path, by the tracking server's scheme */
        size_t scheme = strcspn(mlflow_uri(m), ":");
        rest = str_sub(rest, 2, rest.n);
        size_t host = 0;
        while (host < rest.n && rest.p[host] != '/')
            host++;
        if (host) {
            buf_printf(to, STR_FMT "://" STR_FMT "/api/2.0/mlflow-artifacts/artifacts", (int)scheme, mlflow_uri(m), (int)host, rest.p);
            http_escape(to, str_sub(rest, host, rest.n), true);
            return true;
        }
    }
    buf_printf(to, "%s/api/2.0/mlflow-artifacts/artifacts", mlflow_uri(m));
    if (rest.n && rest.p[0] != '/')
        buf_putc(to, '/');
    http_escape(to, rest, true);
    return true;
}

static const char *artifact_type_of(const char *path)
{
    static const char *const rows[][2] = {{".json", "application/json"}, {".xml", "application/xml"}, {".yaml", "application/yaml"},
                                          {".log", "text/plain"},        {".txt", "text/plain"},      {".csv", "text/csv"},
                                          {".md", "text/markdown"},      {".png", "image/png"},       {".html", "text/html"},
                                          {".svg", "image/svg+xml"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_ends(str_of(path), rows[i][0]))
            return rows[i][1];
    return "application/octet-stream";
}

/* Makes a part of the file the body of the request. A file of no bytes still needs a body, else the
 * request is none. */
static void set_file(struct http_request *q, int fd, uint64_t at, uint64_t size)
{
    q->body_fd = fd;
    q->body_at = at;
    q->body_bytes = size;
    q->body = size ? (struct str){0} : STR("");
}

/* Returns whether host and scheme of an address are those of the server: then its credentials may
 * go there. Whoever may make an experiment chooses where its artifacts are stored, and must not
 * receive the credentials of others. */
static bool artifact_is_on_server(const struct mlflow *m, const char *url)
{
    const char *ours = mlflow_uri(m);
    size_t n = (size_t)(strstr(ours, "://") - ours) + 3;
    n += strcspn(ours + n, ":/?#");
    return strncasecmp(ours, url, n) == 0 && (!url[n] || strchr(":/?#", url[n])) && !memchr(url + n, '@', strcspn(url + n, "/?#"));
}

static enum mlflow_answer artifact_put_whole(struct mlflow *m, const char *url, const char *path, int fd, uint64_t size, struct err *err)
{
    struct mlflow_call call = {
        .what = "artifact",
        .request = {.method = "PUT", .url = url, .type = artifact_type_of(path), .foreign = !artifact_is_on_server(m, url)}};
    set_file(&call.request, fd, 0, size);
    return mlflow_do(m, &call, NULL, err);
}

static struct http_request post_of(const char *url, struct buf *body)
{
    return (struct http_request){.method = "POST", .url = url, .type = "application/json", .body = buf_text(body), .reply_max = 16 << 20};
}

/* Fills to[17] with up to 16 headers of a presigned address, an object of texts, NULL-terminated.
 * Returns how many. */
static size_t headers_of(const struct json *j, struct arena *a, const char **to)
{
    size_t n = 0;
    for (const struct json *h = json_first(j); h && n < 16; h = json_next(h))
        if (json_is_string(h) && !strpbrk(json_string(h, ""), "\r\n"))
            to[n++] = arena_printf(a, "%s: %s", json_key(h), json_string(h, ""));
    to[n] = NULL;
    return n;
}

/* etag: 200 bytes, of the reply; NULL: not needed. */
static enum mlflow_answer put_presigned(struct mlflow *m, const struct json *j, int fd, uint64_t at, uint64_t size, char *etag,
                                        struct err *err)
{
    struct arena a;
    const char *headers[17];
    const char *url = json_string(json_get(j, "presigned_url"), json_string(json_get(j, "url"), ""));
    arena_init(&a, 64 << 10);
    headers_of(json_get(j, "headers"), &a, headers);
    struct mlflow_call call = {
        .what = "presigned address", .etag = etag, .request = {.method = "PUT", .url = url, .headers = headers, .foreign = true}};
    set_file(&call.request, fd, at, size);
    enum mlflow_answer answer;
    if (mlflow_is_server(url))
        answer = mlflow_do(m, &call, NULL, err);
    else {
        err_set(err, ERR_REMOTE, "server %s: the presigned address is none", mlflow_uri(m));
        answer = MLFLOW_REFUSED;
    }
    arena_deinit(&a);
    return answer;
}

/* ---- the other ways ---- */

/* Requests an address for the file and sends the file there. Returns the first answer that is not
 * MLFLOW_FINE, with err. */
static enum mlflow_answer put_by_presigned(struct mlflow *m, const struct mlflow_run *run, const char *path, int fd, uint64_t size,
                                           struct err *err)
{
    struct buf url CLEANUP_BUF, body CLEANUP_BUF;
    struct json *j = NULL;
    buf_init(&url, 16 << 10);
    buf_init(&body, 16 << 10);
    buf_printf(&url, "%s/api/2.0/mlflow/artifacts/presigned-upload-url", mlflow_uri(m));
    struct json_out out = json_begin(&body, JSON_TIGHT, '{');
    json_text(&out, "run_id", run->id);
    json_text(&out, "path", path);
    json_int(&out, "expiration", 3600);
    json_close(&out, '}');
    struct mlflow_call call = {.what = "artifacts/presigned-upload-url", .request = post_of(url.p, &body)};
    enum mlflow_answer answer = mlflow_do(m, &call, &j, err);
    if (answer == MLFLOW_FINE)
        answer = put_presigned(m, j, fd, 0, size, NULL, err);
    json_free(j);
    return answer;
}

static enum mlflow_answer put_by_upload(struct mlflow *m, const struct mlflow_run *run, const char *path, int fd, uint64_t size,
                                        struct err *err)
{
    struct buf url CLEANUP_BUF;
    buf_init(&url, 16 << 10);
    buf_printf(&url, "%s/ajax-api/2.0/mlflow/upload-artifact?run_uuid=", mlflow_uri(m));
    http_escape(&url, str_of(run->id), false);
    buf_puts(&url, "&path=");
    http_escape(&url, str_of(path), false);
    struct mlflow_call call = {.what = "upload-artifact", .request = {.method = "POST", .url = url.p}};
    set_file(&call.request, fd, 0, size);
    return mlflow_do(m, &call, NULL, err);
}

/* ---- in parts, each to an address of the storage ---- */

enum { PARTS_MAX = 10000 };

/* Makes one call of the multipart upload: create, complete or abort. The caller frees *ret; ret may
 * be NULL. Returns MLFLOW_REFUSED with err where the request is too large. */
static enum mlflow_answer mpu_call(struct mlflow *m, const char *verb, struct str before, struct str folder, struct buf *body,
                                   struct json **ret, struct err *err)
{
    struct buf url CLEANUP_BUF;
    char what[40];
    buf_init(&url, 16 << 10);
    buf_printf(&url, STR_FMT "/mpu/%s" STR_FMT, STR_ARG(before), verb, STR_ARG(folder));
    snprintf(what, sizeof what, "mpu/%s", verb);
    struct mlflow_call call = {.what = what, .request = post_of(url.p, body)};
    call.request.parting = strcmp(verb, "abort") == 0;
    if (!url.failed && !body->failed)
        return mlflow_do(m, &call, ret, err);
    err_set(err, ERR_SYSTEM, "server: %s: the request is too large", what);
    return MLFLOW_REFUSED;
}

/* Sends the file in parts of `part` bytes to the addresses that the server returned, and writes
 * number, etag and address of each to `parts`. The caller completes or aborts the upload. */
static enum mlflow_answer put_parts(struct mlflow *m, const struct json *created, int fd, uint64_t size, uint64_t part,
                                    struct json_out *parts, struct err *err)
{
    uint64_t at = 0;
    for (const struct json *c = json_first(json_get(created, "credentials")); at < size; c = json_next(c)) {
        char etag[200] = "";
        uint64_t n = size - at < part ? size - at : part;
        if (!c) {
            err_set(err, ERR_REMOTE, "server %s: mpu/create: it returned fewer addresses than requested", mlflow_uri(m));
            return MLFLOW_REFUSED;
        }
        enum mlflow_answer answer = put_presigned(m, c, fd, at, n, etag, err);
        if (answer != MLFLOW_FINE)
            return answer;
        json_open(parts, NULL, '{');
        json_int(parts, "part_number", json_integer(json_get(c, "part_number"), 0));
        json_text(parts, "etag", etag);
        json_text(parts, "url", json_string(json_get(c, "url"), ""));
        json_close(parts, '}');
        at += n;
    }
    return MLFLOW_FINE;
}

/* Begins the body of a call for the file at `path`, which is left open; upload NULL: it has none
 * yet. */
static struct json_out artifact_begin_body(struct buf *body, const char *path, const char *upload)
{
    const char *slash = strrchr(path, '/');
    buf_clear(body);
    struct json_out j = json_begin(body, JSON_TIGHT, '{');
    json_text(&j, "path", slash ? slash + 1 : path);
    if (upload)
        json_text(&j, "upload_id", upload);
    return j;
}

/* Sends the file by a multipart upload. *ret_done false: this server cannot, and another way is
 * possible. url: of the complete file at the proxy. */
static enum mlflow_answer put_in_parts(struct mlflow *m, const char *url, const char *path, int fd, uint64_t size, uint64_t part,
                                       bool *ret_done, struct err *err)
{
    struct buf body CLEANUP_BUF, parts CLEANUP_BUF;
    struct json *j = NULL;
    struct err ignored = {0};
    ptrdiff_t at = str_find(str_of(url), STR("/mlflow-artifacts/artifacts/")) + (ptrdiff_t)strlen("/mlflow-artifacts");
    struct str folder = str_sub(str_of(url), (size_t)at + strlen("/artifacts"), strlen(url));
    folder.n -= (size_t)(folder.p + folder.n - (const char *)memrchr(folder.p, '/', folder.n));
    if (size / part >= PARTS_MAX)
        part = size / PARTS_MAX + 1;
    buf_init(&body, 16 << 20);
    buf_init(&parts, 16 << 20);
    struct json_out list = {.to = &parts, .layout = JSON_TIGHT}, out = artifact_begin_body(&body, path, NULL);
    json_uint(&out, "num_parts", (size + part - 1) / part);
    json_close(&out, '}');
    struct str before = str_sub(str_of(url), 0, (size_t)at);
    enum mlflow_answer answer = mpu_call(m, "create", before, folder, &body, &j, err);
    *ret_done = answer == MLFLOW_FINE || (mlflow_status(m) != 501 && mlflow_status(m) != 404);
    if (answer != MLFLOW_FINE)
        return answer;
    const char *upload = json_string(json_get(j, "upload_id"), "");
    answer = put_parts(m, j, fd, size, part, &list, err);
    if (answer == MLFLOW_FINE) {
        out = artifact_begin_body(&body, path, upload);
        json_open(&out, "parts", '[');
        json_members(&out, buf_text(&parts));
        json_close(&out, ']');
        json_close(&out, '}');
        answer = mpu_call(m, "complete", before, folder, &body, NULL, err);
    }
    if (answer != MLFLOW_FINE) { /* the parts there cost storage until the upload is aborted */
        out = artifact_begin_body(&body, path, upload);
        json_close(&out, '}');
        mpu_call(m, "abort", before, folder, &body, NULL, &ignored);
    }
    json_free(j);
    return answer;
}

/* Returns MLFLOW_REFUSED with err. */
static enum mlflow_answer path_too_long(const char *path, struct err *err)
{
    err_set(err, ERR_INPUT, "server: the path of the artifact %.100s... is too long", path);
    return MLFLOW_REFUSED;
}

enum mlflow_answer mlflow_artifact_put(struct mlflow *m, const struct mlflow_run *run, const char *path, int fd, uint64_t size,
                                       struct err *err)
{
    struct buf url CLEANUP_BUF;
    buf_init(&url, 16 << 10);
    if (proxy_of(m, run->artifact_uri, &url)) {
        buf_putc(&url, '/');
        http_escape(&url, str_of(path), true);
        uint64_t part = mlflow_part_bytes(m, size);
        bool done = false;
        if (part && !url.failed) {
            enum mlflow_answer answer = put_in_parts(m, url.p, path, fd, size, part, &done, err);
            if (done)
                return answer;
        }
        return url.failed ? path_too_long(path, err) : artifact_put_whole(m, url.p, path, fd, size, err);
    }
    struct err first = {0};
    enum mlflow_answer answer = put_by_presigned(m, run, path, fd, size, &first);
    if (answer == MLFLOW_FINE || answer == MLFLOW_CANCELLED || answer == MLFLOW_LATER)
        return *err = first, answer;
    if (size && size <= UPLOAD_MAX) {
        answer = put_by_upload(m, run, path, fd, size, err);
        if (answer != MLFLOW_REFUSED && answer != MLFLOW_ABSENT)
            return answer;
    }
    err_set(err, ERR_REMOTE,
            "server %s: the artifacts of this run are at \"%.100s\", where only a program with access to that storage can write; "
            "start the server with --serve-artifacts, and the experiment's next runs have a root that it serves",
            mlflow_uri(m), run->artifact_uri);
    return MLFLOW_REFUSED;
}

/* ---- listing and fetching ---- */

struct artifact_listing {
    struct mlflow *m;
    const struct mlflow_run *run;
    int (*each)(void *context, const char *path, int64_t size);
    void *context;
    bool stop;
};

/* Appends the address at which the server lists a folder. */
static void artifact_list_url(const struct artifact_listing *l, const char *path, struct buf *to)
{
    const char *const words[2][2] = {{"/api/2.0/mlflow/artifacts/list?run_id=", "&path="},
                                     {"/api/2.0/mlflow/logged-models/", "/artifacts/directories?artifact_directory_path="}};
    bool model = l->run->is_model;
    buf_printf(to, "%s%s", mlflow_uri(l->m), words[model][0]);
    http_escape(to, str_of(l->run->id), false);
    buf_puts(to, path[0] ? words[model][1] : model ? "/artifacts/directories" : "");
    http_escape(to, str_of(path), false);
}

/* Lists a folder of the run and those below it, over all pages of replies. l->each stops it by a
 * non-zero result. A folder deeper than FOLDERS_DEEP is reported with size -1. */
static enum mlflow_answer artifact_list_folder(struct artifact_listing *l, const char *path, int depth, struct err *err)
{
    struct buf token CLEANUP_BUF;
    enum mlflow_answer answer = MLFLOW_FINE;
    buf_init(&token, 64 << 10);
    buf_puts(&token, "");
    for (bool more = true; more && !l->stop && answer == MLFLOW_FINE;) {
        struct buf url CLEANUP_BUF;
        struct json *j = NULL;
        buf_init(&url, 64 << 10);
        artifact_list_url(l, path, &url);
        buf_puts(&url, token.n ? "&page_token=" : "");
        http_escape(&url, buf_text(&token), false);
        struct mlflow_call call = {.what = "artifacts/list", .request = {.method = "GET", .url = url.p, .reply_max = 64 << 20}};
        answer = mlflow_do(l->m, &call, &j, err);
        for (const struct json *f = json_first(json_get(j, "files")); f && !l->stop && answer == MLFLOW_FINE; f = json_next(f)) {
            const char *name = json_string(json_get(f, "path"), "");
            if (!json_bool(json_get(f, "is_dir"), false))
                l->stop = l->each(l->context, name, json_integer(json_get(f, "file_size"), 0) /* none: protobuf leaves zeros out */) != 0;
            else if (depth >= FOLDERS_DEEP)
                l->stop = l->each(l->context, name, -1) != 0;
            else if (strcmp(name, path) != 0)
                answer = artifact_list_folder(l, name, depth + 1, err);
        }
        const char *next = json_string(json_get(j, "next_page_token"), "");
        more = next[0] && !str_is(buf_text(&token), next);
        buf_clear(&token);
        buf_puts(&token, next);
        json_free(j);
    }
    return answer;
}

enum mlflow_answer mlflow_artifact_list(struct mlflow *m, const struct mlflow_run *run, const char *path,
                                        int (*each)(void *context, const char *path, int64_t size), void *context, struct err *err)
{
    struct artifact_listing l = {.m = m, .run = run, .each = each, .context = context};
    return artifact_list_folder(&l, path, 0, err);
}

enum mlflow_answer mlflow_artifact_get(struct mlflow *m, const struct mlflow_run *run, const char *path, int fd, struct err *err)
{
    struct buf url CLEANUP_BUF;
    buf_init(&url, 16 << 10);
    if (proxy_of(m, run->artifact_uri, &url)) {
        buf_putc(&url, '/');
        http_escape(&url, str_of(path), true);
    } else { /* the server reads its own storage for its web page */
        buf_clear(&url);
        buf_printf(&url, "%s/%s", mlflow_uri(m), run->is_model ? "ajax-api/2.0/mlflow/logged-models/" : "get-artifact?run_uuid=");
        http_escape(&url, str_of(run->id), false);
        buf_puts(&url, run->is_model ? "/artifacts/files?artifact_file_path=" : "&path=");
        http_escape(&url, str_of(path), false);
    }
    if (url.failed)
        return path_too_long(path, err);
    /* An attempt that broke leaves a truncated file: the next begins again. */
    struct mlflow_call call = {
        .what = "artifact",
        .once = true,
        .request = {.method = "GET", .url = url.p, .to_fd = true, .reply_fd = fd, .foreign = !artifact_is_on_server(m, url.p)}};
    for (int i = 0;; i++) {
        enum mlflow_answer answer = mlflow_do(m, &call, NULL, err);
        if (answer != MLFLOW_LATER || i == 3)
            return answer;
        if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) < 0) {
            err_sys(err, "server: artifact %.100s: cannot begin again", path);
            return MLFLOW_REFUSED;
        }
    }
}
