//! The thread that appends to the journal.

use std::{
    fs::File,
    io::{self, Write},
    sync::{Arc, atomic::Ordering, mpsc::Receiver},
    time::Duration,
};

use tokio::sync::oneshot;

use super::{
    Command, Shared,
    segments::{Folder, Position},
};

/// How long the first record of a batch waits for others; a record is on disk within 5 ms of its request's end.
const LINGER: Duration = Duration::from_millis(4);
const SEGMENT_MAX: u64 = 8 << 20;
/// What is written at once.
const BATCH_MAX: usize = 1 << 20;
/// While the disk is full the batch at hand is kept and tried again, and the queue takes what comes.
const RETRY: Duration = Duration::from_millis(200);

pub(super) struct Writer {
    folder: Folder,
    file: File,
    at: Position,
    cap: u64,
    shared: Arc<Shared>,
    buffer: Vec<u8>,
    records: i64,
    barriers: Vec<oneshot::Sender<Position>>,
}

impl Writer {
    pub(super) fn new(folder: Folder, segment: u64, cap: u64, shared: Arc<Shared>) -> io::Result<Self> {
        let file = folder.create(segment)?;
        let at = Position::start_of(segment);
        Ok(Self { folder, file, at, cap, shared, buffer: Vec::new(), records: 0, barriers: Vec::new() })
    }

    /// Runs until all handles are gone.
    pub(super) fn run(mut self, commands: &Receiver<Command>) {
        while let Ok(command) = commands.recv() {
            self.take(command);
            // Under load this makes one write of many records, and one wake of this thread. A barrier does not wait.
            if self.barriers.is_empty() {
                std::thread::sleep(LINGER);
            }
            while self.buffer.len() < BATCH_MAX
                && let Ok(command) = commands.try_recv()
            {
                self.take(command);
            }
            self.write_out();
            for barrier in self.barriers.drain(..) {
                // Whoever asked may be gone.
                let _ = barrier.send(self.at);
            }
        }
    }

    fn take(&mut self, command: Command) {
        match command {
            Command::Append(record) => {
                self.shared.queued.fetch_sub(1, Ordering::Relaxed);
                let before = self.buffer.len();
                if serde_json::to_writer(&mut self.buffer, &record).is_ok() {
                    self.buffer.push(b'\n');
                    self.records += 1;
                } else {
                    self.buffer.truncate(before);
                    self.shared.lose(1, "a record cannot be written as JSON");
                }
            }
            Command::Barrier(answer) => self.barriers.push(answer),
        }
    }

    fn write_out(&mut self) {
        if self.buffer.is_empty() {
            return;
        }
        let size = self.buffer.len() as u64;
        if self.shared.disk_bytes.load(Ordering::Relaxed) + size > self.cap {
            self.shared.lose(self.records.unsigned_abs(), "the journal has reached its size limit");
            self.clear();
            return;
        }
        // Counted before it is written: the shipper may be faster than this thread.
        self.shared.waiting_records.fetch_add(self.records, Ordering::Relaxed);
        let buffer = std::mem::take(&mut self.buffer);
        let (mut rest, mut part) = (buffer.as_slice(), buffer.len());
        while !rest.is_empty() {
            let (lines, after) = rest.split_at(whole_lines(rest, part));
            match self.try_write(lines) {
                Ok(()) => rest = after,
                Err(error) => {
                    // A little may still fit. The queue holds what comes meanwhile, and loses what it cannot.
                    part = (lines.len() / 2).max(1);
                    self.shared.note.lock().last_error = Some(format!("the journal cannot be written: {error}"));
                    std::thread::sleep(RETRY);
                }
            }
        }
        self.buffer = buffer;
        self.clear();
    }

    fn try_write(&mut self, lines: &[u8]) -> io::Result<()> {
        let size = lines.len() as u64;
        if self.at.offset > 0 && self.at.offset + size > SEGMENT_MAX {
            self.roll()?;
        }
        if let Err(error) = self.file.write_all(lines) {
            // Part of it may be there: it is cut off, and if it cannot be, its end is a torn line. What comes next goes
            // into another segment: on a full disk, this one makes room as soon as all of it is stored.
            let cut = self.file.set_len(self.at.offset);
            if self.at.offset > 0 || cut.is_err() {
                self.roll()?;
            }
            return Err(error);
        }
        self.at.offset += size;
        self.shared.disk_bytes.fetch_add(size, Ordering::Relaxed);
        self.shared.written.send_replace(self.at);
        Ok(())
    }

    fn roll(&mut self) -> io::Result<()> {
        let segment = self.at.segment + 1;
        self.file = self.folder.create(segment)?;
        self.at = Position::start_of(segment);
        // The one before ends here: whoever ships may let go of it.
        self.shared.written.send_replace(self.at);
        Ok(())
    }

    fn clear(&mut self) {
        self.buffer.clear();
        self.buffer.shrink_to(BATCH_MAX);
        self.records = 0;
    }
}

/// Length of the lines at the beginning that have at most `most` bytes together; of the first one if even that has
/// more.
fn whole_lines(text: &[u8], most: usize) -> usize {
    let within = text.get(..most.min(text.len())).unwrap_or_default();
    let end = memchr::memrchr(b'\n', within).or_else(|| memchr::memchr(b'\n', text));
    end.map_or(text.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_written_whole() {
        let text = b"one\ntwo\nthree\n";
        for (most, length) in [(100, 14), (14, 14), (13, 8), (8, 8), (7, 4), (4, 4), (3, 4), (1, 4), (0, 4)] {
            assert_eq!(whole_lines(text, most), length, "{most}");
        }
        assert_eq!(whole_lines(b"torn", 2), 4);
    }
}
