// The map: components by similarity, documents at the mean of their components.

function mapPane() {
  const { nouns } = model;
  const canvas = make("canvas", { role: "img", tabindex: "0" });
  const tip = make("p", { class: "facts", role: "status" });
  const tools = make("div", { class: "fields" });
  const node = make("div", { class: "pane-inner" }, tools, make("div", { class: "map" }, canvas), tip,
    make("p", { class: "note", text: model.a.own
      ? `${capital(nouns.documents)} where you placed them. Draw around some to list them.`
      : `Near is alike (${model.header.map.distance} distance, of which the plane keeps `
      + `${Math.round(100 * model.header.map.kept)} %); the area of a disc is its share. ${capital(an(nouns.document))} `
      + `is at the mean of its ${nouns.components}. Draw around some to list them.` }),
    asTable("Map", [nouns.component, "share of all", "most similar"], () => model.components.map((c, k) => {
      const width = model.K > 1 ? model.a.nearest.length / model.K : 0;
      return [model.names[k], percent(c.size), width ? model.names[model.a.nearest[k * width]] : ""];
    })));
  let place = null, path = null, discs = [], zoom = 1;

  function layout() {
    const width = canvas.clientWidth || 600, height = canvas.clientHeight || 460;
    const points = model.places;
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    const take = (x, y) => {
      left = Math.min(left, x); right = Math.max(right, x); low = Math.min(low, y); high = Math.max(high, y);
    };
    if (!model.a.own) for (let k = 0; k < model.K; k++) take(model.a.place[2 * k], model.a.place[2 * k + 1]);
    for (let i = 0; i < model.I && model.a.own; i++) take(points[2 * i], points[2 * i + 1]);
    const margin = Math.min(70, width / 8);
    const scale = Math.min((width - 2 * margin) / (right - left || 1), (height - 2 * margin) / (high - low || 1));
    let [across, up] = [(left + right) / 2, (low + high) / 2];
    if (zoom > 1 && !model.a.own) [across, up] = model.a.place.subarray(2 * state.component, 2 * state.component + 2);
    place = (x, y) => [width / 2 + (x - across) * scale * zoom, height / 2 - (y - up) * scale * zoom];
  }

  const radius = (size) => Math.max(5, Math.min(canvas.clientWidth || 600, 700) / 10 * Math.sqrt(size));

  // The place of a document on the screen; those at one place are spread a little, always the same.
  function at(i) {
    const points = model.places;
    const [x, y] = place(points[2 * i], points[2 * i + 1]);
    if (model.a.own) return [x, y];
    const s = i * model.S, share = model.a.share[s] * model.unit;
    const most = Math.max(7, 0.85 * share * radius(model.components[model.a.top[s]].size));
    const turn = 2.399963 * (i % 997), reach = most * Math.sqrt(((i * 7919) % 1000) / 1000);
    return [x + reach * Math.cos(turn), y + reach * Math.sin(turn)];
  }

  function render() {
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth || 600, height = canvas.clientHeight || 460;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    layout();
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.clearRect(0, 0, width, height);
    const style = getComputedStyle(document.body);
    const ink = style.getPropertyValue("--ink").trim(), paper = style.getPropertyValue("--paper").trim();
    const faint = style.getPropertyValue("--others").trim();
    const shares = model.sharesOf(state.component), kept = filtered();
    const size = model.I > 20000 ? 1.4 : model.I > 3000 ? 2 : 3;
    const few = model.I <= 2000; // dots above the discs, each with an edge
    const dots = () => { for (let i = 0; i < model.I; i++) {
      const [x, y] = at(i);
      const on = !kept || kept.has(i);
      pen.globalAlpha = on ? (model.I > 20000 ? 0.35 : 0.6) : 0.05;
      if (state.colour === "share") {
        pen.fillStyle = shares[i] > 0.02 ? colour(state.component) : faint;
        pen.globalAlpha *= 0.25 + 0.75 * Math.sqrt(shares[i]);
      } else pen.fillStyle = colour(model.a.top[i * model.S]);
      if (few) {
        pen.globalAlpha = on ? 0.9 : 0.12;
        pen.strokeStyle = paper;
        pen.lineWidth = 1;
        pen.beginPath();
        pen.arc(x, y, 4, 0, 7);
        pen.fill();
        pen.stroke();
      } else pen.fillRect(x - size / 2, y - size / 2, size, size);
    } };
    if (!few) dots();
    pen.globalAlpha = 1;
    discs = [];
    if (!model.a.own) {
      const order = model.components.map((_, k) => k).sort((a, b) => model.components[b].size - model.components[a].size);
      const weights = state.word >= 0 ? model.componentsOf([state.word]) : null;
      for (const k of order) {
        const [x, y] = place(model.a.place[2 * k], model.a.place[2 * k + 1]);
        const reach = radius(weights ? weights[k] : model.components[k].size);
        discs.push({ k, x, y, radius: reach });
        pen.globalAlpha = few ? 0.3 : 0.78;
        pen.fillStyle = colour(k);
        pen.beginPath();
        pen.arc(x, y, reach, 0, 7);
        pen.fill();
        pen.globalAlpha = 1;
        pen.lineWidth = k === state.component ? 3 : 1;
        pen.strokeStyle = k === state.component ? ink : paper;
        pen.stroke();
      }
      if (few) dots();
      pen.globalAlpha = 1;
      const chosen = discs.find((disc) => disc.k === state.component);
      labels(pen, chosen ? [chosen, ...discs.filter((disc) => disc !== chosen)] : discs, width, ink, paper);
    }
    if (few && model.a.own) dots();
    pen.globalAlpha = 1;
    if (state.document >= 0) {
      const [x, y] = at(state.document);
      pen.strokeStyle = ink;
      pen.lineWidth = 2;
      pen.strokeRect(x - 6, y - 6, 12, 12);
    }
    if (path) {
      pen.strokeStyle = ink;
      pen.lineWidth = 1.5;
      pen.setLineDash([4, 3]);
      pen.beginPath();
      path.forEach(([x, y], n) => (n ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      pen.stroke();
      pen.setLineDash([]);
    }
    canvas.setAttribute("aria-label", `Map of ${counted(model.K, nouns.component, nouns.components)} and `
      + `${counted(model.I, nouns.document, nouns.documents)}. The list of ${nouns.components} and the table below say the same.`);
    tools.replaceChildren(choice("colour", [["component", `main ${nouns.component}`],
      ["share", `share of ${shorten(model.names[state.component], 30)}`]], state.colour,
    (key) => choose({ colour: key }, false)),
    make("span", { class: "zoom" }, button("+", () => enlarge(1.5), { "aria-label": "Larger", class: "small" }),
      button("−", () => enlarge(1 / 1.5), { "aria-label": "Smaller", class: "small" })),
    state.lasso ? button(`List ${counted(state.lasso.size, nouns.document, nouns.documents)}`,
      () => choose({ pane: "documents" })) : "",
    state.lasso ? button("Clear", () => choose({ lasso: null }, false)) : "");
  }

  function enlarge(factor) {
    const restore = remembered();
    zoom = Math.max(1, Math.min(40, zoom * factor));
    render();
    restore();
  }

  function filtered() {
    if (state.lasso) return state.lasso;
    if (state.label < 0 || state.value < 0) return null;
    const code = model.a[`code${state.label}`], found = new Set();
    for (let i = 0; i < model.I; i++) if (code[i] === state.value + 1) found.add(i);
    return found;
  }

  // Names beside their discs, the largest first, as long as they cover no other name.
  function labels(pen, ordered, width, ink, paper) {
    pen.font = "600 12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    const taken = [];
    for (const { k, x, y, radius } of ordered) {
      const text = shorten(unnamed(k) ? `${model.components[k].number} ${firstWords(k, 2)}` : model.names[k], 28), wide = pen.measureText(text).width;
      const places = [[x + radius + 4, y], [x - radius - 4 - wide, y], [x - wide / 2, y - radius - 9],
        [x - wide / 2, y + radius + 9]];
      const free = places.find(([left, middle]) => left > 2 && left + wide < width - 2
        && !taken.some((box) => left < box[1] && left + wide > box[0] && middle - 8 < box[3] && middle + 8 > box[2]));
      if (!free || x < 0 || y < 0 || x > width) continue;
      taken.push([free[0], free[0] + wide, free[1] - 8, free[1] + 8]);
      pen.lineWidth = 3.5;
      pen.strokeStyle = paper;
      pen.globalAlpha = 0.85;
      pen.strokeText(text, free[0], free[1]);
      pen.globalAlpha = 1;
      pen.fillStyle = ink;
      pen.fillText(text, free[0], free[1]);
    }
  }

  function near(x, y) {
    const disc = [...discs].reverse().find((d) => Math.hypot(d.x - x, d.y - y) <= d.radius);
    let bestOne = -1, least = 100;
    for (let i = 0; i < model.I; i++) {
      const [px, py] = at(i), apart = (px - x) ** 2 + (py - y) ** 2;
      if (apart < least) [bestOne, least] = [i, apart];
    }
    if (bestOne >= 0 && (least < 16 || !disc)) return { document: bestOne };
    return disc ? { component: disc.k } : null;
  }

  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    path = [point(event)];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = point(event);
    if (path) {
      const [px, py] = path[path.length - 1];
      if (Math.hypot(px - x, py - y) > 4) { path.push([x, y]); render(); }
      return;
    }
    if (!place) return;
    const found = near(x, y);
    tip.textContent = !found ? "\u00a0" : "component" in found
      ? `${model.names[found.component]}: ${percent(model.components[found.component].size)}` : model.a.names[found.document];
    canvas.style.cursor = found ? "pointer" : "crosshair";
  });
  canvas.addEventListener("pointercancel", () => { path = null; render(); });
  canvas.addEventListener("pointerup", (event) => {
    const line = path;
    path = null;
    if (!line) return;
    if (line.length < 5) {
      const found = near(...point(event));
      if (found) choose(found);
      return;
    }
    const chosen = new Set();
    for (let i = 0; i < model.I; i++) if (within(at(i), line)) chosen.add(i);
    const text = `${counted(chosen.size, nouns.document, nouns.documents)} chosen`;
    tip.textContent = text;
    say(text);
    choose({ lasso: chosen.size ? chosen : null }, false);
    render();
  });
  canvas.addEventListener("keydown", (event) => {
    const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (!(event.key in ways) || !discs.length) return;
    event.preventDefault();
    const [wx, wy] = ways[event.key], from = discs.find((disc) => disc.k === state.component) || discs[0];
    const ahead = discs.map((disc) => ({ disc, forward: (disc.x - from.x) * wx + (disc.y - from.y) * wy,
      side: Math.abs((disc.x - from.x) * wy) + Math.abs((disc.y - from.y) * wx) }))
      .filter((row) => row.forward > 1).sort((a, b) => a.forward + 2 * a.side - b.forward - 2 * b.side);
    if (ahead.length) {
      choose({ component: ahead[0].disc.k });
      say(model.names[ahead[0].disc.k]);
    }
  });
  new ResizeObserver(() => { if (state.pane === "map") render(); }).observe(canvas);
  panes.push({ keys: ["component", "document", "word", "lasso", "colour", "label", "value", "pane"],
    hidden: () => state.pane !== "map", draw: render });
  return node;
}

// Whether a point is inside a closed line (even-odd rule).
function within([x, y], line) {
  let inside = false;
  for (let n = 0, m = line.length - 1; n < line.length; m = n++) {
    const [ax, ay] = line[n], [bx, by] = line[m];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}
