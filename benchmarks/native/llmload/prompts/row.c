/* row.c: the content of one row of a prompt file, by its members: a conversation, messages,
 * choices, or a prompt. */
#include "benchmarks/native/llmload/prompts/dataset.h"
#include "base/array.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>

enum { CHOICES_MAX = 26, OUTPUT_MAX = 10000000, CONTEXT_MAX = 16 << 20, TEXT_MAX = 64 << 20, MESSAGES_MAX = 128 << 20 };

/* A text of this row did not fit into its buffer. */
static int row_too_long(struct err *err, const char *what, int limit)
{
    return err_set(err, ERR_INPUT, "%s of this row: longer than %d MiB (or out of memory)", what, limit >> 20);
}

static const struct json *row_first_member(const struct json *row, const char *const *names)
{
    const struct json *j = NULL;
    for (; *names && !j; names++)
        j = json_get(row, *names);
    return j;
}

/* Collections hold such rows: nothing is wrong with the file. */
static int row_skip(struct err *err, const char *why)
{
    err_set(err, ERR_INPUT, "%s", why);
    return ROWS_SKIP;
}

static struct str dataset_keep_text(struct dataset *d, struct str s)
{
    return (struct str){arena_dup(&d->arena, s.p ? s.p : "", s.n), s.n};
}

/* Appends an item of the current row to the data set, which owns it. The pointer is valid until the
 * next call. NULL with err: out of memory. */
static struct item *item_new(struct dataset *d, struct err *err)
{
    if (!ARRAY_FITS(d->items, d->item_size, d->item_count + 1)) {
        err_memory(err, "%zu prompts", d->item_count + 1);
        return NULL;
    }
    struct item *i = &d->items[d->item_count++];
    *i = (struct item){.row = (uint32_t)d->row_count};
    return i;
}

/* Ends a row that has an item: stores its right choice. Returns 0; 1 where --dataset-rows is
 * reached; -1 with *err when out of memory, also for texts stored before. */
static int dataset_add_answer(struct dataset *d, struct row_answer answer, const char *kind, struct err *err)
{
    if (!ARRAY_FITS(d->answers, d->row_size, d->row_count + 1))
        return err_memory(err, "%zu prompts", d->row_count + 1);
    d->answers[d->row_count++] = answer;
    if (!d->kind)
        d->kind = kind;
    if (d->arena.failed)
        return err_set(err, ERR_SYSTEM, "the prompts do not fit into memory");
    return d->rows_max && d->row_count >= d->rows_max ? 1 : 0;
}

/* Reads the answer's length from the row, else the length of the answer that it contains. A
 * length that no request can have skips the row. */
static int output_tokens(const struct dataset *d, const struct json *row, const char *answer, uint32_t *ret, struct err *err)
{
    static const char *const names[] = {"output_tokens", "max_completion_tokens", "max_tokens", "output_length", "expected_output_len"};
    const struct json *j = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !j; i++)
        j = json_is_null(json_get(row, names[i])) ? NULL : json_get(row, names[i]);
    int64_t n = json_integer(j, 0);
    if (j && (n < 1 || n > OUTPUT_MAX)) {
        err_set(err, ERR_INPUT, "its \"%s\" is no integer from 1 to %d", json_key(j), OUTPUT_MAX);
        return ROWS_SKIP;
    }
    *ret = j ? (uint32_t)n : answer && d->tokenizer ? prompts_count(d->tokenizer, str_of(answer)) : 0;
    return 0;
}

/* ---- {"conversations": [{"from": "human", "value": …}, {"from": "gpt", …}, …]} ---- */

static bool is_role(const struct json *turn, const char *a, const char *b)
{
    const char *role = json_string(json_get(turn, "from"), json_string(json_get(turn, "role"), ""));
    return strcmp(role, a) == 0 || strcmp(role, b) == 0;
}

static const char *turn_text(const struct json *turn)
{
    return json_string(json_get(turn, "value"), json_string(json_get(turn, "content"), NULL));
}

/* Adds the item of a conversation: the turns of the human are its prompts. 0; ROWS_SKIP: it has
 * none; -1 with err: out of memory. */
static int take_conversation(struct dataset *d, const struct json *row, const struct json *list, struct err *err)
{
    struct str *turns = arena_get(&d->arena, (json_count(list) + 1) * sizeof *turns);
    uint32_t n = 0;
    const char *answer = NULL;
    if (!turns)
        return err_memory(err, "a conversation of %zu turns", json_count(list));
    for (const struct json *j = json_first(list); j; j = json_next(j)) {
        if (!turn_text(j))
            return row_skip(err, "a turn of the conversation has no text (\"value\")");
        if (is_role(j, "human", "user"))
            turns[n++] = dataset_keep_text(d, str_of(turn_text(j)));
        else if (n == 1 && !answer)
            answer = turn_text(j);
    }
    uint32_t length;
    if (!n)
        return row_skip(err, "it has no turn of a human");
    if (output_tokens(d, row, answer, &length, err) != 0)
        return ROWS_SKIP;
    struct item *i = item_new(d, err);
    if (!i)
        return -1;
    i->text = turns[0];
    i->turns = turns + 1;
    i->turn_count = n - 1;
    i->output_tokens = length;
    if (row_members(d, i, row, d->is_body, err) < 0)
        return -1;
    return dataset_add_answer(d, (struct row_answer){0}, "sharegpt", err);
}

/* ---- {"messages": [{"role": "user", "content": …}, …]} ---- */

/* Appends the text of a message, and of its parts. Returns another value than 0 with *err where a
 * part is no text. */
static int add_content(struct buf *to, const struct json *content, struct err *err)
{
    if (json_is_string(content)) {
        buf_printf(to, "%s", to->n ? "\n" : "");
        buf_puts(to, json_string(content, ""));
        return 0;
    }
    for (const struct json *part = json_first(content); part; part = json_next(part)) {
        if (!json_string(json_get(part, "text"), NULL))
            return err_set(err, ERR_INPUT, "a message has parts that are no text: the completions API cannot carry them");
        buf_printf(to, "%s%s", to->n ? "\n" : "", json_string(json_get(part, "text"), ""));
    }
    return json_is_array(content) ? 0 : err_set(err, ERR_INPUT, "a message has no content");
}

/* Adds the item of a list of messages, without a last answer. 0; ROWS_SKIP; -1 with err: a message
 * without role or content, or out of memory. */
static int take_messages(struct dataset *d, const struct json *row, const struct json *list, struct err *err)
{
    struct buf text CLEANUP_BUF, messages CLEANUP_BUF;
    uint32_t length;
    size_t n = json_count(list);
    const struct json *last = n ? json_at(list, n - 1) : NULL;
    buf_init(&text, TEXT_MAX);
    buf_init(&messages, MESSAGES_MAX);
    bool answered = n > 1 && is_role(last, "assistant", "assistant"); /* the answer of old, not to be sent */
    for (const struct json *j = json_first(list); j && !(answered && j == last); j = json_next(j)) {
        bool calls = json_get(j, "tool_calls") || json_get(j, "function_call"); /* an answer of old that has no text */
        if (!json_string(json_get(j, "role"), NULL) || (!json_get(j, "content") && !calls))
            return err_set(err, ERR_INPUT, "expected a message with role and content");
        if (messages.n)
            buf_putc(&messages, ',');
        json_print(j, &messages);
        if (!dialects[d->dialect].chat && add_content(&text, json_get(j, "content"), err) < 0)
            return -1;
    }
    if (messages.failed || text.failed)
        return row_too_long(err, "the messages", messages.failed ? MESSAGES_MAX : TEXT_MAX);
    if (!messages.n)
        return err_set(err, ERR_INPUT, "the row has no messages");
    if (output_tokens(d, row, answered ? json_string(json_get(last, "content"), NULL) : NULL, &length, err) != 0)
        return ROWS_SKIP;
    struct item *i = item_new(d, err);
    if (!i)
        return -1;
    if (dialects[d->dialect].chat)
        i->messages = dataset_keep_text(d, buf_text(&messages));
    else
        i->text = dataset_keep_text(d, buf_text(&text));
    i->output_tokens = length;
    if (row_members(d, i, row, d->is_body, err) < 0)
        return -1;
    return dataset_add_answer(d, (struct row_answer){0}, "openai", err);
}

/* ---- a text to continue or a question, several endings, the right one ---- */

/* HellaSwag's texts as lm-evaluation-harness cleans them: " [title]" ends a sentence, other
 * brackets and double blanks go. */
static void add_clean(struct buf *to, struct str text)
{
    text = str_trim(text);
    for (size_t i = 0; i < text.n; i++) {
        if (str_starts(str_sub(text, i, 8), " [title]")) {
            buf_puts(to, ". ");
            i += 7;
        } else if (text.p[i] == '[' && memchr(text.p + i, ']', text.n - i))
            i += (size_t)((const char *)memchr(text.p + i, ']', text.n - i) - (text.p + i));
        else if (text.p[i] == ' ' && to->n && to->p[to->n - 1] == ' ')
            continue;
        else
            buf_putc(to, text.p[i]);
    }
}

/* The context; true if the row is HellaSwag's, whose endings are cleaned too. */
static bool add_context(struct buf *to, const struct json *row)
{
    static const char *const names[] = {"ctx", "question", "query", "context", "prompt", "input", NULL};
    const char *a = json_string(json_get(row, "ctx_a"), NULL), *b = json_string(json_get(row, "ctx_b"), NULL);
    const char *activity = json_string(json_get(row, "activity_label"), NULL);
    if (!a || !b) {
        buf_puts(to, json_string(row_first_member(row, names), ""));
        return false;
    }
    struct buf whole CLEANUP_BUF;
    buf_init(&whole, CONTEXT_MAX);
    if (activity)
        buf_printf(&whole, "%s: ", activity);
    buf_printf(&whole, "%s ", a);
    if (*b)
        buf_putc(&whole, (char)toupper((unsigned char)*b));
    for (const char *p = *b ? b + 1 : b; *p; p++) /* "capitalize": the rest in small letters */
        buf_putc(&whole, (char)((unsigned char)*p < 0x80 ? tolower((unsigned char)*p) : *p));
    add_clean(to, buf_text(&whole));
    to->failed |= whole.failed;
    return true;
}

/* Strings, or {"text": [...], "label": [...]} as ARC has them. */
static const struct json *choices_of(const struct json *row, const struct json **ret_labels)
{
    static const char *const names[] = {"endings", "choices", "options", NULL};
    const struct json *j = row_first_member(row, names);
    *ret_labels = json_get(j, "label");
    return json_is_object(j) ? json_get(j, "text") : j;
}

/* Returns the index of the right choice by label, letter or number; -1: the row does not state
 * it. */
static int right_choice(const struct json *row, const struct json *labels, size_t n)
{
    static const char *const names[] = {"label", "gold", "answer", "answerKey", "gold_index", NULL};
    const struct json *j = row_first_member(row, names);
    const char *text = json_string(j, "");
    int64_t index = json_integer(j, -1);
    for (size_t i = 0; labels && i < json_count(labels); i++)
        if (*text && strcmp(text, json_string(json_at(labels, i), "")) == 0)
            return (int)i;
    if (*text && !str_int(str_of(text), &index) && text[1] == 0 && isalpha((unsigned char)text[0]))
        index = toupper((unsigned char)text[0]) - 'A';
    return index >= 0 && (size_t)index < n ? (int)index : -1;
}

/* Adds an item for each choice, whose log-probability behind the context is measured. Returns 0, or
 * -1 with *err. */
static int add_endings(struct dataset *d, struct str context, const struct json *choices, bool clean, struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, TEXT_MAX);
    uint16_t k = 0;
    for (const struct json *j = json_first(choices); j; j = json_next(j), k++) {
        buf_clear(&text);
        buf_str(&text, context);
        size_t from = text.n; /* the blank counts as the ending's: tokens begin with it */
        buf_putc(&text, ' ');
        if (clean)
            add_clean(&text, str_of(json_string(j, "")));
        else
            buf_puts(&text, json_string(j, ""));
        if (text.failed)
            return row_too_long(err, "a choice with its text", TEXT_MAX);
        struct item *i = item_new(d, err);
        if (!i)
            return -1;
        i->text = dataset_keep_text(d, buf_text(&text));
        i->extra = STR("\"echo\":true,\"logprobs\":1");
        i->choice = k;
        i->output_tokens = 1;
        i->from = (uint32_t)utf8_count(str_sub(buf_text(&text), 0, from));
        i->until = (uint32_t)utf8_count(buf_text(&text));
        i->length = i->until - i->from - 1;
    }
    return 0;
}

/* Adds an item that requests the letter of the right choice. Returns 0, or -1 with *err. */
static int add_letters(struct dataset *d, struct str context, const struct json *choices, struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, TEXT_MAX);
    buf_str(&text, context);
    char letter = 'A';
    for (const struct json *j = json_first(choices); j; j = json_next(j))
        buf_printf(&text, "\n%c. %s", letter++, json_string(j, ""));
    buf_puts(&text, "\nAnswer with one letter.\nAnswer:");
    if (text.failed)
        return row_too_long(err, "the choices", TEXT_MAX);
    struct item *i = item_new(d, err);
    if (!i)
        return -1;
    i->text = dataset_keep_text(d, buf_text(&text));
    i->extra = d->dialect == DIALECT_CHAT ? STR("\"logprobs\":true,\"top_logprobs\":20") : STR("\"logprobs\":5");
    i->output_tokens = 1;
    return 0;
}

/* Adds the items of a row with choices: one that sends its text, or, where it is scored, those that
 * compare the choices. Returns 0, ROWS_SKIP, or -1 with *err. */
static int take_choices(struct dataset *d, const struct json *row, struct err *err)
{
    const struct json *labels, *choices = choices_of(row, &labels);
    size_t n = json_count(choices);
    struct buf context CLEANUP_BUF;
    buf_init(&context, CONTEXT_MAX);
    bool clean = add_context(&context, row);
    int right = right_choice(row, labels, n);
    if (context.failed)
        return row_too_long(err, "the text of the choices", CONTEXT_MAX);
    if (!context.n)
        return err_set(err, ERR_INPUT, "choices without the text they belong to (ctx, question, query, context or prompt)");
    for (const struct json *j = json_first(choices); j; j = json_next(j))
        if (!json_is_string(j))
            return err_set(err, ERR_INPUT, "a choice that is no text");
    if (d->score == SCORE_NO) {
        uint32_t length;
        if (output_tokens(d, row, NULL, &length, err) != 0)
            return ROWS_SKIP;
        struct item *i = item_new(d, err);
        if (!i)
            return -1;
        i->text = dataset_keep_text(d, buf_text(&context));
        i->output_tokens = length;
        if (row_members(d, i, row, d->is_body, err) < 0)
            return -1;
        return dataset_add_answer(d, (struct row_answer){0}, "choices", err);
    }
    if (n < 2 || n > CHOICES_MAX || right < 0)
        return err_set(err, ERR_INPUT,
                       n < 2 || n > CHOICES_MAX ? "from 2 to %d choices can be scored"
                                                : "it does not state which choice is right (label, answer)",
                       CHOICES_MAX);
    int rc = d->score == SCORE_ENDINGS ? add_endings(d, buf_text(&context), choices, clean, err)
                                       : add_letters(d, buf_text(&context), choices, err);
    return rc < 0 ? -1 : dataset_add_answer(d, (struct row_answer){(uint16_t)right, (uint16_t)n}, "choices", err);
}

/* ---- {"prompt": "…"} or token ids, and plain lines ---- */

/* Stores a prompt of token ids. Returns 0, or another value with *err where the API accepts none or
 * one is invalid. */
static int take_ids(struct dataset *d, struct item *i, const struct json *ids, struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, TEXT_MAX);
    if (d->dialect != DIALECT_COMPLETIONS)
        return err_set(err, ERR_INPUT, "token ids as a prompt: only the completions API accepts them");
    for (const struct json *j = json_first(ids); j; j = json_next(j))
        if (json_integer(j, -1) < 0)
            return err_set(err, ERR_INPUT, "a prompt that is neither text nor a row of token ids");
    json_print(ids, &text);
    i->ids = dataset_keep_text(d, buf_text(&text));
    i->input_tokens = (uint32_t)json_count(ids);
    if (text.failed)
        return row_too_long(err, "the token ids", TEXT_MAX);
    return i->input_tokens ? 0 : err_set(err, ERR_INPUT, "a prompt without tokens");
}

/* The text of a row's prompt: its first member that a prompt can have, or an instruction and what
 * it is about (Alpaca, Dolly). */
static const struct json *add_prompt(struct buf *to, const struct json *row)
{
    static const char *const names[] = {"prompt", "text", "text_input", "question", "instruction", "input", NULL};
    static const char *const subjects[] = {"input", "context", NULL};
    const struct json *j = row_first_member(row, names);
    buf_puts(to, json_string(j, ""));
    const char *subject = j && j == json_get(row, "instruction") ? json_string(row_first_member(row, subjects), "") : "";
    if (*subject)
        buf_printf(to, "%s%s", to->n ? "\n\n" : "", subject);
    return j;
}

/* Adds the item of a row, or of a line of text (row NULL). Returns 0, or another value to skip the
 * row or with *err. */
static int take_prompt(struct dataset *d, const struct json *row, struct str text, struct err *err)
{
    struct buf prompt CLEANUP_BUF;
    buf_init(&prompt, TEXT_MAX);
    const struct json *j = add_prompt(&prompt, row);
    if (prompt.failed)
        return row_too_long(err, "the prompt", TEXT_MAX);
    if (row && (!j || (!json_is_string(j) && !json_is_array(j) && !json_is_null(j))))
        return err_set(err, ERR_INPUT, "no prompt, messages, conversations, nor choices in this row");
    if (row && !json_is_array(j) && !prompt.n)
        return row_skip(err, "its prompt is empty");
    uint32_t length = 0;
    if (row && output_tokens(d, row, NULL, &length, err) != 0)
        return ROWS_SKIP;
    struct item *i = item_new(d, err);
    if (!i)
        return -1;
    if (json_is_array(j)) {
        if (take_ids(d, i, j, err) < 0)
            return -1;
    } else
        i->text = dataset_keep_text(d, row ? buf_text(&prompt) : text);
    i->output_tokens = length;
    if (row && row_members(d, i, row, d->is_body, err) < 0)
        return -1;
    return dataset_add_answer(d, (struct row_answer){0}, row ? "prompts" : "text", err);
}

int dataset_row(void *to, const struct json *j, struct str text, size_t line, struct err *err)
{
    struct dataset *d = to;
    const struct json *labels;
    (void)line;
    if (!j)
        return take_prompt(d, NULL, text, err);
    d->is_body = json_is_object(json_get(j, "body")); /* OpenAI's batch files */
    if (d->is_body)
        j = json_get(j, "body");
    if (!json_is_object(j))
        return err_set(err, ERR_INPUT, "not an object ({...})");
    const struct json *talk = json_get(j, "conversations") ? json_get(j, "conversations") : json_get(j, "conversation");
    bool choices = json_count(choices_of(j, &labels)) > 0;
    if (d->score != SCORE_NO && !choices)
        return err_set(err, ERR_INPUT, "--score: expected a row with choices (endings, choices or options)");
    if (choices)
        return take_choices(d, j, err);
    if (json_is_array(talk))
        return take_conversation(d, j, talk, err);
    if (json_is_array(json_get(j, "messages")))
        return take_messages(d, j, json_get(j, "messages"), err);
    return take_prompt(d, j, text, err);
}
