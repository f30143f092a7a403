/* probes_text: cpuinfo, mountinfo, os-release, lists, topology XML, secrets, identities, layouts of file systems, kept facts, arguments: any text must
 * leave valid results or none. */
#include "probes/look.h"
#include "probes/parse.h"
#include "probes/fact_text.h"
#include "probes/paths.h"
#include "probes/redact.h"
#include "probes/stripe.h"
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

static void layouts(struct str text)
{
    struct stripe s;
    if (stripe_of_lov(text, &s))
        must(strlen(s.pool) < sizeof s.pool && s.size_B >= 0);
    if (stripe_of_lfs(text, &s) || stripe_of_beegfs(text, &s) || stripe_of_mmlsattr(text, &s))
        must(strlen(s.pool) < sizeof s.pool && strlen(s.pattern) < sizeof s.pattern);
    struct fact_text f;
    for (struct str rest = text; fact_text_next(&rest, &f) > 0;)
        must(f.key.n + f.text.n <= text.n);
}

/* What is found lies within the text and is one word. */
static void slurm_conf(struct str text)
{
    struct str dir = parse_slurm_spool(text);
    must(dir.n == 0 || (dir.p >= text.p && dir.p + dir.n <= text.p + text.n && !memchr(dir.p, '\n', dir.n) && !memchr(dir.p, '#', dir.n)));
}

static void take(void *context, const void *p, size_t n)
{
    buf_add(context, p, n);
}

/* In place, at once and as a stream in pieces: nothing is lost, and the length stays. */
static void cleaning(struct str text)
{
    struct identities ids;
    struct redact r = {.ids = &ids};
    struct redact_stream s;
    struct buf got CLEANUP_BUF;
    char *copy = malloc(text.n + 1);
    must(copy != NULL);
    memcpy(copy, text.n ? text.p : "", text.n);
    identities_init(&ids);
    identities_add(&ids, STR("gpu07"), 'h');
    identities_add(&ids, STR("/home/alice"), 'd');
    identities_add_hosts(&ids, str_sub(text, 0, 64));
    redact_text(&r, copy, text.n);
    buf_init(&got, 2 * text.n + 4096);
    redact_stream_init(&s, &r, take, &got);
    for (size_t at = 0, k = 1; at < text.n; at += k, k = k % 97 + 3) {
        redact_stream_write(&s, text.p + at, k < text.n - at ? k : text.n - at);
        redact_stream_flush(&s, false);
    }
    redact_stream_flush(&s, true);
    redact_stream_deinit(&s);
    must(got.n == text.n);
    identities_deinit(&ids);
    free(copy);
}

static void arguments(struct str text)
{
    char word[512], program[] = "prog", *argv[] = {program, word, NULL};
    struct paths *p = malloc(sizeof *p);
    must(p != NULL);
    snprintf(word, sizeof word, STR_FMT, STR_ARG(str_sub(text, 0, 500)));
    paths_of_arguments(p, argv, "/home/u");
    for (size_t i = 0; i < p->count; i++)
        must(p->list[i][0] == '/');
    free(p);
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
    must(look_count_numbers(text) <= 1 << 16);
    struct str choice = parse_sysfs_choice(text);
    must(choice.n <= n);
    if (topology_xml_scrub(text, &to, NULL) == 0)
        must(to.n <= 2 * n + 16);
    buf_clear(&to);
    redact_variable(&to, STR("VALUE"), text);
    must(to.n <= 11 * n + 16);
    layouts(text);
    slurm_conf(text);
    cleaning(text);
    arguments(text);
    return 0;
}
