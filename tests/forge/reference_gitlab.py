#!/usr/bin/env python3
"""The same three things that share does, by python-gitlab: reference_gitlab.py ADDRESS TOKEN BRANCH [SOURCE PROJECT]. Prints the number of the request."""
import sys
import gitlab

address, token, branch = sys.argv[1:4]
g = gitlab.Gitlab(address, private_token=token, retry_transient_errors=False)
target = g.projects.get("o/results", lazy=True)
source = g.projects.get(sys.argv[4], lazy=True) if len(sys.argv) > 4 else target
target.mergerequests.list(state="all", order_by="created_at", sort="desc", per_page=100, source_branch=branch, target_branch="main", get_all=False)
members = {"title": "by the reference client", "description": "text", "source_branch": branch, "target_branch": "main"}
if source is not target:
    members["target_project_id"] = g.projects.get("o/results").id
made = source.mergerequests.create(members)
made = target.mergerequests.get(made.iid, lazy=True)
made.title, made.description = "another title", "another text"
made.save()
print(made.iid)
