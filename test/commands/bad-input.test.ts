import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it, type TestContext} from 'node:test'
import {type CliErrorV1, contractViolations} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'
import {loadLanguageModel} from '../../src/llm/index.js'
import {lfsPointer, safetensorsFile, withHeader} from '../support/safetensors-file.js'
import {type SvcOptions, startSvc, svc, svcBinary} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, temporaryFolder, writeFiles} from '../support/temporary.js'
import {tinyAdapterFiles, tinyConfig, tinyModel, tinyModelFiles, writeTinyModel} from '../support/tiny-model.js'

/** An invalid input and the expected error: code, exit status and message. */
interface BadInput {
  /** Files that differ from those of a valid model; undefined removes one. */
  files?: Record<string, string | Uint8Array | undefined>
  args?: string[]
  options?: SvcOptions
  code: string
  exit: number
  message: RegExp
}

const header = (changes: object) =>
  withHeader(
    JSON.stringify({'model.embed_tokens.weight': {dtype: 'F32', shape: [2], data_offsets: [0, 8], ...changes}}),
    new Uint8Array(8),
  )
const single = (bytes: Uint8Array) => ({
  'model.safetensors.index.json': undefined,
  'model-00001-of-00002.safetensors': undefined,
  'model-00002-of-00002.safetensors': undefined,
  'model.safetensors': bytes,
})
const config = (changes: object) => ({'config.json': JSON.stringify({...tinyConfig(tinyModel), ...changes})})
const endlessHeader = () => {
  const bytes = Buffer.alloc(32)
  bytes.writeBigUInt64LE(2n ** 60n)
  return bytes
}
const shard = 'model-00001-of-00002.safetensors'
const valid = tinyModelFiles()
const cutShard = () => {
  const bytes = valid[shard] as Uint8Array
  return bytes.subarray(0, bytes.length - 100)
}

/** Files of models and adapters of which only Git LFS pointers may be in a directory. */
const tracked = [
  ...['config.json', 'tokenizer.json', 'tokenizer_config.json', 'special_tokens_map.json', 'generation_config.json'],
  ...['chat_template.jinja', 'model.safetensors.index.json', shard, 'merged.safetensors'],
  ...['adapter_model.safetensors', 'adapter_config.json'],
]
const pointers = tracked.map((file): [string, BadInput] => [
  `${file} that is a Git LFS pointer`,
  {
    files: {...(file.startsWith('adapter') ? tinyAdapterFiles({}, {form: 'peft'}) : {}), [file]: lfsPointer(4321)},
    code: 'lfs_pointer',
    exit: 1,
    message: new RegExp(`${file} is only a Git LFS pointer to a file of 4321 bytes`),
  },
])

/** Invalid model directories. These are loaded through the library, which is faster than a command line. */
const models: Record<string, BadInput> = {
  'a header that is too long': {
    files: single(endlessHeader()),
    code: 'safetensors_invalid',
    exit: 1,
    message: /maximum is 100000000/,
  },
  'offsets out of range': {
    files: single(header({data_offsets: [8, 16]})),
    code: 'safetensors_invalid',
    exit: 1,
    message: /byte range 8 to 16, but the data has 8/,
  },
  'tensors that overlap': {
    files: single(
      withHeader(
        JSON.stringify({
          a: {dtype: 'F32', shape: [2], data_offsets: [0, 8]},
          b: {dtype: 'F32', shape: [1], data_offsets: [4, 8]},
        }),
        new Uint8Array(8),
      ),
    ),
    code: 'safetensors_invalid',
    exit: 1,
    message: /a and b overlap/,
  },
  'an unknown dtype': {
    files: single(header({dtype: 'F99'})),
    code: 'tensor_dtype',
    exit: 1,
    message: /model\.embed_tokens\.weight .* F99; supported dtypes: F32/,
  },
  'an unsupported dtype': {
    files: single(header({dtype: 'I32'})),
    code: 'tensor_dtype',
    exit: 1,
    message: /model\.embed_tokens\.weight .* I32/,
  },
  'a length that does not match shape and dtype': {
    files: single(header({shape: [3]})),
    code: 'safetensors_invalid',
    exit: 1,
    message: /has 8 bytes, .* need 12/,
  },
  'a shape that does not match the configuration': {
    files: config({hidden_size: 64}),
    code: 'tensor_shape',
    exit: 1,
    message: /has shape \[\d+.*\]; config\.json requires \[.*\]/,
  },
  'a missing tensor': {
    files: config({num_hidden_layers: 3}),
    code: 'tensor_missing',
    exit: 1,
    message: /model\.layers\.2/,
  },
  'a missing shard': {files: {[shard]: undefined}, code: 'shard_missing', exit: 3, message: new RegExp(shard)},
  'a missing tokenizer': {
    files: {'tokenizer.json': undefined},
    code: 'model_file_missing',
    exit: 3,
    message: /tokenizer\.json/,
  },
  'a config that is not JSON': {
    files: {'config.json': '{"model_type": '},
    code: 'model_file_invalid',
    exit: 1,
    message: /config\.json/,
  },
  'an invalid tokenizer': {
    files: {'tokenizer.json': '{"model": {"type": "Magic"}}'},
    code: 'model_file_invalid',
    exit: 1,
    message: /tokenizer\.json/,
  },
  'an unknown family': {
    files: config({model_type: 'mamba'}),
    code: 'model_family_unknown',
    exit: 1,
    message: /"mamba"/,
  },
  'an unknown rope scaling': {
    files: config({rope_scaling: {rope_type: 'ntk', factor: 4}}),
    code: 'model_config_unsupported',
    exit: 1,
    message: /rope_type to "ntk"/,
  },
  'an unsupported activation': {
    files: config({hidden_act: 'relu'}),
    code: 'model_config_unsupported',
    exit: 1,
    message: /hidden_act to "relu"/,
  },
  'an unknown key': {
    files: config({residual_multiplier: 0.22}),
    code: 'model_config_unsupported',
    exit: 1,
    message: /residual_multiplier to 0\.22/,
  },
  'heads that do not divide': {
    files: config({num_key_value_heads: 3}),
    code: 'model_file_invalid',
    exit: 1,
    message: /not a multiple/,
  },
  'a size that is not a number': {
    files: config({hidden_size: '48'}),
    code: 'model_file_invalid',
    exit: 1,
    message: /hidden_size/,
  },
  ...Object.fromEntries(pointers),
}

const cases: Record<string, BadInput> = {
  'a missing model': {
    args: ['-m', './nowhere', 'Hi'],
    code: 'model_not_found',
    exit: 3,
    message: /Searched:\s+\/.*nowhere/,
  },
  'a truncated shard': {files: {[shard]: cutShard()}, code: 'safetensors_invalid', exit: 1, message: new RegExp(shard)},
  'a missing config': {files: {'config.json': undefined}, code: 'model_file_missing', exit: 3, message: /config\.json/},
  'no prompt': {args: [], code: 'prompt_missing', exit: 2, message: /Missing prompt/},
  'an empty prompt': {args: [''], code: 'prompt_empty', exit: 2, message: /empty/},
  'an empty standard input': {args: ['-'], options: {input: '\n'}, code: 'prompt_empty', exit: 2, message: /empty/},
  'a prompt longer than the context': {
    args: ['--raw', '--num-ctx', '16', 'x'.repeat(40)],
    code: 'prompt_too_long',
    exit: 2,
    message: /41 tokens .* 16/,
  },
  'standard input that is not UTF-8': {
    args: ['-'],
    options: {input: Uint8Array.of(0x61, 0xc3, 0xa9, 0x62, 0xff, 0x63)},
    code: 'stdin_not_utf8',
    exit: 2,
    message: /byte 4/,
  },
  'a temperature that is not a number': {
    args: ['--temperature', 'hot', 'Hi'],
    code: 'flag_value',
    exit: 2,
    message: /--temperature .*"hot"/,
  },
  'an unknown flag': {
    args: ['--temprature', '1', 'Hi'],
    code: 'flag_unknown',
    exit: 2,
    message: /Did you mean --temperature\?/,
  },
  'one argument too many': {args: ['Hi', 'there'], code: 'usage', exit: 2, message: /there/},
  'an invalid Svc.toml': {
    files: {'Svc.toml': '[engine]\nthreads = = 2\n'},
    args: ['Hi'],
    code: 'config_unparsable',
    exit: 2,
    message: /Svc\.toml:2:11 /,
  },
  'a Svc.toml with a value of the wrong type': {
    files: {'Svc.toml': '[engine]\nthreads = "two"\n'},
    args: ['Hi'],
    code: 'config_type',
    exit: 2,
    message: /engine\.threads must be a whole number .*, not "two"/,
  },
  'a missing folder': {
    args: ['-C', './nowhere', 'Hi'],
    code: 'directory_not_found',
    exit: 3,
    message: /nowhere/,
  },
}

/** Cases that also run without `--json`: one per exit status and per module that detects the error. */
const inText: readonly string[] = [
  'a missing model',
  'a truncated shard',
  'an empty standard input',
  'a prompt longer than the context',
  'an unknown flag',
  'an invalid Svc.toml',
]

/** Creates a model directory with changed files; undefined removes a file. */
async function modelWith(test: TestContext, files: BadInput['files'] = {}): Promise<string> {
  const folder = await temporaryFolder(test)
  const present = Object.entries({...valid, ...files}).filter(([, content]) => content !== undefined)
  await writeFiles(folder, Object.fromEntries(present) as Record<string, string | Uint8Array>)
  return folder
}

describe('an invalid model directory', () => {
  for (const [name, {files, code, exit, message}] of Object.entries(models))
    it(`is refused: ${name}`, async (test) => {
      const folder = await modelWith(test, files)
      await assert.rejects(loadLanguageModel(folder, {threads: 1, numCtx: 0}), (error) => {
        assert.ok(error instanceof SvcError)
        assert.deepEqual([error.code, error.exit], [code, exit])
        assert.match(error.message, message)
        return true
      })
    })
})

describe('a model directory with tensors that the model does not use', () => {
  it('is loaded whatever their dtypes are', async (test) => {
    const data = new Uint8Array(6)
    const folder = await modelWith(test, {
      'merged.safetensors': safetensorsFile({
        extra: {dtype: 'F8_E8M0', shape: [6], data},
        more: {dtype: 'F4', shape: [12], data},
      }),
    })
    const model = await loadLanguageModel(folder, {threads: 1, numCtx: 16})
    assert.deepEqual(
      model.description.tensors.filter(({dtype}) => dtype !== 'F32').map(({name, dtype}) => [name, dtype]),
      [
        ['extra', 'F8_E8M0'],
        ['more', 'F4'],
      ],
    )
    await model.release()
  })
})

describe('svc generate with invalid input', () => {
  for (const [name, {files, args = ['Hi'], options, code, exit, message}] of Object.entries(cases)) {
    const run = async (test: TestContext, ...more: string[]) => {
      const cwd = await modelWith(test, files)
      const model = args.includes('-m') ? [] : ['-m', '.']
      return svcInTurn(['generate', ...more, ...model, ...args], {...options, cwd})
    }

    it(`reports the error as JSON: ${name}`, async (test) => {
      const {stdout, stderr, exitCode} = await run(test, '--json')
      const answer = JSON.parse(stdout) as CliErrorV1
      assert.deepEqual(await contractViolations('cli/error.v1', answer), [])
      assert.deepEqual([answer.error.code, answer.error.exit, exitCode], [code, exit, exit])
      assert.match(answer.error.message, message)
      assert.equal(stderr, '')
    })

    if (inText.includes(name))
      it(`reports the error as text: ${name}`, async (test) => {
        const {stdout, stderr, exitCode} = await run(test)
        assert.match(stderr, /^error: [\s\S]+ \([a-z][a-z0-9_]*\)\n {2}hint: .+\n$/)
        assert.match(stderr, message)
        assert.ok(stderr.includes(`(${code})`), stderr)
        assert.deepEqual([stdout, exitCode], ['', exit])
        assert.doesNotMatch(stderr, /\n\s+at /, 'no stack trace')
      })
  }

  it('accepts unknown keys of the configuration with the option that the hint names', async (test) => {
    const cwd = await modelWith(test, config({residual_multiplier: 0.22}))
    const args = ['generate', '-m', '.', '--raw', '--max-tokens', '1', 'Hi']
    const refused = await svcInTurn(args, {cwd})
    const [flag = '', key = ''] = /--ignore-config-key (\S+)/.exec(refused.stderr) ?? []
    assert.deepEqual([refused.exitCode, key], [1, 'residual_multiplier'], refused.stderr)
    assert.equal((await svcInTurn([...args, ...flag.split(' ')], {cwd})).exitCode, 0)
  })

  it('prints a stack trace only with --debug', async () => {
    const {stderr} = await svc(['generate', '--debug', '-m', './nowhere', 'Hi'])
    assert.match(stderr, /model_not_found[\s\S]*\n\s+at /)
  })
})

describe('svc generate, interrupted', () => {
  const model = suiteFolder()
  before(() => writeTinyModel(model, {contextLength: 8192}))
  const endless = () => ['generate', '-m', model, '--raw', '--temperature', '1', '--max-tokens', '8000', 'Hi']

  for (const [signal, code, exit] of [
    ['SIGINT', 'interrupted', 130],
    ['SIGTERM', 'terminated', 143],
    ['SIGHUP', 'terminated', 143],
  ] as const)
    it(`prints one error on ${signal} and exits with status ${exit}`, async () => {
      const running = startSvc(endless())
      await once(running.stdout as NodeJS.ReadableStream, 'data')
      running.kill(signal)
      const {exitCode, stderr} = await running
      assert.equal(exitCode, exit)
      assert.match(stderr as unknown as string, new RegExp(`^error: .* \\(${code}\\)\\n {2}hint: .+\\n$`))
    })

  it('exits with status 130 on SIGINT while it waits for standard input', async (test) => {
    const cwd = await temporaryFolder(test)
    await writeFiles(cwd, {'Svc.toml': 'unheard_of = 1\n'})
    const running = startSvc(['generate', '-m', model, '--json', '-'], {cwd})
    await once(running.stderr as NodeJS.ReadableStream, 'data')
    running.kill('SIGINT')
    const {exitCode, stdout} = await running
    assert.equal(exitCode, 130)
    assert.equal(JSON.parse(stdout as unknown as string).error.code, 'interrupted')
  })

  it('fails soon when standard output is closed', async () => {
    const child = spawn(process.execPath, [svcBinary, ...endless()], {stdio: ['ignore', 'pipe', 'pipe']})
    let stderr = ''
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    await once(child.stdout, 'data')
    child.stdout.destroy()
    const [status] = await once(child, 'exit')
    assert.match(stderr, /\(output_closed\)/)
    assert.equal(status, 1)
  })

  it('fails if standard output was never read', async (test) => {
    const folder = await temporaryFolder(test)
    const errors = join(folder, 'errors')
    await writeFile(errors, '')
    const script = `"$0" "$@" 2>"${errors}" | true; exit "\${PIPESTATUS[0]}"`
    const child = spawn('bash', ['-c', script, process.execPath, svcBinary, ...endless()], {stdio: 'ignore'})
    const [status] = await once(child, 'exit')
    assert.match(await readFile(errors, 'utf8'), /\(output_closed\)/)
    assert.equal(status, 1)
  })
})
