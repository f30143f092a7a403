/* identity_label.h: what stands before a value says what it is: a serial number, an account; or a version, which is no address. */
#ifndef PROBES_IDENTITY_LABEL_H
#define PROBES_IDENTITY_LABEL_H
#include "base/str.h"

/* May the byte stand in the name of a user or an account? Letters of any script (UTF-8), digits, '.', '_' and '-'. */
static inline bool identity_is_name_byte(char c)
{
    return (c >= '0' && c <= '9') || (str_lower(c) >= 'a' && str_lower(c) <= 'z') || c == '.' || c == '_' || c == '-' || (unsigned char)c >= 0x80;
}

/* text.p[sign] is ':' or '='. Length of the identity that the label before it announces, 0: none; *ret_from: where it begins; *ret_what: in words; *ret_with: what
 * its letters and digits become. */
size_t identity_find_labelled(struct str text, size_t sign, size_t *ret_from, const char **ret_what, char *ret_with);
/* Does the name or the context call the four-part number at `at`, of `n` bytes, a version, release or driver? */
bool identity_is_version(struct str text, size_t at, size_t n);
/* The account or project that a scheduler's command gets by its option: "sbatch -A X", "#BSUB -P X", "srun --account X". before: the command up to the option;
 * word: the option with what is joined to it; value: the next word. *ret: the part of word or value that is the name. */
bool identity_find_account(struct str before, struct str word, struct str value, struct str *ret);
#endif
