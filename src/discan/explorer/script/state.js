// What is chosen, kept in the address so that links and Back work; panes redraw what they need.

const state = {
  component: 0, document: -1, word: -1, pane: "component", weight: 0.3, order: "size", sort: "share",
  label: -1, value: -1, column: 0, least: 0, names: "", query: [], colour: "component",
  lasso: null, telling: "evidence",
};
const START = { ...state };
const KEPT = {
  // name in the address: [key, text of the value, value of the text]
  c: ["component", (v) => String(v + 1), (t) => inside(t - 1, model.K)],
  d: ["document", (v) => String(v + 1), (t) => inside(t - 1, model.I)],
  w: ["word", (v) => String(v + 1), (t) => inside(t - 1, model.J)],
  pane: ["pane", String, (t) => (t in PANES ? t : undefined)],
  r: ["weight", String, (t) => (t >= 0 && t <= 1 ? Number(t) : undefined)],
  sort: ["sort", String, (t) => (t in SORTS ? t : undefined)],
  order: ["order", String, (t) => (t in ORDERS ? t : undefined)],
  l: ["label", (v) => String(v + 1), (t) => inside(t - 1, model.header.columns.length)],
  v: ["value", (v) => String(v + 1), (t) => inside(t - 1, 1e6)],
  by: ["column", (v) => String(v + 1), (t) => inside(t - 1, model.header.columns.length)],
  least: ["least", String, (t) => (t >= 0 && t <= 100 ? Number(t) : undefined)],
  name: ["names", String, String],
  q: ["query", (v) => v.map((j) => j + 1).join("."),
    (t) => t.split(".").map((n) => inside(n - 1, model.J)).filter((j) => j !== undefined)],
};
const inside = (number, size) =>
  Number.isInteger(number) && number >= 0 && number < size ? number : undefined;

let written = "";
const panes = []; // {keys, draw}

function choose(changes, step = true) {
  const changed = Object.keys(changes).filter((key) => state[key] !== changes[key]);
  if (!changed.length) return;
  Object.assign(state, changes);
  write(step && changed.some((key) => ["component", "document", "pane", "query"].includes(key)));
  redraw(changed);
}

function redraw(changed) {
  const restore = remembered();
  for (const pane of panes) {
    if (changed === null || pane.keys.some((key) => changed.includes(key))) {
      if (pane.hidden && pane.hidden()) pane.stale = true;
      else {
        pane.stale = false;
        pane.draw();
      }
    } else if (pane.stale && !(pane.hidden && pane.hidden())) {
      pane.stale = false;
      pane.draw();
    }
  }
  restore();
}

// Remember which control has the focus, and give the focus to its successor if it was replaced.
function remembered() {
  const node = document.activeElement;
  const part = node && node.closest("#components, [role=tabpanel], #document");
  if (!part) return () => {};
  const controls = () => [...part.querySelectorAll("button, select, input, summary, [tabindex='0']")];
  const told = (control) => `${control.tagName} ${control.getAttribute("aria-label") || ""} `
    + `${control.closest("label") ? control.closest("label").firstChild.textContent : control.textContent}`;
  const place = controls().indexOf(node), name = told(node);
  return () => {
    if (node.isConnected || part.hidden) return;
    const now = controls();
    const same = now.filter((control) => told(control) === name);
    const next = same[0] || now[Math.min(place, now.length - 1)];
    if (next) next.focus({ preventScroll: true });
  };
}

function write(step) {
  const parts = [];
  for (const [name, [key, text]] of Object.entries(KEPT)) {
    const same = Array.isArray(state[key]) ? !state[key].length : state[key] === START[key];
    if (!same) parts.push(`${name}=${encodeURIComponent(text(state[key]))}`);
  }
  written = parts.join("&");
  try { // a page inside a notebook may have no address of its own
    if (step) location.hash = written;
    else history.replaceState(null, "", `#${written}`);
  } catch { /* the page works without */ }
}

function read() {
  const text = location.hash.replace(/^#/, "");
  const found = { ...START, lasso: state.lasso, colour: state.colour, telling: state.telling };
  for (const pair of text.split("&")) {
    const [name, value] = pair.split("=");
    if (!KEPT[name] || value === undefined) continue;
    let plain;
    try { plain = decodeURIComponent(value); } catch { continue; }
    const [key, , parse] = KEPT[name];
    const result = parse(plain);
    if (result !== undefined) found[key] = result;
  }
  Object.assign(state, found);
  written = text;
}

function say(text) {
  document.getElementById("live").textContent = text;
}
