// Unpack the data of the page, and answer questions about them. Nothing here touches the page.

const STEPS = 2048; // codes of a logarithm per nat
const ZERO = 65535; // the code of probability 0
const SMOOTHING = 0.001; // share of all the data in the probability of a query
const TYPES = {
  u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array,
};

async function unpack(text) {
  const raw = atob(text.trim());
  const bytes = new Uint8Array(raw.length);
  for (let n = 0; n < raw.length; n++) bytes[n] = raw.charCodeAt(n);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

function readModel(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const decoder = new TextDecoder();
  const header = JSON.parse(decoder.decode(new Uint8Array(buffer, 4, size)));
  const arrays = {};
  for (const [name, [kind, at, length]] of Object.entries(header.arrays)) {
    const place = 4 + size + at;
    arrays[name] = kind === "text"
      ? decoder.decode(new Uint8Array(buffer, place, length)).split("\n")
      : new TYPES[kind](buffer, place, length);
  }
  return new Model(header, arrays);
}

class Model {
  constructor(header, arrays) {
    this.header = header;
    this.a = arrays;
    this.nouns = header.nouns;
    this.components = header.components;
    this.K = header.components.length;
    this.I = header.shown;
    this.J = arrays.words.length;
    this.S = header.perDocument;
    this.T = arrays.wordComponents.length / this.J;
    this.unit = 1 / (2 ** header.bits - 1);
    this.chances = new Float64Array(ZERO + 1);
    for (let code = 0; code < ZERO; code++) this.chances[code] = Math.exp(-code / STEPS);
    this.names = header.components.map((component) => component.name);
  }

  // ---- words ----

  overall(j) {
    return this.chances[this.a.overall[j]];
  }

  // Probability of a word in the components that are not among its first, together.
  rest(j) {
    if (this.T >= this.K) return 0;
    let mass = this.overall(j), size = 1;
    for (let t = j * this.T; t < (j + 1) * this.T; t++) {
      const share = this.components[this.a.wordComponents[t]].size;
      mass -= share * this.chances[this.a.wordChances[t]];
      size -= share;
    }
    return size > 1e-9 ? Math.max(mass, 0) / size : 0;
  }

  // Probability of a word in every component.
  loadings(j) {
    const row = new Float64Array(this.K).fill(this.rest(j));
    for (let t = j * this.T; t < (j + 1) * this.T; t++) {
      row[this.a.wordComponents[t]] = this.chances[this.a.wordChances[t]];
    }
    return row;
  }

  // p(component | words), each word drawn from the same component.
  componentsOf(words) {
    const logs = this.components.map((component) => Math.log(Math.max(component.size, 1e-12)));
    for (const j of words) {
      const row = this.loadings(j);
      for (let k = 0; k < this.K; k++) logs[k] += Math.log(Math.max(row[k], 1e-12));
    }
    const most = Math.max(...logs);
    const weights = logs.map((value) => Math.exp(value - most));
    const total = weights.reduce((sum, value) => sum + value, 0);
    return weights.map((value) => value / total);
  }

  isText(j) {
    return this.a.groupIsText[this.a.groupOfWord[j]] === 1;
  }

  word(j) {
    const group = this.a.groups[this.a.groupOfWord[j]];
    return group === "" ? this.a.words[j] : `${group}: ${this.a.words[j]}`;
  }

  // Listed words of a component: {word, chance, overall, sd}.
  listed(k) {
    const { listStart, listWord, listChance, listSd } = this.a;
    const found = [];
    for (let n = listStart[k]; n < listStart[k + 1]; n++) {
      found.push({
        word: listWord[n], chance: listChance[n], overall: this.overall(listWord[n]),
        sd: listSd ? listSd[n] : null,
      });
    }
    return found;
  }

  // Words of texts by relevance: weight log p + (1 - weight) log(lift).
  relevant(k, weight, n) {
    const found = this.listed(k).filter((row) => this.isText(row.word) && row.overall > 0);
    for (const row of found) {
      row.lift = row.chance / row.overall;
      row.key = weight * Math.log(row.chance) + (1 - weight) * Math.log(row.lift);
    }
    found.sort((a, b) => b.key - a.key || a.word - b.word);
    return found.slice(0, n);
  }

  // Questions that set a component apart, each with its answers: the most telling answer first.
  questions(k, byDifference, n) {
    const size = this.components[k].size;
    const groups = new Map();
    for (const row of this.listed(k)) {
      if (this.isText(row.word)) continue;
      const left = 1 - size;
      row.others = left > 1e-9 ? Math.max(row.overall - size * row.chance, 0) / left : row.overall;
      row.key = byDifference
        ? row.chance - row.others
        : row.chance > row.others
          ? row.chance * Math.log(row.chance / Math.max(row.others, 1e-4)) : 0;
      const g = this.a.groupOfWord[row.word];
      if (!groups.has(g)) groups.set(g, []);
      groups.get(g).push(row);
    }
    const found = [...groups].map(([group, answers]) => {
      answers.sort((a, b) => b.key - a.key || b.chance - a.chance || a.word - b.word);
      return { group, answers, key: answers[0].key };
    });
    found.sort((a, b) => b.key - a.key || a.group - b.group);
    return found.slice(0, n);
  }

  // ---- documents ----

  // Components of a document: [{k, share, sd, absent}], largest first, and the share left over.
  mix(i) {
    const parts = [];
    let left = 1;
    for (let s = i * this.S; s < (i + 1) * this.S; s++) {
      const share = this.a.share[s] * this.unit;
      left -= share;
      parts.push({
        k: this.a.top[s], share,
        sd: this.a.sd ? this.a.sd[s] * this.unit : null,
        absent: this.a.absent ? this.a.absent[s] * this.unit : null,
      });
    }
    return { parts, left: this.S < this.K ? Math.max(left, 0) : 0 };
  }

  share(i, k) {
    for (let s = i * this.S; s < (i + 1) * this.S; s++) {
      if (this.a.top[s] === k) return this.a.share[s] * this.unit;
    }
    return 0;
  }

  // Shares of one component in all documents.
  sharesOf(k) {
    const result = new Float64Array(this.I);
    const { top, share } = this.a;
    for (let s = 0; s < top.length; s++) {
      if (top[s] === k) result[(s / this.S) | 0] = share[s] * this.unit;
    }
    return result;
  }

  typical(k, n) {
    const shares = this.sharesOf(k), lengths = this.a.length;
    const found = [];
    for (let i = 0; i < this.I; i++) if (shares[i] > 0) found.push(i);
    found.sort((a, b) => Math.round(1000 * shares[b]) - Math.round(1000 * shares[a])
      || shares[b] * lengths[b] - shares[a] * lengths[a] || a - b);
    return found.slice(0, n);
  }

  // Probability of a word in a document.
  chance(i, j, row = this.loadings(j)) {
    let sum = 0, left = 1;
    for (let s = i * this.S; s < (i + 1) * this.S; s++) {
      const share = this.a.share[s] * this.unit;
      sum += share * row[this.a.top[s]];
      left -= share;
    }
    return sum + (this.S < this.K ? Math.max(left, 0) : 0) * this.overall(j);
  }

  // Log-probability of some words in each document, with a little of all the data mixed in.
  queryLikelihoods(words) {
    const result = new Float64Array(this.I);
    for (const j of words) {
      const row = this.loadings(j), usual = this.overall(j);
      for (let i = 0; i < this.I; i++) {
        const p = (1 - SMOOTHING) * this.chance(i, j, row) + SMOOTHING * usual;
        result[i] += Math.log(Math.max(p, 1e-300));
      }
    }
    return result;
  }

  search(words, n) {
    const value = this.queryLikelihoods(words);
    return best(value, n).map((i) => ({ i, value: value[i] }));
  }

  // Documents with the most similar shares, by Hellinger distance over the components kept.
  similar(i, n) {
    const roots = new Float64Array(this.K);
    for (const { k, share } of this.mix(i).parts) roots[k] = Math.sqrt(share);
    const alike = new Float64Array(this.I);
    const { top, share } = this.a;
    for (let s = 0; s < top.length; s++) {
      alike[(s / this.S) | 0] += roots[top[s]] * Math.sqrt(share[s] * this.unit);
    }
    alike[i] = -1;
    return best(alike, Math.min(n, this.I - 1))
      .map((other) => ({ i: other, distance: Math.sqrt(Math.max(1 - alike[other], 0)) }));
  }

  // Words or answers of a document, if the page has them.
  entries(i) {
    if (!this.a.entryStart) return null;
    const found = [];
    for (let n = this.a.entryStart[i]; n < this.a.entryStart[i + 1]; n++) {
      const word = this.a.entryWord[n];
      found.push({ word, count: this.a.entryCount[n], chance: this.chance(i, word) });
    }
    return found;
  }

  // Words of each group, made when first needed.
  get wordsOfGroup() {
    if (!this.ofGroup) {
      this.ofGroup = this.a.groups.map(() => []);
      for (let j = 0; j < this.J; j++) this.ofGroup[this.a.groupOfWord[j]].push(j);
    }
    return this.ofGroup;
  }

  // Questions that a document leaves open, with the likeliest answer of each.
  open(i) {
    if (!this.header.complete || !this.a.entryStart) return [];
    const known = new Set(this.entries(i).map((row) => this.a.groupOfWord[row.word]));
    const found = [];
    this.wordsOfGroup.forEach((words, group) => {
      if (known.has(group) || this.a.groupIsText[group] || !words.length) return;
      const answers = words.map((word) => ({ word, chance: this.chance(i, word) }));
      answers.sort((a, b) => b.chance - a.chance || a.word - b.word);
      found.push({ group, ...answers[0] });
    });
    return found;
  }

  get wordNumbers() {
    if (!this.numbers) {
      this.numbers = new Map();
      for (let j = this.J - 1; j >= 0; j--) this.numbers.set(this.a.words[j], j);
    }
    return this.numbers;
  }

  // Number of the word that a piece of text stands for; -1 if there is none.
  find(token) {
    const plain = token.replace(/\u2019/g, "'");
    const forms = [plain, plain.toLowerCase(), plain.toLowerCase().replace(/'s$/, "")];
    for (const form of forms) if (this.wordNumbers.has(form)) return this.wordNumbers.get(form);
    return -1;
  }

  // The component that a word of a document comes from, most likely; -1 if it cannot be told.
  componentIn(i, j) {
    const row = this.loadings(j);
    let best = -1, most = 0;
    for (const { k, share } of this.mix(i).parts) {
      if (share * row[k] > most) [best, most] = [k, share * row[k]];
    }
    return best;
  }

  // Documents on the map: at the mean of their components' places, or where they were put.
  get places() {
    if (this.a.own) return this.a.own;
    if (!this.placed) {
      this.placed = new Float32Array(2 * this.I);
      const { top, share, place } = this.a;
      for (let i = 0; i < this.I; i++) {
        let x = 0, y = 0, sum = 0;
        for (let s = i * this.S; s < (i + 1) * this.S; s++) {
          x += share[s] * place[2 * top[s]];
          y += share[s] * place[2 * top[s] + 1];
          sum += share[s];
        }
        this.placed[2 * i] = sum > 0 ? x / sum : 0;
        this.placed[2 * i + 1] = sum > 0 ? y / sum : 0;
      }
    }
    return this.placed;
  }
}

// Numbers of the n largest values, the largest first; of equal values the first one.
function best(values, n) {
  const order = Array.from(values.keys());
  if (order.length > 4 * n && n > 0) {
    const sorted = Float64Array.from(values).sort();
    const least = sorted[sorted.length - n];
    return order.filter((i) => values[i] >= least)
      .sort((a, b) => values[b] - values[a] || a - b).slice(0, n);
  }
  return order.sort((a, b) => values[b] - values[a] || a - b).slice(0, n);
}
