"""Makes the font of the book's formulas: Latin Modern Math with only the characters that formulas use, not all 4,800.

    cargo course book --build
    python -m pip install fonttools brotli
    python book/figures/font.py latinmodern-math.otf    # from https://www.gust.org.pl/projects/e-foundry/lm-math

Run it again if a formula uses a new character. Otherwise, test_math_font_has_every_character fails.
"""

import html
import re
import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

REPOSITORY = Path(__file__).resolve().parents[2]
OUT = REPOSITORY / "book" / "src" / "math" / "latinmodern-math-subset.woff2"


def used():
    """Returns the characters of all formulas, and ASCII and Greek, upright and in italics, for future formulas."""
    characters = {chr(c) for ranges in ((0x20, 0x7F), (0x391, 0x3CA), (0x1D434, 0x1D468), (0x1D6FC, 0x1D71C)) for c in range(*ranges)}
    for page in (REPOSITORY / "book" / "book").rglob("*.html"):
        for formula in re.findall(r"<math.*?</math>", page.read_text(encoding="utf-8"), re.DOTALL):
            characters |= set(html.unescape(re.sub(r"<[^>]*>", "", formula)))
    return characters


def main():
    font = TTFont(sys.argv[1], recalcTimestamp=False)
    options = subset.Options(flavor="woff2", layout_features=["*"], drop_tables=["DSIG"], notdef_outline=True, hinting=False)
    tool = subset.Subsetter(options)
    tool.populate(text="".join(sorted(used())))
    tool.subset(font)
    # The font's licence asks for a different name if the font is modified.
    for record in font["name"].names:
        if record.nameID in (1, 4, 6, 16):
            record.string = "TinyMath"
    font.flavor = "woff2"
    font.save(OUT)
    print(f"{OUT.relative_to(REPOSITORY)}: {OUT.stat().st_size} bytes, {len(font.getGlyphOrder())} glyphs")


if __name__ == "__main__":
    main()
