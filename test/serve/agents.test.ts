import assert from 'node:assert/strict'
import {after, before, describe, it} from 'node:test'
import {createAnthropic} from '@ai-sdk/anthropic'
import {createOpenAI} from '@ai-sdk/openai'
import {createOpenAICompatible} from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import {HumanMessage} from '@langchain/core/messages'
import {tool as langchainTool} from '@langchain/core/tools'
import {ChatOpenAI} from '@langchain/openai'
import {generateText, stepCountIs, streamText, tool} from 'ai'
import {type Message, Ollama} from 'ollama'
import OpenAI from 'openai'
import * as z from 'zod'
import {writeAgentModel} from '../support/agent-model.js'
import {type RunningServer, startServer} from '../support/server.js'
import {suiteFolder} from '../support/temporary.js'

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
    await writeAgentModel(folder)
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

  it('finishes a loop over responses of the OpenAI client, streamed or not', async () => {
    const openai = new OpenAI({baseURL, apiKey: 'none', maxRetries: 0})
    const tools = [{type: 'function' as const, name: 'get_weather', description, parameters, strict: false}]
    for (const isStreamed of [false, true])
      await answerOf(async () => {
        const input: OpenAI.Responses.ResponseInput = [question]
        for (;;) {
          const body = {model, input, tools, store: false}
          const response = isStreamed
            ? await openai.responses.stream(body).finalResponse()
            : await openai.responses.create(body)
          assert.equal(response.status, 'completed')
          const calls = response.output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
          if (calls.length === 0) return response.output_text
          for (const call of calls)
            input.push(call, {
              type: 'function_call_output',
              call_id: call.call_id,
              output: run(JSON.parse(call.arguments)),
            })
        }
      })
  })

  it('finishes a loop of the Anthropic client, streamed or not', async () => {
    const anthropic = new Anthropic({baseURL: server.baseUrl, apiKey: 'none', maxRetries: 0})
    const tools = [{name: 'get_weather', description, input_schema: {...parameters, type: 'object' as const}}]
    for (const isStreamed of [false, true])
      await answerOf(async () => {
        const messages: Anthropic.MessageParam[] = [question]
        for (;;) {
          const body = {model, messages, tools, max_tokens: 200}
          const message = isStreamed
            ? await anthropic.messages.stream(body).finalMessage()
            : await anthropic.messages.create(body)
          const calls = message.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []))
          assert.equal(message.stop_reason, calls.length === 0 ? 'end_turn' : 'tool_use')
          if (calls.length === 0)
            return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
          messages.push({role: 'assistant', content: message.content})
          messages.push({
            role: 'user',
            content: calls.map(({id, input: args}) => ({type: 'tool_result', tool_use_id: id, content: run(args)})),
          })
        }
      })
  })

  for (const useResponsesApi of [false, true])
    it(`finishes a loop with bindTools of LangChain, ${useResponsesApi ? 'with' : 'without'} responses`, async () => {
      const weather = langchainTool(run, {name: 'get_weather', description, schema: input})
      const configuration = {baseURL}
      const chat = new ChatOpenAI({
        model,
        apiKey: 'none',
        configuration,
        temperature: 0,
        maxRetries: 0,
        useResponsesApi,
      })
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

  const providers = {
    'chat completions': () => createOpenAICompatible({name: 'svc', baseURL})(model),
    responses: () => createOpenAI({baseURL, apiKey: 'none'}).responses(model),
    messages: () => createAnthropic({baseURL, apiKey: 'none'})(model),
  }
  for (const [name, provider] of Object.entries(providers))
    it(`finishes generateText and streamText of the AI SDK with ${name}`, async () => {
      const get_weather = tool({description, inputSchema: input, execute: run})
      const body = {
        ...{model: provider(), prompt: question.content, tools: {get_weather}},
        ...{stopWhen: stepCountIs(4), temperature: 0, maxRetries: 0, maxOutputTokens: 200},
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
