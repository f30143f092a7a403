/* tree_index.c (test): what a tree with an index behind it answers is what the disk has, whatever happens to tree and index. */
#include "index/tree_index.h"

#include "index/index_file.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

#include "../place.h"

enum { RUNS = 12, FILES = 40, FUTURE_S = 3600 };

static const char *const kinds[] = {"metrics", "params", "tags", "tags/deep"};

static void run_path(char *to, size_t size, int run, int file)
{
    size_t n = (size_t)snprintf(to, size, "tree/17/%032x", run + 1);
    if (file >= 0)
        snprintf(to + n, size - n, "/%s/key.%d", kinds[file % 4], file);
}

static void put(const struct place *p, const char *path, const char *text)
{
    assert_int_equal(fs_write(p->dir, path, str_of(text), 0644, false, NULL), 0);
}

static void make_tree(const struct place *p)
{
    char path[200], text[800];
    for (int r = 0; r < RUNS; r++) {
        for (size_t k = 0; k < 4; k++) {
            run_path(path, sizeof path, r, -1);
            snprintf(path + strlen(path), sizeof path - strlen(path), "/%s", kinds[k]);
            assert_int_equal(fs_mkdirs(p->dir, path, 0755, NULL), 0);
        }
        for (int f = 0; f < FILES; f++) {
            run_path(path, sizeof path, r, f);
            snprintf(text, sizeof text, f % 8 == 7 ? "%0700d of %d" : "%d of %d", f, r); /* some are long */
            put(p, path, text);
        }
    }
}

/* All that can be read below a folder, as one text: names, kinds, bytes. */
struct dump {
    const struct folder *in;
    struct buf *to;
    struct buf *names;
};

static int note_entry(void *context, const struct folder_entry *e)
{
    struct dump *d = context;
    buf_printf(d->names, "%d%s\n", e->kind, e->name.p);
    return 0;
}

static int by_line(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void dump_folder(const struct folder *f, struct buf *to, int depth)
{
    CLEANUP_BUF struct buf names;
    char *list[500];
    size_t n = 0;
    buf_init(&names, 1 << 20);
    struct dump d = {f, to, &names};
    int rc = folder_names(f, note_entry, &d);
    buf_printf(to, "list %d\n", rc < 0 ? errno : rc);
    for (char *at = names.p; names.n && *at; at = strchr(at, '\n') + 1)
        list[n++] = at;
    if (n)
        qsort(list, n, sizeof *list, by_line);
    for (size_t i = 0; i < n; i++) {
        char name[300];
        struct folder in;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(list[i], "\n") - 1, list[i] + 1);
        buf_printf(to, "%d %c %s: ", depth, *list[i], name);
        if (*list[i] == '0' + FOLDER_FOLDER && folder_enter(f, name, &in) == 0) {
            buf_putc(to, '\n');
            dump_folder(&in, to, depth + 1);
            folder_leave(&in);
            continue;
        }
        rc = folder_read(f, name, 4096, to);
        buf_printf(to, "= %d\n", rc < 0 ? errno : rc);
    }
}

static struct tree_index *open_tree(const struct place *p, int *ret_root, time_t now)
{
    char path[200], cache[200];
    snprintf(path, sizeof path, "%s/tree", p->path);
    snprintf(cache, sizeof cache, "%s/cache", p->path);
    *ret_root = open(path, O_RDONLY | O_DIRECTORY);
    assert_true(*ret_root >= 0);
    struct tree_index *x = tree_index_open(*ret_root, path, cache, now);
    assert_non_null(x);
    return x;
}

static void assert_answers(const struct place *p, time_t now)
{
    int root;
    CLEANUP_BUF struct buf got, expected;
    buf_init(&got, 1 << 26);
    buf_init(&expected, 1 << 26);
    struct tree_index *x = open_tree(p, &root, now);
    struct folder tree = tree_index_folder(x), disk = folder_disk(root);
    dump_folder(&tree, &got, 0);
    dump_folder(&disk, &expected, 0);
    assert_string_equal(got.p, expected.p);
    char path[200];
    for (int i = 0; i < RUNS * FILES; i++) { /* single files, by their paths */
        run_path(path, sizeof path, i % RUNS, i / RUNS);
        buf_clear(&got);
        buf_clear(&expected);
        int rc = folder_read(&disk, path + 5, 6, &expected);
        assert_int_equal(folder_read(&tree, path + 5, 6, &got), rc);
        if (rc < 0) {
            buf_clear(&got); /* what a failed read leaves is nothing */
            buf_clear(&expected);
        }
        assert_int_equal(folder_read_head(&tree, path + 5, 3, &got), folder_read_head(&disk, path + 5, 3, &expected));
        assert_true(str_eq(buf_text(&got), buf_text(&expected)));
    }
    tree_index_close(x);
    close(root);
}

/* The path of the index file, and its size; 0: there is none. */
static off_t index_size(const struct place *p, char path[300])
{
    struct fs_names list = {0};
    struct stat st;
    snprintf(path, 300, "%s/cache/index", p->path);
    if (access(path, F_OK) != 0 || fs_list(AT_FDCWD, path, &list, NULL) < 0 || !list.count)
        return 0;
    assert_int_equal(list.count, 1);
    snprintf(path + strlen(path), 300 - strlen(path), "/%s", list.names[0]);
    fs_names_deinit(&list);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    return st.st_size;
}

static void settle(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 12000000}, NULL); /* more than a tick, which the times of files have */
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

/* One change, as programs and people make them. */
static void change_tree(const struct place *p, uint64_t *state)
{
    char path[200], other[200], text[40];
    int run = (int)(next_random(state) % RUNS), file = (int)(next_random(state) % FILES);
    run_path(path, sizeof path, run, file);
    snprintf(text, sizeof text, "%d", (int)(next_random(state) % 10));
    struct stat st;
    int fd;
    switch (next_random(state) % 8) {
    case 0: /* in place, of the same size, with the old time */
        if ((fd = openat(p->dir, path, O_WRONLY)) >= 0) {
            assert_int_equal(fstat(fd, &st), 0);
            assert_int_equal(write(fd, text, 1), 1);
            assert_int_equal(futimens(fd, (struct timespec[]){st.st_atim, st.st_mtim}), 0);
            close(fd);
        }
        break;
    case 1: /* appended */
        if ((fd = openat(p->dir, path, O_WRONLY | O_APPEND)) >= 0) {
            assert_int_equal(write(fd, text, strlen(text)), strlen(text));
            close(fd);
        }
        break;
    case 2: unlinkat(p->dir, path, 0); break;
    case 3: /* a new one */
        snprintf(path + strlen(path), 20, ".new%.8s", text);
        if ((fd = openat(p->dir, path, O_WRONLY | O_CREAT | O_TRUNC, 0644)) >= 0)
            close(fd);
        break;
    case 4: /* two change their places */
        run_path(other, sizeof other, run, (file + 4) % FILES);
        renameat(p->dir, path, p->dir, "aside");
        renameat(p->dir, other, p->dir, path);
        renameat(p->dir, "aside", p->dir, other);
        break;
    case 5: /* a link */
        unlinkat(p->dir, path, 0);
        if (symlinkat("key.1", p->dir, path) != 0)
            assert_true(errno == ENOENT || errno == EEXIST); /* the folder is away, or the file is one */
        break;
    case 6:
        unlinkat(p->dir, path, 0);
        mkdirat(p->dir, path, 0755);
        break;
    case 7: /* a folder goes, or comes back */
        run_path(path, sizeof path, run, -1);
        snprintf(path + strlen(path), 20, "/%s", kinds[file % 3]);
        if (renameat(p->dir, path, p->dir, "folder") != 0)
            renameat(p->dir, "folder", p->dir, path);
        break;
    }
}

static void tree_always_wins(void **state)
{
    const struct place *p = *state;
    char path[300];
    uint64_t seed = 26;
    make_tree(p);
    settle();
    assert_answers(p, time(NULL) + FUTURE_S);
    off_t size = index_size(p, path);
    assert_true(size > RUNS * FILES * 24);
    assert_answers(p, time(NULL) + FUTURE_S); /* all of it is known: nothing is written */
    assert_int_equal(index_size(p, path), size);
    for (int round = 0; round < 15; round++) {
        for (int i = 0; i < 10; i++)
            change_tree(p, &seed);
        settle();
        assert_answers(p, time(NULL) + FUTURE_S);
    }
}

static void recent_files_are_not_remembered(void **state)
{
    const struct place *p = *state;
    char path[300];
    make_tree(p);
    assert_answers(p, time(NULL));
    assert_int_equal(index_size(p, path), 0);
}

static void damaged_index_is_not_believed(void **state)
{
    const struct place *p = *state;
    char path[300];
    uint64_t seed = 7;
    make_tree(p);
    settle();
    assert_answers(p, time(NULL) + FUTURE_S);
    for (int round = 0; round < 15; round++) {
        off_t size = index_size(p, path);
        assert_true(size > 0);
        int fd = open(path, O_RDWR);
        if (round % 4 == 3)
            assert_int_equal(ftruncate(fd, (off_t)(next_random(&seed) % (uint64_t)size)), 0);
        for (int i = 0; i < 20; i++) {
            char byte = (char)next_random(&seed);
            off_t at = round % 4 ? (off_t)(next_random(&seed) % (uint64_t)size) : (off_t)(next_random(&seed) % 200);
            assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        }
        close(fd);
        assert_answers(p, time(NULL) + FUTURE_S);
    }
}

static void one_writes_and_all_read(void **state)
{
    const struct place *p = *state;
    char path[300];
    int roots[2];
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 26);
    make_tree(p);
    settle();
    struct tree_index *x = open_tree(p, &roots[0], time(NULL) + FUTURE_S), *y = open_tree(p, &roots[1], time(NULL) + FUTURE_S);
    struct folder first = tree_index_folder(x), second = tree_index_folder(y);
    dump_folder(&first, &b, 0);
    dump_folder(&second, &b, 0);
    tree_index_close(x);
    off_t size = index_size(p, path);
    tree_index_close(y); /* it began when there was none, and does not touch that of the other */
    assert_int_equal(index_size(p, path), size);
    close(roots[0]);
    close(roots[1]);
    assert_answers(p, time(NULL) + FUTURE_S);
}

static void others_cannot_plant_one(void **state)
{
    const struct place *p = *state;
    char path[300];
    make_tree(p);
    settle();
    assert_answers(p, time(NULL) + FUTURE_S);
    assert_true(index_size(p, path) > 0);
    put(p, "tree/17/00000000000000000000000000000001/params/key.1", "changed");
    snprintf(path, sizeof path, "%s/cache/index", p->path);
    assert_int_equal(chmod(path, 0777), 0); /* a folder that others write is not used */
    struct stat before, after;
    assert_int_equal(stat(path, &before), 0);
    assert_answers(p, time(NULL) + FUTURE_S);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
}

static void derived_values_follow_their_file(void **state)
{
    const struct place *p = *state;
    static const char run[] = "17/00000000000000000000000000000001", file[] = "params/key.1";
    char path[300];
    int root;
    uint64_t stamp;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    make_tree(p);
    settle();
    struct tree_index *x = open_tree(p, &root, time(NULL) + FUTURE_S);
    assert_false(tree_index_derived(x, run, file, "length", &b, &stamp));
    assert_true(stamp != 0);
    tree_index_derive(x, run, file, "length", stamp, STR("7"));
    struct folder tree = tree_index_folder(x);
    dump_folder(&tree, &b, 0); /* enough to be worth writing; listings of its folder, too */
    tree_index_close(x);
    close(root);
    assert_true(index_size(p, path) > 0);
    for (int round = 0; round < 2; round++) {
        x = open_tree(p, &root, time(NULL) + FUTURE_S);
        buf_clear(&b);
        assert_int_equal(tree_index_derived(x, run, file, "length", &b, &stamp), round == 0);
        assert_true(round || str_is(buf_text(&b), "7"));
        assert_false(tree_index_derived(x, run, file, "other", &b, &stamp));
        assert_false(tree_index_derived(x, run, "params/none", "length", &b, &stamp));
        assert_int_equal(stamp, 0);
        tree_index_close(x);
        close(root);
        put(p, "tree/17/00000000000000000000000000000001/params/key.1", "new");
    }
    assert_false(tree_index_derived(NULL, run, file, "length", &b, &stamp));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tree_always_wins, place_begin, place_end),
        cmocka_unit_test_setup_teardown(recent_files_are_not_remembered, place_begin, place_end),
        cmocka_unit_test_setup_teardown(damaged_index_is_not_believed, place_begin, place_end),
        cmocka_unit_test_setup_teardown(one_writes_and_all_read, place_begin, place_end),
        cmocka_unit_test_setup_teardown(others_cannot_plant_one, place_begin, place_end),
        cmocka_unit_test_setup_teardown(derived_values_follow_their_file, place_begin, place_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
