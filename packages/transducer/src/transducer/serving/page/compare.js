// A gold graph beside the parse: the certified score, and what matched.
import { hasPassages } from "./frameworks.js";
import { make } from "./panels.js";
import { figure, firstWord } from "./pictures.js";
import { call } from "./server.js";

const $ = (id) => document.getElementById(id);

export function setUpComparison(shown, tell) {
  $("score").addEventListener("click", async () => {
    $("scores").replaceChildren();
    try {
      $("scores").replaceChildren(...(await compared(shown)));
      tell("Compared.");
    } catch (error) {
      $("scores").replaceChildren(make("p", "error", error.message)); // beside the button
      tell(error.message, true);
    }
  });
}

// Which sentence the gold graph is of, where there are several.
export function showChoices({ answer }) {
  const options = answer.sentences.map((sentence, place) => new Option(`${place + 1}. ${sentence.text}`, place));
  $("which").replaceChildren(...options);
  $("which").hidden = $("which-label").hidden = options.length < 2;
}

async function compared({ answer }) {
  const gold = $("gold").value;
  if (!answer) throw new Error("Parse a text first.");
  if (!gold.trim()) throw new Error("Paste a gold graph first.");
  const { text } = await (await call("/v1/convert", { text: gold, to: "mrp" })).json();
  const golds = text.trim().split("\n");
  const task = JSON.parse(golds[0]).framework;
  if (!answer.graphs[task]) throw new Error(`The gold graph is ${task.toUpperCase()}, and the text is not parsed to it.`);
  const parsed = answer.formats[task].mrp.trim().split("\n");
  const place = golds.length > 1 ? 0 : chosen(task, answer);
  const pred = golds.length > 1 ? answer.formats[task].mrp : parsed[place];
  const result = await (await call("/v1/score", { gold, pred })).json();
  return report(result, task, firstWord(task, place, answer));
}

function chosen(task, answer) {
  const sentence = Number($("which").value || 0);
  return hasPassages(task) ? answer.sentences[sentence].paragraph : sentence;
}

function report({ table, certified, alignment, pictures }, task, first) {
  const scores = make("pre", "", table);
  scores.tabIndex = 0;
  scores.setAttribute("aria-label", "Scores");
  const proved = make("p", certified ? "proved" : "error", certified
    ? "Certified: no alignment of the two graphs scores more."
    : "Not certified: the search for the best alignment ran out of time.");
  if (!alignment) return [proved, scores];
  const side = make("div", "beside");
  side.append(
    figure(pictures.gold, { task, first, caption: "Gold; what is missing in the parse is marked ", name: `${task}-gold` }),
    figure(pictures.pred, { task, first, caption: "Parse; what is too much is marked ", name: `${task}-parse` }),
  );
  const lists = make("div", "beside");
  for (const [name, title] of [["matched", "Matched"], ["missing", "Missing"], ["extra", "Too much"]]) {
    const part = make("details");
    part.open = name !== "matched";
    const list = make("ul");
    list.append(...alignment[name].map((item) => make("li", "", item)));
    part.append(make("summary", "", `${title}: ${alignment[name].length}`), list);
    lists.append(part);
  }
  return [proved, scores, side, lists];
}
