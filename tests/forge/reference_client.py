#!/usr/bin/env python3
"""The same three things that share does, by PyGithub: reference_client.py ADDRESS TOKEN BRANCH. Prints the number of the request."""
import sys
from github import Auth, Github

address, token, branch = sys.argv[1:]
repo = Github(base_url=address, auth=Auth.Token(token), retry=None).get_repo("o/results", lazy=True)
assert not list(repo.get_pulls(state="all", sort="created", direction="desc", head=f"o:{branch}", base="main"))
pull = repo.create_pull(base="main", head=branch, title="by the reference client", body="text", maintainer_can_modify=False)
pull.edit(title="another title", body="another text")
print(pull.number)
