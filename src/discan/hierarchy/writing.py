# SPDX-License-Identifier: BSD-3-Clause
"""Write a tree: as text for people, as Newick, and as plain values for JSON."""

from __future__ import annotations

from typing import Any

__all__ = ["N_WORDS", "as_dict", "as_newick", "as_text"]

Tree = Any  # of hierarchy.tree, which imports this
N_WORDS = 5
LINE = 72  # characters of the words of a node, at most


def as_text(tree: Tree, nodes: list[int] | None = None, n_words: int = N_WORDS) -> str:
    """Draw a tree with lines of text, down to the nodes of a cut, or to all components.

    Inner nodes begin with the height at which their branches merge.
    """
    ends = set(range(tree.n_components) if nodes is None else nodes)
    lines = []
    stack = [(tree.root, "", "")]  # node, what is in front of it, what is in front of its children
    while stack:
        node, front, below = stack.pop()
        lines.append(front + _line(tree, node, node in ends, n_words))
        if node not in ends:
            first, second = tree.children(node)
            stack.append((second, f"{below}└─ ", f"{below}   "))
            stack.append((first, f"{below}├─ ", f"{below}│  "))
    return "\n".join(lines) + "\n"


def as_newick(tree: Tree) -> str:
    """Return the tree in Newick format; branch lengths are differences of height."""
    parts: list[str] = [_quoted(tree.name(k)) for k in range(tree.n_components)]
    for node in range(tree.n_components, tree.root + 1):
        inside = ",".join(
            f"{parts[child]}:{tree.height(node) - tree.height(child):.6g}"
            for child in tree.children(node)
        )
        parts.append(f"({inside})")
    return f"{parts[-1]};\n"


def as_dict(tree: Tree, n_words: int = N_WORDS) -> dict[str, Any]:
    """Return the tree in plain types: a list of nodes that name their children by number."""
    parent = {
        child: node
        for node in range(tree.n_components, tree.root + 1)
        for child in tree.children(node)
    }
    return {
        "distance": tree.distance,
        "linkage": tree.linkage,
        "order": [int(k) + 1 for k in tree.order],
        "nodes": [
            {
                "id": node + 1,
                "parent": None if node == tree.root else parent[node] + 1,
                "children": [child + 1 for child in tree.children(node)],
                "height": tree.height(node),
                "name": tree.name(node),
                "components": [k + 1 for k in tree.members[node]],
                "size": tree.size(node),
                "words": tree.words(node, n_words),
            }
            for node in range(tree.root + 1)
        ],
    }


def _line(tree: Tree, node: int, end: bool, n_words: int) -> str:
    """Describe a node: height or name, size, words."""
    members = tree.members[node]
    if end:
        head = tree.name(node)
    elif node == tree.root:
        head = f"{tree.height(node):.2f}  all {len(members)} {tree.fit.nouns.components}"
    else:
        head = f"{tree.height(node):.2f}"
    words = _fitting(tree.words(node, n_words))
    return f"{head}  {100 * tree.size(node):.1f}%" + (f"  {words}" if words else "")


def _fitting(words: list[str]) -> str:
    """Return the first words that fit in a line; a single one, such as a question, is cut."""
    text = ""
    for word in words:
        longer = f"{text}, {word}" if text else word
        if len(longer) > LINE:
            return text or f"{word[: LINE - 21]}...{word[-18:]}"
        text = longer
    return text


def _quoted(name: str) -> str:
    """Quote a name for Newick: an apostrophe is doubled."""
    clean = " ".join(name.split())
    return "'" + clean.replace("'", "''") + "'"
