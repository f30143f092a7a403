/* help.c: taskrate --help and --man, from the option rows and the providers. */
#include "benchmarks/native/taskrate/options.h"

#include "base/man.h"

#include <string.h>

#define SUMMARY "measure task throughput and latency of a machine or a scheduler"
static const char *const usage[] = {"taskrate PROVIDER [OPTIONS] [-- OPTIONS OF THE SCHEDULER'S COMMAND]", "taskrate compare A.json B.json",
                                    "taskrate table FILE", "taskrate clean-up"};
static const char *const about[] = {
    ("Submits batches of tiny tasks and records five times of each: before the submit call, after it returned, at the task's own first and last instruction, and when "
     "taskrate learned of its end. The headline metric is the number of tasks divided by the time from the first submission to the last end. The result also has the rate "
     "of submission, latencies, the number of tasks that ran at once, tasks that were lost or failed, and the shortest task that keeps half of the slots busy (METG50). "
     "taskrate first measures the same on this machine alone, and relates all results to that floor."),
    ("Before it uses a shared controller, taskrate reads the site's limits. It limits the number and the rate of its submissions, and stops when they are refused. All jobs "
     "are named taskrate-<16 digits>. They are cancelled at the end and on a signal; if taskrate was killed, its next start or \"taskrate clean-up\" cancels them."),
    ("\"compare\" is \"benchwrap compare\". \"table\" prints the table of tasks that --out has written. \"clean-up\" cancels the jobs that a killed run left.")};
static const struct {
    const char *line, *text;
} examples[] = {{"taskrate local", "The floor: how fast this machine starts processes."},
                {"taskrate local --tasks 1000,10000 --duration 0,1ms,10ms", "A sweep, with the model of latency and METG50."},
                {"taskrate slurm-array --tasks 500 -- -p short", "A job array of 500 tasks in the partition short."},
                {"taskrate exec --submit 'srun -n1 {task}' --clients 4", "Any launcher."},
                {"benchwrap -- taskrate slurm-step", "Recorded as a run, with a step for each repetition."}};
static const struct {
    const char *status, *text;
} statuses[] = {{"0", "all batches are complete"},
                {"1", "tasks were lost or failed, or a batch was stopped: the result states which and why"},
                {"2", "nothing was measured: a refusal, or a scheduler that does not answer"},
                {"125", "the command line is wrong"}};

static void help_print_wrapped(struct buf *to, const char *text, const char *indent)
{
    size_t column = 0;
    for (struct str rest = str_of(text), word; (word = str_word(&rest)).n;) {
        if (column && column + 1 + word.n > 78 - strlen(indent)) {
            buf_putc(to, '\n');
            column = 0;
        }
        buf_puts(to, column ? " " : indent);
        buf_str(to, word);
        column += word.n + (column ? 1 : 0);
    }
    buf_putc(to, '\n');
}

void options_help(struct taskrate_options *o, struct buf *to)
{
    static const char *const common[] = {"tasks", "duration",  "repeat", "payload", "slots", "submit",
                                         "rate",  "max-tasks", "json",   "out",     "list",  NULL};
    buf_puts(to,
             "taskrate - " SUMMARY
             "\n\nusage: taskrate PROVIDER [OPTIONS] [-- OPTIONS OF THE SCHEDULER'S COMMAND]\n       taskrate compare A.json B.json\n\n");
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        buf_printf(to, "  %s\n      %s\n", examples[i].line, examples[i].text);
    buf_putc(to, '\n');
    opt_help_brief(&o->set, common, to);
    buf_puts(to, "\nAll options, providers and exit statuses: \"taskrate help options\".\nManual: \"man taskrate\".\n");
}

void options_help_all(struct taskrate_options *o, struct buf *to)
{
    buf_puts(to, "taskrate - " SUMMARY "\n\n");
    for (size_t i = 0; i < sizeof usage / sizeof usage[0]; i++)
        buf_printf(to, "%s%s\n", i ? "       " : "usage: ", usage[i]);
    for (size_t i = 0; i < sizeof about / sizeof about[0]; i++) {
        buf_putc(to, '\n');
        help_print_wrapped(to, about[i], "");
    }
    buf_puts(to, "\nProviders:\n");
    for (size_t i = 0; i < provider_count; i++) {
        const struct task_provider *p = providers[i];
        buf_printf(to, "  %-12s %s\n               %s\n               %zu tasks, %s%s", p->name, p->summary, p->path, p->tasks,
                   p->cap ? "" : "no cap", p->cap ? "at most " : "");
        if (p->cap)
            buf_printf(to, "%zu without --max-tasks, %g submit calls a second without --rate", p->cap, p->rate);
        buf_putc(to, '\n');
    }
    buf_putc(to, '\n');
    opt_help(&o->set, to);
    buf_puts(to, "\nExamples:\n");
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        buf_printf(to, "  $ %s\n    %s\n", examples[i].line, examples[i].text);
    buf_puts(to, "\nExit status:\n");
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        buf_printf(to, "  %-4s %s\n", statuses[i].status, statuses[i].text);
}

static void help_print_man_item(struct buf *to, const char *term, const char *text)
{
    buf_puts(to, ".TP\n.B ");
    man_z(to, term);
    buf_putc(to, '\n');
    man_z(to, text);
    buf_putc(to, '\n');
}

static void put_option_rows(const struct taskrate_options *o, struct buf *to)
{
    for (size_t i = 0; i < o->set.count; i++) {
        const struct opt_row *r = &o->set.rows[i];
        if (i == 0 || strcmp(r->group, o->set.rows[i - 1].group) != 0)
            buf_printf(to, ".SS %s\n", r->group);
        buf_puts(to, ".TP\n");
        if (r->letter)
            buf_printf(to, "\\fB\\-%c\\fR, ", r->letter);
        buf_puts(to, "\\fB\\-\\-");
        man_z(to, r->name);
        buf_puts(to, "\\fR");
        if (r->kind != OPT_FLAG) {
            buf_puts(to, " \\fI");
            man_z(to, r->arg ? r->arg : "TEXT");
            buf_puts(to, "\\fR");
        }
        buf_putc(to, '\n');
        man_z(to, r->help);
        if (r->value) {
            buf_puts(to, " (default: ");
            man_z(to, r->value);
            buf_putc(to, ')');
        }
        buf_putc(to, '\n');
    }
}

void options_man(struct taskrate_options *o, struct buf *to)
{
    buf_puts(to, ".\\\" made from the option rows by \"taskrate --man\"\n.TH TASKRATE 1 \"\" \"benchwrap " BW_VERSION
                 "\" \"benchwrap\"\n.SH NAME\ntaskrate \\- " SUMMARY "\n.SH SYNOPSIS\n");
    for (size_t i = 0; i < sizeof usage / sizeof usage[0]; i++) {
        buf_puts(to, i ? ".br\n.B " : ".B ");
        man_z(to, usage[i]);
        buf_putc(to, '\n');
    }
    buf_puts(to, ".SH DESCRIPTION\n");
    for (size_t i = 0; i < sizeof about / sizeof about[0]; i++) {
        if (i)
            buf_puts(to, ".PP\n");
        man_z(to, about[i]);
        buf_putc(to, '\n');
    }
    buf_puts(to, ".SH PROVIDERS\n");
    for (size_t i = 0; i < provider_count; i++) {
        help_print_man_item(to, providers[i]->name, providers[i]->summary);
        buf_puts(to, ".br\n");
        man_z(to, providers[i]->path);
        buf_putc(to, '\n');
    }
    buf_puts(to, ".SH OPTIONS\n");
    put_option_rows(o, to);
    buf_puts(to, ".SH EXIT STATUS\n");
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        help_print_man_item(to, statuses[i].status, statuses[i].text);
    buf_puts(to, ".SH FILES\n");
    help_print_man_item(to, "~/.local/state/benchwrap/taskrate/", "what runs have in a queue, until nothing is left ($XDG_STATE_HOME)");
    buf_puts(to, ".SH EXAMPLES\n");
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        buf_puts(to, ".TP\n.B $ ");
        man_z(to, examples[i].line);
        buf_putc(to, '\n');
        man_z(to, examples[i].text);
        buf_putc(to, '\n');
    }
    buf_puts(to, ".SH SEE ALSO\n.BR benchwrap (1)\n");
}
