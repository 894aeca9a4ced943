import { toast } from "@/state/toast";
import { text } from "@/i18n";

/** Copies a text; says so when the clipboard cannot be used. */
export async function copyText(value: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    toast(text("common.copy_failed"));
    return false;
  }
}
