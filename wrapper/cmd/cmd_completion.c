/* cmd_completion.c: `benchwrap completion SHELL`: completions for bash, zsh and fish, made from the option rows. */
#include "cmd/cmd.h"
#include "plan/plan.h"

#include <string.h>

/* What may stand for the value of an option. */
enum completion_value { VALUE_NONE, VALUE_CHOICE, VALUE_FOLDER, VALUE_FILE, VALUE_RULES, VALUE_ANY };

/* Words that are valid operands of a command, besides files: shell code that prints them. */
static const struct operands {
    const char *verb, *words;
    bool files;
} operands[] = {
    {"benchmarks", "$(benchwrap benchmarks --list 2>/dev/null)", true},
    {"rules", "check new", true},
    {"completion", "bash zsh fish", false},
    {"help", "$(benchwrap help --list 2>/dev/null)", false},
};

static const struct operands *operands_of(const char *verb)
{
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++)
        if (strcmp(operands[i].verb, verb) == 0)
            return &operands[i];
    return NULL;
}

/* In fish a command is called without the dollar. */
static const char *fish_words(const struct operands *o)
{
    return o->words[0] == '$' ? o->words + 1 : o->words;
}

static enum completion_value completion_value_of(const struct opt_row *row)
{
    if (row->kind == OPT_FLAG)
        return VALUE_NONE;
    if (row->kind == OPT_CHOICE)
        return VALUE_CHOICE;
    if (row->arg && strcmp(row->arg, "DIR") == 0)
        return VALUE_FOLDER;
    if (row->arg && strcmp(row->arg, "NAME|FILE") == 0 && strcmp(row->name, "rules") == 0)
        return VALUE_RULES;
    if (row->arg && (strstr(row->arg, "FILE") || strcmp(row->arg, "GLOB") == 0))
        return VALUE_FILE;
    return VALUE_ANY;
}

/* Text inside single quotes of any of the three shells. */
static void shell_quoted(struct buf *to, const char *text, const char *apostrophe)
{
    for (; *text; text++) {
        if (*text == '\'')
            buf_puts(to, apostrophe);
        else
            buf_putc(to, *text);
    }
}

static void put_choices(struct buf *to, const char *arg)
{
    for (; *arg; arg++)
        buf_putc(to, *arg == '|' ? ' ' : *arg);
}

/* ---- bash ---- */

static void bash_words(struct buf *to, const struct opt_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_printf(to, "--%s ", rows[i].name);
    buf_puts(to, "--help");
}

/* The rows of bash's case statement for the values of a command's options. */
static void bash_values(struct buf *to, const char *verb, const struct opt_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        enum completion_value v = completion_value_of(&rows[i]);
        if (v == VALUE_NONE)
            continue;
        buf_printf(to, "        %s:--%s", verb, rows[i].name);
        if (rows[i].letter)
            buf_printf(to, "|%s:-%c", verb, rows[i].letter);
        buf_puts(to, ") ");
        if (v == VALUE_CHOICE) {
            buf_puts(to, "COMPREPLY=($(compgen -W '");
            put_choices(to, rows[i].arg);
            buf_puts(to, "' -- \"$cur\"))");
        } else if (v == VALUE_FOLDER) {
            buf_puts(to, "COMPREPLY=($(compgen -d -- \"$cur\"))");
        } else if (v == VALUE_FILE) {
            buf_puts(to, "COMPREPLY=($(compgen -f -- \"$cur\"))");
        } else if (v == VALUE_RULES) {
            buf_printf(to, "COMPREPLY=($(compgen -f -W \"%s\" -- \"$cur\"))", operands[0].words);
        } else {
            buf_puts(to, "COMPREPLY=()");
        }
        buf_puts(to, "; return ;;\n");
    }
}

static void bash_script(struct buf *to)
{
    buf_puts(to, "# bash completion of benchwrap, made by \"benchwrap completion bash\"\n"
                 "_benchwrap()\n{\n"
                 "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb='' i\n"
                 "    COMPREPLY=()\n"
                 "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                 "        if [[ ${COMP_WORDS[i]} == -- ]]; then\n"
                 "            if declare -F _command_offset >/dev/null; then _command_offset $((i + 1))\n"
                 "            elif ((COMP_CWORD == i + 1)); then COMPREPLY=($(compgen -c -- \"$cur\"))\n"
                 "            else COMPREPLY=($(compgen -f -- \"$cur\")); fi\n"
                 "            return\n"
                 "        fi\n"
                 "    done\n"
                 "    case ${COMP_WORDS[1]} in -*) ;; *) ((COMP_CWORD > 1)) && verb=${COMP_WORDS[1]} ;; esac\n"
                 "    case $verb:$prev in\n");
    bash_values(to, "", plan_rows, plan_rows_count);
    for (size_t i = 0; i < cmds_count; i++)
        bash_values(to, cmds[i]->name, cmds[i]->rows, cmds[i]->count);
    buf_puts(to, "    esac\n    case $verb in\n");
    for (size_t i = 0; i < cmds_count; i++) {
        buf_printf(to, "        %s) COMPREPLY=($(compgen -W '", cmds[i]->name);
        bash_words(to, cmds[i]->rows, cmds[i]->count);
        buf_puts(to, "' -- \"$cur\"))\n            [[ $cur == -* ]] || COMPREPLY=($(compgen");
        const struct operands *o = operands_of(cmds[i]->name);
        if (!o || o->files)
            buf_puts(to, " -f");
        if (o)
            buf_printf(to, " -W \"%s\"", o->words);
        buf_puts(to, " -- \"$cur\")) ;;\n");
    }
    buf_puts(to, "        *) if [[ $cur == -* || $COMP_CWORD -gt 1 ]]; then COMPREPLY=($(compgen -W '");
    bash_words(to, plan_rows, plan_rows_count);
    buf_puts(to, " --' -- \"$cur\")); else COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < cmds_count; i++)
        buf_printf(to, "%s ", cmds[i]->name);
    buf_puts(to, "--' -- \"$cur\")); fi ;;\n    esac\n}\ncomplete -o filenames -F _benchwrap benchwrap\n");
}

/* ---- zsh ---- */

static void zsh_quoted(struct buf *to, const char *text) /* in a spec of _arguments brackets and colons mean something */
{
    for (; *text; text++) {
        if (strchr("[]:\\", *text))
            buf_printf(to, "\\%c", *text);
        else if (*text == '\'')
            buf_puts(to, "'\\''");
        else
            buf_putc(to, *text);
    }
}

static void zsh_options(struct buf *to, const struct opt_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct opt_row *row = &rows[i];
        enum completion_value v = completion_value_of(row);
        const char *many = opt_repeats(row) ? "*" : "";
        for (int letter = 0; letter <= (row->letter ? 1 : 0); letter++) {
            if (letter)
                buf_printf(to, "            '%s-%c%s[", many, row->letter, v == VALUE_NONE ? "" : "+");
            else
                buf_printf(to, "            '%s--%s%s[", many, row->name, v == VALUE_NONE ? "" : "=");
            zsh_quoted(to, row->help);
            buf_puts(to, "]");
            if (v != VALUE_NONE) {
                buf_putc(to, ':');
                zsh_quoted(to, row->kind == OPT_CHOICE ? row->name : row->arg ? row->arg : "TEXT");
                buf_putc(to, ':');
            }
            if (v == VALUE_CHOICE) {
                buf_putc(to, '(');
                put_choices(to, row->arg);
                buf_putc(to, ')');
            } else if (v == VALUE_FOLDER || v == VALUE_FILE) {
                buf_puts(to, v == VALUE_FOLDER ? "_files -/" : "_files");
            } else if (v == VALUE_RULES) {
                buf_printf(to, "{compadd -- %s; _files}", operands[0].words);
            }
            buf_puts(to, "' \\\n");
        }
    }
    buf_puts(to, "            '--help[help]' \\\n");
}

static void zsh_script(struct buf *to)
{
    buf_puts(to, "#compdef benchwrap\n# zsh completion of benchwrap, made by \"benchwrap completion zsh\"\n"
                 "local -a verbs\nverbs=(\n");
    for (size_t i = 0; i < cmds_count; i++) {
        buf_printf(to, "    '%s:", cmds[i]->name);
        zsh_quoted(to, cmds[i]->summary);
        buf_puts(to, "'\n");
    }
    buf_puts(to, ")\nlocal dash=${words[(i)--]}\n"
                 "if (( dash < CURRENT )); then\n    shift $dash words; (( CURRENT -= dash )); _normal; return\nfi\n"
                 "case $words[2] in\n");
    for (size_t i = 0; i < cmds_count; i++) {
        buf_printf(to, "    %s)\n        shift words; (( CURRENT-- ))\n        _arguments \\\n", cmds[i]->name);
        zsh_options(to, cmds[i]->rows, cmds[i]->count);
        const struct operands *o = operands_of(cmds[i]->name);
        if (o)
            buf_printf(to, "            '*:operand:{compadd -- %s%s}' ;;\n", o->words, o->files ? "; _files" : "");
        else
            buf_puts(to, "            '*:operand:_files' ;;\n");
    }
    buf_puts(to, "    *)\n        _arguments \\\n");
    zsh_options(to, plan_rows, plan_rows_count);
    buf_puts(to, "            '1:command:{_describe command verbs}' ;;\nesac\n");
}

/* ---- fish ---- */

static void fish_options(struct buf *to, const char *condition, const struct opt_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        enum completion_value v = completion_value_of(&rows[i]);
        buf_printf(to, "complete -c benchwrap -n '%s' -l %s", condition, rows[i].name);
        if (rows[i].letter)
            buf_printf(to, " -s %c", rows[i].letter);
        if (v == VALUE_CHOICE) {
            buf_puts(to, " -x -a '");
            put_choices(to, rows[i].arg);
            buf_putc(to, '\'');
        } else if (v == VALUE_FOLDER) {
            buf_puts(to, " -x -a '(__fish_complete_directories)'");
        } else if (v == VALUE_RULES) {
            buf_printf(to, " -r -F -a '%s'", fish_words(&operands[0]));
        } else if (v != VALUE_NONE) {
            buf_puts(to, v == VALUE_FILE ? " -r -F" : " -x");
        }
        buf_puts(to, " -d '");
        shell_quoted(to, rows[i].help, "\\'");
        buf_puts(to, "'\n");
    }
}

static void fish_script(struct buf *to)
{
    buf_puts(to, "# fish completion of benchwrap, made by \"benchwrap completion fish\"\n"
                 "complete -c benchwrap -n 'contains -- -- (commandline -opc)' -x -a '(__fish_complete_subcommand --fcs-skip=2)'\n");
    for (size_t i = 0; i < cmds_count; i++) {
        buf_printf(to, "complete -c benchwrap -n __fish_use_subcommand -f -a %s -d '", cmds[i]->name);
        shell_quoted(to, cmds[i]->summary, "\\'");
        buf_puts(to, "'\n");
    }
    fish_options(to, "not __fish_seen_subcommand_from (benchwrap help --list)", plan_rows, plan_rows_count);
    for (size_t i = 0; i < cmds_count; i++) {
        char condition[128];
        snprintf(condition, sizeof condition, "__fish_seen_subcommand_from %s", cmds[i]->name);
        fish_options(to, condition, cmds[i]->rows, cmds[i]->count);
        const struct operands *o = operands_of(cmds[i]->name);
        if (o)
            buf_printf(to, "complete -c benchwrap -n '%s' %s-a '%s'\n", condition, o->files ? "" : "-f ", fish_words(o));
    }
}

static int completion_command(struct cmd_context *c)
{
    static const struct {
        const char *name;
        void (*write)(struct buf *);
    } shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
    for (size_t i = 0; c->argc == 1 && i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(shells[i].name, c->argv[0]) != 0)
            continue;
        CLEANUP_BUF struct buf text;
        buf_init(&text, 1 << 20);
        shells[i].write(&text);
        if (text.failed)
            return err_memory(c->err, "the completions");
        fwrite(text.p, 1, text.n, c->out);
        return 0;
    }
    return err_set(c->err, ERR_USAGE, "expected one shell: bash, zsh or fish");
}

const struct cmd cmd_completion = {
    .name = "completion",
    .summary = "Print the completions for a shell",
    .usage = "bash|zsh|fish",
    .description =
        "Prints a script that makes the shell complete benchwrap's commands, options and their values, and behind -- those of the program.\n\n"
        "  bash: source <(benchwrap completion bash)\n"
        "  zsh:  benchwrap completion zsh >\"${fpath[1]}/_benchwrap\"\n"
        "  fish: benchwrap completion fish >~/.config/fish/completions/benchwrap.fish",
    .examples = "$ benchwrap completion bash\n"
                "The script for bash.\n",
    .run = completion_command,
};
