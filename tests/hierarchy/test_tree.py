# SPDX-License-Identifier: BSD-3-Clause
"""Trees: the planted pairs merge first, cuts are partitions, the order is the best one."""

import json
import re

import numpy as np
import pytest
from scipy.cluster import hierarchy

import discan
from discan import InputError
from discan.evaluation.distances import distances


@pytest.mark.parametrize("linkage", ["average", "complete", "single", "ward"])
def test_planted_pairs_merge_first(flat, linkage):
    tree = flat.tree(linkage=linkage)
    assert sorted(tree.groups(3)) == [[0, 1], [2, 3], [4, 5]]
    assert linkage in tree.description


def test_heights_are_distances(flat):
    tree = flat.tree("jensen-shannon", "single")
    apart = distances(flat.components_, flat.components_, measure="jensen-shannon")
    np.fill_diagonal(apart, 1)
    assert tree.merges[0, 2] == pytest.approx(apart.min(), rel=1e-12)
    assert "Jensen-Shannon" in tree.description


def test_cuts_are_partitions(flat):
    tree = flat.tree()
    for n in range(1, 7):
        groups = tree.groups(n)
        assert len(groups) == n
        assert sorted(k for group in groups for k in group) == list(range(6))
    height = tree.merges[2, 2]
    assert tree.cut(height=height) == tree.cut(3)
    assert tree.cut(height=0) == tree.cut(6)
    assert tree.cut(1) == [tree.root]


def test_leaves_are_in_the_best_order(flat):
    """Neighbours are no farther apart than in the order that the merges alone give."""
    tree = flat.tree(linkage="average")
    apart = distances(flat.components_, flat.components_)
    condensed = apart[np.triu_indices(6, 1)]
    plain = hierarchy.leaves_list(hierarchy.linkage(condensed, "average"))

    def length(order):
        return apart[order[:-1], order[1:]].sum()

    assert length(tree.order) <= length(plain) + 1e-12
    for node in range(6, tree.root + 1):  # no branches cross
        places = sorted(tree.order.tolist().index(k) for k in tree.members[node])
        assert places == list(range(places[0], places[-1] + 1))


def test_text(flat):
    tree = flat.tree()
    lines = str(tree).splitlines()
    assert len(lines) == 11
    assert re.match(r"\d\.\d\d  all 6 components  100\.0%$", lines[0])
    assert [re.search(r"component (\d)", line)[1] for line in lines if "component " in line] == [
        str(k + 1) for k in tree.order
    ]
    first = next(line for line in lines if "component 1 " in line)
    best = int(np.argmax(flat.components_[0] / (flat.sizes_ @ flat.components_)))
    assert f"%  word {best}" in first
    assert "─ component 1+2  " in tree.text(3)
    assert len(tree.text(3).splitlines()) == 5


def test_newick(flat):
    tree = flat.tree()
    text = tree.newick()
    assert text.endswith(");\n")
    assert text.count("(") == text.count(")") == 5
    for k in range(6):  # all leaves are as far from the root
        assert f"'component {k + 1}':" in text
    first = re.search(r"'component 1':([\d.]+)", text)[1]
    ((height, _),) = tree.merges[(tree.merges[:, :2] == 0).any(axis=1), 2:]
    assert float(first) == pytest.approx(height, rel=1e-5)
    flat.name_components({1: "it's (a, b);"})
    try:
        assert "'it''s (a, b);':" in flat.tree().newick()
    finally:
        flat.name_components({1: None})


def test_nodes_in_plain_types(flat):
    found = json.loads(json.dumps(flat.tree().as_dict()))
    nodes = {node["id"]: node for node in found["nodes"]}
    assert len(nodes) == 11
    assert found["order"] == [k + 1 for k in flat.tree().order]
    root = nodes[11]
    assert root["parent"] is None
    assert root["size"] == pytest.approx(1)
    for node in nodes.values():
        for child in node["children"]:
            assert nodes[child]["parent"] == node["id"]
            assert nodes[child]["height"] <= node["height"]
        parts = [k for child in node["children"] for k in nodes[child]["components"]]
        assert not parts or parts == node["components"]


def test_one_component():
    tree = discan.LDA(1, max_iter=2, progress=False).fit(np.ones((3, 4), dtype=int)).tree()
    assert tree.cut(1) == [0]
    assert tree.newick() == "'component 1';\n"
    assert str(tree).startswith("component 1  100.0%")


def test_bad_input_is_refused(flat):
    for call, message in (
        (lambda: flat.tree(linkage="centroid"), "linkage='centroid'"),
        (lambda: flat.tree("cosine"), "measure='cosine'"),
        (lambda: flat.tree().cut(7), "cannot have 7"),
        (lambda: flat.tree().cut(), "either a number"),
        (lambda: flat.tree().cut(2, 0.5), "either a number"),
        (lambda: flat.tree().cut(height=-1), "height=-1"),
        (lambda: discan.LDA.from_components(np.eye(3)).tree(), "fit to data"),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            call()
