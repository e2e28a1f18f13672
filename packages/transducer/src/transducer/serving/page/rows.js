// The arborescence as a list that grows: one item per relation, indented by its depth.

export function newPanel(task) {
  const panel = document.createElement("section");
  panel.className = "panel";
  panel.dataset.task = task;
  const title = document.createElement("h2");
  title.textContent = task.toUpperCase();
  const rows = document.createElement("ol");
  rows.className = "rows";
  rows.tabIndex = 0;
  rows.setAttribute("aria-label", `${task}: relations in the order in which they are decided`);
  panel.append(title, rows);
  return panel;
}

export function rowItem(relation, depth, first) {
  const item = document.createElement("li");
  item.dataset.sentence = relation.sentence;
  if (relation.position !== null) item.dataset.position = relation.position;
  const role = document.createElement("span");
  role.className = "role";
  role.textContent = relation.relation + " ";
  const label = document.createElement("span");
  label.textContent = relation.target;
  if (!first) label.className = "copy";
  item.append("  ".repeat(depth), role, label);
  item.title = `${relation.source} → ${relation.relation} → ${relation.target}`;
  return item;
}

export function showUpTo(panels, place) {
  for (const item of panels.querySelectorAll(".rows li")) item.hidden = Number(item.dataset.place) > place;
}
