/** How this person likes the window. Kept on this machine; the start-up script reads the same place. */
import { defineStore } from "pinia";
import { computed, ref, watch } from "vue";

export type Theme = "light" | "dark" | "system";
export type Density = "comfortable" | "compact";
export type Language = "en" | "zh";

const PLACE = "headgate.preferences";

interface Kept {
  theme: Theme;
  density: Density;
  language: Language;
  hiddenColumns: string[];
  rowsPerPage: number;
  welcomed: boolean;
}

function read(): Kept {
  const defaults: Kept = {
    theme: "system",
    density: "comfortable",
    language: document.documentElement.lang.startsWith("zh") ? "zh" : "en",
    hiddenColumns: [],
    rowsPerPage: 20,
    welcomed: false,
  };
  try {
    return { ...defaults, ...(JSON.parse(localStorage.getItem(PLACE) ?? "{}") as Partial<Kept>) };
  } catch {
    return defaults;
  }
}

export const usePreferences = defineStore("preferences", () => {
  const kept = read();
  const theme = ref(kept.theme);
  const density = ref(kept.density);
  const language = ref(kept.language);
  const hiddenColumns = ref(kept.hiddenColumns);
  const rowsPerPage = ref(kept.rowsPerPage);
  const welcomed = ref(kept.welcomed);
  const system = matchMedia("(prefers-color-scheme: dark)");
  const systemIsDark = ref(system.matches);
  const isDark = computed(() => (theme.value === "system" ? systemIsDark.value : theme.value === "dark"));

  function paint(): void {
    const root = document.documentElement;
    root.dataset.theme = isDark.value ? "dark" : "light";
    root.dataset.density = density.value;
    root.lang = language.value === "zh" ? "zh-CN" : "en";
  }

  system.addEventListener("change", (event) => (systemIsDark.value = event.matches));
  watch([isDark, density, language], paint, { immediate: true });
  watch(
    [theme, density, language, hiddenColumns, rowsPerPage, welcomed],
    () => {
      const now: Kept = {
        theme: theme.value,
        density: density.value,
        language: language.value,
        hiddenColumns: hiddenColumns.value,
        rowsPerPage: rowsPerPage.value,
        welcomed: welcomed.value,
      };
      localStorage.setItem(PLACE, JSON.stringify(now));
    },
    { deep: true },
  );

  return { theme, isDark, density, language, hiddenColumns, rowsPerPage, welcomed };
});
