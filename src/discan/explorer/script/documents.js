// The list of documents, and the pane of one document.

const SORTS = {
  share: "share", given: "order in the data", name: "name", length: "length", surprise: "surprise",
};

// Documents that the filters leave, in the order chosen.
function chosenDocuments() {
  const { label, value, lasso, names, least, component, sort } = state;
  const shares = model.sharesOf(component);
  const code = label >= 0 && value >= 0 ? model.a[`code${label}`] : null;
  const wanted = names.trim().toLowerCase();
  const found = [];
  for (let i = 0; i < model.I; i++) {
    if (code && code[i] !== value + 1) continue;
    if (lasso && !lasso.has(i)) continue;
    if (100 * shares[i] < least) continue;
    if (wanted && !model.a.names[i].toLowerCase().includes(wanted)) continue;
    found.push(i);
  }
  const keys = {
    share: (i) => -shares[i], length: (i) => -model.a.length[i],
    surprise: (i) => (model.a.likelihood && !Number.isNaN(model.a.likelihood[i])
      ? model.a.likelihood[i] : Infinity),
  };
  if (sort === "name") found.sort((a, b) => (model.a.names[a] < model.a.names[b] ? -1
    : model.a.names[a] > model.a.names[b] ? 1 : a - b));
  else if (keys[sort]) {
    const key = Float64Array.from(found, keys[sort]);
    const order = found.map((_, n) => n).sort((a, b) => key[a] - key[b] || a - b);
    return order.map((n) => found[n]);
  }
  return found;
}

function documentsPane() {
  const { nouns } = model;
  const list = new List({
    label: capital(nouns.documents), height: 58,
    choose: (i) => choose({ document: i }),
    row: (i, node) => {
      const labels = model.header.columns.map((column, n) => labelOf(i, n)).filter(Boolean).join(" · ");
      node.append(make("span", { class: "line" },
        make("span", { class: "name", text: model.a.names[i] }),
        make("span", { class: "number", text: percent(model.share(i, state.component)) })),
      mixBar(model.mix(i)),
      make("span", { class: "words", text: labels || tokens(i) }));
    },
  });
  const count = make("p", { class: "facts" });
  const filters = make("div", { class: "fields" });
  const name = make("input", { type: "search", placeholder: "name contains", "aria-label": "Name contains",
    on: { input: () => choose({ names: name.value }, false) } });
  const least = make("input", { type: "number", min: "0", max: "100", step: "5", class: "narrow",
    on: { input: () => choose({ least: Math.max(0, Math.min(100, Number(least.value) || 0)) }, false) } });
  const node = make("div", { class: "pane-inner" }, filters, count, list.node);

  function render() {
    const sorts = Object.entries(SORTS).filter(([key]) => key !== "surprise" || model.a.likelihood);
    const named = sorts.map(([key, text]) => [key, key === "share" ? `share of ${shorten(model.names[state.component], 30)}` : text]);
    const labels = [["-1.-1", "all"]];
    model.header.columns.forEach((column, n) => {
      if (model.a[`label${n}`].length > 150) return;
      model.a[`label${n}`].forEach((value, g) => labels.push([`${n}.${g}`, `${column.name}: ${value}`]));
    });
    if (document.activeElement !== name) name.value = state.names;
    if (document.activeElement !== least) least.value = String(state.least);
    const fields = [choice("by", named, state.sort, (sort) => choose({ sort }, false))];
    if (labels.length > 1) {
      fields.push(choice("only", labels, `${state.value < 0 ? -1 : state.label}.${state.value < 0 ? -1 : state.value}`,
        (text) => { const [label, value] = text.split("."); choose({ label: Number(label), value: Number(value) }, false); }));
    }
    const kept = filters.querySelector(".fixed");
    const fixed = kept || make("span", { class: "fixed" }, name,
      make("label", { class: "field" }, make("span", { text: "share at least" }), least, make("span", { text: "%" })));
    const chosen = make("span", { class: "fixed-less" }, fields);
    if (kept) filters.firstChild.replaceWith(chosen);
    else filters.append(chosen, fixed);
    const found = chosenDocuments();
    const all = model.header.documents;
    let text = `${counted(found.length, nouns.document, nouns.documents)}`;
    if (found.length < model.I) text += ` of ${whole(model.I)}`;
    if (model.I < all) text += ` (of ${whole(all)} in the data)`;
    count.replaceChildren(make("span", { text }));
    if (state.lasso) {
      count.append(" ", button(`× chosen on the map`, () => choose({ lasso: null }, false), { class: "small" }));
    }
    list.set(found, found.indexOf(state.document));
    say(text);
  }
  panes.push({ keys: ["component", "sort", "label", "value", "lasso", "names", "least", "pane"],
    hidden: () => state.pane !== "documents", draw: render });
  panes.push({ keys: ["document"], hidden: () => state.pane !== "documents",
    draw: () => list.select(list.items.indexOf(state.document)) });
  return node;
}

const tokens = (i) => `${whole(Math.round(model.a.length[i]))} ${model.nouns.tokens}`;

function labelOf(i, n) {
  const code = model.a[`code${n}`][i];
  return code ? model.a[`label${n}`][code - 1] : "";
}

function documentPane() {
  const { document: one } = model.nouns;
  const inner = make("div", { class: "pane-inner" });
  const section = make("section", { id: "document", "aria-label": capital(one) }, inner);
  panes.push({ keys: ["document", "component"], draw: () => inner.replaceChildren(...documentParts(state.document)) });
  return section;
}

function documentParts(i) {
  const { nouns } = model;
  if (i < 0) {
    return [make("h2", { text: capital(nouns.document) }),
      make("p", { class: "note", text: `Choose ${an(nouns.document)} to see what it is made of.` })];
  }
  const mix = model.mix(i);
  const facts = model.header.columns.map((column, n) => [column.name, labelOf(i, n)]);
  model.header.facts.forEach((name, n) => facts.push([name, model.a[`fact${n}`][i]]));
  facts.push(["length", tokens(i)]);
  const fit = model.a.likelihood ? model.a.likelihood[i] : NaN;
  if (!Number.isNaN(fit)) {
    facts.push(["surprise", `as hard to guess as 1 of ${rounded(Math.exp(-fit))} equally likely ${nouns.words}`]);
  }
  const shown = mix.parts.filter((part) => part.share >= 0.005);
  return [
    make("h2", { class: "title" }, make("span", { text: model.a.names[i] })),
    make("dl", {}, facts.filter(([, value]) => value).map(([name, value]) =>
      make("div", {}, make("dt", { text: name }), make("dd", { text: value })))),
    mixBar(mix, { class: "mix tall" }),
    make("ul", { class: "bars mix-list" }, shown.map((part) => make("li", {
      class: part.k === state.component ? "on" : "" },
    componentLink(part.k),
    bar(part.share, colour(part.k), part.sd === null ? {}
      : { low: Math.max(0, part.share - 2 * part.sd), high: Math.min(1, part.share + 2 * part.sd) }),
    make("span", { class: "number", text: percent(part.share),
      title: [part.sd !== null && `± ${percent(part.sd)} (standard deviation)`,
        part.absent !== null && `absent with probability ${percent(part.absent)}`].filter(Boolean).join("; ") })))),
    mix.left >= 0.005 && make("p", { class: "note", text: `${percent(mix.left)} in other ${nouns.components}.` }),
    asTable(`Shares of ${model.a.names[i]}`, [nouns.component, "share", ...(model.a.sd ? ["sd"] : []),
      ...(model.a.absent ? ["P(absent)"] : [])], () => mix.parts.map((part) => [model.names[part.k],
      percent(part.share), ...(part.sd === null ? [] : [percent(part.sd)]),
      ...(part.absent === null ? [] : [percent(part.absent)])])),
    ...textPart(i), ...entryPart(i), ...similarPart(i),
  ].filter(Boolean);
}

// The text, its words marked by the component that they come from.
function textPart(i) {
  const text = model.a.texts ? model.a.texts[i] : "";
  if (!text) return [];
  const found = new Map(); // word -> component
  const paragraphs = text.split("\v").map((line) => {
    const parts = [];
    let at = 0;
    for (const match of line.matchAll(/[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*(?:['\u2019][\p{L}\p{N}_]+)*/gu)) {
      const j = model.find(match[0]);
      if (j < 0) continue;
      if (!found.has(j)) found.set(j, model.componentIn(i, j));
      const k = found.get(j);
      if (k < 0) continue;
      parts.push(line.slice(at, match.index));
      parts.push(make("span", { class: k === state.component ? "token on" : "token",
        css: { "--tone": colour(k) }, title: model.names[k], "data-k": k, text: match[0] }));
      at = match.index + match[0].length;
    }
    return make("p", {}, parts, line.slice(at));
  });
  const box = make("div", { class: "text", tabindex: "0", role: "region", "aria-label": "Text", on: {
    click: (event) => {
      if (event.target.dataset.k) choose({ component: Number(event.target.dataset.k) });
    } } }, paragraphs);
  return [make("h3", { text: "Text" }), box,
    make("p", { class: "note", text: `Underlined: the ${model.nouns.component} that a word most likely comes from; `
      + `filled: ${model.names[state.component]}.` }),
    asTable("Words of the text", [model.nouns.word, model.nouns.component],
      () => [...found].filter(([, k]) => k >= 0).map(([j, k]) => [model.a.words[j], model.names[k]]))];
}

// Words or answers of the document.
function entryPart(i) {
  const rows = model.entries(i);
  if (!rows || (!rows.length && !model.header.grouped)) return [];
  return model.header.grouped ? answerPart(i, rows) : countPart(i, rows);
}

function countPart(i, rows) {
  const { words } = model.nouns;
  rows.sort((a, b) => b.count - a.count || b.chance - a.chance);
  return [make("h3", { text: `Its ${words}` }),
    make("p", { class: "text" }, rows.slice(0, 60).map((row) => {
      const k = model.componentIn(i, row.word);
      return [make("span", { class: k === state.component ? "token on" : "token",
        css: { "--tone": k < 0 ? OTHERS : colour(k) }, title: k < 0 ? "" : model.names[k],
        text: model.a.words[row.word] }), row.count === 1 ? " " : ` ×${row.count} `];
    })),
    asTable(`Its ${words}`, [model.nouns.word, "count", "probability", model.nouns.component],
      () => rows.map((row) => [model.word(row.word), String(row.count), percent(row.chance),
        model.names[model.componentIn(i, row.word)] || ""]))];
}

function answerPart(i, rows) {
  const group = (row) => model.a.groups[model.a.groupOfWord[row.word]];
  const odd = [...rows].sort((a, b) => a.chance - b.chance || a.word - b.word);
  const against = odd.filter((row) => row.chance < 0.5).slice(0, 12);
  const open = model.open(i).sort((a, b) => b.chance - a.chance || a.group - b.group);
  const line = (row, name) => make("li", {}, make("span", { class: "question", text: group(row) }),
    make("span", { class: "answer" }, make("b", { text: model.a.words[row.word] }),
      make("span", { class: "dim", text: ` ${name} ${percent(row.chance)}` })));
  const parts = [];
  if (against.length) {
    parts.push(make("h3", { text: "Against the odds" }),
      make("ul", { class: "given" }, against.map((row) => line(row, "probability"))));
  }
  if (open.length) {
    parts.push(make("h3", { text: `Missing: ${counted(open.length, "answer", "answers")}, predicted` }),
      make("ul", { class: "given" }, open.slice(0, 6).map((row) => line(row, "probability"))));
  }
  parts.push(asTable(`${model.header.complete ? "All" : "Some"} answers of ${model.a.names[i]}`,
    [model.nouns.groups, "answer", "probability"], () => [
      ...odd.slice(0, 2000).map((row) => [group(row), model.a.words[row.word], percent(row.chance)]),
      ...open.slice(0, 2000).map((row) => [group(row), `(missing) ${model.a.words[row.word]}`, percent(row.chance)])]));
  return parts;
}

function similarPart(i) {
  const near = model.similar(i, 8);
  if (!near.length) return [];
  return [make("h3", { text: `Similar ${model.nouns.documents}` }),
    make("ul", { class: "documents" }, near.map((row) => make("li", {},
      documentLink(row.i, row.distance.toFixed(2))))),
    make("p", { class: "note", text: "Hellinger distance of the shares, from 0 to 1." })];
}
