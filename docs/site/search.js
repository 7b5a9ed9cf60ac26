// SPDX-License-Identifier: Apache-2.0
// Finds pages, headings, functions, structs and constants by the words in their names. `pages` is search-index.js's:
// [name, kind, address].
"use strict";

const field = document.querySelector(".search input");
const list = document.querySelector(".search ol");
const kLongest = 20;
let chosen = -1;

// Lower is better: the whole name, its beginning, a word's beginning, anywhere; among equals the shorter name.
function distance(name, words) {
  const text = name.toLowerCase();
  let sum = 0;
  for (const word of words) {
    const at = text.indexOf(word);
    if (at < 0) return Infinity;
    sum += text === word ? 0 : at === 0 ? 100 : /\W|_/.test(text[at - 1]) ? 200 : 300;
  }
  return sum + text.length;
}

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  list.replaceChildren();
  list.hidden = words.length === 0;
  chosen = -1;
  if (list.hidden) return;
  const found = pages
    .map(([name, kind, address]) => ({ name, kind, address, order: distance(name, words) }))
    .filter((page) => page.order < Infinity)
    .sort((a, b) => a.order - b.order)
    .slice(0, kLongest);
  for (const page of found) {
    const link = document.createElement("a");
    const kind = document.createElement("span");
    link.href = page.address;
    link.append(page.name, kind);
    kind.textContent = page.kind;
    const item = document.createElement("li");
    item.append(link);
    list.append(item);
  }
  if (found.length === 0) {
    const item = document.createElement("li");
    item.className = "none";
    item.textContent = "Nothing has these words in its name.";
    list.append(item);
  }
}

function choose(step) {
  const links = [...list.querySelectorAll("a")];
  if (links.length === 0) return;
  chosen = (chosen + step + links.length) % links.length;
  links.forEach((link, number) => link.classList.toggle("chosen", number === chosen));
  links[chosen].scrollIntoView({ block: "nearest" });
}

field.addEventListener("input", show);
field.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") choose(event.key === "ArrowDown" ? 1 : -1);
  else if (event.key === "Escape") {
    field.value = "";
    show();
  } else return;
  event.preventDefault();
});
field.form.addEventListener("submit", (event) => {
  event.preventDefault();
  const links = list.querySelectorAll("a");
  if (links.length > 0) links[Math.max(chosen, 0)].click();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".search")) list.hidden = true;
});
