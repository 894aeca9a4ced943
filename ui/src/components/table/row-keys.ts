/** Keys of a row that can be opened: Enter opens it, the arrows go to its neighbours. What is inside has keys of its own. */
export function onRowKey(event: KeyboardEvent, open: () => void): void {
  const line = event.currentTarget as HTMLElement;
  if (event.target !== line) return;
  if (event.key === "Enter") open();
  else if (event.key === "ArrowDown") (line.nextElementSibling as HTMLElement | null)?.focus();
  else if (event.key === "ArrowUp") (line.previousElementSibling as HTMLElement | null)?.focus();
  else return;
  event.preventDefault();
}
