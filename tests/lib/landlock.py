"""landlock.py MODE PATH COMMAND…: runs the command in a sandbox of Landlock, without mounts. MODE: "file": the file PATH cannot be
read; "tree": nothing below the folder PATH can be read, nor PATH, "/" or a folder between them be listed. Status 77: no Landlock."""
import ctypes
import os
import struct
import sys

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
READ_FILE, READ_DIR = 1 << 2, 1 << 3
libc = ctypes.CDLL(None, use_errno=True)
mode, path = sys.argv[1], os.path.realpath(sys.argv[2])
handled = READ_FILE if mode == "file" else READ_FILE | READ_DIR
attribute = struct.pack("Q", handled)
rules = libc.syscall(CREATE_RULESET, attribute, len(attribute), 0)
if rules < 0:
    sys.exit(77)
folder = "/"
for part in path.strip("/").split("/"):
    for name in os.listdir(folder):
        sibling = os.path.join(folder, name)
        if name == part or os.path.islink(sibling):
            continue
        try:
            fd = os.open(sibling, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        access = handled if os.path.isdir(sibling) else READ_FILE
        libc.syscall(ADD_RULE, rules, 1, struct.pack("=Qi", access, fd), 0)
        os.close(fd)
    folder = os.path.join(folder, part)
libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
if libc.syscall(RESTRICT_SELF, rules, 0) != 0:
    sys.exit(77)
os.execvp(sys.argv[3], sys.argv[3:])
