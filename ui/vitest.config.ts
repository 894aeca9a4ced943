import { mergeConfig } from "vite";
import { defineConfig } from "vitest/config";
import application from "./vite.config.ts";

export default mergeConfig(
  application,
  defineConfig({
    test: {
      environment: "happy-dom",
      include: ["src/**/*.test.ts"],
      restoreMocks: true,
      setupFiles: ["src/testing/setup.ts"],
    },
  }),
);
