// The choice of mode, profile and budget, and the cards of figures.

const PARTS = {
  fixed: "fixed: how to call", again: "said again at the end", structure: "structure", prose: "prose",
  repeats: "repeats", catalog: "the tools",
};
const CLASSES = { R: "never more tokens", S: "same tokens, other order", E: "adds tokens inside a budget" };
const DOES = {
  "parse and emit": "writes the catalog language in place of JSON", TAS: "spells delimiters in the fewest tokens",
  SDM: "takes filler out of prose", DRO: "takes out prose that the schema says already",
  detail: "shows the prose that the profile asks for", CSE: "says once what is said in several places",
  CFL: "puts policy sentences first", CFO: "puts a tool behind those that give what it needs",
  CAS: "puts what is fragile at both ends", "SAD-F": "says fragile parts once more", CCP: "recalls names at the end",
  form: "writes a signature line, and a schema without prose", map: "writes one line a tool",
};

const modes = [...new Set(data.choices.map((choice) => choice.mode))];
const own = data.choices[0];
const whole = data.choices.findIndex((choice) => !choice.budget && same(choice, own));
const budgets = [
  ...data.choices.map((choice, place) => [choice.budget, place]).filter(([budget, place]) => budget && !data.choices[place].error)
    .sort((one, other) => one[0] - other[0]).map(([, place]) => place),
  whole < 0 ? 0 : whole,
];

function same(one, other) {
  return one.mode === other.mode && one.profile === other.profile && one.map === other.map;
}

const detailOf = (choice) => choice.profile || choice.map;
const inMode = (mode) => data.choices.map((choice, place) => ({ choice, place })).filter(({ choice }) => choice.mode === mode && !choice.budget);

function radio(name, label, checked, disabled, change) {
  const input = element("input", { type: "radio", name, value: label, checked, disabled });
  input.addEventListener("change", change);
  return element("label", {}, input, element("span", {}, label));
}

const ORDER = ["text", "native", "dispatch", "code", "passthrough"];
const PROFILES = ["lossless", "conservative", "balanced", "brief", "signature", "aggressive"];
const MAPS = ["names", "hybrid", "signature"];
const rank = (names, name) => (names.includes(name) ? names.indexOf(name) : names.length);
const byDetail = ({ choice: one }, { choice: other }) => {
  const names = one.map ? MAPS : PROFILES;
  return rank(names, detailOf(one)) - rank(names, detailOf(other));
};

function drawControls() {
  const legend = (box, text) => box.replaceChildren(element("legend", {}, text));
  legend(at("modes"), "Mode");
  for (const mode of modes.sort((one, other) => rank(ORDER, one) - rank(ORDER, other))) {
    const open = inMode(mode).filter(({ choice }) => !choice.error);
    const input = radio("mode", mode, false, !open.length, () => {
      const detail = detailOf(data.choices[state.choice]);
      const kept = open.find(({ choice }) => detailOf(choice) === detail) ||
        open.find(({ choice }) => same(choice, own)) || open.find(({ choice }) => ["balanced", "hybrid"].includes(detailOf(choice))) || open[0];
      choose(kept.place);
    });
    at("modes").append(input);
  }
  at("budget").max = budgets.length - 1;
  at("budget-label").textContent = `Budget (${detailOf(own) ? `${own.mode}, ${detailOf(own)}` : own.mode})`;
  at("budgets").hidden = budgets.length < 2;
  at("budget").addEventListener("input", () => choose(budgets[Number(at("budget").value)]));
}

function drawChoice() {
  const choice = data.choices[state.choice];
  for (const input of at("modes").querySelectorAll("input")) input.checked = input.value === choice.mode;
  const details = inMode(choice.mode).filter(({ choice: one }) => detailOf(one)).sort(byDetail);
  const box = at("profiles");
  const focused = box.contains(document.activeElement);
  const kind = choice.map ? "Map" : "Profile";
  box.hidden = !details.length;
  box.replaceChildren(element("legend", {}, kind), ...details.map(({ choice: one, place }) =>
    radio("detail", detailOf(one), detailOf(one) === detailOf(choice), Boolean(one.error), () => choose(place))));
  if (focused) box.querySelector("input:checked")?.focus();

  const stop = budgets.indexOf(state.choice);
  const said = choice.budget ? `${number(choice.budget)} tokens` : "no budget";
  at("budget").value = stop < 0 ? budgets.length - 1 : stop;
  at("budget").setAttribute("aria-valuetext", said);
  at("budget-said").textContent = said;
  at("said").textContent = `${nameOf(choice)}: ${plural(choice.tokens, "token")}, ${saved(choice.tokens, data.baseline)} saved against minified JSON.`;
}

function drawHead() {
  at("title").textContent = `${plural(size, "tool")}: ${number(data.baseline)} tokens as JSON, ${number(own.tokens)} as ${nameOf(own)}`;
  const how = data.exact ? `Tokens are counted with ${data.tokenizer}.` :
    `Tokens are estimates for ${data.tokenizer}: its vocabulary is not installed, or is not the model's own.`;
  at("counted").textContent = `${how} The baseline is the tools field of OpenAI's chat API as minified JSON.`;
}

function drawSent(choice) {
  const most = Math.max(data.pretty, choice.tokens);
  const bar = (kind, value) => track([[kind, value]], most);
  const notes = [
    ...(choice === own ? data.reasons.map((reason) => `Reason: ${reason}`) : []), ...(choice.warnings || []).map((warning) => `Warning: ${warning}`),
    ...data.skipped.map((reason) => `Left out of the catalog: ${reason}`),
  ];
  at("sent").replaceChildren(
    pairs([["JSON, minified", number(data.baseline)], ["sent", number(choice.tokens)], ["saved", saved(choice.tokens, data.baseline)]]),
    table(["what", "", "#tokens", "#saved"], [
      ["JSON, indented", bar("json", data.pretty), number(data.pretty), ""],
      ["JSON, minified (baseline)", bar("json", data.baseline), number(data.baseline), ""],
      [nameOf(choice), bar("sent", choice.tokens), number(choice.tokens), saved(choice.tokens, data.baseline)],
    ]),
    ...notes.slice(0, 12).map((text) => element("p", { class: "note" }, visible(text))),
    notes.length > 12 ? element("p", { class: "note" }, `and ${plural(notes.length - 12, "more remark")}`) : "",
  );
}

function drawSpent(choice) {
  const json = Object.fromEntries(["structure", "prose", "repeats"].map((part) => [part, total(data.tools[part])]));
  const sent = Object.keys(choice.spent).length ? choice.spent : json;
  const names = ["fixed", "again", "catalog", "structure", "prose", "repeats"].filter((name) => json[name] || sent[name]);
  const most = Math.max(data.baseline, choice.tokens);
  const bar = (parts) => track(names.map((name) => [name, parts[name] || 0]), most, true);
  const label = (name) => element("span", {}, element("i", { class: `swatch ${name}` }), PARTS[name]);
  const caption = (name, tokens) => element("p", { class: "caption" }, `${name}, ${plural(tokens, "token")}`);
  const shown = (parts, name) => (parts[name] === undefined ? "" : number(parts[name]));
  const rows = names.map((name) => [label(name), shown(json, name), shown(sent, name)]);
  at("spent").replaceChildren(
    caption("JSON", data.baseline), bar(json), caption("sent", choice.tokens), bar(sent),
    table(["part", "#JSON", "#sent"], rows),
    element("p", { class: "note" },
      "Of the JSON, repeats are schemas of parameters and sentences that stood earlier in the catalog, word for word; prose is descriptions, titles and examples; structure is the rest." +
      (choice.shared ? ` Of what is sent, ${plural(choice.shared, "token")} stand in the shared block, which says repeats once.` : "")),
  );
}

function drawProse(choice) {
  const said = total(data.tools.sentences);
  const left = fates(choice, "left"), short = fates(choice, "short"), lost = fates(choice, "lost");
  const label = (kind, name) => element("span", {}, element("i", { class: `swatch ${kind}` }), name);
  const rows = [
    [label("shown-part", "shown word for word"), number(said - left - short), percent((said - left - short) / (said || 1))],
    [label("short-part", "shortened"), number(short), percent(short / (said || 1))],
    [label("left-part", "left out"), number(left), percent(left / (said || 1))],
  ];
  const back = ["text", "dispatch"].includes(choice.mode) && left ? " The model gets it back with a lookup." : "";
  const ladder = choice.budget ? ladderOf(choice) : "";
  at("prose").replaceChildren(
    track([["shown-part", said - left - short], ["short-part", short], ["left-part", left]], said, true),
    table(["sentences", "#number", "#share"], rows),
    element("p", { class: "note" }, `What is left out is ${plural(fates(choice, "tokens"), "token")} of prose, sentences counted one by one.${back}`),
    element("p", { class: lost ? "note bad" : "note" }, lost ?
      `${plural(lost, "policy sentence")} (must, never, only, confirm ...) left out.` :
      `All ${plural(total(data.tools.policy), "policy sentence")} (must, never, only, confirm ...) stay.`),
    ladder,
  );
}

function ladderOf(choice) {
  const rungs = typeof choice.rungs === "number" ? Array(size).fill(choice.rungs) : choice.rungs;
  const rows = data.rungs.map((rung, place) => [rung.name, rungs.filter((one) => one === place).length])
    .filter(([, count]) => count).map(([name, count]) => [name === "name" ? "name alone" : name, track([["sent", count]], size), number(count)]);
  return element("div", {}, element("p", { class: "note" }, "What each tool got:"), table(["detail", "", "#tools"], rows));
}

function drawSteps(choice) {
  const steps = choice.steps || [];
  if (!steps.length) {
    const why = choice.budget ? "Operators are traced without a budget, or with that of the command's own --budget." : choice.mode === "passthrough" ?
      "No operator runs: the tools are sent as they are." :
      `Operators of this choice are not traced in a catalog of more than ${number(data.many)} tools; tscg report traces the one that its options name.`;
    at("steps").replaceChildren(element("p", { class: "note" }, why));
    return;
  }
  const most = Math.max(...steps.map((step) => Math.max(step.before, step.after)));
  const rows = steps.map((step) => [
    element("span", { title: DOES[step.operator] || "" }, step.operator),
    track(step.after <= step.before ? [["sent", step.after], ["taken", step.before - step.after]] :
      [["sent", step.before], ["added", step.after - step.before]], most),
    number(step.after), change(step.after - step.before),
  ]);
  const kinds = [...new Set(steps.map((step) => step.kind))].filter((kind) => kind !== "R" && CLASSES[kind]);
  const of = (kind) => steps.filter((step) => step.kind === kind).map((step) => step.operator).join(", ");
  const bound = choice.bound;
  at("steps").replaceChildren(
    element("p", { class: "note" }, `From ${number(steps[0].before)} tokens of JSON, in this order:`),
    table(["operator", "", "#tokens", "#change"], rows),
    element("dl", { class: "terms" }, ...steps.flatMap((step) => [element("dt", {}, step.operator), element("dd", {}, DOES[step.operator] || "")])),
    ...kinds.map((kind) => element("p", { class: "note" }, `${of(kind)}: ${CLASSES[kind]}.`)),
    element("p", { class: "note" }, `Bound of the paper: at most ${number(bound.limit)} tokens; measured ${number(bound.result)}: it ${bound.holds ? "holds" : "does NOT hold"}.` +
      (choice.mode === "text" ? " The steps count the catalog's text without what is fixed." : "")),
  );
}

const change = (value) => (value > 0 ? `+${number(value)}` : value < 0 ? `\u2212${number(-value)}` : "0");

function drawChoices() {
  const most = Math.max(data.baseline, ...data.choices.map((choice) => choice.tokens || 0));
  const button = (place, label) => {
    const choice = data.choices[place];
    const made = element("button", { type: "button", "data-choice": place, "aria-pressed": "false" },
      element("span", {}, label), track([["sent", choice.tokens]], most),
      element("span", { class: "number" }, number(choice.tokens)), element("span", { class: "number" }, saved(choice.tokens, data.baseline)));
    made.addEventListener("click", () => choose(place));
    return made;
  };
  const sections = modes.map((mode) => element("section", {}, element("h3", {}, mode),
    ...inMode(mode).sort(byDetail).map(({ choice, place }) => choice.error ?
        element("p", {}, `${detailOf(choice) || mode}: ${visible(choice.error)}`) : button(place, detailOf(choice) || "as given"))));
  const failed = data.choices.find((choice) => choice.budget && choice.error);
  if (budgets.length > 1) {
    sections.push(element("section", {}, element("h3", {}, at("budget-label").textContent),
      ...budgets.slice(0, -1).reverse().map((place) => button(place, number(data.choices[place].budget))),
      failed ? element("p", {}, `${number(failed.budget)}: ${visible(failed.error)}`) : ""));
  }
  at("choices").replaceChildren(element("div", { class: "choices" }, ...sections),
    element("p", { class: "note" }, "Tokens of all that is sent, and the share saved against minified JSON."));
}

function drawOverview() {
  const choice = data.choices[state.choice];
  drawChoice();
  drawSent(choice);
  drawSpent(choice);
  drawProse(choice);
  drawSteps(choice);
  for (const button of at("choices").querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.choice) === state.choice));
  }
}
