/* facts.c: what the server reports about itself: its kind, version and settings; see server.h. */
#include "benchmarks/native/llmload/server/server.h"

#include <string.h>

enum { VALUE_MAX = 200 };

static const char *facts_copy_text(struct llm_server *s, const char *text)
{
    return text ? arena_dup(&s->arena, text, strnlen(text, VALUE_MAX)) : NULL;
}

/* Adds a scalar as a fact; leaves out others, those longer than VALUE_MAX, and all above
 * FACTS_MAX. */
static void facts_add(struct llm_server *s, struct facts *f, const char *key, const struct json *value)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 4 * VALUE_MAX);
    if (f->count == FACTS_MAX || json_is_object(value) || json_is_array(value) || json_is_null(value) ||
        strlen(json_string(value, "")) > VALUE_MAX)
        return;
    if (json_is_string(value))
        buf_puts(&text, json_string(value, ""));
    else
        json_print(value, &text);
    const char *k = facts_copy_text(s, key), *v = facts_copy_text(s, text.p ? text.p : "");
    if (k && v && !text.failed) {
        f->fact[f->count].key = k;
        f->fact[f->count++].value = v;
    }
}

/* Returns whether a member of this name may hold a secret. The names differ from server to server. Of
 * the members with "token" in their names most are counts or words of the vocabulary, but a text may
 * be an access token. */
static bool may_be_secret(const char *name, const struct json *value)
{
    static const char *const words[] = {"key", "secret", "passw", "credential", "auth"}, *const vocabulary[] = {"bos_token", "eos_token"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(name, words[i]))
            return true;
    for (size_t i = 0; i < sizeof vocabulary / sizeof *vocabulary; i++)
        if (strcmp(name, vocabulary[i]) == 0)
            return false;
    return json_is_string(value) && strcasestr(name, "token") && !strcasestr(name, "tokenizer");
}

/* Adds the scalars of an object as facts, without secrets. */
static void add_all(struct llm_server *s, struct facts *f, const struct json *object)
{
    for (const struct json *j = json_is_object(object) ? json_first(object) : NULL; j; j = json_next(j))
        if (!may_be_secret(json_key(j), j) && strcmp(json_key(j), "chat_template") != 0)
            facts_add(s, f, json_key(j), j);
}

static void ask_llama(struct llm_server *s, struct facts *f)
{
    struct json *j = server_json(s, "/props");
    f->version = facts_copy_text(s, json_string(json_get(j, "build_info"), NULL));
    facts_add(s, f, "n_ctx", json_pointer(j, "/default_generation_settings/n_ctx"));
    add_all(s, f, j);
    json_free(j);
}

/* A page whose scalars are all settings. */
static bool ask_page(struct llm_server *s, struct facts *f, const char *kind, const char *path)
{
    struct json *j = server_json(s, path);
    bool is = json_is_object(j);
    if (is) {
        f->kind = kind ? kind : f->kind;
        f->version = facts_copy_text(s, json_string(json_get(j, "version"), json_string(json_get(j, "sglang_version"), NULL)));
        add_all(s, f, j);
    }
    json_free(j);
    return is;
}

static void ask_ollama(struct llm_server *s, struct facts *f)
{
    f->kind = "ollama";
    ask_page(s, f, NULL, "/api/version");
    struct json *j = server_json(s, "/api/ps");
    add_all(s, f, json_at(json_get(j, "models"), 0));
    json_free(j);
}

void server_facts(struct llm_server *s, struct facts *f)
{
    struct json *models = NULL;
    const char *owner = "";
    *f = (struct facts){0};
    if (s->dialect == DIALECT_CHAT || s->dialect == DIALECT_COMPLETIONS) {
        models = server_json(s, "/v1/models");
        const struct json *first = json_at(json_get(models, "data"), 0);
        owner = json_string(json_get(first, "owned_by"), "");
        add_all(s, f, first);
    }
    if (strcmp(owner, "llamacpp") == 0) {
        f->kind = "llama.cpp";
        ask_llama(s, f);
    } else if (strcmp(owner, "vllm") == 0) {
        ask_page(s, f, "vllm", "/version");
        f->kind = "vllm";
    } else if (strcmp(owner, "sglang") == 0) {
        f->kind = "sglang";
        ask_page(s, f, "sglang", "/get_server_info");
    } else if (strcmp(owner, "library") == 0 || dialects[s->dialect].ollama)
        ask_ollama(s, f);
    else if (!ask_page(s, f, "tgi", "/info"))
        ask_page(s, f, NULL, "/version");
    json_free(models);
}

void server_facts_json(const struct facts *f, struct json_out *j)
{
    if (f->kind)
        json_text(j, "server_kind", f->kind);
    if (f->version)
        json_text(j, "server_version", f->version);
    json_open(j, "server_settings", '{');
    for (size_t i = 0; i < f->count; i++)
        json_str(j, f->fact[i].key, str_of(f->fact[i].value));
    json_close(j, '}');
}
