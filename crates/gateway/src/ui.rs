//! `/ui/`: the pages of the window, as static files, for browsers on this machine.

use axum::body::Body;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use rust_embed::{EmbeddedFile, RustEmbed};

/// What `npm run build` made; empty in a build without it.
#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/../../ui/dist"]
#[allow_missing = true]
struct Files;

/// Scripts and styles of our own only; a page of another site may not frame it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// Answers a path such as `/ui/assets/index.js`.
pub fn serve(path: &str, headers: &HeaderMap) -> Response<Body> {
    let Some(name) = path.strip_prefix("/ui/") else { return redirect() };
    let page = name.is_empty() || !name.rsplit('/').next().is_some_and(|last| last.contains('.'));
    let name = if page { "index.html" } else { name };
    match Files::get(name) {
        Some(file) => found(name, file, headers),
        None if page => text("this build has no pages; make one with: cargo xtask run"),
        None => text("there is no such file"),
    }
}

/// To the pages' own address.
pub fn redirect() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::FOUND;
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static("/ui/"));
    response
}

fn text(message: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(message));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

fn found(name: &str, file: EmbeddedFile, headers: &HeaderMap) -> Response<Body> {
    let hash: String = file.metadata.sha256_hash().iter().take(16).map(|b| format!("{b:02x}")).collect();
    let tag = format!("\"{hash}\"");
    let known = headers.get(header::IF_NONE_MATCH).is_some_and(|seen| seen.as_bytes() == tag.as_bytes());
    let mut response = if known {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        Response::new(Body::from(file.data.into_owned()))
    };
    let out = response.headers_mut();
    let mut set = |name, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            out.insert(name, value);
        }
    };
    set(header::CONTENT_TYPE, file.metadata.mimetype());
    set(header::ETAG, &tag);
    // Built files carry their hash in the name.
    let lasting = name.starts_with("assets/");
    set(header::CACHE_CONTROL, if lasting { "max-age=31536000, immutable" } else { "no-cache" });
    set(header::CONTENT_SECURITY_POLICY, POLICY);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    set(header::X_FRAME_OPTIONS, "DENY");
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_under_ui_leads_there_and_unknown_files_are_not_pages() {
        let answer = serve("/ui", &HeaderMap::new());
        assert_eq!((answer.status(), answer.headers()[header::LOCATION].as_bytes()), (StatusCode::FOUND, &b"/ui/"[..]));
        assert_eq!(serve("/ui/no.js", &HeaderMap::new()).status(), StatusCode::NOT_FOUND);
        assert_eq!(serve("/ui/../Cargo.toml", &HeaderMap::new()).status(), StatusCode::NOT_FOUND);
    }
}
