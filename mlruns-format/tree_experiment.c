/* tree_experiment.c: the folder of an experiment: the same id and the same bytes at every site, so that trees merge. */
#include "base/fs.h"
#include "base/place.h"
#include "mlruns-format/tree.h"
#include "mlruns-format/tree_meta.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_CHARS = 128, SUFFIX_MAX = 99 };

/* Writes a name of [A-Za-z0-9._ -]{1,128} from any text; "default" where nothing is left. */
static void legal_name(struct str wanted, char to[NAME_CHARS + 1])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._ -";
    size_t n = 0;
    wanted = str_trim(wanted);
    for (size_t i = 0, k; i < wanted.n && n < NAME_CHARS; i += k ? k : 1) {
        k = str_utf8(wanted.p + i, wanted.n - i);
        to[n++] = k == 1 && wanted.p[i] && strchr(letters, wanted.p[i]) ? wanted.p[i] : '_';
    }
    while (n && to[n - 1] == ' ')
        n--;
    to[n] = 0;
    if (n == 0)
        snprintf(to, NAME_CHARS + 1, "default");
}

/* Creates the file complete, through one without a name, of which a kill leaves nothing. 0; 1:
 * there is one; -1: it cannot be written, or the file system or /proc does not support that. */
static int put_nameless(int dir, const char *path, struct str data)
{
    CLEANUP_FD int fd = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0 || fs_write_all(fd, data.p, data.n) < 0)
        return -1;
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, name, dir, path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    return errno == EEXIST ? 1 : -1;
}

/* Creates a file that appears with all of its content, unless it exists. Returns 0: made, 1:
 * existed, -1 with err. */
static int put_once(int dir, const char *path, struct str data, struct err *err)
{
    int nameless = put_nameless(dir, path, data);
    if (nameless >= 0)
        return nameless;
    char random[33], beside[48];
    record_new_id(random); /* writers on other hosts have the same process numbers */
    snprintf(beside, sizeof beside, ".%s.tmp", random);
    if (fs_create(dir, beside, data, 0666, err) < 0)
        return -1;
    int rc = linkat(dir, beside, dir, path, 0);
    if (rc < 0 && errno != EEXIST) { /* no hard links here */
        rc = renameat2(dir, beside, dir, path, RENAME_NOREPLACE);
        if (rc < 0 && errno != EEXIST && faccessat(dir, path, F_OK, 0) < 0)
            rc = renameat(dir, beside, dir, path);
    }
    int why = errno;
    unlinkat(dir, beside, 0);
    errno = why;
    if (rc < 0 && errno != EEXIST)
        return err_sys(err, "cannot make %s", path);
    return rc < 0;
}

/* Reads the name in <folder>/meta.yaml of the tree. 1 and *ret_name in the arena; 0: there is no
 * such file; -1 with err: it is damaged or cannot be read. */
static int read_name(int root, const char *folder, struct arena *a, struct str *ret_name, struct err *err)
{
    char path[300];
    snprintf(path, sizeof path, "%s/meta.yaml", folder);
    struct buf b CLEANUP_BUF;
    buf_init(&b, TREE_META_MAX);
    struct err why = {0};
    if (fs_read(root, path, TREE_META_MAX - 1, 0, &b, &why) < 0) {
        if (why.sys == ENOENT || why.sys == ENOTDIR)
            return 0;
        if (err)
            *err = why;
        return -1;
    }
    struct tree_meta m;
    int rc = tree_meta_parse(&m, path, buf_text(&b), a, &why);
    if (rc < 0 || !m.name.p || !m.experiment_id.p) {
        err_set(err, ERR_INPUT, "the experiment file mlruns/%s is damaged%s%s; repair it or use another experiment (-e NAME)", path,
                rc < 0 ? ": " : ": it has no name or id", rc < 0 ? why.text : "");
        return -1;
    }
    *ret_name = (struct str){arena_dup(a, m.name.p, m.name.n), m.name.n};
    return ret_name->p ? 1 : err_memory(err, "mlruns/%s", path);
}

/* Returns whether another folder has an experiment of this name (Python MLflow uses random ids).
 * Two of one name stop MLflow's migration. */
static bool name_taken(int root, const char *below, const char *own, struct str name, struct arena *a)
{
    int fd = place_open(root, below, O_RDONLY | O_DIRECTORY, 0);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    bool taken = false;
    struct dirent *e;
    struct str other;
    if (!d && fd >= 0)
        close(fd);
    while (d && !taken && (e = readdir(d)))
        taken = strspn(e->d_name, "0123456789") == strlen(e->d_name) && strcmp(e->d_name, own) != 0 &&
                read_name(dirfd(d), e->d_name, a, &other, NULL) == 1 && str_eq(other, name);
    if (d)
        closedir(d);
    return taken;
}

/* Creates the experiment's folder and files where they are missing; replaces none. 0; -1 with
 * err. */
static int make_experiment(int root, const char *folder, uint32_t id, struct str name, struct err *err)
{
    struct buf b CLEANUP_BUF;
    buf_init(&b, 4096);
    tree_meta_experiment(&b, id, name);
    if (b.failed)
        return err_memory(err, "the experiment");
    CLEANUP_FD int dir = place_make_folder(root, folder, 0777);
    CLEANUP_FD int tags = dir < 0 ? -1 : place_make_folder(dir, "tags", 0777);
    if (tags < 0)
        return err_sys(err, "cannot open mlruns/%s%s", folder, dir < 0 ? "" : "/tags");
    /* meta.yaml comes last: without it a folder is no experiment. */
    if (put_once(tags, "mlflow.experimentKind", STR("custom_model_development"), err) < 0 ||
        put_once(dir, "meta.yaml", buf_text(&b), err) < 0)
        return -1;
    return 0;
}

int tree_experiment(int root, struct str wanted, struct arena *a, uint32_t *ret_id, struct str *ret_name, struct err *err)
{
    char base[NAME_CHARS + 1], name[NAME_CHARS + 16], folder[16];
    legal_name(wanted, base);
    for (int suffix = 1; suffix <= SUFFIX_MAX; suffix++) {
        if (suffix == 1)
            snprintf(name, sizeof name, "%s", base);
        else /* the total stays within the bound */
            snprintf(name, sizeof name, "%.*s~%d", NAME_CHARS - 3, base, suffix);
        struct str is, text = str_of(name);
        uint32_t id = tree_experiment_id(text);
        snprintf(folder, sizeof folder, "%u", id);
        int there = read_name(root, folder, a, &is, err);
        if (there == 0) {
            if (name_taken(root, ".", folder, text, a) || name_taken(root, ".trash", folder, text, a))
                continue;
            if (make_experiment(root, folder, id, text, err) < 0)
                return err_wrap(err, "cannot make the experiment \"%s\"", name);
            there = read_name(root, folder, a, &is, err); /* another process may have been first, with another name */
        }
        if (there < 0)
            return -1;
        if (there == 0)
            return err_set(err, ERR_INPUT, "cannot make the experiment \"%s\": mlruns/%s/meta.yaml is not there after it was written", name,
                           folder);
        if (!str_eq(is, text))
            continue;
        *ret_id = id;
        *ret_name = (struct str){arena_dup(a, text.p, text.n), text.n};
        return ret_name->p ? 0 : err_memory(err, "the experiment");
    }
    return err_set(err, ERR_INPUT, "cannot make the experiment \"%s\": %d ids belong to other names", base, SUFFIX_MAX);
}
