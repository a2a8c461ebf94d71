// A view of mdvec's page in a chat: the host passes messages on, the server renders the views.
"use strict";

const HERE = "https://mdvec.invalid";
const waiting = new Map();
let number = 0;
let language = "ja";

function tell(method, params) {
  parent.postMessage({ jsonrpc: "2.0", method, params }, "*");
}

function ask(method, params) {
  const id = ++number;
  parent.postMessage({ jsonrpc: "2.0", id, method, params }, "*");
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

// What the host shows around the view: its language, and light or dark.
function take(context) {
  if (!context) return;
  if (context.locale) language = context.locale;
  if (context.theme) document.documentElement.dataset.theme = context.theme;
  document.documentElement.lang = language.slice(0, 2);
}

async function view(request) {
  const told = await ask("tools/call", { name: "show_view", arguments: { ...request, language } });
  if (told.isError) throw new Error(told.content[0].text);
  return told.structuredContent;
}

function say(text) {
  const line = document.createElement("p");
  line.className = "note";
  line.textContent = text;
  document.getElementById("content").replaceChildren(line);
}

// What the tool answered: its view, or why it has none.
function answer({ structuredContent, content }) {
  if (structuredContent?.view) show({ address: structuredContent.view });
  else say(content?.[0]?.text ?? "");
}

async function show(request) {
  try {
    const shown = await view(request);
    document.getElementById("content").innerHTML = shown.body;
    begin();
    for (const picture of document.querySelectorAll("img[src^='/']")) {
      const { body } = await view({ address: picture.getAttribute("src") });
      picture.src = `data:image/svg+xml,${encodeURIComponent(body)}`;
    }
  } catch (error) {
    say(error.message);
  }
  const { scrollWidth: width, scrollHeight: height } = document.documentElement;
  tell("ui/notifications/size-changed", { width, height });
}

// The page's script asks for parts of views by fetch; here they come through the host.
globalThis.fetch = async (address, { method = "GET", body } = {}) => {
  const { pathname, search } = new URL(address, HERE);
  const form = method === "POST" ? { form: String(body) } : {};
  try {
    const shown = await view({ address: pathname + search, ...form });
    return new Response(shown.body, { status: shown.status });
  } catch (error) {
    return new Response(error.message, { status: 502 });
  }
};

// What the page's script does when a decision is refused: the view then says what is wrong.
HTMLFormElement.prototype.submit = function () {
  const form = new URLSearchParams(new FormData(this)).toString();
  show({ address: this.getAttribute("action"), form });
};

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link) return;
  const address = link.getAttribute("href");
  event.preventDefault();
  if (address.startsWith("#")) document.querySelector(address)?.scrollIntoView();
  else if (address.startsWith("/")) show({ address });
});

// A host's frame may not submit forms, and then no event tells of it: buttons and Enter do.
function submit(form, submitter) {
  if (!form.reportValidity()) return;
  form.dispatchEvent(new SubmitEvent("submit", { bubbles: true, cancelable: true, submitter }));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("form button:not([type=button])");
  if (!button) return;
  event.preventDefault();
  submit(button.form, button);
});

document.addEventListener("keydown", (event) => {
  const field = event.target.closest("form input");
  if (event.key !== "Enter" || event.isComposing || !field) return;
  event.preventDefault();
  submit(field.form, null);
});

document.addEventListener("submit", (event) => {
  if (event.defaultPrevented) return; // the page's script has sent it
  event.preventDefault();
  const form = event.target;
  const fields = new URLSearchParams(new FormData(form, event.submitter)).toString();
  const address = form.getAttribute("action");
  if (form.method === "post") show({ address, form: fields });
  else show({ address: `${address}?${fields}` });
});

addEventListener("message", ({ data, source }) => {
  if (source !== parent || data?.jsonrpc !== "2.0") return;
  if (waiting.has(data.id) && !data.method) {
    const { resolve, reject } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) reject(new Error(data.error.message));
    else resolve(data.result);
  } else if (data.method === "ui/notifications/tool-result") {
    answer(data.params);
  } else if (data.method === "ui/notifications/host-context-changed") {
    take(data.params);
  } else if (data.id !== undefined) {
    parent.postMessage({ jsonrpc: "2.0", id: data.id, result: {} }, "*");
  }
});

ask("ui/initialize", {
  protocolVersion: "2026-01-26",
  appInfo: { name: "mdvec", version: "1" },
  appCapabilities: {},
}).then((told) => {
  take(told.hostContext);
  tell("ui/notifications/initialized", {});
});
