import { fileURLToPath } from "node:url";
import vueI18n from "@intlify/unplugin-vue-i18n/vite";
import tailwind from "@tailwindcss/vite";
import vue from "@vitejs/plugin-vue";
import { defineConfig, type Plugin } from "vite";

/** Nothing inline, nothing from elsewhere. The two `ipc` sources are the bridge of the desktop window. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self' ipc: http://ipc.localhost",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** The built page carries its policy itself, whoever serves it. The development server needs inline styles. */
function contentSecurityPolicy(): Plugin {
  return {
    name: "content-security-policy",
    apply: "build",
    transformIndexHtml: () => [
      { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: POLICY }, injectTo: "head-prepend" },
    ],
  };
}

/** The gateway that the development server talks to. */
const GATEWAY = process.env.HEADGATE_URL ?? "http://127.0.0.1:8642";

/** The gateway refuses foreign origins, which the development server is. */
const gateway = {
  target: GATEWAY,
  changeOrigin: true,
  headers: { origin: "", "sec-fetch-site": "same-origin" },
};

export default defineConfig({
  base: "./",
  plugins: [
    // A line break between two elements is a space, as the formatter takes it.
    vue({ template: { compilerOptions: { whitespace: "preserve" } } }),
    tailwind(),
    vueI18n({ include: fileURLToPath(new URL("./src/i18n/{en,zh}/*.json", import.meta.url)), runtimeOnly: true }),
    contentSecurityPolicy(),
  ],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  server: { proxy: { "/admin": gateway, "/v1": gateway } },
  preview: { proxy: { "/admin": gateway, "/v1": gateway } },
  build: { target: ["es2022", "safari16"], assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  define: { __VUE_OPTIONS_API__: "true", __INTLIFY_PROD_DEVTOOLS__: "false", __VUE_I18N_LEGACY_API__: "false" },
});
