"""One name for each programming language, whatever a fence or a filter calls it."""

_ALIASES = {
    "azurecli": ("azure-cli", "azcli"),
    "bash": ("sh", "shell", "shell-session", "zsh"),
    "cpp": ("c++", "cc", "cxx"),
    "csharp": ("c#", "cs"),
    "fsharp": ("f#", "fs"),
    "go": ("golang",),
    "javascript": ("js", "node", "nodejs", "mjs"),
    "json": ("jsonc", "json5"),
    "kotlin": ("kt",),
    "markdown": ("md",),
    "powershell": ("ps", "ps1", "pwsh", "azurepowershell"),
    "python": ("py", "python3"),
    "ruby": ("rb",),
    "rust": ("rs",),
    "typescript": ("ts",),
    "vb": ("vbnet", "visualbasic", "vb.net"),
    "yaml": ("yml",),
}
_CANONICAL = {alias: name for name, aliases in _ALIASES.items() for alias in aliases}


def canonical_language(name: str) -> str:
    """`C#`, `cs` and `csharp-interactive` → `csharp`; a name that is not known stays, in lower case."""
    lowered = name.strip().lower().removesuffix("-interactive")
    return _CANONICAL.get(lowered, lowered)
