"""At which address a content root is served: as its configuration says, else as its redirections imply."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from adapters.estates.files import EstateFiles, FileUnreadable
from adapters.estates.site.configuration import ContentRoot, base_address
from adapters.estates.site.index import address_key
from adapters.estates.site.redirection_files import RedirectionsInvalid, is_redirection_file, redirections_of

_FEWEST = 3
_LOOKED_AT = 5_000


def with_base(root: ContentRoot, files: EstateFiles, docset: str) -> ContentRoot:
    """The root with its address; one that nothing tells is the docset's name."""
    if root.base is not None:
        return root
    base = base_address(root.defaults.text("breadcrumb_path")) or _voted(root, files)
    return replace(root, base=base if base is not None else f"/{docset}", is_base_assumed=base is None)


def _voted(root: ContentRoot, files: EstateFiles) -> str | None:
    """Redirections lead to pages by their addresses: what stands before a page's own path there is the base."""
    tails: set[str] = set()
    for path in files.paths:
        match = root.section_of(path)
        if match is not None:
            tails.add(address_key(root.address_of(*match)))
    votes: Counter[str] = Counter()
    for address in _targets(files):
        parts = address_key(address).strip("/").split("/")
        for cut in range(len(parts)):
            if "/" + "/".join(parts[cut:]) in tails:
                votes["/" + "/".join(parts[:cut])] += 1
                break
    best = min(votes.items(), key=lambda vote: (-vote[1], vote[0]), default=None)
    return best[0] if best is not None and best[1] >= _FEWEST else None


def _targets(files: EstateFiles) -> Iterator[str]:
    for path in files.paths:
        if not is_redirection_file(path):
            continue
        try:
            redirections = redirections_of(path, files)
        except (FileUnreadable, RedirectionsInvalid):
            # Reported where the redirections are read.
            continue
        for redirection in redirections[:_LOOKED_AT]:
            if redirection.target is not None and redirection.target.startswith("/"):
                yield redirection.target
