import prettier from "eslint-config-prettier";
import vue from "eslint-plugin-vue";
import typescript from "typescript-eslint";

export default typescript.config(
  { ignores: ["dist", "node_modules", "src/api/schema.d.ts"] },
  ...typescript.configs.strict,
  ...vue.configs["flat/recommended"],
  {
    files: ["**/*.vue"],
    languageOptions: { parserOptions: { parser: typescript.parser } },
    rules: {
      // Text of upstreams is data: it is never markup.
      "vue/no-v-html": "error",
      "vue/multi-word-component-names": "off",
      "vue/require-default-prop": "off",
      "vue/component-api-style": ["error", ["script-setup"]],
      "vue/block-lang": ["error", { script: { lang: "ts" } }],
    },
  },
  {
    rules: {
      "no-eval": "error",
      "no-console": "error",
      "@typescript-eslint/no-dynamic-delete": "off",
      "@typescript-eslint/no-invalid-void-type": "off",
    },
  },
  {
    files: ["src/**/*.{ts,vue}"],
    ignores: ["src/host/**"],
    rules: {
      "no-restricted-imports": [
        "error",
        { patterns: [{ group: ["@tauri-apps/*"], message: "The window's bridge is used in src/host only." }] },
      ],
    },
  },
  { files: ["scripts/**", "e2e/**"], rules: { "no-console": "off" } },
  prettier,
);
