// Words and nodes light each other up. Everything that stands for words has data-at: their places in the text.

import { wordsAreNodes } from "./frameworks.js";
import { label } from "./rows.js";

const at = (element) => (element.dataset.at ? element.dataset.at.split(" ") : []);
let pinned = null;

export function setUpLinks() {
  // A mouse that rests elsewhere does not put out what the keyboard has lit.
  const over = (event) => light(
    event.target.closest?.("[data-at]") ?? pinned ?? document.querySelector("[data-at]:focus-visible"));
  document.addEventListener("mouseover", over);
  document.addEventListener("focusin", over);
  document.addEventListener("click", (event) => {
    const word = event.target.closest?.("#words button");
    pin(word && word !== pinned ? word : null);
  });
  document.getElementById("words").addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    const words = [...event.currentTarget.children];
    const back = getComputedStyle(event.currentTarget).direction === "rtl";
    const next = words[words.indexOf(event.target) + (back ? -by : by)];
    if (!next) return;
    event.preventDefault();
    event.target.tabIndex = -1; // one stop for the tab key, not one a word
    next.tabIndex = 0;
    next.focus();
  });
}

function pin(word) {
  pinned?.setAttribute("aria-pressed", "false");
  pinned = word;
  pinned?.setAttribute("aria-pressed", "true");
  light(pinned);
}

export function showWords(tokens) {
  pinned = null;
  document.getElementById("words").replaceChildren(...tokens.map((token, place) => {
    const word = document.createElement("button");
    word.type = "button";
    word.textContent = token.form;
    word.dataset.at = place;
    word.tabIndex = place ? -1 : 0;
    word.setAttribute("aria-pressed", "false");
    return word;
  }));
}

// The nodes of a picture count words from the first one of their sentence.
export function linkPicture(frame, first) {
  for (const node of frame.querySelectorAll("[data-words]")) {
    if (node.dataset.words) node.dataset.at = node.dataset.words.split(" ").map((place) => first + Number(place)).join(" ");
  }
}

// A row has the position of its word, or (AMR, where no word is a node) the words of the node with its label.
export function linkRows({ relations, bounds, answer }) {
  const nodes = {};
  for (const { task, sentence, row, index, target, position } of relations) {
    const graph = answer.graphs[task]?.[sentence];
    const first = bounds[task][sentence][0];
    let words = position === null ? [] : [first + position];
    if (position === null && index === row && graph && !wordsAreNodes(task)) {
      const left = (nodes[sentence] ??= [...graph.nodes]);
      const found = left.findIndex((node) => [node.label, bare(node.label)].includes(label(target)));
      if (found >= 0) words = (left.splice(found, 1)[0].anchors ?? []).map((place) => first + place);
    }
    const item = document.querySelector(
      `.panel[data-task="${CSS.escape(task)}"] .rows [data-sentence="${sentence}"][data-row="${row}"]`);
    if (words.length) item.dataset.at = words.join(" ");
  }
}

// The model leaves the senses of AMR's concepts to a table.
function bare(concept) {
  return concept?.replace(/-\d\d+$/, "");
}

function light(source) {
  for (const element of document.querySelectorAll(".lit")) element.classList.remove("lit");
  if (!source) return;
  const places = at(source);
  source.classList.add("lit");
  for (const group of document.querySelectorAll("#words, .rows, .picture")) {
    const members = [...group.querySelectorAll("[data-at]")];
    for (const element of places.length === 1 ? closest(members, places[0]) : same(members, places, group)) {
      element.classList.add("lit");
    }
  }
}

// Of the nodes over a word those with the fewest words: in UCCA units nest.
function closest(members, place) {
  const over = members.filter((element) => at(element).includes(place));
  const least = Math.min(...over.map((element) => at(element).length));
  return over.filter((element) => at(element).length === least);
}

function same(members, places, group) {
  if (group.id === "words") return members.filter((element) => places.includes(element.dataset.at));
  return members.filter((element) => element.dataset.at === places.join(" "));
}
