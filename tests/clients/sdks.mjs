// The official Node SDKs against a gateway.
//
//     node sdks.mjs {chat|responses|claude} {turn|broken}
//
// HEADGATE_URL and HEADGATE_KEY say where, SDKS is the folder whose node_modules has them. `turn`: a plain answer, a
// streamed one with usage, a tool turn. `broken`: the stream breaks off, which has to arrive as the SDK's own error.

import { createRequire } from 'node:module'
import path from 'node:path'

const require = createRequire(path.join(process.env.SDKS, 'package.json'))
const { default: OpenAI } = require('openai')
const { default: Anthropic } = require('@anthropic-ai/sdk')

const { HEADGATE_URL: url, HEADGATE_KEY: apiKey } = process.env
const model = 'm'
const TEXT = 'HEADGATE-OK'
const ask = [{ role: 'user', content: 'say hi' }]
const schema = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] }

function ok (so, what) {
  if (!so) throw new Error(`not so: ${what}`)
}

/** What an SDK throws. */
async function thrown (kind, run) {
  const why = await run().then(() => undefined, why => why)
  ok(why instanceof kind && why.message, `an error of the SDK, not ${why}`)
}

const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
const anthropic = new Anthropic({ baseURL: url, apiKey, maxRetries: 0 })

const chat = {
  stream: (messages, more) =>
    openai.chat.completions.stream({ model, messages, stream_options: { include_usage: true }, ...more }).finalChatCompletion(),
  async turn () {
    const whole = await openai.chat.completions.create({ model, messages: ask })
    ok(whole.choices[0].message.content.includes(TEXT) && whole.usage.total_tokens > 0, 'a whole answer')
    const streamed = await this.stream(ask)
    ok(streamed.choices[0].message.content.includes(TEXT) && streamed.usage.total_tokens > 0, 'a streamed answer')
    const tools = [{ type: 'function', function: { name: 'bash', description: 'runs a command', parameters: schema } }]
    const [choice] = (await this.stream(ask, { tools })).choices
    const [call] = choice.message.tool_calls
    ok(choice.finish_reason === 'tool_calls' && JSON.parse(call.function.arguments).command, 'a tool call')
    const history = [...ask, { role: 'assistant', content: null, tool_calls: [call] }, { role: 'tool', tool_call_id: call.id, content: 'done' }]
    ok((await this.stream(history, { tools })).choices[0].message.content.includes(TEXT), "the answer to a tool's result")
  },
  broken () { return thrown(OpenAI.APIError, () => this.stream(ask)) }
}

const responses = {
  async stream (input, more) {
    const stream = openai.responses.stream({ model, input, store: false, ...more })
    let last
    for await (const event of stream) last = event
    ok(last.type === 'response.completed', `a completed stream, not ${last.type}`)
    return stream.finalResponse()
  },
  async turn () {
    const whole = await openai.responses.create({ model, input: 'say hi' })
    ok(whole.output_text.includes(TEXT) && whole.usage.total_tokens > 0, 'a whole answer')
    const streamed = await this.stream('say hi')
    ok(streamed.output_text.includes(TEXT) && streamed.usage.total_tokens > 0, 'a streamed answer')
    const tools = [{ type: 'function', name: 'bash', description: 'runs a command', parameters: schema, strict: false }]
    const call = (await this.stream(ask, { tools })).output.find(item => item.type === 'function_call')
    ok(call && JSON.parse(call.arguments).command, 'a tool call')
    const { call_id, name, arguments: args } = call
    const history = [...ask, { type: 'function_call', call_id, name, arguments: args }, { type: 'function_call_output', call_id, output: 'done' }]
    ok((await this.stream(history, { tools })).output_text.includes(TEXT), "the answer to a tool's result")
  },
  async broken () {
    let last
    for await (const event of await openai.responses.create({ model, input: 'say hi', stream: true })) last = event
    // This SDK hands failures on as events.
    ok(last.type === 'response.failed' && last.response.error.code, `a failed response, not ${last.type}`)
  }
}

const claude = {
  stream: (messages, more) => anthropic.messages.stream({ model, max_tokens: 100, messages, ...more }).finalMessage(),
  async turn () {
    const whole = await anthropic.messages.create({ model, max_tokens: 100, messages: ask })
    ok(whole.content[0].text.includes(TEXT) && whole.usage.output_tokens > 0, 'a whole answer')
    const streamed = await this.stream(ask)
    ok(streamed.content[0].text.includes(TEXT) && streamed.usage.output_tokens > 0, 'a streamed answer')
    const tools = [{ name: 'bash', description: 'runs a command', input_schema: schema }]
    const called = await this.stream(ask, { tools })
    const call = called.content.find(block => block.type === 'tool_use')
    ok(called.stop_reason === 'tool_use' && call.input.command, 'a tool call')
    const result = { type: 'tool_result', tool_use_id: call.id, content: 'done' }
    const history = [...ask, { role: 'assistant', content: called.content }, { role: 'user', content: [result] }]
    ok((await this.stream(history, { tools })).content[0].text.includes(TEXT), "the answer to a tool's result")
  },
  broken () { return thrown(Anthropic.APIError, () => this.stream(ask)) }
}

const [, , protocol, what] = process.argv
await { chat, responses, claude }[protocol][what]()
console.log('ok')
