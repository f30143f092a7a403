/* file_append.c: append to a file of one writer, all bytes or none. A full disk accepts a part of a
 * line, which the next line would continue. */
#include "base/file_append.h"

#include "base/fs.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

int file_append(int fd, const void *p, size_t n)
{
    struct stat st;
    if (fstat(fd, &st))
        return -1;
    if (fs_write_all(fd, p, n) == 0)
        return 0;
    int why = errno;
    (void)!ftruncate(fd, st.st_size);
    errno = why;
    return -1;
}
