/* probes_text: cpuinfo, mountinfo, os-release, lists, topology XML, secrets: any text must leave valid results or none. */
#include "probes/look.h"
#include "probes/parse.h"
#include "probes/redact.h"
#include "probes/topology_xml.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void mounts(struct str text)
{
    while (text.p) {
        struct mount_line m;
        char path[64];
        if (parse_mount_line(str_cut(&text, '\n'), &m) && parse_mount_path(m.point, path, sizeof path))
            must(strlen(path) < sizeof path);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str text = {(const char *)data, n};
    struct cpuinfo info;
    char value[64];
    struct buf to CLEANUP_BUF;
    buf_init(&to, 1 << 20);
    parse_cpuinfo(text, &info);
    must(strlen(info.model) < sizeof info.model && strlen(info.features) < sizeof info.features);
    if (parse_os_release(text, "ID", value, sizeof value))
        must(strlen(value) < sizeof value);
    mounts(text);
    must(look_list_count(text) <= 1 << 16);
    struct str choice = parse_choice(text);
    must(choice.n <= n);
    if (topology_xml_scrub(text, &to, NULL) == 0)
        must(to.n <= 2 * n + 16);
    buf_clear(&to);
    redact_value(&to, text);
    must(to.n <= 11 * n + 16);
    return 0;
}
