import { expect, it } from "vitest";
import type { Costs, SpendRow } from "@/api/costs";
import { requestsOfRow } from "./links";

const time = { from: "2026-11-29T14:00:00Z", to: "2026-11-30T14:00:00Z" };
const costs = (by: string) => ({ ...time, by }) as Costs;
const row = (over: object) => over as SpendRow;

it("leads from a row of spend to its requests, named or not", () => {
  const query = (by: string, over: object) => (requestsOfRow(costs(by), row(over)) as { query: object }).query;
  expect(query("model", { name: "a/b c" })).toEqual({ ...time, model: "a%2Fb%20c" });
  expect(query("key", { id: 0, name: "test prompt" })).toEqual({ ...time, key: "0" });
  for (const by of ["model", "key", "group"]) {
    expect(query(by, { id: null, name: null })).toEqual({ ...time, without: by });
  }
});
