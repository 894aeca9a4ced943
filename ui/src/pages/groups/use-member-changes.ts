/** Changes to the members of a group: shown at once, saved, and taken back on request. */
import { useQueryClient } from "@tanstack/vue-query";
import { ref, toValue, type MaybeRefOrGetter } from "vue";
import { changeGroup, removeMember, setMember, type MemberChange } from "@/api/groups";
import type { Group, Member, Saved } from "@/api/types";
import { text } from "@/i18n";
import { explainFailure } from "@/lib/explain-failure";
import { toast } from "@/state/toast";

/** A member in the words of the configuration file. */
function inFile(member: Member): MemberChange {
  const { name, priority, weight, enabled, min_input, max_input } = member;
  return {
    upstream: name,
    priority,
    weight,
    enabled: enabled !== false,
    ...(min_input == null ? {} : { min_input }),
    ...(max_input == null ? {} : { max_input }),
  };
}

export function useMemberChanges(group: MaybeRefOrGetter<Group>) {
  const client = useQueryClient();
  /** The last move, for screen readers. */
  const moved = ref("");
  const key = () => ["members", toValue(group).id];

  function show(change: (member: Member) => Member): void {
    client.setQueryData<Member[]>(key(), (members) => members?.map(change));
  }

  async function attempt(
    save: () => Promise<Saved>,
    message: string,
    undo: (revision: number) => Promise<Saved>,
  ): Promise<void> {
    try {
      const saved = await save();
      moved.value = message;
      toast(message, { undo: () => undo(saved.revision).then(renew, complain) });
    } catch (why) {
      complain(why);
    }
    renew();
  }

  function complain(why: unknown): void {
    toast(explainFailure(why), { kind: "down" });
  }

  function renew(): void {
    for (const name of ["groups", "members", "overview", "upstreams", "explain"])
      void client.invalidateQueries({ queryKey: [name] });
  }

  /** Changes a member in place. */
  function change(member: Member, next: Partial<MemberChange>, message: string): Promise<void> {
    const { id, revision } = toValue(group);
    const before = inFile(member);
    const undone = Object.fromEntries(
      Object.keys(next).map((name) => [name, before[name as keyof MemberChange] ?? null]),
    );
    show((m) => (m.upstream === member.upstream ? ({ ...m, ...next, upstream: m.upstream } as Member) : m));
    return attempt(
      () => setMember(id, revision, { upstream: member.name, ...next }),
      message,
      (saved) => setMember(id, saved, { upstream: member.name, ...undone }),
    );
  }

  function place(member: Member, priority: number): Promise<void> {
    return change(member, { priority }, text("groups.moved", { name: member.name, priority }));
  }

  function membersNow(): Member[] {
    return client.getQueryData<Member[]>(key()) ?? [];
  }

  /** Gives all members new priorities. */
  function renumber(member: Member, priorities: ReadonlyMap<number, number>): Promise<void> {
    const { id, revision } = toValue(group);
    const before = membersNow();
    const next = before.map((m) => ({ ...m, priority: priorities.get(m.upstream) ?? m.priority }));
    show((m) => ({ ...m, priority: priorities.get(m.upstream) ?? m.priority }));
    return attempt(
      () => changeGroup(id, revision, { members: next.map(inFile) }),
      text("groups.moved", { name: member.name, priority: priorities.get(member.upstream) ?? member.priority }),
      (saved) => changeGroup(id, saved, { members: before.map(inFile) }),
    );
  }

  function add(upstream: { id: number; name: string }, priority: number): Promise<void> {
    const { id, revision } = toValue(group);
    return attempt(
      () => setMember(id, revision, { upstream: upstream.name, priority }),
      text("groups.added", { name: upstream.name }),
      (saved) => removeMember(id, saved, upstream.id),
    );
  }

  function remove(member: Member): Promise<void> {
    const { id, revision } = toValue(group);
    return attempt(
      () => removeMember(id, revision, member.upstream),
      text("groups.removed", { name: member.name }),
      (saved) => setMember(id, saved, inFile(member)),
    );
  }

  return { change, place, renumber, add, remove, moved };
}
