/** What a provider hands out, as people paste it: an address and a key in one of many spellings. */

export interface Pasted {
  name?: string;
  address?: string;
  secret?: string;
}

const QUOTES = /^["'`“”‘’]+|["'`“”‘’]+$/g;

/** A key without what came along when it was copied: spaces, quotes, `Bearer`, a variable's name. */
export function cleanSecret(text: string): string {
  return text
    .trim()
    .replace(/^(export\s+)?[A-Z][A-Z0-9_]*\s*=\s*/, "")
    .replace(QUOTES, "")
    .replace(/^(authorization:\s*)?bearer\s+/i, "")
    .replace(/^x-api-key:\s*/i, "")
    .replace(QUOTES, "")
    .replace(/[\s\u200b\ufeff]+/g, "");
}

/** An address without quotes and spaces; a bare host gets its scheme. */
export function cleanAddress(text: string): string {
  const bare = text.trim().replace(QUOTES, "").trim();
  if (!bare || /^[a-z][a-z0-9+.-]*:\/\//i.test(bare)) return bare;
  if (/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(\/|$)/i.test(bare)) return `http://${bare}`;
  return /^[\w-]+(\.[\w-]+)+(:\d+)?(\/|$)/.test(bare) ? `https://${bare}` : bare;
}

/** A name for what is at an address: the telling part of its host. */
export function nameFor(address: string, taken: readonly string[] = []): string {
  let name = "upstream";
  try {
    const url = new URL(address);
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const labels = host.split(".").filter((label) => !["api", "www", "gateway", "openai"].includes(label));
    const isNumber = /^[\d.:a-f]+$/i.test(host);
    name = isNumber || labels.length === 0 ? [host, url.port].filter(Boolean).join("-") : (labels[0] ?? host);
  } catch {
    return freeName(name, taken);
  }
  return freeName(name.replace(/[^\w.-]+/g, "-").slice(0, 60), taken);
}

/** The name, with a number behind it if it is taken. */
export function freeName(name: string, taken: readonly string[]): string {
  const used = new Set(taken.map((t) => t.toLowerCase()));
  if (!used.has(name.toLowerCase())) return name;
  let n = 2;
  while (used.has(`${name}-${n}`.toLowerCase())) n += 1;
  return `${name}-${n}`;
}

const ADDRESS = /^https?:\/\/\S+$/i;
const ASSIGNMENT = /^\s*(?:export\s+|set\s+|\$env:)?([A-Za-z][A-Za-z0-9_]*)\s*[=:]\s*(.+?)\s*[;,]?\s*$/;

function fromJson(text: string): Pasted[] | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  const items = Array.isArray(parsed) ? parsed : [parsed];
  return items
    .filter((item): item is Record<string, unknown> => typeof item === "object" && item !== null)
    .map((item) => {
      const first = (...names: string[]) => names.map((n) => item[n]).find((v): v is string => typeof v === "string");
      return made(
        first("name", "label"),
        first("base_url", "baseUrl", "url", "address"),
        first("key", "api_key", "apiKey", "token"),
      );
    });
}

function made(name?: string, address?: string, secret?: string): Pasted {
  return {
    ...(name?.trim() ? { name: name.trim().replace(QUOTES, "").slice(0, 64) } : {}),
    ...(address ? { address: cleanAddress(address) } : {}),
    ...(secret ? { secret: cleanSecret(secret) } : {}),
  };
}

function fromTable(lines: readonly string[]): Pasted[] | null {
  if (!lines.every((line) => line.includes("|"))) return null;
  return lines.map((line) => {
    const parts = line
      .split("|")
      .map((part) => part.trim())
      .filter(Boolean);
    const address = parts.find((part) => ADDRESS.test(part)) ?? parts.find((part) => ADDRESS.test(cleanAddress(part)));
    const others = parts.filter((part) => part !== address);
    return others.length > 1 ? made(others[0], address, others[1]) : made(undefined, address, others[0]);
  });
}

function fromVariables(lines: readonly string[]): Pasted[] | null {
  const pairs = lines.map((line) => ASSIGNMENT.exec(line)).filter((match) => match !== null);
  if (pairs.length === 0 || pairs.length < lines.length || pairs.some((pair) => /^https?$/i.test(pair[1] ?? "")))
    return null;
  const byPrefix = new Map<string, Pasted>();
  for (const [, variable = "", value = ""] of pairs) {
    const upper = variable.toUpperCase();
    const prefix = upper.replace(/_?(API_)?(BASE_URL|BASE|URL|ENDPOINT|HOST|KEY|AUTH_TOKEN|TOKEN|SECRET)$/, "");
    const entry = byPrefix.get(prefix) ?? {};
    byPrefix.set(prefix, entry);
    if (ADDRESS.test(cleanAddress(value))) entry.address = cleanAddress(value);
    else if (/(KEY|TOKEN|SECRET)$/.test(upper)) entry.secret = cleanSecret(value);
    else if (/NAME$/.test(upper)) entry.name = value.replace(QUOTES, "");
  }
  return [...byPrefix.values()].filter((entry) => entry.address ?? entry.secret);
}

function fromWords(text: string): Pasted[] {
  const found: Pasted[] = [];
  for (const word of text.split(/[\s,;]+/).filter(Boolean)) {
    const bare = word.replace(QUOTES, "");
    const last = found.at(-1);
    if (ADDRESS.test(bare)) {
      if (last && !last.address) last.address = bare;
      else found.push({ address: bare });
    } else if (/^[\w-]{2,}[\w.\-+/=]{12,}$/.test(bare)) {
      if (last && !last.secret) last.secret = cleanSecret(bare);
      else found.push({ secret: cleanSecret(bare) });
    }
  }
  return found;
}

/** Everything that can be made out in a pasted text. */
export function readPasted(text: string): Pasted[] {
  const trimmed = text.trim();
  if (!trimmed) return [];
  const lines = trimmed
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line && !line.startsWith("#"));
  return fromJson(trimmed) ?? fromTable(lines) ?? fromVariables(lines) ?? fromWords(trimmed);
}
