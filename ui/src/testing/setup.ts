/** The messages that components show. */
import { beforeAll } from "vitest";
import { showLanguage } from "@/i18n";

beforeAll(() => showLanguage("en"));
