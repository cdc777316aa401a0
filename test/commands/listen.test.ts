import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {mkdir, readFile, symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {openAudio} from '../../src/audio/index.js'
import {contractViolations, type ListenV1} from '../../src/contracts/index.js'
import {fakeRecorder} from '../support/fake-recorder.js'
import {once} from '../support/once.js'
import {completion, openAiServer} from '../support/openai-server.js'
import {skipWithoutProgram} from '../support/programs.js'
import {projectFile} from '../support/project.js'
import {startServer} from '../support/server.js'
import {startSvc, svcBinary} from '../support/svc.js'
import {startInTurn, svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, temporaryFolder, writeFiles} from '../support/temporary.js'
import {startTerminal} from '../support/terminal.js'
import {writeTinyModel} from '../support/tiny-model.js'
import {until} from '../support/until.js'
import {monoWave} from '../support/wave-file.js'

const folder = suiteFolder()
const env = {HOME: folder, SVC_SPEECH_THREADS: '1'}
const hello = projectFile('examples/hello.wav')
const text = 'hello and welcome to your own machine'
const raw = join(folder, 'hello.raw')
/** The same without the silence around the phrase, to be repeated in one utterance. */
const spoken = join(folder, 'spoken.raw')

const listen = (args: readonly string[], options: {input?: string | Uint8Array; env?: Record<string, string>} = {}) =>
  svcInTurn(['listen', ...args], {cwd: folder, ...options, env: {...env, ...options.env}})

const printed = once(() => listen([hello, '--output', 'hello.srt']))
const printedEvents = once(() =>
  listen([hello, '--realtime', '--json'], {env: {SVC_SPEECH_EMIT_PARTIAL_PATH: 'partial.jsonl'}}),
)

before(async () => {
  const audio = await openAudio({path: hello}, {sampleRate: 16_000})
  const samples: number[] = []
  for await (const piece of audio) samples.push(...piece)
  const pcm = (from: readonly number[]) => new Int16Array(from.map((x) => Math.round(32_767 * x)))
  await writeFile(raw, pcm(samples))
  const isLoud = (x: number) => Math.abs(x) > 0.02
  await writeFile(spoken, pcm(samples.slice(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1)))
})

interface Event {
  type?: string
  text?: string
  stable_text?: string
  tokens?: {text: string}[]
  session?: {session_id: string; text: string; state: string; utterances: number; path: string}
}

const eventsOf = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Event)

describe('svc listen with a file', () => {
  it('prints each utterance as a line', async () => {
    const {stdout, exitCode} = await printed()
    assert.deepEqual([stdout, exitCode], [`${text}\n`, 0])
  })

  it('prints events and the session as JSON that match their contracts', async () => {
    const {stdout, exitCode} = await printedEvents()
    assert.equal(exitCode, 0)
    const events = eventsOf(stdout)
    const session = events.pop()
    for (const event of events) assert.deepEqual(await contractViolations('speech/event.v1', event), [])
    assert.deepEqual(await contractViolations('cli/listen.v1', session), [])
    const types = events.map(({type}) => type).filter((type) => type !== 'heartbeat')
    assert.equal(types[0], 'ready')
    assert.equal(types.at(-1), 'final')
    assert.equal(types.filter((type) => type === 'final').length, 1)
    assert.equal(session?.session?.text, text)
    assert.deepEqual([session?.session?.state, session?.session?.path], ['completed', hello])
  })

  it('reads raw PCM, and ends after the first utterance with --once', async () => {
    const twice = join(folder, 'twice.raw')
    const sound = await readFile(raw)
    await writeFile(twice, Buffer.concat([sound, Buffer.alloc(32_000), sound, Buffer.alloc(32_000)]))
    const all = await listen(['-'], {input: await readFile(twice)})
    assert.equal(all.stdout, `${text}\n${text}\n`)
    const one = await listen(['-', '--once'], {input: await readFile(twice)})
    assert.equal(one.stdout, `${text}\n`)
  })

  it('reports an utterance that missed its deadline even with --quiet, and exits with status 1', async () => {
    const {stdout, stderr, exitCode} = await listen([hello, '--inference-deadline-ms', '1', '--quiet'])
    assert.equal(stdout, '')
    assert.match(
      stderr,
      /error: Recognition took \d+ ms, longer than the limit of 1 ms\. \(speech_inference_timeout\)\n {2}hint: /,
    )
    assert.equal(exitCode, 1)
  })

  it('refuses limits that contradict each other', async () => {
    const {stderr, exitCode} = await listen([hello, '--timeout-ms', '200', '--max-ms', '100'])
    assert.match(stderr, /timeout_ms \(200\) must not exceed max_duration_ms \(100\)/)
    assert.equal(exitCode, 2)
  })

  it('refuses a file that is not audio', async () => {
    await writeFile(join(folder, 'note.wav'), 'just text')
    const {stderr, exitCode} = await listen(['note.wav'])
    assert.match(stderr, /note\.wav is not audio: it looks like text/)
    assert.equal(exitCode, 1)
  })
})

describe('svc listen with standard input', () => {
  it('reads WAV, and writes one line of JSON per segment into a file', async () => {
    const {stdout} = await listen(['-', '--output', 'hello.jsonl'], {input: await readFile(hello)})
    assert.equal(stdout, `${text}\n`)
    const lines = (await readFile(join(folder, 'hello.jsonl'), 'utf8')).trim().split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).text.trim()),
      [text],
    )
  })

  it('refuses text', async () => {
    const {stderr, exitCode} = await listen(['-'], {input: 'not a recording\n'})
    assert.match(stderr, /standard input is not audio: it looks like text/)
    assert.equal(exitCode, 1)
  })

  it('prints partial results, whose stable text only grows, until the utterance is complete', async () => {
    const sound = await readFile(spoken)
    const listening = startSvc(['listen', '-', '--json'], {cwd: folder, env})
    listening.stdin?.write(sound.subarray(0, sound.length >> 1))
    const events: Event[] = []
    for await (const line of listening) {
      const event = JSON.parse(String(line)) as Event
      // The rest follows when the first half has been recognised, so there is always a partial result.
      if (event.type === 'partial' && !events.some(({type}) => type === 'partial'))
        listening.stdin?.end(Buffer.concat([sound.subarray(sound.length >> 1), Buffer.alloc(32_000)]))
      events.push(event)
    }
    const session = events.pop()
    for (const event of events) assert.deepEqual(await contractViolations('speech/event.v1', event), [])
    const partials = events.filter(({type}) => type === 'partial')
    assert.ok(partials.length > 0)
    for (const [i, {stable_text: stable = ''}] of partials.entries())
      assert.ok(stable.startsWith(partials[i - 1]?.stable_text ?? ''))
    assert.equal(session?.session?.text, text)
  })

  it('prints lines as soon as they are complete', async () => {
    const listening = startSvc(['listen', '-'], {cwd: folder, env})
    const first = new Promise<string>((resolve) => listening.stdout?.once('data', (data) => resolve(String(data))))
    listening.stdin?.write(Buffer.concat([await readFile(raw), Buffer.alloc(32_000)]))
    assert.equal(await first, `${text}\n`)
    listening.stdin?.end()
    assert.equal((await listening).exitCode, 0)
  })
})

describe('svc listen with a transcript', () => {
  it('cleans up the text as one utterance, without a model', async () => {
    await writeFile(join(folder, 'note.txt'), 'so  hello')
    const {stdout, stderr} = await listen(['note.txt', '--json', '--language', 'english'])
    const events = eventsOf(stdout)
    assert.deepEqual(
      events.map(({type}) => type),
      ['ready', 'final', undefined],
    )
    assert.equal(events.at(-1)?.session?.text, 'so hello')
    assert.doesNotMatch(stderr, /starter model/)
  })

  it('does not record a text with less than min_training_pair_confidence', async (t) => {
    const cwd = await temporaryFolder(t)
    const policy = '[orchestrator.socrates_policy]\nmin_training_pair_confidence = 0.99\n'
    await writeFiles(cwd, {'Svc.toml': policy, 'note.txt': 'so  hello'})
    const {stderr} = await svcInTurn(['listen', 'note.txt', '--emit-asr-refine', 'pairs.jsonl'], {cwd, env})
    assert.match(stderr, /The text is not recorded in .*pairs\.jsonl: its confidence 0\.\d+ is less than 0\.99\./)
    assert.ok(!existsSync(join(cwd, 'pairs.jsonl')))
  })
})

describe('SVC_SPEECH_EMIT_PARTIAL_PATH', () => {
  it('receives a line per utterance', async () => {
    const {stdout} = await printedEvents()
    const [line = ''] = (await readFile(join(folder, 'partial.jsonl'), 'utf8')).split('\n')
    const {session_id: id, chunk_index: index, partial_text: partial} = JSON.parse(line)
    assert.deepEqual([id, index, partial], [eventsOf(stdout).at(-1)?.session?.session_id, 0, text])
  })

  it('also receives the tokens with SVC_SPEECH_STREAM_TOKENS, as final events do', async () => {
    const changed = {SVC_SPEECH_EMIT_PARTIAL_PATH: 'tokens.jsonl', SVC_SPEECH_STREAM_TOKENS: '1'}
    const {stdout} = await listen([hello, '--json'], {env: changed})
    const lines = (await readFile(join(folder, 'tokens.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const tokens = lines.filter(({event}) => event === 'token')
    assert.equal(
      tokens
        .map((one) => one.text)
        .join('')
        .trim(),
      text,
    )
    assert.deepEqual(
      tokens.map((one) => one.token_index),
      tokens.map((_, i) => i),
    )
    assert.ok(tokens.every(({logprob}) => logprob <= 0))
    assert.deepEqual(
      lines.slice(tokens.length).map(({event, text: said, partial_text: partial}) => [event, said ?? partial]),
      [
        ['segment', text],
        [undefined, text],
      ],
    )
    const final = eventsOf(stdout).find(({type}) => type === 'final')
    assert.deepEqual(await contractViolations('speech/event.v1', final), [])
    assert.equal(
      final?.tokens
        ?.map((one) => one.text)
        .join('')
        .trim(),
      text,
    )
  })
})

describe('svc listen --route', () => {
  it('fails if a route fails, with its error even with --quiet, after it has printed the text', async () => {
    await writeFile(join(folder, 'question.txt'), 'what is this')
    const nowhere = {SVC_INFERENCE_URL: 'http://127.0.0.1:9'}
    const {stdout, stderr, exitCode} = await listen(['question.txt', '--route', 'chat', '--quiet'], {env: nowhere})
    assert.deepEqual([stdout, exitCode], ['what is this\n', 1])
    assert.match(stderr, /^error: .*127\.0\.0\.1:9.* \(unreachable\)$/m)
  })

  it('runs an operation that a text names, and prints its result', async () => {
    await writeFile(join(folder, 'command.txt'), 'list tasks')
    const {stdout, exitCode} = await listen(['command.txt', '--route', 'tool'])
    assert.deepEqual([stdout, exitCode], ['list tasks\n{\n  "tasks": []\n}\n', 0])
  })

  it('submits a task only with a confirmation', async () => {
    await writeFile(join(folder, 'wish.txt'), text)
    const asked = await listen(['wish.txt', '--route', 'orchestrator'])
    assert.deepEqual([asked.stdout, asked.exitCode], [`${text}\n`, 0])
    assert.match(asked.stderr, /needs a confirmation/)
    const args = [hello, '--route', 'orchestrator', '--no-confirm-route', '--emit-asr-refine', 'pairs.jsonl']
    const {stdout} = await listen([...args, '--json'])
    const session = eventsOf(stdout).at(-1)
    assert.deepEqual(await contractViolations('cli/listen.v1', session), [])
    const {route} = session as unknown as ListenV1
    assert.deepEqual([route.status, route.payload], ['queued', {...route.payload, intent_text: text, task_id: 1}])
    assert.deepEqual(JSON.parse(await readFile(join(folder, 'pairs.jsonl'), 'utf8')), {
      noisy_text: text,
      corrected_text: text,
    })
  })

  it('chats with the model of svc serve', async (test) => {
    const model = await temporaryFolder(test)
    await writeTinyModel(model)
    const server = await startServer(['--model', model])
    test.after(() => server.stop())
    await writeFile(join(folder, 'question.txt'), 'what is this')
    const settings = {SVC_INFERENCE_URL: server.baseUrl, SVC_SPEECH_LLM_MAX_OUTPUT_TOKENS: '64'}
    const {stdout} = await listen(['question.txt', '--route', 'chat', '--json'], {env: settings})
    const {route} = eventsOf(stdout).at(-1) as unknown as ListenV1
    assert.deepEqual([route.action, route.status], ['chat.turn', 'executed'])
    assert.equal(typeof (route.payload as {response: unknown}).response, 'string')
  })

  it('polishes uncertain text with the configured model, before it is printed and used', async (test) => {
    const correction = JSON.stringify({corrected_text: 'list tasks', confidence: 0.95})
    const {baseUrl} = await openAiServer(test, {answer: completion(correction)})
    await writeFile(join(folder, 'unclear.txt'), 'list taxes')
    const args = ['unclear.txt', '--route', 'tool', '--polish', '--output', 'polished.srt']
    const {stdout} = await listen(args, {env: {SVC_INFERENCE_URL: baseUrl}})
    assert.match(stdout, /^list tasks\n\{\n {2}"tasks": \[/)
    assert.match(await readFile(join(folder, 'polished.srt'), 'utf8'), /\nlist tasks\n/)
    const {stdout: unpolished} = await listen(['unclear.txt', '--route', 'tool', '--polish', '--json'], {
      env: {SVC_INFERENCE_URL: 'http://127.0.0.1:9'},
    })
    const {session, llm_refinement: report} = eventsOf(unpolished).at(-1) as unknown as ListenV1
    assert.deepEqual([session.text, report.applied], ['list taxes', false])
    assert.match(String(report.reason), /failed$/)
  })

  it('uses live speech utterance by utterance', async () => {
    const input = Buffer.concat([await readFile(raw), Buffer.alloc(32_000), await readFile(raw)])
    const {stdout} = await listen(['-', '--route', 'tool', '--json'], {input})
    const routed = eventsOf(stdout).filter(({type}) => type === 'routed')
    for (const event of routed) assert.deepEqual(await contractViolations('speech/event.v1', event), [])
    assert.deepEqual(
      routed.map((event) => (event as unknown as {route: {status: string}}).route.status),
      ['no_match', 'repetition_breaker'],
    )
  })
})

describe('svc listen --output', () => {
  it('writes subtitles', async () => {
    await printed()
    assert.match(await readFile(join(folder, 'hello.srt'), 'utf8'), /^1\n00:00:00,\d{3} --> 00:00:02,\d{3}\nhello and/)
  })

  it('writes the same file as svc transcribe if nothing was said', async () => {
    await writeFile(join(folder, 'silence.wav'), monoWave(new Float32Array(16_000)))
    for (const [extension, content] of Object.entries({srt: '\n', vtt: 'WEBVTT\n\n'})) {
      await listen(['silence.wav', '--output', `silence.${extension}`])
      assert.equal(await readFile(join(folder, `silence.${extension}`), 'utf8'), content)
    }
  })

  it('overwrites a file only with --overwrite', async () => {
    await writeFile(join(folder, 'kept.txt'), 'mine')
    const {stderr, exitCode} = await listen([hello, '--output', 'kept.txt'])
    assert.match(stderr, /\(output_exists\)/)
    assert.equal(exitCode, 4)
    assert.equal(await readFile(join(folder, 'kept.txt'), 'utf8'), 'mine')
    await listen([hello, '--output', 'kept.txt', '--overwrite'])
    assert.equal(await readFile(join(folder, 'kept.txt'), 'utf8'), `${text}\n`)
  })

  it('changes nothing if it fails before anything was said', async () => {
    await writeFile(join(folder, 'earlier.txt'), 'mine')
    for (const [path, flags] of [
      ['earlier.txt', ['--overwrite']],
      ['new.txt', []],
    ] as const)
      for (const args of [['missing.wav'], [hello, '--model', 'nowhere'], [hello, '--speakers', 'Ann']]) {
        const {exitCode} = await listen([...args, '--output', path, ...flags])
        assert.notEqual(exitCode, 0)
        assert.equal(await readFile(join(folder, path), 'utf8').catch(() => 'none'), flags.length > 0 ? 'mine' : 'none')
      }
  })

  it('never replaces its input', async () => {
    await writeFile(join(folder, 'said.txt'), 'the tests pass')
    for (const [flags, env] of [
      [['--output', 'said.txt', '--overwrite'], {}],
      [['--emit-asr-refine', 'said.txt'], {}],
      [[], {SVC_SPEECH_EMIT_PARTIAL_PATH: 'said.txt'}],
    ] as const) {
      const {stderr, exitCode} = await listen(['said.txt', ...flags], {env})
      assert.match(stderr, /\(output_is_input\)/)
      assert.deepEqual([await readFile(join(folder, 'said.txt'), 'utf8'), exitCode], ['the tests pass', 4])
    }
  })

  it('refuses other extensions', async () => {
    const {stderr, exitCode} = await listen([hello, '--output', 'hello.doc'])
    assert.match(stderr, /The extension of hello\.doc must be \.txt, \.srt, \.vtt or \.jsonl\./)
    assert.equal(exitCode, 2)
  })

  it('fails if the disk is full', {skip: process.platform === 'linux' ? false : 'needs /dev/full'}, async () => {
    await symlink('/dev/full', join(folder, 'full.txt'))
    const {stderr, exitCode} = await listen([hello, '--output', 'full.txt', '--overwrite'])
    assert.match(stderr, /\(disk_full\)/)
    assert.equal(exitCode, 1)
  })
})

describe('svc listen with a microphone', () => {
  it('records until Ctrl-C, and prints what was said', async (test) => {
    const bin = await temporaryFolder(test)
    const path = await fakeRecorder(bin, 'arecord', {repeats: spoken})
    const listening = startSvc(['listen', '--json'], {cwd: folder, env: {...env, PATH: path}})
    let stdout = ''
    await new Promise<void>((resolve) => {
      listening.stdout?.on('data', (data) => {
        stdout += String(data)
        if (/"stable_text":"hello and/.test(stdout)) resolve()
      })
    })
    listening.kill('SIGINT')
    const {exitCode} = await listening
    assert.equal(exitCode, 0)
    const events = eventsOf(stdout)
    assert.match(events.at(-1)?.session?.text ?? '', /^hello and/)
    assert.equal(events.at(-2)?.type, 'final')
  })

  it('shows words on a terminal while they are spoken', {skip: skipWithoutProgram('script')}, async (test) => {
    const bin = await temporaryFolder(test)
    const path = await fakeRecorder(bin, 'arecord', {repeats: spoken})
    const terminal = startTerminal(test, `stty -echo; exec ${process.execPath} ${svcBinary} listen`, {
      cwd: folder,
      env: {...env, PATH: `${path}:${process.env.PATH ?? ''}`},
    })
    const screens = (shown: string) => shown.split('\r\u001b[2K')
    // Stable words stand before dimmed ones.
    await until(
      () => screens(terminal.shown()).some((screen) => /^\S hello/.test(screen) && screen.includes('\u001b[2m ')),
      terminal.shown,
    )
    terminal.type('\u0003')
    const {output} = await terminal.ended
    assert.match(output, /Listening\. Press Ctrl-C to stop\./)
    assert.ok(
      screens(output).some((screen) => /^hello [a-z ]+\r\n/.test(screen)),
      'the final line replaces the live one',
    )
  })

  it('fails if no recording program is installed', async (test) => {
    const bin = await temporaryFolder(test)
    const {stderr, exitCode} = await svcInTurn(['listen'], {cwd: folder, env: {...env, PATH: bin}})
    assert.match(stderr, /No program that records from a microphone is on the PATH.*arecord.*\(recorder_missing\)/)
    assert.match(stderr, /hint: Install a recording program, such as /)
    assert.equal(exitCode, 5)
  })

  it('fails with the message of a program that cannot record', async (test) => {
    const path = await fakeRecorder(await temporaryFolder(test), 'arecord', {dies: 'audio open error: No such device'})
    const {stderr, exitCode} = await svcInTurn(['listen'], {cwd: folder, env: {...env, PATH: path}})
    assert.match(stderr, /Recording with arecord failed: audio open error: No such device\. \(recorder_failed\)/)
    assert.equal(exitCode, 5)
  })

  it('prints what was said before the recorder died', async (test) => {
    const recording = {dies: 'the microphone was unplugged', after: raw}
    const path = await fakeRecorder(await temporaryFolder(test), 'arecord', recording)
    const {stdout, stderr, exitCode} = await svcInTurn(['listen'], {cwd: folder, env: {...env, PATH: path}})
    assert.equal(stdout, `${text}\n`)
    assert.match(stderr, /the microphone was unplugged/)
    assert.equal(exitCode, 5)
  })

  it('fails if no audio arrives', async (test) => {
    const path = await fakeRecorder(await temporaryFolder(test), 'arecord', 'mute')
    const {stderr, exitCode} = await svcInTurn(['listen', '--timeout-ms', '300'], {
      cwd: folder,
      env: {...env, PATH: path},
    })
    assert.match(stderr, /No audio arrived for 300 ms\. \(speech_capture_timeout\)/)
    assert.equal(exitCode, 1)
  })

  it('warns once about a microphone that delivers only silence, and prints nothing', async (test) => {
    const path = await fakeRecorder(await temporaryFolder(test), 'arecord', 'zeros')
    const listening = startInTurn(['listen'], {cwd: folder, env: {...env, PATH: path}})
    while (!listening.stderr().includes('only silence')) await listening.told()
    listening.signal('SIGINT')
    const {stdout, stderr, exitCode} = await listening.ended
    assert.equal(stderr.match(/warning: The microphone delivers only silence\. Unmute it, /g)?.length, 1)
    assert.deepEqual([stdout, exitCode], ['', 0])
  })

  it('tries the next program if one cannot record', async (test) => {
    const bin = await temporaryFolder(test)
    await mkdir(bin, {recursive: true})
    await fakeRecorder(bin, 'pw-record', {dies: 'no PipeWire here'})
    const path = await fakeRecorder(bin, 'arecord', {plays: raw})
    const {stdout} = await svcInTurn(['listen', '--once'], {cwd: folder, env: {...env, PATH: path}})
    assert.equal(stdout, `${text}\n`)
  })
})
