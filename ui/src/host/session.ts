/** The browser's login: a session token that lives as long as the tab. */
import { ref } from "vue";

const PLACE = "headgate.session";

export const sessionToken = ref<string | null>(sessionStorage.getItem(PLACE));

export function keepSession(token: string): void {
  sessionStorage.setItem(PLACE, token);
  sessionToken.value = token;
}

export function endSession(): void {
  sessionStorage.removeItem(PLACE);
  sessionToken.value = null;
}
