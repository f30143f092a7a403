/* place.c, token.c: which forge a remote is on, and whose token may go there. */
#include "forge/forge.h"
#include "tests/unit/place.h"

#include <fcntl.h>
#include <sys/stat.h>

static struct forge_place look(const char *url, const struct forge_named *named, char *const *env, struct arena *a)
{
    struct forge_place p;
    struct err err = {0};
    assert_int_equal(forge_place_of(&p, url, named, env, a, &err), 0);
    return p;
}

static void addresses(void **state)
{
    (void)state;
    static const struct { const char *url; enum forge_kind kind; bool named; const char *host, *path, *api; } rows[] = {
        {"https://github.com/o/r.git", FORGE_GITHUB, true, "github.com", "o/r", "https://api.github.com"},
        {"https://github.com/o/r/", FORGE_GITHUB, true, "github.com", "o/r", "https://api.github.com"},
        {"https://me:secret@github.com/o/r", FORGE_GITHUB, true, "github.com", "o/r", "https://api.github.com"},
        {"git@github.com:o/r.git", FORGE_GITHUB, true, "github.com", "o/r", "https://api.github.com"},
        {"ssh://git@ssh.github.com:443/o/r.git", FORGE_GITHUB, true, "github.com", "o/r", "https://api.github.com"},
        {"git@gitlab.com:g/sub/p.git", FORGE_GITLAB, true, "gitlab.com", "g/sub/p", "https://gitlab.com/api/v4"},
        {"ssh://git@gitlab.example.org:2222/g/p.git", FORGE_GITLAB, false, "gitlab.example.org", "g/p", "https://gitlab.example.org/api/v4"},
        {"https://codeberg.org/o/r.git", FORGE_GITEA, true, "codeberg.org", "o/r", "https://codeberg.org/api/v1"},
        {"https://gitea.example.org:8443/o/r.git", FORGE_GITEA, false, "gitea.example.org:8443", "o/r", "https://gitea.example.org:8443/api/v1"},
        {"http://forgejo.lan/o/r.git", FORGE_GITEA, false, "forgejo.lan", "o/r", "http://forgejo.lan/api/v1"},
        {"https://git.example.org/o/r.git", FORGE_NONE, false, "git.example.org", NULL, NULL},
        {"https://github.com.evil.org/o/r.git", FORGE_GITHUB, false, "github.com.evil.org", "o/r", "https://github.com.evil.org/api/v3"}, /* a link, no token */
        {"https://[::1]:3000/o/r", FORGE_NONE, false, "[::1]:3000", NULL, NULL},
        {"https://github.com/alone", FORGE_NONE, true, "github.com", NULL, NULL},
        {"/srv/git/o/r.git", FORGE_NONE, false, NULL, NULL, NULL},
        {"file:///srv/git/o/r.git", FORGE_NONE, false, NULL, NULL, NULL},
        {"../r.git", FORGE_NONE, false, NULL, NULL, NULL},
        {"https://github.com/o/r\"x", FORGE_NONE, false, NULL, NULL, NULL},
        {"https://github.com/o/r\nHost: x", FORGE_NONE, false, NULL, NULL, NULL},
        {"", FORGE_NONE, false, NULL, NULL, NULL},
        {"://", FORGE_NONE, false, NULL, NULL, NULL},
    };
    struct arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct forge_place p = look(rows[i].url, NULL, NULL, &a);
        assert_int_equal(p.kind, rows[i].kind);
        assert_int_equal(p.named, rows[i].named);
        if (rows[i].host)
            assert_string_equal(p.host, rows[i].host);
        if (rows[i].api) {
            assert_string_equal(p.path, rows[i].path);
            assert_string_equal(p.api, rows[i].api);
        }
    }
    arena_deinit(&a);
}

static void what_the_user_says(void **state)
{
    (void)state;
    struct arena a;
    struct err err = {0};
    struct forge_place p;
    arena_init(&a, 0);
    p = look("git@git.example.org:o/r.git", &(struct forge_named){.kind = "Forgejo"}, NULL, &a);
    assert_int_equal(p.kind, FORGE_GITEA);
    assert_true(p.named);
    assert_string_equal(p.api, "https://git.example.org/api/v1");
    p = look("https://host/gitea/o/r.git", &(struct forge_named){.kind = "gitea", .web = "https://host/gitea/"}, NULL, &a);
    assert_string_equal(p.path, "o/r");
    assert_string_equal(p.api, "https://host/gitea/api/v1");
    p = look("git@github.example.org:o/r", &(struct forge_named){.kind = "github", .api = "https://api.example.org/"}, NULL, &a);
    assert_string_equal(p.api, "https://api.example.org");
    p = look("/srv/o/r.git", &(struct forge_named){.kind = "github", .web = "http://127.0.0.1:1"}, NULL, &a);
    assert_string_equal(p.path, "o/r");
    char gh[] = "GITHUB_SERVER_URL=https://ghe.example.org", lab[] = "GITLAB_HOST=code.example.org", *env[] = {gh, lab, NULL};
    assert_int_equal(look("https://ghe.example.org/o/r", NULL, env, &a).kind, FORGE_GITHUB);
    assert_int_equal(look("https://GHE.Example.org/o/r", NULL, env, &a).kind, FORGE_GITHUB);
    assert_int_equal(look("git@code.example.org:o/r", NULL, env, &a).kind, FORGE_GITLAB);
    assert_true(look("git@code.example.org:o/r", NULL, env, &a).named);
    assert_int_equal(forge_place_of(&p, "https://h/o/r", &(struct forge_named){.kind = "sourceforge"}, NULL, &a, &err), -1);
    assert_non_null(strstr(err.text, "none of github, gitlab, gitea, forgejo"));
    assert_int_equal(forge_place_of(&p, "https://h/o/r", &(struct forge_named){.kind = "gitea", .web = "javascript:1"}, NULL, &a, &err), -1);
    arena_deinit(&a);
}

static void links(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    struct forge_place hub = look("git@github.com:o/r", NULL, NULL, &a), fork = look("git@github.com:me/r", NULL, NULL, &a);
    struct forge_place lab = look("https://gitlab.com/g/p", NULL, NULL, &a), tea = look("https://codeberg.org/o/r", NULL, NULL, &a), none = look("/x", NULL, NULL, &a);
    assert_string_equal(forge_link(&hub, &hub, "main", "benchwrap/s/1", &a), "https://github.com/o/r/compare/main...benchwrap/s/1?expand=1");
    assert_string_equal(forge_link(&hub, &fork, "main", "b", &a), "https://github.com/o/r/compare/main...me:b?expand=1");
    assert_string_equal(forge_link(&lab, &lab, "main", "a/b", &a),
                        "https://gitlab.com/g/p/-/merge_requests/new?merge_request%5Bsource_branch%5D=a%2Fb&merge_request%5Btarget_branch%5D=main");
    assert_string_equal(forge_link(&tea, &tea, "main", "b", &a), "https://codeberg.org/o/r/compare/main...b");
    assert_null(forge_link(&none, &none, "main", "b", &a));
    arena_deinit(&a);
}

static void tokens_of_the_environment(void **state)
{
    (void)state;
    char hub[] = "GITHUB_TOKEN=hub", lab[] = "GITLAB_TOKEN= lab\n", tea[] = "GITEA_TOKEN=tea", jo[] = "FORGEJO_TOKEN=jo", bad[] = "GH_TOKEN=two words";
    char *env[] = {bad, hub, lab, tea, jo, NULL};
    static const struct { const char *url, *kind, *secret, *unused; } rows[] = {
        {"https://github.com/o/r", NULL, "hub", NULL},
        {"https://gitlab.com/o/r", NULL, "lab", NULL},
        {"https://codeberg.org/o/r", NULL, "jo", NULL},
        {"https://github.com.evil.org/o/r", NULL, NULL, "GH_TOKEN"},
        {"https://gitlab.example.org/o/r", NULL, NULL, "GITLAB_TOKEN"},
        {"https://gitlab.example.org/o/r", "gitlab", "lab", NULL},
        {"https://git.example.org/o/r", NULL, NULL, NULL},
    };
    struct arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct forge_token t;
        struct forge_place p = look(rows[i].url, &(struct forge_named){.kind = rows[i].kind}, NULL, &a);
        assert_int_equal(forge_token_find(&t, &p, NULL, NULL, env, &a, NULL), 0);
        assert_string_equal(t.secret ? t.secret : "-", rows[i].secret ? rows[i].secret : "-");
        assert_string_equal(t.unused ? t.unused : "-", rows[i].unused ? rows[i].unused : "-");
    }
    arena_deinit(&a);
}

static void tokens_of_files(void **state)
{
    struct place *p = *state;
    struct arena a;
    struct forge_token t;
    struct err err = {0};
    arena_init(&a, 0);
    struct forge_place hub = look("https://github.com/o/r", NULL, NULL, &a), own = look("https://gitlab.example.org:8443/o/r", NULL, NULL, &a);
    fs_create(p->dir, "tokens", STR("# mine\n\ngithub.com one\nGitLab.example.org:8443  two \n"), 0600, NULL);
    fs_create(p->dir, "named", STR("three\n"), 0600, NULL);
    fs_create(p->dir, "open", STR("four\n"), 0600, NULL);
    assert_int_equal(fchmodat(p->dir, "open", 0644, 0), 0);
    assert_int_equal(fchdir(p->dir), 0);
    assert_int_equal(forge_token_find(&t, &hub, NULL, "tokens", NULL, &a, &err), 0);
    assert_string_equal(t.secret, "one");
    assert_int_equal(forge_token_find(&t, &own, NULL, "tokens", NULL, &a, &err), 0); /* the file names the host: it need be no known one */
    assert_string_equal(t.secret, "two");
    assert_int_equal(forge_token_find(&t, &own, "named", "tokens", NULL, &a, &err), 0);
    assert_string_equal(t.secret, "three");
    assert_int_equal(forge_token_find(&t, &own, NULL, "absent", NULL, &a, &err), 0);
    assert_null(t.secret);
    assert_int_equal(forge_token_find(&t, &own, "absent", NULL, NULL, &a, &err), -1);
    assert_int_equal(forge_token_find(&t, &own, "open", NULL, NULL, &a, &err), -1);
    assert_non_null(strstr(err.text, "can be read by others"));
    assert_null(strstr(err.text, "four"));
    arena_deinit(&a);
}

static void helpers(void **state)
{
    (void)state;
    struct arena a;
    struct buf b CLEANUP_BUF;
    struct forge_token t;
    arena_init(&a, 0);
    buf_init(&b, 4096);
    struct forge_place p = look("https://gitea.example.org:8443/o/r.git", NULL, NULL, &a);
    forge_token_question(&p, &b);
    assert_string_equal(b.p, "protocol=https\nhost=gitea.example.org:8443\npath=o/r.git\n\n");
    assert_true(forge_token_answer(&t, STR("protocol=https\nhost=h\nusername=me\npassword=a=b\n"), &a));
    assert_string_equal(t.secret, "a=b");
    assert_string_equal(t.user, "me");
    assert_false(forge_token_answer(&t, STR("username=me\n"), &a));
    assert_false(forge_token_answer(&t, STR("password=\n"), &a));
    assert_false(forge_token_answer(&t, STR("password=with blank\n"), &a));
    assert_false(forge_token_answer(&t, STR(""), &a));
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses), cmocka_unit_test(what_the_user_says), cmocka_unit_test(links), cmocka_unit_test(tokens_of_the_environment),
        cmocka_unit_test_setup_teardown(tokens_of_files, place_begin, place_end), cmocka_unit_test(helpers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
