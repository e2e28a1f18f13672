// Pictures of graphs: drawn by the server, shown inline, so that their nodes can be linked.
import { hasPassages, wordsAreNodes } from "./frameworks.js";
import { linkPicture } from "./links.js";
import { call } from "./server.js";

const ELEMENTS = new Set(["svg", "g", "path", "rect", "text", "tspan", "circle", "polygon"]);
const ATTRIBUTES = /^(xmlns|class|d|x|y|dx|cx|cy|r|rx|width|height|viewBox|points|fill|transform|text-anchor|data-node|data-words)$/;

const drawn = new Map(); // what the server has drawn of this text: key -> promise of SVG
const wanted = new Map(); // panel -> what to draw next
let drawing = false;

export function forgetPictures() {
  drawn.clear();
  wanted.clear();
}

// An SVG file as an element; whatever is not part of a drawing stays out.
export function inline(source, label) {
  const svg = parsed(source);
  for (const element of [...svg.querySelectorAll("*")]) if (!ELEMENTS.has(element.localName)) element.remove();
  for (const element of [svg, ...svg.querySelectorAll("*")]) {
    for (const { name } of [...element.attributes]) if (!ATTRIBUTES.test(name)) element.removeAttribute(name);
  }
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  return document.importNode(svg, true);
}

export function figure(source, { task, caption = "", first = 0, name = task }) {
  const element = document.createElement("figure");
  const frame = document.createElement("div");
  frame.className = "picture";
  frame.tabIndex = 0;
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", `${task.toUpperCase()} graph ${caption}`.trim());
  frame.append(inline(source, `${task.toUpperCase()} graph. ${words(source)}`));
  linkPicture(frame, first);
  const below = document.createElement("figcaption");
  below.append(caption, saver("SVG", () => new Blob([source], { type: "image/svg+xml" }), `${name}.svg`),
    saver("PNG", () => png(source), `${name}.png`));
  element.append(frame, below);
  return element;
}

// The graphs of the answer, one figure each.
export async function finalFigures(task, shown) {
  const { pictures } = await post(`${task} final`, { text: shown.answer.formats[task].mrp, format: "mrp" });
  return pictures.map((svg, place) => figure(svg, {
    task,
    caption: pictures.length > 1 ? `${place + 1}. ` : "",
    first: firstWord(task, place, shown.answer),
    name: pictures.length > 1 ? `${task}-${place + 1}` : task,
  }));
}

export function firstWord(task, place, answer) {
  const { sentences } = answer;
  const mine = hasPassages(task) ? sentences.find((one) => one.paragraph === place) : sentences[place];
  return mine ? mine.first : 0;
}

// While a graph grows: the sentence of a relation as far as it is known, one picture at a time.
export function drawSoon(panel, shown, { task, sentence }) {
  const place = shown.relations.length;
  wanted.set(panel, () => partial(panel, shown, task, sentence, place));
  if (!drawing) drawNext();
}

// After the slider moved: each panel as it was after so many relations.
export function drawUpTo(panels, shown, place) {
  for (const panel of panels.children) {
    const { task } = panel.dataset;
    const mine = shown.relations.slice(0, place).filter((one) => one.task === task);
    const all = shown.relations.filter((one) => one.task === task);
    const finished = shown.answer && mine.length === all.length;
    panel.querySelector(".final").hidden = !finished;
    panel.querySelector(".growing").hidden = Boolean(finished);
    if (finished) wanted.delete(panel);
    else if (mine.length) wanted.set(panel, () => partial(panel, shown, task, mine.at(-1).sentence, place));
    if (finished || !mine.length) panel.querySelector(".growing").replaceChildren();
  }
  if (!drawing) drawNext();
}

async function drawNext() {
  drawing = true;
  while (wanted.size) {
    const [panel, draw] = wanted.entries().next().value;
    wanted.delete(panel);
    try {
      await draw();
    } catch {
      // The picture of a part may fail; the next one or the last one takes its place.
    }
  }
  drawing = false;
}

async function partial(panel, shown, task, sentence, place) {
  const rows = shown.relations.slice(0, place).filter((one) => one.task === task && one.sentence === sentence);
  const [first, last] = shown.bounds[task][sentence];
  const tokens = wordsAreNodes(task) ? shown.tokens.slice(first, last).map((token) => [token.form, null, null]) : [];
  const relations = rows.map((r) => [r.source, r.source_index, r.relation, r.target, r.index, r.position]);
  const text = JSON.stringify({ id: "1", framework: task, tokens, relations });
  const { svg } = await post(`${task} ${sentence} ${rows.length}`, { text, format: "relations" });
  const growing = panel.querySelector(".growing");
  if (!panel.isConnected || growing.hidden) return;
  growing.style.minHeight = `${Math.max(growing.offsetHeight, 0)}px`; // pictures only grow: no jumps
  growing.replaceChildren(figure(svg, { task, first }));
}

function post(key, body) {
  if (!drawn.has(key)) drawn.set(key, call("/v1/draw", body).then((response) => response.json()));
  return drawn.get(key);
}

// The style of a file would be refused here: the page has drawing.css.
function parsed(source) {
  const bare = source.replace(/<style>[^<]*<\/style>/, "");
  return new DOMParser().parseFromString(bare, "image/svg+xml").documentElement;
}

function words(source) {
  return [...parsed(source).querySelectorAll("text")].map((text) => text.textContent).join(" ");
}

export function saver(label, make, name) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "small";
  button.textContent = label;
  button.setAttribute("aria-label", `Download ${name}`);
  button.addEventListener("click", async () => save(await make(), name));
  return button;
}

function save(blob, name) {
  const link = document.createElement("a");
  link.download = name;
  link.href = URL.createObjectURL(blob);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function png(source) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(source)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * image.width;
  canvas.height = 2 * image.height;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
