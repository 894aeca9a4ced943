/**
 * What the record says of a failed request or attempt, in the person's language. Only the gateway's own sentences are
 * known (a test compares them with its source); what an upstream said stays as it was said.
 */
import { telling } from "./gateway";

export const OF_RECORDS: readonly (readonly [string, string])[] = [
  ["upstream answered HTTP {}", "上游返回 HTTP {0}"],
  ["upstream answered with an error", "上游返回错误"],
  ["the upstream cannot be reached: there is no client for it ({})", "连不上上游：无法为它建立客户端（{0}）"],
  ["the upstream cannot be reached: its name could not be resolved ({})", "连不上上游：域名无法解析（{0}）"],
  ["the upstream cannot be reached: the TLS handshake failed ({})", "连不上上游：TLS 握手失败（{0}）"],
  ["the upstream cannot be reached: the proxy failed ({})", "连不上上游：代理失败（{0}）"],
  ["the upstream cannot be reached: the connect limit passed ({})", "连不上上游：超过连接时限（{0}）"],
  ["the upstream cannot be reached: the connection failed ({})", "连不上上游：连接失败（{0}）"],
  ["the upstream closed the connection before it answered ({})", "上游在回答之前关闭了连接（{0}）"],
  ["the upstream gave no answer within {} s", "上游在 {0} 秒内没有回答"],
  ["the upstream's answer took too long", "上游的回答用时过长"],
  ["the upstream fell silent for {} s inside its answer", "上游在回答途中停顿了 {0} 秒"],
  ["the upstream fell silent inside its stream", "上游在流中停顿过久"],
  ["the upstream reported an error inside its stream: {}", "上游在流中报告错误：{0}"],
  ["the upstream's stream ended without its completion event", "上游的流没有结束事件就断了"],
  ["the upstream's connection broke off inside the answer ({})", "上游的连接在回答途中断开（{0}）"],
  ["the upstream's answer has no bytes", "上游的回答是空的"],
  ["the upstream's answer has no content", "上游的回答没有内容"],
  ["the upstream's answer is not JSON", "上游的回答不是 JSON"],
  ["the upstream's answer could not be decompressed ({})", "无法解压上游的回答（{0}）"],
  ["the upstream sent the encoding '{}', which nobody asked for", "上游用了没有请求的编码「{0}」"],
  [
    "the upstream answered with a page instead of an API answer; check its base URL",
    "上游返回的是网页，不是 API 回答；请检查它的地址",
  ],
  ["one event of the upstream is larger than {} bytes", "上游的一个事件超过 {0} 字节"],
  ["the upstream's address cannot be called: {}", "无法请求上游的地址：{0}"],
  ["the request could not be made: {}", "无法生成请求：{0}"],
  ["the upstream refused to count", "上游拒绝计数"],
  ["the client's deadline passed", "已超过客户端给的期限"],
  ["the client closed the connection", "客户端关闭了连接"],
  ["Headgate is stopping", "Headgate 正在停止"],
  ["Headgate failed to serve this request; its log has the cause", "Headgate 未能处理此请求；原因见日志"],
  ["no upstream of group '{}' is switched on; add or enable one", "分组「{0}」没有启用的上游；请添加或启用一个"],
  [
    "no upstream of group '{}' is allowed by the region and label rules of this request",
    "按此请求的区域和标签规则，分组「{0}」没有可用的上游",
  ],
  [
    "no upstream of group '{}' has the model '{}'; GET /v1/models lists what there is",
    "分组「{0}」的上游都没有模型「{1}」；GET /v1/models 列出现有模型",
  ],
  [
    "prompt is too long: about {} tokens are more than any upstream of group '{}' takes",
    "提示词过长：约 {0} 个 token，超过分组「{1}」中任何上游的上限",
  ],
  ["no upstream of group '{}' speaks the protocol of this route ({})", "分组「{0}」没有上游支持此路径的协议（{1}）"],
  ["no upstream of group '{}' takes a prompt of this size", "分组「{0}」没有上游能接受这么长的提示词"],
  ["no upstream of group '{}' can do what this request needs: {}", "分组「{0}」没有上游具备此请求需要的能力：{1}"],
  ["every upstream of group '{}' is above its cost cap", "分组「{0}」的所有上游都超过倍率上限"],
  ["the balance or quota of every upstream of group '{}' is used up", "分组「{0}」的所有上游余额或额度都已用完"],
  ["every upstream of group '{}' limits our rate", "分组「{0}」的所有上游都在限流"],
  [
    "every upstream of group '{}' refused its credential, or it is missing; see its state in the admin API",
    "分组「{0}」的所有上游都拒绝了密钥，或没有密钥；请查看各上游的状态",
  ],
  ["every upstream of group '{}' is cooling down after failures", "分组「{0}」的所有上游都在失败后的冷却中"],
  ["every upstream of group '{}' has all the requests it takes", "分组「{0}」的所有上游都已满载"],
  [
    "group '{}' is strict, and its upstreams could serve this request only with losses: {}",
    "分组「{0}」要求无损转换，而它的上游只能有损处理此请求：{1}",
  ],
  [
    "this request has passed here before: an upstream leads back to this gateway; correct its base URL",
    "此请求已经来过这里：有一个上游指回本网关；请改正它的地址",
  ],
  [
    "no access key; send 'authorization: Bearer hg-…' or 'x-api-key: hg-…'",
    "没有访问密钥；请发送「authorization: Bearer hg-…」或「x-api-key: hg-…」",
  ],
  ["this access key is switched off or has expired", "此访问密钥已停用或已过期"],
  ["this access key is not known here", "这里没有此访问密钥"],
  ["this key may not use the model '{}'", "此密钥不能使用模型「{0}」"],
  ["this access key may have {} requests under way at the same time", "此访问密钥最多同时进行 {0} 个请求"],
  ["this access key may send {} requests a minute", "此访问密钥每分钟最多 {0} 个请求"],
  ["this access key may use {} tokens a minute", "此访问密钥每分钟最多 {0} 个 token"],
  ["Headgate is paused; resume it in its window or tray menu", "Headgate 已暂停；可在窗口或托盘菜单中继续"],
  ["the body is larger than {} bytes (setting body_limit)", "请求内容超过 {0} 字节（设置 body_limit）"],
  ["the body stopped for {} s before its end", "请求内容没有发完，停了 {0} 秒"],
  ["the body could not be read: {}", "无法读取请求内容：{0}"],
  ["the body cannot be decoded: {}", "无法解码请求内容：{0}"],
  ["the body grows by more than {} times when decoded", "请求内容解码后超过原来的 {0} 倍"],
  ["the content-encoding is none of zstd, gzip, identity", "content-encoding 不是 zstd、gzip 或 identity"],
  [
    "the body has to be JSON: send 'content-type: application/json'",
    "请求内容必须是 JSON：请发送「content-type: application/json」",
  ],
  ["the request's head is too large: at most {} headers and {} bytes", "请求头过大：最多 {0} 个、{1} 字节"],
  [
    "'{}' is not a name of this gateway; call it by its address, or add the name to allowed_hosts",
    "「{0}」不是本网关的名称；请用它的地址，或把名称加入 allowed_hosts",
  ],
  [
    "requests from {} are refused; add the origin to allowed_origins if it is yours",
    "拒绝来自 {0} 的请求；如果是你的页面，请把它加入 allowed_origins",
  ],
  ["no upstream of this group lists the model '{}'", "本分组没有上游列出模型「{0}」"],
  ["no upstream of group '{}' counts tokens for '{}'", "分组「{0}」没有上游能为「{1}」计算 token 数"],
];

export const tellRecord = telling(OF_RECORDS);
