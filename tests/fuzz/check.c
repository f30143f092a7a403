/* check.c: any bytes as a tree that somebody wants to publish: no input crashes, hangs or escapes the reviewer's gate, and its reports are well-formed.
 *
 * An input is a list of files, "<kind> <bytes> <path>\n<content>\n"; kind F, X, L, M, O as in base/folder.h; \1 in a path is a '/' within a name. */
#include "base/json.h"
#include "check/check.h"
#include "check/check_report.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILES = 200 };
struct file { struct str path, data; enum folder_kind kind; };
static struct file files[FILES];
static size_t count;

/* The folder is all files whose paths begin with own ("mlruns/1/"). */
static const struct folder_ops ops;

static struct folder of(const char *prefix, size_t n)
{
    char *own = calloc(1, n + 2);
    if (own && n) {
        memcpy(own, prefix, n);
        own[n] = '/';
    }
    return (struct folder){.ops = &ops, .fd = -1, .own = own};
}

static void leave(struct folder *f)
{
    free(f->own);
    f->own = NULL;
}

/* Sets `name` to the next name below the folder in a file's path; *ret_deeper: a folder. false: the file lies elsewhere. */
static bool child(const struct folder *f, const struct file *x, struct str *name, bool *ret_deeper)
{
    struct str prefix = str_of(f->own);
    if (x->path.n < prefix.n || memcmp(x->path.p, prefix.p, prefix.n) != 0)
        return false;
    struct str rest = str_sub(x->path, prefix.n, x->path.n);
    *name = str_cut(&rest, '/');
    *ret_deeper = rest.p != NULL;
    return true;
}

static const struct file *find(const struct folder *f, const char *path, bool *ret_folder)
{
    struct str prefix = str_of(f->own), wanted = str_of(path);
    *ret_folder = false;
    for (size_t i = 0; i < count; i++) {
        struct str rest = str_sub(files[i].path, prefix.n, files[i].path.n);
        if (files[i].path.n < prefix.n || memcmp(files[i].path.p, prefix.p, prefix.n) != 0 || rest.n < wanted.n || memcmp(rest.p, wanted.p, wanted.n) != 0)
            continue;
        if (rest.n == wanted.n)
            return &files[i];
        *ret_folder = *ret_folder || rest.p[wanted.n] == '/';
    }
    errno = *ret_folder ? EISDIR : ENOENT;
    return NULL;
}

static int enter(const struct folder *f, const char *path, struct folder *ret)
{
    bool folder;
    char whole[5000];
    find(f, path, &folder);
    int n = snprintf(whole, sizeof whole, "%s%s", (const char *)f->own, path);
    if (!folder || n < 0 || (size_t)n >= sizeof whole) {
        errno = ENOENT;
        return -1;
    }
    *ret = of(whole, (size_t)n);
    return ret->own ? 0 : -1;
}

static int list(const struct folder *f, bool modes, int (*each)(void *context, const struct folder_entry *entry), void *context)
{
    (void)modes;
    static const unsigned char id[20] = "an object of git's";
    for (size_t i = 0; i < count; i++) {
        struct str name, other;
        bool deeper, again = false, unused;
        if (!child(f, &files[i], &name, &deeper))
            continue;
        for (size_t k = 0; k < i && deeper && !again; k++) /* a folder once, a file as often as it stands there */
            again = child(f, &files[k], &other, &unused) && unused && str_eq(name, other);
        char text[1000];
        if (again || name.n >= sizeof text)
            continue;
        for (size_t k = 0; k <= name.n; k++)
            text[k] = k == name.n ? 0 : name.p[k] == 1 ? '/' : name.p[k];
        struct folder_entry e = {.name = {text, strlen(text)}, .kind = deeper ? FOLDER_FOLDER : files[i].kind, .id = id, .id_size = sizeof id};
        int rc = each(context, &e);
        if (rc)
            return rc;
    }
    return 0;
}

static int look(const struct folder *f, const char *path, struct folder_entry *ret, uint64_t *ret_size)
{
    bool folder;
    const struct file *x = find(f, path, &folder);
    if (!x && !folder)
        return -1;
    ret->kind = x ? x->kind : FOLDER_FOLDER;
    *ret_size = x ? x->data.n : 0;
    return 0;
}

static int read_file(const struct folder *f, const char *path, size_t max, bool cut, struct buf *to)
{
    bool folder;
    const struct file *x = find(f, path, &folder);
    if (!x)
        return -1;
    if (x->data.n > max && !cut) {
        errno = EFBIG;
        return -1;
    }
    buf_str(to, str_sub(x->data, 0, max));
    return x->data.n > max;
}

static int feed(const struct folder *f, const char *path, uint64_t max, void (*piece)(void *context, const void *p, size_t n), void *context)
{
    bool folder;
    const struct file *x = find(f, path, &folder);
    if (!x || x->data.n > max)
        return -1;
    piece(context, x->data.p, x->data.n);
    return 0;
}

static const struct folder_ops ops = {enter, leave, list, look, feed, read_file, false};

static void take(struct str text)
{
    for (count = 0; count < FILES && text.p && text.n;) {
        struct str head = str_cut(&text, '\n'), kind = str_cut(&head, ' '), bytes = head.p ? str_cut(&head, ' ') : (struct str){"", 0};
        uint64_t n;
        const char *letter = kind.n == 1 && kind.p[0] ? strchr("FXLMO", kind.p[0]) : NULL;
        if (!head.p || !head.n || !letter || !str_uint(bytes, &n) || memchr(head.p, 0, head.n) || !text.p)
            return;
        struct str rest = str_sub(text, 0, n);
        static const enum folder_kind kinds[] = {FOLDER_FILE, FOLDER_PROGRAM, FOLDER_LINK, FOLDER_MODULE, FOLDER_OTHER};
        files[count++] = (struct file){head, rest, kinds[letter - "FXLMO"]};
        text = str_sub(text, rest.n + 1, text.n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct check_state k;
    struct buf b CLEANUP_BUF;
    struct json *j = NULL;
    take((struct str){size ? (const char *)data : "", size});
    struct folder root = of("", 0);
    arena_init(&a, 0);
    check_begin(&k, &a);
    k.apart_s = 1e9; /* no processes here */
    k.public_profile = size & 1;
    if (root.own && check_tree(&k, &root, "mlruns", NULL) == 0 && check_report_sort(&k) == 0) {
        buf_init(&b, 64 << 20);
        check_report_sarif(&k, &b);
        if (json_parse(&j, buf_text(&b), NULL, NULL) < 0)
            abort();
        json_free(j);
        j = NULL;
        buf_clear(&b);
        check_report_json(&k, &(struct check_subject){"tree", "x"}, &b);
        if (json_parse(&j, buf_text(&b), NULL, NULL) < 0)
            abort();
        json_free(j);
        buf_clear(&b);
        check_report_markdown(&k, &(struct check_subject){"tree", "x"}, 1 << 20, &b);
        if (!str_valid_utf8(buf_text(&b)))
            abort();
    }
    check_end(&k);
    folder_leave(&root);
    arena_deinit(&a);
    return 0;
}
