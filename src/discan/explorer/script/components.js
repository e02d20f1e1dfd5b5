// The list of components, and the pane of one component.

const ORDERS = {
  size: "size", number: "number", name: "name", exclusive: "exclusivity", coherent: "coherence",
  word: "chosen word",
};
const SHOWN = 30; // words or questions of a component

function componentList() {
  const { components: many, component: one } = model.nouns;
  const list = new List({
    label: capital(many), height: model.header.grouped ? 46 : 62, follows: true,
    choose: (k) => choose({ component: k }),
    row: (k, node) => {
      const weight = state.word >= 0 ? chances[k] : model.components[k].size;
      const most = state.word >= 0 ? Math.max(...chances) : Math.max(...model.components.map((c) => c.size));
      node.append(
        make("span", { class: "line" }, swatch(k), make("span", { class: "name", text: model.names[k] }),
          make("span", { class: "number", text: percent(weight) })),
        bar(weight / (most || 1), colour(k)),
      );
      if (!model.header.grouped) {
        node.append(make("span", { class: "words", text: firstWords(k) }));
      }
    },
  });
  let chances = [], filter = "";
  const field = make("input", { type: "search", placeholder: `filter ${many}`, "aria-label": `Filter ${many}`,
    on: { input: () => { filter = field.value.toLowerCase(); render(); say(`${list.items.length} ${many}`); } } });
  const word = make("p", { class: "chosen-word", hidden: true });
  const orderBox = make("div", { class: "order" });
  const section = make("section", { id: "components", "aria-label": capital(many) },
    make("h2", { text: counted(model.K, one, many) }),
    make("div", { class: "fields" }, field, orderBox), word, list.node);

  function render() {
    chances = state.word >= 0 ? model.componentsOf([state.word]) : [];
    word.hidden = state.word < 0;
    if (state.word >= 0) {
      word.replaceChildren(make("span", { text: `p(${one} | ${shorten(model.word(state.word), 60)})` }),
        button("×", () => choose({ word: -1 }, false), { class: "close", "aria-label": "No word" }));
    }
    const names = Object.entries(ORDERS).filter(([key]) => ({ word: state.word >= 0,
      exclusive: "exclusivity" in model.components[0], coherent: "coherence" in model.components[0] })[key] ?? true);
    const order = state.word >= 0 && state.order === "size" ? "word" : state.order;
    orderBox.replaceChildren(choice("by", names, order, (key) => choose({ order: key }, false)));
    const ks = model.components.map((_, k) => k);
    const keys = {
      size: (k) => -model.components[k].size, number: (k) => model.components[k].number,
      name: (k) => model.names[k].toLowerCase(), exclusive: (k) => -model.components[k].exclusivity,
      coherent: (k) => -model.components[k].coherence,
      word: (k) => -(chances[k] || 0),
    };
    const by = keys[order] || keys.size;
    ks.sort((a, b) => (by(a) < by(b) ? -1 : by(a) > by(b) ? 1 : a - b));
    const kept = filter ? ks.filter((k) => model.names[k].toLowerCase().includes(filter)
      || (!model.header.grouped && firstWords(k, 12).includes(filter))) : ks;
    list.set(kept, kept.indexOf(state.component));
  }
  panes.push({ keys: ["word", "order"], draw: render });
  panes.push({ keys: ["component"], draw: () => list.select(list.items.indexOf(state.component)) });
  return section;
}

const first = new Map();
function firstWords(k, n = 6) {
  const key = `${k} ${n}`;
  if (!first.has(key)) first.set(key, model.relevant(k, 0.3, n).map((row) => model.a.words[row.word]).join(", "));
  return first.get(key);
}

function componentPane() {
  const node = make("div", { class: "pane-inner" });
  panes.push({
    keys: ["component", "weight", "word", "telling"], hidden: () => state.pane !== "component",
    draw: () => node.replaceChildren(...componentParts(state.component)),
  });
  return node;
}

function componentParts(k) {
  const { nouns, components } = model, about = components[k];
  const facts = [
    `${percent(about.size)} of all ${nouns.counts}`,
    `largest in ${counted(about.main, nouns.document, nouns.documents)}`,
  ];
  if ("exclusivity" in about) facts.push(`exclusivity ${percent(about.exclusivity)}`);
  if ("coherence" in about) facts.push(`coherence ${about.coherence.toFixed(2)}`);
  const heading = make("h2", { class: "title", css: { "border-color": colour(k) } },
    make("span", { text: model.names[k] }));
  const edit = button("rename", () => {
    const field = make("input", { type: "text", value: model.names[k], maxlength: "200",
      "aria-label": `Name of ${about.name}` });
    const done = (keep) => { if (keep) rename(k, field.value); else redraw(["component"]); };
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault(); // the key is not for what has the focus next
      done(event.key === "Enter");
    });
    heading.replaceChildren(field, button("keep", () => done(true)), button("cancel", () => done(false)));
    field.focus();
    field.select();
  }, { class: "small" });
  const tools = [edit];
  if (Object.keys(given).length) {
    tools.push(button("save names", saveNames, { class: "small",
      title: "names.json, for: discan name MODEL names.json" }));
  }
  heading.append(make("span", { class: "tools" }, tools));
  return [heading, make("p", { class: "facts", text: facts.join(" · ") }),
    make("div", { class: "columns" },
      make("div", {}, ...wordParts(k), ...questionParts(k)),
      make("div", {}, ...typicalPart(k), ...labelPart(k), ...neighbourPart(k)))];
}

// ---- words of texts, genes, items ----

function wordParts(k) {
  const rows = model.relevant(k, state.weight, 400);
  if (!rows.length) return [];
  const fields = new Map();
  for (const row of rows) {
    const group = model.a.groupOfWord[row.word];
    if (!fields.has(group)) fields.set(group, []);
    if (fields.get(group).length < (fields.size > 1 ? 15 : SHOWN)) fields.get(group).push(row);
  }
  const { words } = model.nouns;
  const slider = make("input", { type: "range", min: "0", max: "1", step: "0.1", value: String(state.weight),
    "aria-label": "From words by lift to words by probability",
    "aria-valuetext": `${Math.round(100 * state.weight)} % probability`,
    on: { input: () => choose({ weight: Number(slider.value) }, false) } });
  const parts = [make("h3", { text: capital(words) }),
    make("label", { class: "slider" }, make("span", { text: "by lift" }), slider,
      make("span", { text: "by probability" }))];
  for (const [group, listed] of fields) {
    const most = Math.max(...listed.map((row) => row.chance + 2 * (row.sd || 0)));
    if (fields.size > 1) parts.push(make("h4", { text: model.a.groups[group] }));
    parts.push(make("ul", { class: "bars words" }, listed.map((row) => make("li", {
      class: row.word === state.word ? "on" : "",
      title: `${percent(row.chance)} here, ${percent(row.overall)} in all the data: ${times(row.lift)}` },
    button(model.a.words[row.word], () => choose({ word: row.word === state.word ? -1 : row.word }, false),
      { class: "link", "aria-pressed": String(row.word === state.word) }),
    bar(row.chance / most, colour(k), { mark: row.overall <= most ? row.overall / most : null,
      ...interval(row, most) }),
    make("span", { class: "number", text: percent(row.chance) }),
    make("span", { class: "number dim", text: times(row.lift) })))));
  }
  parts.push(make("p", { class: "note", text: `Bars: probability in the ${model.nouns.component}; `
    + "tick: in all the data; last column: lift. Choose one to see where else it belongs." }),
  asTable(`${capital(words)} of ${model.names[k]}`, [model.nouns.word, "probability", "in all data", "lift",
    ...(model.a.listSd ? ["sd"] : [])], () => rows.slice(0, 200).map((row) => [model.word(row.word),
    percent(row.chance), percent(row.overall), row.lift.toFixed(1),
    ...(row.sd === null ? [] : [percent(row.sd)])])));
  return parts;
}

const times = (lift) => lift < 0.01 ? "×<0.01" : `×${lift >= 99.5 ? whole(lift) : lift.toPrecision(2)}`;
const interval = (row, most) => row.sd === null ? {}
  : { low: Math.max(0, row.chance - 2 * row.sd) / most, high: (row.chance + 2 * row.sd) / most };

// ---- questions: votes, surveys, genotypes ----

function questionParts(k) {
  const byDifference = state.telling === "difference";
  const rows = model.questions(k, byDifference, SHOWN);
  if (!rows.length) return [];
  const tone = colour(k);
  const short = rows.every(({ group }) => model.a.groups[group].length <= 14); // one line each
  const longest = Math.max(4, Math.min(18, ...[Math.max(...rows.map(({ answers }) =>
    (short ? model.word(answers[0].word) : model.a.words[answers[0].word]).length + 1))]));
  const line = (row, named) => make("li", { class: row.word === state.word ? "on" : "" },
    button(short ? model.word(row.word) : model.a.words[row.word], () => choose({ word: row.word === state.word ? -1 : row.word }, false),
      { class: named ? "link strong" : "link", "aria-pressed": String(row.word === state.word) }),
    bar(row.chance, tone, { mark: row.others, ...interval(row, 1) }),
    make("span", { class: "number", text: percent(row.chance) }),
    make("span", { class: "number dim", text: percent(row.others) }));
  return [make("h3", { text: `What sets it apart` }),
    make("div", { class: "fields" }, choice("by", [["evidence", "how much it tells"],
      ["difference", "difference"]], state.telling, (key) => choose({ telling: key }, false))),
    make("ol", { class: short ? "questions short" : "questions", css: { "--wide": `${longest}ch` } }, rows.map(({ group, answers }) => make("li", {},
      !short && make("span", { class: "question", text: model.a.groups[group] }),
      make("ul", { class: "bars answers" }, line(answers[0], true)),
      answers.length > 1 && moreAnswers(answers.slice(1), line)))),
    make("p", { class: "note", text: `Bars: share of the answer in the ${model.nouns.component}; tick and last `
      + `column: in the other ${model.nouns.components}.` }),
    asTable(`Answers of ${model.names[k]}`, [model.nouns.groups, "answer", "here", "others", "in all data"],
      () => rows.flatMap(({ group, answers }) => answers.map((row) => [model.a.groups[group],
        model.a.words[row.word], percent(row.chance), percent(row.others), percent(row.overall)])))];
}

function moreAnswers(answers, line) {
  if (answers.length === 1) return null; // the other of two answers is the rest
  const details = make("details", { class: "more-answers" },
    make("summary", { text: `${answers.length} more answers` }));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) {
      details.append(make("ul", { class: "bars answers" }, answers.map((row) => line(row, false))));
    }
  });
  return details;
}

// ---- documents, labels, neighbours ----

function typicalPart(k) {
  const typical = model.typical(k, 8);
  return [make("h3", { text: `Typical ${model.nouns.documents}` }),
    make("ul", { class: "documents" }, typical.map((i) => make("li", {},
      documentLink(i, percent(model.share(i, k))),
      model.a.texts && model.a.texts[i] && make("p", { class: "start",
        text: shorten(model.a.texts[i].replaceAll("\v", " "), 150) })))),
    button(`All ${model.nouns.documents} by share`, () => choose({ pane: "documents", sort: "share" }),
      { class: "small" })];
}

function labelPart(k) {
  const parts = [];
  model.header.columns.forEach((column, n) => {
    const names = model.a[`label${n}`], size = names.length;
    const means = Array.from({ length: size }, (_, g) => model.a[`labelMean${n}`][g * model.K + k]);
    const errors = Array.from({ length: size }, (_, g) => model.a[`labelError${n}`][g * model.K + k]);
    const caption = `Mean share of ${model.names[k]} by ${column.name}`;
    parts.push(make("h3", { text: column.time ? `Over time (${column.name})` : `By ${column.name}` }));
    const used = names.map((_, g) => g).filter((g) => column.sizes[g] > 0);
    if (column.time) {
      parts.push(lineChart({ label: caption, names: used.map((g) => names[g]), at: used, low: 0, tone: colour(k),
        values: used.map((g) => means[g]), errors: used.map((g) => errors[g]) }));
    } else {
      const order = used.sort((a, b) => means[b] - means[a] || a - b);
      const most = Math.max(...order.map((g) => means[g] + 2 * errors[g]), 1e-9);
      parts.push(make("ul", { class: "bars labels" }, order.slice(0, 10).map((g) => make("li", {},
        button(names[g], () => choose({ label: n, value: g, pane: "documents" }), { class: "link",
          title: `${counted(column.sizes[g], model.nouns.document, model.nouns.documents)}` }),
        bar(means[g] / most, colour(k), { low: Math.max(0, means[g] - 2 * errors[g]) / most,
          high: (means[g] + 2 * errors[g]) / most }),
        make("span", { class: "number", text: percent(means[g]) })))));
    }
    parts.push(asTable(caption, [column.name, model.nouns.documents, "mean share", "standard error"],
      () => names.map((name, g) => [name, whole(column.sizes[g]), percent(means[g]), percent(errors[g])])));
  });
  return parts;
}

function neighbourPart(k) {
  const width = model.K > 1 ? model.a.nearest.length / model.K : 0;
  if (!width) return [];
  const near = Array.from({ length: Math.min(width, 6) }, (_, n) => [
    model.a.nearest[k * width + n], model.a.nearestDistance[k * width + n]]);
  return [make("h3", { text: `Most similar ${model.nouns.components}` }),
    make("ul", { class: "neighbours" }, near.map(([other, distance]) => make("li", {}, componentLink(other),
      make("span", { class: "number dim", text: distance.toFixed(2),
        title: `${model.header.map.distance} distance, from 0 to 1` }))))];
}
