// What moves on the page. Every view also works without it.
"use strict";

const WAIT_MS = 120;

// A request to the server; if none answers, the page says so and what to do, and nothing is lost.
async function answerOf(address, options) {
  const said = document.getElementById("lost");
  try {
    const answer = await fetch(address, options);
    if (said) said.hidden = true;
    return answer;
  } catch (error) {
    if (error.name !== "AbortError" && said) {
      said.textContent = document.body.dataset.lost;
      said.hidden = false;
    }
    return null;
  }
}

// Search as you type: only the hits are asked for, and the address keeps up.
function searchAsYouType(form) {
  const hits = document.getElementById("hits");
  let timer = 0;
  let running = null;
  const search = async () => {
    if (running) running.abort();
    running = new AbortController();
    const fields = [...new FormData(form)].filter(([, value]) => value !== "");
    const query = new URLSearchParams(fields);
    const signal = running.signal;
    const answer = await answerOf(`/?${query}&part=hits`, { signal });
    const text = answer && await answer.text().catch(() => null);
    if (text === null || signal.aborted) return;
    if (answer.ok) {
      hits.innerHTML = text;
    } else {
      // An error is a whole page; only its sentence is shown.
      const read = new DOMParser().parseFromString(text, "text/html");
      const said = read.querySelector(".trouble") || read.querySelector("main > p:not([hidden])");
      const line = document.createElement("p");
      line.className = "note";
      line.textContent = said ? said.textContent : answer.statusText;
      hits.replaceChildren(line);
    }
    history.replaceState(null, "", `/?${query}`);
  };
  const soon = (event) => {
    if (event.isComposing) return; // kana that are not yet chosen
    clearTimeout(timer);
    timer = setTimeout(search, WAIT_MS);
  };
  form.addEventListener("input", soon);
  form.addEventListener("compositionend", soon);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    search();
  });
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  const words = button.textContent;
  button.textContent = document.body.dataset.copied;
  setTimeout(() => { button.textContent = words; }, 1500);
});

// Keys of every view: / to its box, arrows from hit to hit or row to row, Esc back, ? for help.
const STOPS = "ol.hits h2 a, ol.hits h3 a, ul.listing li > a:first-child, td a[href*='edit=']";
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest("input, textarea, select");
  const box = document.querySelector("main input[type=search], #sql");
  const stops = document.getElementById("pairs") ? [] : [...document.querySelectorAll(STOPS)];
  const at = stops.indexOf(event.target);
  if (event.key === "?" && !typing) document.getElementById("keys")?.showModal();
  else if (event.key === "/" && !typing && box) {
    box.focus();
    box.select();
  } else if (event.key === "ArrowDown" && (at >= 0 || event.target === document.body || event.target.type === "search") && at + 1 < stops.length) stops[at + 1].focus();
  else if (event.key === "ArrowUp" && at >= 0) (stops[at - 1] || box)?.focus();
  else if (event.key === "Escape" && at >= 0) box?.focus();
  else return;
  event.preventDefault();
});

// The imports: progress as it comes; the list again when one begins or ends.
// A hidden window follows nothing: browsers have six connections to a server for all windows.
function followWhileSeen(list) {
  let events = null;
  const follow = () => {
    if (events) events.close();
    events = document.hidden ? null : followImports(list);
  };
  addEventListener("pagehide", () => events && events.close());
  document.addEventListener("visibilitychange", follow);
  follow();
}

function followImports(list) {
  const events = new EventSource("/tools/events");
  events.addEventListener("progress", (event) => {
    const { tool, done, files, text } = JSON.parse(event.data);
    const place = list.querySelector(`[data-import="${CSS.escape(tool)}"]`);
    if (!place) return;
    place.querySelector("span").textContent = text;
    const bar = place.querySelector("progress");
    if (files) {
      bar.max = files;
      bar.value = done;
    }
  });
  events.addEventListener("list", async () => {
    const answer = await answerOf(`${list.dataset.live}?part=list`);
    if (answer && answer.ok) list.innerHTML = await answer.text();
  });
  return events;
}

const live = document.getElementById("tools-list");
if (live) followWhileSeen(live);

// The review: a decision by key or button, without leaving the list; u undoes the last one.
function reviewByKey(list, signal) {
  const said = document.getElementById("said");
  const open = document.getElementById("open");
  const made = [];
  const cards = () => [...list.children];
  const current = () => document.activeElement.closest("#pairs > li") || list.firstElementChild;

  const move = (from, by) => {
    const all = cards();
    const next = all[Math.min(Math.max(all.indexOf(from) + by, 0), all.length - 1)];
    if (next) next.focus();
  };
  const send = async (form) => {
    const fields = new URLSearchParams(new FormData(form));
    fields.set("part", "1");
    const answer = await answerOf(form.getAttribute("action"), { method: "POST", body: fields });
    if (!answer) return null;
    if (!answer.ok) {
      form.submit(); // the page then says what is wrong
      return null;
    }
    return answer.json();
  };
  const decide = async (form) => {
    const told = await send(form);
    if (!told) return;
    const card = form.closest("#pairs > li");
    made.push(card);
    show(card, form.dataset.decision, told);
    move(card, 1);
  };
  const show = (card, decision, told) => {
    card.classList.remove("is-duplicate", "is-not_duplicate", "is-skip", "is-set");
    card.classList.add(`is-${decision}`);
    card.querySelector(".state").textContent = told.text;
    open.textContent = told.open.toLocaleString();
  };
  const undo = async () => {
    const card = made.pop();
    if (!card) return;
    const form = card.querySelector('form[data-decision="skip"]').cloneNode(true);
    const fields = card.dataset.rows > 2 ? ["undo", "alike"] : ["undo"]; // alike: several pairs
    for (const name of fields) {
      const field = document.createElement("input");
      field.name = name;
      field.value = "1";
      form.append(field);
    }
    form.hidden = true;
    document.body.append(form);
    const told = await send(form);
    form.remove();
    if (!told) return;
    show(card, "skip", told);
    said.textContent = list.dataset.undone;
    said.hidden = false;
    card.focus();
  };

  list.addEventListener("submit", (event) => {
    if (event.target.elements.alike) return; // changes other cards: the page is loaded again
    event.preventDefault();
    decide(event.target);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select")) return;
    const card = current();
    if (!card) return;
    if (event.key === "j") move(card, 1);
    else if (event.key === "k") move(card, -1);
    else if (event.key === "u") undo();
    else {
      const form = card.querySelector(`form[data-key="${CSS.escape(event.key)}"]`);
      if (!form || event.key === "") return;
      const box = form.querySelector("input[list]");
      if (box) box.focus(); // what is chosen has to be written first
      else decide(form);
    }
    event.preventDefault();
  }, { signal });
  if (list.firstElementChild) list.firstElementChild.focus({ preventScroll: true });
}

// The editor of SQL: the names of tables and columns as one types; the answer can be stopped.
const WORD = /[\p{L}_][\p{L}\p{N}_]*$/u;
const MAX_NAMES = 8;
function editSql(box) {
  const list = document.getElementById("names");
  const halt = document.getElementById("halt");
  let offered = [];
  let chosen = 0;
  const known = (table) => {
    const found = new Map();
    for (const card of document.querySelectorAll("[data-table]")) {
      const name = card.dataset.table;
      const isMeant = !table || name.toLowerCase() === table.toLowerCase();
      if (!table) found.set(name, "");
      if (isMeant) JSON.parse(card.dataset.columns).forEach((column) => found.has(column) || found.set(column, name));
    }
    return found;
  };
  const close = () => {
    list.replaceChildren();
    offered = [];
    box.removeAttribute("aria-activedescendant");
  };
  const choose = (position) => {
    chosen = (position + offered.length) % offered.length;
    [...list.children].forEach((item, place) => item.setAttribute("aria-selected", String(place === chosen)));
    list.children[chosen].scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", `name-${chosen}`);
  };
  const offer = () => {
    const before = box.value.slice(0, box.selectionStart);
    const word = (WORD.exec(before) || [""])[0];
    const above = before.slice(0, before.length - word.length);
    const table = (/([\p{L}_][\p{L}\p{N}_]*)\.$/u.exec(above) || [])[1];
    if (!word && !table) return close();
    const all = [...(table && known(table).size ? known(table) : known())];
    const start = word.toLowerCase();
    const begins = all.filter(([name]) => name.toLowerCase().startsWith(start) && name !== word);
    const holds = all.filter(([name]) => start && name.toLowerCase().indexOf(start) > 0);
    offered = [...begins, ...holds].slice(0, MAX_NAMES);
    if (!offered.length) return close();
    list.replaceChildren(...offered.map(([name, of], place) => {
      const item = document.createElement("li");
      item.id = `name-${place}`;
      item.setAttribute("role", "option");
      item.textContent = name;
      if (of) item.append(Object.assign(document.createElement("small"), { textContent: of }));
      item.addEventListener("mousedown", (event) => {
        event.preventDefault(); // the box keeps the caret
        take(place);
      });
      return item;
    }));
    choose(0);
  };
  const take = (place) => {
    const [name] = offered[place];
    const end = box.selectionStart;
    const start = end - (WORD.exec(box.value.slice(0, end)) || [""])[0].length;
    const isPlain = /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name);
    box.setRangeText(isPlain ? name : `"${name.replaceAll('"', '""')}"`, start, end, "end");
    close();
  };
  box.addEventListener("input", (event) => event.isComposing || offer());
  box.addEventListener("compositionend", offer);
  box.addEventListener("blur", close);
  box.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) box.form.requestSubmit();
    else if (event.key === "Escape" && !halt.hidden) stop();
    else if (!offered.length) return;
    else if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter" || event.key === "Tab") take(chosen);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  box.form.addEventListener("submit", () => { halt.hidden = false; });
  const stop = () => {
    halt.hidden = true;
    window.stop(); // the server ends what no browser waits for
  };
  halt.addEventListener("click", stop);
  addEventListener("pageshow", () => { halt.hidden = true; });
}

// A trend's categories: each line can be hidden by its button in the legend.
function toggleLines(legend) {
  legend.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-line]");
    if (!button) return;
    const isShown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(isShown));
    for (const line of document.querySelectorAll(`[data-of="${CSS.escape(button.dataset.line)}"]`)) {
      line.classList.toggle("hidden", !isShown);
    }
  });
}

// What takes a moment to compute is asked for once the page is there.
async function fetchLater(place) {
  const answer = await answerOf(place.dataset.part);
  if (!answer || !answer.ok) return; // its link stays, and says what is wrong
  place.outerHTML = await answer.text();
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

// Begins what moves in a view; a view in a chat takes the place of the one before.
let ending = new AbortController();
function begin() {
  ending.abort();
  ending = new AbortController();
  const pairs = document.getElementById("pairs");
  if (pairs) reviewByKey(pairs, ending.signal);
  const searchForm = document.getElementById("search");
  if (searchForm) searchAsYouType(searchForm);
  for (const place of document.querySelectorAll("[data-part]")) fetchLater(place);
  const sql = document.getElementById("sql");
  if (sql) editSql(sql);
  const lines = document.getElementById("lines");
  if (lines) toggleLines(lines);
}

begin();
