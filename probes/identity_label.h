/* identity_label.h: detects by the label before a value what the value is: a serial number or an
 * account, or a version, which is no address. */
#ifndef PROBES_IDENTITY_LABEL_H
#define PROBES_IDENTITY_LABEL_H
#include "base/str.h"

/* Returns whether names of users and accounts can have this byte: letters of any script (UTF-8),
 * digits, '.', '_' and '-'. */
static inline bool identity_is_name_byte(char c)
{
    return (c >= '0' && c <= '9') || (str_lower(c) >= 'a' && str_lower(c) <= 'z') || c == '.' || c == '_' || c == '-' || (unsigned char)c >= 0x80;
}

/* Returns the length of the identity that the label before text.p[sign], ':' or '=', announces;
 * 0: none. *ret_from: where it begins; *ret_what: its kind in words, static; *ret_with: the byte that
 * replaces its letters and digits. */
size_t identity_find_labelled(struct str text, size_t sign, size_t *ret_from, const char **ret_what, char *ret_with);
/* Returns whether the context calls the four-part number at `at`, of `n` bytes, a version, release
 * or driver. */
bool identity_is_version(struct str text, size_t at, size_t n);
/* Finds the account or project in the option of a scheduler's command: "sbatch -A X", "#BSUB -P X",
 * "srun --account X". before: the command up to the option; word: the option with what is joined to
 * it; value: the next word. Returns true with *ret, the name within word or value. */
bool identity_find_account(struct str before, struct str word, struct str value, struct str *ret);
#endif
