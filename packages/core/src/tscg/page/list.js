// The list of tools. Only the rows in sight are in the document, so ten thousand tools scroll like ten.

const ROW = 46;
const SPARE = 8;
const list = at("list");
const room = element("div", { role: "presentation" });
list.append(room);

let rows = []; // tools in the order shown, after the search
let words = null; // what each tool says, lower case: read when first searched
let largest = 1;

const gain = (choice, tool) => data.tools.json[tool] - choice.sent[tool];
const ORDERS = {
  saved: (choice) => (one, other) => gain(choice, other) - gain(choice, one),
  json: () => (one, other) => data.tools.json[other] - data.tools.json[one],
  sent: (choice) => (one, other) => choice.sent[other] - choice.sent[one],
  left: (choice) => (one, other) => fate(choice, other, "left") - fate(choice, one, "left"),
  policy: () => (one, other) => data.tools.policy[other] - data.tools.policy[one],
  name: () => () => 0,
};

function findRows() {
  const choice = data.choices[state.choice];
  const asked = state.query.toLowerCase().split(/\s+/).filter(Boolean);
  const says = (tool) => (words ? words[tool] : `${data.tools.name[tool]} ${data.tools.server[tool] || ""}`.toLowerCase());
  rows = [];
  for (let tool = 0; tool < size; tool++) if (!asked.length || asked.every((word) => says(tool).includes(word))) rows.push(tool);
  const order = ORDERS[state.order](choice);
  rows.sort((one, other) => order(one, other) || one - other);
  largest = data.tools.json.reduce((most, tokens, tool) => Math.max(most, tokens, choice.sent[tool]), 1);
  room.style.height = `${rows.length * ROW}px`;
  at("found").textContent = rows.length === size ? plural(size, "tool") : `${number(rows.length)} of ${plural(size, "tool")}`;
}

function drawRows() {
  const choice = data.choices[state.choice];
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - SPARE);
  const last = Math.min(rows.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + SPARE);
  const shown = [];
  for (let place = first; place < last; place++) shown.push(row(choice, rows[place], place));
  room.replaceChildren(...shown);
  const place = rows.indexOf(state.tool);
  if (place >= first && place < last) list.setAttribute("aria-activedescendant", `row-${state.tool}`);
  else list.removeAttribute("aria-activedescendant");
}

function row(choice, tool, place) {
  const json = data.tools.json[tool], sent = choice.sent[tool];
  const made = element("div", {
    class: "row", role: "option", id: `row-${tool}`, "aria-selected": String(tool === state.tool),
    "aria-setsize": rows.length, "aria-posinset": place + 1,
    "aria-label": `${inline(data.tools.name[tool])}, ${plural(json, "token")} as JSON, ${number(sent)} sent`,
  },
  element("bdi", { title: inline(data.tools.name[tool]) }, inline(data.tools.name[tool])),
  element("span", { class: "number" }, `${number(json)} \u2192 ${number(sent)}`),
  element("div", { class: "pair" }, track([["json", json]], largest), track([["sent", sent]], largest)));
  made.style.top = `${place * ROW}px`;
  made.addEventListener("click", () => pick(place));
  return made;
}

function pick(place) {
  if (!rows.length) return;
  const kept = Math.max(0, Math.min(rows.length - 1, place));
  state.tool = rows[kept];
  const top = kept * ROW;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
  drawRows();
  drawTool();
}

function onListKey(event) {
  const page = Math.max(1, Math.floor(list.clientHeight / ROW) - 1);
  const place = rows.indexOf(state.tool);
  const moves = {
    ArrowDown: place + 1, ArrowUp: place - 1, PageDown: place + page, PageUp: place - page, Home: 0, End: rows.length - 1,
  };
  if (!(event.key in moves) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  pick(moves[event.key]);
}

function redrawList() {
  findRows();
  drawRows();
}

// Names, servers, parameters and prose of every tool, group by group so that the page stays awake.
async function readWords() {
  const found = [];
  for (let place = 0; place * data.chunk < size; place++) {
    for (const source of await unpack(at(`source-${place}`).textContent)) {
      const parts = [data.tools.server[found.length] || ""];
      collect(JSON.parse(source.json), parts);
      found.push(parts.join(" ").toLowerCase());
    }
  }
  words = found;
}

// The tool's name, what describes it, and the names of properties: not the words of JSON Schema.
function collect(value, parts) {
  const open = [value];
  while (open.length) {
    const one = open.pop();
    for (const [key, held] of Object.entries(one)) {
      if (typeof held === "string" && ["name", "description", "title"].includes(key)) parts.push(held);
      else if (held !== null && typeof held === "object") {
        if (key === "properties") parts.push(...Object.keys(held));
        open.push(held);
      }
    }
  }
}
