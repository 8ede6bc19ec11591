// Makes the page quick: answers as one types, more hits in place, arrow keys from hit to hit.
// The server renders and escapes every page; this only moves the finished nodes of a new page into the old one.

const PAUSE = 160; // milliseconds after a key before asking
const FRESH = 5000; // milliseconds between two looks at the status
const REPLACED = ["chips", "status", "answer"];

const form = document.getElementById("ask");
const box = document.getElementById("q");

const roomy = matchMedia("(min-width: 62.01rem)"); // there is room for every filter

let asking = null; // the request under way: a newer one ends it, and with it the server's work
let waiting = 0;
let naming = 0;

if (form) {
  box.addEventListener("input", () => later());
  form.addEventListener("change", (event) => event.target !== box && ask());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask({ remember: true });
  });
  document.addEventListener("click", follow);
  document.addEventListener("submit", whyNot);
  window.addEventListener("popstate", () => ask({ address: location.href, keep: true }));
}
document.addEventListener("keydown", steer);

const live = document.getElementById("live");
if (live) keepFresh();

document.querySelector(".top nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
document.addEventListener("input", (event) => event.target.matches("[data-names]") && laterNames(event.target));
if (roomy.matches) openFilters();

function openFilters() {
  const filters = document.getElementById("filters");
  if (filters) filters.open = true;
}

// Uids of the name that is typed, for a field that takes one.
function laterNames(field) {
  clearTimeout(naming);
  naming = setTimeout(() => offerNames(field), PAUSE);
}

async function offerNames(field) {
  const text = field.value.trim();
  const found = await named(text, 8);
  if (field.value.trim() !== text) return;
  field.list ?? field.setAttribute("list", listFor(field));
  field.list.replaceChildren(
    ...found.map((one) => Object.assign(document.createElement("option"), { value: one.uid, label: `${one.title || one.uid} · ${one.kind}` })),
  );
}

function listFor(field) {
  const list = document.createElement("datalist");
  list.id = `names-of-${field.name}`;
  field.after(list);
  return list.id;
}

async function named(text, limit) {
  try {
    const response = text ? await fetch(`/v1/suggest?${new URLSearchParams({ q: text, limit })}`) : null;
    return response?.ok ? (await response.json()).suggestions : [];
  } catch {
    return []; // Names are a convenience: without them the search says what is wrong.
  }
}

function later() {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    ask({ typing: true });
    suggest(box.value.trim());
  }, PAUSE);
}

// Pages whose name the text may become, under the box; the text itself is asked for besides.
async function suggest(text) {
  const names = document.getElementById("names");
  const found = await named(text, 4);
  if (box.value.trim() !== text) return;
  names.replaceChildren(...found.map(nameLink));
  names.hidden = found.length === 0;
}

function nameLink(found) {
  const link = document.createElement("a");
  link.href = `/node?${new URLSearchParams({ uid: found.uid, locale: found.locale })}`;
  const kind = document.createElement("small");
  kind.textContent = found.kind;
  link.append(found.title || found.uid, " ", kind);
  return link;
}

function address(of) {
  const fields = new URLSearchParams([...new FormData(of)].filter(([, value]) => value !== ""));
  return fields.get("q")?.trim() ? `/?${fields}` : "/";
}

async function ask({ address: to = address(form), remember = false, keep = false, typing = false } = {}) {
  clearTimeout(waiting);
  // What is still being typed is answered, and not kept as a run.
  const page = await get(typing && to !== "/" ? `${to}&typing` : to);
  if (!page) return;
  for (const id of REPLACED) replace(id, page);
  document.title = page.title;
  if (keep) box.value = page.getElementById("q")?.value ?? "";
  else if (remember) history.pushState(null, "", to);
  else history.replaceState(null, "", to);
}

async function get(to) {
  asking?.abort();
  const mine = (asking = new AbortController());
  const answer = document.getElementById("answer");
  answer.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(to, { signal: mine.signal, headers: { Accept: "text/html" } });
    const text = await response.text();
    if (mine !== asking) return null;
    if (!response.headers.get("content-type")?.startsWith("text/html")) {
      say(problem(text));
      return null;
    }
    return new DOMParser().parseFromString(text, "text/html");
  } catch (error) {
    if (error.name !== "AbortError") say("The server does not answer.");
    return null;
  } finally {
    if (mine === asking) answer.removeAttribute("aria-busy");
  }
}

function replace(id, page) {
  const fresh = page.getElementById(id);
  const old = document.getElementById(id);
  if (!fresh || !old) return;
  if (id === "status") {
    old.textContent = fresh.textContent.trim();
    return;
  }
  const opened = id === "chips" && (document.getElementById("filters")?.open ?? roomy.matches);
  const focused = id === "chips" && old.contains(document.activeElement) ? document.activeElement.value : null;
  old.replaceChildren(...fresh.childNodes);
  if (opened && old.querySelector("#filters")) old.querySelector("#filters").open = true;
  if (focused) [...old.querySelectorAll("input")].find((chip) => chip.value === focused)?.focus();
}

function say(text) {
  document.getElementById("status").textContent = text;
}

function problem(text) {
  try {
    return JSON.parse(text).detail;
  } catch {
    return "The server could not answer.";
  }
}

async function follow(event) {
  const link = event.target.closest("#more a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const page = await get(link.href);
  if (!page) return;
  const fresh = [...page.querySelectorAll("#hits > li")];
  if (fresh.length === 0) {
    replace("answer", page);
    replace("status", page);
    return;
  }
  document.getElementById("hits").append(...fresh);
  const next = page.getElementById("more");
  const more = document.getElementById("more");
  next ? more.replaceWith(next) : more.remove();
  say(page.getElementById("status").textContent.trim());
  fresh[0].querySelector(".title").focus();
}

async function whyNot(event) {
  if (!event.target.matches(".why-not")) return;
  event.preventDefault();
  const page = await get(address(event.target));
  if (!page) return;
  const fresh = page.getElementById("why-not");
  if (fresh) {
    document.getElementById("why-not").replaceWith(fresh);
    fresh.querySelector("#uid").focus();
  }
  const verdict = page.getElementById("verdict");
  const refused = page.querySelector(".problem");
  if (refused && !verdict) document.getElementById("why-not").append(refused);
  say((verdict ?? refused)?.textContent.replace(/\s+/g, " ").trim() ?? "");
}

// The status page anew, at once and every few seconds, while somebody wants it so and looks at it.
function keepFresh() {
  live.parentElement.hidden = false;
  live.addEventListener("change", refresh);
  setInterval(refresh, FRESH);
}

async function refresh() {
  const old = document.getElementById("standing");
  if (!live.checked || document.hidden || old.contains(document.activeElement)) return;
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" } });
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("standing");
    if (!fresh) return;
    const opened = [...old.querySelectorAll("details")].map((one) => one.open);
    [...fresh.querySelectorAll("details")].forEach((one, at) => (one.open = opened[at] ?? false));
    old.replaceChildren(...fresh.childNodes);
  } catch {
    // Asked again in a moment.
  }
}

function steer(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const here = document.activeElement;
  const writing = here.matches("input:not([type=checkbox]), textarea");
  if (event.key === "/" && !writing && box) {
    event.preventDefault();
    box.focus();
    box.select();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (!writing || here === box) move(event, event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Escape" && box && here !== box) {
    box.focus();
  } else if (event.key === "e" && !writing) {
    const why = here.closest?.(".hit")?.querySelector(".why");
    if (why) why.open = !why.open;
  }
}

function move(event, by) {
  const titles = [...document.querySelectorAll(".hit .title")];
  if (titles.length === 0) return;
  const hit = document.activeElement.closest(".hit");
  const at = hit ? titles.indexOf(hit.querySelector(".title")) : -1;
  if (at < 0 && by < 0) return;
  event.preventDefault();
  if (at + by < 0) box.focus();
  else titles[Math.min(at + by, titles.length - 1)].focus();
}
