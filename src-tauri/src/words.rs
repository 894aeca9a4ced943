//! The words of the shell itself: tray menu, title, notices. The pages have their own.

use serde::{Deserialize, Serialize};

/// A language of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English.
    En,
    /// 简体中文.
    Zh,
}

/// A word or sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Tray.
    Open,
    /// Tray.
    Pause,
    /// Tray.
    Resume,
    /// Tray.
    CopyUrl,
    /// Tray.
    CopyEnvironment,
    /// Tray.
    Quit,
    /// Tray: before a number.
    Today,
    /// Tray: before amounts.
    SpentToday,
    /// Cause: after nothing.
    Paused,
    /// Cause: after a group's name.
    NobodyServes,
    /// Cause: after a group's name and two numbers.
    MembersOut,
    /// Cause: after an upstream's name.
    KeyRejected,
    /// Cause: after an upstream's name.
    KeyMissing,
    ModelGone,
    /// Cause: after the name of an access key or group.
    BudgetSpent,
    /// Cause: after an upstream's name.
    OverCap,
    /// Cause: after an upstream's name.
    MultiplierUnknown,
    /// Cause: after an upstream's name.
    BalanceEmpty,
    /// State of the whole.
    Healthy,
    /// State of the whole.
    Degraded,
    /// State of the whole.
    Down,
    /// State of the whole.
    Stopped,
    /// Notice at the first closing.
    CloseExplained,
}

impl Language {
    /// The language of a code such as `zh-CN`.
    pub fn of(code: &str) -> Self {
        if code.to_ascii_lowercase().starts_with("zh") { Self::Zh } else { Self::En }
    }

    /// The system's.
    pub fn of_system() -> Self {
        sys_locale::get_locale().map_or(Self::En, |code| Self::of(&code))
    }

    /// A word in it.
    pub fn say(self, word: Word) -> &'static str {
        let (en, zh) = match word {
            Word::Open => ("Open Headgate", "打开 Headgate"),
            Word::Pause => ("Pause", "暂停"),
            Word::Resume => ("Resume", "继续"),
            Word::CopyUrl => ("Copy base URL", "复制基础地址"),
            Word::CopyEnvironment => ("Copy environment for", "复制环境变量"),
            Word::Quit => ("Quit", "退出"),
            Word::Today => ("Requests today", "今日请求"),
            Word::SpentToday => ("Spent today", "今日费用"),
            Word::Paused => ("You paused it", "已由你暂停"),
            Word::NobodyServes => ("no upstream can answer", "没有可用上游"),
            Word::MembersOut => ("upstreams are out", "个上游不可用"),
            Word::KeyRejected => ("its key was refused", "密钥被拒"),
            Word::KeyMissing => ("its key was not found", "找不到密钥"),
            Word::ModelGone => ("no longer has", "已没有模型"),
            Word::BudgetSpent => ("budget spent", "预算已用尽"),
            Word::OverCap => ("above the multiplier cap", "超过倍率上限"),
            Word::MultiplierUnknown => ("multiplier unknown", "倍率未知"),
            Word::BalanceEmpty => ("nothing is left", "余额已用尽"),
            Word::Healthy => ("Healthy", "正常"),
            Word::Degraded => ("Degraded", "降级"),
            Word::Down => ("Down", "中断"),
            Word::Stopped => ("Stopped", "已停止"),
            Word::CloseExplained => (
                "Headgate keeps running without its window, and your tools keep their port. Open or quit it from the tray.",
                "关闭窗口后 Headgate 仍在运行，工具的端口保持可用。可从托盘图标打开或退出。",
            ),
        };
        match self {
            Self::En => en,
            Self::Zh => zh,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_chooses_the_language() {
        assert_eq!(Language::of("zh-CN"), Language::Zh);
        assert_eq!(Language::of("ZH_tw"), Language::Zh);
        assert_eq!(Language::of("de"), Language::En);
        assert_eq!(Language::Zh.say(Word::Quit), "退出");
    }
}
