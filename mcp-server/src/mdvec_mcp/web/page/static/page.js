// What moves on the page. Every view also works without it.
"use strict";

const WAIT_MS = 120;

// Search as you type: only the hits are asked for, and the address keeps up.
function searchAsYouType(form) {
  const hits = document.getElementById("hits");
  let timer = 0;
  let running = null;
  const ask = async () => {
    if (running) running.abort();
    running = new AbortController();
    const fields = [...new FormData(form)].filter(([, value]) => value !== "");
    const query = new URLSearchParams(fields);
    try {
      const answer = await fetch(`/?${query}&part=hits`, { signal: running.signal });
      const text = await answer.text();
      if (answer.ok) {
        hits.innerHTML = text;
      } else {
        // An error is a whole page; only its sentence is shown.
        const read = new DOMParser().parseFromString(text, "text/html");
        const said = read.querySelector(".trouble");
        const line = document.createElement("p");
        line.className = "note";
        line.textContent = said ? said.textContent : answer.statusText;
        hits.replaceChildren(line);
      }
      history.replaceState(null, "", `/?${query}`);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  };
  const soon = (event) => {
    if (event.isComposing) return; // kana that are not yet chosen
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT_MS);
  };
  form.addEventListener("input", soon);
  form.addEventListener("compositionend", soon);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    ask();
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

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "/" && !typing) {
    const box = document.querySelector("input[type=search]");
    if (box) {
      event.preventDefault();
      box.focus();
      box.select();
    }
  }
});

// The imports: progress as it comes; the list again when one begins or ends.
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
    const answer = await fetch(`${list.dataset.live}?part=list`);
    if (answer.ok) list.innerHTML = await answer.text();
  });
  addEventListener("pagehide", () => events.close());
}

const live = document.getElementById("tools-list");
if (live) followImports(live);

const searchForm = document.getElementById("search");
if (searchForm) searchAsYouType(searchForm);
