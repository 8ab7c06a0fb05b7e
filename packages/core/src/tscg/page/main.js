// Puts the parts together.

function choose(place) {
  state.choice = place;
  drawOverview();
  drawAround();
  redrawList();
  drawTool();
}

function onKey(event) {
  const typing = event.target instanceof HTMLInputElement && event.target.type === "search";
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    at("search").focus();
    at("search").select();
  }
}

function search() {
  state.query = at("search").value;
  list.scrollTop = 0;
  redrawList();
  if (rows.length && !rows.includes(state.tool)) pick(0);
}

function start() {
  drawHead();
  drawControls();
  drawChoices();
  choose(0);
  if (rows.length) pick(0);
  list.addEventListener("scroll", drawRows);
  list.addEventListener("keydown", onListKey);
  new ResizeObserver(drawRows).observe(list);
  const controls = document.querySelector(".controls");
  new ResizeObserver(() => document.documentElement.style.setProperty("--controls", `${controls.offsetHeight}px`)).observe(controls);
  document.addEventListener("keydown", onKey);
  at("order").addEventListener("change", () => {
    state.order = at("order").value;
    list.scrollTop = 0;
    redrawList();
  });
  let reading = null;
  at("search").addEventListener("input", async () => {
    search(); // names at once, prose when it is read
    if (words) return;
    reading ??= readWords();
    await reading;
    search();
  });
  at("search").addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      at("search").value = "";
      search();
    }
    if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      list.focus();
    }
  });
  for (const input of at("theme").querySelectorAll("input")) {
    input.addEventListener("change", () => { document.documentElement.dataset.theme = input.value; });
  }
}

start();
