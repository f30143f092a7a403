/* parse.c: readers of os-release, mountinfo, cpuinfo and sysfs choices. */
#include "probes/parse.h"

#include <stddef.h>
#include <stdio.h>

bool parse_os_release(struct str text, const char *key, char *ret, size_t size)
{
    size_t key_n = strlen(key);
    while (text.p) {
        struct str line = str_trim(str_cut(&text, '\n'));
        if (line.n <= key_n || memcmp(line.p, key, key_n) != 0 || line.p[key_n] != '=')
            continue;
        struct str value = str_sub(line, key_n + 1, line.n);
        char quote = 0;
        size_t n = 0;
        for (size_t i = 0; i < value.n; i++) {
            char c = value.p[i];
            if (c == quote) {
                quote = 0;
                continue;
            }
            if (!quote && (c == '"' || c == '\'')) {
                quote = c;
                continue;
            }
            if (!quote && (c == ' ' || c == '\t' || c == '#'))
                break;
            if (c == '\\' && quote != '\'' && i + 1 < value.n)
                c = value.p[++i];
            if (c == 0 || n + 1 >= size)
                return false;
            ret[n++] = c;
        }
        ret[n] = 0;
        return n > 0;
    }
    return false;
}

bool parse_mount_line(struct str line, struct mount_line *ret)
{
    *ret = (struct mount_line){0};
    for (int i = 0; i < 3; i++) /* mount id, parent id, device */
        if (str_word(&line).n == 0)
            return false;
    ret->root = str_word(&line);
    ret->point = str_word(&line);
    ret->options = str_word(&line);
    for (;;) { /* optional fields up to a dash */
        struct str word = str_word(&line);
        if (word.n == 0)
            return false;
        if (str_is(word, "-"))
            break;
    }
    ret->type = str_word(&line);
    ret->source = str_word(&line);
    ret->super_options = str_word(&line);
    return ret->type.n > 0 && ret->source.n > 0;
}

bool parse_mount_path(struct str escaped, char *ret, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < escaped.n; i++) {
        unsigned c = (unsigned char)escaped.p[i];
        if (c == '\\' && i + 3 < escaped.n) {
            c = 0;
            for (int k = 1; k <= 3; k++) {
                unsigned digit = (unsigned char)escaped.p[i + (size_t)k] - (unsigned)'0';
                if (digit > 7)
                    return false;
                c = c * 8 + digit;
            }
            i += 3;
        }
        if (c == 0 || c > 255 || n + 1 >= size)
            return false;
        ret[n++] = (char)c;
    }
    ret[n] = 0;
    return true;
}

/* Runs of blanks become one: vendors pad names ("Intel(R) Xeon(R) CPU           E5-2680"). What does not fit is cut. */
static void parse_copy_text(char *ret, size_t size, struct str value)
{
    size_t n = 0;
    for (size_t i = 0; i < value.n && n + 1 < size; i++) {
        char c = value.p[i] == '\t' || value.p[i] == 0 ? ' ' : value.p[i];
        if (c != ' ' || (n > 0 && ret[n - 1] != ' '))
            ret[n++] = c;
    }
    while (n > 0 && ret[n - 1] == ' ')
        n--;
    ret[n] = 0;
}

/* Returns the name of an ARM processor by its numbers, from a table of those in servers,
 * workstations and boards for benchmarks; NULL: not known. */
static const char *parse_arm_name(struct str implementer, struct str part)
{
    static const struct {
        const char *implementer, *part, *name;
    } rows[] = {
#define ARM(implementer, part, name) {implementer, part, name},
#include "probes/arm.def"
#undef ARM
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(implementer, rows[i].implementer) && str_is(part, rows[i].part))
            return rows[i].name;
    return NULL;
}

/* The line for each field; the first row with a value wins. */
static const struct {
    const char *key;
    size_t offset, size;
} fields[] = {
#define FIELD(key, member)                                                                                                                 \
    {                                                                                                                                      \
        key, offsetof(struct cpuinfo, member), sizeof((struct cpuinfo *)0)->member                                                         \
    }
    FIELD("vendor_id", vendor),
    FIELD("CPU implementer", vendor),
    FIELD("mvendorid", vendor),
    FIELD("model name", model),
    FIELD("Model Name", model),
    FIELD("cpu model", model),
    FIELD("cpu", model),
    FIELD("uarch", model),
    FIELD("cpu family", family),
    FIELD("CPU architecture", family),
    FIELD("CPU Family", family),
    FIELD("model", model_id),
    FIELD("CPU part", model_id),
    FIELD("marchid", model_id),
    FIELD("stepping", stepping),
    FIELD("CPU revision", stepping),
    FIELD("revision", stepping),
    FIELD("mimpid", stepping),
    FIELD("CPU Revision", stepping),
    FIELD("microcode", microcode),
    FIELD("flags", features),
    FIELD("Features", features),
    FIELD("features", features),
    FIELD("isa", features),
    FIELD("machine", machine),
#undef FIELD
};

/* Parses a line of IBM Z: "processor 0: version = FF, identification = 0133E8, machine = 2964". The
 * identification is a serial number, and not stored. */
static void parse_s390_line(struct str line, struct cpuinfo *ret)
{
    static const char *const names[][2] = {{"2964", "z13"},     {"2965", "z13s"}, {"3906", "z14"},     {"3907", "z14 ZR1"}, {"8561", "z15"},
                                           {"8562", "z15 T02"}, {"3931", "z16"},  {"3932", "z16 A02"}, {"9175", "z17"}};
    ptrdiff_t at = str_find(line, STR("machine = "));
    if (at < 0 || ret->model_id[0])
        return;
    struct str rest = str_sub(line, (size_t)at + 10, line.n), number = str_trim(str_cut(&rest, ','));
    parse_copy_text(ret->model_id, sizeof ret->model_id, number);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(number, names[i][0]))
            snprintf(ret->model, sizeof ret->model, "IBM %s", names[i][1]);
    if (!ret->model[0])
        snprintf(ret->model, sizeof ret->model, "IBM machine " STR_FMT, STR_ARG(str_sub(number, 0, 32)));
}

static void parse_arm_model(struct cpuinfo *ret)
{
    const char *name = parse_arm_name(str_of(ret->vendor), str_of(ret->model_id));
    if (name)
        snprintf(ret->model, sizeof ret->model, "%s", name);
    else if (ret->vendor[0] && ret->model_id[0])
        snprintf(ret->model, sizeof ret->model, "ARM implementer %s part %s", ret->vendor, ret->model_id);
}

/* Returns whether the text has the word, between blanks. */
static bool parse_has_word(struct str text, const char *word)
{
    for (struct str w = str_word(&text); w.n > 0; w = str_word(&text))
        if (str_is(w, word))
            return true;
    return false;
}

void parse_cpuinfo(struct str text, struct cpuinfo *ret)
{
    *ret = (struct cpuinfo){0};
    bool arm = false, platform = false;
    while (text.p) {
        struct str line = str_cut(&text, '\n'), whole = line, key = str_trim(str_cut(&line, ':'));
        if (!line.p)
            continue;
        struct str value = str_trim(line);
        if (str_starts(key, "processor ")) {
            parse_s390_line(whole, ret);
            continue;
        }
        arm |= str_is(key, "CPU implementer");
        platform |= str_is(key, "timebase") || str_is(key, "platform");
        if (platform && str_is(key, "model"))
            continue; /* POWER: of the machine */
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            char *to = (char *)ret + fields[i].offset;
            if (!*to && str_is(key, fields[i].key))
                parse_copy_text(to, fields[i].size, value);
        }
    }
    ret->hypervisor = parse_has_word(str_of(ret->features), "hypervisor");
    if (arm && !ret->model[0])
        parse_arm_model(ret);
}

struct str parse_sysfs_choice(struct str text)
{
    ptrdiff_t open = str_find(text, STR("[")), shut = str_find(text, STR("]"));
    return open >= 0 && shut > open ? str_sub(text, (size_t)open + 1, (size_t)(shut - open) - 1) : str_trim(text);
}

struct str parse_slurm_spool(struct str conf)
{
    struct str found = {0};
    while (conf.p) {
        struct str line = str_cut(&conf, '\n'), value = str_cut(&line, '#'), key = str_trim(str_cut(&value, '='));
        if (value.p && str_is_anycase(key, "slurmdspooldir"))
            found = str_word(&value);
    }
    return found;
}
