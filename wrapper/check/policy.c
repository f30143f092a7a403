/* policy.c: read which findings block in a repository, from the target's benchwrap-check.yaml. */
#include "base/yaml.h"
#include "check/check.h"

static const char *const severities[] = {[CHECK_NOTE] = "note", [CHECK_WARNING] = "warning", [CHECK_ERROR] = "error"};

const char *check_severity_word(enum check_severity s)
{
    return severities[s];
}

static bool find_kind(struct str word, enum check_id *ret)
{
    for (size_t i = 0; i < CHECK_KINDS; i++)
        if (str_is(word, check_kinds[i].word)) {
            *ret = (enum check_id)i;
            return true;
        }
    return false;
}

/* Applies a line of the policy, FINDING: error, warning or note. -1 with err, which names file and
 * line. */
static int policy_read_line(struct check_state *k, const struct yaml *y, struct err *err)
{
    enum check_id id;
    if (!find_kind(y->key, &id))
        return yaml_complain(y, CHECK_POLICY_FILE, err, "expected the name of a finding, got \"%.*s\"",
                             (int)(y->key.n < 60 ? y->key.n : 60), y->key.p);
    for (int s = CHECK_NOTE; s <= CHECK_ERROR; s++)
        if (y->kind == YAML_SCALAR && str_is(y->text, severities[s])) {
            k->severity[id] = (enum check_severity)s;
            return 0;
        }
    return yaml_complain(y, CHECK_POLICY_FILE, err, "%s: expected error, warning or note", check_kinds[id].word);
}

/* Comments and blank lines alone are no document, and no policy. */
static bool has_lines(struct str text)
{
    while (text.p) {
        struct str line = str_trim(str_cut(&text, '\n'));
        if (line.n && line.p[0] != '#')
            return true;
    }
    return false;
}

int check_policy(struct check_state *k, struct str text, struct err *err)
{
    struct arena a;
    struct yaml *y = NULL;
    int rc = 0;
    arena_init(&a, 16 << 20);
    if (has_lines(text) && (rc = yaml_parse(&y, CHECK_POLICY_FILE, text, &a, err)) == 0 && !yaml_is_null(y)) {
        if (y->kind != YAML_MAP)
            rc = yaml_complain(y, CHECK_POLICY_FILE, err, "expected lines \"finding: severity\"");
        for (const struct yaml *line = y->child; rc == 0 && line; line = line->next)
            rc = policy_read_line(k, line, err);
    }
    arena_deinit(&a);
    return rc;
}
