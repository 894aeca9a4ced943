import { QueryClient, VueQueryPlugin } from "@tanstack/vue-query";
import { createPinia } from "pinia";
import { createApp } from "vue";
import App from "./App.vue";
import { ApiFailure } from "./api/failure";
import { followLanguage, i18n } from "./i18n";
import { router } from "./router";
import { usePreferences } from "./state/preferences";
import "./styles/index.css";

/** Answers stay until an event makes them old. Only an answer that never came is asked for again by itself. */
const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Infinity,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      networkMode: "always",
      retry: (failures, why) => why instanceof ApiFailure && why.code === "unreachable" && failures < 2,
      retryDelay: (attempt) => 300 * 2 ** attempt,
    },
    mutations: { networkMode: "always" },
  },
});

const app = createApp(App).use(createPinia()).use(i18n).use(router).use(VueQueryPlugin, { queryClient: client });
const preferences = usePreferences();
void followLanguage(() => preferences.language).then(() => app.mount("#app"));
