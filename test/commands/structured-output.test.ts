import assert from 'node:assert/strict'
import {after, before, describe, it} from 'node:test'
import {createOpenAICompatible} from '@ai-sdk/openai-compatible'
import {ChatOpenAI} from '@langchain/openai'
import {generateObject, generateText, Output, streamObject} from 'ai'
import {Ollama} from 'ollama'
import OpenAI, {BadRequestError} from 'openai'
import * as z from 'zod'
import {sharedData, skipWithout} from '../support/project.js'
import {type RunningServer, startServer} from '../support/server.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const model = 'stories260K'
const user = [{role: 'user' as const, content: 'Once upon a time'}]
const schema = {
  type: 'object',
  properties: {name: {type: 'string', maxLength: 10}, age: {type: 'integer', minimum: 0, maximum: 120}},
  required: ['name', 'age'],
  additionalProperties: false,
}

const person = z.object({name: z.string().max(10), age: z.int().min(0).max(120)})

function assertPerson(text: string | undefined = ''): void {
  const person = JSON.parse(text) as {name: string; age: number}
  assert.deepEqual(Object.keys(person), ['name', 'age'])
  assert.ok([...person.name].length <= 10, text)
  assert.ok(Number.isInteger(person.age) && person.age >= 0 && person.age <= 120, text)
}

describe('structured output', {skip: skipWithout('stories260K')}, () => {
  const folder = sharedData('stories260K') ?? ''
  let server: RunningServer
  let ollama: Ollama
  let openai: OpenAI
  before(async () => {
    server = await startServer(['--model', folder])
    ollama = new Ollama({host: server.baseUrl})
    openai = new OpenAI({baseURL: `${server.baseUrl}/v1`, apiKey: 'none', maxRetries: 0})
  })
  after(() => server?.stop())

  it('is a value of the schema to the Ollama client, streamed or not', async () => {
    const asked = {model, format: schema, options: {temperature: 1.5, num_predict: 200, seed: 4}}
    const {message, done_reason: reason} = await ollama.chat({...asked, messages: user})
    assert.equal(reason, 'stop')
    assertPerson(message.content)
    let streamed = ''
    for await (const part of await ollama.chat({...asked, messages: user, stream: true}))
      streamed += part.message.content
    assert.equal(streamed, message.content)
    assertPerson((await ollama.generate({...asked, prompt: 'Once'})).response)
  })

  it('is a JSON object to the Ollama client with the format json', async () => {
    const {response = '', done_reason: reason} = await ollama.generate({
      model,
      prompt: 'Once',
      format: 'json',
      options: {temperature: 0, num_predict: 400, top_k: 5},
    })
    if (reason === 'stop') assert.equal(typeof JSON.parse(response), 'object')
    assert.match(response, /^\s*\{/)
  })

  it('is a value of the schema to the OpenAI client, in all choices, streamed or not', async () => {
    const format = {type: 'json_schema', json_schema: {name: 'person', strict: true, schema}} as const
    const asked = {model, messages: user, response_format: format, temperature: 1.5, max_tokens: 200, n: 3, seed: 7}
    const {choices} = await openai.chat.completions.create(asked)
    assert.equal(choices.length, 3)
    for (const {message, finish_reason: reason} of choices) {
      assert.equal(reason, 'stop')
      assertPerson(message.content ?? '')
    }
    const streamed = choices.map(() => '')
    for await (const part of await openai.chat.completions.create({...asked, stream: true}))
      for (const {index, delta} of part.choices) streamed[index] += delta.content ?? ''
    assert.deepEqual(
      streamed,
      choices.map(({message}) => message.content),
    )
  })

  it('is a value of the schema to withStructuredOutput of LangChain, from JSON Schema and Zod', async () => {
    const chat = new ChatOpenAI({
      model,
      apiKey: 'none',
      configuration: {baseURL: `${server.baseUrl}/v1`},
      temperature: 1.5,
      maxTokens: 200,
      maxRetries: 0,
    })
    for (const each of [schema, person])
      for (const method of ['jsonSchema', undefined] as const) {
        const structured = chat.withStructuredOutput<object>(each, {
          name: 'person',
          strict: true,
          ...(method && {method}),
        })
        assertPerson(JSON.stringify(await structured.invoke('Once upon a time')))
      }
  })

  it('is a value of the schema to generateObject, streamObject and Output of the AI SDK', async () => {
    const provider = createOpenAICompatible({
      name: 'svc',
      baseURL: `${server.baseUrl}/v1`,
      supportsStructuredOutputs: true,
    })
    const asked = {model: provider(model), prompt: 'Once', temperature: 1.5, maxOutputTokens: 200, maxRetries: 0}
    const {object, finishReason} = await generateObject({...asked, schema: person})
    assert.equal(finishReason, 'stop')
    assertPerson(JSON.stringify(object))
    const streamed = streamObject({...asked, schema: person})
    let last: unknown
    for await (const part of streamed.partialObjectStream) last = part
    assertPerson(JSON.stringify(last))
    assert.deepEqual(await streamed.object, last)
    const {output} = await generateText({...asked, output: Output.object({schema: person})})
    assertPerson(JSON.stringify(output))
    const choice = await generateText({...asked, output: Output.choice({options: ['north', 'south']})})
    assert.match(choice.output, /^(north|south)$/)
  })

  it('matches the fields of vLLM and llama.cpp', async () => {
    const fields: readonly [object, RegExp][] = [
      [{guided_choice: ['north', 'south']}, /^(north|south)$/],
      [{guided_regex: '[a-c]{3}\\d'}, /^[a-c]{3}\d$/],
      [{structured_outputs: {regex: '[x-z]+'}}, /^[x-z]+$/],
      [{structured_outputs: {json: {type: 'boolean'}}}, /^(true|false)$/],
      [{guided_grammar: 'start: "a" B\nB: /[0-9]/'}, /^a[0-9]$/],
      [{grammar: 'root ::= "yes" | "no"'}, /^(yes|no)$/],
      [{json_schema: {enum: ['a', null]}}, /^("a"|null)$/],
    ]
    for (const [field, expected] of fields) {
      const asked = {model, prompt: 'Once', max_tokens: 20, temperature: 1.5, ...field}
      const {choices} = await openai.completions.create(asked)
      assert.match(choices[0]?.text ?? '', expected, JSON.stringify(field))
    }
  })

  it('is refused with the field, the keyword and its place', async () => {
    const response_format = {
      type: 'json_schema',
      json_schema: {name: 'x', schema: {type: 'array', items: {type: 'string'}, uniqueItems: true}},
    } as const
    for (const stream of [false, true])
      await assert.rejects(
        openai.chat.completions.create({model, messages: user, response_format, stream}),
        (error) => {
          assert.ok(error instanceof BadRequestError)
          assert.deepEqual([error.param, error.code], ['response_format', 'unsupported_value'])
          assert.match(error.message, /uniqueItems at #\/uniqueItems cannot be enforced/)
          return true
        },
      )
    await assert.rejects(
      ollama.chat({model, messages: user, format: {type: 'strange'}}),
      /The schema is invalid: type at #/,
    )
  })

  it('is what the flags of svc generate state', async (t) => {
    const cwd = await temporaryFolder(t)
    await writeFiles(cwd, {
      'person.json': JSON.stringify(schema),
      'answer.gbnf': 'root ::= "yes" | "no"',
      'bad.json': '{',
    })
    const generate = (args: readonly string[], input?: string) =>
      svcInTurn(['generate', '--model', folder, '--seed', '3', '--temperature', '1.5', ...args], {
        cwd,
        ...(input === undefined ? {} : {input}),
      })
    assertPerson((await generate(['--schema', 'person.json', 'Once'])).stdout)
    assertPerson((await generate(['--schema', '-', 'Once'], JSON.stringify(schema))).stdout)
    assert.match((await generate(['--regex', '[a-c]{3}', 'Once'])).stdout, /^[a-c]{3}\n$/)
    assert.match((await generate(['--choice', 'up,down', 'Once'])).stdout, /^(up|down)\n$/)
    assert.match((await generate(['--grammar', 'answer.gbnf', 'Once'])).stdout, /^(yes|no)\n$/)
    const failures: readonly [readonly string[], number, RegExp][] = [
      [['--schema', 'bad.json', 'Once'], 1, /Cannot parse bad.json/],
      [['--schema', '-', '-'], 2, /Standard input can be only one of/],
      [['--regex', 'a', '--choice', 'b', 'Once'], 2, /--choice/],
      [['--regex', '(a)\\1', 'Once'], 2, /cannot be enforced/],
    ]
    for (const [args, status, message] of failures) {
      const {exitCode, stderr} = await generate(args, '')
      assert.equal(exitCode, status, stderr)
      assert.match(stderr, message)
    }
  })
})
