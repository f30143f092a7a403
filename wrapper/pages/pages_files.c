/* pages_files.c: the folder of the pages. */
#include "pages/pages_files.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/place.h"
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_content(const struct page_files *files, const char *path, const struct buf *text)
{
    CLEANUP_BUF struct buf b;
    struct err ignored = {0};
    struct stat st;
    buf_init(&b, text->n + (1 << 17));
    if (fstatat(files->folder, path, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) || (size_t)st.st_size != text->n)
        return false;
    return fs_read(files->folder, path, text->n, 0, &b, &ignored) == 0 && str_eq(buf_text(&b), buf_text(text));
}

int page_file_put(struct page_files *files, const char *path, const struct buf *text, struct err *err)
{
    const char *slash = strrchr(path, '/');
    char folder[PAGE_PATH];
    if (text->failed)
        return err_memory(err, "the page %s", path);
    if (has_content(files, path, text))
        return 0;
    if (fs_write(files->folder, path, buf_text(text), 0644, false, err) < 0) {
        snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 0, path);
        struct err again = {0};
        if (!slash || fs_mkdirs(files->folder, folder, 0755, &again) < 0 ||
            fs_write(files->folder, path, buf_text(text), 0644, false, &again) < 0)
            return -1;
        err_clear(err);
    }
    atomic_fetch_add(&files->written, 1);
    return 0;
}

int page_file_put_group(struct page_files *files, const char *path, const struct buf *text, struct err *err)
{
    if (!ARRAY_FITS(files->put, files->put_capacity, files->put_count + 1))
        return err_memory(err, "the page %s", path);
    snprintf(files->put[files->put_count++], sizeof *files->put, "%s", path);
    return page_file_put(files, path, text, err);
}

void page_files_deinit(struct page_files *files)
{
    free(files->put);
    files->put = NULL;
    files->put_count = files->put_capacity = 0;
}

/* ---- what is gone ---- */

struct page_cleaning {
    struct page_files *files;
    const char *folder;
    int dir; /* the open folder */
    bool (*is_run)(const void *context, const char *id); /* NULL: a folder of groups */
    const void *context;
    struct err *err;
};

static int by_put_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Returns the length of a page's file name without its extension; 0: it is not the name of a page. */
static size_t page_name_stem(const char *name)
{
    static const char *const endings[] = {".html", ".json", ".svg"};
    size_t n = strspn(name, "0123456789abcdefx-");
    for (size_t i = 0; n && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(name + n, endings[i]) == 0)
            return n;
    return 0;
}

/* Removes a page of a run or group that no longer exists; names that are no page's are ignored.
 * Returns -1 with err. */
static int clean_page_name(void *context, const char *name, unsigned char type)
{
    struct page_cleaning *c = context;
    char path[64] = "", id[64];
    size_t stem = page_name_stem(name);
    (void)type;
    if (!stem || stem >= sizeof id || (size_t)snprintf(path, sizeof path, "%s/%s", c->folder, name) >= sizeof path)
        return 0;
    snprintf(id, sizeof id, "%.*s", (int)stem, name);
    const struct page_files *f = c->files;
    bool known = c->is_run ? c->is_run(c->context, id) : f->put_count && bsearch(path, f->put, f->put_count, sizeof *f->put, by_put_name);
    if (known)
        return 0;
    if (unlinkat(c->dir, name, 0) == 0)
        c->files->removed++;
    else if (errno != ENOENT)
        return err_sys(c->err, "removing the page %s", path);
    return 0;
}

static int clean_folder(struct page_cleaning *c, const char *folder)
{
    CLEANUP_FD int dir = place_open(c->files->folder, folder, O_RDONLY | O_DIRECTORY, 0);
    c->folder = folder;
    c->dir = dir;
    int rc = dir < 0 ? -1 : fs_each_name(dir, NULL, clean_page_name, c);
    return rc < 0 && c->err->kind ? -1 : 0; /* a folder that is not there has nothing to clean */
}

int page_files_clean(struct page_files *files, bool (*is_run)(const void *context, const char *id), const void *context, struct err *err)
{
    static const char *const groups[] = {"experiment", "measurement", "machine", "badge"};
    struct page_cleaning c = {.files = files, .err = err};
    if (files->put_count)
        qsort(files->put, files->put_count, sizeof *files->put, by_put_name);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (clean_folder(&c, groups[i]) < 0)
            return -1;
    c.is_run = is_run;
    c.context = context;
    for (unsigned i = 0; i < 256; i++) {
        char folder[16];
        snprintf(folder, sizeof folder, "run/%02x", i);
        if (clean_folder(&c, folder) < 0)
            return -1;
    }
    return 0;
}

bool page_file_exists(const struct page_files *files, const char *path)
{
    struct stat st;
    return fstatat(files->folder, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

/* Returns an id that is safe in a path, as it is; else digits of its hash. */
static const char *id_in_path(const char *id, char room[SHA256_HEX])
{
    enum { HASHED = 16, LONGEST = 40 };
    size_t n = strlen(id);
    if (n && n <= LONGEST && strspn(id, "0123456789abcdef-") == n)
        return id;
    sha256_of(id, n, room);
    room[0] = 'x';
    room[HASHED] = 0;
    return room;
}

void page_path_of(const char *folder, const char *id, const char *ending, char ret[PAGE_PATH])
{
    char room[SHA256_HEX];
    snprintf(ret, PAGE_PATH, "%s/%s%s", folder, id_in_path(id, room), ending);
}

void page_path_run(const char *id, const char *ending, char ret[PAGE_PATH])
{
    char room[SHA256_HEX];
    const char *safe = id_in_path(id, room);
    snprintf(ret, PAGE_PATH, "run/%.2s/%s%s", safe, safe, ending);
}
