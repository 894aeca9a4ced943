/** An upstream as its form holds it: texts as typed. And the way back into the words of the configuration file. */
import type { Capability, Credential, Upstream, UpstreamKind } from "@/api/types";
import { cleanAddress, cleanSecret } from "./paste";

export type DraftCredential =
  | { kind: "kept"; name: string; hint: string | null; env: string | null; missing: boolean }
  | { kind: "value"; value: string }
  | { kind: "env"; env: string };

export const BILLING_KINDS = ["none", "auto", "sub2api", "newapi"] as const;

export interface BillingDraft {
  kind: (typeof BILLING_KINDS)[number];
  credit_ratio: string;
  interval: string;
  low_balance: string;
  /** `***`: the stored one stays. */
  access_token: string;
  user_id: string;
}

export interface UpstreamDraft {
  name: string;
  base_url: string;
  protocol: UpstreamKind;
  auth: "" | "bearer" | "x-api-key" | "header";
  auth_header: string;
  credentials: DraftCredential[];
  proxy: string;
  allow_plain_http: boolean;
  enabled: boolean;
  tags: { main: string; labels: string[] };
  region: string;
  /** Empty: everything. */
  capabilities: Capability[];
  max_context: string;
  limits: { concurrency: string; rpm: string; tpm: string };
  timeouts: { connect: string; first_response: string; idle: string; non_stream: string };
  models: { allow: string[]; map: { from: string; to: string }[] };
  headers: { name: string; value: string }[];
  session_header: string;
  /** Name of a vendor's dialect; empty: that of the protocol alone. */
  profile: string;
  billing: BillingDraft;
}

export type FileObject = Record<string, unknown>;

const number = (value: number | null | undefined): string =>
  value === null || value === undefined ? "" : String(value);

function keptCredential(credential: Credential): DraftCredential {
  const env = typeof credential.source === "object" ? credential.source.env : null;
  return { kind: "kept", name: credential.name, hint: credential.hint ?? null, env, missing: credential.missing };
}

export function emptyDraft(): UpstreamDraft {
  return {
    name: "",
    base_url: "",
    protocol: "passthrough",
    auth: "",
    auth_header: "",
    credentials: [],
    proxy: "",
    allow_plain_http: false,
    enabled: true,
    tags: { main: "", labels: [] },
    region: "",
    capabilities: [],
    max_context: "",
    limits: { concurrency: "", rpm: "", tpm: "" },
    timeouts: { connect: "", first_response: "", idle: "", non_stream: "" },
    models: { allow: [], map: [] },
    headers: [],
    session_header: "",
    profile: "",
    billing: { kind: "none", credit_ratio: "", interval: "", low_balance: "", access_token: "", user_id: "" },
  };
}

export function draftOf(upstream: Upstream): UpstreamDraft {
  const auth = upstream.auth;
  return {
    name: upstream.name,
    base_url: upstream.base_url,
    protocol: upstream.protocol ?? "passthrough",
    auth: typeof auth === "object" && auth !== null ? "header" : (auth ?? ""),
    auth_header: typeof auth === "object" && auth !== null ? auth.header : "",
    credentials: upstream.credentials.map(keptCredential),
    proxy: upstream.proxy ?? "",
    allow_plain_http: upstream.allow_plain_http ?? false,
    enabled: upstream.enabled ?? true,
    tags: { main: upstream.tags?.main ?? "", labels: [...(upstream.tags?.labels ?? [])] },
    region: upstream.region ?? "",
    capabilities: [...(upstream.capabilities ?? [])],
    max_context: number(upstream.max_context),
    limits: {
      concurrency: number(upstream.limits?.concurrency),
      rpm: number(upstream.limits?.rpm),
      tpm: number(upstream.limits?.tpm),
    },
    timeouts: {
      connect: upstream.timeouts?.connect ?? "",
      first_response: upstream.timeouts?.first_response ?? "",
      idle: upstream.timeouts?.idle ?? "",
      non_stream: upstream.timeouts?.non_stream ?? "",
    },
    models: {
      allow: [...(upstream.models?.allow ?? [])],
      map: Object.entries(upstream.models?.map ?? {}).map(([from, to]) => ({ from, to })),
    },
    headers: Object.entries(upstream.headers ?? {}).map(([name, value]) => ({ name, value })),
    session_header: upstream.session_header ?? "",
    profile: upstream.profile?.base ?? "",
    billing: {
      kind: upstream.billing?.kind ?? "none",
      credit_ratio: upstream.billing?.credit_ratio ?? "",
      interval: upstream.billing?.interval ?? "",
      low_balance: upstream.billing?.low_balance ?? "",
      access_token: upstream.billing?.access_token ?? "",
      user_id: number(upstream.billing?.user_id),
    },
  };
}

/** The same upstream under another name; a secret cannot be copied, so its keys are left out. */
export function duplicateOf(upstream: Upstream, name: string): UpstreamDraft {
  const draft = draftOf(upstream);
  const readable = draft.credentials.filter((c) => c.kind === "kept" && c.env !== null);
  return {
    ...draft,
    name,
    credentials: readable.map((c) => ({ kind: "env", env: (c as { env: string }).env })),
    headers: draft.headers.filter((header) => header.value !== "***"),
    proxy: draft.proxy.includes("***") ? "" : draft.proxy,
    billing: { ...draft.billing, access_token: "", user_id: "" },
  };
}

const orNull = (text: string): string | null => text.trim() || null;
const numberOrNull = (text: string): number | null => (text.trim() ? Number(text) : null);

function credentialInFile(credential: DraftCredential): FileObject | null {
  if (credential.kind === "value") return credential.value.trim() ? { value: cleanSecret(credential.value) } : null;
  if (credential.kind === "env") return credential.env.trim() ? { env: credential.env.trim() } : null;
  return credential.env === null ? { vault: credential.name } : { env: credential.env };
}

/** The object in the words of the configuration file; what is absent there is `null`. */
export function fileOf(draft: UpstreamDraft): FileObject {
  const auth = draft.auth === "header" ? { header: draft.auth_header.trim() } : draft.auth || null;
  return {
    name: draft.name.trim(),
    base_url: cleanAddress(draft.base_url),
    protocol: draft.protocol,
    auth,
    credentials: draft.credentials.map(credentialInFile).filter((c) => c !== null),
    proxy: orNull(draft.proxy),
    allow_plain_http: draft.allow_plain_http,
    enabled: draft.enabled,
    tags: { main: orNull(draft.tags.main), labels: draft.tags.labels },
    region: orNull(draft.region),
    capabilities: draft.capabilities.length > 0 ? draft.capabilities : null,
    max_context: numberOrNull(draft.max_context),
    limits: {
      concurrency: numberOrNull(draft.limits.concurrency),
      rpm: numberOrNull(draft.limits.rpm),
      tpm: numberOrNull(draft.limits.tpm),
    },
    timeouts: {
      connect: orNull(draft.timeouts.connect),
      first_response: orNull(draft.timeouts.first_response),
      idle: orNull(draft.timeouts.idle),
      non_stream: orNull(draft.timeouts.non_stream),
    },
    models: {
      allow: draft.models.allow.length > 0 ? draft.models.allow : null,
      map: Object.fromEntries(draft.models.map.filter((m) => m.from.trim()).map((m) => [m.from.trim(), m.to.trim()])),
    },
    headers: Object.fromEntries(draft.headers.filter((h) => h.name.trim()).map((h) => [h.name.trim(), h.value])),
    session_header: orNull(draft.session_header),
    profile: draft.profile ? { base: draft.profile } : null,
    billing: {
      kind: draft.billing.kind,
      credit_ratio: orNull(draft.billing.credit_ratio),
      interval: orNull(draft.billing.interval),
      low_balance: orNull(draft.billing.low_balance),
      access_token: orNull(draft.billing.access_token),
      user_id: numberOrNull(draft.billing.user_id),
    },
  };
}
