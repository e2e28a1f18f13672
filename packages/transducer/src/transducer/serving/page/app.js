// The page: type a text, watch its graphs grow, go back and forth, compare.
import { setUpComparison, showChoices } from "./compare.js";
import { learnFrameworks } from "./frameworks.js";
import { setUpLinks, linkRows, showWords } from "./links.js";
import { finishPanel, newPanel } from "./panels.js";
import { drawSoon, drawUpTo, forgetPictures } from "./pictures.js";
import { addRow, showUpTo } from "./rows.js";
import { call, events } from "./server.js";

const EXAMPLES = [
  "The boy wants to go.",
  "Where did you put my keys?",
  "She did not know that he had already left.",
  "The decision of the court surprised everybody.",
  "Mary bought two books and gave one of them to her brother.",
];
const $ = (id) => document.getElementById(id);

// What is shown: the text, its words, the relations so far, and in the end the server's answer.
const shown = { text: "", tokens: [], bounds: {}, relations: [], answer: null, formats: [] };
let running = null; // aborts the stream that is read

start();

async function start() {
  for (const example of EXAMPLES) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "example";
    button.textContent = example;
    button.addEventListener("click", () => ask(example));
    $("examples").append(button);
  }
  $("ask").addEventListener("submit", (event) => { event.preventDefault(); parse(); });
  $("text").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    parse();
  });
  $("step").addEventListener("input", () => goTo(Number($("step").value)));
  $("back").addEventListener("click", () => move(-1));
  $("forth").addEventListener("click", () => move(1));
  document.addEventListener("keydown", onArrow);
  $("share").addEventListener("click", share);
  setUpLinks();
  setUpComparison(shown, tell);
  window.addEventListener("hashchange", () => { if (fragment() !== shown.text) ask(fragment()); });
  try {
    const { models, formats } = await (await call("/v1/models")).json();
    shown.formats = formats;
    learnFrameworks(models);
    for (const task of Object.keys(models)) addTask(task);
  } catch (error) {
    return tell(error.message, true);
  }
  if (fragment()) ask(fragment());
}

function fragment() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return ""; // a link that was cut off within a character
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

function ask(text) {
  $("text").value = text;
  parse();
}

async function parse() {
  const text = $("text").value;
  const tasks = [...document.querySelectorAll("input[name=task]:checked")].map((box) => box.value);
  if (!text.trim() || !tasks.length) return tell("Type a text and choose a framework.", true);
  running?.abort();
  const mine = (running = new AbortController());
  begin(text, tasks);
  const formats = ["amr", "sdp", "ucca", "mrp", "graphml"].filter((name) => shown.formats.includes(name));
  try {
    for await (const { name, data } of events("/v1/stream", { text, tasks, formats }, mine.signal)) {
      if (mine.signal.aborted) return;
      if (name === "tokens") begun(data);
      else if (name === "relation") grow(data);
      else if (name === "graph") await finish(data);
      else throw new Error(data.error);
    }
    if (!shown.answer) throw new Error("The connection to the server was lost.");
  } catch (error) {
    if (mine.signal.aborted) return;
    $("result").hidden = !shown.tokens.length; // no empty panels below an error
    tell(error.message, true);
  }
}

function begin(text, tasks) {
  history.replaceState(null, "", `#${encodeURIComponent(text)}`);
  Object.assign(shown, { text, tokens: [], bounds: {}, relations: [], answer: null });
  forgetPictures();
  $("words").replaceChildren();
  $("scores").replaceChildren();
  $("panels").replaceChildren(...tasks.map((task) => newPanel(task, shown, tell)));
  $("result").hidden = false;
  setStep(0);
  tell("Parsing …");
}

function begun({ tokens, sentences }) {
  shown.tokens = tokens;
  shown.bounds = sentences;
  showWords(tokens);
}

function grow(relation) {
  const following = Number($("step").value) === shown.relations.length; // else the reader went back
  shown.relations.push(relation);
  addRow(panelOf(relation.task), relation, shown.relations.length);
  if (following) {
    setStep(shown.relations.length);
    drawSoon(panelOf(relation.task), shown, relation);
  } else {
    goTo(Number($("step").value));
  }
}

async function finish(answer) {
  shown.answer = answer;
  for (const task of Object.keys(answer.graphs)) await finishPanel(panelOf(task), task, shown);
  linkRows(shown);
  showChoices(shown);
  goTo(Number($("step").value));
  const problems = answer.problems.map((problem) => `${problem.task}: ${problem.reason}`);
  tell(problems.join("; ") || `Done: ${shown.relations.length} relations.`, problems.length > 0);
}

function panelOf(task) {
  return document.querySelector(`.panel[data-task="${CSS.escape(task)}"]`);
}

function setStep(place) {
  $("step").max = shown.relations.length; // before the value, which is cut to it
  $("step").value = place;
  $("place").textContent = `${place} of ${shown.relations.length}`;
  $("step").setAttribute("aria-valuetext", $("place").textContent);
}

function goTo(place) {
  setStep(place);
  showUpTo($("panels"), place);
  drawUpTo($("panels"), shown, place);
}

function move(by) {
  goTo(Math.min(Math.max(Number($("step").value) + by, 0), shown.relations.length));
}

function onArrow(event) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const own = event.target.closest("textarea, input, select, [role=tablist], #words");
  if (!by || own || event.altKey || event.ctrlKey || event.metaKey || $("result").hidden) return;
  event.preventDefault();
  move(by);
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

function tell(message, bad = false) {
  $("status").textContent = message;
  $("status").className = bad ? "error" : "";
}
