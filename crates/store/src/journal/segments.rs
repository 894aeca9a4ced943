//! The files of the journal.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    data_dir::{private_folder, private_options},
    state_file,
};

/// Records that the database refuses are kept for a look, up to this size.
const REJECTED_MAX: u64 = 16 << 20;

/// A place in the journal: everything before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub(super) struct Position {
    pub(super) segment: u64,
    pub(super) offset: u64,
}

impl Position {
    pub(super) fn start_of(segment: u64) -> Self {
        Self { segment, offset: 0 }
    }
}

/// The folder `journal`.
#[derive(Debug, Clone)]
pub(super) struct Folder(PathBuf);

/// What a start finds.
pub(super) struct Survey {
    /// Number of the segment to begin.
    pub(super) next: u64,
    pub(super) stored: Position,
    pub(super) bytes: u64,
    /// Whole lines that are not stored.
    pub(super) records: i64,
}

/// Whole lines of one segment and where they end.
pub(super) struct Batch {
    pub(super) lines: Vec<Vec<u8>>,
    pub(super) end: Position,
}

impl Folder {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        private_folder(path)?;
        Ok(Self(path.to_owned()))
    }

    pub(super) fn survey(&self) -> io::Result<Survey> {
        let segments = self.segments()?;
        let acked = self.acked();
        let first = segments.first().copied().unwrap_or_default();
        // An `ack` that was lost only means that something is sent again.
        let stored = if acked.segment >= first { acked } else { Position::start_of(first) };
        let mut survey =
            Survey { next: segments.last().map_or(0, |n| *n).max(stored.segment) + 1, stored, bytes: 0, records: 0 };
        for number in segments {
            let mut file = File::open(self.segment(number))?;
            survey.bytes += file.metadata()?.len();
            if number >= stored.segment {
                let from = if number == stored.segment { stored.offset } else { 0 };
                file.seek(SeekFrom::Start(from))?;
                survey.records += count_lines(&mut file)?;
            }
        }
        Ok(survey)
    }

    /// Numbers of the segments on disk, in order.
    pub(super) fn segments(&self) -> io::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let name = entry?.file_name();
            if let Some(number) = name.to_str().and_then(|n| n.strip_suffix(".jsonl")).and_then(|n| n.parse().ok()) {
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    pub(super) fn create(&self, number: u64) -> io::Result<File> {
        private_options().append(true).create_new(true).open(self.segment(number))
    }

    /// Removes a segment and returns its size.
    pub(super) fn remove(&self, number: u64) -> io::Result<u64> {
        let path = self.segment(number);
        let size = fs::metadata(&path)?.len();
        fs::remove_file(path)?;
        Ok(size)
    }

    /// Up to `max_lines` whole lines after `from`, of one segment: about `max_bytes` or one line. Reads no further
    /// than `written`. With no line left in a segment that is no longer written to, the batch is empty and ends where
    /// the next one begins; none if there is nothing to read now.
    pub(super) fn read(
        &self,
        from: Position,
        written: Position,
        max_lines: usize,
        max_bytes: usize,
    ) -> io::Result<Option<Batch>> {
        if from >= written {
            return Ok(None);
        }
        let next = Batch { lines: Vec::new(), end: Position::start_of(from.segment + 1) };
        let mut file = match File::open(self.segment(from.segment)) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound && from.segment < written.segment => return Ok(Some(next)),
            Err(e) => return Err(e),
        };
        let limit = if from.segment == written.segment { written.offset } else { file.metadata()?.len() };
        file.seek(SeekFrom::Start(from.offset))?;
        let mut bytes = Vec::new();
        let mut want = max_bytes as u64;
        let mut reader = file.take(0);
        let end = loop {
            let room = limit.saturating_sub(from.offset + bytes.len() as u64);
            reader.set_limit(want.min(room));
            let read = reader.read_to_end(&mut bytes)?;
            // A line longer than the batch is read to its end.
            match memchr::memrchr(b'\n', &bytes) {
                Some(end) => break Some(end + 1),
                None if read == 0 => break None,
                None => want *= 2,
            }
        };
        let Some(end) = end else {
            return Ok((from.segment < written.segment).then_some(next));
        };
        let mut lines = Vec::new();
        let mut taken = 0;
        for line in bytes.get(..end).unwrap_or_default().split_inclusive(|byte| *byte == b'\n').take(max_lines) {
            taken += line.len() as u64;
            lines.push(line.trim_ascii_end().to_vec());
        }
        Ok(Some(Batch { lines, end: Position { offset: from.offset + taken, ..from } }))
    }

    /// Notes how far everything is stored. It need not outlive a power failure: then it is stored once more.
    pub(super) fn ack(&self, position: Position) -> io::Result<()> {
        state_file::replace(&self.0.join("ack"), &serde_json::to_vec(&position)?, false)
    }

    fn acked(&self) -> Position {
        let content = fs::read(self.0.join("ack")).unwrap_or_default();
        serde_json::from_slice(&content).unwrap_or_default()
    }

    /// Keeps a record that cannot be stored.
    pub(super) fn reject(&self, line: &[u8]) -> io::Result<()> {
        let mut file = private_options().append(true).create(true).open(self.0.join("rejected.jsonl"))?;
        if file.metadata()?.len() < REJECTED_MAX {
            let mut line = line.to_vec();
            line.push(b'\n');
            file.write_all(&line)?;
        }
        Ok(())
    }

    fn segment(&self, number: u64) -> PathBuf {
        self.0.join(format!("{number:010}.jsonl"))
    }
}

fn count_lines(reader: &mut impl Read) -> io::Result<i64> {
    let mut buffer = vec![0; 1 << 16];
    let mut lines = 0;
    loop {
        let read = reader.read(&mut buffer)?;
        if read == 0 {
            return Ok(lines);
        }
        let found = memchr::memchr_iter(b'\n', buffer.get(..read).unwrap_or_default()).count();
        lines += i64::try_from(found).unwrap_or(i64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(segment: u64, offset: u64) -> Position {
        Position { segment, offset }
    }

    #[test]
    fn only_whole_lines_are_read_and_a_torn_one_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Folder::open(folder.path()).unwrap();
        journal.create(1).unwrap().write_all(b"one\ntwo\nthr").unwrap();
        let batch = journal.read(at(1, 0), at(2, 0), 10, 100).unwrap().unwrap();
        assert_eq!((batch.lines, batch.end), (vec![b"one".to_vec(), b"two".to_vec()], at(1, 8)));
        let batch = journal.read(at(1, 8), at(2, 0), 10, 100).unwrap().unwrap();
        assert_eq!((batch.lines.len(), batch.end), (0, at(2, 0)));
        assert_eq!(journal.survey().unwrap().records, 2);
    }

    #[test]
    fn nothing_is_read_beyond_what_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Folder::open(folder.path()).unwrap();
        journal.create(1).unwrap().write_all(b"one\ntwo\n").unwrap();
        let batch = journal.read(at(1, 0), at(1, 4), 10, 100).unwrap().unwrap();
        assert_eq!((batch.lines.len(), batch.end), (1, at(1, 4)));
        assert!(journal.read(at(1, 4), at(1, 4), 10, 100).unwrap().is_none());
    }

    #[test]
    fn a_line_longer_than_a_batch_is_read_whole_and_batches_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Folder::open(folder.path()).unwrap();
        let long = "x".repeat(1000);
        journal.create(1).unwrap().write_all(format!("{long}\na\nb\nc\n").as_bytes()).unwrap();
        let batch = journal.read(at(1, 0), at(2, 0), 10, 16).unwrap().unwrap();
        assert_eq!(batch.lines.first().unwrap().len(), 1000);
        let batch = journal.read(at(1, 1001), at(2, 0), 2, 16).unwrap().unwrap();
        assert_eq!((batch.lines.len(), batch.end), (2, at(1, 1005)));
    }
}
