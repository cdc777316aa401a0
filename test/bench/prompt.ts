import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {pathToFileURL} from 'node:url'
import {median, round} from '../../src/bench/measure.js'
import {type ChatMessage, ChatTemplate, createTokenizer} from '../../src/text/index.js'
import {projectFile} from '../support/project.js'

/** The modules that encode prompts, of this build or another one. */
interface Build {
  text: {ChatTemplate: typeof ChatTemplate; createTokenizer: typeof createTokenizer}
  prompt: typeof import('../../src/llm/prompt.js')
}

const messageCount = 200
const rounds = 15

/** Two templates of families in one; conversations of this benchmark use the second. */
async function longTemplate(): Promise<string> {
  const [short, long] = await Promise.all(
    ['llama', 'qwen3'].map((name) => readFile(projectFile(`test/fixtures/jinja/templates/${name}.jinja`), 'utf8')),
  )
  return `{%- if messages|length < 2 %}\n${short}{%- else %}\n${long}{%- endif %}\n`
}

const conversation: readonly ChatMessage[] = Array.from({length: messageCount}, (_, i) => ({
  role: i % 2 === 0 ? 'user' : 'assistant',
  content: `Question ${i}: how do I list the files of a directory?\n\n    ls -la /tmp/${i}\n\nIt prints "total ${i * 7}" first.`,
}))

async function measurer({text, prompt}: Build): Promise<() => {render: number; encode: number}> {
  const folder = projectFile('examples/runs/guide')
  const json = async (file: string) => JSON.parse(await readFile(join(folder, file), 'utf8'))
  const tokenizer = text.createTokenizer(await json('tokenizer.json'), await json('tokenizer_config.json'), folder)
  const template = new text.ChatTemplate(await longTemplate(), 'template')
  const encoder = {tokenizer, template, contextLength: 1_000_000}
  return () => {
    const started = performance.now()
    template.render(conversation)
    const rendered = performance.now()
    prompt.encodePrompt(encoder, {kind: 'chat', messages: conversation, overflow: 'refuse'})
    return {render: rendered - started, encode: performance.now() - rendered}
  }
}

/**
 * Time from a chat of 200 messages to its tokens, with a template of more than 150 lines. `SVC_BENCH_BASE`, the `dist/` of another
 * build, is measured in alternation.
 */
export async function prompt() {
  const base = process.env.SVC_BENCH_BASE
  const load = async (file: string) => import(base === undefined ? file : pathToFileURL(join(base, 'src', file)).href)
  const own: Build = {text: {ChatTemplate, createTokenizer}, prompt: await import('../../src/llm/prompt.js')}
  const builds = [
    own,
    ...(base === undefined ? [] : [{text: await load('text/index.js'), prompt: await load('llm/prompt.js')}]),
  ]
  const measurers = await Promise.all(builds.map(measurer))
  const times = measurers.map(() => ({render: [] as number[], encode: [] as number[]}))
  for (let i = 0; i < rounds; i++)
    for (const [at, measure] of measurers.entries()) {
      const {render, encode} = measure()
      times[at]?.render.push(render)
      times[at]?.encode.push(encode)
    }
  const [now, before] = times.map(({render, encode}) => ({render: median(render), encode: median(encode)}))
  if (now === undefined) throw new Error('There is no build.')
  return {
    messages: messageCount,
    render_ms: round(now.render, 2),
    encode_ms: round(now.encode, 2),
    ...(before === undefined
      ? {}
      : {
          base_render_ms: round(before.render, 2),
          base_encode_ms: round(before.encode, 2),
          ratio: round(now.encode / before.encode, 2),
        }),
  }
}
