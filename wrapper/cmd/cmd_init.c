/* cmd_init.c: `benchwrap init`: a results repository, new, or a clone of one that is there. */
#include "base/fs.h"
#include "base/http.h"
#include "base/place.h"
#include "base/site.h"
#include "cmd/cmd.h"
#include "cmd/help.h"
#include "results/init_files.h"
#include "git/program.h"
#include "plan/results.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_FILE "benchwrap.yaml"
enum { CLONE_LIMIT_S = 24 * 3600, TEXT_MAX = 1 << 20, FIRST_FILES = 16 };

static const struct opt_row rows[] = {
    {.name = OPTION_SITE,
     .kind = OPT_TEXT,
     .arg = "NAME",
     .env = "BENCHWRAP_SITE",
     .group = "Repository",
     .help = "name of this site (" SITE_LEGAL "), part of the branch's name; kept for this clone"},
    {.name = OPTION_PUBLIC,
     .kind = OPT_FLAG,
     .group = "Repository",
     .help = "Write \"profile: public\": records name no machines or people, and commits carry the site's name (default)"},
    {.name = OPTION_PRIVATE,
     .kind = OPT_FLAG,
     .group = "Repository",
     .help = "Write \"profile: private\": records name machines and people, also where the repository has a remote"},
};

struct init_making {
    struct cmd_context *c;
    const char *dir; /* as the user may call it */
    const char *site, *profile; /* profile: by option; NULL: none was given */
    const char *effective; /* the repository's profile: that of its benchwrap.yaml, or what init writes there */
    bool cloned, made;
    const char *unborn_remote, *branch; /* a remote from which no branch is known, or NULL; the branch of HEAD */
    const char *written[FIRST_FILES]; /* files of the repository that were written, relative */
    size_t count;
};

/* ---- the repository ---- */

/* An address of another machine, or file://. A path can be a repository too: it is cloned where a folder follows. */
static bool is_address(const char *text)
{
    const char *colon = strchr(text, ':'), *slash = strchr(text, '/');
    struct stat st;
    return strstr(text, "://") || (colon && (!slash || colon < slash) && stat(text, &st) != 0); /* host:path, as ssh has it */
}

/* Runs git with these arguments, NULL-terminated, in `dir` for at most limit_s seconds. `what`
 * begins the message. 0; -1 with the command's error: git is missing or has failed. */
static int init_git(struct init_making *m, const char *dir, double limit_s, const char *const *args, const char *what)
{
    /* What libgit2 reads, whatever the user's git makes by default (init.defaultRefFormat, init.defaultObjectFormat, git 3). */
    static const char *const readable[] = {"GIT_DEFAULT_REF_FORMAT=files", "GIT_DEFAULT_HASH=sha1", NULL};
    const char *argv[FIRST_FILES + 16] = {"git"};
    bool remote = strcmp(*args, "clone") == 0 || strcmp(*args, "fetch") == 0;
    size_t n = 1;
    while (*args && n < sizeof argv / sizeof *argv - 1)
        argv[n++] = *args++;
    struct program_end end;
    struct program p = {
        .argv = argv, .dir = dir, .set = readable, .prompt = isatty(STDIN_FILENO), .credentials = remote, .limit_s = limit_s};
    int rc = program_run(&p, &end, m->c->err);
    if (rc == 1)
        rc = err_set(m->c->err, ERR_SYSTEM, "the program git is needed to make repositories, and is not installed");
    else if (rc == 0 && end.status)
        rc = program_err(&end, m->c->err, "%s", what);
    program_end_deinit(&end);
    return rc;
}

static const char *folder_of_address(const char *address, struct arena *a)
{
    size_t n = strlen(address);
    while (n && address[n - 1] == '/')
        n--;
    if (n > 4 && memcmp(address + n - 4, ".git", 4) == 0)
        n -= 4;
    size_t from = n;
    while (from && !strchr("/:", address[from - 1]))
        from--;
    return n > from && address[from] != '-' ? arena_dup(a, address + from, n - from) : NULL;
}

/* Is there another user's link on the way to the folder? Then git would write where it leads. */
static bool is_behind_link(struct init_making *m)
{
    CLEANUP_FD int fd = place_open_folder(m->dir, 0);
    return fd < 0 && errno == ELOOP && err_sys(m->c->err, "opening the folder %s", m->dir) < 0;
}

/* Clones the repository into `dir`, or a folder named after it, unless it is there. -1 with c->err. */
static int init_clone(struct init_making *m, const char *address, const char *dir)
{
    m->dir = dir ? dir : folder_of_address(address, m->c->arena);
    if (!m->dir)
        return err_set(m->c->err, ERR_USAGE, "cannot derive a folder from the address \"%.100s\": append its name", address);
    struct stat st;
    char inside[PATH_MAX];
    if (is_behind_link(m))
        return -1;
    snprintf(inside, sizeof inside, "%.4000s/.git", m->dir);
    if (stat(inside, &st) == 0)
        return 0; /* cloned before: set up again */
    const char *const args[] = {"clone", "--quiet", "--", address, m->dir, NULL};
    m->cloned = true;
    CLEANUP_BUF struct buf shown;
    buf_init(&shown, 400);
    http_print_url(&shown, address); /* without a password */
    return init_git(m, NULL, CLONE_LIMIT_S, args, arena_printf(m->c->arena, "cannot clone %.300s", shown.p ? shown.p : ""));
}

/* The folder itself must be a repository; a folder inside another repository is not used by
 * surprise. */
static int make_or_find(struct init_making *m)
{
    struct repo *r = NULL;
    struct err why = {0};
    if (mkdir(m->dir, 0777) && errno != EEXIST)
        return err_sys(m->c->err, "making the folder %s", m->dir);
    if (is_behind_link(m))
        return -1;
    int rc = repo_open(&r, m->dir, REPO_HERE, &why);
    repo_close(r);
    if (rc < 0)
        *m->c->err = why;
    if (rc <= 0)
        return rc;
    const char *const key[] = {"config", "--get", "init.defaultBranch", NULL};
    const char *const args[] = {"-c", "init.defaultBranch=main", "init", "--quiet", NULL};
    bool named = init_git(m, m->dir, 60, key, "reading init.defaultBranch") == 0;
    err_clear(m->c->err);
    m->made = true;
    return init_git(m, m->dir, 60, named ? args + 2 : args, "making the repository");
}

/* ---- its files ---- */

static int note_written(struct init_making *m, const char *path)
{
    if (m->count < FIRST_FILES)
        m->written[m->count++] = path;
    return 0;
}

static bool init_has_line(struct str text, struct str line)
{
    while (text.p)
        if (str_eq(str_trim(str_cut(&text, '\n')), line))
            return true;
    return false;
}

/* The folder of a path in the repository, made where it is not there. Never through a link: a clone can bring links, also as the user's own. */
static int open_folder_of(struct init_making *m, const char *path, const char **ret_name)
{
    char part[NAME_MAX + 1];
    int at = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const char *rest = path;
    for (const char *slash; at >= 0 && (slash = strchr(rest, '/')); rest = slash + 1) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - rest), rest);
        int fd = place_make_folder(at, part, 0777), why = errno;
        close(at);
        errno = why;
        at = fd;
    }
    *ret_name = rest;
    return at < 0 ? err_sys(m->c->err, "cannot open the folder of %s", path) : at;
}

/* Adds the lines that the file lacks; without a file, writes it. 1: written or changed; 0: nothing
 * to do; -1 with c->err. */
static int put_lines(struct init_making *m, int dir, const char *name, const char *lines)
{
    CLEANUP_BUF struct buf text;
    bool changed = false;
    buf_init(&text, 2 * TEXT_MAX);
    if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 && fs_read(dir, name, TEXT_MAX, 0, &text, m->c->err))
        return -1;
    bool fresh = text.n == 0;
    for (struct str rest = str_of(lines); rest.p;) {
        struct str line = str_cut(&rest, '\n');
        if (!line.n || (!fresh && line.p[0] == '#') || init_has_line(buf_text(&text), line))
            continue;
        if (text.n && text.p[text.n - 1] != '\n')
            buf_putc(&text, '\n');
        buf_str(&text, line);
        buf_putc(&text, '\n');
        changed = true;
    }
    return changed ? fs_write(dir, name, buf_text(&text), 0666, false, m->c->err) ? -1 : 1 : 0;
}

static int put_whole(struct init_making *m, const char *path, struct str text)
{
    struct stat st;
    const char *name;
    if (lstat(path, &st) == 0)
        return 0;
    CLEANUP_FD int dir = open_folder_of(m, path, &name);
    if (dir < 0)
        return -1;
    return fs_write(dir, name, text, 0666, false, m->c->err) ? -1 : 1;
}

/* An existing benchwrap.yaml belongs to the repository's users and is never changed. */
static int put_config(struct init_making *m)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, TEXT_MAX);
    init_config(&text, m->effective);
    return put_whole(m, CONFIG_FILE, buf_text(&text));
}

/* Writes the files of a repository and notes those that changed. unborn: the repository has no
 * commit, and gets further files. 0; -1 with c->err. */
static int put_files(struct init_making *m, bool unborn)
{
    int rc = put_config(m);
    if (rc > 0)
        note_written(m, CONFIG_FILE);
    for (size_t i = 0; rc >= 0 && i < init_files_count; i++) {
        const struct init_file *f = &init_files[i];
        const char *name;
        if (f->kind == INIT_FIRST && !unborn)
            continue;
        CLEANUP_FD int dir = f->kind == INIT_LINES ? open_folder_of(m, f->path, &name) : -1;
        rc = f->kind != INIT_LINES ? put_whole(m, f->path, str_of(f->text)) : dir < 0 ? -1 : put_lines(m, dir, name, f->text);
        if (rc > 0)
            note_written(m, f->path);
    }
    return rc < 0 ? -1 : 0;
}

/* ---- what is this clone's alone ---- */

static int put_exclude(struct init_making *m, const struct repo *r)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000sinfo", repo_common(r));
    CLEANUP_FD int dir = place_open_below(path, 1, 0777);
    if (dir < 0)
        return err_sys(m->c->err, "cannot open %s", path);
    return put_lines(m, dir, "exclude",
                     "# benchwrap: runs reach git by commits of their own, without the index\n/mlruns/\n/.benchwrap/\n") < 0
               ? -1
               : 0;
}

/* A name for the site where none was given: the machine's, without its number. Only for a private repository. */
static const char *machine_site(struct arena *a)
{
    char host[256] = "";
    size_t n = 0;
    gethostname(host, sizeof host - 1);
    for (; host[n] && host[n] != '.' && n < 40; n++) {
        host[n] = (char)tolower((unsigned char)host[n]);
        if (!isalnum((unsigned char)host[n]))
            host[n] = '-';
    }
    while (n > 1 && (isdigit((unsigned char)host[n - 1]) || host[n - 1] == '-'))
        n--;
    host[n] = 0;
    return site_is_legal(str_of(host)) ? arena_dup(a, host, n) : RESULTS_SITE;
}

/* Sets profile and site of the new repository, from options or the configuration. -1 with c->err: a
 * public one without a site, or a profile that contradicts an existing file. */
static int choose_site(struct init_making *m, bool bare)
{
    struct plan plan;
    struct stat st;
    if (!bare && lstat(CONFIG_FILE, &st) != 0) /* init writes it */
        m->effective = m->profile ? m->profile : "public";
    char *line[] = {arena_dup(m->c->arena, "init", 4), NULL};
    if (plan_make(&plan, 1, line, m->c->env, m->c->err))
        return -1;
    const char *known = opt_text(&plan.opts, OPTION_SITE);
    bool is_public = strcmp(m->effective ? m->effective : opt_text(&plan.opts, OPTION_PROFILE), "public") == 0;
    m->effective = is_public ? "public" : "private";
    if (!m->site && known)
        m->site = arena_dup(m->c->arena, known, strlen(known));
    plan_deinit(&plan);
    if (!bare && m->profile && strcmp(m->profile, m->effective) != 0) {
        err_set(m->c->err, ERR_USAGE, "--%s: the existing " CONFIG_FILE " makes the repository %s, and init does not change it", m->profile,
                m->effective);
        return err_hint(m->c->err, "set \"profile: %s\" there, and run init without --%s", m->profile, m->profile);
    }
    if (!m->site && is_public)
        return err_set(m->c->err, ERR_USAGE, "a public repository names the site of each run: expected --site NAME%s",
                       m->profile ? "" : ", or --private");
    if (!m->site)
        m->site = machine_site(m->c->arena);
    if (!site_is_legal(str_of(m->site)))
        return err_set(m->c->err, ERR_USAGE, "--site: expected %s, got \"%.60s\"", SITE_LEGAL, m->site);
    return 0;
}

static int put_own(struct init_making *m)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, 4096);
    buf_printf(&text, "# of this clone alone, written by \"benchwrap init\"\nsite: %s\n", m->site);
    const char *name;
    CLEANUP_FD int dir = open_folder_of(m, ".benchwrap/config.yaml", &name);
    if (dir < 0)
        return -1;
    return fs_write(dir, name, buf_text(&text), 0666, false, m->c->err);
}

/* ---- the first commit ---- */

/* "cd DIR; " for a shell, where init has made the folder; else "". */
static const char *enter_command(struct init_making *m)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 10);
    if (!m->made && !m->cloned)
        return "";
    buf_puts(&b, "cd ");
    help_quote(&b, m->dir);
    buf_puts(&b, "; ");
    return b.failed ? "" : arena_dup(m->c->arena, b.p, b.n);
}

/* What keeps git from committing, with the next step. */
static void say_uncommitted(struct init_making *m, const char *why)
{
    struct err ignored = {0}, *keep = m->c->err;
    const char *const identity[] = {"var", "GIT_COMMITTER_IDENT", NULL};
    m->c->err = &ignored;
    bool known = init_git(m, ".", 60, identity, "git var") == 0;
    m->c->err = keep;
    fprintf(m->c->notes, "benchwrap: init: the files are written and staged, but not committed: %s\n",
            known ? why : "git knows no user.name and user.email");
    if (!known)
        fputs("hint: git config --global user.name \"Your Name\"; git config --global user.email you@example.org\n", m->c->notes);
    fprintf(m->c->notes, "hint: %s%sgit commit -m \"A repository for results of benchmarks\"\n", known ? "" : "then: ", enter_command(m));
}

/* Commits the written files in a repository without any commit, so that there is something to add
 * runs to. 1: committed; 0: git refused, and the reason is printed; -1 with c->err. */
static int first_commit(struct init_making *m)
{
    struct arena *a = m->c->arena;
    const char *add[FIRST_FILES + 4] = {"add", "--"}, *commit[12];
    size_t n = 0;
    for (size_t i = 0; i < m->count; i++)
        add[2 + i] = m->written[i];
    if (init_git(m, ".", 60, add, "git add"))
        return -1;
    if (strcmp(m->effective, "public") == 0) {
        commit[n++] = "-c";
        commit[n++] = arena_printf(a, "user.name=%s", m->site);
        commit[n++] = "-c";
        commit[n++] = arena_printf(a, "user.email=%s@benchwrap.invalid", m->site);
    }
    commit[n++] = "commit";
    commit[n++] = "--quiet";
    commit[n++] = "-m";
    commit[n++] = "A repository for results of benchmarks";
    commit[n] = NULL;
    if (a->failed)
        return err_memory(m->c->err, "the files of the repository");
    struct err why = {0};
    struct err *keep = m->c->err;
    m->c->err = &why;
    int rc = init_git(m, ".", 120, commit, "git commit");
    m->c->err = keep;
    if (rc)
        say_uncommitted(m, why.text);
    return rc ? 0 : 1;
}

static void init_report(struct init_making *m, const struct results *s, bool committed)
{
    FILE *out = m->c->out;
    fprintf(out, "set up %s: %s profile, site %s, branch %s\n", m->dir, s->public_profile ? "public" : "private", m->site,
            s->branch + strlen("refs/heads/"));
    if (m->count && !committed) {
        fputs("written, yours to commit:", out);
        for (size_t i = 0; i < m->count; i++)
            fprintf(out, " %s", m->written[i]);
        fputc('\n', out);
    }
    const char *cd = enter_command(m);
    if (m->unborn_remote)
        fprintf(out, "%s is empty, push its first commit: %sgit push -u %s %s\n", m->unborn_remote, cd, m->unborn_remote, m->branch);
    if (m->made && m->branch && !m->unborn_remote)
        fprintf(out, "share it: %s%sgit remote add origin URL; git push -u origin %s\n", cd,
                m->count && !committed ? "git commit -m \"Set up\"; " : "", m->branch);
    if (m->made || m->cloned)
        fprintf(out, "record a run there: %sbenchwrap -- PROGRAM\n", cd);
}

/* Sites can share only after the main branch is pushed: to the remote, or to one that the user adds. */
static void find_unborn_remote(struct init_making *m, struct repo *r)
{
    const char **list, *head = NULL;
    if (repo_symbolic(r, "HEAD", m->c->arena, &head, NULL) || strncmp(head, "refs/heads/", 11) != 0 ||
        repo_remotes(r, m->c->arena, &list, m->c->err))
        return;
    m->unborn_remote = list[0];
    m->branch = head + 11;
}

/* The remote's branch that a clone without a commit belongs to: main, or the only one that is not of
 * runs. NULL: none. */
static const char *remote_main_branch(struct repo *r, struct arena *a)
{
    const char **remotes, **refs, *found = NULL;
    size_t count = 0, others = 0;
    struct err ignored = {0};
    if (repo_remotes(r, a, &remotes, &ignored) || !remotes[0])
        return NULL;
    const char *below = arena_printf(a, "refs/remotes/%s/", remotes[0]);
    const char *all = arena_printf(a, "%s*", below);
    if (!below || !all || repo_refs(r, all, a, &refs, &count, &ignored))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name = refs[i] + strlen(below);
        if (strcmp(name, "main") == 0)
            return name;
        if (strcmp(name, "HEAD") != 0 && strncmp(name, "benchwrap/", 10) != 0)
            found = name, others++;
    }
    return others == 1 ? found : NULL;
}

/* A bare repository's HEAD may name a branch that it does not have: a clone of it then has no files,
 * and a first commit made in it shares nothing with the branch to which runs go. 1: the remote's branch is checked out now; 0: there is none. */
static int check_out_main_branch(struct init_making *m, struct repo *r)
{
    const char *name = remote_main_branch(r, m->c->arena);
    const char *const args[] = {"checkout", "--quiet", name, "--", NULL};
    if (!name)
        return 0;
    return init_git(m, ".", CLONE_LIMIT_S, args, "checking out the main branch") ? -1 : 1;
}

/* The working directory is the repository from here on. */
static int set_up(struct init_making *m)
{
    struct cmd_context *c = m->c;
    struct repo *r = NULL;
    struct repo_id head;
    struct plan plan;
    struct results s;
    bool bare, unborn;
    if (repo_open(&r, ".", REPO_HERE, c->err))
        return -1;
    bare = repo_is_bare(r);
    unborn = repo_ref(r, "HEAD", &head, NULL) == 1;
    int rc = unborn && !bare ? check_out_main_branch(m, r) : 0;
    if (rc > 0)
        unborn = false;
    if (unborn && !bare)
        find_unborn_remote(m, r);
    rc = rc < 0 ? -1 : choose_site(m, bare);
    if (rc == 0)
        rc = put_exclude(m, r);
    if (rc == 0) /* for linked worktrees too, and bare repositories, which have no .benchwrap */
        rc = repo_config_set(r, "benchwrap.site", m->site, c->err);
    repo_close(r);
    if (rc == 0 && !bare)
        rc = put_files(m, unborn);
    if (rc == 0 && !bare)
        rc = put_own(m);
    if (rc)
        return -1;
    char *line[] = {arena_dup(c->arena, "init", 4), NULL};
    if (plan_make(&plan, 1, line, c->env, c->err))
        return -1;
    rc = plan_results(&plan, ".", true, c->arena, &s, c->err);
    plan_deinit(&plan);
    if (rc)
        return -1;
    bool committed = unborn && m->count && first_commit(m) == 1;
    init_report(m, &s, committed);
    results_close(&s);
    return 0;
}

/* Executes `benchwrap init`. 0; -1 with c->err. */
static int init_command(struct cmd_context *c)
{
    struct init_making m = {.c = c, .site = opt_text(&c->opts, OPTION_SITE)};
    struct stat st;
    if (opt_on(&c->opts, OPTION_PUBLIC) && opt_on(&c->opts, OPTION_PRIVATE))
        return err_set(c->err, ERR_USAGE, "--public and --private: one of them");
    m.profile = opt_on(&c->opts, OPTION_PUBLIC) ? "public" : opt_on(&c->opts, OPTION_PRIVATE) ? "private" : NULL;
    if (c->argc < 1 || c->argc > 2)
        return err_set(c->err, ERR_USAGE, "expected DIR, or URL [DIR]; got %d operands", c->argc);
    bool address = c->argc == 2 || is_address(c->argv[0]);
    if (c->argc == 2 && !is_address(c->argv[0]) && access(c->argv[0], F_OK))
        return err_set(c->err, ERR_USAGE, "expected URL DIR; there is no repository \"%.200s\" to clone", c->argv[0]);
    if (m.site && !site_is_legal(str_of(m.site)))
        return err_set(c->err, ERR_USAGE, "--site: expected %s, got \"%.60s\"", SITE_LEGAL, m.site);
    if (!address)
        m.dir = c->argv[0];
    if (m.dir && stat(m.dir, &st) == 0 && !S_ISDIR(st.st_mode))
        return err_set(c->err, ERR_INPUT, "expected a folder, and \"%.200s\" is a file", m.dir);
    if (address ? init_clone(&m, c->argv[0], c->argc > 1 ? c->argv[1] : NULL) : make_or_find(&m))
        return -1;
    if (chdir(m.dir))
        return err_sys(c->err, "entering %s", m.dir);
    return set_up(&m);
}

const struct cmd cmd_init = {
    .name = "init",
    .summary = "Create or clone a results repository",
    .usage = "[--public|--private] [--site NAME] DIR | URL [DIR] | REPOSITORY DIR",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description =
        "Makes DIR a git repository for runs, or clones one from an address or from the path of another repository, and sets it"
        " up: benchwrap.yaml, .gitattributes, .gitignore, a README, and jobs for GitHub, GitLab and Forgejo that verify every "
        "pull request with \"benchwrap check\" and show its table. A repository without a commit gets one with these files and "
        "some that its maintainers may delete: CONTRIBUTING.md, CITATION.cff, CODEOWNERS, benchwrap-check.yaml (which findings "
        "block), and jobs that after each merge write a table of the latest results into README.md and, where BENCHWRAP_PAGES is "
        "set, publish web pages. In a repository with commits, init writes the missing files except these optional ones, and "
        "you commit them. Repeating init is safe.\n\n"
        "Runs recorded inside are committed by themselves to the branch benchwrap/SITE/CLONE, where CLONE is 8 digits stored in"
        " .git/config; HEAD, index and work tree are not touched. The folders mlruns and .benchwrap are in .git/info/exclude, "
        "so \"git status\" is quiet, and runs that were merged come back by \"git pull\" as the same bytes. \"benchwrap share\""
        " brings them to others as one pull request.\n\n"
        "The repository is public unless --private is given: records name no machines or people, and commits carry the site's "
        "name instead of a person's. The line \"profile:\" in benchwrap.yaml states this for all who use the repository. init "
        "never changes an existing benchwrap.yaml. Without that line a repository with a remote is public.",
    .examples = "$ benchwrap init --site tuxlab results\n"
                "Create a repository in the folder results, to be shared.\n"
                "$ benchwrap init --private results\n"
                "Create one that also records the names of machines and people.\n"
                "$ benchwrap init --site tuxlab /srv/git/hub.git results\n"
                "A clone of a repository on this machine. If it is empty, push its first commit: git push -u origin main.\n",
    .run = init_command,
};
