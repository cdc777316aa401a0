import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {before, describe, it, type TestContext} from 'node:test'
import {contractViolations, type RunV1} from '../../src/contracts/index.js'
import {startHub} from '../support/hub-server.js'
import {skipWithoutProgram} from '../support/programs.js'
import {projectFile} from '../support/project.js'
import {startServer} from '../support/server.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, temporaryFolder, writeFiles} from '../support/temporary.js'
import {svcOnTerminal} from '../support/terminal.js'
import {tinyModelFiles} from '../support/tiny-model.js'

const guide = projectFile('examples/runs/guide')
const answer =
  'svc runs AI on your own machine: speech to text, language models and more, as small commands for the shell.'

/** Writes what was asked and replied, with a line per message. */
const template = `{% for m in messages %}{{ m.role[0] }}:{{ m.content }}
{% endfor %}{% if add_generation_prompt %}a:{% endif %}`

const folder = suiteFolder()
before(async () => {
  const files = tinyModelFiles({contextLength: 8192})
  await writeFiles(folder, Object.fromEntries(Object.entries(files).map(([name, text]) => [`plain/${name}`, text])))
  await writeFiles(folder, Object.fromEntries(Object.entries(files).map(([name, text]) => [`tiny/${name}`, text])))
  await writeFiles(folder, Object.fromEntries(Object.entries(files).map(([name, text]) => [`thinker/${name}`, text])))
  await writeFiles(folder, {
    'tiny/chat_template.jinja': template,
    'brief/svc.model.toml': 'from = "../tiny"\nsystem = "Be brief."\n[parameters]\nnum_predict = 3\nseed = 1\n',
    'thinker/chat_template.jinja': `${template}{% if add_generation_prompt %}<think>\n{% endif %}{# </think> #}`,
  })
})

const eventsOf = (stdout: string) =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as RunV1)

describe('svc run with a prompt', () => {
  const run = (args: readonly string[], input = '') =>
    svcInTurn(['run', ...args], {cwd: folder, input, env: {HOME: folder, SVC_THREADS: '1'}})

  it('prints one reply, of an argument or of standard input', async () => {
    const given = await run([guide, 'What is svc?', '--temperature', '0'])
    assert.deepEqual(given, {stdout: `${answer}\n`, stderr: '', exitCode: 0})
    assert.equal((await run([guide, '--temperature', '0'], 'What is svc?\n')).stdout, given.stdout)
    const empty = await run([guide], '\n')
    assert.deepEqual([empty.exitCode, empty.stderr.includes('Missing prompt.')], [2, true])
  })

  it('prints events as lines of JSON', async () => {
    const {stdout} = await run([guide, 'What is svc?', '--temperature', '0', '--json'])
    const events = eventsOf(stdout)
    for (const event of events) assert.deepEqual(await contractViolations('cli/run.v1', event), [])
    assert.equal(events.flatMap(({event, text}) => (event === 'text' ? [text] : [])).join(''), answer)
    const {event, finish_reason: reason, cached_tokens: cached} = events.at(-1) as RunV1
    assert.deepEqual([event, reason, cached], ['done', 'stop', 0])
  })

  it('hides what the model thinks, unless it is asked for', async () => {
    const args = ['thinker', 'Hi', '--seed', '1', '--max-tokens', '5']
    const hidden = await run(args)
    assert.deepEqual(hidden, {
      stdout: '\n',
      stderr: 'notice: The reply is truncated after 5 tokens.\n',
      exitCode: 0,
    })
    const shown = await run([...args, '--show-thinking'])
    assert.equal(shown.stdout, '\n')
    assert.ok(shown.stderr.length > hidden.stderr.length, shown.stderr)
    assert.ok(shown.stderr.endsWith(`\n\n${hidden.stderr}`), shown.stderr)
    const generated = ['generate', '-m', 'thinker', 'Hi', '--seed', '1', '--max-tokens', '5', '--threads', '1']
    const other = await svcInTurn([...generated, '--show-thinking'], {cwd: folder})
    assert.equal(shown.stderr, `${other.stderr}${hidden.stderr}`)
    const refused = await run(['tiny', 'Hi', '--think'])
    assert.match(refused.stderr, /The model tiny does not think/)
    assert.equal(refused.exitCode, 2)
  })

  it('uses the defaults of the model, which parameters precede', async () => {
    const counts = async (...args: string[]) => {
      const done = eventsOf((await run(['brief', 'Hi', '--json', ...args])).stdout).at(-1)
      return [done?.prompt_tokens, done?.completion_tokens]
    }
    const generated = await svcInTurn(['generate', '-m', 'brief', '--json', 'Hi'], {cwd: folder})
    const {prompt_tokens: prompt, completion_tokens: reply, text} = JSON.parse(generated.stdout)
    assert.deepEqual(await counts(), [prompt, 3])
    assert.equal(reply, 3)
    assert.equal((await run(['brief', 'Hi'])).stdout.trimEnd(), text.trimEnd())
    assert.deepEqual(await counts('--max-tokens', '2'), [prompt, 2])
    assert.deepEqual(await counts('--set', 'num_predict=1', '--system', 'No.'), [prompt - 'Be brief.'.length + 3, 1])
    const refused = await run(['brief', 'Hi', '--set', 'num_ctx=5'])
    assert.match(refused.stderr, /--set: use --num-ctx for the context length\./)
  })

  it('continues plain text without a chat template, and says so', async () => {
    const args = ['Once', '--temperature', '0', '--max-tokens', '8']
    const {stdout, stderr} = await run(['plain', ...args])
    assert.match(stderr, /notice: plain has no chat template; it continues the conversation as plain text\./)
    const generated = await svcInTurn(['generate', '-m', 'plain', '--raw', '--threads', '1', ...args], {cwd: folder})
    assert.equal(stdout, generated.stdout)
  })

  it('uses a server', async (t) => {
    const server = await startServer(['--model', guide])
    t.after(() => server.stop())
    const args = ['--server', server.baseUrl, '--temperature', '0']
    assert.equal((await run(args, 'What is svc?')).stdout, `${answer}\n`)
    const [done] = eventsOf((await run(['guide', 'What is svc?', ...args, '--json'])).stdout).reverse()
    assert.deepEqual([done?.model, done?.finish_reason], ['guide', 'stop'])
    const refused = await run(['guide', 'Hi', ...args, '--think'])
    assert.match(refused.stderr, /does not support thinking/)
    const hosted = await svcInTurn(['run', 'guide', 'Hi', ...args, '--seed', '1'], {
      cwd: folder,
      env: {SVC_INFERENCE_PROFILE: 'cloud_openai_compatible'},
    })
    assert.match(hosted.stderr, /does not accept seed by the OpenAI API/)
    const named = await svcInTurn(['run', 'guide', 'What is svc?', ...args], {
      cwd: folder,
      env: {SVC_INFERENCE_PROFILE: 'cloud_openai_compatible'},
    })
    assert.equal(named.stdout, `${answer}\n`)
  })
})

describe('svc run with a model that is not on this machine', () => {
  const id = 'acme/llama'
  const machine = async (t: TestContext) => {
    const files = {...tinyModelFiles({layout: 'single'}), 'chat_template.jinja': template}
    const hub = await startHub(t, {
      [id]: {commit: 'a'.repeat(40), revisions: ['main'], files, large: ['model.safetensors']},
      'acme/whisper': {
        commit: 'b'.repeat(40),
        revisions: ['main'],
        files: {'config.json': '{"model_type": "whisper"}', 'tokenizer.json': '{}', 'model.safetensors': 'x'},
      },
    })
    const cwd = await temporaryFolder(t)
    const env = {HOME: cwd, HF_HOME: join(cwd, 'hf'), HF_ENDPOINT: hub.endpoint, SVC_THREADS: '1'}
    const run = (...args: string[]) => svcInTurn(['run', ...args], {cwd, env})
    return {hub, cwd, env, run, repository: join(cwd, 'hf/hub/models--acme--llama')}
  }
  const args = [id, 'Hi', '--max-tokens', '2']

  it('downloads it only if that is confirmed', async (t) => {
    const {hub, run, repository} = await machine(t)
    const refused = await run(...args)
    assert.match(refused.stderr, /The download of acme\/llama, 0\.\d MB, was not confirmed\..*--yes/s)
    assert.deepEqual([refused.exitCode, existsSync(repository)], [2, false])
    const offline = await run(...args, '--yes', '--offline')
    assert.match(offline.stderr, /acme\/llama is not in the local cache, and --offline disables downloads/)
    const speech = await run('acme/whisper', 'Hi', '--yes')
    assert.match(speech.stderr, /whisper/)
    assert.equal(speech.exitCode, 1, speech.stderr)
    const {stderr, exitCode} = await run(...args, '--yes')
    assert.match(stderr, /Downloading acme\/llama, 0\.\d MB\./)
    assert.equal(exitCode, 0, stderr)
    const requests = hub.requests.length
    assert.equal((await run(...args)).exitCode, 0)
    assert.equal(hub.requests.length, requests)
  })

  it('asks on a terminal', {skip: skipWithoutProgram('script')}, async (t) => {
    const {cwd, env, repository} = await machine(t)
    for (const [typed, isDownloaded] of [
      ['n', false],
      ['y', true],
    ] as const) {
      const terminal = svcOnTerminal(t, ['run', ...args], {cwd, env, columns: 120})
      await terminal.shows(/acme\/llama is not on this machine\. Download it, 0\.\d MB\? \[y\/N\] /)
      terminal.type(`${typed}\r`)
      const {exitCode, output} = await terminal.ended
      assert.deepEqual([exitCode, existsSync(repository)], [isDownloaded ? 0 : 2, isDownloaded], output)
    }
  })
})
