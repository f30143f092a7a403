/* kernel.c: settings of the kernel that change results: frequencies, huge pages, mitigations, NUMA balancing, clock, isolation. */
#include "probes/look.h"
#include "probes/parse.h"
#include "probes/tally.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Files with one value each; absent ones are silent (they depend on the kernel's configuration). */
static const struct setting {
    const char *key, *path;
    bool choice; /* "always [madvise] never" */
} settings[] = {
#define SETTING(key, path) {key, path, false},
#define CHOICE(key, path) {key, path, true},
#include "probes/kernel.def"
#undef SETTING
#undef CHOICE
};

static void kernel_emit_settings(struct host *h, struct record *r)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct look_text text;
        if (look_read(h, &text, "%s", settings[i].path)) {
            struct str value = {text.p, text.n};
            emit_param(h, r, settings[i].key, settings[i].choice ? parse_sysfs_choice(value) : value);
        } else if (errno != ENOENT && errno != ENOTDIR && errno != EINVAL && errno != EIO && errno != ENODEV)
            emit_unreadable(h, r, settings[i].key, settings[i].path);
    }
}

/* Returns whether the boot option changes results. Everything else on that line (root=UUID…,
 * console=…) stays out: it is identity or noise. */
static bool kernel_is_listed_option(struct str word)
{
    static const char *const names[] = {
#define OPTION(name) name,
#include "probes/cmdline.def"
#undef OPTION
    };
    struct str rest = word, name = str_cut(&rest, '=');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

/* Records the options of the kernel's command line that matter for speed. */
static void kernel_emit_cmdline(struct host *h, struct record *r)
{
    struct look_text text;
    if (!look_read(h, &text, "proc/cmdline")) {
        emit_unreadable(h, r, "kernel.cmdline", "proc/cmdline");
        return;
    }
    struct buf found;
    buf_init(&found, sizeof text.p);
    struct str rest = {text.p, text.n};
    for (struct str word = str_word(&rest); word.n > 0 && !str_is(word, "--"); word = str_word(&rest)) {
        if (!kernel_is_listed_option(word))
            continue;
        if (found.n > 0)
            buf_putc(&found, ' ');
        buf_str(&found, word);
    }
    emit_buf(h, r, "kernel.cmdline", &found);
    buf_deinit(&found);
}

/* Records the mitigations of all vulnerabilities that affect this machine, in the order of their
 * names: "spectre_v2: Mitigation: Retpolines; …". */
static void kernel_emit_mitigations(struct host *h, struct record *r)
{
    static const char *const names[] = {
#define VULNERABILITY(name) #name,
#include "probes/vulnerabilities.def"
#undef VULNERABILITY
    };
    struct buf all;
    size_t seen = 0;
    int why = 0;
    buf_init(&all, 5000); /* a param's value holds 6000 */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct look_text text;
        if (!look_read(h, &text, "sys/devices/system/cpu/vulnerabilities/%s", names[i])) {
            if (errno != ENOENT && errno != ENOTDIR)
                why = errno;
            continue;
        }
        seen++;
        if (str_is((struct str){text.p, text.n}, "Not affected"))
            continue;
        buf_printf(&all, "%s%s: %s", all.n > 0 ? " | " : "", names[i], text.p);
    }
    errno = why;
    if (why)
        emit_unreadable(h, r, "kernel.mitigations", "sys/devices/system/cpu/vulnerabilities");
    else if (seen == 0)
        emit_absent(h, r, "kernel.mitigations", "this kernel does not report them (no /sys/devices/system/cpu/vulnerabilities)");
    else {
        if (all.n == 0)
            buf_puts(&all, "none needed");
        emit_buf(h, r, "kernel.mitigations", &all);
    }
    buf_deinit(&all);
}

/* One value per frequency policy. */
static const struct {
    const char *file, *key;
    double scale;
} policy_files[] = {
    {"scaling_governor", "cpu.governor", 1},
    {"scaling_driver", "cpu.frequency_driver", 1},
    {"energy_performance_preference", "cpu.energy_preference", 1},
    {"cpuinfo_min_freq", "cpu.frequency_min_Hz", 1000},
    {"cpuinfo_max_freq", "cpu.frequency_max_Hz", 1000},
    {"base_frequency", "cpu.frequency_base_Hz", 1000},
    {"scaling_max_freq", "cpu.frequency_limit_Hz", 1000},
    {"scaling_min_freq", "cpu.frequency_floor_Hz", 1000},
};
enum { POLICY_FILES = sizeof policy_files / sizeof *policy_files };

/* Returns whether the file of this policy is read. The governor of every policy is, for they can
 * differ. Of the other files the first, the last and some between distinguish the kinds of
 * processors. */
static bool kernel_must_read(size_t file, size_t policy, size_t policies)
{
    size_t stride = policies / 16 + 1;
    return file == 0 || policy % stride == 0 || policy + 1 == policies;
}

enum { POLICIES_MAX = 4096 };

struct policies {
    unsigned char present[POLICIES_MAX / 8]; /* a bit for each policy<N> */
    size_t count;
};

static void kernel_read_policy(void *context, const char *name)
{
    struct policies *p = context;
    int64_t number;
    if (strncmp(name, "policy", 6) != 0 || !str_int(str_of(name + 6), &number) || number < 0 || number >= POLICIES_MAX)
        return;
    p->present[number / 8] |= (unsigned char)(1 << number % 8);
    p->count++;
}

/* Records the settings of frequency scaling over all policies. False: the machine shows none. */
static bool kernel_emit_policies(struct host *h, struct record *r)
{
    struct tally tallies[POLICY_FILES] = {0};
    struct policies p = {0};
    size_t at = 0;
    if (look_each_name(h, "sys/devices/system/cpu/cpufreq", kernel_read_policy, &p) < 0)
        return false;
    for (unsigned number = 0; number < POLICIES_MAX; number++) {
        if (!(p.present[number / 8] & 1 << number % 8))
            continue;
        for (size_t k = 0; k < POLICY_FILES; k++) {
            struct look_text text;
            if (kernel_must_read(k, at, p.count) &&
                look_read(h, &text, "sys/devices/system/cpu/cpufreq/policy%u/%s", number, policy_files[k].file))
                tally_add(&tallies[k], (struct str){text.p, text.n});
        }
        at++;
    }
    for (size_t k = 0; k < POLICY_FILES; k++)
        tally_emit_scaled(&tallies[k], h, r, policy_files[k].key, policy_files[k].scale);
    return p.count > 0;
}

static void kernel_emit_boost(struct host *h, struct record *r)
{
    int64_t value;
    if (look_read_int(h, &value, "sys/devices/system/cpu/intel_pstate/no_turbo"))
        emit_text(h, r, "cpu.boost", value ? "off" : "on");
    else if (look_read_int(h, &value, "sys/devices/system/cpu/cpufreq/boost"))
        emit_text(h, r, "cpu.boost", value ? "on" : "off");
    else
        emit_absent(h, r, "cpu.boost", "the kernel offers no switch for it here (no intel_pstate/no_turbo, no cpufreq/boost)");
}

static int kernel_before(struct host *h, struct record *r, struct err *err)
{
    (void)err;
    kernel_emit_settings(h, r);
    kernel_emit_cmdline(h, r);
    kernel_emit_mitigations(h, r);
    if (kernel_emit_policies(h, r))
        kernel_emit_boost(h, r);
    else
        emit_absent(h, r, "cpu.governor", "the kernel does not govern frequencies here (no cpufreq; usual in virtual machines)");
    return 0;
}

/* Warns of settings that differ from those before the program: a script can change them itself, and
 * what was read before is then not what its programs had. Always 0. */
static int kernel_after(struct host *h, struct record *r, struct err *err)
{
    struct record now;
    (void)err;
    record_init(&now, r->id, r->start_ms);
    kernel_emit_settings(h, &now);
    if (look_exists(h, "sys/devices/system/cpu/cpufreq"))
        kernel_emit_boost(h, &now);
    for (const struct fact *f = now.first; f; f = f->next) {
        char key[64];
        snprintf(key, sizeof key, STR_FMT, STR_ARG(f->key));
        const struct fact *was = f->kind == FACT_PARAM ? record_find(r, FACT_PARAM, key) : NULL;
        if (was && !str_eq(was->text, f->text))
            record_warning(r, "%s changed while the program ran: " STR_FMT " before, " STR_FMT " after", key, STR_ARG(was->text),
                           STR_ARG(f->text));
    }
    record_deinit(&now);
    return 0;
}

const struct probe probe_kernel = {
    .name = "kernel",
    .summary = "settings of the kernel that change results",
    .before = kernel_before,
    .after = kernel_after,
};
