/* own.c: notes of what is in a scheduler's queue, and the cleaning up of what a killed run has left there. */
#include "benchmarks/native/taskrate/own.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { NOTE_MAX = 8192 };

static int own_state_folder(char *to, size_t size, struct err *err)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n;
    if (state && state[0] == '/')
        n = snprintf(to, size, "%s/benchwrap/taskrate", state);
    else if (home && home[0] == '/')
        n = snprintf(to, size, "%s/.local/state/benchwrap/taskrate", home);
    else
        return err_set(err, ERR_INPUT, "neither XDG_STATE_HOME nor HOME is set");
    return n > 0 && (size_t)n < size ? 0 : err_set(err, ERR_INPUT, "the path of the state folder is too long");
}

int own_begin(struct own_run *o, const struct bench *b, const char *leftover, struct err *err)
{
    char dir[3900], aside[4096 + 8];
    struct utsname host = {0};
    CLEANUP_BUF struct buf text = {0};
    o->fd = -1;
    if (own_state_folder(dir, sizeof dir, err) < 0 || fs_mkdirs(AT_FDCWD, dir, 0700, err) < 0)
        return -1;
    snprintf(o->path, sizeof o->path, "%s/%s", dir, b->tag);
    buf_init(&text, NOTE_MAX);
    uname(&host);
    buf_printf(&text, "provider %s\nhost %s\n", b->provider->name, host.nodename);
    if (leftover)
        buf_printf(&text, "file %s\n", leftover);
    buf_puts(&text, "identity ");
    if (b->provider->identity)
        b->provider->identity(&text);
    buf_putc(&text, '\n');
    snprintf(aside, sizeof aside, "%s.new", o->path); /* own_clean_up ignores this name: the note appears locked and complete */
    o->fd = open(aside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool written = o->fd >= 0 && fs_lock(o->fd) == 0 && fs_write_all(o->fd, text.p, text.n) == 0;
    if (written && (fsync(o->fd), rename(aside, o->path)) == 0)
        return 0;
    err_sys(err, "%s", o->path);
    unlink(aside);
    own_end(o, true);
    return -1;
}

void own_end(struct own_run *o, bool cleaned)
{
    if (o->fd < 0)
        return;
    if (cleaned)
        unlink(o->path);
    close(o->fd);
    o->fd = -1;
}

/* "taskrate-" and 16 hexadecimal digits: nothing else may become an argument of scancel. */
static bool is_tag(const char *name)
{
    return strncmp(name, "taskrate-", 9) == 0 && str_hex(str_of(name + 9), 16);
}

static struct str own_field_of(struct str text, const char *name)
{
    while (text.p) {
        struct str line = str_cut(&text, '\n');
        if (str_starts(line, name))
            return str_sub(line, strlen(name), line.n);
    }
    return (struct str){"", 0};
}

/* The file of one dead run. 1: swept. */
static int own_clean_up_one(struct bench *b, const char *tag, struct str text)
{
    char name[64], path[4096];
    struct utsname host = {0};
    struct err err = {0};
    CLEANUP_BUF struct buf identity = {0};
    snprintf(name, sizeof name, STR_FMT, STR_ARG(own_field_of(text, "provider ")));
    const struct task_provider *p = provider_find(name);
    uname(&host);
    if (!p || !str_is(own_field_of(text, "host "), host.nodename)) {
        bench_note(b, "a run that was started on another machine may have left jobs called %s; taskrate there will end them", tag);
        return 0;
    }
    struct str file = own_field_of(text, "file ");
    snprintf(path, sizeof path, STR_FMT, STR_ARG(file));
    if (file.n && str_has(file, tag))
        unlink(path);
    buf_init(&identity, NOTE_MAX);
    if (p->identity)
        p->identity(&identity);
    if (!str_eq(own_field_of(text, "identity "), buf_text(&identity)))
        return 0; /* of another cluster */
    if (p->cancel && p->cancel(tag, &err) < 0) {
        bench_note(b, "a run that was killed may have left jobs called %s, and they could not be ended: %s", tag, err.text);
        return 0;
    }
    bench_note(b, "a run that was killed had left %s; %s", tag,
               p->cancel ? "what it had in the queue was cancelled" : "its file of reports was removed");
    return 1;
}

unsigned own_clean_up(struct bench *b)
{
    char dir[3900], path[4096];
    struct fs_names list = {0};
    unsigned swept = 0;
    if (own_state_folder(dir, sizeof dir, NULL) < 0 || fs_list(AT_FDCWD, dir, &list, NULL) < 0)
        return 0;
    for (size_t i = 0; i < list.count; i++) {
        CLEANUP_BUF struct buf text;
        buf_init(&text, NOTE_MAX);
        snprintf(path, sizeof path, "%s/%s", dir, list.names[i]);
        CLEANUP_FD int fd = is_tag(list.names[i]) ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
        if (fd < 0 || fs_lock(fd) < 0 || fs_read(AT_FDCWD, path, NOTE_MAX, FS_CUT, &text, NULL) < 0)
            continue;
        if (own_clean_up_one(b, list.names[i], buf_text(&text)) == 1) {
            unlink(path);
            swept++;
        }
    }
    fs_names_deinit(&list);
    return swept;
}
