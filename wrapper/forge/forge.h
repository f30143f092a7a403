/* forge.h: pull requests on GitHub, GitLab, Gitea and Forgejo: which forge a remote is on, whose token may be sent there, and the requests of one branch.
 *
 * Everything a forge answers is foreign text. A token is sent to the forge it belongs to and
 * nowhere else; it never appears in a message, a file or a
 * command line. "Pull request" is the word for all of them; GitLab's name is merge request. */
#ifndef FORGE_FORGE_H
#define FORGE_FORGE_H
#include "base/arena.h"
#include "base/err.h"
#include "base/http.h"

#include <stdint.h>

enum forge_kind { FORGE_NONE, FORGE_GITHUB, FORGE_GITLAB, FORGE_GITEA /* Forgejo too: its interface is Gitea's */ };
const char *forge_kind_name(enum forge_kind kind); /* "GitHub" … */

/* ---- where (place.c) ---- */

struct forge_named {      /* the user's settings of the forge; NULL: nothing */
    const char *kind;     /* benchwrap.forge */
    const char *web;      /* benchwrap.forgeUrl: where its pages begin, "https://git.example.org/gitea" */
    const char *api;      /* benchwrap.forgeApi: where its interface begins, when not where that kind of forge has it */
};
struct forge_place {
    enum forge_kind kind; /* FORGE_NONE: a remote that is a folder, or a host of unknown kind */
    bool named;           /* known by the user's setting or a public name: tokens of the environment may go there */
    const char *host;     /* "github.com", with ":8443" where the address has a port that is the web's; NULL: a folder */
    const char *path;     /* "owner/name", of GitLab with all groups */
    const char *owner;    /* all of path but its last part */
    const char *web, *api;/* without '/' at the end; NULL with kind NONE */
};
/* Determines the place of a remote's address in git's forms: https://, ssh://, git@host:path, a folder.
 * Credentials in it are left out. 0, whatever it is; -1: an option of `named` is none. */
int forge_place_of(struct forge_place *ret, const char *url, const struct forge_named *named, char *const *env, struct arena *a, struct err *err);
/* Returns the address at which the user opens the pull request in a browser; NULL: unknown. */
const char *forge_link(const struct forge_place *target, const struct forge_place *source, const char *base, const char *branch, struct arena *a);

/* ---- who (token.c) ---- */

struct forge_token {
    const char *secret;   /* NULL: there is none */
    const char *user;     /* of a credential helper, whose secret may be a password; else NULL */
    const char *where;    /* "GITHUB_TOKEN", "/home/x/.config/benchwrap/tokens", "git credential" */
    const char *unused;   /* a variable that is set and was not used, because nothing shows that this host is its forge; or NULL */
};
/* Searches a token: in the named file (its first line), else in the environment, else in the file
 * `tokens` (lines "HOST TOKEN"; NULL: none). A file that other users may read is refused. 0, also
 * where there is none; -1. The caller queries the credential helper, with the two functions below. */
int forge_token_find(struct forge_token *ret, const struct forge_place *place, const char *named_file, const char *tokens, char *const *env, struct arena *a,
                     struct err *err);
/* Appends the input for `git credential fill`. */
void forge_token_question(const struct forge_place *place, struct buf *to);
/* Reads the token from git's output. False: it has none. */
bool forge_token_answer(struct forge_token *ret, struct str answer, struct arena *a);

/* ---- what (pull.c, and a file for each kind) ---- */

enum forge_state { FORGE_OPEN, FORGE_MERGED, FORGE_CLOSED /* by hand: not merged */ };
struct forge_pull {
    uint64_t number;      /* 0: there is none */
    enum forge_state state;
    const char *url, *title, *text, *tip; /* tip: the commit at its head by the forge; "" if not reported. All in the arena */
};
struct forge_branch {     /* the branch to merge, and the branch that receives it */
    const char *branch, *base;
};
struct forge;
/* token may be NULL (public repositories can be read). http: certificates, proxy, patience; credentials are filled in. */
int forge_open(struct forge **ret, const struct forge_place *target, const struct forge_place *source, const struct forge_token *token,
               const struct http_config *http, struct err *err);
void forge_close(struct forge *f);
/* Returns the forge's clock at its last answer, in seconds since 1970; 0: not known. */
int64_t forge_date_s(const struct forge *f);
enum forge_answer {
    FORGE_FINE,
    FORGE_DENIED,         /* no token, or one without that right */
    FORGE_ABSENT,         /* the repository, branch or request is not there (for this token) */
    FORGE_EXISTS,         /* create: there is an open one already */
    FORGE_EMPTY,          /* create: the branch has nothing that the target has not */
    FORGE_LIMITED,        /* too many requests; err states until when */
    FORGE_LATER,          /* not reached, or its trouble */
    FORGE_REFUSED,        /* anything else */
};
/* Queries the open request of this branch, and the latest that is not open any more; number 0:
 * there is none. Answers other than FORGE_FINE have err. */
enum forge_answer forge_find(struct forge *f, const struct forge_branch *b, struct arena *a, struct forge_pull *ret_open, struct forge_pull *ret_last, struct err *err);
enum forge_answer forge_create(struct forge *f, const struct forge_branch *b, const char *title, const char *text, struct arena *a, struct forge_pull *ret, struct err *err);
enum forge_answer forge_update(struct forge *f, const struct forge_pull *pull, const char *title, const char *text, struct err *err);
#endif
