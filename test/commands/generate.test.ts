import assert from 'node:assert/strict'
import {join} from 'node:path'
import {after, before, describe, it} from 'node:test'
import {contractViolations, type GenerateV1} from '../../src/contracts/index.js'
import {type Engine, type GenerateRequest, loadLanguageModel, startEngine} from '../../src/llm/index.js'
import {defaultSampling} from '../../src/sampling/index.js'
import {sharedData, skipWithout} from '../support/project.js'
import {type SvcOptions, startSvc, svc} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, temporaryFolder, writeFiles} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

/** The greedy text that the model's author published. */
const published = `Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, she saw a big, red ball. She wanted to play with it, but it was too high.
Lily's mom said, "Lily, let's go to the park." Lily was sad and didn't know what to do. She said, "I want to play with your ball, but I can't find it."
Lily was sad and didn't know what to do. She said, "I'm sorry, Lily. I didn't know what to do."
Lily didn't want to help her mom, so she said, "I'm sorry, mom. I didn't know what to do." Her mom said, "Don't worry, Lily. We can help you.`

const greedy = {...defaultSampling, temperature: 0}
/** The models are so small that a second thread would only spin and keep a processor busy. */
const oneThread = ['--threads', '1']
const fromBeginning: GenerateRequest = {prompt: {kind: 'beginning'}, maxTokens: 100, stop: [], sampling: greedy}

/** Generates the text of a request, with a model in this thread or with an engine. */
async function textOf({generate}: Pick<Engine, 'generate'>, request: GenerateRequest): Promise<string> {
  let text = ''
  for await (const event of generate(request)) if (event.type === 'text') text += event.text
  return text
}

describe('a published model', {skip: skipWithout('stories260K')}, () => {
  const model = sharedData('stories260K') ?? ''
  const generate = (args: string[], options?: SvcOptions, run = svcInTurn) =>
    run(['generate', '--model', model, '--raw', '--temperature', '0', ...oneThread, ...args], options)
  let engine: Engine
  before(async () => {
    engine = await startEngine(model, {threads: 1, numCtx: 0})
  })
  after(() => engine.close())

  it('generates its published story exactly', async () => {
    const {stdout, stderr, exitCode} = await svc(['generate', '--model', model, '--raw', '--temperature', '0'])
    assert.equal(stdout.slice(0, published.length), published)
    assert.equal(stderr, '')
    assert.equal(exitCode, 0)
  })

  it('stops after --max-tokens, ends the line, and reads standard input only for -', async () => {
    const {stdout} = await generate(['--max-tokens', '40'], {input: 'Once upon a'})
    assert.equal(stdout, `${published.slice(0, published.indexOf('ed ball'))}\n`)
  })

  it('generates the same story through the library, in this thread and in an engine', async () => {
    const direct = await loadLanguageModel(model, {threads: 1, numCtx: 0})
    const texts = [await textOf(direct, fromBeginning), await textOf(engine, fromBeginning)]
    await direct.release()
    assert.ok(texts[0]?.length && published.startsWith(texts[0]), texts[0])
    assert.equal(texts[1], texts[0])
  })

  it('continues a prompt with a space between the words', async () => {
    const {stdout} = await generate(['--max-tokens', '6', 'Once upon a'])
    assert.match(stdout, /^ time, there was/)
  })

  it('reads the prompt from standard input without its trailing newline', async () => {
    const {stdout} = await generate(['--max-tokens', '6', '-'], {input: 'Once upon a\n'}, svc)
    assert.match(stdout, /^ time, there was/)
  })

  it('prints one JSON value with counts and timings', async () => {
    const {stdout, stderr} = await generate(['--max-tokens', '40', '--json', '--seed', '5'])
    const result = JSON.parse(stdout) as GenerateV1
    assert.deepEqual(await contractViolations('cli/generate.v1', result), [])
    const {timings, memory_bytes: memory, receipt, ...rest} = result
    assert.match(receipt ?? '', /^svc1:base=[0-9a-f]{32},adapter=none,precision=f32,.*,seed=5$/)
    assert.deepEqual(rest, {
      model: 'stories260K',
      precision: 'f32',
      text: published.slice(0, published.indexOf('ed ball')),
      finish_reason: 'length',
      seed: 5,
      prompt_tokens: 1,
      cached_tokens: 0,
      completion_tokens: 40,
    })
    for (const [name, value] of Object.entries({...timings, memory})) assert.ok(value !== null && value > 0, name)
    assert.equal(stderr, '')
  })

  it('prints the speed, the memory and the precision to standard error with --stats', async () => {
    const args = ['--max-tokens', '5', '--precision', 'w8', '--stats']
    const {stdout, stderr} = await generate([...args, 'Once upon a'])
    assert.equal(stdout, ' time, there was a\n')
    const figures = stderr
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/))
    assert.deepEqual(
      figures.map(([name]) => name),
      ['FIGURE', 'precision', 'load time', 'time to first token', 'prompt', 'reply', 'memory', 'weights F32'],
    )
    const values = Object.fromEntries(figures)
    assert.equal(values.precision, 'w8')
    assert.match(values.prompt, /^\d+ tokens \(0 cached\), [\d.]+ tokens\/s$/)
    assert.match(values.reply, /^5 tokens, [\d.]+ tokens\/s$/)
    assert.match(values.memory, /^\d+ MB$/)
    assert.match(values['weights F32'], /^\d\.\d MB, error 0\.\d\d %$/)
    const {stdout: json, stderr: silent} = await generate([...args, '--json'])
    assert.equal(silent, '')
    const [{type, bytes, error}] = JSON.parse(json).weights
    assert.deepEqual([type, bytes > 100_000, error > 0 && error < 0.01], ['F32', true, true])
  })

  it('stops before a stop sequence or at the context length, and reports the reason', async () => {
    const stopped = JSON.parse((await generate(['--json', '--stop', 'outside', '--stop', 'never'])).stdout)
    assert.equal(stopped.text, 'Once upon a time, there was a little girl named Lily. She loved to play ')
    assert.equal(stopped.finish_reason, 'stop')
    const full = await generate(['--json', '--num-ctx', '32'])
    const {finish_reason: reason, completion_tokens: tokens} = JSON.parse(full.stdout)
    assert.deepEqual([reason, tokens], ['length', 31])
  })

  it('samples the same text for the same seed, and a different one for another', async () => {
    const sample = (seed: number) =>
      textOf(engine, {...fromBeginning, maxTokens: 40, sampling: {...defaultSampling, seed}})
    const [first, again, other] = [await sample(11), await sample(11), await sample(12)]
    assert.equal(first, again)
    assert.notEqual(first, other)
    const args = ['--raw', '--seed', '11', '--max-tokens', '40', ...oneThread]
    assert.equal((await svcInTurn(['generate', '-m', model, ...args])).stdout, `${first}\n`)
  })

  it('sends the prompt unchanged without a chat template, and logs that once', async () => {
    const {stdout, stderr} = await svcInTurn([
      'generate',
      '-m',
      model,
      '--temperature',
      '0',
      '--max-tokens',
      '5',
      ...oneThread,
      '--stop',
      'END',
      'Once upon a',
    ])
    assert.match(stdout, /^ time/)
    assert.equal(stderr.match(/no chat template/g)?.length, 1)
  })

  it('reads settings from flags, the environment and Svc.toml, in this order', async (test) => {
    const folder = await temporaryFolder(test)
    await writeFiles(folder, {'Svc.toml': '[engine]\nmax_tokens = 3\ntemperature = 0.0\n'})
    const count = async (args: string[], env: Record<string, string> = {}) => {
      const {stdout} = await svcInTurn(['generate', '-m', model, '--raw', '--json', ...oneThread, ...args], {
        cwd: folder,
        env,
      })
      return JSON.parse(stdout).completion_tokens
    }
    assert.equal(await count([]), 3)
    assert.equal(await count([], {SVC_MAX_TOKENS: '4'}), 4)
    assert.equal(await count(['--max-tokens', '5'], {SVC_MAX_TOKENS: '4'}), 5)
  })
})

describe('a model that a user has trained', () => {
  const model = join(suiteFolder(), 'tiny')
  before(() => writeTinyModel(model, {layout: 'numbered', dtype: 'BF16', contextLength: 8192}))

  it('generates text and is named after its directory', async () => {
    const {stdout, exitCode} = await svcInTurn([
      'generate',
      '-m',
      `${model}/`,
      '--raw',
      '--json',
      '--max-tokens',
      '8',
      ...oneThread,
      'Hi',
    ])
    const {model: name, prompt_tokens: prompt, completion_tokens: tokens} = JSON.parse(stdout)
    assert.deepEqual([name, prompt, tokens, exitCode], ['tiny', 3, 8, 0])
  })

  it('is resolved relative to the folder of -C', async () => {
    const {exitCode} = await svcInTurn([
      'generate',
      '-C',
      join(model, '..'),
      '-m',
      'tiny',
      '--raw',
      '--max-tokens',
      '1',
      ...oneThread,
      'Hi',
    ])
    assert.equal(exitCode, 0)
  })

  it('receives the prompt through its chat template, except with --raw', async (test) => {
    const folder = await temporaryFolder(test)
    await writeTinyModel(folder)
    const template = '{{ bos_token }}[{{ messages[0].role }}]{{ messages[0].content }}'
    await writeFiles(folder, {'chat_template.jinja': template})
    const tokens = async (...args: string[]) =>
      JSON.parse(
        (await svcInTurn(['generate', '-m', folder, '--json', '--max-tokens', '1', ...oneThread, ...args])).stdout,
      ).prompt_tokens
    assert.equal(await tokens('Hi'), 1 + '[user]Hi'.length)
    assert.equal(await tokens('--raw', 'Hi'), 1 + 'Hi'.length)
    await writeFiles(folder, {'own.jinja': '{% for m in messages %}{{ m.role }}={{ m.content }};{% endfor %}'})
    const own = ['--chat-template', join(folder, 'own.jinja')]
    assert.equal(await tokens(...own, '--system', 'Be kind.', 'Hi'), 'system=Be kind.;user=Hi;'.length)
    assert.equal(await tokens('--chat-template', 'none', 'Hi'), 1 + 'Hi'.length)
    const {exitCode, stderr} = await svcInTurn(['generate', '-m', folder, '--chat-template', join(folder, 'x'), 'Hi'])
    assert.equal(exitCode, 3)
    assert.match(stderr, /x does not exist/)
  })

  it('prints text as it is generated, and stops when interrupted', async () => {
    const args = ['generate', '-m', model, '--raw', '--seed', '1', '--max-tokens', '8000', ...oneThread, 'Hi']
    const running = startSvc(args)
    running.stdout?.once('data', () => running.kill('SIGINT'))
    const {exitCode, stdout} = await running
    assert.equal(exitCode, 130)
    assert.notEqual(stdout, '')
  })
})

describe('an engine', () => {
  const model = suiteFolder()
  before(() => writeTinyModel(model, {contextLength: 8192}))
  const sampling = {...defaultSampling, temperature: 1}
  const endless: GenerateRequest = {prompt: {kind: 'raw', text: 'Hi'}, maxTokens: 8000, stop: [], sampling}
  let engine: Engine
  before(async () => {
    engine = await startEngine(model, {threads: 1, numCtx: 0})
  })
  after(() => engine.close())

  it('does not block the calling thread', async () => {
    let ticks = 0
    const clock = setInterval(() => ticks++, 5)
    for await (const event of engine.generate({...endless, maxTokens: 400})) assert.ok(event)
    clearInterval(clock)
    assert.ok(ticks > 0)
  })

  it('cancels a request whose signal aborts, and serves the next', async () => {
    const abort = new AbortController()
    let texts = 0
    const reason = new Error('enough')
    await assert.rejects(async () => {
      for await (const _ of engine.generate(endless, abort.signal)) if (++texts === 3) abort.abort(reason)
    }, reason)
    for await (const event of engine.generate({...endless, maxTokens: 2}))
      if (event.type === 'done') assert.equal(event.completionTokens, 2)
  })

  it('runs several requests at once with independent results', async () => {
    const text = (prompt: string) =>
      textOf(engine, {...endless, prompt: {kind: 'raw', text: prompt}, maxTokens: 40, sampling: greedy})
    const alone = [await text('one'), await text('two'), await text('three')]
    assert.deepEqual(await Promise.all([text('one'), text('two'), text('three')]), alone)
  })

  it('cancels running requests when it is closed', async () => {
    const engine = await startEngine(model, {threads: 1, numCtx: 0})
    const running = (async () => {
      for await (const _ of engine.generate(endless)) await engine.close()
    })()
    await assert.rejects(running, {code: 'interrupted'})
  })

  it('reports the same load error as a model in this thread', async () => {
    await assert.rejects(startEngine('/nowhere', {threads: 1, numCtx: 0}), {code: 'model_not_found'})
  })
})
