// Documents by label: mean shares, and every document side by side.

function labelsPane() {
  const { nouns, header } = model;
  const body = make("div", {});
  const canvas = make("canvas", { class: "structure", role: "img" });
  const tip = make("p", { class: "facts" });
  const node = make("div", { class: "pane-inner" }, body, make("h3", { text: `Every ${nouns.document}` }), canvas, tip,
    make("p", { class: "note", text: `A column is ${an(nouns.document)}; its colours are its shares. Choose one by a click.` }));
  let order = [];

  function render() {
    const n = Math.min(state.column, header.columns.length - 1);
    body.replaceChildren();
    if (n >= 0) {
      const column = header.columns[n], names = model.a[`label${n}`];
      const used = names.map((_, g) => g).filter((g) => column.sizes[g] > 0);
      const means = model.a[`labelMean${n}`], errors = model.a[`labelError${n}`], k = state.component;
      const mean = (g, c) => means[g * model.K + c];
      const rows = column.time ? used : [...used].sort((a, b) => mean(b, k) - mean(a, k) || a - b);
      body.append(make("div", { class: "fields" }, choice("by", header.columns.map((c, at) => [String(at), c.name]),
        String(n), (text) => choose({ column: Number(text) }, false))),
      make("ul", { class: "bars by-label" }, rows.slice(0, 150).map((g) => {
        const parts = model.components.map((_, c) => ({ k: c, share: mean(g, c) }));
        return make("li", { class: state.label === n && state.value === g ? "on" : "" },
          button(names[g], () => choose({ label: n, value: g, pane: "documents" }), { class: "link" }),
          mixBar({ parts, left: 0 }, { class: "mix tall" }),
          make("span", { class: "number", text: percent(mean(g, k)),
            title: `± ${percent(errors[g * model.K + k])} (standard error)` }),
          make("span", { class: "number dim", text: whole(column.sizes[g]) }));
      })),
      make("p", { class: "note", text: `Mean shares; first number: ${model.names[k]}; second: ${nouns.documents}. `
        + `Choose a label to list its ${nouns.documents}.` }),
      asTable(`Mean shares by ${column.name}`, [column.name, nouns.documents, ...model.names],
        () => rows.map((g) => [names[g], whole(column.sizes[g]), ...model.components.map((_, c) => percent(mean(g, c)))])));
    } else {
      body.append(make("p", { class: "note", text: `The ${nouns.documents} have no labels.` }));
    }
    structure(n);
  }

  // Every document as a thin column, label by label, and inside a label by its main component.
  function structure(n) {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth || 600, height = canvas.clientHeight || 180;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const code = n >= 0 ? model.a[`code${n}`] : new Uint8Array(model.I);
    const { top, share } = model.a, S = model.S;
    order = Array.from({ length: model.I }, (_, i) => i).sort((a, b) => code[a] - code[b]
      || top[a * S] - top[b * S] || share[b * S] - share[a * S] || a - b);
    const head = 16, foot = height - head, style = getComputedStyle(document.body);
    const columns = Math.min(model.I, Math.floor(width * ratio)), step = width / columns;
    const edge = (x) => Math.round(x * step * ratio) / ratio; // whole pixels: no seams
    for (let x = 0; x < columns; x++) {
      const i = order[Math.floor((x * model.I) / columns)], left = edge(x);
      let y = height;
      for (const part of model.mix(i).parts.sort((a, b) => a.k - b.k)) {
        const tall = part.share * foot;
        pen.fillStyle = colour(part.k);
        pen.fillRect(left, y - tall, edge(x + 1) - left, tall);
        y -= tall;
      }
    }
    pen.fillStyle = style.getPropertyValue("--ink").trim();
    pen.strokeStyle = pen.fillStyle;
    pen.font = "12px system-ui, sans-serif";
    let last = -1, free = 0;
    order.forEach((i, at) => {
      if (n < 0 || code[i] === last) return;
      last = code[i];
      const x = (at * width) / model.I, text = shorten(code[i] ? model.a[`label${n}`][code[i] - 1] : "(none)", 18);
      pen.fillRect(x, head - 3, 1, height);
      if (x >= free && x + pen.measureText(text).width < width) {
        pen.fillText(text, x + 2, 11);
        free = x + pen.measureText(text).width + 8;
      }
    });
    canvas.setAttribute("aria-label", `Shares of every ${nouns.document}${n >= 0 ? `, by ${header.columns[n].name}` : ""}; `
      + `the list of ${nouns.documents} says the same.`);
  }

  const under = (event) => {
    const box = canvas.getBoundingClientRect();
    return order[Math.max(0, Math.min(model.I - 1, Math.floor(((event.clientX - box.left) / box.width) * model.I)))];
  };
  canvas.addEventListener("pointermove", (event) => {
    const i = under(event);
    if (i !== undefined) tip.textContent = `${model.a.names[i]}: ${mixText(i)}`;
  });
  canvas.addEventListener("click", (event) => { const i = under(event); if (i !== undefined) choose({ document: i }); });
  new ResizeObserver(() => { if (state.pane === "labels" && order.length) structure(Math.min(state.column, header.columns.length - 1)); })
    .observe(canvas);
  panes.push({ keys: ["component", "column", "pane", "label", "value"], hidden: () => state.pane !== "labels", draw: render });
  return node;
}

const mixText = (i) => model.mix(i).parts.filter((part) => part.share >= 0.05).slice(0, 4)
  .map((part) => `${model.names[part.k]} ${percent(part.share)}`).join(", ");
