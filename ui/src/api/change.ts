/** Changing things: what a change makes old is asked for again. */
import { useMutation, useQueryClient } from "@tanstack/vue-query";

/** Answers that a change of configuration may make old: those from memory are waited for, those from the database are not. */
const FROM_MEMORY = ["upstreams", "groups", "members", "keys", "settings", "tags", "explain", "monitors", "alerts"];
const FROM_DATABASE = ["overview", "revisions", "status", "probes", "alert-log"];

/** A mutation that renews what a change of configuration touches. */
export function useChange<Args extends unknown[], T>(change: (...args: Args) => Promise<T>) {
  const client = useQueryClient();
  const renew = (names: readonly string[]) =>
    client.invalidateQueries({ predicate: (query) => names.includes(String(query.queryKey[0])) });
  const mutation = useMutation({
    mutationFn: (args: Args) => change(...args),
    onSettled: () => {
      void renew(FROM_DATABASE);
      return renew(FROM_MEMORY);
    },
  });
  return { ...mutation, run: (...args: Args) => mutation.mutateAsync(args) };
}
