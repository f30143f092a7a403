/* members.c: what a row of a prompt file sets for its request besides the prompt: tools, the
 * answer's form, sampling. */
#include "base/json_out.h"
#include "benchmarks/native/llmload/prompts/dataset.h"

#include <string.h>

enum { MEMBERS_MAX = 64 << 20 };

/* Where a member goes. Ollama's own API has sampling in "options", and other names. */
static const struct member {
    const char *name, *ollama; /* of Ollama's API; NULL: it has none */
    bool in_options, chat; /* chat: neither of the APIs of plain texts accepts it */
} members[] = {
    {"tools", "tools", false, true},
    {"tool_choice", NULL, false, true},
    {"parallel_tool_calls", NULL, false, true},
    {"functions", NULL, false, true},
    {"function_call", NULL, false, true},
    {"response_format", "format", false, false},
    {"temperature", "temperature", true, false},
    {"top_p", "top_p", true, false},
    {"top_k", "top_k", true, false},
    {"min_p", "min_p", true, false},
    {"stop", "stop", true, false},
    {"presence_penalty", "presence_penalty", true, false},
    {"frequency_penalty", "frequency_penalty", true, false},
    {"repetition_penalty", "repeat_penalty", true, false},
    {"seed", "seed", true, false},
    {"min_tokens", NULL, false, false},
    {"ignore_eos", NULL, false, false},
    {"stop_token_ids", NULL, false, false},
    {"logit_bias", NULL, false, false},
    {"logprobs", NULL, false, false},
    {"top_logprobs", NULL, false, true},
    {"reasoning_effort", NULL, false, true},
    {"chat_template_kwargs", NULL, false, true},
    {"structured_outputs", NULL, false, false},
    {"guided_json", NULL, false, false},
    {"guided_regex", NULL, false, false},
    {"guided_choice", NULL, false, false},
    {"guided_grammar", NULL, false, false},
};

/* Of a complete request body these are the load's own; all others are kept. */
static const char *const own[] = {"model", "messages", "prompt", "stream", "stream_options", "max_tokens", "max_completion_tokens",
                                  "text",  "input",    NULL};

static const struct member *member_of(const char *name)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(members[i].name, name) == 0)
            return &members[i];
    return NULL;
}

/* True if an option sets it already, for all requests. */
static bool is_given(const struct dataset *d, const char *name)
{
    return (strcmp(name, "temperature") == 0 && d->load->temperature >= 0) || (strcmp(name, "ignore_eos") == 0 && d->load->ignore_eos) ||
           json_get(d->body, name);
}

static bool member_is_own(const char *name)
{
    for (size_t i = 0; own[i]; i++)
        if (strcmp(own[i], name) == 0)
            return true;
    return false;
}

static void put_member(struct buf *to, const char *name, const struct json *value)
{
    struct json_out j = {.to = to, .layout = JSON_TIGHT, .comma = to->n > 0};
    json_tree(&j, name, value);
}

/* Appends the answer's form as Ollama expects it: the schema itself, or "json". Nothing for plain text. -1 with err:
 * another form. */
static int put_ollama_format(struct buf *to, const struct json *value, struct err *err)
{
    const struct json *schema = json_get(json_get(value, "json_schema"), "schema");
    const char *type = json_string(json_get(value, "type"), "");
    struct json_out j = {.to = to, .layout = JSON_TIGHT, .comma = to->n > 0};
    if (schema)
        json_tree(&j, "format", schema);
    else if (strcmp(type, "json_object") == 0)
        json_text(&j, "format", "json");
    else if (strcmp(type, "text") != 0)
        return err_set(err, ERR_INPUT,
                       "\"response_format\": Ollama's own API has json_schema with a schema, json_object and text, got type \"%.40s\"",
                       type);
    return 0;
}

/* Adds a member under the name of Ollama's API, to the request or to its options. Returns 0, or -1
 * with *err where that API has none. */
static int take_ollama(const struct dataset *d, const struct member *m, const char *name, const struct json *value, struct buf *extra,
                       struct buf *options, struct err *err)
{
    if (!m || !m->ollama || (m->chat && d->dialect != DIALECT_OLLAMA_CHAT))
        return err_set(err, ERR_INPUT, "\"%.60s\": Ollama's own API has no such member (--api openai-chat)", name);
    if (m->in_options)
        put_member(options, m->ollama, value);
    else if (strcmp(name, "response_format") == 0)
        return put_ollama_format(extra, value, err);
    else
        put_member(extra, m->ollama, value);
    return 0;
}

/* Data sets hold tools as a text, too. */
static int take_tools(const struct json *text, struct buf *extra, struct err *err)
{
    struct json *tools;
    struct str s = str_trim(str_of(json_string(text, "")));
    if (!s.n)
        return 0;
    if (json_parse(&tools, s, NULL, err) < 0)
        return err_wrap(err, "\"tools\"");
    if (json_is_array(tools) && json_count(tools))
        put_member(extra, "tools", tools);
    json_free(tools);
    return 0;
}

/* Adds a member of a row to the request, under the name of its API. Returns 0, or another value
 * with *err where the API has no such member. */
static int take_member(const struct dataset *d, const struct json *value, struct buf *extra, struct buf *options, struct err *err)
{
    const char *name = json_key(value);
    const struct member *m = member_of(name);
    bool is_tools = strcmp(name, "tools") == 0;
    if (json_is_null(value) || is_given(d, name) || (is_tools && json_is_array(value) && !json_count(value)))
        return 0;
    if (is_tools && json_is_string(value) && dialects[d->dialect].chat)
        return take_tools(value, extra, err);
    if (dialects[d->dialect].ollama)
        return take_ollama(d, m, name, value, extra, options, err);
    if (m && m->chat && !dialects[d->dialect].chat)
        return err_set(err, ERR_INPUT, "\"%.60s\": the completions API has no such member (--api openai-chat)", name);
    put_member(extra, name, value);
    return 0;
}

int row_members(struct dataset *d, struct item *i, const struct json *row, bool is_body, struct err *err)
{
    struct buf extra CLEANUP_BUF, options CLEANUP_BUF;
    buf_init(&extra, MEMBERS_MAX);
    buf_init(&options, MEMBERS_MAX);
    for (const struct json *j = json_first(row); j; j = json_next(j))
        if (is_body ? !member_is_own(json_key(j)) : member_of(json_key(j)) != NULL)
            if (take_member(d, j, &extra, &options, err) < 0)
                return -1;
    if (extra.failed || options.failed)
        return err_set(err, ERR_INPUT, "the row's members for the request are longer than %d MiB (or out of memory)", MEMBERS_MAX >> 20);
    if (extra.n)
        i->extra = (struct str){arena_dup(&d->arena, extra.p, extra.n), extra.n};
    if (options.n)
        i->options = (struct str){arena_dup(&d->arena, options.p, options.n), options.n};
    return 0;
}
