//! One attempt's answer on its way to the client.

use bytes::Bytes;
use headgate_domain::{Failure, Usage};

use super::{Answers, cross::Cross, intake::Intake, same::Relayed};
use crate::{
    head::{Head, Progress},
    loss::Losses,
    observe::{End, Seen},
};

/// Translates one answer, chunk by chunk. See [the module](super) for how it is used.
#[derive(Debug)]
pub struct Translator {
    intake: Intake,
    engine: Engine,
}

#[derive(Debug)]
enum Engine {
    Cross(Box<Cross>),
    Same(Box<Relayed>),
}

impl Translator {
    pub(super) fn new(answers: &Answers, head: Head) -> Self {
        let engine = if answers.same {
            Engine::Same(Box::new(Relayed::new(answers.client, answers.stream, head)))
        } else {
            Engine::Cross(Box::new(Cross::new(answers, head)))
        };
        Self { intake: Intake::new(), engine }
    }

    /// Takes the next chunk of the upstream's body; gives back what the client gets, which is nothing before the first
    /// output.
    pub fn push(&mut self, chunk: Bytes) -> Vec<u8> {
        let (mut taken, mut out) = (Vec::new(), Vec::new());
        if self.has_ended() {
            // What follows the end is neither read nor kept.
            return out;
        }
        let result = self.intake.push(chunk, &mut taken);
        for taken in taken {
            match &mut self.engine {
                Engine::Cross(cross) => cross.take(taken, &mut out),
                Engine::Same(relayed) => relayed.take(taken, &mut out),
            }
        }
        if result.is_err() {
            match &mut self.engine {
                Engine::Cross(cross) => cross.too_large(),
                Engine::Same(relayed) => relayed.too_large(),
            }
        }
        out
    }

    /// The upstream's body has ended.
    pub fn finish(&mut self) -> Vec<u8> {
        let (mut taken, mut out) = (Vec::new(), Vec::new());
        self.intake.finish(&mut taken);
        for taken in taken {
            match &mut self.engine {
                Engine::Cross(cross) => cross.take(taken, &mut out),
                Engine::Same(relayed) => relayed.take(taken, &mut out),
            }
        }
        match &mut self.engine {
            Engine::Cross(cross) => cross.close(&mut out),
            Engine::Same(relayed) => relayed.close(&mut out),
        }
        out
    }

    /// Whether the answer has said why it stopped, so that only usage may follow.
    pub fn is_finishing(&self) -> bool {
        match &self.engine {
            Engine::Cross(cross) => cross.is_finishing(),
            Engine::Same(_) => false,
        }
    }

    /// Ends an answer that [is finishing](Self::is_finishing) without waiting for its usage any longer.
    pub fn conclude(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        match &mut self.engine {
            Engine::Cross(cross) if cross.is_finishing() => cross.close(&mut out),
            _ => {}
        }
        out
    }

    /// Ends the client's stream (or answer) with the failure, in the client's protocol.
    pub fn fail(&mut self, failure: &Failure) -> Vec<u8> {
        match &mut self.engine {
            Engine::Cross(cross) => cross.fail(failure),
            Engine::Same(relayed) => relayed.fail(failure),
        }
    }

    /// An event that keeps the client waiting; nothing where [ours may not be sent](Answers::keeps_alive).
    pub fn keep_alive(&mut self) -> Vec<u8> {
        match &mut self.engine {
            Engine::Cross(cross) if cross.end.is_none() && cross.is_stream() => cross.head.keep_alive(),
            Engine::Cross(_) => Vec::new(),
            Engine::Same(relayed) => relayed.keep_alive(),
        }
    }

    /// What has been seen so far: work, output.
    pub fn seen(&self) -> Seen {
        match &self.engine {
            Engine::Cross(cross) => cross.seen,
            Engine::Same(relayed) => relayed.seen(),
        }
    }

    /// How the answer ended; `None` while it has not.
    pub fn end(&self) -> Option<End> {
        match &self.engine {
            Engine::Cross(cross) => cross.end.clone(),
            Engine::Same(relayed) => relayed.end(),
        }
    }

    /// Whether the answer has ended, in whatever way.
    pub fn has_ended(&self) -> bool {
        match &self.engine {
            Engine::Cross(cross) => cross.end.is_some(),
            Engine::Same(relayed) => relayed.end().is_some(),
        }
    }

    /// The tokens reported so far.
    pub fn usage(&self) -> &Usage {
        match &self.engine {
            Engine::Cross(cross) => &cross.usage,
            Engine::Same(relayed) => relayed.usage(),
        }
    }

    /// Keeps the text that the model writes, until this is dropped.
    pub fn keep_text(&mut self) {
        match &mut self.engine {
            Engine::Cross(cross) => cross.heard = Some(String::new()),
            Engine::Same(relayed) => relayed.keep_text(),
        }
    }

    /// The text that the model wrote, if all of it was kept.
    pub fn heard(&self) -> Option<&str> {
        match &self.engine {
            Engine::Cross(cross) => cross.heard.as_deref(),
            Engine::Same(relayed) => relayed.heard(),
        }
    }

    /// Bytes of text that the model wrote so far.
    pub fn text(&self) -> u64 {
        match &self.engine {
            Engine::Cross(cross) => cross.said as u64,
            Engine::Same(relayed) => relayed.text(),
        }
    }

    /// The name of the upstream's last event.
    pub fn last_event(&self) -> Option<&str> {
        match &self.engine {
            Engine::Cross(cross) => Some(cross.last_event.as_str()).filter(|e| !e.is_empty()),
            Engine::Same(relayed) => relayed.last_event(),
        }
    }

    /// Warnings that arose in the answer; they are only recorded.
    pub fn warnings(&self) -> Losses {
        match &self.engine {
            Engine::Cross(cross) => cross.losses.clone(),
            Engine::Same(_) => Losses::default(),
        }
    }

    /// How far the client's stream has come: the next attempt goes on from there.
    pub fn progress(&self) -> Progress {
        match &self.engine {
            Engine::Cross(cross) => cross.head.progress(),
            Engine::Same(relayed) => relayed.progress(),
        }
    }
}
