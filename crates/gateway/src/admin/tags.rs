//! `/tags`: the words by which upstreams are grouped and chosen.

use std::{collections::BTreeMap, sync::Arc};

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::upstreams::List;
use crate::shared::Shared;

/// A tag.
#[derive(Serialize, ToSchema)]
struct TagView {
    /// The word.
    name: String,
    /// Upstreams whose main tag it is.
    main: usize,
    /// Upstreams that carry it as a label.
    label: usize,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Tags in use, by name
#[utoipa::path(get, path = "/tags", tag = "upstreams", responses((status = 200, body = List<TagView>)))]
async fn list(State(shared): State<Arc<Shared>>) -> Json<List<TagView>> {
    let snapshot = shared.snapshot.load_full();
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for tags in snapshot.configuration.upstreams.iter().map(|u| &u.spec.tags) {
        if let Some(main) = &tags.main {
            counts.entry(main).or_default().0 += 1;
        }
        for label in &tags.labels {
            counts.entry(label).or_default().1 += 1;
        }
    }
    let view = |(name, (main, label)): (&str, _)| TagView { name: name.to_owned(), main, label };
    Json(List::whole(counts.into_iter().map(view).collect()))
}
