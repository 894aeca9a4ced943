//! What is checked before anything else: the host called, the page that calls, the content type, a loop.

use headgate_domain::{Settings, upstream::is_loopback_host};
use headgate_wire::envelope::Refusal;
use http::{HeaderMap, Method, Request, header};

use super::Peer;

/// Largest head of a request, in bytes.
const HEAD_BYTES: usize = 64 * 1024;
/// Most headers of a request.
const HEADERS: usize = 100;

type Refused = (Refusal, String);

/// Checks a request's head.
pub fn check<B>(request: &Request<B>, peer: Peer, settings: &Settings, pseudonym: &str) -> Result<(), Refused> {
    let headers = request.headers();
    size(request)?;
    host(request, peer, settings)?;
    origin(headers, peer, settings)?;
    let looped = headers.get_all(header::VIA).iter().filter_map(|v| v.to_str().ok()).any(|via| via.contains(pseudonym));
    if looped {
        let message =
            "this request has passed here before: an upstream leads back to this gateway; correct its base URL";
        return Err((Refusal::LoopDetected, message.to_owned()));
    }
    let json = || {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
    };
    let admin_file = request.uri().path().starts_with("/admin/");
    if request.method() == Method::POST && !admin_file && !json() {
        return Err((
            Refusal::WrongContentType,
            "the body has to be JSON: send 'content-type: application/json'".to_owned(),
        ));
    }
    Ok(())
}

fn size<B>(request: &Request<B>) -> Result<(), Refused> {
    let headers = request.headers();
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    let target = request.uri().path_and_query().map_or(0, |p| p.as_str().len());
    if headers.len() > HEADERS || bytes + target > HEAD_BYTES {
        let message = format!("the request's head is too large: at most {HEADERS} headers and {HEAD_BYTES} bytes");
        return Err((Refusal::HeadersTooLarge, message));
    }
    Ok(())
}

fn split_port(authority: &str) -> (&str, Option<u16>) {
    let after_bracket = authority.rfind(']').map_or(0, |at| at + 1);
    match authority.get(after_bracket..).and_then(|rest| rest.rfind(':')) {
        Some(colon) => {
            let at = after_bracket + colon;
            let port = authority.get(at + 1..).and_then(|p| p.parse().ok());
            (authority.get(..at).unwrap_or(authority), port)
        }
        None => (authority, None),
    }
}

/// A name that a page of another site can make resolve to us must not be served.
fn host<B>(request: &Request<B>, peer: Peer, settings: &Settings) -> Result<(), Refused> {
    let called = request
        .uri()
        .authority()
        .map(|a| a.as_str().to_owned())
        .or_else(|| request.headers().get(header::HOST).and_then(|h| h.to_str().ok()).map(str::to_owned))
        .unwrap_or_default();
    let (name, port) = split_port(&called);
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let own = bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.to_canonical() == peer.local.ip().to_canonical())
        && port.unwrap_or(80) == peer.local.port();
    let allowed =
        settings.allowed_hosts.iter().any(|h| h.eq_ignore_ascii_case(&called) || h.eq_ignore_ascii_case(name));
    if !name.is_empty() && (is_loopback_host(name) || own || allowed) {
        return Ok(());
    }
    let shown: String = called.chars().take(80).collect();
    Err((
        Refusal::WrongHost,
        format!("'{shown}' is not a name of this gateway; call it by its address, or add the name to allowed_hosts"),
    ))
}

fn origin(headers: &HeaderMap, peer: Peer, settings: &Settings) -> Result<(), Refused> {
    let foreign = |what: &str| {
        Err((
            Refusal::ForeignOrigin,
            format!("requests from {what} are refused; add the origin to allowed_origins if it is yours"),
        ))
    };
    if let Some(origin) = headers.get(header::ORIGIN) {
        let text = origin.to_str().unwrap_or_default();
        let ours = text.strip_prefix("http://").is_some_and(|rest| {
            let (name, port) = split_port(rest);
            let bare = name.trim_start_matches('[').trim_end_matches(']');
            let address =
                bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.to_canonical() == peer.local.ip().to_canonical());
            port.unwrap_or(80) == peer.local.port() && (is_loopback_host(name) || address)
        });
        let allowed = settings.allowed_origins.iter().any(|o| o.eq_ignore_ascii_case(text));
        if !ours && !allowed {
            return foreign("another web page");
        }
        if allowed {
            return Ok(());
        }
    }
    if headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site") {
        return foreign("another site");
    }
    Ok(())
}

/// Whether the client wants to speak a websocket.
pub fn is_websocket(headers: &HeaderMap) -> bool {
    headers
        .get(header::UPGRADE)
        .and_then(|v| v.to_str().ok())
        .is_some_and(|v| v.to_ascii_lowercase().contains("websocket"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer() -> Peer {
        Peer { remote: "192.168.1.9:5".parse().unwrap(), local: "192.168.1.5:8642".parse().unwrap() }
    }

    fn get(headers: &[(&str, &str)]) -> Request<()> {
        let mut builder = Request::get("/v1/models");
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        builder.body(()).unwrap()
    }

    fn refusal(headers: &[(&str, &str)]) -> Option<Refusal> {
        let settings = Settings {
            allowed_hosts: vec!["gate.lan".to_owned()],
            allowed_origins: vec!["https://mine.example".to_owned()],
            ..Settings::default()
        };
        check(&get(headers), peer(), &settings, "headgate-x").err().map(|(r, _)| r)
    }

    #[test]
    fn only_our_own_names_are_served() {
        for host in
            ["127.0.0.1:8642", "localhost", "[::1]:8642", "192.168.1.5:8642", "gate.lan", "gate.lan:8642", "127.9.9.9"]
        {
            assert_eq!(refusal(&[("host", host)]), None, "{host}");
        }
        for host in [
            "evil.example",
            "192.168.1.5:80",
            "192.168.1.5",
            "192.168.1.6:8642",
            "",
            "localhost.evil.example",
            "127.0.0.1.nip.io",
        ] {
            assert_eq!(refusal(&[("host", host)]), Some(Refusal::WrongHost), "{host}");
        }
        assert_eq!(refusal(&[]), Some(Refusal::WrongHost));
    }

    #[test]
    fn other_pages_are_refused() {
        let host = ("host", "localhost:8642");
        for origin in ["https://evil.example", "http://localhost:3000", "null", "http://evil.localhost.example:8642"] {
            assert_eq!(refusal(&[host, ("origin", origin)]), Some(Refusal::ForeignOrigin), "{origin}");
        }
        for origin in ["http://localhost:8642", "http://127.0.0.1:8642", "https://mine.example"] {
            assert_eq!(refusal(&[host, ("origin", origin)]), None, "{origin}");
        }
        assert_eq!(refusal(&[host, ("sec-fetch-site", "cross-site")]), Some(Refusal::ForeignOrigin));
        assert_eq!(refusal(&[host, ("sec-fetch-site", "same-origin")]), None);
    }

    #[test]
    fn our_own_pseudonym_in_via_is_a_loop() {
        let host = ("host", "localhost");
        assert_eq!(refusal(&[host, ("via", "1.1 other, 1.1 headgate-x")]), Some(Refusal::LoopDetected));
        assert_eq!(refusal(&[host, ("via", "1.1 other")]), None);
    }
}
