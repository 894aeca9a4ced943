/** What the test environment lacks, and the messages that components show. */
import { enableAutoUnmount } from "@vue/test-utils";
import { afterEach, beforeAll } from "vitest";
import { showLanguage } from "@/i18n";

enableAutoUnmount(afterEach);
beforeAll(() => showLanguage("en"));
