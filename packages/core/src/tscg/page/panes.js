// One tool: its JSON beside what is sent of it, policy sentences marked, and what becomes of each sentence.

const MOST = 150_000; // characters of one text that are drawn
const STATES = { x: "del", "~": "some", r: "short" };
const TOLD = {
  x: "left out", "~": "left out in some places of this tool", r: "shortened: without filler or what the schema says, or the first words alone",
};

// --- sentences in a text, whatever its white space ---

// A text without blanks, and the place of each of its characters. In JSON, escaped line breaks are blanks too.
function compact(text, json) {
  const places = [];
  let kept = "";
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (json && char === "\\" && i + 1 < text.length) {
      if (!"nrt".includes(text[i + 1])) {
        kept += char + text[i + 1];
        places.push(i, i + 1);
      }
      i++;
    } else if (!/\s/.test(char)) {
      kept += char;
      places.push(i);
    }
  }
  return { text: kept, places };
}

const needle = (sentence, json) => compact(json ? JSON.stringify(sentence).slice(1, -1) : sentence, json).text;

// Spans [start, end, sentence] of a description that is made of the sentences.
function tiles(text, sentences) {
  const { text: kept, places } = compact(text, true);
  const spans = [];
  let i = 0;
  while (i < kept.length) {
    const starts = i === 0 || places[i] > places[i - 1] + 1 || (spans.length && spans[spans.length - 1][3] === i);
    const found = starts ? sentences.find((one) => one.needle && kept.startsWith(one.needle, i)) : undefined;
    if (found) {
      const end = i + found.needle.length;
      spans.push([places[i], places[end - 1] + 1, found, end]);
      i = end;
    } else i++;
  }
  return spans;
}

// Spans of policy sentences anywhere in a text.
function policySpans(text, wordings, json) {
  const { text: kept, places } = compact(text, json);
  const spans = [];
  for (const wording of wordings) {
    const sought = needle(wording, json);
    for (let i = sought ? kept.indexOf(sought) : -1; i >= 0; i = kept.indexOf(sought, i + sought.length)) {
      const before = i && places[i] === places[i - 1] + 1 ? kept[i - 1] : " ";
      if (!/[\p{L}\p{N}]/u.test(before)) spans.push([places[i], places[i + sought.length - 1] + 1]);
    }
  }
  spans.sort((one, other) => one[0] - other[0] || other[1] - one[1]);
  return spans.filter(([start], place) => !place || start >= Math.max(...spans.slice(0, place).map(([, end]) => end)));
}

// --- texts ---

function cut(text) {
  return text.length > MOST ? [text.slice(0, MOST), element("p", { class: "note" }, `Cut: the first ${number(MOST)} of ${number(text.length)} characters.`)] : [text, ""];
}

function marked(text, spans) {
  const out = [];
  let done = 0;
  for (const [start, end] of spans) {
    out.push(visible(text.slice(done, start)), element("mark", { title: "policy" }, visible(text.slice(start, end))));
    done = end;
  }
  out.push(visible(text.slice(done)));
  return out;
}

// Minified JSON with line breaks and indents. Every token stays as it is written: numbers, key order, escapes.
function* jsonTokens(text) {
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^{}[\],:"]+/gy;
  for (let found; (found = token.exec(text)); ) yield found[0];
}

function drawJson(text, sentences) {
  const out = [];
  let depth = 0, key = "", before = "", plain = "";
  const flush = () => { if (plain) out.push(visible(plain)); plain = ""; };
  const line = () => `\n${"  ".repeat(Math.min(depth, 40))}`;
  for (const token of jsonTokens(text)) {
    if (token === "}" || token === "]") {
      depth--;
      plain += (before === "{" || before === "[" ? "" : line()) + token;
    } else {
      if (before === "{" || before === "[") plain += line();
      if (token === "{" || token === "[") { plain += token; depth++; }
      else if (token === ",") plain += `,${line()}`;
      else if (token === ":") { key = before; plain += ": "; }
      else if (before === ":" && key === '"description"' && token[0] === '"') {
        flush();
        out.push('"', ...drawProseOf(token.slice(1, -1), sentences), '"');
      } else plain += token;
    }
    before = token;
  }
  flush();
  return out;
}

function drawProseOf(text, sentences) {
  const out = [];
  let done = 0;
  for (const [start, end, sentence] of tiles(text, sentences)) {
    out.push(visible(text.slice(done, start)));
    let shown = visible(text.slice(start, end));
    const kind = STATES[sentence.state];
    if (kind) shown = element(kind === "del" ? "del" : "span", { class: kind, title: TOLD[sentence.state] }, shown);
    out.push(sentence.policy ? element("mark", { title: kind ? undefined : "policy" }, shown) : shown);
    done = end;
  }
  out.push(visible(text.slice(done)));
  return out;
}

function pane(title, parts, note) {
  return element("section", { class: "pane" }, element("h4", {}, title),
    element("pre", { tabindex: "0", role: "region", "aria-label": title }, ...parts), note);
}

function legend(source, rung) {
  const states = new Set(source.states[rung]);
  const item = (made, text) => element("span", {}, made, ` ${text}`);
  return element("p", { class: "legend" },
    source.policy.some(Boolean) ? item(element("mark", {}, "policy"), "obliges, forbids or warns") : "",
    states.has("x") ? item(element("del", {}, "left out"), "not shown to the model") : "",
    states.has("~") ? item(element("span", { class: "some" }, "partly"), TOLD["~"]) : "",
    states.has("r") ? item(element("span", { class: "short" }, "shortened"), TOLD.r.replace("shortened: ", "")) : "");
}

// --- the tool ---

async function drawTool() {
  const tool = state.tool, place = state.choice, choice = data.choices[place];
  if (!size) return;
  const source = await value("source", tool, data.chunk);
  const texts = choice.texts ? (await value("text", tool, data.chunk))[String(place)] : null;
  if (tool !== state.tool || place !== state.choice) return; // another one was chosen meanwhile
  const rung = typeof choice.rungs === "number" ? choice.rungs : choice.rungs[tool];
  const sentences = source.says.map((text, i) => ({
    needle: needle(text, true), policy: source.policy[i] === 1, state: source.states[rung][i],
  })).sort((one, other) => other.needle.length - one.needle.length);
  const [json, tooLong] = cut(source.json);
  at("tool").replaceChildren(
    element("h3", {}, element("bdi", {}, inline(data.tools.name[tool]))),
    pairs(toolFigures(choice, tool), "small"), toolSpent(tool), toolSteps(choice, tool), legend(source, rung),
    element("div", { class: "panes" },
      pane(`JSON, ${plural(data.tools.json[tool], "token")}`, drawJson(json, sentences), tooLong),
      sentPane(choice, tool, texts, source)),
  );
}

function toolFigures(choice, tool) {
  const json = data.tools.json[tool], sent = choice.sent[tool], rung = rungOf(choice, tool);
  const rows = [["JSON", number(json)], ["sent", number(sent)], ["saved", saved(sent, json)]];
  if (data.tools.server[tool]) rows.push(["server", inline(data.tools.server[tool])]);
  if (choice.lines) rows.push(["line", inline(choice.lines[tool] || "as given")]);
  else if (choice.mode !== "passthrough") rows.push(["detail", rung.name === "name" ? "name alone" : rung.name]);
  const policy = data.tools.policy[tool], lost = rung.lost[tool];
  rows.push(["sentences left out", `${number(rung.left[tool])} of ${number(data.tools.sentences[tool])}`]);
  rows.push(["policy sentences", lost ? `${number(policy)} (${number(lost)} left out)` : number(policy)]);
  return rows;
}

function toolSpent(tool) {
  const names = ["structure", "prose", "repeats"];
  const parts = names.map((name) => [name, data.tools[name][tool]]);
  return element("div", {}, track(parts, data.tools.json[tool]),
    element("p", { class: "legend" }, element("span", {}, "Of the JSON:"),
      ...parts.map(([name, tokens]) => element("span", {}, element("i", { class: `swatch ${name}` }), `${name} ${number(tokens)}`))));
}

function toolSteps(choice, tool) {
  const steps = (choice.steps || []).filter((step) => step.tools[tool]);
  if (!steps.length) return "";
  return element("p", { class: "legend" }, element("span", {}, "Operators:"),
    ...steps.map((step) => element("span", { title: DOES[step.operator] || "" }, `${step.operator} ${change(step.tools[tool])}`)));
}

function sentPane(choice, tool, texts, source) {
  const title = `Sent as ${nameOf(choice)}, ${plural(choice.sent[tool], "token")}`;
  if (!texts) {
    return pane(title, ["The catalog is too large for this page to hold the texts of this choice. ",
      `tscg compile FILE ${optionsOf(choice)} prints them.`], "");
  }
  const [sent, whole] = texts;
  const json = sent.startsWith("{");
  const draw = (text) => {
    const [kept, note] = cut(text);
    return [json ? drawJson(kept, []) : marked(kept, policySpans(kept, source.wordings, false)), note];
  };
  const [parts, note] = json ? jsonParts(sent, source) : draw(sent);
  const first = pane(title, sent ? parts : ["Nothing of its own: its namespace has a line for it, or the lookup tells of it."], note);
  if (!whole) return first;
  const [alone, alsoLong] = draw(whole);
  const second = pane("The same with what it shares with other tools written out", alone, alsoLong);
  return element("div", { class: "pane" }, first, second);
}

// A wire tool: policy sentences stand in its description.
function jsonParts(text, source) {
  const [kept, note] = cut(text);
  const sentences = source.wordings.map((wording) => ({ needle: needle(wording, true), policy: true, state: "." }))
    .sort((one, other) => other.needle.length - one.needle.length);
  return [drawJson(kept, sentences), note];
}

function optionsOf(choice) {
  const words = [`--mode ${choice.mode}`];
  if (choice.profile) words.push(`--profile ${choice.profile}`);
  if (choice.map) words.push(`--map ${choice.map}`);
  if (choice.budget) words.push(`--budget ${choice.budget}`);
  return words.join(" ");
}

// What stands around the entries, opened when asked for.
function drawAround() {
  const place = state.choice, choice = data.choices[place];
  const folded = (title, kind) => {
    const body = element("pre", { tabindex: "0", role: "region", "aria-label": title });
    const made = element("details", {}, element("summary", {}, title), body);
    made.addEventListener("toggle", async () => {
      if (!made.open || body.textContent) return;
      const [text, note] = cut((await value("around", place, 1))[kind]);
      body.append(visible(text));
      made.append(note);
    });
    return made;
  };
  const fixed = choice.spent.fixed || 0;
  at("around").replaceChildren(
    fixed ? folded(`How to call, and what else is fixed: ${plural(fixed, "token")}`, "fixed") : "",
    choice.shared ? folded(`Said once for several tools: ${plural(choice.shared, "token")}`, "shared") : "");
}
