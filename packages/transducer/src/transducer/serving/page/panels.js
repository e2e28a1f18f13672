// One panel a framework: its relations, its pictures, its text formats, its other hypotheses.
import { figure, finalFigures, firstWord, saver } from "./pictures.js";
import { call } from "./server.js";

const NAMES = { amr: "PENMAN", sdp: "SDP", ucca: "UCCA XML", mrp: "MRP", graphml: "GraphML" };
const ENDINGS = { amr: "amr", sdp: "sdp", ucca: "xml", mrp: "mrp", graphml: "graphml" };
const BEST = 4; // hypotheses side by side

export function newPanel(task, shown, tell) {
  const panel = make("section", "panel");
  panel.dataset.task = task;
  panel.setAttribute("aria-label", task.toUpperCase());
  const title = make("h2", "", task.toUpperCase());
  const rows = make("ol", "rows");
  rows.tabIndex = 0;
  rows.setAttribute("aria-label", `${task.toUpperCase()}: relations in the order in which they are decided`);
  const final = make("div", "final");
  final.hidden = true;
  panel.append(title, rows, make("div", "growing"), final, make("div", "strings"), make("div", "hypotheses"));
  const button = make("button", "more", `Show the ${BEST} best graphs`);
  button.type = "button";
  button.hidden = true;
  button.addEventListener("click", () => showHypotheses(panel, task, shown, tell));
  panel.querySelector(".hypotheses").append(button);
  return panel;
}

export async function finishPanel(panel, task, shown) {
  panel.querySelector(".final").replaceChildren(...(await finalFigures(task, shown)));
  panel.querySelector(".strings").replaceChildren(...tabs(task, shown.answer.formats[task]));
  panel.querySelector(".more").hidden = !shown.answer.graphs[task].length;
}

// The text formats as tabs, with copy and download.
function tabs(task, strings) {
  const names = Object.keys(strings).filter((name) => strings[name]);
  if (!names.length) return [];
  const list = make("div", "tabs");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", `${task.toUpperCase()} as text`);
  const text = make("pre");
  Object.assign(text, { id: `${task}-text`, tabIndex: 0, dir: "auto" });
  text.setAttribute("role", "tabpanel");
  const bar = make("div", "bar");
  const choose = (name) => {
    for (const tab of list.children) {
      const chosen = tab.dataset.name === name;
      tab.setAttribute("aria-selected", chosen);
      tab.tabIndex = chosen ? 0 : -1;
      if (chosen) text.setAttribute("aria-labelledby", tab.id);
    }
    text.textContent = strings[name];
    const copy = make("button", "small", "Copy");
    copy.type = "button";
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(strings[name]);
      copy.textContent = "Copied";
    });
    bar.replaceChildren(copy, saver("Download", () => new Blob([strings[name]], { type: "text/plain" }), `${task}.${ENDINGS[name]}`));
  };
  list.append(...names.map((name) => {
    const tab = make("button", "", NAMES[name]);
    Object.assign(tab, { type: "button", id: `${task}-tab-${name}` });
    tab.dataset.name = name;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", text.id);
    tab.addEventListener("click", () => choose(name));
    return tab;
  }));
  list.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    const all = [...list.children];
    const next = all.at((all.indexOf(event.target) + by) % all.length);
    choose(next.dataset.name);
    next.focus();
  });
  choose(names[0]);
  return [list, text, bar];
}

// What beam search finds beside the best graph; what differs from that one is marked.
async function showHypotheses(panel, task, shown, tell) {
  const place = panel.querySelector(".hypotheses");
  tell("Searching …");
  try {
    const request = { text: shown.text, tasks: [task], nbest: BEST, beam: 2 * BEST, formats: ["mrp"] };
    const { nbest, ...answer } = await (await call("/v1/parse", request)).json();
    const groups = [];
    for (const [number, best] of nbest[task].entries()) {
      const group = make("div", "beside");
      for (const [rank, { score, formats }] of best.entries()) {
        const compared = { gold: best[0].formats.mrp, pred: formats.mrp };
        const { pictures } = await (await call("/v1/score", compared)).json();
        group.append(figure(pictures.pred, {
          task,
          caption: `${rank + 1}. log-probability ${score.toFixed(2)} `,
          first: firstWord(task, number, answer),
          name: `${task}-${number + 1}-${rank + 1}`,
        }));
      }
      groups.push(group);
    }
    panel.classList.add("wide");
    place.replaceChildren(make("h3", "", "The best graphs; what the first one does not have is marked"), ...groups);
    tell("");
  } catch (error) {
    place.querySelector(".error")?.remove();
    place.append(make("p", "error", error.message)); // beside the button
    tell(error.message, true);
  }
}

export function make(name, className = "", text = "") {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.textContent = text;
  return element;
}
