// Make elements. All text goes in as text: no markup is ever read from the data.

const SVG = "http://www.w3.org/2000/svg";
let identities = 0;
const identity = (kind) => `${kind}-${++identities}`;

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    } else if (name === "css") {
      for (const [property, text] of Object.entries(value)) node.style.setProperty(property, text);
    } else if (name === "text") {
      node.textContent = value;
    } else if (name === "value" || name === "checked" || name === "selected") {
      node[name] = value;
    } else {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

const make = (tag, properties, ...children) =>
  fill(document.createElement(tag), properties, children);
const draw = (tag, properties, ...children) =>
  fill(document.createElementNS(SVG, tag), properties, children);
const button = (text, click, properties = {}, ...children) =>
  make("button", { type: "button", on: { click }, text, ...properties }, ...children);

const percent = (part) => {
  const value = 100 * part;
  if (value === 0) return "0\u00a0%";
  const digits = value >= 99.95 ? 0 : value >= 0.1 ? 1 : 2;
  return `${value < 0.005 ? "<0.01" : value.toFixed(digits)}\u00a0%`;
};
const rounded = (number) => number.toLocaleString("en-GB", { maximumSignificantDigits: 3 });
const whole = (number) => number.toLocaleString("en-GB", { maximumFractionDigits: 0 });
const counted = (number, one, many) => `${whole(number)} ${number === 1 ? one : many}`;
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const an = (noun) => `${/^[aeio]/i.test(noun) ? "an" : "a"} ${noun}`;
const shorten = (text, longest) =>
  text.length <= longest ? text : `${text.slice(0, longest - 1).trimEnd()}…`;

// A table behind the words "as table", made when it is first opened.
function asTable(caption, titles, rows) {
  const details = make("details", { class: "table" }, make("summary", { text: "as table" }));
  details.addEventListener("toggle", () => {
    if (!details.open || details.querySelector("table")) return;
    details.append(make("div", { class: "scroll", tabindex: "0", role: "region",
      "aria-label": caption }, table(caption, titles, rows())));
  });
  return details;
}

function table(caption, titles, rows) {
  return make("table", {},
    make("caption", { text: caption }),
    make("thead", {}, make("tr", {}, titles.map((title) => make("th", { scope: "col", text: title })))),
    make("tbody", {}, rows.map((row) => make("tr", {}, row.map((cell, n) =>
      n === 0 ? make("th", { scope: "row" }, cell) : make("td", {}, cell))))));
}

function choice(label, options, value, change) {
  const select = make("select", { on: { change: () => change(select.value) } },
    options.map(([key, text]) => make("option", { value: key, text, selected: key === value })));
  return make("label", { class: "field" }, make("span", { text: label }), select);
}

// A list of any length: only rows in sight are made. Arrow keys, Page Up, Page Down, Home, End.
class List {
  constructor({ label, height, row, choose, follows = false }) {
    Object.assign(this, { height, row, choose, follows });
    this.items = [];
    this.active = -1;
    this.key = identity("list");
    this.inner = make("div", { class: "inner", role: "presentation" });
    this.node = make("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": label,
      on: {
        scroll: () => this.show(), keydown: (event) => this.press(event),
        focus: () => this.mark(this.active < 0 ? 0 : this.active),
        blur: () => this.node.classList.remove("inside"),
      } }, this.inner);
    this.chosen = -1;
    new ResizeObserver(() => this.show(true)).observe(this.node);
  }

  set(items, chosen = -1) {
    this.items = items;
    this.chosen = chosen;
    this.active = chosen;
    this.inner.style.height = `${items.length * this.height}px`;
    if (chosen < 0) this.node.scrollTop = 0;
    else this.reveal(chosen);
    this.show(true);
  }

  select(chosen) {
    this.chosen = chosen;
    this.active = chosen;
    if (chosen >= 0) this.reveal(chosen);
    this.show(true);
  }

  reveal(n) {
    const top = n * this.height, view = this.node;
    if (top < view.scrollTop) view.scrollTop = top;
    else if (top + this.height > view.scrollTop + view.clientHeight) {
      view.scrollTop = top + this.height - view.clientHeight;
    }
  }

  show(again = false) {
    const first = Math.max(0, Math.floor(this.node.scrollTop / this.height) - 3);
    const last = Math.min(this.items.length,
      first + Math.ceil((this.node.clientHeight || 400) / this.height) + 7);
    if (!again && first === this.first && last === this.last) return;
    [this.first, this.last] = [first, last];
    const rows = [];
    for (let n = first; n < last; n++) {
      const node = make("div", {
        class: "row", role: "option", id: `${this.key}-${n}`, "aria-setsize": this.items.length,
        "aria-posinset": n + 1, "aria-selected": String(n === this.chosen),
        css: { top: `${n * this.height}px`, height: `${this.height}px` },
        on: { click: () => { this.mark(n); this.pick(n); } },
      });
      if (n === this.active) node.classList.add("active");
      this.row(this.items[n], node, n);
      rows.push(node);
    }
    this.inner.replaceChildren(...rows);
    if (this.active >= 0) {
      this.node.setAttribute("aria-activedescendant", `${this.key}-${this.active}`);
    } else this.node.removeAttribute("aria-activedescendant");
  }

  mark(n) {
    if (!this.items.length) return;
    this.active = Math.max(0, Math.min(this.items.length - 1, n));
    this.node.classList.add("inside");
    this.reveal(this.active);
    this.show(true);
  }

  pick(n) {
    if (n < 0 || n >= this.items.length) return;
    this.chosen = n;
    this.show(true);
    this.choose(this.items[n], n);
  }

  press(event) {
    const page = Math.max(1, Math.floor(this.node.clientHeight / this.height) - 1);
    const moves = {
      ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity,
    };
    if (event.key in moves && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      this.mark(Math.max(-1, this.active) + moves[event.key]);
      if (this.follows) this.pick(this.active);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.pick(this.active);
    }
  }
}
