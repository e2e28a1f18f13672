// Calls of the server's API. Everything that comes back is data: text, never markup.

const token = () => sessionStorage.getItem("token");

export async function call(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  if (token()) headers.Authorization = `Bearer ${token()}`;
  const options = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body), signal };
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The server does not answer.");
  }
  if (response.status === 401 && askToken()) return call(path, body, signal);
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    throw new Error(problem.error || `The server says ${response.status}.`);
  }
  return response;
}

function askToken() {
  const given = window.prompt("This server asks for a token:");
  if (given) sessionStorage.setItem("token", given);
  return Boolean(given);
}

// Server-sent events of a POST request, which EventSource cannot make.
export async function* events(path, body, signal) {
  const response = await call(path, body, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    let part;
    try {
      part = await reader.read();
    } catch {
      throw new Error("The connection to the server was lost.");
    }
    if (part.done) return;
    const blocks = (rest + part.value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const [name, data] = block.split("\n");
      yield { name: name.slice("event: ".length), data: JSON.parse(data.slice("data: ".length)) };
    }
  }
}
