//! What an alert says: a document for programs, a sentence for people.

use chrono::{DateTime, Utc};
use headgate_domain::{
    AlertEvent, BudgetLevel, BudgetOwner, BudgetSpan, Class, Concern, Name, audit::clip, group::Budget,
};
use headgate_pricing::{Currency, budget};
use headgate_routing::{Subject, Told};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::money::{self, Money};
use crate::{billing::Billing, snapshot::Snapshot};

/// Model names come from clients.
const MODEL: usize = 200;

/// An object with its name at the time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Named {
    /// Its identity.
    id: i64,
    /// Its name.
    name: String,
}

/// The same sentence in both languages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Sentence {
    /// English.
    pub en: String,
    /// 简体中文.
    pub zh: String,
}

/// A budget that is used to a share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct BudgetUse {
    /// Over which span.
    span: BudgetSpan,
    /// The share that was reached, in hundredths: 80, 95 or 100.
    percent: i16,
    /// How much may be spent.
    #[schema(value_type = String, examples("5"))]
    limit: Decimal,
    /// Its currency.
    currency: Currency,
}

impl BudgetUse {
    fn of(budget: &Budget, span: BudgetSpan, level: BudgetLevel) -> Option<Self> {
        let limit = budget::limits(budget).find(|(of, _)| *of == span)?.1;
        Some(Self { span, percent: level.percent(), limit, currency: budget::currency(budget) })
    }
}

/// An alert, as webhooks get it. Fields are only ever added.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AlertDocument {
    /// The same for every delivery and repetition of this alert.
    pub id: Uuid,
    /// What happened.
    pub kind: AlertEvent,
    /// When it was told.
    pub at: DateTime<Utc>,
    /// The upstream it is about.
    upstream: Option<Named>,
    /// The number of the credential it is about, as the configuration file counts.
    credential: Option<u32>,
    /// The group it is about.
    group: Option<Named>,
    /// The access key it is about.
    key: Option<Named>,
    /// The budget it is about.
    budget: Option<BudgetUse>,
    /// What it says of the upstream's money.
    money: Option<Money>,
    /// The model it is about, by its name at the upstream.
    model: Option<String>,
    /// What it was before: `closed`, `accepted`, `available`, `served`, or what the recovery is from.
    from: Option<&'static str>,
    /// What it is now: `open`, `rejected`, `exhausted`, `gone`, `down`, or as it should be.
    to: Option<&'static str>,
    /// The class of the result behind it.
    class: Option<Class>,
    /// How often the same thing turned, since it was last told, without being told.
    pub suppressed: u32,
    /// For people.
    pub sentence: Sentence,
    /// Headgate's version.
    version: &'static str,
}

impl AlertDocument {
    /// The document of what is told. `None` if what it is about has been removed meanwhile.
    pub fn of(told: &Told, id: Uuid, at: DateTime<Utc>, snapshot: &Snapshot, billing: &Billing) -> Option<Self> {
        let Told { turn, suppressed } = told;
        let configuration = &snapshot.configuration;
        let mut document = Self { class: turn.class, suppressed: *suppressed, ..Self::empty(turn.event, id, at) };
        (document.from, document.to) = states(turn.event);
        if let Some(upstream) = turn.subject.upstream() {
            let upstream = configuration.upstream(upstream)?;
            document.upstream = Some(named(upstream.id.0, &upstream.name));
            if let Subject::Credential(_, Some(id)) = turn.subject {
                document.credential = upstream.credentials.iter().find(|c| c.id == id).map(|c| c.number);
            }
        }
        match &turn.subject {
            Subject::Model(_, model) => document.model = Some(clip(&model.replace(char::is_control, " "), MODEL)),
            Subject::Group(group) => {
                let group = configuration.group(*group)?;
                document.group = Some(named(group.id.0, &group.name));
            }
            Subject::Budget(BudgetOwner::Key(key), span, level) => {
                let key = configuration.key(*key)?;
                document.key = Some(named(key.id.0, &key.name));
                document.budget = Some(BudgetUse::of(key.spec.budget.as_ref()?, *span, *level)?);
            }
            Subject::Budget(BudgetOwner::Group(group), span, level) => {
                let group = configuration.group(*group)?;
                document.group = Some(named(group.id.0, &group.name));
                document.budget = Some(BudgetUse::of(group.spec.budget.as_ref()?, *span, *level)?);
            }
            Subject::Money(upstream, concern) => {
                let upstream = configuration.upstream(*upstream)?;
                document.money = Some(Money::of(*concern, snapshot, upstream, billing.row(upstream.id).as_ref()));
                if let Concern::OverCap { group } = concern {
                    let group = configuration.group(*group)?;
                    document.group = Some(named(group.id.0, &group.name));
                }
                (document.from, document.to) = money::states(*concern, turn.event);
            }
            Subject::Upstream(_) | Subject::Credential(..) => {}
        }
        document.sentence = sentence(&document);
        Some(document)
    }

    /// What the button sends.
    pub fn test(at: DateTime<Utc>) -> Self {
        let mut document = Self::empty(AlertEvent::Test, Uuid::now_v7(), at);
        document.sentence = sentence(&document);
        document
    }

    fn empty(kind: AlertEvent, id: Uuid, at: DateTime<Utc>) -> Self {
        Self {
            id,
            kind,
            at,
            upstream: None,
            credential: None,
            group: None,
            key: None,
            budget: None,
            money: None,
            model: None,
            from: None,
            to: None,
            class: None,
            suppressed: 0,
            sentence: Sentence { en: String::new(), zh: String::new() },
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

fn named(id: i64, name: &Name) -> Named {
    Named { id, name: name.to_string() }
}

fn states(event: AlertEvent) -> (Option<&'static str>, Option<&'static str>) {
    let (from, to) = match event {
        AlertEvent::UpstreamOpened => ("closed", "open"),
        AlertEvent::UpstreamClosed => ("open", "closed"),
        AlertEvent::CredentialRejected => ("accepted", "rejected"),
        AlertEvent::CredentialExhausted => ("accepted", "exhausted"),
        AlertEvent::CredentialAccepted => ("refused", "accepted"),
        AlertEvent::ModelGone => ("available", "gone"),
        AlertEvent::ModelBack => ("gone", "available"),
        AlertEvent::GroupDown => ("served", "down"),
        AlertEvent::GroupBack => ("down", "served"),
        AlertEvent::Budget
        | AlertEvent::BalanceLow
        | AlertEvent::MultiplierChanged
        | AlertEvent::OverCap
        | AlertEvent::CollectionFailing
        | AlertEvent::BillingWarning
        | AlertEvent::BillingCleared
        | AlertEvent::Test => return (None, None),
    };
    (Some(from), Some(to))
}

/// What an upstream was left alone for.
fn cause(class: Option<Class>) -> Option<(&'static str, &'static str)> {
    Some(match class? {
        Class::Server => ("server errors", "服务器错误"),
        Class::Connect => ("no connection", "无法连接"),
        Class::SlowFirst => ("no answer in time", "首个响应超时"),
        Class::Stalled => ("answers that fell silent", "回答中途停滞"),
        Class::Cut => ("answers that broke off", "回答中断"),
        Class::Broken => ("unusable answers", "回答无法解析"),
        Class::Empty => ("empty answers", "空回答"),
        Class::Overloaded => ("overload", "上游过载"),
        _ => return None,
    })
}

fn budget_sentence(document: &AlertDocument) -> (String, String) {
    let Some(BudgetUse { span, percent, limit, currency }) = &document.budget else { return Default::default() };
    let (who, whom) = match (&document.key, &document.group) {
        (Some(key), _) => (format!("Access key {}", key.name), format!("访问密钥 {}", key.name)),
        (None, group) => {
            let name = group.as_ref().map_or("", |group| &group.name);
            (format!("Group {name}"), format!("分组 {name}"))
        }
    };
    let (en, zh) = match span {
        BudgetSpan::Day => ("for today", "今日"),
        BudgetSpan::Month => ("for this month", "本月"),
        BudgetSpan::Total => ("in total", "总"),
    };
    if *percent >= BudgetLevel::Spent.percent() {
        return (
            format!("{who} has spent its budget of {limit} {currency} {en}; its requests are refused."),
            format!("{whom} 的{zh}预算 {limit} {currency} 已用尽，其请求将被拒绝。"),
        );
    }
    (
        format!("{who} has used {percent} % of its budget of {limit} {currency} {en}."),
        format!("{whom} 的{zh}预算 {limit} {currency} 已使用 {percent}%。"),
    )
}

fn sentence(document: &AlertDocument) -> Sentence {
    let name = |of: &Option<Named>| of.as_ref().map_or_else(String::new, |n| n.name.clone());
    let (upstream, group) = (name(&document.upstream), name(&document.group));
    let model = document.model.as_deref().unwrap_or_default();
    let key = document.credential;
    let (mut en, mut zh) = match document.kind {
        AlertEvent::UpstreamOpened => match cause(document.class) {
            Some((en, zh)) => (
                format!("Upstream {upstream} is out after {en}; it is left alone for a while and then tried again."),
                format!("上游 {upstream} 已熔断（{zh}），稍后自动重试。"),
            ),
            None => (
                format!("Upstream {upstream} is out; it is left alone for a while and then tried again."),
                format!("上游 {upstream} 已熔断，稍后自动重试。"),
            ),
        },
        AlertEvent::UpstreamClosed => {
            (format!("Upstream {upstream} serves again."), format!("上游 {upstream} 已恢复。"))
        }
        AlertEvent::CredentialRejected => match key {
            Some(n) => (
                format!("Upstream {upstream} refuses key {n}; replace it."),
                format!("上游 {upstream} 拒绝了密钥 {n}，请更换。"),
            ),
            None => (
                format!("Upstream {upstream} refuses requests without a key; give it one."),
                format!("上游 {upstream} 拒绝未带密钥的请求，请为其设置密钥。"),
            ),
        },
        AlertEvent::CredentialExhausted => match key {
            Some(n) => (
                format!("The quota or balance of key {n} at upstream {upstream} is used up."),
                format!("上游 {upstream} 的密钥 {n} 额度或余额已用尽。"),
            ),
            None => (
                format!("The quota or balance at upstream {upstream} is used up."),
                format!("上游 {upstream} 的额度或余额已用尽。"),
            ),
        },
        AlertEvent::CredentialAccepted => match key {
            Some(n) => {
                (format!("Upstream {upstream} accepts key {n} again."), format!("上游 {upstream} 重新接受密钥 {n}。"))
            }
            None => (
                format!("Upstream {upstream} accepts requests without a key again."),
                format!("上游 {upstream} 重新接受未带密钥的请求。"),
            ),
        },
        AlertEvent::ModelGone => (
            format!("Upstream {upstream} no longer has the model {model}; check its name or remove it."),
            format!("上游 {upstream} 已没有模型 {model}，请检查名称或将其移除。"),
        ),
        AlertEvent::ModelBack => (
            format!("Upstream {upstream} has the model {model} again."),
            format!("上游 {upstream} 的模型 {model} 已恢复。"),
        ),
        AlertEvent::GroupDown => (
            format!("Group {group} is down: none of its upstreams can answer."),
            format!("分组 {group} 已中断：没有可用的上游。"),
        ),
        AlertEvent::GroupBack => (format!("Group {group} is served again."), format!("分组 {group} 已恢复服务。")),
        AlertEvent::Budget => budget_sentence(document),
        AlertEvent::BalanceLow
        | AlertEvent::MultiplierChanged
        | AlertEvent::OverCap
        | AlertEvent::CollectionFailing
        | AlertEvent::BillingWarning
        | AlertEvent::BillingCleared => {
            let money = document.money.as_ref();
            money.map(|money| money.sentence(document.kind, &upstream, &group)).unwrap_or_default()
        }
        AlertEvent::Test => {
            ("This is a test: alerts reach this place.".to_owned(), "这是一条测试消息：告警可以送达此处。".to_owned())
        }
    };
    if document.suppressed > 0 {
        en.push_str(&format!(" It turned {} more times in between.", document.suppressed));
        zh.push_str(&format!("期间另有 {} 次变化。", document.suppressed));
    }
    Sentence { en, zh }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use headgate_domain::{Configuration, CredentialId, Revision, UpstreamId};
    use headgate_routing::Turn;

    use super::*;
    use crate::outbound::Clients;

    fn snapshot() -> Snapshot {
        let mut configuration = Configuration::default();
        let upstream = serde_json::json!({"id": 7, "name": "relay-a", "revision": 1, "next_credential": 3,
            "credentials": [{"id": 12, "number": 2, "source": {"env": "NO_SUCH_KEY"}}],
            "spec": {"base_url": "https://a.example"}});
        configuration.upstreams.push(serde_json::from_value(upstream).unwrap());
        Snapshot::build(
            Revision(1),
            Arc::new(configuration),
            &Default::default(),
            &Clients::default(),
            &Default::default(),
        )
    }

    fn document(subject: Subject, event: AlertEvent, class: Class, suppressed: u32) -> Option<serde_json::Value> {
        let told = Told { turn: Turn::new(subject, event, class), suppressed };
        let at = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        AlertDocument::of(&told, Uuid::nil(), at, &snapshot(), &Billing::default())
            .map(|d| serde_json::to_value(d).unwrap())
    }

    #[test]
    fn the_document_has_every_field_whatever_it_is_about() {
        let subject = Subject::Credential(UpstreamId(7), Some(CredentialId(12)));
        let document = document(subject, AlertEvent::CredentialRejected, Class::Credential, 3).unwrap();
        assert_eq!(
            document,
            serde_json::json!({
                "id": "00000000-0000-0000-0000-000000000000", "kind": "credential_rejected",
                "at": "2027-01-15T08:00:00Z", "upstream": {"id": 7, "name": "relay-a"}, "credential": 2,
                "group": null, "key": null, "budget": null, "money": null, "model": null, "from": "accepted", "to": "rejected", "class": "credential",
                "suppressed": 3,
                "sentence": {
                    "en": "Upstream relay-a refuses key 2; replace it. It turned 3 more times in between.",
                    "zh": "上游 relay-a 拒绝了密钥 2，请更换。期间另有 3 次变化。",
                },
                "version": env!("CARGO_PKG_VERSION"),
            })
        );
    }

    #[test]
    fn a_model_name_is_one_line_of_bounded_length() {
        let name = format!("m\r\n{}", "x".repeat(1000));
        let subject = Subject::Model(UpstreamId(7), name.into());
        let document = document(subject, AlertEvent::ModelGone, Class::ModelMissing, 0).unwrap();
        let model = document["model"].as_str().unwrap();
        assert!(model.len() == MODEL && model.starts_with("m  x"), "{model}");
    }

    #[test]
    fn what_has_been_removed_is_not_told() {
        let subject = Subject::Upstream(UpstreamId(8));
        assert_eq!(document(subject, AlertEvent::UpstreamOpened, Class::Server, 0), None);
    }
}
