//! The clock that all processes of a benchmark share, and a ticker that keeps to it.

use std::{os::fd::OwnedFd, time::Duration};

use anyhow::Result;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime, timerfd_create,
    timerfd_settime,
};
use tokio::io::unix::AsyncFd;

const BILLION: u64 = 1_000_000_000;

/// Nanoseconds of `CLOCK_MONOTONIC`: the same in every process of this machine.
pub fn now() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// Seconds since 1970.
pub fn wall() -> i64 {
    clock_gettime(ClockId::Realtime).tv_sec
}

fn nanoseconds(time: Timespec) -> u64 {
    u64::try_from(time.tv_sec).unwrap_or(0) * BILLION + u64::try_from(time.tv_nsec).unwrap_or(0)
}

fn timespec(nanoseconds: u64) -> Timespec {
    // Both parts are below 2⁶³.
    Timespec {
        tv_sec: i64::try_from(nanoseconds / BILLION).unwrap_or(i64::MAX),
        tv_nsec: (nanoseconds % BILLION).try_into().unwrap_or(0),
    }
}

/// Fires at fixed times. Tokio's own timers are rounded to a millisecond, which is more than what is measured here.
pub struct Ticker {
    timer: AsyncFd<OwnedFd>,
}

impl Ticker {
    /// Fires at `start` (nanoseconds of [`now`]) and every `interval` from then on.
    pub fn new(start: u64, interval: Duration) -> Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        let interval = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        let setting = Itimerspec { it_interval: timespec(interval), it_value: timespec(start) };
        timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &setting)?;
        #[expect(deprecated, reason = "the replacement is unsafe; nobody else closes an owned descriptor")]
        let timer = AsyncFd::new(timer)?;
        Ok(Self { timer })
    }

    /// Waits until it has fired, and says how often since the last call.
    pub async fn fired(&self) -> Result<u64> {
        loop {
            let mut ready = self.timer.readable().await?;
            let mut count = [0_u8; 8];
            match ready.try_io(|timer| Ok(rustix::io::read(timer.get_ref(), &mut count)?)) {
                Ok(read) => {
                    read?;
                    return Ok(u64::from_ne_bytes(count));
                }
                Err(_would_block) => {}
            }
        }
    }
}
