// The whole page has to stay light: everything that is built, compressed, in at most 600 KiB.
import { readdir, readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

const LIMIT = 600 * 1024;
const DIST = new URL("../dist/", import.meta.url);

const names = await readdir(DIST, { recursive: true, withFileTypes: true });
let total = 0;
for (const entry of names.filter((name) => name.isFile())) {
  total += gzipSync(await readFile(`${entry.parentPath}/${entry.name}`), { level: 9 }).length;
}
const kib = (bytes) => `${Math.round(bytes / 1024)} KiB`;
console.log(`bundle: ${kib(total)} compressed, at most ${kib(LIMIT)}`);
if (total > LIMIT) process.exit(1);
