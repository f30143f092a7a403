/* parse: foreign text is read as its writers meant it, and nothing is believed that is not there. */
#include "probes/parse.h"
#include "probes/topology_xml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void os_release_follows_the_shell(void **state)
{
    (void)state;
    static const struct {
        const char *text, *key, *value; /* value NULL: none */
    } rows[] = {
        {"NAME=Fedora\nID=fedora\n", "ID", "fedora"},
        {"PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n", "PRETTY_NAME", "Debian GNU/Linux 12 (bookworm)"},
        {"ID='opensuse-leap'\n", "ID", "opensuse-leap"},
        {"NAME=\"a \\\"quoted\\\" \\$name\"\n", "NAME", "a \"quoted\" $name"},
        {"VERSION_ID=9 # comment\n", "VERSION_ID", "9"},
        {"MY_ID=x\n", "ID", NULL},
        {"ID=\n", "ID", NULL},
        {"ID", "ID", NULL},
        {"", "ID", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char value[64] = "untouched";
        bool found = parse_os_release(str_of(rows[i].text), rows[i].key, value, sizeof value);
        assert_int_equal(found, rows[i].value != NULL);
        if (found)
            assert_string_equal(value, rows[i].value);
    }
}

static void too_long_a_value_is_none(void **state)
{
    (void)state;
    char value[4];
    assert_false(parse_os_release(STR("ID=debian\n"), "ID", value, sizeof value));
}

static void mount_lines_with_optional_fields(void **state)
{
    (void)state;
    struct mount_line m;
    assert_true(parse_mount_line(STR("36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue"), &m));
    assert_true(str_is(m.root, "/mnt1"));
    assert_true(str_is(m.type, "ext3"));
    assert_true(str_is(m.super_options, "rw,errors=continue"));
    char path[32];
    assert_true(parse_mount_path(m.point, path, sizeof path));
    assert_string_equal(path, "/mnt 2");
    assert_true(parse_mount_line(STR("36 35 98:0 / / rw - ext3 /dev/root"), &m));
    assert_false(parse_mount_line(STR("36 35 98:0 / / rw master:1"), &m));
    assert_false(parse_mount_line(STR(""), &m));
}

static void escapes_of_paths_are_checked(void **state)
{
    (void)state;
    char path[8];
    assert_false(parse_mount_path(STR("/a\\000b"), path, sizeof path));
    assert_false(parse_mount_path(STR("/a\\999"), path, sizeof path));
    assert_false(parse_mount_path(STR("/a\\777"), path, sizeof path));
    assert_false(parse_mount_path(STR("/12345678"), path, sizeof path));
    assert_true(parse_mount_path(STR("/a\\"), path, sizeof path));
}

static void serials_of_processors_are_not_taken(void **state)
{
    (void)state;
    struct cpuinfo info;
    parse_cpuinfo(STR("processor 0: version = FF,  identification = 123456,  machine = 3931\n"), &info);
    assert_string_equal(info.model, "IBM z16");
    parse_cpuinfo(STR("processor 0: version = FF,  identification = 123456,  machine = 1234\n"), &info);
    assert_string_equal(info.model, "IBM machine 1234");
    parse_cpuinfo(STR("Serial\t\t: 00000000deadbeef\nHardware\t: BCM2711\n"), &info);
    assert_string_equal(info.model, "");
}

static void only_the_whole_word_hypervisor_counts(void **state)
{
    (void)state;
    struct cpuinfo info;
    parse_cpuinfo(STR("flags\t: fpu nohypervisor\n"), &info);
    assert_false(info.hypervisor);
    parse_cpuinfo(STR("flags\t: fpu hypervisor lahf_lm\n"), &info);
    assert_true(info.hypervisor);
}

static void identities_leave_the_topology(void **state)
{
    (void)state;
    struct buf to CLEANUP_BUF;
    struct err err = {0};
    buf_init(&to, 4096);
    assert_int_equal(topology_xml_scrub(STR("<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n  <object type=\"Machine\" secret=\"s1\">\n    <info name=\"HostName\" value=\"node7\"/>\n"
                                            "    <info name=\"CPUModel\" value=\"X\"/>\n    <info value=\"aa:bb\" name=\"Address\"/>\n    <userdata length=\"3\">abc<info name=\"CPUModel\" value=\"no\"/></userdata>\n"
                                            "  </object>\n</topology>\n"),
                                        &to, &err),
                     0);
    assert_string_equal(to.p, "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n  <object type=\"Machine\">\n    <info name=\"CPUModel\" value=\"X\"/>\n  </object>\n</topology>");
}

static void damaged_topologies_are_refused(void **state)
{
    (void)state;
    static const char *const rows[] = {"<topology>", "<topology", "</topology>", "<topology></topology>x", "<object type=Machine/>", "<topology><info name=\"HostName\"></topology>"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf to CLEANUP_BUF;
        struct err err = {0};
        buf_init(&to, 4096);
        if (topology_xml_scrub(str_of(rows[i]), &to, &err) == 0)
            fail_msg("\"%s\" is taken as \"%s\"", rows[i], to.p);
    }
}

static void the_spool_of_slurmd_is_found(void **state)
{
    static const char *const rows[][2] = {
        {"ClusterName=a\nSlurmdSpoolDir=/var/spool/slurmd\n", "/var/spool/slurmd"}, {"  slurmdSPOOLdir = /a/%n  # ours\n", "/a/%n"},
        {"SlurmdSpoolDir=/a#b", "/a"}, {"#SlurmdSpoolDir=/a\nSlurmdSpoolDirX=/b\nSlurmdSpool=/c", ""}, {"SlurmdSpoolDir=/a\nSlurmdSpoolDir=/b\r\n", "/b"},
        {"SlurmdSpoolDir", ""}, {"SlurmdSpoolDir=", ""}, {"", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(str_is(parse_slurm_spool(str_of(rows[i][0])), rows[i][1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(os_release_follows_the_shell),
        cmocka_unit_test(too_long_a_value_is_none),
        cmocka_unit_test(mount_lines_with_optional_fields),
        cmocka_unit_test(escapes_of_paths_are_checked),
        cmocka_unit_test(serials_of_processors_are_not_taken),
        cmocka_unit_test(only_the_whole_word_hypervisor_counts),
        cmocka_unit_test(identities_leave_the_topology),
        cmocka_unit_test(damaged_topologies_are_refused),
        cmocka_unit_test(the_spool_of_slurmd_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
