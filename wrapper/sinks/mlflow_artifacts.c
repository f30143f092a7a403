/* mlflow_artifacts.c: files of a run: put, listed, fetched; through the server's proxy wherever it has one. */
#include "base/fs.h"
#include "base/json.h"
#include "sinks/mlflow.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum {
    UPLOAD_MAX = 10 << 20,        /* of the server's own upload call */
    FOLDERS_DEEP = 32,
};

/* The address below which a run's files lie at the server's proxy: false if they lie elsewhere. */
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
    if (str_starts(rest, "//")) { /* another server: mlflow-artifacts://host:port/path, by our scheme */
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

static const char *type_of(const char *path)
{
    static const char *const rows[][2] = {{".json", "application/json"}, {".xml", "application/xml"}, {".yaml", "application/yaml"},
                                          {".log", "text/plain"}, {".txt", "text/plain"}, {".csv", "text/csv"}, {".md", "text/markdown"},
                                          {".png", "image/png"}, {".html", "text/html"}, {".svg", "image/svg+xml"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_ends(str_of(path), rows[i][0]))
            return rows[i][1];
    return "application/octet-stream";
}

/* A file of no bytes still needs a body, else the request is none. */
static void set_file(struct http_request *q, int fd, uint64_t at, uint64_t size)
{
    q->body_fd = fd;
    q->body_at = at;
    q->body_bytes = size;
    q->body = size ? (struct str){0} : STR("");
}

static enum mlflow_answer put_whole(struct mlflow *m, const char *url, const char *path, int fd, uint64_t size, struct err *err)
{
    struct mlflow_call call = {.what = "artifact", .request = {.method = "PUT", .url = url, .type = type_of(path)}};
    set_file(&call.request, fd, 0, size);
    return mlflow_do(m, &call, NULL, err);
}

static enum mlflow_answer post(struct mlflow *m, const char *what, const char *url, struct buf *body, struct json **ret, struct err *err)
{
    struct mlflow_call call = {
        .what = what, .request = {.method = "POST", .url = url, .type = "application/json", .body = buf_text(body), .reply_max = 16 << 20}};
    return mlflow_do(m, &call, ret, err);
}

/* headers of a presigned address: an object of texts. At most 16. */
static size_t headers_of(const struct json *j, struct arena *a, const char **to)
{
    size_t n = 0;
    for (const struct json *h = json_first(j); h && n < 16; h = json_next(h))
        if (json_is_string(h) && !strpbrk(json_string(h, ""), "\r\n"))
            to[n++] = arena_printf(a, "%s: %s", json_key(h), json_string(h, ""));
    to[n] = NULL;
    return n;
}

static enum mlflow_answer put_presigned(struct mlflow *m, const struct json *j, int fd, uint64_t at, uint64_t size, struct err *err)
{
    struct arena a;
    const char *headers[17];
    const char *url = json_string(json_get(j, "presigned_url"), json_string(json_get(j, "url"), ""));
    arena_init(&a, 64 << 10);
    headers_of(json_get(j, "headers"), &a, headers);
    struct mlflow_call call = {
        .what = "presigned address", .request = {.method = "PUT", .url = url, .headers = headers, .foreign = true}};
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

static enum mlflow_answer put_by_presigned(struct mlflow *m, const struct mlflow_run *run, const char *path, int fd, uint64_t size, struct err *err)
{
    struct buf url CLEANUP_BUF, body CLEANUP_BUF;
    struct json *j = NULL;
    buf_init(&url, 16 << 10);
    buf_init(&body, 16 << 10);
    buf_printf(&url, "%s/api/2.0/mlflow/artifacts/presigned-upload-url", mlflow_uri(m));
    buf_puts(&body, "{\"run_id\":");
    buf_json(&body, str_of(run->id));
    buf_puts(&body, ",\"path\":");
    buf_json(&body, str_of(path));
    buf_puts(&body, ",\"expiration\":3600}");
    enum mlflow_answer answer = post(m, "artifacts/presigned-upload-url", url.p, &body, &j, err);
    if (answer == MLFLOW_FINE)
        answer = put_presigned(m, j, fd, 0, size, err);
    json_free(j);
    return answer;
}

static enum mlflow_answer put_by_upload(struct mlflow *m, const struct mlflow_run *run, const char *path, int fd, uint64_t size, struct err *err)
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

enum mlflow_answer mlflow_artifact_put(struct mlflow *m, const struct mlflow_run *run, const char *path, int fd, uint64_t size, struct err *err)
{
    struct buf url CLEANUP_BUF;
    buf_init(&url, 16 << 10);
    if (proxy_of(m, run->artifact_uri, &url)) {
        buf_putc(&url, '/');
        http_escape(&url, str_of(path), true);
        return url.failed ? MLFLOW_REFUSED : put_whole(m, url.p, path, fd, size, err);
    }
    struct err first;
    enum mlflow_answer answer = put_by_presigned(m, run, path, fd, size, &first);
    if (answer == MLFLOW_FINE || answer == MLFLOW_CANCELLED || answer == MLFLOW_LATER)
        return *err = first, answer;
    if (size && size <= UPLOAD_MAX) {
        answer = put_by_upload(m, run, path, fd, size, err);
        if (answer != MLFLOW_REFUSED && answer != MLFLOW_ABSENT)
            return answer;
    }
    err_set(err, ERR_REMOTE,
            "server %s: the artifacts of this run lie at \"%.100s\", where only a program with access to that storage can write; "
            "start the server with --serve-artifacts, and the experiment's next runs have a root that it serves",
            mlflow_uri(m), run->artifact_uri);
    return MLFLOW_REFUSED;
}

/* ---- listing and fetching ---- */

struct listing {
    struct mlflow *m;
    const struct mlflow_run *run;
    int (*each)(void *context, const char *path, int64_t size);
    void *context;
    bool stop;
};

static enum mlflow_answer list_folder(struct listing *l, const char *path, int depth, struct err *err)
{
    struct buf token CLEANUP_BUF;
    enum mlflow_answer answer = MLFLOW_FINE;
    buf_init(&token, 64 << 10);
    buf_puts(&token, "");
    for (bool more = true; more && !l->stop && answer == MLFLOW_FINE;) {
        struct buf url CLEANUP_BUF;
        struct json *j = NULL;
        buf_init(&url, 64 << 10);
        buf_printf(&url, "%s/api/2.0/mlflow/artifacts/list?run_id=", mlflow_uri(l->m));
        http_escape(&url, str_of(l->run->id), false);
        buf_puts(&url, path[0] ? "&path=" : "");
        http_escape(&url, str_of(path), false);
        buf_puts(&url, token.n ? "&page_token=" : "");
        http_escape(&url, buf_text(&token), false);
        struct mlflow_call call = {.what = "artifacts/list", .request = {.method = "GET", .url = url.p, .reply_max = 64 << 20}};
        answer = mlflow_do(l->m, &call, &j, err);
        for (const struct json *f = json_first(json_get(j, "files")); f && !l->stop && answer == MLFLOW_FINE; f = json_next(f)) {
            const char *name = json_string(json_get(f, "path"), "");
            if (!json_bool(json_get(f, "is_dir"), false))
                l->stop = l->each(l->context, name, json_integer(json_get(f, "file_size"), 0) /* none: protobuf leaves zeros out */) != 0;
            else if (depth < FOLDERS_DEEP && strcmp(name, path) != 0)
                answer = list_folder(l, name, depth + 1, err);
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
    struct listing l = {.m = m, .run = run, .each = each, .context = context};
    return list_folder(&l, path, 0, err);
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
        buf_printf(&url, "%s/get-artifact?run_uuid=", mlflow_uri(m));
        http_escape(&url, str_of(run->id), false);
        buf_puts(&url, "&path=");
        http_escape(&url, str_of(path), false);
    }
    /* An attempt that broke half-way leaves half a file: the next begins anew. */
    struct mlflow_call call = {
        .what = "artifact", .once = true, .request = {.method = "GET", .url = url.p, .to_fd = true, .reply_fd = fd}};
    for (int i = 0;; i++) {
        enum mlflow_answer answer = mlflow_do(m, &call, NULL, err);
        if (answer != MLFLOW_LATER || i == 3)
            return answer;
        if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) < 0) {
            err_sys(err, "server: artifact %.100s: cannot begin anew", path);
            return MLFLOW_REFUSED;
        }
    }
}
