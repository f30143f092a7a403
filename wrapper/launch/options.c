/* options.c: the rows of options.def as data, and what the launcher itself needs of them. */
#include "launch/options.h"

#include <signal.h>
#include <strings.h>

const struct opt_row options_rows[OPTIONS_COUNT] = {
#define OPTION(name, letter, kind, arg, env, value, group, help, flags) {name, letter, kind, arg, env, value, group, help, flags},
#include "launch/options.def"
#undef OPTION
};

/* Returns the number of a signal: "TERM", "SIGTERM", "15", "RTMIN+1"; 0: it is none. */
static int options_signal(const char *text)
{
    static const struct {
        const char *name;
        int number;
    } names[] = {{"HUP", SIGHUP},   {"INT", SIGINT},     {"QUIT", SIGQUIT}, {"ILL", SIGILL},   {"TRAP", SIGTRAP}, {"ABRT", SIGABRT},
                 {"BUS", SIGBUS},   {"FPE", SIGFPE},     {"KILL", SIGKILL}, {"USR1", SIGUSR1}, {"SEGV", SIGSEGV}, {"USR2", SIGUSR2},
                 {"PIPE", SIGPIPE}, {"ALRM", SIGALRM},   {"TERM", SIGTERM}, {"CONT", SIGCONT}, {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},
                 {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU},   {"URG", SIGURG},   {"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ}, {"VTALRM", SIGVTALRM},
                 {"PROF", SIGPROF}, {"WINCH", SIGWINCH}, {"IO", SIGIO},     {"PWR", SIGPWR},   {"SYS", SIGSYS}};
    int64_t number;
    if (str_int(str_of(text), &number))
        return number > 0 && number <= SIGRTMAX ? (int)number : 0;
    if (strncasecmp(text, "SIG", 3) == 0)
        text += 3;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(text, names[i].name) == 0)
            return names[i].number;
    if (strncasecmp(text, "RTMIN", 5) == 0 && (!text[5] || (text[5] == '+' && str_int(str_of(text + 6), &number))))
        return text[5] ? (number >= 0 && number <= SIGRTMAX - SIGRTMIN ? SIGRTMIN + (int)number : 0) : SIGRTMIN;
    if (strncasecmp(text, "RTMAX", 5) == 0 && (!text[5] || (text[5] == '-' && str_int(str_of(text + 6), &number))))
        return text[5] ? (number >= 0 && number <= SIGRTMAX - SIGRTMIN ? SIGRTMAX - (int)number : 0) : SIGRTMAX;
    return 0;
}

int options_check(const struct opt_row *row, const struct opt_value *value, struct err *err)
{
    if (opt_check(row, value, err) < 0)
        return -1;
    if (strcmp(row->name, "signal") == 0 && value->text && !options_signal(value->text))
        return err_set(err, ERR_USAGE, "%s: expected a signal such as TERM, USR1 or 15, got \"%.40s\"", value->where, value->text);
    if (strcmp(row->name, "cloud-metadata") == 0 && value->text && *value->text && strcmp(value->text, "auto") != 0 &&
        strncmp(value->text, "http://", 7) != 0 && strncmp(value->text, "https://", 8) != 0)
        return err_set(err, ERR_USAGE, "%s: expected \"auto\" or an http URL, got \"%.40s\"", value->where, value->text);
    return 0;
}

bool options_is_series(const struct opt_row *row)
{
    return strcmp(row->group, "Repetitions") == 0;
}

/* Sets ret->series if several runs are requested. An option that only sets how they run is an error
 * without them. */
static int options_read_series(const struct opt_set *set, struct options *ret, struct err *err)
{
    static const char *const whether[] = {"repeat", "warmup", "until-stable", "sweep"};
    ret->sweep = opt_text(set, OPTION_SWEEP) != NULL;
    for (size_t i = 0; i < sizeof whether / sizeof *whether; i++)
        ret->series |= opt_text(set, whether[i]) != NULL;
    for (size_t i = 0; i < set->count && !ret->series; i++)
        if (options_is_series(&set->rows[i]) && set->values[i].text)
            return err_set(err, ERR_USAGE,
                           "--%s: this is for several runs of the program: expected --repeat N, --until-stable or --sweep, too",
                           set->rows[i].name);
    return 0;
}

/* Returns whether the command line has an option that only the recorder checks: a text, such as the
 * name of a file. --signal is checked here. */
static bool options_has_unchecked(const struct opt_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        enum opt_kind kind = set->rows[i].kind;
        bool is_text = kind == OPT_TEXT || kind == OPT_LIST || kind == OPT_PAIR || kind == OPT_SITE;
        if (is_text && set->values[i].text && set->values[i].origin == OPT_COMMAND_LINE && strcmp(set->rows[i].name, OPTION_SIGNAL) != 0)
            return true;
    }
    return false;
}

int options_read(struct opt_set *set, struct options *ret, struct err *err)
{
    bool strict = opt_on(set, OPTION_STRICT);
    for (size_t i = 0; i < set->count; i++) {
        struct err why = {0};
        if (options_check(&set->rows[i], &set->values[i], &why) == 0)
            continue;
        if (set->values[i].origin == OPT_COMMAND_LINE || strict)
            return err_set(err, ERR_USAGE, "%s", why.text);
        const char *text = set->rows[i].value;
        set->values[i] = (struct opt_value){.text = text, .origin = OPT_DEFAULT, .where = text ? "default" : NULL};
    }
    static const char *const captures[] = {
        [CAPTURE_AUTO] = "auto", [CAPTURE_PTY] = "pty", [CAPTURE_PIPE] = "pipe", [CAPTURE_NONE] = "none"};
    *ret =
        (struct options){.timeout = opt_seconds(set, OPTION_TIMEOUT),
                         .kill_after = opt_seconds(set, OPTION_KILL_AFTER),
                         .probe_wait = opt_seconds(set, OPTION_PROBE_WAIT),
                         .finish_wait = opt_seconds(set, OPTION_FINISH_WAIT),
                         .signal = options_signal(opt_text(set, OPTION_SIGNAL)),
                         .per_rank = opt_on(set, OPTION_PER_RANK),
                         .no_collect = opt_on(set, OPTION_NO_COLLECT),
                         .counters = opt_on(set, OPTION_COUNTERS),
                         .profile_code = opt_on(set, OPTION_PROFILE_CODE),
                         .share_run = opt_on(set, OPTION_SHARE_RUN),
                         .accept_wait = opt_find(set, OPTION_PROBE_WAIT)->origin == OPT_DEFAULT && (strict || options_has_unchecked(set)),
                         .gate = opt_on(set, OPTION_GATE),
                         .strict = strict,
                         .help = opt_on(set, OPTION_HELP),
                         .version = opt_on(set, OPTION_VERSION)};
    for (int i = CAPTURE_AUTO; i <= CAPTURE_NONE; i++)
        if (strcmp(opt_text(set, OPTION_CAPTURE), captures[i]) == 0)
            ret->capture = (enum capture)i;
    return options_read_series(set, ret, err);
}
