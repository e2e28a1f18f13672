// The arborescence as a list that grows: one item per relation, indented by its depth.

const percent = (probability) => (probability >= 0.995 ? "100 %" : `${(100 * probability).toFixed(probability < 0.1 ? 1 : 0)} %`);

export function addRow(panel, relation, place) {
  const rows = panel.querySelector(".rows");
  const head = rows.querySelector(`[data-sentence="${relation.sentence}"][data-row="${relation.head}"]`);
  const item = document.createElement("li");
  Object.assign(item.dataset, { sentence: relation.sentence, row: relation.row, place });
  item.dataset.depth = relation.head && head ? Number(head.dataset.depth) + 1 : 0;
  item.classList.toggle("first", relation.row === 1 && relation.sentence > 0);
  const second = best(relation.runners_up);
  item.append(
    part("indent", "  ".repeat(Math.min(item.dataset.depth, 20))),
    part("role", relation.relation),
    part(relation.index === relation.row ? "label" : "label copy", label(relation.target)),
    part(relation.probability < 0.5 ? "p unsure" : "p", percent(relation.probability)),
    part("second", second ? `or ${percent(second.probability)} ${other(second)}` : ""),
  );
  item.title = [`${relation.source} → ${relation.relation} → ${relation.target}`, ...relation.runners_up.map(
    (one) => `or ${other(one)}: ${percent(one.probability)}`)].join("\n");
  rows.append(item);
  rows.scrollTop = rows.scrollHeight;
}

export function showUpTo(panels, place) {
  for (const item of panels.querySelectorAll(".rows li")) {
    item.hidden = Number(item.dataset.place) > place;
    item.classList.toggle("now", Number(item.dataset.place) === place);
  }
}

// What came second: of the other nodes, sources and relations the most probable one.
function best(runnersUp) {
  return runnersUp.reduce((a, b) => (a && a.probability >= b.probability ? a : b), null);
}

function other({ part: what, source, relation, target }) {
  if (what === "source") return `below ${label(source)}`;
  if (what === "relation") return relation;
  return target === null ? "stop" : label(target);
}

// AMR's constants are told from concepts by a sign in front of them.
export function label(target) {
  return target.replace(/^=(?=.)/, "");
}

function part(name, text) {
  const element = document.createElement(name.startsWith("label") ? "bdi" : "span");
  element.className = name;
  element.textContent = text;
  return element;
}
