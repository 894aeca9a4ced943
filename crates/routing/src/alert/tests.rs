use headgate_domain::UpstreamKind;

use super::*;
use crate::pool::PoolCredential;

const A: UpstreamId = UpstreamId(1);
const B: UpstreamId = UpstreamId(2);

fn pool(group: i64, members: &[UpstreamId]) -> Pool {
    let members = members.iter().map(|id| PoolMember {
        credentials: [1, 2].map(|n| PoolCredential { id: CredentialId(id.0 * 10 + n), missing: false }).to_vec(),
        ..PoolMember::new(*id, UpstreamKind::Passthrough)
    });
    Pool { members: members.collect(), ..Pool::new(GroupId(group)) }
}

fn turn(subject: Subject, event: AlertEvent) -> Turn {
    Turn { subject, event, class: None }
}

fn breaker(upstream: UpstreamId, event: AlertEvent) -> Turn {
    turn(Subject::Upstream(upstream), event)
}

fn credential(upstream: UpstreamId, n: i64, event: AlertEvent) -> Turn {
    turn(Subject::Credential(upstream, Some(CredentialId(upstream.0 * 10 + n))), event)
}

fn events(news: &[Turn]) -> Vec<AlertEvent> {
    news.iter().map(|turn| turn.event).collect()
}

use AlertEvent::*;

#[test]
fn a_breaker_that_opens_again_before_it_closed_is_told_once() {
    let (mut wrongs, pools) = (Wrongs::default(), [pool(1, &[A, B])]);
    assert_eq!(events(&wrongs.take(breaker(A, UpstreamOpened), &pools)), [UpstreamOpened]);
    assert!(wrongs.take(breaker(A, UpstreamOpened), &pools).is_empty());
    assert_eq!(events(&wrongs.take(breaker(A, UpstreamClosed), &pools)), [UpstreamClosed]);
    assert!(wrongs.take(breaker(A, UpstreamClosed), &pools).is_empty());
}

#[test]
fn a_group_is_down_when_its_last_member_is_out_whatever_the_reason_and_back_with_the_first() {
    let (mut wrongs, pools) = (Wrongs::default(), [pool(1, &[A, B]), pool(2, &[B])]);
    assert_eq!(events(&wrongs.take(breaker(A, UpstreamOpened), &pools)), [UpstreamOpened]);
    assert_eq!(events(&wrongs.take(credential(B, 1, CredentialRejected), &pools)), [CredentialRejected]);
    let both = wrongs.take(credential(B, 2, CredentialExhausted), &pools);
    assert_eq!(events(&both), [CredentialExhausted, GroupDown, GroupDown]);
    let back = wrongs.take(breaker(A, UpstreamClosed), &pools);
    assert_eq!(events(&back), [UpstreamClosed, GroupBack]);
    assert_eq!(back[1].subject, Subject::Group(GroupId(1)));
    assert_eq!(events(&wrongs.take(credential(B, 1, CredentialAccepted), &pools)), [CredentialAccepted, GroupBack]);
}

#[test]
fn a_missing_credential_counts_as_refused_and_a_member_that_is_off_does_not_count() {
    let mut wrongs = Wrongs::default();
    let mut pools = [pool(1, &[A, B])];
    pools[0].members[0].credentials[1].missing = true;
    pools[0].members[1].member_enabled = false;
    assert_eq!(events(&wrongs.take(credential(A, 1, CredentialRejected), &pools)), [CredentialRejected, GroupDown]);
    pools[0].members[1].member_enabled = true;
    assert_eq!(events(&wrongs.follow(|_| true, &pools)), [GroupBack]);
    pools[0].members.iter_mut().for_each(|m| m.upstream_enabled = false);
    assert!(wrongs.follow(|_| true, &pools).is_empty(), "switched off by a person");
}

#[test]
fn another_reason_for_the_same_credential_is_news() {
    let (mut wrongs, pools) = (Wrongs::default(), [pool(1, &[A])]);
    assert_eq!(wrongs.take(credential(A, 1, CredentialRejected), &pools).len(), 1);
    assert!(wrongs.take(credential(A, 1, CredentialRejected), &pools).is_empty());
    assert_eq!(wrongs.take(credential(A, 1, CredentialExhausted), &pools).len(), 1);
}

#[test]
fn what_was_removed_or_cleared_by_a_person_is_forgotten_without_a_word() {
    let (mut wrongs, pools) = (Wrongs::default(), [pool(1, &[A, B])]);
    wrongs.take(breaker(A, UpstreamOpened), &pools);
    wrongs.take(turn(Subject::Model(A, "m".into()), ModelGone), &pools);
    assert!(wrongs.clear(A, None, &pools).is_empty());
    assert!(wrongs.take(breaker(A, UpstreamClosed), &pools).is_empty());
    wrongs.take(breaker(A, UpstreamOpened), &pools);
    let fewer = [pool(1, &[B])];
    assert!(wrongs.follow(|subject| subject.upstream() != Some(A), &fewer).is_empty());
    assert_eq!(events(&wrongs.take(breaker(A, UpstreamOpened), &pools)), [UpstreamOpened]);
}

#[test]
fn a_group_that_was_down_is_back_when_its_member_is_cleared() {
    let (mut wrongs, pools) = (Wrongs::default(), [pool(1, &[A])]);
    assert_eq!(events(&wrongs.take(breaker(A, UpstreamOpened), &pools)), [UpstreamOpened, GroupDown]);
    assert_eq!(events(&wrongs.clear(A, None, &pools)), [GroupBack]);
}

#[test]
fn a_model_that_is_cleared_by_a_person_is_forgotten_alone() {
    let (mut wrongs, pools) = (Wrongs::default(), [pool(1, &[A])]);
    let gone = |model: &str| turn(Subject::Model(A, model.into()), ModelGone);
    wrongs.take(gone("m"), &pools);
    wrongs.take(gone("n"), &pools);
    assert!(wrongs.clear(A, Some("m"), &pools).is_empty());
    assert_eq!(events(&wrongs.take(gone("m"), &pools)), [ModelGone]);
    assert!(wrongs.take(gone("n"), &pools).is_empty());
}
