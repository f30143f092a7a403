/* redact.c: replaces secrets and identities in text that is about to be written. */
#include "probes/redact.h"
#include "base/array.h"

#include "probes/secret_names.h"

#include <stdlib.h>

enum { PIECE = 256 << 10, HOLD_MAX = 64 << 10, HOLD_LAST = 4 << 10, UNITS = 2048 };
static const char mark[] = "[redacted]";

/* ---- values of variables ---- */

struct bits {
    unsigned char *p; /* a bit for each byte that goes */
    size_t n;
};

static void redact_set_bits(void *context, const struct secret *s)
{
    struct bits *b = context;
    for (size_t i = s->at; i < s->at + s->n && i < b->n; i++)
        b->p[i / 8] |= (unsigned char)(1 << i % 8);
}

static bool redact_get_bit(const struct bits *b, size_t i)
{
    return b->p[i / 8] >> i % 8 & 1;
}

static void redact_add_digests(struct str value, struct bits *b)
{
    for (size_t i = 0, from = 0; i <= value.n; i++)
        if (i == value.n || !(str_is_digit(value.p[i]) || (value.p[i] >= 'a' && value.p[i] <= 'f'))) {
            if (i - from >= 40)
                redact_set_bits(b, &(struct secret){.at = from, .n = i - from, .kind = SECRET_RANDOM});
            from = i + 1;
        }
}

size_t redact_variable(struct buf *to, struct str name, struct str value)
{
    struct secrets_state state = {0};
    bool number;
    size_t places = 0;
    if (secret_is_value(secret_variable_weight(name), value, &number)) {
        buf_puts(to, mark);
        return 1;
    }
    struct bits b = {calloc(value.n / 8 + 1, 1), value.n};
    if (!b.p) {
        buf_puts(to, mark);
        return 1;
    }
    secrets_find(value, &state, redact_set_bits, &b);
    redact_add_digests(value, &b);
    for (size_t i = 0; i < value.n;) {
        bool gone = redact_get_bit(&b, i);
        size_t from = i;
        while (i < value.n && redact_get_bit(&b, i) == gone)
            i++;
        if (gone)
            buf_puts(to, mark);
        else
            buf_str(to, str_sub(value, from, i - from));
        places += gone;
    }
    free(b.p);
    return places;
}

/* ---- in place ---- */

/* Returns whether YAML would read what begins at `at` as a value: there neither a bracket nor a
 * star may begin it. */
static bool redact_begins_value(const char *text, size_t at)
{
    size_t from = at;
    while (from > 0 && (text[from - 1] == ' ' || text[from - 1] == '\t'))
        from--;
    return from < at ? from == 0 || strchr("\n\r:-,[{?|>", text[from - 1]) != NULL
                     : at == 0 || text[at - 1] == '\n' || strchr("[{", text[at - 1]);
}

/* Overwrites the secret by a text of equal length: "[redacted]***", or what keeps JSON and YAML
 * valid. */
static void redact_fill_secret(char *text, const struct secret *s)
{
    char *p = text + s->at;
    size_t k = sizeof mark - 1, n = s->n;
    memset(p, '*', n);
    if (s->fill == SECRET_FILL_NULL) {
        memset(p, ' ', n);
        memcpy(p, n >= 4 ? "null" : "0", n >= 4 ? 4 : 1);
    } else if (s->fill == SECRET_FILL_QUOTED) {
        p[0] = p[n - 1] = n == 1 ? '0' : '"';
    } else if (redact_begins_value(text, s->at)) {
        memcpy(p, n >= k ? "(redacted)" : "x", n >= k ? k : 1);
    } else if (n >= k)
        memcpy(p, mark, k);
}

struct kept_secret {
    struct secret *list;
    size_t n, room;
    bool failed;
};

/* Stores the place of a secret, joined with the one before where they overlap. Secrets are
 * overwritten when all are found: an overwritten one could not be recognized. Sets failed when out
 * of memory. */
static void redact_store_secret(void *context, const struct secret *s)
{
    struct kept_secret *k = context;
    struct secret *last = k->n > 0 ? &k->list[k->n - 1] : NULL;
    size_t end = s->at + s->n, old = last ? last->at + last->n : 0;
    if (last && s->at >= last->at && (s->at < old || (s->at == old && s->kind == last->kind))) { /* they overlap: one */
        last->n = (end > old ? end : old) - last->at;
        last->number = last->number && s->number;
        if (s->kind != last->kind || s->n != last->n)
            last->fill = SECRET_FILL_MARK;
        return;
    }
    if (!ARRAY_FITS(k->list, k->room, k->n + 1)) {
        k->failed = true;
        return;
    }
    k->list[k->n++] = *s;
}

size_t redact_secrets(char *text, size_t n, struct secrets_state *state, void (*each)(void *context, const struct secret *s), void *context)
{
    struct kept_secret found = {0};
    size_t count = secrets_find((struct str){text, n}, state, redact_store_secret, &found);
    if (found.failed)
        memset(text, '*', n); /* out of memory: better no text than a secret */
    for (size_t i = 0; i < found.n && !found.failed; i++) {
        if (each)
            each(context, &found.list[i]);
        redact_fill_secret(text, &found.list[i]);
    }
    free(found.list);
    return count ? found.n : 0;
}

static void redact_count_number(void *context, const struct secret *s)
{
    struct redact *r = context;
    r->numbers += s->number;
}

static size_t redact_lines(struct redact *r, struct secrets_state *state, char *text, size_t n)
{
    size_t secrets = redact_secrets(text, n, state, redact_count_number, r), identities = 0;
    if (r->ids)
        identities = identities_replace(r->ids, text, n, NULL, NULL);
    r->secrets += secrets;
    r->identities += identities;
    return secrets + identities;
}

/* ---- UTF-16 ---- */

bool redact_is_wide(struct str head)
{
    return head.n >= 2 && (memcmp(head.p, "\xff\xfe", 2) == 0 || memcmp(head.p, "\xfe\xff", 2) == 0);
}

/* Returns the ASCII letter of a UTF-16 unit; 0xff for every other character. */
static char redact_unit_letter(const char *unit, bool is_big)
{
    char low = unit[is_big], high = unit[!is_big];
    return high || (low & 0x80) ? (char)0xff : low;
}

static void redact_set_unit(char *unit, bool is_big, char letter)
{
    if (redact_unit_letter(unit, is_big) == letter)
        return;
    unit[is_big] = letter;
    unit[!is_big] = 0;
}

/* Redacts a UTF-16 text with its byte order mark. Returns the number of places. Out of memory:
 * overwrites all of it with stars, and returns 1. */
static size_t redact_wide_text(struct redact *r, struct secrets_state *state, char *text, size_t n)
{
    bool is_big = (unsigned char)text[0] == 0xfe;
    size_t units = n / 2 - 1;
    char *letters = malloc(units + 1);
    if (!letters) {
        memset(text, '*', n);
        return 1;
    }
    for (size_t i = 0; i < units; i++)
        letters[i] = redact_unit_letter(text + 2 * (i + 1), is_big);
    size_t places = redact_lines(r, state, letters, units);
    for (size_t i = 0; i < units; i++)
        redact_set_unit(text + 2 * (i + 1), is_big, letters[i]);
    free(letters);
    return places;
}

size_t redact_text(struct redact *r, char *text, size_t n)
{
    struct secrets_state state = {0};
    if (redact_is_wide((struct str){text, n}))
        return redact_wide_text(r, &state, text, n);
    return redact_lines(r, &state, text, n);
}

size_t redact_named(struct redact *r, struct str name, char *value, size_t n)
{
    struct secret whole = {.n = n, .kind = SECRET_ASSIGNED};
    if (!secret_is_value(secret_variable_weight(name), (struct str){value, n}, &whole.number))
        return redact_text(r, value, n);
    redact_count_number(r, &whole);
    redact_fill_secret(value, &whole);
    r->secrets++;
    return 1;
}

/* ---- streams ---- */

void redact_stream_init(struct redact_stream *s, struct redact *redact, void (*write)(void *context, const void *p, size_t n),
                        void *context)
{
    *s = (struct redact_stream){.redact = redact, .write = write, .context = context};
}

void redact_stream_deinit(struct redact_stream *s)
{
    free(s->held);
    free(s->wide.units);
    s->wide = (struct redact_wide){0};
    s->held = NULL;
    s->n = s->room = 0;
}

/* Writes n letters as UTF-16: a letter that was replaced replaces its unit, the others stay as they
 * came. */
static void redact_output_units(struct redact_stream *s, const char *letters, size_t n)
{
    struct redact_wide *w = &s->wide;
    char *units = w->units + w->n_out;
    for (size_t i = 0; i < n; i++)
        redact_set_unit(units + 2 * i, w->is_big, letters[i]);
    s->write(s->context, units, 2 * n);
    w->n_out += 2 * n;
}

static void redact_output(struct redact_stream *s, const void *p, size_t n)
{
    if (s->wide.is_wide && n > 0)
        redact_output_units(s, p, n);
    else
        s->write(s->context, p, n);
}

static bool redact_hold_bytes(struct redact_stream *s, const char *p, size_t n)
{
    if (!ARRAY_FITS(s->held, s->room, s->n + n))
        return false;
    memcpy(s->held + s->n, p, n);
    s->n += n;
    return true;
}

static void redact_ignore_secret(void *context, const struct secret *s)
{
    (void)context;
    (void)s;
}

/* Writes stars for bytes that could not be searched, out of memory. */
static void redact_output_stars(struct redact_stream *s, size_t n)
{
    char blot[256];
    memset(blot, '*', sizeof blot);
    for (size_t left = n; left > 0; left -= left < sizeof blot ? left : sizeof blot)
        redact_output(s, blot, left < sizeof blot ? left : sizeof blot);
}

/* Writes complete lines, redacted. The caller's memory is not changed: a copy is made where
 * something must be replaced. Out of memory: writes stars. */
static void redact_output_lines(struct redact_stream *s, const char *p, size_t n)
{
    struct secrets_state state = s->state;
    if (!s->redact->ids && !state.in_key && !state.fold && secrets_find((struct str){p, n}, &state, redact_ignore_secret, NULL) == 0 &&
        !state.in_key) {
        s->state = state;
        redact_output(s, p, n);
        return;
    }
    char *copy = malloc(n);
    if (copy) {
        memcpy(copy, p, n);
        redact_lines(s->redact, &s->state, copy, n);
        redact_output(s, copy, n);
    } else
        redact_output_stars(s, n);
    free(copy);
}

/* Writes the first n held bytes, redacted, and removes them from what is held. */
static void redact_output_held(struct redact_stream *s, size_t n)
{
    if (n == 0)
        return;
    redact_lines(s->redact, &s->state, s->held, n);
    redact_output(s, s->held, n);
    memmove(s->held, s->held + n, s->n - n);
    s->n -= n;
}

/* Returns the length up to the last line end, 0 where there is none. Where no LF is found, CR
 * counts as a line end: programs print progress with it. */
static size_t redact_lines_end(const char *p, size_t n)
{
    const char *lf = n ? memrchr(p, '\n', n) : NULL;
    if (!lf && n)
        lf = memrchr(p, '\r', n);
    return lf ? (size_t)(lf - p) + 1 : 0;
}

/* Returns the length up to the last blank before `limit` that does not announce a secret
 * ("password: " does); 0: there is none. */
static size_t redact_words_end(const char *p, size_t limit)
{
    for (size_t i = limit; i-- > 1;)
        if ((p[i] == ' ' || p[i] == '\t') && p[i - 1] != ' ' && p[i - 1] != '\t' && !secrets_are_announced((struct str){p, i}))
            return i + 1;
    return 0;
}

/* Writes the beginning of a held line that is too long: up to the last word that cannot belong to a
 * secret, else up to the last one that is not announced as one, else all but the last HOLD_LAST
 * bytes. */
static void redact_shorten_held(struct redact_stream *s)
{
    size_t n = redact_words_end(s->held, secrets_rest_of_line((struct str){s->held, s->n}));
    if (n == 0)
        n = redact_words_end(s->held, s->n - HOLD_LAST);
    redact_output_held(s, n > 0 ? n : s->n - HOLD_LAST);
}

/* Holds n more bytes. Out of memory: writes as many stars, since the bytes could be part of a
 * secret. */
static void redact_hold_or_overwrite(struct redact_stream *s, const char *p, size_t n)
{
    if (redact_hold_bytes(s, p, n))
        return;
    redact_output_held(s, redact_words_end(s->held, secrets_rest_of_line((struct str){s->held, s->n})));
    redact_output_stars(s, s->n + n);
    s->n = 0;
}

/* Redacts a piece of the stream. Complete lines go to s->write; s holds what follows the last line
 * end, and of a longer line at most its last HOLD_MAX bytes. Out of memory: stars are written
 * instead of the text. */
static void redact_write_piece(struct redact_stream *s, const char *p, size_t n)
{
    if (s->n > 0) { /* the beginning of this piece continues the held line */
        const char *lf = memchr(p, '\n', n);
        size_t k = lf ? (size_t)(lf - p) + 1 : n;
        redact_hold_or_overwrite(s, p, k);
        p += k;
        n -= k;
        if (lf)
            redact_output_held(s, s->n);
    }
    size_t lines = redact_lines_end(p, n);
    if (lines > 0)
        redact_output_lines(s, p, lines);
    if (n > lines)
        redact_hold_or_overwrite(s, p + lines, n - lines);
    while (s->n > HOLD_MAX)
        redact_shorten_held(s);
}

static void redact_write_pieces(struct redact_stream *s, const char *p, size_t n)
{
    for (size_t k; n > 0; p += k, n -= k) {
        k = n < PIECE ? n : PIECE;
        redact_write_piece(s, p, k);
    }
}

/* Appends n bytes of UTF-16 to those that are held. Returns false, and appends nothing, when out of
 * memory. */
static bool redact_hold_units(struct redact_wide *w, const char *units, size_t n)
{
    if (w->n_out > 0) {
        memmove(w->units, w->units + w->n_out, w->n - w->n_out);
        w->n -= w->n_out;
        w->n_out = 0;
    }
    if (!ARRAY_FITS(w->units, w->cap, w->n + n))
        return false;
    memcpy(w->units + w->n, units, n);
    w->n += n;
    return true;
}

/* Redacts n units of UTF-16, at most UNITS. Out of memory: writes what is held, and stars for these
 * units. */
static void redact_write_units(struct redact_stream *s, const char *units, size_t n)
{
    char letters[UNITS], blot[2 * UNITS];
    if (!redact_hold_units(&s->wide, units, 2 * n)) { /* out of memory: pass on what is held, and write stars for these */
        redact_output_held(s, s->n);
        memset(blot, '*', 2 * n);
        s->write(s->context, blot, 2 * n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        letters[i] = redact_unit_letter(units + 2 * i, s->wide.is_big);
    redact_write_piece(s, letters, n);
}

/* Redacts n bytes of UTF-16. Holds the first half of a unit that is cut until the next call. */
static void redact_write_wide(struct redact_stream *s, const char *p, size_t n)
{
    char unit[2] = {s->wide.half};
    if (s->wide.has_half && n > 0) {
        unit[1] = *p;
        s->wide.has_half = false;
        redact_write_units(s, unit, 1);
        p++;
        n--;
    }
    for (size_t k; n >= 2; p += 2 * k, n -= 2 * k) {
        k = n / 2 < UNITS ? n / 2 : UNITS;
        redact_write_units(s, p, k);
    }
    if (n > 0) {
        s->wide.has_half = true;
        s->wide.half = *p;
    }
}

/* Detects by the first bytes whether the text is UTF-16. Returns how many bytes were consumed. */
static size_t redact_begin_text(struct redact_stream *s, const char *p, size_t n)
{
    struct redact_wide *w = &s->wide;
    size_t used = 0;
    while (used < n && w->first_n < 2 && (w->first_n == 0 || w->first[0] >= 0xfe))
        w->first[w->first_n++] = (unsigned char)p[used++];
    if (w->first_n == 1 && w->first[0] >= 0xfe)
        return used;
    w->is_known = true;
    if (redact_is_wide((struct str){(const char *)w->first, w->first_n})) {
        s->write(s->context, w->first, 2);
        w->is_big = w->first[0] == 0xfe;
        w->is_wide = true;
    } else
        redact_write_pieces(s, (const char *)w->first, w->first_n);
    return used;
}

void redact_stream_flush(struct redact_stream *s, bool end)
{
    if (end && !s->wide.is_known && s->wide.first_n > 0) { /* a text of one byte */
        s->wide.is_known = true;
        redact_write_pieces(s, (const char *)s->wide.first, s->wide.first_n);
    }
    if (s->n > 0 && (end || !s->state.fold)) /* of a value on lines of its own, complete lines */
        redact_output_held(s, end ? s->n : redact_words_end(s->held, secrets_rest_of_line((struct str){s->held, s->n})));
    if (end && s->wide.has_half) {
        s->write(s->context, &s->wide.half, 1);
        s->wide.has_half = false;
    }
}

void redact_stream_write(struct redact_stream *s, const void *p, size_t n)
{
    const char *at = p;
    size_t used = s->wide.is_known || n == 0 ? 0 : redact_begin_text(s, at, n);
    if (s->wide.is_wide)
        redact_write_wide(s, at + used, n - used);
    else
        redact_write_pieces(s, at + used, n - used);
}
