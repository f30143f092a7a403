/* file_append.h: append to a file of one writer, all bytes or none. */
#ifndef BASE_FILE_APPEND_H
#define BASE_FILE_APPEND_H
#include <stddef.h>

/* Writes all bytes behind the end of a file that was opened with O_APPEND and has no other
 * writer, or none of them: after a failure it is cut to the size that it had. 0 or -1 with
 * errno. */
int file_append(int fd, const void *p, size_t n);
#endif
