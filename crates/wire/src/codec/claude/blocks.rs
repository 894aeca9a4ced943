//! Content blocks of Messages, read.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value};

use crate::{
    exact,
    json::Fields,
    loss::{Losses, Rejection},
    neutral::*,
};

/// Ids of hosted searches that the gateway made itself begin so: dropping them from history loses nothing.
pub(crate) const OWN_SEARCH: &str = "srvtoolu_hg_";

/// A block as it was read.
pub(super) enum Block {
    Content(Content),
    Result(ToolResult),
    Reasoning(Reasoning),
    Call(ToolCall),
}

/// Reads blocks.
pub(super) struct Reader<'l> {
    pub(super) unsupported: &'l mut Vec<Rejection>,
    pub(super) losses: &'l mut Losses,
}

impl Reader<'_> {
    /// A `content`: nothing, a text, or a list of blocks. Unknown types are dropped, unless there is nothing else.
    pub(super) fn read(&mut self, content: Option<Value>, place: &'static str) -> Result<Vec<Block>, Rejection> {
        let list = match content {
            None => return Ok(Vec::new()),
            Some(Value::String(text)) => return Ok(vec![Block::Content(Content::Text(Text::new(text)))]),
            Some(Value::Array(list)) => list,
            Some(_) => return Err(Rejection::illegal(place, "is neither a text nor a list of blocks")),
        };
        let mut blocks = Vec::with_capacity(list.len());
        let mut unknown = None;
        for value in list {
            if let Err(kind) = self.block(value, place, &mut blocks)? {
                self.losses.note_named("dropped", &kind);
                unknown = Some(kind);
            }
        }
        match unknown {
            Some(kind) if blocks.is_empty() => {
                Err(Rejection::unsupported(place, format!("content of type '{kind}' cannot be translated")))
            }
            _ => Ok(blocks),
        }
    }

    /// Appends a block; the type of an unknown one is given back.
    fn block(
        &mut self,
        value: Value,
        place: &'static str,
        blocks: &mut Vec<Block>,
    ) -> Result<Result<(), String>, Rejection> {
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        if matches!(kind.as_str(), "thinking" | "redacted_thinking") {
            blocks.push(Block::Reasoning(reasoning(value)));
            return Ok(Ok(()));
        }
        let mut block = Fields::new(value, place)?;
        let cache = block.any("cache_control");
        let read = match kind.as_str() {
            "text" => Block::Content(Content::Text(Text { text: block.required("text")?, cache })),
            "image" => {
                let source = self.source(&mut block)?;
                Block::Content(Content::Image(Image { source, detail: None, cache }))
            }
            "document" => {
                let source = self.source(&mut block)?;
                let title = block.text("title")?.filter(|t| !t.is_empty());
                Block::Content(Content::Document(Document { source, title, cache }))
            }
            "search_result" => {
                let title = block.lenient("title").or_else(|| block.lenient("source"));
                let source = Source::Plain(flatten(block.any("content")));
                Block::Content(Content::Document(Document { source, title, cache }))
            }
            // Claude Code's tool search: the tool itself is declared in `tools`, the model must only be told.
            "tool_reference" => {
                let name = block.lenient("tool_name").unwrap_or_default();
                Block::Content(Content::Text(Text { text: format!("Tool available: {name}"), cache }))
            }
            "tool_use" => {
                let input = block.any("input").unwrap_or_else(|| Value::Object(Map::new()));
                let input = if let Value::String(text) = input { text } else { exact::text(&input) };
                Block::Call(ToolCall {
                    call_id: block.required("id")?,
                    name: block.required("name")?,
                    namespace: None,
                    kind: CallKind::Function,
                    input,
                })
            }
            "tool_result" => {
                let inner = self.read(block.any("content"), "messages.content")?;
                let content = |b| if let Block::Content(content) = b { Some(content) } else { None };
                Block::Result(ToolResult {
                    call_id: block.required("tool_use_id")?,
                    content: inner.into_iter().filter_map(content).collect(),
                    is_error: block.boolean("is_error")?.unwrap_or(false),
                    cache,
                })
            }
            _ => {
                let own = |id: Option<String>| id.is_some_and(|id| id.starts_with(OWN_SEARCH));
                if own(block.lenient("id")) || own(block.lenient("tool_use_id")) {
                    return Ok(Ok(()));
                }
                return Ok(Err(if kind.is_empty() { "block".to_owned() } else { kind }));
            }
        };
        blocks.push(read);
        Ok(Ok(()))
    }

    fn source(&mut self, block: &mut Fields) -> Result<Source, Rejection> {
        let source = block.object("source")?;
        let mut source = source.ok_or_else(|| Rejection::illegal("source", "is missing"))?;
        Ok(match source.required("type")?.as_str() {
            "base64" => {
                let mime = source.required("media_type")?;
                let mime = if mime == "image/jpg" { "image/jpeg".to_owned() } else { mime };
                Source::Base64 { mime, data: source.required("data")? }
            }
            "text" => Source::Plain(source.required("data")?),
            "url" => Source::Url(source.required("url")?),
            "file" => Source::File { origin: Origin::Claude, id: source.required("file_id")? },
            "content" => Source::Plain(flatten(source.any("content"))),
            other => {
                let message = format!("a source of type '{other}' cannot be translated");
                self.unsupported.push(Rejection::unsupported("source", message));
                Source::Plain(String::new())
            }
        })
    }
}

/// The texts of a content that may only hold texts.
fn flatten(content: Option<Value>) -> String {
    match content {
        Some(Value::String(text)) => text,
        Some(Value::Array(list)) => {
            let texts = list.iter().filter_map(|b| b.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// A thinking block: one of our carriers, or Anthropic's own.
fn reasoning(block: Value) -> Reasoning {
    let text = |member: &str| block.get(member).and_then(Value::as_str).unwrap_or_default();
    let seal = text("signature");
    let carrier = if seal.starts_with(carrier::PREFIX) {
        Carrier::unwrap(seal)
    } else if seal.is_empty() && text("data").is_empty() {
        None
    } else {
        Some(Carrier::Claude(block.clone()))
    };
    Reasoning { text: text("thinking").to_owned(), carrier }
}

/// Base64 as text; `None` if it is neither.
pub(super) fn decode_text(data: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(data.trim()).ok()?).ok()
}
