"""Formulas in plain text become well-formed MathML that says the same."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from discreet.apps.site import typeset

ROOT = Path(__file__).parents[2]


def blocks():
    reader = MarkdownIt("commonmark").enable("table")
    for path in sorted((ROOT / "docs").rglob("*.md")):
        for token in reader.parse(path.read_text(encoding="utf-8")):
            if token.type == "code_block":
                yield pytest.param(token.content, id=f"{path.stem}-{token.map[0]}")


def shape(text):
    """Each element as (name, children), each leaf as its text."""

    def of(element):
        return (element.tag, [of(each) for each in element]) if len(element) else element.text

    return of(ElementTree.fromstring(typeset(text).replace("&#160;", " ")))


@pytest.mark.parametrize("text", list(blocks()))
def test_every_formula_of_the_documentation_is_well_formed_and_loses_no_letter(text):
    for line, shown in zip(
        [each for each in text.splitlines() if each.strip()], typeset(text).splitlines(), strict=True
    ):
        root = ElementTree.fromstring(shown.replace("&#160;", " "))
        letters = sorted(re.sub(r"[^A-Za-zα-ωΑ-Ω]", "", "".join(root.itertext())))
        plain = line.translate(str.maketrans("ᴷᵈⁿⁱₙᵢᵥⱼₖₘ", "Kdninivjkm"))
        assert letters == sorted(re.sub(r"[^A-Za-zα-ωΑ-Ω]", "", plain))


def test_a_slash_divides_what_is_beside_it_and_one_with_spaces_what_is_around_it():
    assert shape("1/2") == ("math", [("mrow", [("mfrac", ["1", "2"])])])
    wide = typeset("a·b / (c + d)")
    assert "<mfrac><mrow><mi>a</mi><mo>·</mo><mi>b</mi></mrow><mrow><mi>c</mi>" in wide
    assert typeset("1 + a/b").count("<mo>+</mo><mfrac>") == 1


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("2ᴷ", "<msup><mn>2</mn><mrow><mi>K</mi></mrow></msup>"),
        ("e^(ε-L)", "<msup><mi>e</mi><mrow><mrow><mi>ε</mi><mo>−</mo><mi>L</mi></mrow></mrow></msup>"),
        ("Vₙ²", "<msubsup><mi>V</mi><mrow><mi>n</mi></mrow><mrow><mn>2</mn></mrow></msubsup>"),
        ("Σ_{i<=a} i", "<munder><mo>Σ</mo>"),
        ("√(a + b)", "<msqrt><mrow><mi>a</mi>"),
        ("a <= b", "<mo>≤</mo>"),
        ("a < b", "<mo>&lt;</mo>"),
        ("δ′", "<msup><mi>δ</mi><mrow><mo>′</mo></mrow></msup>"),
        ("x where it is so", "<mtext>&#160;where it is so&#160;</mtext>"),
        ("max(n, τ)", "<mi>max</mi>"),
    ],
)
def test_parts_are_set_as_mathematics(text, inside):
    assert inside in typeset(text)


@pytest.mark.parametrize("text", ["", "(", "a/", "^", "_", "a^", "))", "√", "|x|", "<script>", "a_{", "/ /"])
def test_what_is_no_formula_still_makes_a_page(text):
    shown = typeset(text)
    assert "<script" not in shown
    for line in shown.splitlines():
        ElementTree.fromstring(line.replace("&#160;", " "))
