/* git_tree.c: any bytes as a tree object of git, and as two that are compared: entries are read to the end or refused, what is read says all of the
 * bytes again, and the order of names is one. */
#include "git/tree.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int sign_of(int n)
{
    return (n > 0) - (n < 0);
}

static void compare(const struct repo_entry *x, const struct repo_entry *y)
{
    bool x_dir = x->mode == REPO_MODE_DIR, y_dir = y->mode == REPO_MODE_DIR;
    int there = repo_tree_compare(x->name, x_dir, y->name, y_dir), back = repo_tree_compare(y->name, y_dir, x->name, x_dir);
    if (sign_of(there) != -sign_of(back) || repo_tree_compare(x->name, x_dir, x->name, x_dir) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { KEPT = 64 };
    struct str text = {size ? (const char *)data : "", size}, rest = text;
    struct repo_entry e, kept[KEPT];
    struct err err = {0};
    struct buf again CLEANUP_BUF;
    size_t n = 0;
    int rc;
    buf_init(&again, 2 * size + 4096);
    while ((rc = repo_tree_next(&rest, &e, &err)) > 0) {
        if (e.name < text.p || e.name + strlen(e.name) + 1 + sizeof e.id.b > text.p + text.n || !*e.name)
            abort();
        const char *mode = again.p ? text.p + again.n : text.p; /* zeros before it are kept */
        for (; *mode == '0' && mode[1] != ' '; mode++)
            buf_putc(&again, '0');
        buf_printf(&again, "%o %s", e.mode, e.name);
        buf_putc(&again, 0);
        buf_add(&again, e.id.b, sizeof e.id.b);
        if (n < KEPT)
            kept[n++] = e;
    }
    if ((rc == 0) != (rest.n == 0) || (rc < 0) != (err.text[0] != 0))
        abort();
    if (again.n != text.n - rest.n || (again.n && memcmp(again.p, text.p, again.n)))
        abort();
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            compare(&kept[i], &kept[j]);
    return 0;
}
