/* place.h: a fresh directory for each test of a group, removed whole afterwards: cmocka_unit_test_setup_teardown(test, place_begin, place_end). */
#ifndef UNIT_PLACE_H
#define UNIT_PLACE_H
#include "base/fs.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
    char path[64];
    int dir;
};

static int place_begin(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    snprintf(p->path, sizeof p->path, "/tmp/bw-place.XXXXXX");
    assert_non_null(mkdtemp(p->path));
    p->dir = open(p->path, O_RDONLY | O_DIRECTORY);
    *state = p;
    return 0;
}

static int place_end(void **state)
{
    struct place *p = *state;
    close(p->dir);
    assert_int_equal(fs_remove_tree(AT_FDCWD, p->path, NULL), 0);
    assert_int_equal(access(p->path, F_OK), -1);
    free(p);
    return 0;
}
#endif
