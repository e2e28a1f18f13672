// The page: type a text, watch its graphs grow, go back and forth, compare with a gold graph.
import { call, events } from "./server.js";
import { newPanel, rowItem, showUpTo } from "./rows.js";

const EXAMPLES = [
  "The boy wants to go.",
  "Where did you put my keys?",
  "She did not know that he had already left.",
  "The decision of the court surprised everybody.",
];
const FORMATS = { amr: ["amr", "mrp"], dm: ["sdp", "mrp"], pas: ["sdp", "mrp"], psd: ["sdp", "mrp"], ucca: ["mrp"] };
const $ = (id) => document.getElementById(id);
let relations = 0;
let answer = null;

start();

async function start() {
  for (const example of EXAMPLES) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link";
    button.textContent = example;
    button.addEventListener("click", () => { $("text").value = example; $("ask").requestSubmit(); });
    $("examples").append(button);
  }
  $("ask").addEventListener("submit", (event) => { event.preventDefault(); parse(); });
  $("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); $("ask").requestSubmit(); }
  });
  $("step").addEventListener("input", () => goTo(Number($("step").value)));
  document.addEventListener("keydown", onArrow);
  $("share").addEventListener("click", share);
  $("score").addEventListener("click", score);
  try {
    const { models } = await (await call("/v1/models")).json();
    for (const task of Object.keys(models)) addTask(task);
  } catch (error) {
    return tell(error.message, true);
  }
  if (location.hash.length > 1) {
    $("text").value = decodeURIComponent(location.hash.slice(1));
    $("ask").requestSubmit();
  }
}

function addTask(task) {
  const label = document.createElement("label");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.name = "task";
  box.value = task;
  box.checked = true;
  label.append(box, " ", task.toUpperCase());
  $("tasks").append(label);
}

async function parse() {
  const text = $("text").value;
  const tasks = [...document.querySelectorAll("input[name=task]:checked")].map((box) => box.value);
  if (!text.trim() || !tasks.length) return tell("Type a text and choose a framework.", true);
  history.replaceState(null, "", `#${encodeURIComponent(text)}`);
  relations = 0;
  answer = null;
  $("panels").replaceChildren(...tasks.map(newPanel));
  $("player").hidden = false;
  tell("parsing …");
  const depths = new Map();
  try {
    for await (const { name, data } of events("/v1/stream", { text, tasks, formats: ["amr", "sdp", "mrp"] })) {
      if (name === "tokens") showWords(data.tokens);
      else if (name === "relation") grow(data, depths);
      else if (name === "graph") await finish(data);
      else throw new Error(data.error);
    }
  } catch (error) {
    tell(error.message, true);
  }
}

function showWords(tokens) {
  $("words").replaceChildren(...tokens.map((token, place) => {
    const word = document.createElement("span");
    word.textContent = token.form;
    word.dataset.word = place;
    word.tabIndex = 0;
    for (const type of ["mouseenter", "focus"]) word.addEventListener(type, () => light(place, true));
    for (const type of ["mouseleave", "blur"]) word.addEventListener(type, () => light(place, false));
    return word;
  }));
}

function grow(relation, depths) {
  const panel = document.querySelector(`.panel[data-task="${CSS.escape(relation.task)}"] .rows`);
  const key = (row) => `${relation.task} ${relation.sentence} ${row}`;
  const depth = relation.head ? depths.get(key(relation.head)) + 1 : 0;
  depths.set(key(relation.row), depth);
  const item = rowItem(relation, depth, relation.index === relation.row);
  relations += 1;
  item.dataset.place = relations;
  panel.append(item);
  $("step").max = relations; // before the value, which is cut to it
  $("step").value = relations;
  $("place").textContent = `${relations} of ${relations}`;
}

function goTo(place) {
  showUpTo($("panels"), place);
  $("place").textContent = `${place} of ${relations}`;
}

function onArrow(event) {
  const typing = ["TEXTAREA", "INPUT"].includes(event.target.tagName);
  const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (typing || !move || $("player").hidden) return;
  event.preventDefault();
  const place = Math.min(Math.max(Number($("step").value) + move, 0), relations);
  $("step").value = place;
  goTo(place);
}

async function finish(document_) {
  answer = document_;
  for (const problem of document_.problems) tell(`${problem.task}: ${problem.reason}`, true);
  if (!document_.problems.length) tell(`${relations} relations`);
  linkWords(document_);
  for (const [task, formats] of Object.entries(document_.formats)) {
    const panel = document.querySelector(`.panel[data-task="${CSS.escape(task)}"]`);
    const { svg } = await (await call("/v1/draw", { text: formats.mrp, format: "mrp" })).json();
    const frame = document.createElement("div");
    frame.className = "picture";
    frame.tabIndex = 0;
    const image = document.createElement("img");
    image.alt = `The ${task} graph`;
    image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
    frame.append(image);
    panel.append(frame, downloads(task, formats, svg));
  }
}

function downloads(task, formats, svg) {
  const bar = document.createElement("p");
  bar.className = "formats";
  const files = { svg, ...Object.fromEntries(FORMATS[task].map((name) => [name, formats[name]])) };
  for (const [name, text] of Object.entries(files)) {
    const link = document.createElement("a");
    link.textContent = name.toUpperCase();
    link.download = `${task}.${name}`;
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    bar.append(link);
  }
  return bar;
}

// Which words belong to which rows: rows name a position in their sentence.
function linkWords(document_) {
  for (const item of document.querySelectorAll(".rows li[data-position]")) {
    const sentence = document_.sentences[Number(item.dataset.sentence)];
    if (sentence) item.dataset.word = sentence.first + Number(item.dataset.position);
    item.addEventListener("mouseenter", () => light(Number(item.dataset.word), true));
    item.addEventListener("mouseleave", () => light(Number(item.dataset.word), false));
  }
}

function light(word, on) {
  for (const part of document.querySelectorAll(`[data-word="${word}"]`)) part.classList.toggle("lit", on);
}

async function share() {
  history.replaceState(null, "", `#${encodeURIComponent($("text").value)}`);
  try {
    await navigator.clipboard.writeText(location.href);
    tell("The link is copied.");
  } catch {
    tell("The link is in the address bar.");
  }
}

async function score() {
  const gold = $("gold").value;
  try {
    if (!answer) throw new Error("Parse a text first.");
    const tasks = Object.keys(answer.formats);
    const results = [];
    for (const task of tasks) {
      try {
        results.push((await (await call("/v1/score", { gold, pred: answer.formats[task].mrp })).json()).table);
      } catch (error) {
        if (tasks.length === 1) throw error;
      }
    }
    if (!results.length) throw new Error("No parse is of the framework of the gold graph.");
    $("scores").textContent = results.join("\n\n");
    tell("scored");
  } catch (error) {
    $("scores").textContent = "";
    tell(error.message, true);
  }
}

function tell(message, bad = false) {
  $("status").textContent = message;
  $("status").className = bad ? "error" : "";
}
