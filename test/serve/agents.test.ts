import assert from 'node:assert/strict'
import {after, before, describe, it} from 'node:test'
import {createOpenAICompatible} from '@ai-sdk/openai-compatible'
import {HumanMessage} from '@langchain/core/messages'
import {tool as langchainTool} from '@langchain/core/tools'
import {ChatOpenAI} from '@langchain/openai'
import {generateText, stepCountIs, streamText, tool} from 'ai'
import {type Message, Ollama} from 'ollama'
import OpenAI from 'openai'
import * as z from 'zod'
import {tinyLlama, writeRandomModel} from '../bench/random-model.js'
import {type RunningServer, startServer} from '../support/server.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {byteTokenizer} from '../support/tiny-model.js'

/** Each token of the model is followed by the next one: after `<|ask|>` a call and its end, after `<|answer|>` an answer. */
const tokens = ['<|ask|>', '<tool_call>', '<|answer|>', 'Rain.', '<|end|>', '</tool_call>', '<|end_of_call|>']
const first = 257
const idOf = (token: string) => first + tokens.indexOf(token)
const template = `{% for tool in tools or [] %}{{ tool | tojson }}
{% endfor %}{% for message in messages %}{{ message.role }}: {{ message.content or '' }}
{%- for call in message.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}
{% endfor %}{{ '<|answer|>' if messages[-1].role == 'tool' else '<|ask|>' }}`

function tokenizer(): object {
  const bytes = byteTokenizer() as {added_tokens: object[]}
  const added = tokens.map((content, i) => ({
    id: first + i,
    content,
    special: content.includes('|'),
    normalized: false,
  }))
  return {...bytes, added_tokens: [...bytes.added_tokens, ...added]}
}

const shape = {
  ...tinyLlama,
  vocab_size: first + tokens.length,
  hidden_size: 64,
  intermediate_size: 64,
  num_hidden_layers: 1,
  num_attention_heads: 4,
  num_key_value_heads: 2,
}

const description = 'Returns the weather of a city'
const input = z.object({city: z.enum(['Oslo', 'Rome']), days: z.int().min(1).max(9)})
const parameters = {
  type: 'object',
  properties: {city: {type: 'string', enum: ['Oslo', 'Rome']}, days: {type: 'integer', minimum: 1, maximum: 9}},
  required: ['city', 'days'],
}
const question = {role: 'user' as const, content: 'How is the weather?'}
const model = 'agent'

describe('svc serve for programs that run the tools', () => {
  const folder = suiteFolder()
  let server: RunningServer
  let baseURL: string
  let asked: unknown[]
  before(async () => {
    await writeRandomModel(folder, shape, 'F32', {chain: true})
    await writeFiles(folder, {
      'tokenizer.json': JSON.stringify(tokenizer()),
      'generation_config.json': JSON.stringify({eos_token_id: [idOf('<|end|>'), idOf('<|end_of_call|>')]}),
      'chat_template.jinja': template,
    })
    server = await startServer(['--model', folder, '--model-name', model, '--temperature', '0'])
    baseURL = `${server.baseUrl}/v1`
  })
  after(() => server?.stop())

  const run = (args: unknown): string => {
    asked.push(input.parse(args))
    return 'rain'
  }

  /** Runs a client, which must call the tool once with valid arguments, and returns the answer. */
  async function answerOf(client: () => Promise<string | null | undefined>): Promise<void> {
    asked = []
    assert.equal(await client(), 'Rain.')
    assert.equal(asked.length, 1)
  }

  it('finishes runTools of the OpenAI client, streamed or not', async () => {
    const openai = new OpenAI({baseURL, apiKey: 'none', maxRetries: 0})
    const get_weather = {name: 'get_weather', description, parameters, parse: JSON.parse as (text: string) => object}
    const body = {
      model,
      messages: [question],
      tools: [{type: 'function' as const, function: {...get_weather, function: run}}],
    }
    await answerOf(() => openai.chat.completions.runTools(body).finalContent())
    await answerOf(() => openai.chat.completions.runTools({...body, stream: true}).finalContent())
  })

  it('finishes a loop of the Ollama client, streamed or not', async () => {
    const ollama = new Ollama({host: server.baseUrl})
    const tools = [{type: 'function', function: {name: 'get_weather', description, parameters}}]
    const ask = async (messages: Message[], isStreamed: boolean): Promise<Message> => {
      const body = {model, messages, tools, options: {temperature: 0}}
      if (!isStreamed) return (await ollama.chat(body)).message
      const reply: Message = {role: 'assistant', content: ''}
      for await (const {message} of await ollama.chat({...body, stream: true})) {
        reply.content += message.content
        if (message.tool_calls !== undefined) reply.tool_calls = [...(reply.tool_calls ?? []), ...message.tool_calls]
      }
      return reply
    }
    for (const isStreamed of [false, true])
      await answerOf(async () => {
        const messages: Message[] = [question]
        for (;;) {
          const message = await ask(messages, isStreamed)
          messages.push(message)
          if (message.tool_calls === undefined) return message.content
          for (const {function: called} of message.tool_calls)
            messages.push({role: 'tool', tool_name: called.name, content: run(called.arguments)})
        }
      })
  })

  it('finishes a loop with bindTools of LangChain', async () => {
    const weather = langchainTool(run, {name: 'get_weather', description, schema: input})
    const chat = new ChatOpenAI({model, apiKey: 'none', configuration: {baseURL}, temperature: 0, maxRetries: 0})
    const bound = chat.bindTools([weather])
    await answerOf(async () => {
      const call = await bound.invoke([new HumanMessage(question.content)])
      const results = await Promise.all(
        (call.tool_calls ?? []).map((each) => weather.invoke({...each, type: 'tool_call'})),
      )
      const answer = await bound.invoke([new HumanMessage(question.content), call, ...results])
      return answer.text
    })
  })

  it('finishes generateText and streamText of the AI SDK', async () => {
    const provider = createOpenAICompatible({name: 'svc', baseURL})
    const get_weather = tool({description, inputSchema: input, execute: run})
    const body = {
      ...{model: provider(model), prompt: question.content, tools: {get_weather}},
      ...{stopWhen: stepCountIs(4), temperature: 0, maxRetries: 0},
    }
    await answerOf(async () => {
      const {text, steps} = await generateText(body)
      assert.deepEqual(
        steps.map(({finishReason}) => finishReason),
        ['tool-calls', 'stop'],
      )
      return text
    })
    await answerOf(() => Promise.resolve(streamText(body).text))
  })
})
