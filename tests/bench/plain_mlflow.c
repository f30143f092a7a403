/* plain_mlflow.c: what the wire and the server allow: the requests of a whole run, bodies ready beforehand, one after the other over one
 * connection, TCP_QUICKACK armed before every receive, the reply looked at for its length and status alone. No other client can be faster.
 *
 *   plain_mlflow PORT EXPERIMENT_ID RUNS PARAMS METRICS TAGS ARTIFACT_BYTES [EXPERIMENT_FOLDER]
 * Each run: create, log-batch, two artifacts, update. With the folder of an experiment in a tree also one search by a tag, as a client that makes no
 * doubles must do, and every file of one of its runs is opened, read once and closed before: the least that a client which syncs a tree has to do.
 * Prints milliseconds a run, and milliseconds of CPU time a run. */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BODY = 1 << 20, REPLY = 1 << 20 };

static int port, fd = -1;
static char reply[REPLY + 1], body[BODY], request[BODY + 4096];

static void fail(const char *what)
{
    fprintf(stderr, "plain_mlflow: %s: %.300s\n", what, reply);
    exit(1);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Of this process, which has done nothing before but made its buffers. */
static double cpu_ms(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

static void connect_server(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    if (fd >= 0)
        close(fd);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (struct sockaddr *)&a, sizeof a))
        fail("connect");
}

/* Head and body as far as Content-Length says; chunked replies end in "0\r\n\r\n". */
static bool receive(void)
{
    size_t n = 0, head = 0, want = 0;
    bool chunked = false;
    for (;;) {
        int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof one);
        ssize_t k = recv(fd, reply + n, REPLY - n, 0);
        if (k <= 0)
            return false;
        n += (size_t)k;
        reply[n] = 0;
        char *end = head ? NULL : strstr(reply, "\r\n\r\n");
        if (end) {
            char *length = strcasestr(reply, "content-length:");
            head = (size_t)(end - reply) + 4;
            chunked = !length || length > end;
            want = chunked ? 0 : strtoul(length + 15, NULL, 10);
        }
        if (head && (chunked ? n >= head + 5 && memcmp(reply + n - 5, "0\r\n\r\n", 5) == 0 : n >= head + want))
            return true;
    }
}

static void ask(const char *method, const char *path, const char *type, const char *p, size_t n)
{
    int m = snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n", method, path, port, type, n);
    memcpy(request + m, p, n);
    size_t all = (size_t)m + n;
    for (int i = 0; i < 2; i++) { /* the server closes idle connections */
        if (send(fd, request, all, MSG_NOSIGNAL) == (ssize_t)all && receive()) {
            if (strncmp(reply + 9, "200", 3) != 0)
                fail(path);
            return;
        }
        connect_server();
    }
    fail(path);
}

static void post(const char *path)
{
    char full[200];
    snprintf(full, sizeof full, "/api/2.0/mlflow/%s", path);
    ask("POST", full, "application/json", body, strlen(body));
}

static void text_of(const char *key, char *to, size_t size)
{
    char wanted[60];
    snprintf(wanted, sizeof wanted, "\"%s\":", key);
    const char *at = strstr(reply, wanted);
    at = at ? strchr(at + strlen(wanted), '"') : NULL;
    if (!at)
        fail("a reply without what is wanted");
    snprintf(to, size, "%.*s", (int)strcspn(at + 1, "\""), at + 1);
}

static size_t put_pairs(size_t at, const char *list, int count, const char *what, int run)
{
    at += (size_t)snprintf(body + at, BODY - at, ",\"%s\":[", list);
    for (int i = 0; i < count; i++)
        at += (size_t)snprintf(body + at, BODY - at, "%s{\"key\":\"%s%d\",\"value\":\"%s %d %d\"}", i ? "," : "", list, i, what, run, i);
    return at + (size_t)snprintf(body + at, BODY - at, "]");
}

/* Every file below the folder, opened, read once, closed. */
static void read_all(int in, const char *folder)
{
    int at = openat(in, folder, O_RDONLY | O_DIRECTORY);
    DIR *d = at < 0 ? NULL : fdopendir(at);
    if (!d)
        fail("a folder cannot be read");
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_type == DT_DIR && e->d_name[0] != '.')
            read_all(at, e->d_name);
        int file = e->d_type == DT_REG ? openat(at, e->d_name, O_RDONLY) : -1;
        if (file >= 0 && read(file, request, sizeof request) < 0)
            fail("a file cannot be read");
        if (file >= 0)
            close(file);
    }
    closedir(d);
}

/* The next run's folder; NULL after the last. */
static const char *next_run(DIR *runs)
{
    for (struct dirent *e; (e = readdir(runs));)
        if (e->d_type == DT_DIR && strlen(e->d_name) == 32)
            return e->d_name;
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 8)
        return 2;
    port = (int)strtol(argv[1], NULL, 10);
    int runs = (int)strtol(argv[3], NULL, 10), params = (int)strtol(argv[4], NULL, 10), metrics = (int)strtol(argv[5], NULL, 10), tags = (int)strtol(argv[6], NULL, 10);
    size_t bytes = strtoul(argv[7], NULL, 10);
    DIR *tree = argc > 8 ? opendir(argv[8]) : NULL;
    if (argc > 8 && !tree)
        fail(argv[8]);
    char *file = malloc(bytes + 1), id[65], uri[300], path[600];
    memset(file, 'x', bytes);
    connect_server();
    double begin = now_ms();
    for (int r = 0; r < runs; r++) {
        long long start = 1700000000000LL + r * 1000;
        const char *folder = tree ? next_run(tree) : NULL;
        if (folder)
            read_all(dirfd(tree), folder);
        snprintf(body, sizeof body, "{\"experiment_id\":\"%s\",\"start_time\":%lld,\"run_name\":\"run %d\",\"user_id\":\"somebody\",\"tags\":[{\"key\":\"plain.id\",\"value\":\"%032d\"}]}", argv[2], start, r, r);
        post("runs/create");
        text_of("run_id", id, sizeof id);
        text_of("artifact_uri", uri, sizeof uri);
        for (int i = 0; i < 2; i++) {
            snprintf(path, sizeof path, "/api/2.0/mlflow-artifacts/artifacts%s/%s", strchr(uri, ':') + 1, i ? "more/detail.json" : "stdout.log");
            ask("PUT", path, "text/plain", file, bytes);
        }
        size_t at = (size_t)snprintf(body, sizeof body, "{\"run_id\":\"%s\",\"metrics\":[", id);
        for (int i = 0; i < metrics; i++)
            at += (size_t)snprintf(body + at, BODY - at, "%s{\"key\":\"m%d\",\"value\":%.17g,\"timestamp\":%lld,\"step\":0}", i ? "," : "", i, (double)i / 7 + r, start);
        at += (size_t)snprintf(body + at, BODY - at, "]");
        at = put_pairs(at, "params", params, "value", r);
        at = put_pairs(at, "tags", tags, "tag", r);
        snprintf(body + at, BODY - at, "}");
        post("runs/log-batch");
        snprintf(body, sizeof body, "{\"run_id\":\"%s\",\"status\":\"FINISHED\",\"end_time\":%lld}", id, start + 900);
        post("runs/update");
        if (tree) {
            snprintf(body, sizeof body, "{\"experiment_ids\":[\"%s\"],\"filter\":\"tags.`plain.id` = '%032d'\",\"run_view_type\":\"ALL\",\"max_results\":20}", argv[2], r);
            post("runs/search");
        }
    }
    printf("%.3f %.3f\n", (now_ms() - begin) / runs, cpu_ms() / runs);
    return 0;
}
