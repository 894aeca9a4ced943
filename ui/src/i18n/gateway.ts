/**
 * Sentences of the gateway in the person's language. The gateway speaks English, with names and figures inside its
 * sentences; each is known here by the text of its source (a test compares both), its parts as {}.
 */
import { i18n } from ".";

/** English as the source has it, and the same in 简体中文 with the parts by number. */
export const SENTENCES: readonly (readonly [string, string])[] = [
  ["is used twice; names are unique without regard to case", "重复；名称不区分大小写，必须唯一"],
  ["is listed twice; names are unique without regard to case", "重复列出；名称不区分大小写，必须唯一"],
  [
    "has an entry that is empty, longer than 256 bytes or has control characters",
    "有一项为空、超过 256 字节或含控制字符",
  ],
  [
    "a limit is at least 1; leave it out for none, or switch off with enabled: false",
    "限额至少为 1；不限请留空，停用请用 enabled: false",
  ],
  ["a budget is not negative", "预算不能为负"],
  ["is not a currency code such as USD or CNY", "不是 USD、CNY 这样的货币代码"],
  ["{} is not between 100ms and 1h", "{0} 不在 100ms 到 1h 之间"],
  [
    "'{}: {}': neither side is empty, and the target has no more '*' than the pattern",
    "「{0}: {1}」：两边都不能为空，且目标中的 * 不能多于模式",
  ],
  ["is 0; leave it out for no limit", "为 0；不限请留空"],
  ["is not greater than 0", "必须大于 0"],
  ["{} is not between 1m and 24h", "{0} 不在 1m 到 24h 之间"],
  ["is below 0", "小于 0"],
  ["is absent; the access token belongs to a user's number", "缺少用户编号；访问令牌属于某个用户"],
  ["the upstream is not configured", "没有配置这个上游"],
  ["is listed twice in this group", "在本分组中重复列出"],
  [
    "is 0; a weight is at least 1, enabled: false takes a member out",
    "为 0；权重至少为 1，停用成员请用 enabled: false",
  ],
  ["min_input is larger than max_input", "min_input 大于 max_input"],
  ["has no candidates", "没有候选"],
  ["names an upstream that is not a member of the group", "指向不属于本分组的上游"],
  ["has a target without a model or with weight 0", "有一个目标没有模型或权重为 0"],
  ["the group is not configured", "没有配置这个分组"],
  ["is the same as another key's", "与另一把密钥相同"],
  ["is listed twice", "重复列出"],
  ["has no model", "没有模型"],
  ["is none of auto, {}", "只能是 auto、{0} 之一"],
  ["is empty", "为空"],
  ["is 0", "为 0"],
  ["is shorter than 5s", "短于 5s"],
  [
    "is empty; switch it off with enabled: false, or leave it out for everything",
    "为空；停用请用 enabled: false，全部请留空",
  ],
  ["lists test, which is sent by hand alone", "列出了 test，它只能手动发送"],
  ["is longer than a day", "超过一天"],
  ["is set, but has no effect unless {}", "已设置，但只有在 {0} 时才起作用"],
  ["is not a map", "不是键值表"],
  ["is not a list", "不是列表"],
  ["has no name", "没有名称"],
  ["not YAML: {}", "不是 YAML：{0}"],
  ["the file is not a map; it begins with 'version: 1'", "文件不是键值表；应以「version: 1」开头"],
  ["is {}; this program reads version 1", "为 {0}；本程序读取版本 1"],
  ["is missing; write 'version: 1'", "缺少；请写「version: 1」"],
  [
    "unknown field; the file has version, settings, upstreams, groups, keys, monitors and alerts",
    "未知字段；文件包含 version、settings、upstreams、groups、keys、monitors 和 alerts",
  ],
  ["is no section of objects", "不是对象的分区"],
  [
    "was renamed to '{}' since the last apply; list it under that name, or make a new one with --allow-recreate",
    "上次应用后已改名为「{0}」；请用新名称列出，或用 --allow-recreate 新建",
  ],
  ["is '***', but nothing is stored to keep; write the value", "为「***」，但没有已保存的值；请写出值"],
  [
    "has '***', but nothing is stored to keep; write the user and password",
    "含「***」，但没有已保存的值；请写出用户名和密码",
  ],
  ["is not the name of an environment variable", "不是环境变量名"],
  ["has a control character, which no header can carry", "含有请求头无法携带的控制字符"],
  [
    "no credential '{}' is stored; write { value: … } or { env: NAME }",
    "没有保存凭据「{0}」；请写 { value: … } 或 { env: NAME }",
  ],
  ["is the same credential as an earlier one", "与前面的凭据相同"],
  ["is empty, or has characters that no header can carry", "为空，或含有请求头无法携带的字符"],
  ["names the upstream '{}', which is not configured", "指向没有配置的上游「{0}」"],
  ["the group '{}' is not configured", "没有配置分组「{0}」"],
  ["the upstream '{}' is not configured", "没有配置上游「{0}」"],
  ["is empty; leave it out to send without a signature", "为空；不签名请留空不写"],
  ["a base URL has no white space and no control characters", "基础地址不能含空白或控制字符"],
  ["the scheme of a base URL is http or https, not '{}'", "基础地址的协议是 http 或 https，不能是「{0}」"],
  [
    "a base URL may not contain a user name or password; put the key into credentials",
    "基础地址不能含用户名或密码；请把密钥写入凭据",
  ],
  ["a base URL has no query and no fragment", "基础地址不能含查询参数或片段"],
  ["{} is a link-local or metadata address, which is never an upstream", "{0} 是链路本地或元数据地址，不能作为上游"],
  [
    "a proxy is http, https, socks5, socks5h or 'direct', not '{}'",
    "代理是 http、https、socks5、socks5h 或 direct，不能是「{0}」",
  ],
  ["the proxy has no host", "代理没有主机名"],
  ["'{}' is not a header name", "「{0}」不是请求头名称"],
  [
    "'{}' may not be set: it belongs to authentication, the connection or Headgate",
    "不能设置「{0}」：它用于认证、连接或 Headgate 自身",
  ],
  ["the value of '{}' has a control character", "「{0}」的值含控制字符"],
  ["has white space or control characters", "含空白或控制字符"],
  ["is not an http(s) URL", "不是 http(s) 地址"],
  [
    "has a user name or password, which is not sent; sign with 'secret' instead",
    "含用户名或密码，它们不会发送；请用 secret 签名",
  ],
  ["is a link-local or metadata address, which is never called", "是链路本地或元数据地址，不会被访问"],
  [
    "'{}' is not a size; write it like 64MiB, 512KiB or a number of bytes",
    "「{0}」不是大小；请写成 64MiB、512KiB 或字节数",
  ],
  ["{} is not between {} and {}", "{0} 不在 {1} 到 {2} 之间"],
  ["{} is less than breaker_open, which is {}", "{0} 小于 breaker_open（{1}）"],
  ["{} is less than a day; 0 keeps for ever", "{0} 不足一天；0 表示永久保留"],
  [
    "'{}' is not an IANA time zone such as Europe/Berlin or Asia/Shanghai",
    "「{0}」不是 Europe/Berlin、Asia/Shanghai 这样的 IANA 时区",
  ],
  ["a duration needs its unit: {}s, {}m or {}ms", "时长需要单位：{0}s、{1}m 或 {2}ms"],
  [
    "plain http to {} would send the key readable; use https, or set allow_plain_http: true",
    "用明文 http 访问 {0} 会让密钥以可读形式发送；请用 https，或设置 allow_plain_http: true",
  ],
  ["a key hash has 64 hexadecimal digits", "密钥哈希有 64 个十六进制数字"],
  ["the upstream '{}' gave no list of models; test it to see why", "上游「{0}」没有给出模型列表；请测试它以查明原因"],
  ["an access key has 20 to 125 characters after hg-", "访问密钥在 hg- 之后有 20 到 125 个字符"],
  ["an access key has only letters, digits, _ and - after hg-", "访问密钥在 hg- 之后只含字母、数字、_ 和 -"],
  ["'from' is before 'to'", "起始时间必须早于结束时间"],
  ["'models' names at least one model", "至少要有一个模型"],
  ["'revision' is a number", "revision 是一个数字"],
  ["'until' is not after 'since'", "结束时间不晚于起始时间"],
  ["since is not before until", "起始时间不早于结束时间"],
  ["'upstream' is the name of the upstream", "upstream 是上游的名称"],
  ["a multiplier is greater than 0 and at most 1,000,000", "倍率必须大于 0 且不超过 1,000,000"],
  ["a proxy with user and password is set by applying a file", "带用户名和密码的代理请通过配置文件设置"],
  ["at most 400 days can be asked about", "最多可以查询 400 天"],
  ["it has no file name", "没有文件名"],
  ["name a key or a group", "请指定密钥或分组"],
  ["no member lists a model; name the one to ask for", "没有成员列出模型；请指定要请求的模型"],
  ["the credential has characters no header can carry", "凭据含有请求头无法携带的字符"],
  ["the upstream lists no models; name the one to ask for", "上游没有列出模型；请指定要请求的模型"],
  ["'{}' is no feature", "「{0}」不是一种能力"],
  ["the evidence could not be written: {}", "无法写出证据：{0}"],
  ["there is no such {}", "没有这个对象（{0}），可能已被删除"],
  ["there is no {}", "没有 {0}，可能已被删除"],
  ["the system gave no random bytes", "系统没有给出随机数"],
  ["the replay failed; the log says why", "重放失败；原因见日志"],
];

/** What the library that reads documents says of a file or a form, likewise; longer ones before what they begin with. */
export const OF_DOCUMENTS: readonly (readonly [string, string])[] = [
  ["unknown field `{}`, there are no fields", "未知字段「{0}」；这里没有字段"],
  ["unknown field `{}`, expected one of {}", "未知字段「{0}」，应为以下之一：{1}"],
  ["unknown field `{}`, expected {}", "未知字段「{0}」，应为 {1}"],
  ["unknown variant `{}`, there are no variants", "未知取值「{0}」；这里没有可选值"],
  ["unknown variant `{}`, expected one of {}", "未知取值「{0}」，应为以下之一：{1}"],
  ["unknown variant `{}`, expected {}", "未知取值「{0}」，应为 {1}"],
  ["missing field `{}`", "缺少字段「{0}」"],
  ["duplicate field `{}`", "字段「{0}」重复"],
  ["invalid type: {}, expected {}", "类型不对：{0}，应为 {1}"],
  ["invalid value: {}, expected {}", "取值不对：{0}，应为 {1}"],
  ["invalid length {}, expected {}", "长度 {0} 不对，应为 {1}"],
  ["data did not match any variant of untagged enum {}", "不符合 {0} 的任何一种写法"],
  ["Failed to deserialize the JSON body into the target type: {}", "请求内容不符合要求：{0}"],
  ["Failed to parse the request body as JSON: {}", "请求内容不是 JSON：{0}"],
  ["Failed to deserialize query string: {}", "地址中的参数不符合要求：{0}"],
];

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** A way to tell sentences of these lists; one that is not known is told as it is. */
export function telling(...lists: (readonly (readonly [string, string])[])[]): (sentence: string) => string {
  const known = lists.flat();
  // Whole sentences are looked up; those with parts are tried in turn.
  const whole = new Map(known.filter(([english]) => !english.includes("{}")));
  const parts = known
    .filter(([english]) => english.includes("{}"))
    .map(([english, chinese]) => ({
      pattern: new RegExp(`^${english.split("{}").map(escaped).join("(.+)")}$`, "s"),
      chinese,
    }));
  return (sentence) => {
    if (i18n.global.locale.value === "en") return sentence;
    const found = whole.get(sentence);
    if (found) return found;
    for (const { pattern, chinese } of parts) {
      const match = pattern.exec(sentence);
      if (match) return chinese.replace(/\{(\d)\}/g, (_, n: string) => match[Number(n) + 1] ?? "");
    }
    return sentence;
  };
}

export const tellGateway = telling(SENTENCES, OF_DOCUMENTS);

/** A literal of the source as it stands above: every part is {}, doubled braces are braces. */
export function asSentence(literal: string): string {
  return literal
    .replace(/\{\{/g, "\u0001")
    .replace(/\}\}/g, "\u0002")
    .replace(/\{[^{}]*\}/g, "{}")
    .replace(/\u0001/g, "{")
    .replace(/\u0002/g, "}");
}
