/* mlflow_config.c: any bytes as the address of a server, the variables beside it and the credentials file: no address keeps a password, nothing
 * that is printed or sent as a header holds what ends a line. Parts are separated by a line with "--". */
#include "base/fs.h"
#include "mlflow/mlflow.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char home[100];

static void begin(void)
{
    char name[] = "/tmp/fuzz-home.XXXXXX", path[120];
    if (home[0])
        return;
    if (!mkdtemp(name))
        abort();
    snprintf(home, sizeof home, "HOME=%s", name);
    snprintf(path, sizeof path, "%s/.mlflow", name);
    if (fs_mkdirs(AT_FDCWD, path, 0700, NULL))
        abort();
}

static struct str part(struct str *rest)
{
    ptrdiff_t at = str_find(*rest, STR("\n--\n"));
    struct str one = at < 0 ? *rest : str_sub(*rest, 0, (size_t)at);
    *rest = at < 0 ? STR("") : str_sub(*rest, (size_t)at + 4, rest->n);
    return one;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD", "MLFLOW_WORKSPACE", "MLFLOW_HTTP_REQUEST_TIMEOUT",
                                        "MLFLOW_HTTP_REQUEST_MAX_RETRIES", "MLFLOW_MULTIPART_UPLOAD_CHUNK_SIZE", "MLFLOW_TRACKING_AUTH"};
    struct str rest = {size ? (const char *)data : "", size};
    struct arena a;
    struct mlflow_config c;
    struct err err = {0};
    char path[140], *env[12] = {home};
    begin();
    arena_init(&a, 16 << 20);
    struct str uri = part(&rest), file = part(&rest);
    snprintf(path, sizeof path, "%s/.mlflow/credentials", home + 5);
    unlink(path);
    if (file.n && fs_create(AT_FDCWD, path, file, 0600, NULL))
        abort();
    for (size_t i = 0; i < sizeof names / sizeof *names && rest.n; i++) {
        struct str value = part(&rest);
        env[i + 1] = arena_printf(&a, "%s=" STR_FMT, names[i], STR_ARG(value));
    }
    if (mlflow_config_from(&c, arena_dup(&a, uri.p, uri.n), env, &a, &err) == 0) {
        const char *host = strstr(c.uri, "://");
        if (!host || memchr(host + 3, '@', strcspn(host + 3, "/?#")) || strpbrk(c.uri, "\r\n\033"))
            abort();
        if (c.http.headers[0] && strpbrk(c.http.headers[0], "\r\n"))
            abort();
        if (!(c.http.total_s >= 0 && c.http.total_s < 1e6) || c.retries < 0 || !c.http.user != !c.http.password)
            abort();
    } else if (!err.text[0] || strpbrk(err.text, "\r\n\033"))
        abort();
    arena_deinit(&a);
    return 0;
}
