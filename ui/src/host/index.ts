import { isTauri } from "@tauri-apps/api/core";
import { browserHost } from "./browser";
import { desktopHost } from "./desktop";
import type { Host } from "./host";

export const host: Host = isTauri() ? desktopHost : browserHost;
export { NOTICES } from "./host";
export type { Host, Notice, Shell, ShellState, StartFailure, StartProblemKind } from "./host";
export { frames } from "./frames";
export { endSession, keepSession, sessionToken } from "./session";
