/* host.c: operating system, kernel, name of the host, uptime. */
#include "probes/look.h"
#include "probes/parse.h"

#include <errno.h>
#include <sys/personality.h>
#include <sys/utsname.h>

static void host_emit_os(struct host *h, struct record *r)
{
    struct look_text text;
    if (!look_read(h, &text, "etc/os-release") && !look_read(h, &text, "usr/lib/os-release")) {
        emit_unreadable(h, r, "os.name", "etc/os-release");
        return;
    }
    static const char *const rows[][2] = {
        {"PRETTY_NAME", "os.name"}, {"ID", "os.id"}, {"VERSION_ID", "os.version"}, {"VARIANT_ID", "os.variant"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char value[256];
        if (parse_os_release((struct str){text.p, text.n}, rows[i][0], value, sizeof value))
            emit_text(h, r, rows[i][1], value);
    }
}

static void host_emit_kernel(struct host *h, struct record *r)
{
    struct utsname name;
    bool asked = h->real && uname(&name) == 0;
    if (!emit_file(h, r, "kernel.release", "proc/sys/kernel/osrelease") && asked)
        emit_text(h, r, "kernel.release", name.release);
    if (!emit_file(h, r, "kernel.version", "proc/sys/kernel/version") && asked)
        emit_text(h, r, "kernel.version", name.version);
    bool told = emit_file(h, r, "os.arch", "proc/sys/kernel/arch"); /* since 6.1; with a 32-bit personality, uname has another name */
    int kind = h->real ? personality(0xffffffff) : 0;
    if (!told && kind >= 0 && (kind & PER_MASK) == PER_LINUX32)
        emit_missing(h, r, "os.arch", "this process has a 32-bit personality (setarch), for which uname has another name");
    else if (!told && asked)
        emit_text(h, r, "os.arch", name.machine);
    else if (!told)
        emit_missing(h, r, "os.arch", "not among the files of this captured machine");
    struct look_text text;
    if (look_read(h, &text, "proc/sys/kernel/hostname"))
        emit_tag(h, r, "hostname", (struct str){text.p, text.n});
    else if (asked)
        emit_tag(h, r, "hostname", str_of(name.nodename));
}

static int host_before(struct host *h, struct record *r, struct err *err)
{
    (void)err;
    host_emit_os(h, r);
    host_emit_kernel(h, r);
    struct look_text text;
    double seconds;
    if (!look_read(h, &text, "proc/uptime")) {
        emit_unreadable(h, r, "host.uptime_s", "proc/uptime");
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
    .before = host_before,
};
