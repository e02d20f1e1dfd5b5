// Search: documents by the probability of some words, and components by the same words.

function searchPane() {
  const { nouns } = model, text = !model.header.grouped;
  const field = make("input", { type: "search", id: "query", autocomplete: "off",
    placeholder: text ? `${nouns.words}, or part of a name` : `part of an answer, or of a name`,
    on: { input: () => suggest(), keydown: (event) => { if (event.key === "Enter") take(); } } });
  const chips = make("div", { class: "chips" }), offered = make("div", { class: "offered" });
  const results = make("div", {});
  const node = make("div", { class: "pane-inner" },
    make("div", { class: "fields" }, make("label", { class: "field wide" }, make("span", { text: "Search" }), field),
      text && button("Search", () => take())),
    chips, offered, results);

  function take() {
    const unknown = [], words = [];
    for (const token of field.value.split(/[\s,;]+/).filter(Boolean)) {
      const j = model.find(token);
      if (j >= 0) words.push(j);
      else unknown.push(token);
    }
    if (!text || !words.length) { suggest(unknown); return; }
    field.value = "";
    offered.replaceChildren();
    choose({ query: [...new Set([...state.query, ...words])] });
    if (unknown.length) offered.append(make("p", { class: "note", text: `Not among the ${nouns.words}: ${unknown.join(", ")}` }));
  }

  // Offer words and names that contain what was typed.
  function suggest(unknown = []) {
    const wanted = field.value.trim().toLowerCase();
    offered.replaceChildren();
    if (wanted.length < 2) return;
    const words = [];
    for (let j = 0; j < model.J && words.length < 400; j++) if (model.word(j).toLowerCase().includes(wanted)) words.push(j);
    words.sort((a, b) => model.word(a).length - model.word(b).length || a - b);
    const names = [];
    for (let i = 0; i < model.I && names.length < 30; i++) if (model.a.names[i].toLowerCase().includes(wanted)) names.push(i);
    if (words.length) {
      offered.append(make("h3", { text: capital(nouns.words) }), make("div", { class: "chips" }, words.slice(0, 24).map((j) =>
        button(`+ ${shorten(model.word(j), 90)}`, () => {
          field.value = "";
          offered.replaceChildren();
          choose({ query: [...new Set([...state.query, j])] });
          field.focus();
        }, { class: "chip" }))));
    }
    if (names.length) {
      offered.append(make("h3", { text: capital(nouns.documents) }), make("ul", { class: "documents" },
        names.slice(0, 12).map((i) => make("li", {}, documentLink(i)))));
    }
    if (!words.length && !names.length) {
      offered.append(make("p", { class: "note", text: `Nothing contains ${wanted}${unknown.length ? "" : " so far"}.` }));
    }
    say(`${counted(words.length, nouns.word, nouns.words)}, ${counted(names.length, nouns.document, nouns.documents)}`);
  }

  function render() {
    const { query } = state;
    chips.replaceChildren(...query.map((j) => button(`${shorten(model.word(j), 90)} ×`,
      () => choose({ query: query.filter((other) => other !== j) }), { class: "chip on",
        "aria-label": `Remove ${model.word(j)}` })));
    if (!query.length) {
      results.replaceChildren(make("p", { class: "note", text: text
        ? `Type ${nouns.words} that you look for. ${capital(nouns.documents)} are found by their ${nouns.components}, even if they use other ${nouns.words}.`
        : `Choose answers: who would give them? Found by their ${nouns.components}.` }));
      return;
    }
    const hits = model.search(query, 40), weights = model.componentsOf(query);
    const likely = weights.map((weight, k) => ({ weight, k })).sort((a, b) => b.weight - a.weight || a.k - b.k)
      .filter((row) => row.weight >= 0.01).slice(0, 8);
    const rows = query.map((j) => model.loadings(j));
    const usual = query.reduce((sum, j) => sum + Math.log(Math.max(model.overall(j), 1e-300)), 0);
    results.replaceChildren(
      make("h3", { text: `${capital(nouns.components)} by p(${nouns.component} | query)` }),
      make("ul", { class: "bars mix-list" }, likely.map(({ weight, k }) => make("li", {}, componentLink(k),
        bar(weight, colour(k)), make("span", { class: "number", text: percent(weight) })))),
      make("h3", { text: `${capital(nouns.documents)} by p(query | ${nouns.document})` }),
      make("ol", { class: "documents hits" }, hits.map(({ i, value }) => make("li", {},
        documentLink(i, times(Math.exp((value - usual) / query.length))),
        make("p", { class: "start" }, why(i, rows))))),
      make("p", { class: "note", text: `The number says how many times likelier ${an(nouns.word)} of the query is here than in all `
        + "the data (geometric mean). "
        + `The line below says which ${nouns.components} it comes from.` }));
    say(`${hits.length} ${nouns.documents} found`);
  }

  // The components that make a hit likely: their part of the probability, over the words.
  function why(i, rows) {
    const parts = model.mix(i).parts.map(({ k, share }) => ({ k, part: rows.reduce((sum, row, n) =>
      sum + (share * row[k]) / Math.max(model.chance(i, state.query[n], row), 1e-300), 0) / rows.length }));
    parts.sort((a, b) => b.part - a.part || a.k - b.k);
    return parts.filter((row) => row.part >= 0.1).slice(0, 3).map((row) =>
      [swatch(row.k), `${model.names[row.k]} ${Math.round(100 * row.part)} %  `]);
  }
  panes.push({ keys: ["query", "pane"], hidden: () => state.pane !== "search", draw: render });
  return node;
}
