// Parts that several panes share: colours, names, bars, small charts.

const dark = matchMedia("(prefers-color-scheme: dark)");
const toned = new Map();

// The colour of a component, the same as in all figures; in the dark a lighter tone of it.
function colour(k) {
  const base = model.components[k].colour;
  if (!dark.matches) return base;
  if (!toned.has(base)) {
    const parts = [1, 3, 5].map((n) => parseInt(base.slice(n, n + 2), 16));
    let [red, green, blue] = parts, step = 0;
    while (0.3 * red + 0.59 * green + 0.11 * blue < 118 && step++ < 20) {
      [red, green, blue] = [red, green, blue].map((level) => level + 0.12 * (255 - level));
    }
    toned.set(base, `rgb(${Math.round(red)},${Math.round(green)},${Math.round(blue)})`);
  }
  return toned.get(base);
}

const OTHERS = "var(--others)";

// ---- names given on the page ----

let given = {}; // by number from 1

function readGiven() {
  try {
    const found = JSON.parse(localStorage.getItem(`discan ${model.header.key}`) || "{}");
    for (const [number, name] of Object.entries(found)) {
      if (typeof name === "string" && name) given[number] = name.slice(0, 200);
    }
  } catch { given = {}; }
  applyGiven();
}

function applyGiven() {
  model.names = model.components.map((component) => given[component.number] || component.name);
}

function rename(k, name) {
  const component = model.components[k];
  const text = name.replace(/\s+/g, " ").trim().slice(0, 200);
  if (!text || text === component.name) delete given[component.number];
  else given[component.number] = text;
  applyGiven();
  try {
    localStorage.setItem(`discan ${model.header.key}`, JSON.stringify(given));
  } catch { /* names last as long as the page is open */ }
  redraw(null);
}

function saveNames() {
  const text = JSON.stringify(given, null, 2);
  const link = make("a", { download: "names.json",
    href: URL.createObjectURL(new Blob([text], { type: "application/json" })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// ---- bars ----

const swatch = (k) => make("i", { class: "swatch", css: { background: colour(k) } });

// The shares of a document side by side; the text beside it says the same.
function mixBar(mix, properties = {}) {
  const least = Math.min(0.01, 0.1 / mix.parts.length);
  const shown = mix.parts.filter((part) => part.share >= least);
  const left = 1 - shown.reduce((sum, part) => sum + part.share, 0);
  const parts = shown.map(({ k, share }) => make("i", {
    css: { "flex-grow": String(share), background: colour(k) }, class: k === state.component ? "on" : "",
    title: `${model.names[k]}: ${percent(share)}`,
  }));
  if (left > 0.003) {
    parts.push(make("i", { css: { "flex-grow": String(left), background: OTHERS },
      title: `other ${model.nouns.components}: ${percent(left)}` }));
  }
  return make("span", { class: "mix", "aria-hidden": "true", ...properties }, parts);
}

// A bar from 0 with a mark for comparison, and a line for an interval; all from 0 to 1.
function bar(length, tone, { mark = null, low = null, high = null } = {}) {
  const clamp = (value) => `${100 * Math.max(0, Math.min(1, value))}%`;
  return make("span", { class: "bar", "aria-hidden": "true" },
    make("i", { css: { width: clamp(length), background: tone } }),
    low !== null && make("u", { css: { left: clamp(low), width: clamp(Math.min(high, 1) - low) } }),
    mark !== null && make("b", { css: { left: clamp(mark) } }));
}

// A component's name as a button, with a few of its words if it has no name of its own.
function componentLink(k) {
  return make("button", { type: "button", class: "link component", on: { click: () => choose({ component: k }) } },
    swatch(k), make("span", {}, model.names[k],
      unnamed(k) ? make("span", { class: "dim", text: ` ${firstWords(k, 3)}` }) : ""));
}

// Whether a component of a text has only a number, so that its words say more.
const unnamed = (k) => !model.header.grouped && model.names[k].endsWith(` ${model.components[k].number}`);

function documentLink(i, more = "") {
  return make("button", { type: "button", class: "document-link", on: {
    click: () => choose({ document: i }) } },
  make("span", { class: "name", text: model.a.names[i] }),
  make("span", { class: "more", text: more }), mixBar(model.mix(i)));
}

// A line with its interval; ``at`` are the places of the values, 0, 1, 2, ... if they are not given.
function lineChart({ label, names, values, at = null, errors = null, tone, low = null, top = null, marks = 5,
  form = percent, title = "" }) {
  const width = 640, height = 210, left = 58, right = 12, foot = 28, head = 10;
  const least = low === null ? Math.min(...values) : low;
  const most = top === null
    ? Math.max(...values.map((value, n) => value + (errors ? 2 * errors[n] : 0))) : top;
  const span = most - least || 1;
  const spots = at || values.map((_, n) => n);
  const [begin, end] = [spots[0], spots[spots.length - 1]];
  const x = (n) => left + (width - left - right) * (end > begin ? (spots[n] - begin) / (end - begin) : 0.5);
  const y = (value) => head + (height - head - foot) * (1 - (value - least) / span);
  const points = values.map((value, n) => `${x(n).toFixed(1)},${y(value).toFixed(1)}`);
  const lines = [];
  for (let n = 0; n <= 4; n++) {
    const value = least + (span * n) / 4;
    lines.push(draw("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      draw("text", { class: "tick end", x: left - 6, y: y(value) + 4, text: form(value) }));
  }
  const step = Math.max(1, Math.ceil(names.length / marks));
  names.forEach((name, n) => {
    if (n % step && n !== names.length - 1) return;
    if (n !== names.length - 1 && names.length - 1 - n < step / 2) return;
    const place = n === 0 ? "start" : n === names.length - 1 ? "end" : "middle";
    lines.push(draw("text", { class: `tick ${place}`, x: x(n), y: height - 8, text: shorten(name, 16) }));
  });
  const band = errors && values.map((value, n) => `${x(n).toFixed(1)},${y(Math.min(value + 2 * errors[n], most)).toFixed(1)}`)
    .concat(values.map((value, n) => `${x(n).toFixed(1)},${y(Math.max(value - 2 * errors[n], least)).toFixed(1)}`).reverse());
  return draw("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    title && draw("title", { text: title }), lines,
    band && draw("polygon", { points: band.join(" "), fill: tone, opacity: "0.18" }),
    draw("polyline", { points: points.join(" "), fill: "none", stroke: tone, "stroke-width": "2.2" }),
    values.length <= 70 && values.map((value, n) => draw("circle", { cx: x(n), cy: y(value), r: 2.6, fill: tone },
      draw("title", { text: `${names[n]}: ${form(value)}` }))));
}
