// What every part needs: the data, the state, and elements whose texts are text and never HTML.

const data = JSON.parse(document.getElementById("figures").textContent);
const size = data.tools.name.length;
const state = { choice: 0, tool: 0, query: "", order: "saved" };

const at = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en-US");
const percent = (share) => `${(100 * share).toFixed(1)}%`;
const saved = (tokens, baseline) => (baseline ? percent(1 - tokens / baseline) : "");
const total = (values) => values.reduce((sum, value) => sum + value, 0);
const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

// Characters that are not seen, or that turn the text around them: they are written out.
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\u{e0000}-\u{e0fff}]/gu;
const escaped = (char) => `\\u{${char.codePointAt(0).toString(16)}}`;
const visible = (text) => text.replace(UNSEEN, escaped);
const inline = (text) => visible(text).replace(/[\n\t]/g, escaped);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== "" && child !== null));
  return made;
}

// Parts of one bar: pairs of a class and a value; `whole` is the value of the full width.
function track(parts, whole, tall = false) {
  const bar = element("div", { class: tall ? "track tall" : "track", "aria-hidden": "true" });
  for (const [kind, value] of parts) {
    const part = element("i", { class: kind });
    part.style.width = `${whole ? (100 * Math.max(value, 0)) / whole : 0}%`;
    bar.append(part);
  }
  return bar;
}

function pairs(rows, kind = "") {
  const list = element("dl", { class: `figures ${kind}` });
  for (const [name, value] of rows) list.append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  return list;
}

function table(columns, rows) {
  const cell = (kind) => (value, place) =>
    element(place ? "td" : kind, {
      class: typeof value !== "string" ? "wide-cell" : columns[place].startsWith("#") ? "number" : undefined,
      scope: place ? undefined : "row",
    }, value);
  const head = columns.map((name) =>
    element("th", { scope: "col", class: name.startsWith("#") ? "number" : undefined }, name.replace("#", "")));
  return element("table", {},
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell("th"))))));
}

// Rung of a tool, and its figures there.
const rungOf = (choice, tool) => data.rungs[typeof choice.rungs === "number" ? choice.rungs : choice.rungs[tool]];
const fate = (choice, tool, what) => rungOf(choice, tool)[what][tool];

function fates(choice, what) {
  if (typeof choice.rungs === "number") return total(data.rungs[choice.rungs][what]);
  return total(choice.rungs.map((rung, tool) => data.rungs[rung][what][tool]));
}

function nameOf(choice) {
  const detail = choice.profile || choice.map;
  const name = detail ? `${choice.mode}, ${detail}` : choice.mode;
  return choice.budget ? `${name}, budget ${number(choice.budget)}` : name;
}

// --- packed texts: each element holds a group of values, opened when first asked for ---

const opened = new Map();
const KEPT = 24;

function group(kind, place) {
  const id = `${kind}-${place}`;
  if (!opened.has(id)) {
    if (opened.size >= KEPT) opened.delete(opened.keys().next().value);
    opened.set(id, unpack(at(id).textContent));
  }
  return opened.get(id);
}

async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

const value = async (kind, place, chunk) => (await group(kind, Math.floor(place / chunk)))[place % chunk];
