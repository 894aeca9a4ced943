//! What every encoder needs before it writes: refusals, pairs of calls and results, legal names and ids.

use std::collections::{HashMap, HashSet};

use crate::{
    extensions,
    ids::{IdMap, Legal, digest},
    loss::{Losses, Rejection},
    neutral::{AssistantPart, CallHead, CallKind, Conversation, Tool, ToolChoice, ToolKind, Turn, UserPart},
    repair,
};

/// What an upstream's protocol can take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    /// Ids of calls.
    pub(crate) call_ids: Legal,
    /// A hosted web search.
    pub(crate) web_search: bool,
}

/// A conversation ready to be written.
pub(crate) struct Prepared {
    /// With legal call ids, paired results, and only the tools the upstream gets.
    pub(crate) conversation: Conversation,
    /// The choice among the tools that are left.
    pub(crate) choice: Option<ToolChoice>,
    /// Names as the upstream knows them.
    pub(crate) names: Names,
}

impl Prepared {
    /// Makes it ready, or says why the upstream's protocol cannot express it.
    pub(crate) fn new(mut conversation: Conversation, target: Target, losses: &mut Losses) -> Result<Self, Rejection> {
        if let Some(rejection) = conversation.unsupported.first() {
            return Err(rejection.clone());
        }
        extensions::drop_all(&conversation.extensions, losses)?;
        conversation.system.retain(|text| !text.is_blank());
        conversation.turns = repair::pair(std::mem::take(&mut conversation.turns), losses);
        legal_ids(&mut conversation.turns, target.call_ids);
        let names = Names::new(&conversation);
        let choice = select_tools(&mut conversation, target, losses)?;
        Ok(Self { conversation, choice, names })
    }

    /// The kinds of all calls in the history, by id: results are written by the kind of their call.
    pub(crate) fn call_kinds(&self) -> HashMap<String, CallKind> {
        let calls = calls(&self.conversation.turns);
        calls.filter(|c| c.kind != CallKind::Function).map(|c| (c.call_id.clone(), c.kind)).collect()
    }

    /// Whether a tool has to be called.
    pub(crate) fn is_forced(&self) -> bool {
        matches!(self.choice, Some(ToolChoice::Required | ToolChoice::Tool { .. }))
    }
}

fn calls(turns: &[Turn]) -> impl Iterator<Item = &crate::neutral::ToolCall> + Clone {
    let parts = turns.iter().flat_map(|t| if let Turn::Assistant(parts) = t { parts.as_slice() } else { &[] });
    parts.filter_map(|p| if let AssistantPart::Call(call) = p { Some(call) } else { None })
}

fn legal_ids(turns: &mut [Turn], legal: Legal) {
    let ids = IdMap::new(legal, calls(turns).map(|call| call.call_id.as_str()));
    for turn in turns {
        match turn {
            Turn::Assistant(parts) => {
                for part in parts {
                    if let AssistantPart::Call(call) = part {
                        call.call_id = ids.get(std::mem::take(&mut call.call_id));
                    }
                }
            }
            Turn::User(parts) => {
                for part in parts {
                    if let UserPart::Result(result) = part {
                        result.call_id = ids.get(std::mem::take(&mut result.call_id));
                    }
                }
            }
            Turn::System(_) => {}
        }
    }
}

/// Leaves the tools the upstream gets, and the choice among them.
fn select_tools(
    conversation: &mut Conversation,
    target: Target,
    losses: &mut Losses,
) -> Result<Option<ToolChoice>, Rejection> {
    let mut choice = conversation.tool_choice.take();
    let declared = |name: &str| conversation.tools.iter().any(|tool| tool.name == name || full_name(tool) == name);
    match &choice {
        Some(ToolChoice::Required) if conversation.tools.is_empty() => {
            return Err(Rejection::illegal("tool_choice", "demands a tool where none is declared"));
        }
        Some(ToolChoice::Tool { name, .. }) if !declared(name) => {
            return Err(Rejection::illegal("tool_choice", "names a tool that is not declared"));
        }
        _ => {}
    }
    if let Some(ToolChoice::Allowed { required, names }) = &choice {
        conversation.tools.retain(|tool| names.iter().any(|n| *n == tool.name || *n == full_name(tool)));
        choice = Some(if *required { ToolChoice::Required } else { ToolChoice::Auto });
    }
    let forced = if let Some(ToolChoice::Tool { name, .. }) = &choice { Some(name.clone()) } else { None };
    let mut refused = None;
    conversation.tools.retain(|tool| {
        let lost = match &tool.kind {
            ToolKind::Hosted { kind } => Some(kind.as_str()),
            ToolKind::WebSearch(_) if !target.web_search => Some("web_search"),
            _ => None,
        };
        let Some(kind) = lost else { return true };
        losses.note_named("dropped", &format!("tool:{kind}"));
        if forced.as_deref().is_some_and(|f| f == tool.name || f == kind) {
            refused = Some(kind.to_owned());
        }
        false
    });
    if let Some(kind) = refused {
        let message = format!("'tool_choice' demands the tool '{kind}', which this upstream does not have");
        return Err(Rejection::unsupported("tool_choice", message));
    }
    Ok(choice.filter(|_| !conversation.tools.is_empty()))
}

/// A tool's name with its namespace in front.
fn full_name(tool: &Tool) -> String {
    joined(tool.namespace.as_deref(), &tool.name)
}

fn joined(namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) if namespace.ends_with("__") => format!("{namespace}{name}"),
        Some(namespace) => format!("{namespace}__{name}"),
        None => name.to_owned(),
    }
}

/// The names of one request's tools: the client's, and those the upstream knows them by.
#[derive(Debug, Default)]
pub(crate) struct Names {
    upstream: HashMap<(Option<String>, String), String>,
    client: HashMap<String, CallHead>,
}

impl Names {
    fn new(conversation: &Conversation) -> Self {
        let declared = conversation.tools.iter().map(|tool| {
            let kind = match tool.kind {
                ToolKind::Custom { .. } => CallKind::Custom,
                ToolKind::LocalShell => CallKind::LocalShell,
                ToolKind::ToolSearch { .. } => CallKind::ToolSearch,
                _ => CallKind::Function,
            };
            (tool.namespace.as_deref(), tool.name.as_str(), kind)
        });
        // A call may leave out the namespace of its tool.
        let inside: HashSet<&str> =
            conversation.tools.iter().filter(|t| t.namespace.is_some()).map(|t| t.name.as_str()).collect();
        let called = calls(&conversation.turns).filter(|c| c.namespace.is_some() || !inside.contains(c.name.as_str()));
        let called = called.map(|call| (call.namespace.as_deref(), call.name.as_str(), call.kind));
        let mut seen = HashSet::new();
        let keys = declared.chain(called).filter(|(space, name, _)| seen.insert((*space, *name)));
        let keys: Vec<_> = keys.collect();
        let mut taken = HashSet::new();
        let full = |(space, name, _): &(Option<&str>, &str, CallKind)| {
            let full = joined(*space, name);
            // A plain tool `a__b` beside `b` in the namespace `a`.
            let full = if taken.contains(&full) {
                format!("{full}_{}", digest(&format!("{space:?}/{name}"), 8))
            } else {
                full
            };
            taken.insert(full.clone());
            full
        };
        let fulls: Vec<String> = keys.iter().map(full).collect();
        let legal = IdMap::new(Legal::NAME, fulls.iter().map(String::as_str));
        let mut names = Self::default();
        for (number, ((namespace, name, kind), full)) in keys.into_iter().zip(fulls).enumerate() {
            let sent = legal.get(full);
            let (namespace, name) = (namespace.map(str::to_owned), name.to_owned());
            if number < conversation.tools.len() {
                let head = CallHead { call_id: String::new(), name: name.clone(), namespace: namespace.clone(), kind };
                names.client.insert(sent.clone(), head);
            }
            names.upstream.insert((namespace, name), sent);
        }
        names
    }

    /// The name the upstream knows a tool by.
    pub(crate) fn sent(&self, namespace: Option<&str>, name: &str) -> String {
        let key = (namespace.map(str::to_owned), name.to_owned());
        if let Some(sent) = self.upstream.get(&key) {
            return sent.clone();
        }
        // A choice, or a call, that leaves the namespace out.
        let mut inside = self.upstream.iter().filter(|((_, n), _)| n == name).map(|(_, sent)| sent);
        match (inside.next(), inside.next()) {
            (Some(only), None) => only.clone(),
            _ => Legal::NAME.form(name),
        }
    }

    /// What the client knows as the tool the upstream calls; an unknown name stays.
    pub(crate) fn restore(&self, head: CallHead) -> CallHead {
        match self.client.get(&head.name) {
            Some(known) => CallHead { call_id: head.call_id, ..known.clone() },
            None => head,
        }
    }

    /// Whether the client declared this tool as one that takes raw text.
    pub(crate) fn declares_custom(&self, head: &CallHead) -> bool {
        self.client
            .values()
            .any(|known| known.kind == CallKind::Custom && known.name == head.name && known.namespace == head.namespace)
    }
}
