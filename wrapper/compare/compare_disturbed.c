/* compare_disturbed.c: which runs of a comparison failed or were disturbed, by what, and what to do. */
#include "compare/compare_parts.h"

#include "mlruns-format/disturbance.h"

#include <string.h>

static size_t last_count(const struct tree_run *run, const char *key)
{
    const struct tree_entry *e = runs_entry(run->metrics, key);
    double value = e && e->count ? tree_entry_latest(e)->value : 0;
    return value > 0 && value < 1e9 ? (size_t)value : 0;
}

struct counted_runs compare_count_disturbed(const struct compare_group *group)
{
    struct counted_runs ret = {0};
    for (size_t i = 0; i < group->count; i++) {
        const struct tree_run *run = group->members[i].run;
        size_t runs = last_count(run, "series.runs"), warmups = last_count(run, "series.warmup");
        bool series = runs > warmups, noisy = runs_entry(run->tags, "benchwrap.noisy");
        ret.runs += series ? runs - warmups : 1;
        ret.n += series ? last_count(run, "series.noisy") : noisy;
        ret.unjudged += series ? last_count(run, "series.unjudged") : !noisy && disturbance_unjudged(group->members[i].detail);
    }
    return ret;
}

/* Counts the runs that did not end well. A series stands for itself: it failed where a repetition
 * did. */
static struct counted_runs count_failed(const struct compare_group *group)
{
    struct counted_runs ret = {.runs = group->count};
    for (size_t i = 0; i < group->count; i++)
        ret.n += group->members[i].run->status == RUN_FAILED || group->members[i].run->status == RUN_KILLED;
    return ret;
}

/* Appends "A 3 of 3, B 1 of 3 (2 not known) runs" for the groups that have such runs. False: none
 * has, and nothing is to be written. */
static bool put_counted(struct compare_text *t, struct counted_runs (*count)(const struct compare_group *group), struct buf *to)
{
    size_t n = 0, before = to->n;
    for (size_t g = 0; g < t->count; g++) {
        struct counted_runs c = count(&t->groups[g]);
        n += c.n;
        if (c.n || c.unjudged)
            buf_printf(to, "%s%c %zu of %zu", to->n > before ? ", " : "", (char)('A' + g), c.n, c.runs);
        if (c.unjudged)
            buf_printf(to, " (%zu not known)", c.unjudged);
    }
    buf_puts(to, " runs");
    return n > 0;
}

static void put_warning_line(struct compare_text *t, enum style style, struct str line)
{
    screen_style_begin(&t->screen, style, t->to);
    compare_put_wrapped(t, 2, line);
    screen_style_end(&t->screen, style, t->to);
}

void compare_put_failed(struct compare_text *t)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    buf_puts(&b, "! Failed: ");
    if (put_counted(t, count_failed, &b)) {
        buf_putc(&b, '.');
        put_warning_line(t, STYLE_BAD, buf_text(&b));
    }
}

/* What disturbs runs: parts of the reasons in the tag benchwrap.noisy, the words for it, and what to
 * do. */
static const struct cause {
    const char *parts[2], *words, *remedy;
} causes[] = {{{"other processes used"}, "by other programs", "repeat on an idle node"},
              {{"steal"}, "by the hypervisor (steal)", "repeat later"},
              {{"for heat"}, "by heat", "repeat when it is cool"},
              {{"withheld processors"}, "by the group's processor limit", "raise it"},
              {{"for memory", "memory was exhausted"}, "by a lack of memory", "repeat with more"},
              {{"program was stopped"}, "by a stop of the program", "repeat without one"}};
enum { CAUSES = sizeof causes / sizeof *causes };

/* Returns the cause that most of the runs name; NULL: none of these. *ret_others: some name others. */
static const struct cause *main_cause(const struct compare_text *t, bool *ret_others)
{
    size_t n[CAUSES] = {0}, best = 0;
    *ret_others = false;
    for (size_t g = 0; g < t->count; g++)
        for (size_t i = 0; i < t->groups[g].count; i++) {
            const char *why = runs_text(t->groups[g].members[i].run->tags, "benchwrap.noisy", t->arena);
            for (size_t c = 0; why && c < CAUSES; c++)
                n[c] += strstr(why, causes[c].parts[0]) || (causes[c].parts[1] && strstr(why, causes[c].parts[1]));
        }
    for (size_t c = 1; c < CAUSES; c++)
        best = n[c] > n[best] ? c : best;
    for (size_t c = 0; c < CAUSES; c++)
        *ret_others = *ret_others || (c != best && n[c]);
    return n[best] ? &causes[best] : NULL;
}

void compare_put_disturbed(struct compare_text *t)
{
    CLEANUP_BUF struct buf b;
    bool others;
    const struct cause *cause = main_cause(t, &others);
    buf_init(&b, 4096);
    buf_printf(&b, "! Disturbed %s%s: ", others ? "mostly " : "", cause ? cause->words : "(see benchwrap show)");
    if (put_counted(t, compare_count_disturbed, &b)) {
        buf_printf(&b, "; %s.", cause ? cause->remedy : "repeat them");
        put_warning_line(t, STYLE_WARN, buf_text(&b));
    }
}
