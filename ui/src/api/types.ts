/** Short names for the generated types. Nothing is typed again here. */
import type { Schemas } from "./client";

export type Upstream = Schemas["UpstreamView"];
export type UpstreamHealth = Schemas["UpstreamHealth"];
export type UpstreamKind = Schemas["UpstreamKind"];
export type Capability = Schemas["Capability"];
export type Credential = Schemas["CredentialView"];
export type Group = Schemas["GroupView"];
export type Member = Schemas["MemberView"];
export type Strategy = Schemas["Strategy"];
export type Key = Schemas["KeyView"];
export type Saved = Schemas["SavedView"];
export type NewKey = Schemas["NewKey"];
export type RequestItem = Schemas["Item"];
export type RequestDetail = Schemas["Detail"];
export type Attempt = Schemas["AttemptRecord"];
export type RequestStats = Schemas["Stats"];
export type Outcome = Schemas["Outcome"];
export type Protocol = Schemas["Protocol"];
export type Reason = Schemas["Reason"];
export type Class = Schemas["Class"];
export type Settings = Schemas["Settings"];
export type SettingsView = Schemas["SettingsView"];
export type Status = Schemas["Status"];
export type RevisionRecord = Schemas["RevisionRecord"];
export type Change = Schemas["Change"];
export type LiveEvent = Schemas["Event"];
export type TestStep = Schemas["Step"];
