/* sign.c: signatures by the user's gpg, gpgsm or ssh-keygen; see sign.h. */
#include "git/sign.h"

#include "base/fs.h"
#include "base/home_path.h"
#include "base/place.h"
#include "git/program.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

enum { SIGNATURE_BYTES = 1 << 16, WAIT_S = 60, WAIT_PROMPT_S = 120 };

static const char *config_text(struct repo *r, struct arena *a, const char *key)
{
    const char *text;
    return repo_config(r, key, a, &text, NULL) == 0 && *text ? text : NULL;
}

static bool is_public_key(const char *key)
{
    return strncmp(key, "key::", 5) == 0 || strncmp(key, "ssh-", 4) == 0;
}

/* Returns the key that gpg.ssh.defaultKeyCommand prints; NULL: none. git runs the command by a
 * shell; only a plain line of words is accepted here. */
static const char *key_by_command(struct repo *r, struct arena *a)
{
    enum { WORDS = 64 };
    const char *argv[WORDS + 1], *line = config_text(r, a, "gpg.ssh.defaultkeycommand"), *found = NULL;
    struct str rest = str_of(line), word;
    size_t n = 0;
    if (!line || strpbrk(line, "'\"\\$`|&;<>(){}*?~"))
        return NULL;
    while ((word = str_word(&rest)).n)
        if (n == WORDS || !(argv[n++] = arena_dup(a, word.p, word.n)))
            return NULL;
    argv[n] = NULL;
    if (!n)
        return NULL;
    struct program_end end;
    struct program p = {.argv = argv, .limit_s = 10};
    if (program_run(&p, &end, NULL) == 0 && end.status == 0) {
        struct str out = buf_text(&end.out);
        while (out.p && out.n && !found) {
            struct str key = str_trim(str_cut(&out, '\n'));
            if (str_starts(key, "key::") || str_starts(key, "ssh-"))
                found = arena_dup(a, key.p, key.n);
        }
    }
    program_end_deinit(&end);
    return found;
}

const char *sign_ssh_program(struct repo *r, struct arena *a)
{
    const char *program = config_text(r, a, "gpg.ssh.program");
    return program ? home_path(program, a) : "ssh-keygen";
}

int signer_from(struct repo *r, struct arena *a, bool prompt, struct signer *ret, struct err *err)
{
    static const struct {
        const char *format, *key, *program;
    } rows[] = {{"openpgp", "gpg.openpgp.program", "gpg"}, {"x509", "gpg.x509.program", "gpgsm"}, {"ssh", "gpg.ssh.program", "ssh-keygen"}};
    *ret = (struct signer){.prompt = prompt};
    if (!repo_config_on(r, "commit.gpgsign", false))
        return 0;
    const char *format = config_text(r, a, "gpg.format");
    if (!format)
        format = "openpgp";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcasecmp(format, rows[i].format) == 0) {
            ret->format = rows[i].format;
            ret->program = config_text(r, a, rows[i].key);
            if (!ret->program && i == 0)
                ret->program = config_text(r, a, "gpg.program");
            ret->program = ret->program ? home_path(ret->program, a) : rows[i].program;
        }
    if (!ret->format)
        return err_set(err, ERR_INPUT, "commits are to be signed (commit.gpgSign) in the format \"%.40s\" (gpg.format), which is unknown",
                       format);
    ret->key = config_text(r, a, "user.signingkey");
    if (!ret->key && strcmp(ret->format, "ssh") == 0 && !(ret->key = key_by_command(r, a)))
        return err_set(err, ERR_INPUT,
                       "commits are to be signed with ssh (gpg.format), but no key is named: git config user.signingKey FILE");
    return a->failed ? err_memory(err, "the signature") : 0;
}

static int sign_run_program(const struct signer *s, const char *const *argv, struct str in, struct program_end *end, struct err *err)
{
    struct program p = {.argv = argv, .in = in, .prompt = s->prompt, .limit_s = s->prompt ? WAIT_PROMPT_S : WAIT_S};
    int rc = program_run(&p, end, err);
    if (rc)
        return rc > 0 ? err_wrap(err, "gpg.format is %s", s->format) : -1;
    return end->status ? program_err(end, err, "%s", s->program) : 0;
}

/* Appends the armored signature of the text to *ret. Returns -1 with err, also where the program
 * ends well and reports no signature. */
static int sign_gpg(const struct signer *s, const struct commit_person *who, struct str text, struct buf *ret, struct err *err)
{
    char user[600];
    struct program_end end;
    snprintf(user, sizeof user, "%s <%s>", who->name, who->email);
    const char *argv[] = {s->program, "--status-fd=2", "-bsau", s->key ? s->key : user, NULL};
    int rc = sign_run_program(s, argv, text, &end, err);
    if (rc == 0 && !str_has(buf_text(&end.words), "[GNUPG:] SIG_CREATED "))
        rc = program_err(&end, err, "%s made no signature", s->program);
    if (rc == 0)
        buf_str(ret, buf_text(&end.out));
    program_end_deinit(&end);
    return rc;
}

/* Signs the text by ssh-keygen as git does, with files in `folder`, which the caller removes.
 * Appends the signature. -1 with err. */
static int sign_ssh_in(const struct signer *s, const char *purpose, const char *folder, struct str text, struct buf *ret, struct err *err)
{
    char file[4200], key[4200], made[4200];
    bool literal = is_public_key(s->key);
    struct arena a;
    struct program_end end;
    snprintf(file, sizeof file, "%s/text", folder);
    snprintf(made, sizeof made, "%s/text.sig", folder);
    snprintf(key, sizeof key, "%s/key", folder);
    if (fs_create(AT_FDCWD, file, text, 0600, err))
        return -1;
    struct str public_key = str_of(s->key);
    if (str_starts(public_key, "key::"))
        public_key = str_sub(public_key, 5, public_key.n);
    if (literal && fs_create(AT_FDCWD, key, public_key, 0600, err))
        return -1;
    arena_init(&a, 1 << 16);
    const char *argv[] = {s->program, "-Y", "sign", "-n", purpose, "-f", literal ? key : home_path(s->key, &a), file, literal ? "-U" : NULL,
                          NULL};
    if (literal) { /* the private part is the agent's; options precede the file */
        argv[7] = "-U";
        argv[8] = file;
    }
    int rc = sign_run_program(s, argv, (struct str){NULL, 0}, &end, err);
    if (rc == 0)
        rc = fs_read(AT_FDCWD, made, SIGNATURE_BYTES, 0, ret, err);
    program_end_deinit(&end);
    arena_deinit(&a);
    return rc;
}

int sign_ssh(struct repo *r, const struct signer *s, const char *purpose, struct str text, struct buf *ret, struct err *err)
{
    char folder[4096], name[] = "sign-XXXXXX";
    if (snprintf(folder, sizeof folder, "%sbenchwrap", repo_common(r)) >= (int)sizeof folder)
        return err_set(err, ERR_SYSTEM, "the name of the repository's folder is too long");
    CLEANUP_FD int above = place_open_below(folder, 1, 0777);
    CLEANUP_FD int made = above < 0 ? -1 : place_make_temporary(above, name);
    if (made < 0)
        return err_sys(err, "cannot make a folder in %s", folder);
    snprintf(folder, sizeof folder, "/proc/%ld/fd/%d", (long)getpid(),
             made); /* a path that stays valid for the signing program when the folder is renamed */
    int rc = sign_ssh_in(s, purpose, folder, text, ret, err);
    fs_remove_tree(above, name, NULL);
    return rc;
}

int sign_text(struct repo *r, const struct signer *signer, const struct commit_person *who, struct str text, struct buf *ret,
              struct err *err)
{
    return strcmp(signer->format, "ssh") == 0 ? sign_ssh(r, signer, "git", text, ret, err) : sign_gpg(signer, who, text, ret, err);
}
