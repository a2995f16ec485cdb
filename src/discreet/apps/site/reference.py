"""The reference, from the code itself: docstrings, the commands' own help, and the description of REST.

Tested by: tests/site/test_site.py
"""

import importlib
import inspect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple

import discreet

PACKAGES = ("losses", "accounting", "auditing", "local", "pictures")


class Chapter(NamedTuple):
    """A page of the API: its name in addresses, its title, and what it says first."""

    name: str
    title: str
    lead: str


CHAPTERS = (
    Chapter("curator", "Tables and questions", "Open data, ask, explain, try out, watch; here or over HTTP."),
    Chapter("mechanisms", "Mechanisms", "Noise and choices, each drawn from exactly its stated law."),
    Chapter("statistics", "Statistics of arrays", "Counts, sums, means and quantiles, ready to use."),
    Chapter(
        "losses", "Losses and notions", "What a release costs: add, multiply, and ask for certified numbers."
    ),
    Chapter("accounting", "Accounts and training", "Budgets for charges that are chosen adaptively."),
    Chapter("auditing", "Audits", "Attack a claim of privacy."),
    Chapter("local", "Local privacy", "Reports of people who trust nobody, and what a collector learns."),
    Chapter("pictures", "Pictures", "Laws, losses, answers and budgets, drawn."),
    Chapter("errors", "Errors and warnings", "What is refused, with its code, HTTP status and exit code."),
)


def api_pages() -> Iterator[tuple[str, str]]:
    """Return each chapter of the API as the name of a page and its Markdown."""
    chapters: dict[str, list[str]] = {chapter.name: [] for chapter in CHAPTERS}
    for name in discreet.__all__:
        value = getattr(discreet, name)
        if not isinstance(value, ModuleType):
            chapters[_chapter_of(value)].append(_entry(f"dp.{name}", value))
    for package in PACKAGES:
        module = importlib.import_module(f"discreet.{package}")
        named = {name: getattr(module, name) for name in module.__all__}
        chapters[package] += [
            _entry(f"dp.{package}.{name}", value)
            for name, value in sorted(named.items())
            if name not in discreet.__all__
        ]
    for chapter in CHAPTERS:
        yield (
            f"api/{chapter.name}",
            "\n\n".join([f"# {chapter.title}", chapter.lead, *chapters[chapter.name]]),
        )


def _chapter_of(value: Any) -> str:
    home = getattr(value, "__module__", None) or type(value).__module__
    if isinstance(value, type) and issubclass(value, BaseException):
        return "errors"
    if home.endswith("mechanisms.statistics") or home.startswith("discreet.kernel.numerics"):
        return "statistics"
    parts = {
        "mechanisms": "mechanisms",
        "losses": "losses",
        "accounting": "accounting",
        "auditing": "auditing",
    }
    return next((chapter for part, chapter in parts.items() if f".{part}" in home), "curator")


def _entry(name: str, value: Any) -> str:
    """Return what is said of one public name: its signature, its docstring, its own public members."""
    lines = [f"## {name}"]
    if inspect.isclass(value) or inspect.isroutine(value):
        lines.append(_signature(name, value))
        lines.append(document(inspect.getdoc(value) or ""))
    elif not isinstance(value, str | int | tuple | dict | frozenset):
        lines.append(document(inspect.getdoc(value) or ""))
    else:
        lines.append(f"`{str(value)[:200]}`")
    if inspect.isclass(value):
        lines += _numbers_of_error(value)
        lines += [_member(name.rpartition(".")[2], member, found) for member, found in _members(value)]
    return "\n\n".join(line for line in lines if line)


def _numbers_of_error(kind: type) -> list[str]:
    if not issubclass(kind, discreet.DiscreetError) or kind is discreet.DiscreetError:
        return []
    code, status, leave = (getattr(kind, name) for name in ("code", "status", "exit_code"))
    return [f"Code `{code}`, HTTP status {status}, exit code {leave}."]


_MEMBERS = (property, cached_property, classmethod, staticmethod)


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """Return the public methods and properties, of the class and of our own classes that it extends."""
    for name in dict.fromkeys(name for each in kind.__mro__ for name in vars(each)):
        owner = next(each for each in kind.__mro__ if name in vars(each))
        found = inspect.getattr_static(kind, name)
        shown = isinstance(found, _MEMBERS) or inspect.isfunction(found)
        if shown and not name.startswith("_") and owner.__module__.startswith("discreet"):
            yield name, found


def _member(owner: str, name: str, found: Any) -> str:
    if isinstance(found, property | cached_property):
        said = inspect.getdoc(found.fget if isinstance(found, property) else found.func) or ""
        return f"### {owner}.{name}\n\n{document(said)}"
    function = found.__func__ if isinstance(found, classmethod | staticmethod) else found
    return f"### {owner}.{name}\n\n{_signature(name, function)}\n\n{document(inspect.getdoc(function) or '')}"


_LONG = (
    ("int | float | fractions.Fraction | decimal.Decimal", "Real"),
    ("typing.", ""),
    ("collections.abc.", ""),
    ("numpy.ndarray[tuple[Any, ...], numpy.dtype[Any]]", "NDArray"),
)


def _signature(name: str, value: Any) -> str:
    """Return the call as Python writes it, a parameter a line where it is long."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = [each for each in found.parameters.values() if each.name not in ("self", "cls", "unknown")]
    shown = str(found.replace(parameters=parameters))
    shown = re.sub(r"discreet(\.\w+)+\.", "", shown)
    if inspect.isclass(value):
        shown = shown.removesuffix(" -> None")
    shown = re.sub(r"<(?:class|function) '?([\w.]+).*?>", r"\1", shown)
    for long, short in _LONG:
        shown = shown.replace(long, short)
    called = f"{name}{shown}"
    if len(called) > 90:
        inside, _, returned = shown[1:].rpartition(")")
        called = f"{name}(\n" + "".join(f"    {part},\n" for part in _split(inside)) + f"){returned}"
    return f"```python\n{called}\n```"


def _split(inside: str) -> list[str]:
    """Return parameters apart, at commas outside brackets."""
    parts, depth = [""], 0
    for letter in inside:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def document(text: str) -> str:
    """Return a docstring as Markdown: examples as code, parameters as a list, parts by their names.

    >>> document("Sum.\\n\\nPrivacy: pure.\\n\\n>>> 1 + 1\\n2")
    'Sum.\\n\\n**Privacy:** pure.\\n\\n```python\\n>>> 1 + 1\\n2\\n```'
    """
    blocks = [_block(block) for block in re.split(r"\n\s*\n", _sections(text.strip()))]
    return "\n\n".join(block for block in blocks if block)


def _block(block: str) -> str:
    if block.lstrip().startswith(">>>"):
        return f"```python\n{inspect.cleandoc(block)}\n```"
    if block.startswith("- "):
        return block
    block = re.sub(r"\s*^(Privacy|Accuracy):", r"\n\n**\1:**", block, flags=re.MULTILINE).lstrip("\n")
    block = re.sub(r"docs/(theory|guide)/([\w-]+)\.md", r"[the page on it](../\1/\2.md)", block)
    return (
        block
        if block.startswith("    ")
        else re.sub(r"(?<!\\)([*_<])(?=\w)|(?<=\w)(\*)(?!\*)", _escaped, block)
    )


def _escaped(found: re.Match[str]) -> str:
    """Escape what Markdown would read as emphasis, but for our own bold words."""
    before = found.string[max(0, found.start() - 1) : found.start()]
    return (
        found[0]
        if before == "*" or found.string[found.start() : found.start() + 2] == "**"
        else f"\\{found[0]}"
    )


def _sections(text: str) -> str:
    """Return numpydoc's sections as lists."""
    text = re.sub(r"^(\w[\w ]*)\n-{3,}$", r"\n**\1**\n", text, flags=re.MULTILINE)
    head, mark, rest = text.partition("**Parameters**")
    if not mark:
        return text
    rest = re.sub(r"\n(\w[\w, ]*)\n {4}", r"\n\n- `\1` — ", rest)
    return head + mark + "\n" + re.sub(r"\n {4,}", " ", rest).replace(" — ", ": ")


def command_page(helps: Mapping[str, str]) -> str:
    """Return the commands, each with its own help."""
    lines = ["# Commands", "Every command has `--help`, an example, and `--json` where it answers."]
    for name, text in helps.items():
        lines.append(f"## discreet {name}\n\n```text\n{text.rstrip()}\n```")
    return "\n\n".join(lines)


def rest_page(openapi: Mapping[str, Any]) -> str:
    """Return the REST API from its OpenAPI description: every path, what it takes and what it gives."""
    lines = [
        "# REST",
        "Requests carry `Authorization: Bearer <token>`; bodies and answers are JSON. The same, for "
        "programs, is at `/openapi.json`.",
    ]
    for path, methods in openapi["paths"].items():
        for method, said in methods.items():
            lines.append(f"## {method.upper()} {path}")
            lines += [said[part] for part in ("summary", "description") if said.get(part)]
            lines += _parameters(said.get("parameters", ()))
            body = said.get("requestBody", {}).get("content", {})
            lines += [f"Takes {_shape(content.get('schema', {}))}." for content in body.values()]
            lines += _responses(said.get("responses", {}))
    lines.append("## Shapes")
    for name, schema in openapi.get("components", {}).get("schemas", {}).items():
        lines.append(f"### {name}\n\n{schema.get('description', '')}\n\n{_fields(schema)}")
    return "\n\n".join(line for line in lines if line)


def _parameters(parameters: Sequence[Mapping[str, Any]]) -> list[str]:
    return ["\n".join(f"- `{each['name']}` ({each['in']})" for each in parameters)] if parameters else []


def _responses(responses: Mapping[str, Any]) -> list[str]:
    rows = [
        f"- **{status}** {said.get('description', '')}"
        + "".join(f": {_shape(content.get('schema', {}))}" for content in said.get("content", {}).values())
        for status, said in responses.items()
    ]
    return ["\n".join(rows)]


def _fields(schema: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    rows = [
        f"| `{name}` | {_shape(each)} | {'yes' * (name in required)} | {_line(each.get('description', ''))} |"
        for name, each in schema.get("properties", {}).items()
    ]
    return "\n".join(["| field | type | needed | |", "|---|---|---|---|", *rows]) if rows else ""


def _shape(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_shape(each) for each in schema["anyOf"])
    if "const" in schema or "enum" in schema:
        return " or ".join(f"`{json.dumps(each)}`" for each in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "anything")
    return f"list of {_shape(schema['items'])}" if kind == "array" and "items" in schema else str(kind)


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")
