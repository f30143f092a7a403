/* script.c: searches shell scripts that the program is, or that it calls, for starters whose programs are elsewhere or no processes of this run. */
#include "run/script.h"

#include "base/env.h"
#include "base/fs.h"
#include "base/search_path.h"
#include "run/elsewhere.h"
#include "run/shell_line.h"
#include "run/shell_values.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { SCRIPT_MAX = 256 << 10, FIRST_LINE_MAX = 256, SCRIPTS_MAX = 16, DEPTH_MAX = 4 };

struct script_search {
    char *const *env;
    struct arena *arena;
    struct str text; /* the script that is searched */
    int files; /* read so far */
    struct script_starter found;
};

static bool is_shell(struct str name)
{
    return str_has_word("sh bash dash zsh ksh ash", name);
}

/* Returns whether the text is a script of a shell: "#!/bin/sh -e", "#!/usr/bin/env bash". */
static bool is_shell_script(struct str text)
{
    struct str line = str_cut(&text, '\n');
    if (!str_starts(line, "#!"))
        return false;
    line = str_sub(line, 2, line.n);
    for (struct str word; (word = str_word(&line)).n;) {
        ptrdiff_t slash;
        while ((slash = str_find(word, STR("/"))) >= 0)
            word = str_sub(word, (size_t)slash + 1, word.n);
        if (is_shell(word))
            return true;
    }
    return false;
}

/* Returns the word behind "<<" or "<<-", without quotes; n 0: there is none. */
static struct str here_document_end(struct str line)
{
    ptrdiff_t at = str_find(line, STR("<<"));
    if (at < 0 || str_starts(str_sub(line, (size_t)at, line.n), "<<<"))
        return STR("");
    struct str rest = str_sub(line, (size_t)at + 2, line.n);
    while (rest.n && strchr("- \t'\"\\", *rest.p))
        rest = str_sub(rest, 1, rest.n);
    size_t n = 0;
    while (n < rest.n && !strchr(" \t'\"\\;|&<>)", rest.p[n]))
        n++;
    return str_sub(rest, 0, n);
}

/* Appends a line. In the quotes of echo and printf, whose text is no command, characters that
 * separate commands become blanks. Elsewhere quotes may have a line of another shell. */
static void append_line(struct buf *to, struct str line)
{
    bool prints = str_starts(line, "echo ") || str_starts(line, "printf ");
    char quote = 0;
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];
        quote = quote == c ? 0 : !quote && (c == '"' || c == '\'') ? c : quote;
        buf_putc(to, prints && quote && strchr(";|&()`", c) ? ' ' : c);
    }
}

static bool is_shell_command(struct str command)
{
    struct str word = str_word(&command);
    ptrdiff_t slash;
    while ((slash = str_find(word, STR("/"))) >= 0)
        word = str_sub(word, (size_t)slash + 1, word.n);
    return is_shell(word);
}

/* Appends the commands of a script: without comments and here documents, unless a shell reads them; continued lines as one. */
static void append_commands(struct buf *to, struct str text)
{
    struct str end = STR("");
    while (text.p) {
        struct str line = str_cut(&text, '\n'), trimmed = str_trim(line);
        if (end.n) {
            end = str_eq(trimmed, end) ? STR("") : end;
            continue;
        }
        ptrdiff_t comment = str_starts(trimmed, "#") ? 0 : str_find(trimmed, STR(" #"));
        struct str command = comment < 0 ? trimmed : str_sub(trimmed, 0, (size_t)comment);
        bool shell = is_shell_command(command);
        end = shell ? STR("") : here_document_end(command);
        ptrdiff_t string = shell ? str_find(command, STR("<<<")) : -1;
        if (string >= 0) {
            append_line(to, str_sub(command, (size_t)string + 3, command.n));
            buf_putc(to, '\n');
            command = str_sub(command, 0, (size_t)string);
        }
        bool continued = str_ends(command, "\\");
        append_line(to, continued ? str_sub(command, 0, command.n - 1) : command);
        buf_putc(to, continued ? ' ' : '\n');
    }
}

/* Returns the script that a command runs: `./run.sh`, `bash -e run.sh`, `source env.sh`; NULL:
 * none. *ret_named: an interpreter is named, so that it needs no "#!". */
static const char *script_of_command(const struct script_search *s, char *const *command, bool *ret_named)
{
    const char *name = str_base_name(command[0]);
    bool sourced = strcmp(name, "source") == 0 || strcmp(name, ".") == 0;
    *ret_named = sourced || is_shell(str_of(name));
    char *const *word = command;
    if (*ret_named)
        for (word++; *word && !sourced && (**word == '-' || **word == '+'); word++)
            if (strchr(*word, 'c'))
                return NULL; /* a line */
    if (!*word || !**word)
        return NULL;
    return *ret_named ? *word : search_path_find(env_text(s->env, "PATH"), *word, false, s->arena);
}

/* Reads a script, as far as SCRIPT_MAX. `named`: an interpreter is named, else the first line must
 * name a shell. False: it is none, or cannot be read. */
static bool read_script(const char *path, bool named, struct buf *to)
{
    struct stat st;
    if (stat(path, &st) || !S_ISREG(st.st_mode) || fs_read(AT_FDCWD, path, FIRST_LINE_MAX, FS_CUT | FS_LINKS, to, NULL) < 0 ||
        !(named || is_shell_script(buf_text(to))))
        return false;
    to->n = 0;
    return fs_read(AT_FDCWD, path, SCRIPT_MAX, FS_CUT | FS_LINKS, to, NULL) >= 0;
}

static void search_commands(struct script_search *s, struct str text, const char *where, int depth);

/* Searches the script that the command runs, and the scripts that this one runs, for what starts
 * the program. Stops at DEPTH_MAX and SCRIPTS_MAX; a script that cannot be read is skipped. */
static void search_script(struct script_search *s, char *const *command, int depth)
{
    struct buf file CLEANUP_BUF;
    struct buf commands CLEANUP_BUF;
    bool named;
    const char *path = script_of_command(s, command, &named);
    buf_init(&file, SCRIPT_MAX + 65536);
    buf_init(&commands, 2 * SCRIPT_MAX);
    if (!path || depth >= DEPTH_MAX || s->files == SCRIPTS_MAX || !read_script(path, named, &file))
        return;
    s->files++;
    append_commands(&commands, buf_text(&file));
    const char *kept = arena_dup(s->arena, path, strlen(path));
    struct str before = s->text;
    s->text = buf_text(&commands);
    if (!commands.failed && kept)
        search_commands(s, shell_values_replace(s->text, s->env, s->arena), kept, depth + 1);
    s->text = before;
}

static void note_starters(struct script_search *s, char *const *command, const char *away, const char *where)
{
    const char *served = elsewhere_find_ways(command, s->env, s->arena).server;
    if (away)
        s->found = (struct script_starter){away, where, true};
    else if (served && !s->found.name)
        s->found = (struct script_starter){served, where, false};
}

/* Searches the words of a call of a function of the script, which may run them: `on_nodes() { "$@";
 * }` … `on_nodes srun prog`. */
static void search_function_words(struct script_search *s, char *const *command, const char *where)
{
    for (char *const *word = command + 1; *word && word[1] && !s->found.away; word++) {
        char *const *program;
        note_starters(s, word, elsewhere_starter(word, s->env, s->arena, &program), where);
    }
}

/* Searches one command for starters. where: NULL for the command line itself, which others have
 * read. */
static void search_command(struct script_search *s, char *const *command, const char *where, int depth)
{
    char *const *program = command;
    if (where && shell_values_defines(s->text, str_of(command[0]))) {
        search_function_words(s, command, where);
        return;
    }
    const char *away = command[1] ? elsewhere_starter(command, s->env, s->arena, &program) : NULL;
    if (where && command[1])
        note_starters(s, command, away, where);
    char *const *word = program + 1;
    for (struct str line; !s->found.away && (line = shell_values_replace(shell_line_of(program, &word), s->env, s->arena)).p;)
        search_commands(s, line, where ? where : "a line of shell", depth + 1);
    if (!s->found.away)
        search_script(s, program, depth);
}

static void search_commands(struct script_search *s, struct str text, const char *where, int depth)
{
    for (char **command; depth <= DEPTH_MAX && !s->found.away && (command = shell_line_next(&text, s->arena));)
        search_command(s, command, where, depth);
}

struct script_starter script_find_starter(char *const *argv, char *const *env, struct arena *a)
{
    struct script_search s = {.env = elsewhere_variables(argv, env, a), .arena = a};
    if (argv && argv[0])
        search_command(&s, argv, NULL, 0);
    return s.found;
}
