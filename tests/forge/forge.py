#!/usr/bin/env python3
"""A small forge of the tests' own: pull requests over bare repositories, as GitHub, GitLab and Gitea answer for them.

    forge.py --repo OWNER/NAME=PATH [--repo …] [--port-file FILE] [--token SECRET=write|read|none]

GitHub's interface stands below /repos and /api/v3, GitLab's below /api/v4, Gitea's below /api/v1; all show the same requests. What they say in trouble
differs as the real ones do (a duplicate is 422, 409, 409; a branch that is not there 422, 400, 404). Behind /_/ the tests drive it: merge/N/METHOD,
close/N, reopen/N, script (lines "METHOD STATUS [HEADER: VALUE; …] [TEXT]": the next
requests of that method are answered so; "POST+": after it was done), log, pulls."""
import argparse, base64, json, re, subprocess, tempfile, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

LOCK = threading.Lock()
PULLS, LOG, SCRIPT = [], [], []
REPOS, TOKENS, IDS = {}, {}, {}
WHO = ["-c", "user.name=Merge Button", "-c", "user.email=merge@example.org", "-c", "commit.gpgSign=false"]


def git(repo, *words, check=True, text=None):
    done = subprocess.run(["git", "-C", REPOS[repo], *WHO, *words], capture_output=True, text=True, input=text)
    if check and done.returncode:
        raise RuntimeError(f"git {' '.join(words)}: {done.stderr}")
    return done.stdout.strip()


def tip(repo, branch):
    return git(repo, "rev-parse", "-q", "--verify", f"refs/heads/{branch}", check=False)


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Refused(Exception):
    def __init__(self, status, body, headers=None):
        super().__init__(str(body))
        self.status, self.body, self.headers = status, body, headers or {}


# ---- what all have in common: requests and merging ----

def same(pull, target, source, head, base):
    return (pull["target"], pull["source"], pull["head"], pull["base"]) == (target, source, head, base)


def open_pull(target, source, head, base, title, text):
    """The new request, or one of the words exists, head, base, empty."""
    if len(title) > 255:
        raise Refused(422, {"message": "Validation Failed", "errors": [{"message": "title is too long (maximum is 256 characters)"}]})
    if source not in REPOS or not tip(source, head):
        return "head"
    if not tip(target, base):
        return "base"
    if any(same(p, target, source, head, base) and p["state"] == "open" for p in PULLS):
        return "exists"
    if git(target, "merge-base", "--is-ancestor", tip(source, head), tip(target, base), check=False) == "" and \
            source == target and not git(target, "rev-list", f"{tip(target, base)}..{tip(source, head)}"):
        return "empty"
    PULLS.append({"number": len(PULLS) + 1, "target": target, "source": source, "head": head, "base": base, "title": title, "text": text,
                  "state": "open", "merged": False, "sha": "", "created": now()})
    return current(PULLS[-1])


def current(pull):
    """The request with its branch's tip, which the target shows as GitHub and Gitea (pull/N/head) and GitLab (merge-requests/N/head) do."""
    sha = pull["state"] == "open" and tip(pull["source"], pull["head"])
    if sha and sha != pull["sha"]:
        pull["sha"] = sha
        spec = f"+refs/heads/{pull['head']}:refs/%s/{pull['number']}/head"
        git(pull["target"], "fetch", "-q", REPOS[pull["source"]], spec % "pull", spec % "merge-requests")
    return pull


def merge(number, method, keep):
    pull = current(PULLS[number - 1])
    target, base, sha = pull["target"], pull["base"], pull["sha"]
    if pull["state"] != "open":
        return 409, "not open"
    if pull["source"] != target:
        git(target, "fetch", "-q", REPOS[pull["source"]], sha)
    old = tip(target, base)
    with tempfile.TemporaryDirectory() as place:
        git(target, "worktree", "add", "-q", "--detach", place + "/w", old)

        def here(*words):
            done = subprocess.run(["git", "-C", place + "/w", *WHO, *words], capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"git {' '.join(words)}: {done.stdout} {done.stderr}")
            return done.stdout.strip()
        try:
            if method == "merge":
                here("merge", "-q", "--no-ff", "-m", f"Merge pull request #{number} from {pull['head']}", sha)
            elif method == "squash":
                here("merge", "-q", "--squash", sha)
                here("commit", "-q", "--allow-empty", "-m", f"{pull['title']} (#{number})")
            elif method == "rebase":
                here("checkout", "-q", "--detach", sha)
                here("rebase", "-q", old)
            new = here("rev-parse", "HEAD")
        except RuntimeError as e:
            return 409, str(e)
        finally:
            git(target, "worktree", "remove", "--force", place + "/w", check=False)
    git(target, "update-ref", f"refs/heads/{base}", new, old)
    pull.update(state="closed", merged=True, merged_at=now())
    if not keep:
        git(pull["source"], "update-ref", "-d", f"refs/heads/{pull['head']}")
    return 200, new


# ---- as each of them shows a request ----

def as_github(p, me):
    owner = p["source"].split("/")[0]
    gone = not tip(p["source"], p["head"])
    return {"number": p["number"], "id": 1000 + p["number"], "url": f"{me}/api/v3/repos/{p['target']}/pulls/{p['number']}", "state": p["state"], "title": p["title"],
            "body": p["text"], "html_url": f"{me}/{p['target']}/pull/{p['number']}", "merged_at": p.get("merged_at"), "created_at": p["created"],
            "head": {"ref": p["head"], "label": f"{owner}:{p['head']}", "sha": p["sha"], "user": {"login": owner}, "repo": None if gone and p["merged"] else {"full_name": p["source"]}},
            "base": {"ref": p["base"], "label": f"{p['target'].split('/')[0]}:{p['base']}", "repo": {"full_name": p["target"]}}}


def as_gitlab(p, me):
    return {"iid": p["number"], "id": 5000 + p["number"], "project_id": IDS[p["target"]], "source_project_id": IDS[p["source"]], "target_project_id": IDS[p["target"]],
            "source_branch": p["head"], "target_branch": p["base"], "title": p["title"], "description": p["text"], "sha": p["sha"],
            "state": "merged" if p["merged"] else "opened" if p["state"] == "open" else "closed", "web_url": f"{me}/{p['target']}/-/merge_requests/{p['number']}"}


def as_gitea(p, me):
    gone = not tip(p["source"], p["head"])
    return {"number": p["number"], "id": 70 + p["number"], "title": p["title"], "body": p["text"], "state": p["state"], "merged": p["merged"],
            "html_url": f"{me}/{p['target']}/pulls/{p['number']}", "merged_at": p.get("merged_at"),
            "head": {"label": p["head"], "ref": f"refs/pull/{p['number']}/head" if gone else p["head"], "sha": p["sha"], "repo": {"full_name": p["source"]}},
            "base": {"label": p["base"], "ref": p["base"], "repo": {"full_name": p["target"]}}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def reply(self, status, body, headers=None):
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if isinstance(body, str) else "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        for k, v in (headers or {}).items():
            self.send_header(k, v)
        self.end_headers()
        self.wfile.write(data)

    # ---- who asks ----

    def rights(self, kind):
        """write, read, none (a token without rights), or None: no token."""
        text = self.headers.get("Authorization", "")
        scheme, _, secret = text.partition(" ")
        if kind == "gitlab" and self.headers.get("PRIVATE-TOKEN"):
            secret = self.headers["PRIVATE-TOKEN"]
        elif scheme.lower() == "basic":
            if kind == "github" or kind == "gitea":
                secret = base64.b64decode(secret).decode().partition(":")[2]
            else:
                secret = ""
        elif scheme.lower() not in ("bearer", "token"):
            return None if not text else self.bad(kind)
        return TOKENS.get(secret) or self.bad(kind)

    @staticmethod
    def bad(kind):
        raise Refused(401, {"github": {"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest", "status": "401"},
                            "gitlab": {"message": "401 Unauthorized"},
                            "gitea": {"message": "user does not exist [uid: 0, name: ]", "url": "http://gitea/api/swagger"}}[kind])

    def need(self, kind, right):
        have = self.rights(kind)
        if right == "read" and have != "none":
            return
        if have is None:
            raise Refused(401, {"github": {"message": "Requires authentication"}, "gitlab": {"message": "401 Unauthorized"}, "gitea": {"message": "token is required"}}[kind])
        if have == "none" or (right == "write" and have != "write"):
            raise Refused(403, {"github": {"message": "Resource not accessible by personal access token", "status": "403"},
                                "gitlab": {"error": "insufficient_scope", "error_description": "The request requires higher privileges than provided by the access token.", "scope": "api"},
                                "gitea": {"message": "token does not have at least one of required scope(s), required=[write:repository], token scope=read:repository"}}[kind])

    # ---- the three ----

    def github(self, method, path, query, body):
        m = re.fullmatch(r"/repos/([^/]+/[^/]+)/pulls(?:/(\d+))?", path)
        if not m or m[1] not in REPOS:
            raise Refused(404, {"message": "Not Found", "status": "404"})
        repo = m[1]
        if method == "GET":
            self.need("github", "read")
            if m[2]:
                return 200, as_github(current(PULLS[int(m[2]) - 1]), self.me)
            owner, colon, branch = query.get("head", "").partition(":")
            found = [current(p) for p in PULLS if p["target"] == repo and query.get("state", "open") in ("all", p["state"]) and
                     (not colon or (p["head"] == branch and p["source"].split("/")[0] == owner)) and query.get("base", p["base"]) == p["base"]]
            return 200, [as_github(p, self.me) for p in found[::-1]][:int(query.get("per_page", 30))]
        self.need("github", "write")
        if method == "PATCH":
            return 200, as_github(self.edit(int(m[2]), body, "body", {"title", "body", "state", "base", "maintainer_can_modify"}), self.me)
        for name in ("head", "base"):
            if not body.get(name):
                raise Refused(422, {"message": f'Invalid request.\n\n"{name}" wasn\'t supplied.'})
        owner, colon, branch = body["head"].rpartition(":")
        source = f"{owner}/{repo.split('/')[1]}" if colon else repo
        made = open_pull(repo, source, branch, body["base"], body.get("title", ""), body.get("body", ""))
        if isinstance(made, str):
            words = {"exists": {"resource": "PullRequest", "code": "custom", "message": f"A pull request already exists for {source.split('/')[0]}:{branch}."},
                     "empty": {"resource": "PullRequest", "code": "custom", "message": f"No commits between {body['base']} and {branch}"},
                     "head": {"resource": "PullRequest", "field": "head", "code": "invalid"}, "base": {"resource": "PullRequest", "field": "base", "code": "invalid"}}
            raise Refused(422, {"message": "Validation Failed", "errors": [words[made]], "documentation_url": "https://docs.github.com/rest/pulls/pulls#create-a-pull-request"})
        return 201, as_github(made, self.me)

    def gitlab(self, method, path, query, body):
        m = re.fullmatch(r"/projects/([^/]+)(/merge_requests(?:/(\d+))?)?", path)
        repo = unquote(m[1]) if m else ""
        repo = next((r for r, n in IDS.items() if str(n) == repo), repo)
        if repo not in REPOS:
            raise Refused(404, {"message": "404 Project Not Found"})
        if method == "GET" and not m[2]:
            self.need("gitlab", "read")
            return 200, {"id": IDS[repo], "path_with_namespace": repo, "default_branch": "main"}
        if method == "GET":
            self.need("gitlab", "read")
            found = [current(p) for p in PULLS if p["target"] == repo and query.get("source_branch", p["head"]) == p["head"] and query.get("target_branch", p["base"]) == p["base"]]
            return 200, [as_gitlab(p, self.me) for p in found[::-1]][:int(query.get("per_page", 20))]
        self.need("gitlab", "write")
        if method == "PUT":
            return 200, as_gitlab(self.edit(int(m[3]), body, "description", {"title", "description", "state_event", "target_branch"}), self.me)
        for name in ("source_branch", "target_branch", "title"):
            if not body.get(name):
                raise Refused(400, {"error": f"{name} is missing"})
        target = next((r for r, n in IDS.items() if n == body.get("target_project_id", IDS[repo])), "")
        made = open_pull(target, repo, body["source_branch"], body["target_branch"], body["title"], body.get("description", ""))
        if made == "exists":
            raise Refused(409, {"message": [f"Another open merge request already exists for this source branch: !{len(PULLS)}"]})
        if isinstance(made, str) and made != "empty":
            raise Refused(400, {"message": {"base": [f"{'Source' if made == 'head' else 'Target'} branch does not exist"]}})
        if made == "empty":
            raise Refused(422, {"message": {"base": ["There is no difference between the branches"]}})
        return 201, as_gitlab(made, self.me)

    def gitea(self, method, path, query, body):
        m = re.fullmatch(r"/repos/([^/]+/[^/]+)/pulls(?:/(\d+))?", path)
        if not m or m[1] not in REPOS:
            raise Refused(404, {"message": "GetRepositoryByName", "errors": None, "url": "http://gitea/api/swagger"})
        repo = m[1]
        if method == "GET":
            self.need("gitea", "read")
            found = [current(p) for p in PULLS if p["target"] == repo and query.get("state", "open") in ("all", p["state"])][::-1]
            limit, page = min(int(query.get("limit", 30)), 50), int(query.get("page", 1))
            return 200, [as_gitea(p, self.me) for p in found[(page - 1) * limit:page * limit]]
        self.need("gitea", "write")
        if method == "PATCH":
            return 201, as_gitea(self.edit(int(m[2]), body, "body", {"title", "body", "state", "base"}), self.me)
        owner, colon, branch = body.get("head", "").rpartition(":")
        source = f"{owner}/{repo.split('/')[1]}" if colon else repo
        made = open_pull(repo, source, branch, body.get("base", ""), body.get("title", ""), body.get("body", ""))
        if made == "exists":
            raise Refused(409, {"message": f"pull request already exists for these targets [id: {len(PULLS)}, issue_id: 9, head_repo_id: 1, base_repo_id: 1, head_branch: {branch}, base_branch: main]",
                                "url": "http://gitea/api/swagger"})
        if made in ("head", "base"):
            raise Refused(404, {"message": "The target couldn't be found.", "errors": [f"could not find '{branch}' to be a commit, branch or tag in the head repository {source}"], "url": "http://gitea/api/swagger"})
        if made == "empty":
            raise Refused(422, {"message": "there are no changes between the head and the base", "url": "http://gitea/api/swagger"})
        return 201, as_gitea(made, self.me)

    @staticmethod
    def edit(number, body, text, known):
        if set(body) - known:
            raise Refused(422, {"message": f"unknown members {sorted(set(body) - known)}"})
        pull = PULLS[number - 1]
        pull["title"] = body.get("title", pull["title"])
        pull["text"] = body.get(text, pull["text"])
        return pull

    # ---- driven by the tests ----

    def control(self, path, body):
        words = path.split("/")[2:]
        if words[0] == "merge":
            return merge(int(words[1]), words[2], words[-1] == "keep")
        if words[0] in ("close", "reopen"):
            PULLS[int(words[1]) - 1]["state"] = {"close": "closed", "reopen": "open"}[words[0]]
            return 200, "done"
        if words[0] == "script":
            SCRIPT[:] = [line.split(None, 2) for line in body.decode().splitlines() if line.strip()]
            LOG.clear()
            return 200, "done"
        if words[0] == "log":
            return 200, "".join(line + "\n" for line in LOG)
        return 200, [dict(current(p)) for p in PULLS]

    @staticmethod
    def trouble(row):
        SCRIPT.remove(row)
        rest = row[2] if len(row) > 2 else ""
        raise Refused(int(row[1]), {"message": re.sub(r"\S+?: ?\S+ ?;", "", rest).strip()}, dict(re.findall(r"(\S+?): ?(\S+) ?;", rest)))

    def answer(self):
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlsplit(self.path)
        self.me = f"http://127.0.0.1:{self.server.server_address[1]}"
        with LOCK:
            try:
                if url.path.startswith("/_/"):
                    return self.reply(*self.control(url.path, data))
                LOG.append(f"{self.command} {self.path} {data.decode()}".rstrip())
                query = {k: v[0] for k, v in parse_qs(url.query).items()}
                body = json.loads(data) if data else {}
                scripted = next((row for row in SCRIPT if row[0] in (self.command, "*", self.command + "+")), None)
                if scripted and not scripted[0].endswith("+"):
                    self.trouble(scripted)
                for prefix, kind in (("/api/v4", self.gitlab), ("/api/v1", self.gitea), ("/api/v3", self.github), ("", self.github)):
                    if url.path.startswith(prefix):
                        status, answer = kind(self.command, url.path[len(prefix):], query, body)
                        if scripted:
                            self.trouble(scripted)
                        return self.reply(status, answer)
            except Refused as r:
                self.reply(r.status, r.body, r.headers)
            except Exception as e:  # a test shall see what went wrong here
                self.reply(500, {"message": f"{type(e).__name__}: {e}"})

    do_GET = do_POST = do_PATCH = do_PUT = answer


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--repo", action="append", default=[])
    p.add_argument("--token", action="append", default=[])
    p.add_argument("--port-file")
    o = p.parse_args()
    for i, r in enumerate(o.repo):
        name, _, path = r.partition("=")
        REPOS[name], IDS[name] = path, 41 + i
    for t in o.token:
        secret, _, right = t.partition("=")
        TOKENS[secret] = right
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if o.port_file:
        with open(o.port_file + ".new", "w") as f:
            f.write(str(server.server_address[1]))
        subprocess.run(["mv", o.port_file + ".new", o.port_file], check=True)
    print("port", server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
