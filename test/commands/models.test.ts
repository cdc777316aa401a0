import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {readdir, readFile, symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {execa} from 'execa'
import {contractViolations, type ListV1, type PullV1, type RmV1, type ShowV1} from '../../src/contracts/index.js'
import {ggufOf} from '../support/gguf-model.js'
import {hubMachine, id, weights} from '../support/hub-machine.js'
import type {HubModel} from '../support/hub-server.js'
import {skipWithoutProgram} from '../support/programs.js'
import {environment, svcBinary} from '../support/svc.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {svcOnTerminal} from '../support/terminal.js'
import {tinyModelFiles, writeTinyModel} from '../support/tiny-model.js'

const others: Readonly<Record<string, HubModel>> = {
  'acme/whisper': {
    commit: 'b'.repeat(40),
    revisions: ['main'],
    files: {'config.json': '{"model_type": "whisper"}', 'tokenizer.json': '{}', [weights]: 'x', 'README.md': ''},
  },
  'acme/bert': {
    commit: 'c'.repeat(40),
    revisions: ['main'],
    files: {'config.json': '{"model_type": "bert"}', 'tokenizer.json': '{}', [weights]: 'x'},
  },
  'acme/gguf': {
    commit: 'd'.repeat(40),
    revisions: ['main'],
    files: {'llama-q4.gguf': 'x', 'llama-q8.gguf': 'x', 'mmproj-f16.gguf': 'x', 'README.md': ''},
  },
  'acme/pickled': {commit: 'd'.repeat(40), revisions: ['main'], files: {'pytorch_model.bin': 'x'}},
  'acme/sentencepiece': {
    commit: 'e'.repeat(40),
    revisions: ['main'],
    files: {'config.json': '{"model_type": "llama"}', 'tokenizer.model': 'x', [weights]: 'x'},
  },
  'ggerganov/whisper.cpp': {
    commit: 'f'.repeat(40),
    revisions: ['main'],
    files: {'ggml-tiny.en.bin': 'tiny', 'ggml-base.en.bin': 'base', 'README.md': 'not wanted'},
  },
}

/** A new machine with a hub that has these models. */
const machine = (t: TestContext, more: Readonly<Record<string, HubModel>> = {}) => hubMachine(t, {...others, ...more})

describe('svc pull', () => {
  it('downloads what a language model needs, and the other commands find it by its name', async (t) => {
    const {succeed, list, generate} = await machine(t)
    const pulled = JSON.parse(await succeed('pull', id, '--json')) as PullV1
    assert.deepEqual(await contractViolations('cli/pull.v1', pulled), [])
    assert.deepEqual([pulled.id, pulled.revision, pulled.kind], [id, 'main', 'language'])
    const texts = ['LICENSE', 'README.md', 'chat_template.jinja']
    const names = [...texts, 'config.json', weights, 'tokenizer.json', 'tokenizer_config.json']
    assert.deepEqual((await readdir(pulled.path)).sort(), names.sort())
    assert.equal(await succeed('pull', id), `${pulled.path}\n`)
    const [row, ...more] = await list()
    const bytes = pulled.files.reduce((sum, file) => sum + file.bytes, 0)
    assert.deepEqual([row?.name, row?.kind, row?.bytes, row?.path, more], [id, 'language', bytes, pulled.path, []])
    assert.notEqual(await generate(id), '')
  })

  it('downloads speech models, revisions and single files', async (t) => {
    const {succeed, list, generate, run} = await machine(t)
    const pull = async (name: string) => JSON.parse(await succeed('pull', name, '--json')) as PullV1
    assert.equal((await pull('acme/whisper')).kind, 'speech')
    assert.equal((await pull(`${id}@v1`)).revision, 'v1')
    const {kind, path} = await pull('ggerganov/whisper.cpp:ggml-tiny.en.bin')
    assert.deepEqual([kind, await readFile(path, 'utf8')], ['file', 'tiny'])
    assert.deepEqual(
      (await list()).map(({name, kind: each}) => [name, each]),
      [
        [`${id}@v1`, 'language'],
        ['acme/whisper', 'speech'],
        ['ggerganov/whisper.cpp:ggml-tiny.en.bin', 'speech'],
      ],
    )
    assert.notEqual(await generate(`${id}@v1`), '')
    const {stderr} = await run('generate', '--model', id, 'a')
    assert.match(stderr, /Model acme\/llama not found.*Run `svc pull acme\/llama`/s)
  })

  it('downloads GGUF files, and the other commands find them by their names', async (t) => {
    const source = await temporaryFolder(t)
    await writeTinyModel(source, {hiddenSize: 64})
    const files = {'a-q8_0.gguf': await ggufOf(source, {type: 'Q8_0'}), 'a-f16.gguf': 'x', 'README.md': ''}
    const published = {commit: '7'.repeat(40), revisions: ['main'], files}
    const {succeed, run, list, generate} = await machine(t, {'acme/tiny-gguf': published})
    const name = 'acme/tiny-gguf:a-q8_0.gguf'
    const {kind, path} = JSON.parse(await succeed('pull', name, '--json')) as PullV1
    assert.deepEqual([kind, await readFile(path)], ['file', files['a-q8_0.gguf']])
    const [row, ...more] = await list()
    assert.deepEqual([row?.name, row?.kind, row?.bytes, more], [name, 'language', files['a-q8_0.gguf'].length, []])
    assert.notEqual(await generate(name), '')
    const shown = JSON.parse(await succeed('show', name, '--json')) as ShowV1
    assert.deepEqual(await contractViolations('cli/show.v1', shown), [])
    assert.deepEqual([shown.family, shown.dtype, shown.problems], ['llama', 'Q8_0', []])
    const [most] = shown.types ?? []
    assert.equal(most?.type, 'Q8_0')
    assert.equal(most?.bytes, ((most?.weights ?? 0) / 32) * 34)
    assert.ok((most?.w8_error ?? 0) > 0.001 && (most?.w8_error ?? 1) < 0.02)
    assert.match(await succeed('model', 'check', name), /^types +Q8_0 .* MB.*\nw8 error +Q8_0 \d\.\d %/m)
    await succeed('rm', name, '--yes')
    assert.deepEqual(await list(), [])
    assert.match((await run('show', name)).stderr, /Model acme\/tiny-gguf:a-q8_0\.gguf not found/)
  })

  const refusals = {
    'a model of another family': ['acme/bert', /model type "bert", which is not supported; supported types: llama,/],
    'several GGUF models': ['acme/gguf', /contains several GGUF models:\n {2}acme\/gguf:llama-q4\.gguf\n.*q8\.gguf /],
    'a GGUF file that does not exist': [
      'acme/gguf:llama-q5.gguf',
      /no file llama-q5\.gguf.*did you mean llama-q4\.gguf/,
    ],
    'a model with PyTorch weights': ['acme/pickled', /has no safetensors weights, only PyTorch weights/],
    'a model without tokenizer.json': ['acme/sentencepiece', /has no tokenizer\.json, only a SentencePiece model/],
    'an unknown file': ['ggerganov/whisper.cpp:ggml-tin.en.bin', /has no file .*; did you mean ggml-tiny\.en\.bin\?/],
    'a name of Ollama': ['llama3.2:1b', /llama3\.2 does not exist.*Name the model as OWNER\/NAME; .*ollama:NAME/s],
    'an invalid name': ['../llama', /is not a valid model id/],
  } as const
  for (const [what, [name, reason]] of Object.entries(refusals))
    it(`refuses ${what} before anything is stored`, async (t) => {
      const {run, cwd} = await machine(t)
      const {stderr, exitCode} = await run('pull', name)
      assert.notEqual(exitCode, 0)
      assert.match(stderr, reason)
      assert.equal(existsSync(join(cwd, 'hf')), false)
    })

  it('uses the directory in Svc.toml, where the other commands find the model', async (t) => {
    const {cwd, succeed, generate, list} = await machine(t)
    await writeFile(join(cwd, 'Svc.toml'), '[speech]\ncache_dir = "models-here"\n')
    assert.match(await succeed('pull', id), /models-here/)
    assert.equal((await list())[0]?.name, id)
    assert.notEqual(await generate(id), '')
  })
})

describe('svc list', () => {
  it('names the command that downloads a model if there is none', async (t) => {
    const {succeed} = await machine(t)
    assert.match(await succeed('list'), /^No models\. Download one, as in `svc pull /)
  })

  it('lists the models of the workspace, and what other tools have downloaded', async (t) => {
    const {cwd, succeed, list} = await machine(t)
    await writeFiles(join(cwd, 'models/mine'), tinyModelFiles({}))
    await symlink('nowhere', join(cwd, 'models/mine/dangling'))
    await writeFiles(join(cwd, 'hf/hub/models--acme--bert'), {
      [`snapshots/${'c'.repeat(40)}/config.json`]: '{"model_type": "bert"}',
    })
    const models = await list()
    assert.deepEqual(
      models.map(({name, kind}) => [name, kind]),
      [
        ['./models/mine', 'language'],
        [`acme/bert@${'c'.repeat(40)}`, 'other'],
      ],
    )
    assert.deepEqual(await contractViolations('cli/list.v1', {folder: 'x', models}), [])
    assert.match(await succeed('list'), /^NAME +SIZE +KIND +AGE\n\.\/models\/mine +0\.\d MB +language +\d+s\n/)
  })

  it('lists more models than files that it may open', async (t) => {
    const cwd = await temporaryFolder(t)
    const names = Array.from({length: 300}, (_, i) => `m${i}`)
    const described = {'config.json': '{"model_type": "llama"}', [weights]: 'x'}
    const folders = names.flatMap((name) => [
      `models/${name}`,
      `hf/hub/models--acme--${name}/snapshots/${'d'.repeat(40)}`,
    ])
    const files = folders.flatMap((folder) =>
      Object.entries(described).map(([name, text]) => [`${folder}/${name}`, text]),
    )
    await writeFiles(cwd, {...Object.fromEntries(files), 'Svc.toml': ''})
    const script = 'ulimit -n 120 && exec "$0" "$@"'
    const {stdout} = await execa('sh', ['-c', script, process.execPath, svcBinary, 'list', '--json'], {
      cwd,
      env: environment({HF_HOME: join(cwd, 'hf')}),
      extendEnv: false,
    })
    const {models} = JSON.parse(stdout) as ListV1
    assert.equal(models.filter(({kind}) => kind === 'language').length, 600)
  })
})

describe('svc rm', () => {
  it('deletes a model only with --yes or an answer, and then all of it', async (t) => {
    const {run, succeed, list, repository} = await machine(t)
    await succeed('pull', id)
    const {exitCode, stderr} = await run('rm', id)
    assert.deepEqual(
      [exitCode, /The deletion of acme\/llama, 0\.\d MB in .* not confirmed/.test(stderr)],
      [2, true],
      stderr,
    )
    const [{path, bytes} = {path: '', bytes: 0}] = await list()
    const removed = JSON.parse(await succeed('rm', id, '--yes', '--json')) as RmV1
    assert.deepEqual(await contractViolations('cli/rm.v1', removed), [])
    assert.deepEqual(removed, {name: id, path, bytes})
    assert.equal(existsSync(repository), false)
    assert.equal((await run('rm', id, '--yes')).exitCode, 3)
  })

  it('keeps the files of another revision', async (t) => {
    const {model, succeed, list, generate, repository} = await machine(t)
    await succeed('pull', `${id}@v1`)
    const before = await generate(`${id}@v1`)
    Object.assign(model, {commit: 'b'.repeat(40), files: {...model.files, LICENSE: 'Another license\n'}})
    await succeed('pull', id)
    const freed = JSON.parse(await succeed('rm', id, '--yes', '--json')) as RmV1
    assert.equal(freed.bytes, 'Another license\n'.length)
    assert.deepEqual(
      (await list()).map(({name}) => name),
      [`${id}@v1`],
    )
    assert.equal(await generate(`${id}@v1`), before)
    assert.equal(existsSync(join(repository, 'refs/main')), false)
  })

  it('deletes one of two whisper.cpp files of a repository', async (t) => {
    const {succeed, list} = await machine(t)
    const [tiny, base] = ['tiny', 'base'].map((size) => `ggerganov/whisper.cpp:ggml-${size}.en.bin`) as [string, string]
    for (const name of [tiny, base]) await succeed('pull', name)
    await succeed('rm', tiny, '--yes')
    const left = await list()
    assert.deepEqual(
      left.map(({name}) => name),
      [base],
    )
    assert.equal(await readFile(left[0]?.path ?? '', 'utf8'), 'base')
    await succeed('rm', base, '--yes')
    assert.deepEqual(await list(), [])
  })

  it('refuses a directory that it has not downloaded', async (t) => {
    const {cwd, run} = await machine(t)
    await writeFiles(join(cwd, 'models/mine'), tinyModelFiles({}))
    const {exitCode, stderr} = await run('rm', './models/mine', '--yes')
    assert.deepEqual([exitCode, /was not downloaded by svc/.test(stderr)], [2, true], stderr)
    assert.ok(existsSync(join(cwd, 'models/mine/config.json')))
  })

  it('asks on a terminal', {skip: skipWithoutProgram('script')}, async (t) => {
    const {place, succeed, repository} = await machine(t)
    await succeed('pull', id)
    const answered = async (answer: string) => {
      const terminal = svcOnTerminal(t, ['rm', id], place)
      await terminal.shows(/Delete acme\/llama, 0\.\d MB in .*\? \[y\/N\] /s)
      terminal.type(`${answer}\r`)
      const {exitCode, output} = await terminal.ended
      assert.equal(exitCode, 0, output)
      return output
    }
    assert.match(await answered('n'), /Nothing was deleted\./)
    assert.ok(existsSync(repository))
    assert.match(await answered('y'), /Deleted acme\/llama/)
    assert.equal(existsSync(repository), false)
  })
})

describe('svc show and svc model check', () => {
  it('print what is known of a model without loading it', async (t) => {
    const {succeed} = await machine(t)
    await succeed('pull', id)
    const shown = JSON.parse(await succeed('show', id, '--json')) as ShowV1
    assert.deepEqual(await contractViolations('cli/show.v1', shown), [])
    const {name, kind, family, context_length: context, precision, capabilities, license, problems} = shown
    assert.deepEqual([name, kind, family, context, precision], [id, 'language', 'llama', 1024, 'f32'])
    assert.deepEqual([capabilities, license, problems], [['completion', 'chat', 'tools'], 'apache-2.0', []])
    assert.deepEqual(
      shown.precisions.map(({precision: each, bytes, fits}) => [each, bytes, fits]),
      [
        ['f32', 4 * (shown.parameters ?? 0), true],
        ['w8', shown.parameters, true],
        ['w4', Math.round(0.75 * (shown.parameters ?? 0)), true],
      ],
    )
    assert.match(await succeed('model', 'check', id), /^FACT +VALUE\nname +acme\/llama\n.*\nlicence +apache-2\.0\n/s)
    await succeed('pull', 'acme/whisper')
    const speech = JSON.parse(await succeed('show', 'acme/whisper', '--json')) as ShowV1
    assert.deepEqual(await contractViolations('cli/show.v1', speech), [])
    const bytes = '{"model_type": "whisper"}'.length + '{}'.length + 'x'.length
    assert.deepEqual([speech.kind, speech.family, speech.bytes], ['speech', 'whisper', bytes])
  })

  it('name everything that is not supported, and so does svc serve', async (t) => {
    const {cwd, run} = await machine(t)
    const files = tinyModelFiles({layout: 'single'})
    const config = {...JSON.parse(String(files['config.json'])), strange_key: 7, other_key: 'x', hidden_size: 64}
    await writeFiles(join(cwd, 'mine'), {...files, 'config.json': JSON.stringify(config)})
    const {stdout, exitCode} = await run('model', 'check', './mine', '--json')
    assert.equal(exitCode, 1)
    const {problems, capabilities} = JSON.parse(stdout) as ShowV1
    assert.deepEqual(
      problems.map(({code}) => code),
      ['model_config_unsupported', 'model_config_unsupported', 'tensor_shape'],
    )
    assert.deepEqual(capabilities, [])
    const refused = await run('serve', '--model', './mine', '--port', '0')
    assert.equal(refused.exitCode, 1)
    assert.match(
      refused.stderr,
      /result +cannot be run\n.*strange_key to 7.*other_key to "?x.*has shape .*error: .*strange_key/s,
    )
  })

  it('report a model of another family, and one that is not there', async (t) => {
    const {cwd, run} = await machine(t)
    await writeFiles(join(cwd, 'bert'), others['acme/bert']?.files as Record<string, string>)
    const {stdout, exitCode} = await run('model', 'check', './bert')
    assert.equal(exitCode, 1)
    assert.match(stdout, /safetensors|model type "bert"/)
    assert.equal((await run('show', 'acme/none')).exitCode, 3)
  })
})
