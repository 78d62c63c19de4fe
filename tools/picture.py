"""The picture of README.md, drawn anew: python tools/picture.py"""
from pathlib import Path

from course.draw import overlap

fig, alt = overlap([0.5, 0.3, 0.2], [0.2, 0.2, 0.6], ["clear", "grey", "red"])
file = Path(__file__).parent.parent / "docs" / "rule.png"
fig.savefig(file, dpi=130, metadata={"Software": None})
print(alt)
