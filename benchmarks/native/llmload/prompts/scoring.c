/* scoring.c: see scoring.h. "endings" is what lm-evaluation-harness does (acc and acc_norm);
 * "letters" scores the letter of the answer. */
#include "benchmarks/native/llmload/prompts/scoring.h"

#include "base/json.h"
#include "benchmarks/native/llmload/prompts/dataset.h"

#include <math.h>
#include <stdlib.h>

enum { LETTERS = 26 };

/* The score of one item. Each item is sent once; should one come twice, both write the same. */
struct score_mark {
    double log; /* ENDINGS: log-probability of the ending; LETTERS: index of the best letter */
    bool known;
};

struct scoring {
    struct result_sink sink;
    const struct dataset *data;
    struct score_mark *marks; /* [item_count] */
    char why[200]; /* of the first that cannot be scored */
    int has_failure; /* set once */
};

/* The log-probability of the text from … until (in characters) in the prompt that a completions
 * answer echoes. -1: the answer has none, err states what is missing. */
static int scoring_echo(const struct json *body, uint32_t from, uint32_t until, double *ret, struct err *err)
{
    const struct json *logs = json_pointer(body, "/choices/0/logprobs"), *offset = json_first(json_get(logs, "text_offset"));
    const struct json *value = json_first(json_get(logs, "token_logprobs"));
    double sum = 0;
    size_t tokens = 0;
    if (!offset || !value)
        return err_set(err, ERR_INPUT,
                       "the answer has no logprobs with text_offset: this server does not echo prompts (--score letters needs none)");
    for (; offset && value; offset = json_next(offset), value = json_next(value)) {
        int64_t at = json_integer(offset, -1);
        if (at < (int64_t)from || at >= (int64_t)until)
            continue;
        if (!json_is_number(value))
            return err_set(err, ERR_INPUT, "a token of the ending has no log-probability");
        sum += json_number(value, 0);
        tokens++;
    }
    if (!tokens)
        return err_set(err, ERR_INPUT, "the answer's log-probabilities do not reach the ending: the server does not echo the prompt");
    *ret = sum;
    return 0;
}

static void score_offer_letter(const char *token, const struct json *value, double *ret, unsigned letters)
{
    struct str text = str_trim(str_of(token));
    if (str_starts(text, "\xe2\x96\x81"))
        text = str_sub(text, 3, text.n);
    unsigned at = text.n == 1 ? (unsigned)(text.p[0] - 'A') : letters;
    if (at < letters && json_is_number(value) && json_number(value, 0) > ret[at])
        ret[at] = json_number(value, 0);
}

/* That of each letter A … in the first token's alternatives (-INFINITY: not among them). -1: the
 * answer has none, err states what is missing. */
static int scoring_letters(const struct json *body, double *ret, unsigned letters, struct err *err)
{
    const struct json *logs = json_pointer(body, "/choices/0/logprobs"), *first = json_at(json_get(logs, "content"), 0);
    const struct json *top = first ? json_get(first, "top_logprobs") : json_at(json_get(logs, "top_logprobs"), 0);
    bool any = false;
    for (unsigned i = 0; i < letters; i++)
        ret[i] = -INFINITY;
    if (!top)
        return err_set(err, ERR_INPUT, "the answer has no top_logprobs: this server returns no log-probabilities");
    for (const struct json *j = json_first(top); j; j = json_next(j))
        if (json_is_number(j)) /* {" A": -0.1, …} of the completions API */
            score_offer_letter(json_key(j), j, ret, letters);
        else
            score_offer_letter(json_string(json_get(j, "token"), ""), json_get(j, "logprob"), ret, letters);
    for (unsigned i = 0; i < letters; i++)
        any |= isfinite(ret[i]);
    return any ? 0 : err_set(err, ERR_INPUT, "none of the letters is among the first token's alternatives");
}

/* Reads the score of an answer: the log-probability of the ending, or the index of the best letter.
 * Returns 0, or another value with *err. */
static int mark_of(const struct scoring *s, const struct item *item, struct str text, double *ret, struct err *err)
{
    struct json *body;
    double letters[LETTERS];
    unsigned n = s->data->answers[item->row].choices, best = 0;
    if (json_parse(&body, text, NULL, err) < 0)
        return err_wrap(err, "the answer");
    int rc =
        s->data->score == SCORE_ENDINGS ? scoring_echo(body, item->from, item->until, ret, err) : scoring_letters(body, letters, n, err);
    json_free(body);
    if (rc < 0 || s->data->score == SCORE_ENDINGS)
        return rc;
    for (unsigned i = 1; i < n; i++)
        if (letters[i] > letters[best])
            best = i;
    *ret = best;
    return 0;
}

static void scoring_note_failure(struct scoring *s, const char *why)
{
    int none = 0;
    if (__atomic_compare_exchange_n(&s->has_failure, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        struct buf plain CLEANUP_BUF;
        buf_init(&plain, sizeof s->why);
        buf_plain(&plain, str_of(why), sizeof s->why - 20);
        memcpy(s->why, plain.p ? plain.p : "", plain.p ? plain.n + 1 : 1);
    }
}

/* Scores a finished request, on its worker's thread. */
static void scoring_take_result(struct result_sink *sink, unsigned worker, const struct request_result *r)
{
    struct scoring *s = (struct scoring *)(void *)sink;
    struct err err = {0};
    (void)worker;
    if (r->item >= s->data->item_count)
        return;
    struct score_mark *m = &s->marks[r->item];
    if (ending_rows[r->ending].failed)
        scoring_note_failure(s, r->error ? r->error : ending_rows[r->ending].name);
    else if (mark_of(s, &s->data->items[r->item], r->body, &m->log, &err) < 0)
        scoring_note_failure(s, err.text);
    else
        m->known = true;
}

int scoring_new(struct scoring **ret, struct prompt_source *source, struct err *err)
{
    const struct dataset *d = prompts_dataset_of(source);
    *ret = NULL;
    if (!d || d->score == SCORE_NO)
        return 0;
    struct scoring *s = calloc(1, sizeof *s);
    if (!s || !(s->marks = calloc(d->item_count, sizeof *s->marks))) {
        free(s);
        return err_memory(err, "scoring %zu prompts", d->item_count);
    }
    s->data = d;
    s->sink = (struct result_sink){.wants_body = true, .take = scoring_take_result};
    *ret = s;
    return 0;
}

void scoring_free(struct scoring *s)
{
    if (s)
        free(s->marks);
    free(s);
}

struct result_sink *scoring_sink(struct scoring *s)
{
    return &s->sink;
}

/* The items of one row: the choice with the best log-probability, in total and per character. */
static bool score_endings(const struct scoring *s, size_t at, size_t n, bool *ret_right, bool *ret_normal)
{
    size_t best = 0, best_normal = 0;
    double most = -INFINITY, most_normal = -INFINITY;
    for (size_t k = 0; k < n; k++) {
        const struct score_mark *m = &s->marks[at + k];
        double normal = m->log / (s->data->items[at + k].length ? s->data->items[at + k].length : 1);
        if (!m->known)
            return false;
        if (m->log > most)
            most = m->log, best = k;
        if (normal > most_normal)
            most_normal = normal, best_normal = k;
    }
    size_t right = s->data->answers[s->data->items[at].row].right;
    if (s->data->score == SCORE_LETTERS)
        best = (size_t)s->marks[at].log;
    *ret_right = best == right;
    *ret_normal = best_normal == right;
    return true;
}

void scoring_figures(const struct scoring *s, struct score_figures *ret)
{
    *ret = (struct score_figures){.rows = s->data->row_count, .why = s->why[0] ? s->why : NULL};
    for (size_t at = 0, n; at < s->data->item_count; at += n) {
        bool right, normal;
        n = s->data->score == SCORE_ENDINGS ? s->data->answers[s->data->items[at].row].choices : 1;
        if (!score_endings(s, at, n, &right, &normal))
            continue;
        ret->scored++;
        ret->right += right;
        ret->right_normal += normal;
    }
    double n = (double)ret->scored, p = (double)ret->right / n, z = 1.959963984540054;
    double centre = (p + z * z / (2 * n)) / (1 + z * z / n), half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    ret->accuracy = ret->scored ? p : NAN;
    ret->normal = ret->scored && s->data->score == SCORE_ENDINGS ? (double)ret->right_normal / n : NAN;
    ret->low = ret->scored ? fmax(centre - half, 0) : NAN;
    ret->high = ret->scored ? fmin(centre + half, 1) : NAN;
}

void scoring_json(const struct scoring *s, struct json_out *j)
{
    struct score_figures f;
    scoring_figures(s, &f);
    json_text(j, "score_method", s->data->score == SCORE_ENDINGS ? "endings" : "letters");
    json_uint(j, "score_rows", f.rows);
    json_uint(j, "score_scored", f.scored);
    const struct {
        const char *name;
        double value;
    } rows[] = {{"score_accuracy", f.accuracy},
                {"score_accuracy_norm", f.normal},
                {"score_accuracy_ci_low", f.low},
                {"score_accuracy_ci_high", f.high}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (isfinite(rows[i].value))
            json_double(j, rows[i].name, rows[i].value);
    if (f.why)
        json_text(j, "score_missing", f.why);
}

void scoring_table(const struct scoring *s, struct buf *to)
{
    struct score_figures f;
    scoring_figures(s, &f);
    if (f.scored) {
        buf_printf(to, "score       %.2f %% right (95 %% interval %.2f to %.2f), %llu of %llu rows", 100 * f.accuracy, 100 * f.low,
                   100 * f.high, (unsigned long long)f.scored, (unsigned long long)f.rows);
        if (isfinite(f.normal))
            buf_printf(to, "; by log-probability per character %.2f %%", 100 * f.normal);
        buf_putc(to, '\n');
    } else
        buf_puts(to, "score       none\n");
    if (f.why && f.scored < f.rows)
        buf_printf(to, "            %llu rows not scored: %s\n", (unsigned long long)(f.rows - f.scored), f.why);
}
