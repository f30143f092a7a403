#!/usr/bin/env python3
"""gitlab_requests.py LOG: are the requests in the fake forge's log what GitLab's own OpenAPI description (19.5: doc/api/openapi/openapi_v3.yaml) allows?

The tables have the names, types and words of that description, of the operations that share uses. Prints each request that differs, else "good N"."""
import json, re, sys
from urllib.parse import parse_qsl, unquote, urlsplit

QUERY = {"state": {"opened", "closed", "locked", "merged", "all"}, "sort": {"asc", "desc"}, "source_branch": str, "target_branch": str, "page": int, "per_page": int,
         "order_by": {"created_at", "label_priority", "milestone_due", "popularity", "priority", "title", "updated_at", "merged_at"}, "source_project_id": int}
CREATE = {"title": str, "source_branch": str, "target_branch": str, "target_project_id": int, "description": str, "remove_source_branch": bool, "allow_collaboration": bool}
UPDATE = {"title": str, "description": str, "target_branch": str, "state_event": {"close", "reopen"}, "remove_source_branch": bool}
OPERATIONS = [("GET", r"/api/v4/projects/([^/?]+)", {}, {}, ()), ("GET", r"/api/v4/projects/([^/?]+)/merge_requests", QUERY, {}, ()),
              ("POST", r"/api/v4/projects/([^/?]+)/merge_requests", {}, CREATE, ("title", "source_branch", "target_branch")),
              ("PUT", r"/api/v4/projects/([^/?]+)/merge_requests/(\d+)", {}, UPDATE, ())]


def fits(value, kind):
    return value in kind if isinstance(kind, set) else str(value).isdigit() if kind is int else isinstance(value, kind)


def wrong(method, path, body):
    url = urlsplit(path)
    for verb, pattern, query, members, needed in OPERATIONS:
        m = re.fullmatch(pattern, url.path)
        if not m or verb != method:
            continue
        if not re.fullmatch(r"\d+|[^/]+(/[^/]+)+", unquote(m[1])):
            return "the project is neither a number nor a path"
        for k, v in parse_qsl(url.query, keep_blank_values=True):
            if k not in query or not fits(v, query[k]):
                return f"?{k}={v}"
        for k, v in body.items():
            if k not in members or not fits(v, members[k]) or (members[k] is int and not isinstance(v, int)):
                return f"member {k} = {v!r}"
        missing = [k for k in needed if not body.get(k)]
        return f"without {missing}" if missing else None
    return "no such operation"


count, bad = 0, 0
for line in open(sys.argv[1], encoding="utf-8"):
    verb, path, text = (line.rstrip("\n").split(" ", 2) + [""])[:3]
    why = wrong(verb, path, json.loads(text or "{}"))
    count += 1
    if why:
        bad += 1
        print(f"{verb} {path}: {why}")
print("bad" if bad else "good", count)
