import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {link, mkdir, readdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import {openSpeechModel} from '../../src/speech/engine/open-model.js'
import {once} from '../support/once.js'
import {projectFile, sharedData, skipWithout} from '../support/project.js'
import {randomFloats} from '../support/random-floats.js'
import {joined} from '../support/sounds.js'
import {type SvcOptions, startSvc, svc} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, temporaryFolder, writeFiles} from '../support/temporary.js'
import {monoWave, waveFile} from '../support/wave-file.js'
import {writeWhisperFolder} from '../support/whisper-files.js'
import {microShape, randomWhisper} from '../support/whisper-weights.js'

const folder = suiteFolder()
const nonsense = join(folder, 'nonsense')
/** Noise, for which the random model emits text. */
const sound = randomFloats(7)(24_000).map((x) => 0.1 * x)
const recording = monoWave(sound)
/** The models are so small that a second thread would only spin and keep a processor busy. */
const oneThread = ['--threads', '1']

/** Transcribes with a random model, which emits the same text for every input. */
const transcribe = (args: readonly string[], options: SvcOptions = {}, run = svcInTurn) =>
  run(['transcribe', ...args, '--model', nonsense, '--vad', 'none', ...oneThread], {cwd: folder, ...options})

const printed = once(() => transcribe(['one.wav'], {}, svc))
const printedJson = once(() => transcribe(['one.wav', '--stats', '--json']))
const printedSeveral = once(() =>
  transcribe(['talks', 'two.wav', '--json'], {env: {RUST_LOG: 'speech_gpu=info', SVC_SPEECH_VERBOSE: '1'}}),
)

before(async () => {
  await writeWhisperFolder(nonsense, microShape, randomWhisper(microShape, 3))
  await writeFiles(folder, {
    'one.wav': recording,
    'two.wav': recording,
    'note.txt': '  hello   world  \n',
    'text.wav': 'no sound at all',
    'empty.wav': '',
    'talks/b.wav': recording,
    'talks/a.wav': recording,
    'talks/readme.md': 'not a recording',
    'nothing/readme.md': 'not a recording',
  })
})

describe('svc transcribe --stats', () => {
  it('prints the figures of a recording to standard error; with --json, they are in the result', async () => {
    const {stdout, stderr} = await transcribe(['one.wav', '--stats'])
    assert.equal(stdout, (await printed()).stdout)
    const lines = stderr.trimEnd().split('\n')
    const figures = Object.fromEntries(lines.map((line) => line.split(/ {2,}/)))
    assert.match(figures.audio, /^1\.5 s$/)
    assert.match(figures['load time'], /^[\d.]+ ms$/)
    assert.match(figures['processing time'], /^[\d.]+ s, real-time factor [\d.]+$/)
    const json = await printedJson()
    assert.equal(json.stderr, '')
    const {timings} = JSON.parse(json.stdout)
    assert.equal(figures.windows, String(timings.windows))
    assert.match(figures.tokens, new RegExp(`^[1-9]\\d*; whole vocabulary computed for ${timings.whole_heads}$`))
    assert.match(figures.temperatures, /^[\d.]+(, [\d.]+)*$/)
    assert.match(figures['peak memory'], /^[1-9]\d* MB$/)
  })
})

describe('svc transcribe FILE', () => {
  it('prints one line per segment', async () => {
    const {stdout, stderr, exitCode} = await printed()
    assert.deepEqual([stderr, exitCode], ['', 0])
    assert.match(stdout, /^(\w+ )+\w+\n$/)
  })

  it('prints the same text in every format', async () => {
    const text = (await printed()).stdout.trim()
    const inFormat = async (format: string) => (await transcribe(['one.wav', '--format', format])).stdout
    const verbose = JSON.parse(await inFormat('verbose_json'))
    assert.deepEqual(
      [verbose.text, verbose.task, verbose.language, verbose.duration],
      [text, 'transcribe', 'english', 1.5],
    )
    assert.equal(verbose.segments[0].text, text)
    assert.equal(await inFormat('srt'), `1\n00:00:00,000 --> 00:00:01,500\n${text}\n\n`)
  })

  it('shapes subtitles with word timestamps, and no other format', async () => {
    const shape = ['one.wav', '--highlight-words', '--max-words-per-line', '2']
    const {stdout} = await transcribe([...shape, '--format', 'srt'])
    const marked = stdout.split('\n').filter((line) => line.includes('<u>'))
    const words = (await printed()).stdout.trim().split(' ')
    assert.deepEqual(
      marked.map((line) => /<u>(.*)<\/u>/.exec(line)?.[1]),
      words,
    )
    assert.ok(marked.every((line) => line.split(' ').length <= 2))
    const {stderr, exitCode} = await transcribe([...shape, '--format', 'json'])
    assert.match(stderr, /--highlight-words applies to srt and vtt, but the format is json/)
    assert.equal(exitCode, 2)
  })

  const printedNote: Record<string, string> = {
    json: '{"text":"hello world"}\n',
    vtt: 'WEBVTT\n\n00:00:00.000 --> 00:00:00.001\nhello world\n\n',
    tsv: 'start\tend\ttext\n0\t0\thello world\n',
  }
  for (const [format, expected] of Object.entries(printedNote))
    it(`prints a text file as ${format}`, async () => {
      const {stdout} = await svcInTurn(['transcribe', 'note.txt', '--format', format], {cwd: folder})
      assert.equal(stdout, expected)
    })

  it('accepts short flags and the format name txt', async () => {
    const short = ['transcribe', 'one.wav', '-m', nonsense, '-l', 'en', '-f', 'txt', '--vad', 'none', ...oneThread]
    assert.deepEqual(await svcInTurn(short, {cwd: folder}), await printed())
  })

  it('prints a text file as ndjson', async () => {
    const {stdout} = await svcInTurn(['transcribe', 'note.txt', '--format', 'ndjson'], {cwd: folder})
    const {start, end, text} = JSON.parse(stdout)
    assert.deepEqual([start, end, text], [0, 0, 'hello world'])
  })

  it('prints JSON that matches the contract with --json', async () => {
    const {stdout} = await transcribe(['one.wav', '--json', '--word-timestamps'])
    const result = JSON.parse(stdout)
    assert.deepEqual(await contractViolations('cli/transcribe.v1', result), [])
    assert.equal(result.path, join(folder, 'one.wav'))
    assert.equal(result.model, 'nonsense')
    assert.equal(result.duration_ms, 1500)
    assert.ok(result.segments[0].words.length > 0)
    assert.match(result.correlation_id, /^[0-9a-f]{8}-[0-9a-f]{4}-4/)
    const again = JSON.parse((await printedJson()).stdout)
    assert.notEqual(again.correlation_id, result.correlation_id)
    assert.equal(again.raw_text, result.raw_text)
    assert.equal(again.segments[0].words, undefined)
  })

  it('passes a text file through without a model', async () => {
    const {stdout, exitCode} = await svcInTurn(['transcribe', 'note.txt', '--json'], {cwd: folder})
    assert.equal(exitCode, 0)
    const result = JSON.parse(stdout)
    assert.deepEqual(await contractViolations('cli/transcribe.v1', result), [])
    assert.equal(result.raw_text, '  hello   world  \n')
    assert.deepEqual([result.refined_text, result.text, result.confidence], ['hello world', 'hello world', 0.855])
    const plain = await svcInTurn(['transcribe', 'note.txt', '--no-refine', '--json'], {cwd: folder})
    assert.equal(JSON.parse(plain.stdout).text, '  hello   world  \n')
    assert.equal((await svcInTurn(['transcribe', 'note.txt'], {cwd: folder})).stdout, 'hello world\n')
  })

  it('checks the time limits of its flags, and reports them', async () => {
    const hello = projectFile('examples/hello.wav')
    const run = (args: readonly string[]) => svcInTurn(['transcribe', hello, ...oneThread, ...args], {cwd: folder})
    const {stdout} = await run(['--max-ms', '60000', '--inference-deadline-ms', '50000', '--json'])
    const {deadline_diagnostics: diagnostics, runtime_config: runtime} = JSON.parse(stdout)
    assert.deepEqual(
      diagnostics.map((one: {phase: string; limit_ms: number}) => [one.phase, one.limit_ms]),
      [
        ['transcribe', 50_000],
        ['session_total', 60_000],
      ],
    )
    assert.equal(runtime, undefined)
    const late = await run(['--inference-deadline-ms', '1'])
    assert.match(late.stderr, /\(speech_inference_timeout\)/)
    assert.equal(late.exitCode, 1)
  })

  it('includes corrections and settings with --debug-parser-payload, and diagnostics of the language of a text', async () => {
    const args = ['transcribe', 'note.txt', '--json', '--debug-parser-payload', '--language', 'german']
    const {stdout} = await svcInTurn(args, {cwd: folder})
    const {correction_trace: trace, runtime_config: runtime, language_diagnostics: diagnostics} = JSON.parse(stdout)
    assert.ok(trace.length > 0)
    assert.ok(runtime.session_timing)
    assert.deepEqual(diagnostics, {raw: 'german', normalized: 'de', notes: ['language_hint_name_mapped']})
  })

  it('refines the text by profile, lexicon and settings', async () => {
    await writeFiles(folder, {
      'said.txt': 'um call the the getter in the mesh',
      'words.json': '{"schema_version": "1", "entries": [{"canonical": "getUser", "aliases": ["getter"]}]}',
    })
    const env = {SVC_SPEECH_SPEECH_LEXICON_PATH: join(folder, 'words.json')}
    const said = async (args: string[]) =>
      (await svcInTurn(['transcribe', 'said.txt', ...args], {cwd: folder, env})).stdout
    assert.equal(await said([]), 'um call the the getUser in the mesh\n')
    const aggressive = JSON.parse(await said(['--profile', 'aggressive', '--json']))
    assert.equal(aggressive.refined_text, 'Call the getUser in the mesh.')
    assert.equal(aggressive.confidence, 0.84)
  })

  it('uses the lexicon of the repository for words that the specified lexicon does not have', async () => {
    const entries = [
      {canonical: 'meshOfTheRepository', aliases: ['mesh']},
      {canonical: 'getterOfTheRepository', aliases: ['getter']},
    ]
    await writeFiles(folder, {
      'said.txt': 'the getter in the mesh',
      'words.json': '{"schema_version": "1", "entries": [{"canonical": "getUser", "aliases": ["getter"]}]}',
      'repository/.svc/speech_lexicon.json': JSON.stringify({schema_version: '1', entries}),
    })
    const env = {SVC_SPEECH_SPEECH_LEXICON_PATH: join(folder, 'words.json')}
    for (const variable of ['SVC_REPOSITORY_ROOT', 'SVC_REPO_ROOT']) {
      const repository = {[variable]: join(folder, 'repository')}
      const {stdout} = await svcInTurn(['transcribe', 'said.txt'], {cwd: folder, env: {...env, ...repository}})
      assert.equal(stdout, 'the getUser in the meshOfTheRepository\n')
    }
  })

  it('warns about an unusable lexicon and continues', async () => {
    const env = {SVC_SPEECH_LEXICON_PATH: join(folder, 'text.wav')}
    const {stdout, stderr, exitCode} = await svcInTurn(['transcribe', 'note.txt'], {cwd: folder, env})
    assert.deepEqual([stdout, exitCode], ['hello world\n', 0])
    assert.match(stderr, /warning: Ignoring the lexicon .*text\.wav/)
  })

  it('logs the compute device once if RUST_LOG enables that', async () => {
    const {stderr} = await printedSeveral()
    assert.equal(stderr.match(/speech_inference_cpu_default/g)?.length, 1)
    assert.match(stderr, /speech_gpu/)
  })

  it('logs the decoder steps if SVC_SPEECH_VERBOSE is set', async () => {
    const {stderr} = await printedSeveral()
    const line = stderr.split('\n').find((text) => text.includes('speech_decoder')) ?? ''
    const {temperature, steps, accepted} = JSON.parse(line)
    assert.equal(temperature, 0)
    assert.equal(typeof accepted, 'boolean')
    for (const [token, text, logprob] of steps)
      assert.deepEqual([typeof token, typeof text, logprob <= 0], ['number', 'string', true])
    assert.ok(steps.length > 0)
  })

  it('appends a line per chunk to the file of SVC_SPEECH_EMIT_PARTIAL_PATH', async () => {
    const path = join(folder, 'logs/partial.jsonl')
    await transcribe(['one.wav'], {env: {SVC_SPEECH_EMIT_PARTIAL_PATH: path}})
    const lines = (await readFile(path, 'utf8')).trim().split('\n')
    const line = JSON.parse(lines[0] ?? '')
    assert.equal(lines.length, 1)
    assert.deepEqual([line.chunk_index, line.total_chunks, line.start_ms, line.end_ms], [0, 1, 0, 1500])
    assert.ok(line.partial_text.length > 0 && Math.abs(line.ts_ms - Date.now()) < 60_000)
    const {stderr} = await transcribe(['one.wav', 'two.wav'], {env: {SVC_SPEECH_EMIT_PARTIAL_PATH: 'two.wav'}})
    assert.match(stderr, /\(output_is_input\)/)
    assert.deepEqual(await readFile(join(folder, 'two.wav')), Buffer.from(recording))
  })
})

describe('svc transcribe --hotwords', {skip: skipWithout('fsdd')}, () => {
  it('does not insert a hotword that was not spoken', async () => {
    const model = projectFile('examples/models/starter')
    const args = ['--beam', '5', '--hotwords', 'none', '--json', '--model', model, ...oneThread]
    const {stdout} = await svcInTurn(['transcribe', sharedData('fsdd/1_george_0.wav') ?? '', ...args], {cwd: folder})
    const {text, raw_text: raw, segments, n_best: readings} = JSON.parse(stdout)
    assert.deepEqual([text, raw, segments.map((segment: {text: string}) => segment.text)], ['one', 'one', ['one']])
    assert.deepEqual(readings, ['one', '1'], 'a reading that is too unlikely is not listed')
  })
})

describe('svc transcribe with several recordings', () => {
  it('transcribes a folder in name order and loads the model once', async () => {
    const {stdout, exitCode} = await printedSeveral()
    const results = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.equal(exitCode, 0)
    assert.deepEqual(
      results.map(({path}) => path.slice(folder.length + 1)),
      ['talks/a.wav', 'talks/b.wav', 'two.wav'],
    )
    assert.deepEqual(
      results.map(({timings}) => timings.load_ms > 0),
      [true, false, false],
    )
  })

  it('prints the name of each recording before its text, as head does', async () => {
    const text = (await printed()).stdout
    const {stdout, stderr} = await transcribe(['talks', 'two.wav'])
    assert.equal(stderr, 'Skipped 1 file without audio in talks: readme.md\n')
    const names = [join('talks', 'a.wav'), join('talks', 'b.wav'), 'two.wav']
    assert.equal(stdout, names.map((name) => `==> ${name} <==\n${text}`).join('\n'))
    const piped = await transcribe(['-', 'text.wav', 'two.wav'], {input: recording})
    assert.equal(piped.stdout, ['standard input', 'two.wav'].map((name) => `==> ${name} <==\n${text}`).join('\n'))
    const json = (await transcribe(['one.wav', 'two.wav', '--format', 'json'])).stdout
    assert.deepEqual(
      json
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).text),
      [text.trim(), text.trim()],
    )
  })

  it('continues after a failed recording and exits with status 1', async () => {
    const {stdout, stderr, exitCode} = await transcribe(['one.wav', 'text.wav', 'empty.wav', 'missing.wav', 'two.wav'])
    assert.equal(exitCode, 1)
    assert.match(stdout, /^==> one\.wav <==\n.+\n\n==> two\.wav <==\n.+\n$/)
    for (const code of ['audio_unrecognized', 'audio_empty', 'file_not_found']) assert.match(stderr, new RegExp(code))
  })

  it('prints the failed recording and its error with --json', async () => {
    const {stdout, exitCode} = await transcribe(['text.wav', 'one.wav', '--json'])
    const [failed, heard] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.equal(exitCode, 1)
    assert.deepEqual([failed.path, failed.error.code], [join(folder, 'text.wav'), 'audio_unrecognized'])
    assert.equal(heard.path, join(folder, 'one.wav'))
  })

  it('writes one file per recording into --output-dir and prints the paths', async (test) => {
    const output = join(await temporaryFolder(test), 'new/folder')
    const {stdout, exitCode} = await transcribe([
      'one.wav',
      'talks',
      '--strict',
      '--format',
      'srt',
      '--output-dir',
      output,
    ])
    assert.equal(exitCode, 0)
    assert.deepEqual(await readdir(output), ['a.srt', 'b.srt', 'one.srt'])
    assert.deepEqual(
      stdout.trim().split('\n'),
      ['one', 'a', 'b'].map((name) => join(output, `${name}.srt`)),
    )
    assert.match(await readFile(join(output, 'one.srt'), 'utf8'), /^1\n00:00:00,000 --> /)
  })

  it('warns about damage, and fails with --strict', async () => {
    await writeFile(join(folder, 'cut.wav'), recording.subarray(0, recording.length - 20_000))
    const {stdout, stderr, exitCode} = await transcribe(['cut.wav', 'one.wav', '--json'])
    const [cut, whole] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(await contractViolations('cli/transcribe.v1', cut), [])
    assert.deepEqual([cut.warnings.map(({code}: {code: string}) => code), whole.warnings], [['audio_truncated'], []])
    assert.match(stderr, /^warning: .*cut\.wav/)
    assert.equal(exitCode, 0)
    assert.equal((await transcribe(['cut.wav', '--strict'])).exitCode, 1)
  })

  it('reports a model error once, with the same exit status as for one recording', async () => {
    const args = ['transcribe', 'one.wav', 'two.wav', 'note.txt', '--model', 'nowhere']
    const {stdout, stderr, exitCode} = await svcInTurn(args, {cwd: folder})
    assert.deepEqual([stdout, exitCode], ['', 3])
    assert.equal(stderr.match(/\(\w+\)$/gm)?.length, 1, stderr)
    const words = await transcribe(['one.wav', 'text.wav', '--language', 'xx', '--json'])
    assert.equal(words.stdout.trim().split('\n').length, 1)
  })

  it('writes different files for recordings of the same name', async (test) => {
    const output = await temporaryFolder(test)
    const write = (args: string[]) => svcInTurn(['transcribe', ...args, '-o', output], {cwd: folder})
    await writeFiles(folder, {'more.md': 'one', 'note.md': 'another note'})
    await write(['more.md', 'note.txt'])
    await write(['note.md', 'note.txt', '--format', 'vtt'])
    assert.deepEqual((await readdir(output)).sort(), ['more.txt', 'note.md.vtt', 'note.txt', 'note.txt.vtt'])
  })

  it('requires an output folder for formats that cannot be concatenated', async () => {
    const {stderr, exitCode} = await transcribe(['one.wav', 'two.wav', '--format', 'srt'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /output_dir_needed/)
  })
})

describe('svc transcribe --channels', () => {
  it('writes the speaker of each channel into every kind of JSON', async (test) => {
    const cwd = await temporaryFolder(test)
    const channels = [sound, sound.map((x) => -x)]
    await writeFiles(cwd, {'call.wav': waveFile({channels, sampleRate: 16_000, encoding: 's16le'})})
    const split = ['call.wav', '--channels', 'split', '--speakers', 'Ann,Bob']
    const env = {SVC_SPEECH_EMIT_PARTIAL_PATH: 'partial.jsonl'}
    const {stdout} = await transcribe([...split, '--json'], {cwd, env})
    assert.deepEqual(await contractViolations('cli/transcribe.v1', JSON.parse(stdout)), [])
    const speakersOf = (rows: readonly {speaker?: string}[]) => rows.map(({speaker}) => speaker)
    const parseLines = (text: string) =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    assert.deepEqual(speakersOf(JSON.parse(stdout).segments), ['Ann', 'Bob'])
    const partial = parseLines(await readFile(join(cwd, 'partial.jsonl'), 'utf8'))
    assert.deepEqual(speakersOf(partial), ['Ann', 'Bob'])
    const ndjson = await transcribe([...split, '--format', 'ndjson'], {cwd})
    assert.deepEqual(speakersOf(parseLines(ndjson.stdout)), ['Ann', 'Bob'])
  })

  it('refuses names of speakers without split channels, and channels of standard input', async () => {
    const unnamed = await transcribe(['one.wav', '--speakers', 'Ann'])
    assert.match(unnamed.stderr, /--speakers names the channels of --channels split, which is missing\. \(usage\)/)
    const streamed = await transcribe(['-', '--channels', 'split'], {input: recording})
    assert.match(streamed.stderr, /^error: Cannot transcribe each channel of standard input: .* \(channels_need_file\)/)
    assert.deepEqual([unnamed.exitCode, streamed.exitCode], [2, 2])
  })
})

describe('svc transcribe -', () => {
  it('reads a recording from standard input', async () => {
    const piped = await transcribe(['-'], {input: recording}, svc)
    assert.equal(piped.stdout, (await printed()).stdout)
  })

  it('reads raw samples with --raw-encoding', async () => {
    const samples = Buffer.from(Int16Array.from(sound, (x) => Math.round(32_768 * x)).buffer)
    const piped = await transcribe(['-', '--raw-encoding', 's16le', '--json'], {input: samples})
    const result = JSON.parse(piped.stdout)
    assert.deepEqual([result.path, result.duration_ms], ['-', 1500])
    assert.equal(result.text, JSON.parse((await printedJson()).stdout).text)
  })

  it('reports empty input', async () => {
    const {stderr, exitCode} = await transcribe(['-'], {input: ''})
    assert.equal(exitCode, 1)
    assert.match(stderr, /standard input contains no audio samples/)
  })

  it('fails soon when standard output is closed', async () => {
    const {exec} = await import('node:child_process')
    const {svcBinary} = await import('../support/svc.js')
    const files = Array.from({length: 10}, () => 'one.wav').join(' ')
    const args = `${files} --model ${nonsense} --vad none ${oneThread.join(' ')} --format ndjson`
    const command = `"${process.execPath}" "${svcBinary}" transcribe ${args} | head -1`
    const {stdout, stderr} = await new Promise<{stdout: string; stderr: string}>((resolve) =>
      exec(command, {cwd: folder, timeout: 600_000}, (_, out, error) => resolve({stdout: out, stderr: error})),
    )
    assert.equal(stdout.split('\n').length, 2)
    assert.match(stderr, /\(output_closed\)/)
  })
})

describe('svc transcribe with invalid input', () => {
  const mistakes: Record<string, {args: string[]; code: string; exit: number; env?: Record<string, string>}> = {
    'no recording': {args: [], code: 'recording_missing', exit: 2},
    'a missing file': {args: ['gone.wav'], code: 'file_not_found', exit: 3},
    'a folder without recordings': {args: ['nothing'], code: 'audio_folder_empty', exit: 3},
    'a file that is not audio': {args: ['text.wav'], code: 'audio_unrecognized', exit: 1},
    'an empty file': {args: ['empty.wav'], code: 'audio_empty', exit: 1},
    'an unknown language': {args: ['one.wav', '--language', 'xx'], code: 'language_unsupported', exit: 2},
    'a language that the model does not support': {
      args: ['one.wav', '--language', 'de'],
      code: 'language_unsupported',
      exit: 2,
    },
    'a translation that the model does not support': {
      args: ['one.wav', '--task', 'translate'],
      code: 'task_unsupported',
      exit: 2,
    },
    'a neural voice activity detector without a model': {
      args: ['one.wav', '--vad', 'neural'],
      code: 'vad_model_missing',
      exit: 2,
    },
    'a detection of languages that the model does not support': {
      args: ['one.wav', '--detect-language'],
      code: 'language_detection_unsupported',
      exit: 2,
    },
    'an invalid flag value': {args: ['one.wav', '--beam', '0'], code: 'flag_value', exit: 2},
  }
  for (const [what, {args, code, exit}] of Object.entries(mistakes))
    it(`reports ${what}`, async () => {
      const {stdout, stderr, exitCode} = await svcInTurn(['transcribe', '--model', nonsense, ...oneThread, ...args], {
        cwd: folder,
      })
      assert.deepEqual([stdout, exitCode], ['', exit])
      assert.match(stderr, new RegExp(`\\(${code}\\)`))
      assert.match(stderr, /hint: /)
    })

  it('reports an unavailable device once, without the message of ONNX Runtime', async () => {
    const {stderr} = await transcribe(['one.wav', '--device', 'cuda', '--quiet'], {}, svc)
    // With a GPU there is no error.
    assert.match(stderr, /^(error: The device cuda cannot be used: .*\(device_unavailable\)\n {2}hint: .*\n)?$/)
  })

  it('uses the starter model without --model, and downloads nothing', async (test) => {
    const home = await temporaryFolder(test)
    const env = {HOME: home, HF_ENDPOINT: 'http://127.0.0.1:9'}
    const {stderr, exitCode} = await svcInTurn(['transcribe', 'one.wav'], {cwd: folder, env})
    assert.equal(exitCode, 0)
    assert.match(
      stderr,
      /^Using the starter model, .* `svc speech pull tiny\.en` once\.\none\.wav: no speech found\.\n$/,
    )
    assert.equal(existsSync(join(home, '.cache/huggingface')), false)
  })

  const models: Record<string, {change: (model: string) => Promise<void>; code: string}> = {
    'without weights': {
      change: async (model) => {
        await writeWhisperFolder(model, microShape, new Map())
        await writeFile(join(model, 'model.safetensors'), 'nothing')
      },
      code: 'safetensors_invalid',
    },
    'with a missing tensor': {
      change: (model) => {
        const weights = new Map(randomWhisper(microShape))
        weights.delete('model.encoder.conv2.weight')
        return writeWhisperFolder(model, microShape, weights)
      },
      code: 'tensor_missing',
    },
    'without a tokenizer': {
      change: async (model) => {
        await writeWhisperFolder(model, microShape, randomWhisper(microShape))
        const {rm} = await import('node:fs/promises')
        await rm(join(model, 'tokenizer.json'))
      },
      code: 'model_file_missing',
    },
    'with the tokenizer of another model': {
      change: async (model) => {
        const shape = {...microShape, vocabulary: 11}
        await writeWhisperFolder(model, shape, randomWhisper(shape))
      },
      code: 'tokenizer_mismatch',
    },
    'that was not copied completely': {
      change: async (model) => {
        await writeWhisperFolder(model, microShape, randomWhisper(microShape))
        const path = join(model, 'model.safetensors')
        await writeFile(path, (await readFile(path)).subarray(0, 20_000))
      },
      code: 'safetensors_invalid',
    },
    'of another kind': {
      change: (model) => writeFiles(model, {'config.json': '{"model_type": "llama"}'}),
      code: 'speech_model_unknown',
    },
    'without a configuration': {change: (model) => mkdir(model).then(() => undefined), code: 'model_file_missing'},
  }
  for (const [what, {change, code}] of Object.entries(models))
    it(`refuses a model ${what}`, async (test) => {
      const model = join(await temporaryFolder(test), 'model')
      await change(model)
      const options = {name: 'changed', threads: 1, device: 'cpu', precision: 'int8', derivedFolder: model} as const
      await assert.rejects(openSpeechModel(model, options), {code})
    })

  it('reports a model without weights or configuration', async (test) => {
    const model = join(await temporaryFolder(test), 'model')
    const exits: Record<string, number> = {'without weights': 1, 'without a configuration': 3}
    for (const [what, exit] of Object.entries(exits)) {
      const {change, code} = models[what]!
      await change(join(model, what))
      const {stderr, exitCode} = await svcInTurn(['transcribe', 'one.wav', '--model', join(model, what)], {cwd: folder})
      assert.match(stderr, new RegExp(`\\(${code}\\)`))
      assert.equal(exitCode, exit)
    }
  })
})

describe('svc transcribe, interrupted', () => {
  it('keeps finished transcripts and leaves no partial ones', async (test) => {
    const output = await temporaryFolder(test)
    const long = join(output, 'long.wav')
    await writeFile(long, monoWave(joined(Array.from({length: 200}, () => sound))))
    const others = Array.from({length: 40}, (_, i) => join(output, `long-${i}.wav`))
    for (const other of others) await link(long, other)
    await writeFile(join(output, 'a.wav'), recording)
    const child = startSvc(
      [
        ...['transcribe', join(output, 'a.wav'), ...others, '--model', nonsense, '--vad', 'none', ...oneThread],
        ...['-o', join(output, 'out')],
      ],
      {cwd: folder},
    )
    await new Promise<void>((resolve) => child.stdout?.once('data', () => resolve()))
    child.kill('SIGINT')
    const {exitCode} = await child
    assert.equal(exitCode, 130)
    const names = await readdir(join(output, 'out'))
    assert.ok(names.includes('a.txt'))
    // In addition to the finished windows of the interrupted recording, which --resume continues.
    assert.deepEqual(
      names.filter((name) => !/^(a|long-\d+)\.txt(\.progress)?$/.test(name)),
      [],
    )
  })
})
