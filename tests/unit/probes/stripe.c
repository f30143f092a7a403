/* stripe: layouts of parallel file systems, from Lustre's attribute and from what tools print; a tool that hangs or fails. */
#include "base/clock.h"
#include "probes/paths.h"
#include "probes/stripe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static void put(char *to, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (char)(v >> 8 * i);
}

static size_t plain(char *to, uint32_t magic, uint32_t size, uint16_t count, const char *pool)
{
    memset(to, 0, 64);
    put(to, magic, 4);
    put(to + 4, 1, 4);
    put(to + 24, size, 4);
    put(to + 28, count, 2);
    if (pool)
        snprintf(to + 32, 16, "%s", pool);
    return pool ? 48 : 32;
}

static void lustre_attribute(void **state)
{
    (void)state;
    char text[512];
    struct stripe s;
    assert_true(stripe_of_lov((struct str){text, plain(text, 0x0bd10bd0, 1 << 20, 4, NULL)}, &s));
    assert_int_equal(s.count, 4);
    assert_int_equal(s.size_B, 1 << 20);
    assert_string_equal(s.pattern, "raid0");
    assert_false(s.all);
    assert_true(stripe_of_lov((struct str){text, plain(text, 0x0bd30bd0, 4 << 20, 0xffff, "flash")}, &s));
    assert_true(s.all);
    assert_int_equal(s.count, -1);
    assert_string_equal(s.pool, "flash");
    /* progressive: one stripe at first, eight beyond 1 GiB; only the first is in use */
    memset(text, 0, sizeof text);
    put(text, 0x0bd60bd0, 4);
    put(text + 14, 2, 2);
    for (int i = 0; i < 2; i++) {
        char *entry = text + 32 + i * 48;
        put(entry + 4, i == 0 ? 0x10 : 0, 4);
        put(entry + 24, (uint64_t)(160 + i * 32), 4);
        put(entry + 28, 32, 4);
        char lov[64];
        plain(lov, 0x0bd10bd0, 1 << 20, i == 0 ? 1 : 8, NULL);
        memcpy(text + 160 + i * 32, lov, 32);
    }
    assert_true(stripe_of_lov((struct str){text, 224}, &s));
    assert_int_equal(s.components, 2);
    assert_int_equal(s.count, 1);
    assert_false(stripe_of_lov((struct str){text, 160}, &s)); /* what its entries point to is not there */
    assert_false(stripe_of_lov(STR("user.comment"), &s));
    assert_false(stripe_of_lov((struct str){text, 0}, &s));
}

static void what_tools_print(void **state)
{
    (void)state;
    struct stripe s;
    assert_true(stripe_of_lfs(STR("/scratch/x\nstripe_count:  8 stripe_size:   4194304 pattern:       raid0 stripe_offset: -1\n"), &s));
    assert_int_equal(s.count, 8);
    assert_int_equal(s.size_B, 4194304);
    assert_string_equal(s.pattern, "raid0");
    assert_true(stripe_of_lfs(STR("lmm_stripe_count:  -1\nlmm_stripe_size:   1048576\nlmm_pattern:       raid0\nlmm_pool:          flash\n"), &s));
    assert_true(s.all);
    assert_string_equal(s.pool, "flash");
    assert_true(stripe_of_beegfs(STR("Entry type: directory\nMetadata node: meta01 [ID: 1]\nStripe pattern details:\n+ Type: RAID0\n+ Chunksize: 512K\n"
                                     "+ Number of storage targets: desired: 4; actual: 2\n+ Storage Pool: 1 (Default)\n"), &s));
    assert_int_equal(s.size_B, 512 << 10);
    assert_int_equal(s.count, 2);
    assert_string_equal(s.pattern, "RAID0");
    assert_true(stripe_of_mmlsattr(STR("file name:            /gpfs/x\nmetadata replication: 2 max 2\nstorage pool name:    system\n"), &s));
    assert_string_equal(s.pool, "system");
    assert_false(stripe_of_lfs(STR("error: getstripe failed for /x.\n"), &s));
    assert_false(stripe_of_beegfs(STR(""), &s));
    assert_true(stripe_of_lfs(STR("pool\nstripe_count: 3 lmm_pool: \033[31m\n"), &s));
    assert_string_equal(s.pool, ""); /* no escape sequences */
}

static void tools_are_bounded(void **state)
{
    (void)state;
    char dir[] = "/tmp/bw-stripe-XXXXXX", path[64], variable[80];
    assert_non_null(mkdtemp(dir));
    snprintf(variable, sizeof variable, "PATH=%s:/usr/bin:/bin", dir);
    char *env[] = {variable, NULL};
    setenv("PATH", strchr(variable, '=') + 1, 1); /* tools are looked for in ours */
    static const char *const bodies[] = {"echo stripe_count: 6", "sleep 60", "echo stripe_count: 6; exit 3", "echo nothing to see"};
    static const int good[] = {1, -1, -1, -1};
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/lfs", dir);
        FILE *f = fopen(path, "we");
        fprintf(f, "#!/bin/sh\n%s\n", bodies[i]);
        fclose(f);
        chmod(path, 0700);
        struct stripe s = {.count = 0};
        struct err err = {0};
        int64_t start = clock_mono_ns();
        assert_int_equal(stripe_read("lustre", dir, env, 2000, &s, &err), good[i]);
        assert_true(clock_mono_ns() - start < 20 * (int64_t)1000000000);
        if (good[i] == 1)
            assert_int_equal(s.count, 6);
        else
            assert_true(err.text[0] != 0);
        unlink(path);
    }
    rmdir(dir);
    struct stripe s;
    struct err err = {0};
    assert_int_equal(stripe_read("xfs", "/", env, 100, &s, &err), 0);
    assert_int_equal(stripe_read("gpfs", "/", env, 1000, &s, &err), -1);
}

static void paths_in_arguments(void **state)
{
    (void)state;
    static const char *const argv[] = {"/usr/bin/fio", "--directory=/scratch/a", "of=/data/x/", "-o/nvme/y", "--filename=/m1/f:/m2/f,/m3/f", "http://host/x", "s3://b/k", "host:/export",
                    "/dev/null", "/dev/shm/z", "rel/file", "plain", "/scratch/a", "--rate=1/2", "/proc/self", "-c", "echo 5 MB/s", "-lc", "/bin/dd if=x", "-e", "print 1/2", "a/b;c/d",
                    "Accept: text/html", "/x/y && /z/w", "{\"a\": \"b/c\"}", "s/a/b/;s/c/d/", "1/2\n3/4", "--dir=/my data/out", "/with blank/f", NULL};
    static const char *const want[] = {"/scratch/a", "/data/x", "/nvme/y", "/m1/f", "/m2/f", "/m3/f", "/dev/shm/z", "/home/u/rel/file", "/home/u/1/2", "/my data/out", "/with blank/f",
                                       "/home/u"};
    struct paths *p = malloc(sizeof *p);
    assert_non_null(p);
    paths_of_arguments(p, (char *const *)(uintptr_t)argv, "/home/u");
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_string_equal(i < p->count ? p->list[i] : "none", want[i]);
    assert_int_equal(p->count, sizeof want / sizeof *want);
    paths_of_arguments(p, NULL, "/x");
    assert_int_equal(p->count, 1);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lustre_attribute),
        cmocka_unit_test(what_tools_print),
        cmocka_unit_test(tools_are_bounded),
        cmocka_unit_test(paths_in_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
