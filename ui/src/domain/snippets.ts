/** Ready-made lines that point a tool at the gateway. */
import type { RequestDetail } from "@/api/types";

export const TOOLS = ["claude-code", "codex", "opencode", "openai", "anthropic", "environment", "curl"] as const;
export type Tool = (typeof TOOLS)[number];

/** Names of tools are the same in every language. */
export const TOOL_NAMES: Record<Exclude<Tool, "environment">, string> = {
  "claude-code": "Claude Code",
  codex: "Codex",
  opencode: "opencode",
  openai: "OpenAI SDK",
  anthropic: "Anthropic SDK",
  curl: "curl",
};

export interface Snippet {
  /** Where it belongs; absent: into a shell. */
  file?: string;
  text: string;
}

export interface Access {
  /** `http://127.0.0.1:8642` */
  base: string;
  key: string;
  /** A model that the key's group has. */
  model: string;
}

const WRITERS: Record<Tool, (access: Access) => Snippet[]> = {
  "claude-code": ({ base, key }) => [
    { text: `export ANTHROPIC_BASE_URL=${base}\nexport ANTHROPIC_AUTH_TOKEN=${key}\nclaude` },
  ],
  codex: ({ base, key, model }) => [
    {
      file: "~/.codex/config.toml",
      text: `model = "${model}"
model_provider = "headgate"

[model_providers.headgate]
name = "Headgate"
base_url = "${base}/v1"
env_key = "HEADGATE_KEY"
wire_api = "responses"`,
    },
    { text: `export HEADGATE_KEY=${key}\ncodex` },
  ],
  opencode: ({ base, key, model }) => [
    {
      file: "~/.config/opencode/opencode.json",
      text: JSON.stringify(
        {
          $schema: "https://opencode.ai/config.json",
          provider: {
            headgate: {
              npm: "@ai-sdk/openai-compatible",
              name: "Headgate",
              options: { baseURL: `${base}/v1`, apiKey: key },
              models: { [model]: {} },
            },
          },
        },
        null,
        2,
      ),
    },
  ],
  openai: ({ base, key, model }) => [
    {
      file: "Python",
      text: `from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key="${key}")
answer = client.responses.create(model="${model}", input="hi")
print(answer.output_text)`,
    },
  ],
  anthropic: ({ base, key, model }) => [
    {
      file: "Python",
      text: `from anthropic import Anthropic

client = Anthropic(base_url="${base}", api_key="${key}")
answer = client.messages.create(
    model="${model}", max_tokens=64,
    messages=[{"role": "user", "content": "hi"}],
)
print(answer.content[0].text)`,
    },
  ],
  environment: ({ base, key }) => [
    {
      text: `export OPENAI_BASE_URL=${base}/v1
export OPENAI_API_KEY=${key}
export ANTHROPIC_BASE_URL=${base}
export ANTHROPIC_AUTH_TOKEN=${key}`,
    },
  ],
  curl: ({ base, key, model }) => [{ text: curl("/v1/messages", base, key, model, false) }],
};

export function snippetsFor(tool: Tool, access: Access): Snippet[] {
  return WRITERS[tool](access);
}

function bodyFor(path: string, model: string, stream: boolean): Record<string, unknown> {
  const streamed = stream ? { stream: true } : {};
  if (path.endsWith("/responses")) return { model, ...streamed, input: "hi" };
  const messages = [{ role: "user", content: "hi" }];
  return path.endsWith("/messages")
    ? { model, max_tokens: 64, ...streamed, messages }
    : { model, ...streamed, messages };
}

function curl(path: string, base: string, key: string, model: string, stream: boolean): string {
  const isClaude = path.endsWith("/messages");
  const lines = [
    `curl ${base}${path}`,
    isClaude ? `-H "x-api-key: ${key}"` : `-H "authorization: Bearer ${key}"`,
    ...(isClaude ? [`-H "anthropic-version: 2023-06-01"`] : []),
    `-H "content-type: application/json"`,
    `-d '${JSON.stringify(bodyFor(path, model, stream)).replaceAll("'", "'\\''")}'`,
  ];
  return lines.join(" \\\n  ");
}

const PATHS = { chat: "/v1/chat/completions", responses: "/v1/responses", claude: "/v1/messages" } as const;

/** A command that asks the same of the gateway; bodies are not kept, so the message is another. */
export function requestAsCurl(base: string, request: Pick<RequestDetail, "protocol" | "model" | "stream">): string {
  const path = PATHS[request.protocol ?? "chat"];
  return curl(path, base, "$HEADGATE_KEY", request.model ?? "", request.stream);
}
