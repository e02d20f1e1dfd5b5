// How sure the result is, and what was done.

function diagnosticsPane() {
  const { header, nouns } = model;
  const node = make("div", { class: "pane-inner" });
  const width = model.K > 1 ? model.a.nearest.length / model.K : 0;
  const judged = ["exclusivity", "coherence"].filter((name) => name in model.components[0]);
  panes.push({ keys: ["pane"], hidden: () => state.pane !== "diagnostics", draw: () => {
    const parts = [];
    if (header.warnings.length) {
      parts.push(make("h3", { text: "To be aware of" }),
        make("ul", { class: "plain" }, header.warnings.map((text) => make("li", { text }))));
    }
    parts.push(make("p", { class: "note", text: `One fit cannot tell whether another start would find the same `
      + `${nouns.components}. Fit again with another seed and compare.` }));
    if (header.score) parts.push(make("p", { text: scoreText() }));
    if (header.trace.length > 1) {
      const values = header.trace.map(([, value]) => value);
      parts.push(make("h3", { text: "Objective, cycle by cycle (nats per token)" }),
        lineChart({ label: "Objective by cycle", names: header.trace.map(([cycle]) => String(cycle)), values,
          low: [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.03)], tone: "var(--accent)",
          form: (value) => value.toFixed(3), marks: 6 }),
        asTable("Objective by cycle", ["cycle", "objective"], () => header.trace.map(([cycle, value]) => [String(cycle), value.toPrecision(9)])));
    }
    parts.push(make("h3", { text: capital(nouns.components) }),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table of ${nouns.components}` },
        table(`Size, and how much its ${nouns.words} are its own`,
          [nouns.component, "share of all", `largest in ${nouns.documents}`, ...judged,
            "nearest", "distance"],
          model.components.map((component, k) => [componentLink(k), percent(component.size), whole(component.main),
            ...judged.map((name) => name === "exclusivity" ? percent(component[name]) : component[name].toFixed(2)),
            width ? model.names[model.a.nearest[k * width]] : "",
            width ? model.a.nearestDistance[k * width].toFixed(2) : ""]))),
      make("p", { class: "note", text: `Exclusivity: the mean share of the ${nouns.component} in its first ${nouns.words}, `
        + "all components weighted equally. Coherence: normalised pointwise mutual information of its first "
        + `${nouns.words} in these ${nouns.documents}, from -1 to 1. Distance: ${header.map.distance}, from 0 to 1.` }),
      make("h3", { text: "What was done" }),
      make("dl", { class: "wide" }, Object.entries(header.settings).map(([name, value]) =>
        make("div", {}, make("dt", { text: name }), make("dd", { text: value })))));
    node.replaceChildren(...parts);
  } });
  return node;
}

function scoreText() {
  const { model: ours, unigram } = model.header.score;
  const { document: one, words, components } = model.nouns;
  return `If half of each ${one} is known, the other half is as hard to guess as one of ${rounded(Math.exp(-ours))} `
    + `equally likely ${words}; without ${components}, as one of ${rounded(Math.exp(-unigram))}.`;
}
