/* host.c: operating system, kernel, name of the host, uptime. */
#include "probes/look.h"
#include "probes/parse.h"

#include <errno.h>
#include <sys/personality.h>
#include <sys/utsname.h>

static void tell_os(struct host *h, struct record *r)
{
    struct look text;
    if (!look(h, &text, "etc/os-release") && !look(h, &text, "usr/lib/os-release")) {
        tell_unreadable(h, r, "os.name", "etc/os-release");
        return;
    }
    static const char *const rows[][2] = {
        {"PRETTY_NAME", "os.name"}, {"ID", "os.id"}, {"VERSION_ID", "os.version"}, {"VARIANT_ID", "os.variant"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char value[256];
        if (parse_os_release((struct str){text.p, text.n}, rows[i][0], value, sizeof value))
            tell_text(h, r, rows[i][1], value);
    }
}

static void tell_kernel(struct host *h, struct record *r)
{
    struct utsname name;
    bool asked = h->real && uname(&name) == 0;
    if (!tell_file(h, r, "kernel.release", "proc/sys/kernel/osrelease") && asked)
        tell_text(h, r, "kernel.release", name.release);
    if (!tell_file(h, r, "kernel.version", "proc/sys/kernel/version") && asked)
        tell_text(h, r, "kernel.version", name.version);
    bool told = tell_file(h, r, "os.arch", "proc/sys/kernel/arch"); /* since 6.1; a 32-bit personality gives uname another name */
    int kind = h->real ? personality(0xffffffff) : 0;
    if (!told && kind >= 0 && (kind & PER_MASK) == PER_LINUX32)
        tell_missing(h, r, "os.arch", "this process has a 32-bit personality (setarch), for which uname has another name");
    else if (!told && asked)
        tell_text(h, r, "os.arch", name.machine);
    else if (!told)
        tell_missing(h, r, "os.arch", "not among the files of this captured machine");
    struct look text;
    if (look(h, &text, "proc/sys/kernel/hostname"))
        tell_tag(h, r, "hostname", (struct str){text.p, text.n});
    else if (asked)
        tell_tag(h, r, "hostname", str_of(name.nodename));
}

static int before(struct host *h, struct record *r, struct err *err)
{
    (void)err;
    tell_os(h, r);
    tell_kernel(h, r);
    struct look text;
    double seconds;
    if (!look(h, &text, "proc/uptime")) {
        tell_unreadable(h, r, "host.uptime_s", "proc/uptime");
        return 0;
    }
    struct str rest = {text.p, text.n};
    if (str_double(str_word(&rest), &seconds))
        record_metric(r, "host.uptime_s", seconds, "s", DIR_NONE, 0, 0);
    return 0;
}

const struct probe probe_host = {
    .name = "host",
    .summary = "operating system, kernel, name of the host, uptime",
    .before = before,
};
