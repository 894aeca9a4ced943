// Serves the built page under /ui/ and hands everything else to the gateway, as the gateway itself does with its own copy.
import { readFile } from "node:fs/promises";
import http from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

async function page(path, response) {
  const file = normalize(join(DIST, path === "/ui/" ? "index.html" : path.slice("/ui/".length)));
  if (!file.startsWith(DIST)) return response.writeHead(404).end();
  try {
    const content = await readFile(file);
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" }).end(content);
  } catch {
    response.writeHead(404).end();
  }
}

function hand(gateway, request, response) {
  const headers = { ...request.headers, host: gateway.host };
  delete headers.origin; // the gateway's own origin is another port here
  const onward = http.request(
    { host: gateway.hostname, port: gateway.port, path: request.url, method: request.method, headers },
    (answer) => {
      response.writeHead(answer.statusCode, answer.headers).flushHeaders();
      answer.pipe(response);
    },
  );
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}

/** Resolves to the address of the page and functions that stop serving and that end what is open. */
export async function serve(gatewayUrl) {
  const gateway = new URL(gatewayUrl);
  const server = http.createServer((request, response) => {
    const path = new URL(request.url, "http://page").pathname;
    if (path.startsWith("/ui/")) void page(path, response);
    else hand(gateway, request, response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve)));
  const { port } = server.address();
  /** Breaks the line; the answer mends it. */
  const cut = async () => {
    await stop();
    return () => new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  };
  return { url: `http://127.0.0.1:${port}/ui/`, stop, cut };
}
