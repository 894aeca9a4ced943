//! Bringing a removed object back: it alone, as it last was, whatever else has changed since.

use headgate_domain::{Configuration, Group, GroupId, KeyId, MonitorId, Revision, UpstreamId, monitor::Monitor};

use super::{ControlError, Section};
use crate::shared::Shared;

/// Revisions looked through at a time.
const PAGE: i64 = 50;

impl Shared {
    /// Brings a removed object back from the newest revision that had it, with its id: an upstream with its
    /// credentials and its places in groups, a group with those of its members that are still there, a key with its
    /// secret. Refused as any change is: if its name has been taken since, or a key's group is gone.
    pub async fn restore(&self, section: Section, id: i64, author: &str) -> Result<Revision, ControlError> {
        let what = format!("{} {id}", section.singular());
        let earlier =
            self.newest_with(&what, |earlier| section.find(earlier, id).is_some().then(|| earlier.clone())).await?;
        let edited = self
            .edit(author, move |next, revision| {
                match section {
                    Section::Upstreams => bring_upstream(next, &earlier, UpstreamId(id), revision),
                    Section::Groups => bring_group(next, &earlier, GroupId(id), revision),
                    Section::Keys => bring_key(next, &earlier, KeyId(id), revision),
                }
                Ok(())
            })
            .await?;
        Ok(edited.revision)
    }

    /// Brings a removed monitor back with its id, by which its probes are still found. Refused if its upstream is gone.
    pub async fn restore_monitor(&self, id: MonitorId, author: &str) -> Result<Revision, ControlError> {
        let find = |earlier: &Configuration| earlier.monitors.iter().find(|m| m.id == id).cloned();
        let earlier = self.newest_with(&format!("monitor {id}"), find).await?;
        let edited = self
            .edit(author, move |next, revision| {
                let same = |m: &Monitor| {
                    m.id == id || (m.spec.upstream == earlier.spec.upstream && m.spec.model == earlier.spec.model)
                };
                if !next.monitors.iter().any(same) {
                    next.monitors.push(Monitor { revision, ..earlier.clone() });
                }
                Ok(())
            })
            .await?;
        Ok(edited.revision)
    }

    /// What is found in the newest revision that has it.
    pub(super) async fn newest_with<T>(
        &self,
        what: &str,
        find: impl Fn(&Configuration) -> Option<T>,
    ) -> Result<T, ControlError> {
        let database = self.control.database()?;
        let mut before = None;
        loop {
            let page = database.revisions(PAGE, before).await?;
            let Some(last) = page.last().map(|r| r.id) else {
                return Err(ControlError::NotFound(format!("removed {what} in the revisions that are kept")));
            };
            for record in page {
                if let Some((_, earlier)) = database.revision(record.id).await?
                    && let Some(found) = find(&earlier)
                {
                    return Ok(found);
                }
            }
            before = Some(last);
        }
    }
}

fn bring_upstream(next: &mut Configuration, earlier: &Configuration, id: UpstreamId, revision: Revision) {
    let Some(upstream) = earlier.upstream(id).filter(|_| next.upstream(id).is_none()) else { return };
    let mut upstream = upstream.clone();
    upstream.revision = revision;
    next.upstreams.push(upstream);
    let present: Vec<UpstreamId> = next.upstreams.iter().map(|u| u.id).collect();
    for group in &mut next.groups {
        let Some(was) = earlier.group(group.id) else { continue };
        let before = group.spec.clone();
        group.spec.members.extend(was.spec.members.iter().find(|m| m.upstream == id).cloned());
        let places = without_others(was, &present).spec.aliases;
        for (name, alias) in places {
            let leads_to_it = |target: &&headgate_domain::group::AliasTarget<UpstreamId>| target.upstream == id;
            if !alias.candidates.iter().chain(&alias.fallback).any(|target| leads_to_it(&target)) {
                continue;
            }
            match group.spec.aliases.get_mut(&name) {
                Some(now) => {
                    now.candidates.extend(alias.candidates.iter().filter(leads_to_it).cloned());
                    now.fallback.extend(alias.fallback.iter().filter(leads_to_it).cloned());
                }
                None => {
                    group.spec.aliases.insert(name, alias);
                }
            }
        }
        if group.spec != before {
            group.revision = revision;
        }
    }
}

fn bring_group(next: &mut Configuration, earlier: &Configuration, id: GroupId, revision: Revision) {
    let Some(group) = earlier.group(id).filter(|_| next.group(id).is_none()) else { return };
    let present: Vec<UpstreamId> = next.upstreams.iter().map(|u| u.id).collect();
    next.groups.push(Group { revision, ..without_others(group, &present) });
}

fn bring_key(next: &mut Configuration, earlier: &Configuration, id: KeyId, revision: Revision) {
    let Some(key) = earlier.key(id).filter(|_| next.key(id).is_none()) else { return };
    let mut key = key.clone();
    key.revision = revision;
    next.keys.push(key);
}

/// A group without the upstreams that are no longer there.
fn without_others(group: &Group, present: &[UpstreamId]) -> Group {
    let mut group = group.clone();
    group.spec.members.retain(|m| present.contains(&m.upstream));
    for alias in group.spec.aliases.values_mut() {
        alias.candidates.retain(|t| present.contains(&t.upstream));
        alias.fallback.retain(|t| present.contains(&t.upstream));
    }
    group.spec.aliases.retain(|_, alias| !alias.candidates.is_empty());
    group
}
