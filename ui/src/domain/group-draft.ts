/** A group as its form holds it, and back into the words of the configuration file. Members have a place of their own. */
import { z } from "zod";
import type { Capability, Group, OnSaturation, Strategy, UnknownMultiplier } from "@/api/types";
import { text } from "@/i18n";
import { budgetCheck, budgetDraftOf, budgetFileOf, type BudgetDraft } from "./budget-draft";
import { nameRule, spanAtLeast, wholeNumber } from "./checks";

export interface TargetDraft {
  upstream: string;
  model: string;
  weight: string;
}

export interface AliasDraft {
  name: string;
  candidates: TargetDraft[];
  fallback: TargetDraft[];
}

export interface GroupDraft {
  name: string;
  strategy: Strategy;
  balance: { price: string; latency: string; quality: string; load: string };
  /** `cheapest` compares the members of all tiers. */
  across_tiers: boolean;
  /** Empty: no cap. */
  max_multiplier: string;
  unknown_multiplier: UnknownMultiplier;
  regions: string[];
  require: Capability[];
  on_saturation: OnSaturation;
  /** How long a full tier is waited for. */
  wait: string;
  /** Requests that wait for room anywhere. */
  queue: { size: string; wait: string };
  budget: BudgetDraft;
  aliases: AliasDraft[];
}

/** Names of upstreams by id. */
export type NamesById = ReadonlyMap<number, string>;

export function groupDraftOf(group: Group | undefined, names: NamesById): GroupDraft {
  const target = (t: { upstream: number; model: string; weight?: number }): TargetDraft => ({
    upstream: names.get(t.upstream) ?? "",
    model: t.model,
    weight: String(t.weight ?? 1),
  });
  const balance = group?.balance ?? { price: 0.25, latency: 0.3, quality: 0.3, load: 0.15 };
  return {
    name: group?.name ?? "",
    strategy: group?.strategy ?? "p2c",
    balance: {
      price: String(balance.price),
      latency: String(balance.latency),
      quality: String(balance.quality),
      load: String(balance.load),
    },
    across_tiers: group?.across_tiers ?? false,
    max_multiplier: group?.max_multiplier ?? "",
    unknown_multiplier: group?.unknown_multiplier ?? "allow",
    regions: [...(group?.regions ?? [])],
    require: [...(group?.require ?? [])],
    on_saturation: group?.on_saturation ?? "overflow",
    wait: group?.wait ?? "10s",
    queue: { size: String(group?.queue?.size ?? 256), wait: group?.queue?.wait ?? "1m" },
    budget: budgetDraftOf(group?.budget),
    aliases: Object.entries(group?.aliases ?? {}).map(([name, alias]) => ({
      name,
      candidates: alias.candidates.map(target),
      fallback: (alias.fallback ?? []).map(target),
    })),
  };
}

export function groupFileOf(draft: GroupDraft): Record<string, unknown> {
  const targets = (list: readonly TargetDraft[]) =>
    list.map((t) => ({ upstream: t.upstream, model: t.model.trim(), weight: Number(t.weight || "1") }));
  const { price, latency, quality, load } = draft.balance;
  return {
    name: draft.name.trim(),
    strategy: draft.strategy,
    ...(draft.strategy === "balanced"
      ? { balance: { price: Number(price), latency: Number(latency), quality: Number(quality), load: Number(load) } }
      : {}),
    across_tiers: draft.strategy === "cheapest" && draft.across_tiers,
    max_multiplier: draft.max_multiplier.trim() || null,
    ...(draft.max_multiplier.trim() ? { unknown_multiplier: draft.unknown_multiplier } : {}),
    regions: draft.regions.length > 0 ? draft.regions : null,
    require: draft.require,
    on_saturation: draft.on_saturation,
    ...(draft.on_saturation === "wait" ? { wait: draft.wait.trim() } : {}),
    queue: { size: Number(draft.queue.size), wait: draft.queue.wait.trim() },
    budget: budgetFileOf(draft.budget),
    aliases: Object.fromEntries(
      draft.aliases.map((a) => [a.name.trim(), { candidates: targets(a.candidates), fallback: targets(a.fallback) }]),
    ),
  };
}

function isMultiplier(typed: string): boolean {
  return /^\d{1,9}(\.\d{1,9})?$/.test(typed) && Number(typed) > 0;
}

export function groupCheck(takenNames: readonly string[]) {
  const weight = z.string().refine((typed) => Number(typed) >= 0 && Number(typed) <= 1, text("errors.share"));
  const neededNumber = (min: number, max: number) =>
    wholeNumber(min, max).refine((typed) => typed.trim() !== "", text("errors.required"));
  const target = z.object({
    upstream: z.string().min(1, text("errors.required")),
    model: z.string().trim().min(1, text("errors.required")),
    weight: wholeNumber(1, 1_000_000),
  });
  return z.object({
    name: nameRule(takenNames),
    wait: spanAtLeast(0, "0s"),
    queue: z.object({ size: neededNumber(0, 1_000_000), wait: spanAtLeast(0, "0s") }),
    balance: z.object({ price: weight, latency: weight, quality: weight, load: weight }),
    max_multiplier: z
      .string()
      .refine((typed) => !typed.trim() || isMultiplier(typed.trim()), text("errors.multiplier")),
    budget: budgetCheck(),
    aliases: z.array(
      z.object({
        name: z.string().trim().min(1, text("errors.required")),
        candidates: z.array(target).min(1, text("errors.alias_empty")),
        fallback: z.array(target),
      }),
    ),
  });
}
