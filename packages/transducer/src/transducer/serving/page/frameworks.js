// What sets frameworks apart, as the server says it with its models.
let known = {};

export function learnFrameworks(models) {
  known = models;
}

// One graph a paragraph, not one a sentence.
export function hasPassages(task) {
  return known[task].passages;
}

// Rows have the position of a word, not only a label.
export function wordsAreNodes(task) {
  return known[task].words_are_nodes;
}
