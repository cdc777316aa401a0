import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {allSteps, bytesOfMarked, characterOfMark, compileInSteps} from '../../../src/grammar/index.js'
import type {GenerateEvent} from '../../../src/llm/index.js'
import {markedFormat, writeCalls} from '../../../src/llm/reply/call-format.js'
import {marked} from '../../../src/llm/reply/layout.js'
import {ReplyParser} from '../../../src/llm/reply/parser.js'
import {replyGrammar} from '../../../src/llm/reply/reply-grammar.js'
import {asTemplateTool, readStyle} from '../../../src/llm/reply/style.js'
import {storeTools, ToolChecks, toolReader} from '../../../src/llm/reply/tool-grammars.js'
import {type ChatMessage, ChatTemplate} from '../../../src/text/index.js'
import {projectFile} from '../../support/project.js'

const tools = [
  {
    name: 'get_weather',
    description: 'Returns the weather',
    parameters: {
      type: 'object',
      properties: {
        city: {type: 'string'},
        days: {type: 'integer', minimum: 0},
        units: {type: ['string', 'null']},
        hours: {type: 'array', items: {type: 'boolean'}},
      },
      required: ['city'],
    },
  },
  {name: 'clock', parameters: {type: 'object', properties: {}}},
]
const calls = [
  {name: 'get_weather', arguments: {city: 'L\'Aquila, "AQ" <b>\nItaly', days: 2, units: null, hours: [true, false]}},
  {name: 'clock', arguments: {}},
]

interface Family {
  name: string
  /** Path of the template; default: that with the name in this folder's fixtures. */
  file?: string
  specials?: readonly string[]
  /** Calls per reply. */
  most?: number
  /** What the model writes for the calls; the first call only, if there can be only one. */
  golden: string
  /** What the model writes if it thinks "Which city?"; undefined if the template has no thinking. */
  thinking?: string
}

const json = '{"city": "L\'Aquila, \\"AQ\\" <b>\\nItaly", "days": 2, "units": null, "hours": [true, false]}'
const inTags = 'L\'Aquila, "AQ" <b>\nItaly'

/** Families of models with templates after the published ones. */
const families: readonly Family[] = [
  {
    name: 'hermes',
    file: 'test/fixtures/jinja/templates/qwen3.jinja',
    thinking: '<think>\nWhich city?\n</think>\n\n',
    golden: `<tool_call>\n{"name": "get_weather", "arguments": ${json}}\n</tool_call>\n<tool_call>\n{"name": "clock", "arguments": {}}\n</tool_call>`,
  },
  {
    name: 'qwen-coder',
    golden:
      `<tool_call>\n<function=get_weather>\n<parameter=city>\n${inTags}\n</parameter>\n<parameter=days>\n2\n</parameter>\n` +
      '<parameter=units>\nnull\n</parameter>\n<parameter=hours>\n[true, false]\n</parameter>\n</function>\n</tool_call>\n' +
      '<tool_call>\n<function=clock>\n</function>\n</tool_call>',
  },
  {
    name: 'glm',
    thinking: '<think>Which city?</think>\n',
    specials: ['<tool_call>', '</tool_call>', '<arg_key>', '</arg_key>', '<arg_value>', '</arg_value>'],
    golden:
      `<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>${inTags}</arg_value>\n<arg_key>days</arg_key>\n` +
      '<arg_value>2</arg_value>\n<arg_key>units</arg_key>\n<arg_value>null</arg_value>\n<arg_key>hours</arg_key>\n' +
      '<arg_value>[true, false]</arg_value>\n</tool_call>\n<tool_call>clock\n</tool_call>',
  },
  {
    name: 'mistral-spaced',
    file: 'test/fixtures/calls/mistral.jinja',
    specials: ['[TOOL_CALLS]'],
    golden: `[TOOL_CALLS] [{"name": "get_weather", "arguments": ${json}}, {"name": "clock", "arguments": {}}]`,
  },
  {
    name: 'mistral-args',
    specials: ['[TOOL_CALLS]', '[ARGS]'],
    golden: `[TOOL_CALLS]get_weather[ARGS]${json}[TOOL_CALLS]clock[ARGS]{}`,
  },
  {
    name: 'lfm',
    specials: ['<|tool_call_start|>', '<|tool_call_end|>'],
    golden:
      '<|tool_call_start|>[get_weather(city="L\'Aquila, \\"AQ\\" <b>\\nItaly", days=2, units=None, hours=[True, False]), ' +
      'clock()]<|tool_call_end|>',
  },
  {
    name: 'functiongemma',
    specials: ['<start_function_call>', '<end_function_call>', '<escape>'],
    golden:
      `<start_function_call>call:get_weather{city:<escape>${inTags}<escape>,days:2,hours:[true,false],units:null}` +
      '<end_function_call><start_function_call>call:clock{}<end_function_call>',
  },
  {
    name: 'gemma-4',
    specials: ['<|tool_call>', '<tool_call|>', '<|"|>', '<|channel>', '<channel|>'],
    thinking: '<|channel>thought\nWhich city?\n<channel|>',
    golden:
      `<|tool_call>call:get_weather{city:<|"|>${inTags}<|"|>,days:2,hours:[true,false],units:null}<tool_call|>` +
      '<|tool_call>call:clock{}<tool_call|>',
  },
  {name: 'llama', most: 1, golden: `{"name": "get_weather", "parameters": ${json}}`},
  {
    name: 'harmony',
    thinking: '<|channel|>analysis<|message|>Which city?<|end|><|start|>assistant',
    specials: ['<|channel|>', '<|constrain|>', '<|message|>', '<|start|>', '<|end|>'],
    most: 1,
    golden: `<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>${json}`,
  },
]

const question: ChatMessage = {role: 'user', content: 'How is the weather?'}
const idOf = (i: number) => `call_abc${i}`

for (const {name, file = `test/fixtures/calls/${name}.jinja`, specials = [], most = 2, golden, thinking} of families)
  describe(`calls of the family ${name}`, async () => {
    const source = await readFile(projectFile(file), 'utf8')
    const template = new ChatTemplate(source, file, {bos_token: '<s>', eos_token: '</s>'})
    const style = readStyle(template, source)
    const characters = Object.fromEntries(specials.map((special, i) => [special, characterOfMark(i)]))
    const withMarks = (text: string) => marked(text, characters)
    const written = calls.slice(0, most)
    const messages: ChatMessage[] = [
      question,
      {
        role: 'assistant',
        content: null,
        tool_calls: written.map((call, i) => ({id: idOf(i), type: 'function', function: call})),
      },
      ...written.map((call, i) => ({role: 'tool' as const, content: 'x', name: call.name, tool_call_id: idOf(i)})),
    ]
    const format = markedFormat(style.calls, withMarks)
    const use = {tools, choice: 'auto', parallel: true} as const
    const reply = allSteps(
      replyGrammar({
        ...(style.thinking === undefined ? {} : {thinking: {...style.thinking, ...markedTags(style.thinking)}}),
        isThinking: false,
        content: withMarks(style.content),
        tags: [...(format.isFirst === true ? [] : [format.trigger])],
        calls: {format, use},
      }),
    )
    const stored = {format: style.calls.name, specials: characters, tools: storeTools(tools)}
    const grammar = allSteps(compileInSteps(reply, toolReader(stored)))
    const texts = allSteps(new ToolChecks().of(style.calls, tools))
    function markedTags({open, close}: {open: string; close: string}) {
      return {open: withMarks(open), close: withMarks(close)}
    }
    const layout = {
      specials: characters,
      ...(style.thinking === undefined ? {} : {thinking: style.thinking}),
      isThinking: false,
      content: style.content,
      calls: style.calls.name,
    }

    it('are found by what the template writes', () =>
      assert.deepEqual([style.calls.name, style.isNative], [name, true]))

    it('are written as the template writes them', () => {
      assert.equal(writeCalls(style.calls, written), golden)
      const rendered = template.render(messages, {}, tools.map(asTemplateTool))
      if (style.calls.rendered === undefined) assert.ok(rendered.includes(golden), rendered)
      assert.ok(rendered.includes('How is the weather?'))
    })

    it(thinking === undefined ? 'have no thinking before them' : 'may follow what the model thinks', () => {
      assert.equal(style.thinking === undefined, thinking === undefined)
      if (thinking === undefined) return
      const text = withMarks(thinking + golden)
      const matcher = grammar.matcher()
      assert.ok(matcher.accept(bytesOfMarked(text)) && matcher.isAccepting())
      const parser = new ReplyParser(layout, texts, () => 'id')
      const events = [...text].flatMap((letter, tokens) => parser.push({type: 'text', text: letter, tokens}))
      const thought = events.flatMap((event) => (event.type === 'thinking' ? [event.text] : []))
      assert.equal(thought.join(''), 'Which city?')
      assert.deepEqual(
        events.flatMap((event) => (event.type === 'call' ? [event.name] : [])),
        written.map((call) => call.name),
      )
      assert.ok(events.every(({type}) => type !== 'text'))
    })

    it('match the grammar, and no wrong ones do', () => {
      const accepts = (text: string) => {
        const matcher = grammar.matcher()
        return matcher.accept(bytesOfMarked(withMarks(text))) && matcher.isAccepting()
      }
      assert.ok(accepts(golden))
      assert.ok(!accepts(golden.replace('get_weather', 'get_whether')))
      assert.ok(!accepts(golden.replaceAll('city', 'town')))
      assert.ok(!accepts(golden.replace(/\b2\b/, '-2')))
      assert.ok(accepts(`${style.content}It rains.`))
    })

    for (const size of [1, 3, 1000])
      it(`are read from parts of ${size} characters`, () => {
        const before = style.calls.isFirst === true ? '' : 'I look.\n'
        const text = withMarks(before + golden)
        const parser = new ReplyParser(layout, texts, () => 'id')
        const events: GenerateEvent[] = []
        for (let at = 0; at < text.length; at += size)
          events.push(...parser.push({type: 'text', text: text.slice(at, at + size), tokens: at}))
        events.push(
          ...parser.push({
            ...{type: 'done', finishReason: 'stop', promptTokens: 1, cachedTokens: 0, completionTokens: 9, tokens: []},
            ...{queueMs: 0, prefillMs: 0, decodeMs: 0},
          }),
        )
        const found: {name: string; arguments: string; ended: boolean}[] = []
        let content = ''
        for (const event of events) {
          if (event.type === 'text') content += event.text
          if (event.type === 'call') found.push({name: event.name, arguments: '', ended: false})
          const last = found.at(-1)
          if (event.type === 'arguments' && last !== undefined) {
            last.arguments += event.text
            last.ended ||= event.isLast
          }
        }
        assert.equal(content, before.trimEnd())
        assert.deepEqual(
          found.map((call) => ({...call, arguments: JSON.parse(call.arguments) as object})),
          written.map((call) => ({...call, ended: true})),
        )
        const done = events.at(-1)
        assert.ok(done?.type === 'done' && done.finishReason === 'tool_calls')
      })
  })
