/** Names of all messages, from the English files; the Chinese ones have the same (a test sees to it). */
import type english from "./en";

type Dotted<T, Prefix extends string = ""> = {
  [K in keyof T & string]: T[K] extends string ? `${Prefix}${K}` : Dotted<T[K], `${Prefix}${K}.`>;
}[keyof T & string];

export type MessageKey = Dotted<typeof english>;
