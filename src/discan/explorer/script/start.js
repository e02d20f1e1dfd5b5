// Build the page.

let model = null;
const PANES = {
  component: [(nouns) => capital(nouns.component), componentPane],
  documents: [(nouns) => capital(nouns.documents), documentsPane],
  map: [() => "Map", mapPane],
  labels: [() => "Labels", labelsPane],
  search: [() => "Search", searchPane],
  diagnostics: [() => "How sure", diagnosticsPane],
};

function tabs() {
  const list = make("div", { role: "tablist", "aria-label": "Views" });
  const bodies = {};
  const buttons = Object.entries(PANES).map(([key, [title, build]]) => {
    bodies[key] = make("div", { role: "tabpanel", id: `pane-${key}`, "aria-labelledby": `tab-${key}`, tabindex: "-1" },
      build());
    return make("button", { type: "button", role: "tab", id: `tab-${key}`, "aria-controls": `pane-${key}`,
      text: title(model.nouns), on: { click: () => choose({ pane: key }) } });
  });
  list.append(...buttons);
  list.addEventListener("keydown", (event) => {
    const moves = { ArrowRight: 1, ArrowLeft: -1, Home: -99, End: 99 };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const keys = Object.keys(PANES), now = keys.indexOf(state.pane);
    const step = now + moves[event.key];
    const next = Math.abs(moves[event.key]) > 1 ? Math.max(0, Math.min(keys.length - 1, step))
      : (step + keys.length) % keys.length;
    choose({ pane: keys[next] });
    document.getElementById(`tab-${keys[next]}`).focus();
  });
  const show = () => {
    for (const key of Object.keys(PANES)) {
      const on = key === state.pane, tab = list.querySelector(`#tab-${key}`);
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      bodies[key].hidden = !on;
    }
  };
  panes.unshift({ keys: ["pane"], draw: show });
  return make("section", { id: "panels", "aria-label": "Views" }, list, Object.values(bodies));
}

function about() {
  const { header } = model;
  const parts = [make("p", { class: "lead", text: header.about }), make("p", { class: "note", text: header.explained })];
  if (header.score) parts.push(make("p", { class: "note", text: scoreText() }));
  if (header.leftOut) parts.push(make("p", { class: "note", text: `To keep the page small: ${header.leftOut}.` }));
  if (header.warnings.length) {
    parts.push(make("p", { class: "warning" }, make("strong", { text: "Note: " }), header.warnings[0],
      header.warnings.length > 1 ? ` (${header.warnings.length - 1} more under ` : "",
      header.warnings.length > 1 ? button("How sure", () => choose({ pane: "diagnostics" }), { class: "link" }) : "",
      header.warnings.length > 1 ? ")" : ""));
  }
  document.getElementById("about").replaceChildren(...parts);
}

async function start() {
  const main = document.getElementById("main");
  try {
    model = readModel(await unpack(document.getElementById("data").textContent));
  } catch (error) {
    main.replaceChildren(make("p", { role: "alert",
      text: `The data of this page cannot be read by this browser (${error.message}). A newer browser can.` }));
    return;
  }
  readGiven();
  document.getElementById("data").remove();
  about();
  const components = componentList(), panels = tabs(), one = documentPane();
  document.body.prepend(make("a", { class: "skip", href: "#panels", text: "Skip to the views",
    on: { click: (event) => { event.preventDefault(); document.getElementById(`tab-${state.pane}`).focus(); } } }));
  main.replaceChildren(components, panels, one,
    make("div", { id: "live", role: "status", "aria-live": "polite", class: "hidden" }));
  document.body.append(make("footer", {}, make("p", { text: `Made by discan ${model.header.version}. This page is one file `
    + "and fetches nothing. Names that you give are kept in this browser; “save names” writes them to a file for "
    + "“discan name MODEL names.json”." })));
  START.document = model.typical(0, 1)[0] ?? -1;
  read();
  redraw(null);
  window.addEventListener("hashchange", () => {
    if (location.hash.replace(/^#/, "") === written) return;
    read();
    redraw(null);
  });
  dark.addEventListener("change", () => redraw(null));
  document.documentElement.dataset.ready = "yes";
}

start();
