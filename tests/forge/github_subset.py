#!/usr/bin/env python3
"""Of GitHub's own OpenAPI description what is about pull requests: github_subset.py api.github.com.deref.json >pulls.json (the whole takes a mock server a minute to read)."""
import json, sys

with open(sys.argv[1]) as f:
    whole = json.load(f)
whole["paths"] = {p: v for p, v in whole["paths"].items() if p in ("/repos/{owner}/{repo}/pulls", "/repos/{owner}/{repo}/pulls/{pull_number}")}
whole["components"] = {}
whole.pop("x-webhooks", None)
whole.pop("webhooks", None)
json.dump(whole, sys.stdout)
