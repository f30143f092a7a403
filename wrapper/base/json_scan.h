/* json_scan.h: read members of a large JSON text front to back, without a tree: ten times as fast as json.h where few are needed.
 *
 * The text is foreign. It is checked only as far as it is read, with a bound on depth by construction: nothing recurses. After the first damage all functions
 * return false. */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H
#include "base/str.h"

#include <stdbool.h>

struct json_scan {
    const char *p, *end;
    bool damaged;
};

struct json_scan json_scan_of(struct str text);
/* Enters the object that comes next. */
bool json_scan_enter(struct json_scan *s);
/* Reads the next member's key, as it is written, between its quotes; the value comes next. False:
 * the object has ended, and has been left. */
bool json_scan_member(struct json_scan *s, struct str *ret_key);
/* Reads the text that comes next, as it is written, between its quotes: escapes stay. False also
 * where another value comes, which stays next. */
bool json_scan_text(struct json_scan *s, struct str *ret);
/* Reads the number that comes next. False also where another value comes, which stays next. */
bool json_scan_number(struct json_scan *s, double *ret);
/* Skips the value that comes next; *ret is the value as it is written. False: there is none, or the
 * text is damaged. */
bool json_scan_value(struct json_scan *s, struct str *ret);
#endif
