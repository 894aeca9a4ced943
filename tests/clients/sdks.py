"""The official Python SDKs against a gateway.

    sdks.py {chat|responses|claude} {turn|broken}

HEADGATE_URL and HEADGATE_KEY say where. `turn`: a plain answer, a streamed one with usage, a tool turn, a picture.
`broken`: the stream breaks off, which has to arrive as the SDK's own error.
"""

import base64
import json
import os
import sys

import anthropic
import openai

URL, KEY, MODEL = os.environ["HEADGATE_URL"], os.environ["HEADGATE_KEY"], "m"
TEXT, ASK = "HEADGATE-OK", [{"role": "user", "content": "say hi"}]
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
# Larger than the limit that many servers have for a body.
PICTURE = base64.b64encode(bytes(7 << 20)).decode()


def ok(so, what):
    if not so:
        sys.exit(f"not so: {what}")


class Chat:
    tools = [{"type": "function", "function": {"name": "bash", "description": "runs a command", "parameters": SCHEMA}}]

    def __init__(self):
        self.create = openai.OpenAI(base_url=URL + "/v1", api_key=KEY, max_retries=0).chat.completions.create

    def stream(self, messages, **more):
        text, call, arguments, finish, usage = "", None, "", None, None
        more["stream_options"] = {"include_usage": True}
        for chunk in self.create(model=MODEL, messages=messages, stream=True, **more):
            usage = chunk.usage or usage
            for choice in chunk.choices:
                text += choice.delta.content or ""
                finish = choice.finish_reason or finish
                for part in choice.delta.tool_calls or []:
                    call = call or part
                    arguments += part.function.arguments or ""
        return text, call, arguments, finish, usage

    def turn(self):
        whole = self.create(model=MODEL, messages=ASK)
        ok(TEXT in whole.choices[0].message.content and whole.usage.completion_tokens > 0, "a whole answer")
        text, _, _, finish, usage = self.stream(ASK)
        ok(TEXT in text and finish == "stop" and usage.total_tokens > 0, "a streamed answer with usage")
        _, call, arguments, finish, _ = self.stream(ASK, tools=self.tools)
        ok(call.function.name == "bash" and json.loads(arguments)["command"] and finish == "tool_calls", "a tool call")
        called = {"id": call.id, "type": "function", "function": {"name": "bash", "arguments": arguments}}
        history = ASK + [{"role": "assistant", "content": None, "tool_calls": [called]}]
        history += [{"role": "tool", "tool_call_id": call.id, "content": "done"}]
        ok(TEXT in self.stream(history, tools=self.tools)[0], "the answer to a tool's result")
        part = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + PICTURE}}
        ok(TEXT in self.stream([{"role": "user", "content": [part]}])[0], "the answer to a picture")

    def broken(self):
        try:
            self.stream(ASK)
        except openai.APIError as why:
            return ok(why.message and why.type, "an error that says what happened")
        ok(False, "a broken stream is an error")


class Responses:
    tools = [{"type": "function", "name": "bash", "description": "runs a command", "parameters": SCHEMA, "strict": False}]

    def __init__(self):
        self.responses = openai.OpenAI(base_url=URL + "/v1", api_key=KEY, max_retries=0).responses

    def stream(self, asked, **more):
        # The helper that adds up the deltas and refuses what does not fit together.
        with self.responses.stream(model=MODEL, input=asked, store=False, **more) as stream:
            last = None
            for last in stream:
                pass
            ok(last.type == "response.completed", f"a completed stream, not {last}")
            return stream.get_final_response()

    def turn(self):
        whole = self.responses.create(model=MODEL, input="say hi")
        ok(TEXT in whole.output_text and whole.usage.output_tokens > 0, "a whole answer")
        streamed = self.stream("say hi")
        ok(TEXT in streamed.output_text and streamed.usage.total_tokens > 0, "a streamed answer with usage")
        calls = [item for item in self.stream(ASK, tools=self.tools).output if item.type == "function_call"]
        ok(calls and calls[0].name == "bash" and json.loads(calls[0].arguments)["command"], "a tool call")
        call = {"type": "function_call", "call_id": calls[0].call_id, "name": "bash", "arguments": calls[0].arguments}
        result = {"type": "function_call_output", "call_id": calls[0].call_id, "output": "done"}
        ok(TEXT in self.stream(ASK + [call, result], tools=self.tools).output_text, "the answer to a tool's result")
        part = {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64," + PICTURE}
        ok(TEXT in self.stream([{"role": "user", "content": [part]}]).output_text, "the answer to a picture")

    def broken(self):
        last = None
        for last in self.responses.create(model=MODEL, input="say hi", stream=True):
            pass
        # This SDK hands failures on as events.
        ok(last.type == "response.failed" and last.response.error.code, f"a failed response, not {last}")


class Claude:
    tools = [{"name": "bash", "description": "runs a command", "input_schema": SCHEMA}]

    def __init__(self):
        self.messages = anthropic.Anthropic(base_url=URL, api_key=KEY, max_retries=0).messages

    def stream(self, messages, **more):
        with self.messages.stream(model=MODEL, max_tokens=100, messages=messages, **more) as stream:
            return stream.get_final_message()

    def turn(self):
        whole = self.messages.create(model=MODEL, max_tokens=100, messages=ASK)
        ok(TEXT in whole.content[0].text and whole.usage.output_tokens > 0, "a whole answer")
        streamed = self.stream(ASK)
        ok(TEXT in streamed.content[0].text and streamed.stop_reason == "end_turn", "a streamed answer")
        ok(streamed.usage.output_tokens > 0, "its usage")
        called = self.stream(ASK, tools=self.tools)
        calls = [block for block in called.content if block.type == "tool_use"]
        ok(calls and calls[0].name == "bash" and calls[0].input["command"] and called.stop_reason == "tool_use", "a call")
        history = ASK + [{"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in called.content]}]
        result = {"type": "tool_result", "tool_use_id": calls[0].id, "content": "done"}
        answer = self.stream(history + [{"role": "user", "content": [result]}], tools=self.tools)
        ok(TEXT in answer.content[0].text, "the answer to a tool's result")
        source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
        answer = self.stream([{"role": "user", "content": [{"type": "image", "source": source}]}])
        ok(TEXT in answer.content[0].text, "the answer to a picture")

    def broken(self):
        try:
            self.stream(ASK)
        except anthropic.APIError as why:
            return ok(why.body["error"]["message"], "an error that says what happened")
        ok(False, "a broken stream is an error")


client = {"chat": Chat, "responses": Responses, "claude": Claude}[sys.argv[1]]()
{"turn": client.turn, "broken": client.broken}[sys.argv[2]]()
print("ok")
