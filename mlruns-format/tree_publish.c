/* tree_publish.c: a finished run appears in the tree in one step; readers never see half of it. */
#include "base/fs.h"
#include "base/place.h"
#include "mlruns-format/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 130 };

static bool path_exists(int dir, const char *path)
{
    struct stat st;
    return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Calls rename(2), but replaces nothing. 0; 1: there already; -1 with errno. */
static int rename_new(int from_dir, const char *from, int to_dir, const char *to)
{
    if (renameat2(from_dir, from, to_dir, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno == EINVAL ||
        errno == ENOSYS) { /* old kernels, some network file systems: a folder with something in it is not replaced either */
        if (path_exists(to_dir, to))
            return 1;
        if (renameat(from_dir, from, to_dir, to) == 0)
            return 0;
    }
    return errno == EEXIST || errno == ENOTEMPTY ? 1 : -1;
}

/* Copies a folder, without the file named `but` (at its top, may be NULL). */
static int publish_copy_folder(int from_dir, const char *from, int to_dir, const char *to, const char *but, int depth, struct err *err)
{
    if (depth > DEPTH_MAX)
        return err_set(err, ERR_INPUT, "%s: too many levels of folders", from);
    CLEANUP_FD int in = openat(from_dir, from, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (in < 0)
        return err_sys(err, "cannot read %s", from);
    if (mkdirat(to_dir, to, 0777) < 0)
        return err_sys(err, "cannot make the folder %s", to);
    CLEANUP_FD int out = openat(to_dir, to, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (out < 0)
        return err_sys(err, "cannot open the folder %s", to);
    struct fs_names list;
    if (fs_list(in, ".", &list, err) < 0)
        return -1;
    int rc = 0;
    for (size_t i = 0; i < list.count && rc == 0; i++) {
        const char *name = list.names[i];
        struct stat st;
        if (but && strcmp(name, but) == 0)
            continue;
        if (fstatat(in, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            rc = err_sys(err, "cannot read %s/%s", from, name);
        else if (S_ISDIR(st.st_mode))
            rc = publish_copy_folder(in, name, out, name, NULL, depth + 1, err);
        else
            rc = fs_copy(in, name, out, name, 0666, err);
    }
    fs_names_deinit(&list);
    return rc;
}

/* Moves the meta.yaml of dir/path into the run's folder in the experiment's, which makes the run
 * visible. */
static int publish_meta(int folder, const char *run_id, int dir, const char *path, struct err *err)
{
    char from[4200];
    struct buf b CLEANUP_BUF;
    buf_init(&b, 1 << 20);
    snprintf(from, sizeof from, "%s/meta.yaml", path);
    if (fs_read(dir, from, (1 << 20) - 1, 0, &b, err) < 0)
        return -1;
    CLEANUP_FD int run = place_open(folder, run_id, O_RDONLY | O_DIRECTORY, 0);
    if (run < 0)
        return err_sys(err, "cannot open %s", run_id);
    return fs_write(run, "meta.yaml", buf_text(&b), 0666, true, err);
}

/* Publishes to another file system: copies under a name that MLflow ignores (a folder without
 * meta.yaml), renames, and makes the run visible last. 0; 1: there already; -1 with err. */
static int publish_copy(int folder, const char *run_id, int dir, const char *path, struct err *err)
{
    char beside[80];
    snprintf(beside, sizeof beside, "new-%s", run_id);
    if (fs_remove_tree(folder, beside, err) < 0 || publish_copy_folder(dir, path, folder, beside, "meta.yaml", 0, err) < 0 ||
        fs_sync_tree(folder, beside, err) < 0) {
        fs_remove_tree(folder, beside, NULL);
        return -1;
    }
    int rc = rename_new(folder, beside, folder, run_id);
    if (rc != 0) {
        int why = errno;
        fs_remove_tree(folder, beside, NULL);
        errno = why;
        return rc < 0 ? err_sys(err, "cannot move the copy to %s", run_id) : 1;
    }
    return publish_meta(folder, run_id, dir, path, err);
}

int tree_publish(int root, uint32_t experiment, const char *run_id, int dir, const char *path, struct err *err)
{
    char to[64], meta[80], name[16];
    snprintf(to, sizeof to, "%u/%s", experiment, run_id);
    snprintf(meta, sizeof meta, "%s/meta.yaml", run_id);
    snprintf(name, sizeof name, "%u", experiment);
    CLEANUP_FD int folder = place_open(root, name, O_RDONLY | O_DIRECTORY, 0); /* never through a link to elsewhere */
    if (folder < 0)
        return err_sys(err, "cannot open mlruns/%s", name);
    int rc = rename_new(dir, path, folder, run_id);
    if (rc == 0)
        return 0;
    if (rc < 0 && errno == EXDEV)
        rc = publish_copy(folder, run_id, dir, path, err);
    else if (rc < 0)
        return err_sys(err, "cannot publish the run as mlruns/%s", to);
    if (rc == 1 && !path_exists(folder, meta)) /* a copy that lacked its last step when its writer died: all else is there */
        rc = publish_meta(folder, run_id, dir, path, err);
    if (rc < 0)
        return err_wrap(err, "cannot publish the run as mlruns/%s", to);
    if (rc == 0)
        fs_remove_tree(dir, path, NULL);
    return rc;
}
