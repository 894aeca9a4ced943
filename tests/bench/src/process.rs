//! What a process uses, from `/proc`.

use std::{fs, time::Duration};

use anyhow::{Context, Result};

/// Processor time used so far, user and system, all threads; none of its children's.
pub fn cpu(pid: u32) -> Result<Duration> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).context("the process is gone")?;
    let ticks = cpu_ticks(&text).context("/proc/PID/stat is not understood")?;
    Ok(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
}

/// Fields 14 and 15; the second one, a name in brackets, may hold anything.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

/// Bytes resident now.
pub fn resident(pid: u32) -> Result<u64> {
    status(pid, "VmRSS:")
}

/// Most bytes that were ever resident.
pub fn resident_peak(pid: u32) -> Result<u64> {
    status(pid, "VmHWM:")
}

fn status(pid: u32, name: &str) -> Result<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).context("the process is gone")?;
    kibibytes(&text, name).map(|n| n * 1024).with_context(|| format!("/proc/PID/status has no {name}"))
}

fn kibibytes(status: &str, name: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

/// The processes that this one has started.
pub fn children(pid: u32) -> Vec<u32> {
    // Each thread has its own list.
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|text| text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect()
}

/// Its program's name, at most 15 bytes of it; empty when it is gone.
pub fn name(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_past_a_name_with_brackets() {
        let stat = "42 (a) b) S 1 2 3 4 5 6 7 8 9 10 120 30 7 8 20 0 3 0";
        assert_eq!(cpu_ticks(stat), Some(150));
    }

    #[test]
    fn memory_is_read_by_its_name() {
        let text = "Name:\tx\nVmHWM:\t  2000 kB\nVmRSS:\t  1500 kB\n";
        assert_eq!(kibibytes(text, "VmRSS:"), Some(1500));
        assert_eq!(kibibytes(text, "VmSwap:"), None);
    }
}
