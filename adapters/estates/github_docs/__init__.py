"""GitHub-docs style: versions, redirect_from and children in the front matter, Liquid in the text, learning tracks."""

from adapters.estates.github_docs.reader import GithubDocsReader

__all__ = ["GithubDocsReader"]
