import assert from 'node:assert/strict'
import {copyFile, mkdir, readFile, symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {contractViolations, type ListenV1, type TranscribeV1} from '../../src/contracts/index.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {type After, connect, hello, once, starter, workspace} from './support.js'

/** A workspace with a recording, and a tool client configured with the small model. */
async function listening(t: After, env: Readonly<Record<string, string>> = {}) {
  const cwd = await workspace(t)
  await copyFile(hello, join(cwd, 'hello.wav'))
  const server = await connect(t, {cwd, env: {SVC_SPEECH_MODEL: starter, SVC_SPEECH_THREADS: '1', ...env}})
  return {
    ...server,
    cwd,
    hear: (args: Record<string, unknown>, options: object = {}) =>
      server.call<TranscribeV1>('svc_speech_transcribe', args, options),
  }
}

const pairOf = (text: string) => ({noisy_text: text, corrected_text: text})

describe('speech tools', () => {
  /** Shared server for tests without settings of their own. */
  const server = once((test) => listening(test))

  it('transcribe a recording like the command line and report progress', async () => {
    const {client, hear, cwd} = await server()
    const events: {progress: number; total?: number | undefined}[] = []
    // The client removes the progress handler when it reads the response, which may arrive together with the progress.
    client.setNotificationHandler('notifications/progress', ({params}) => void events.push(params))
    const heard = await hear({path: 'hello.wav'}, {onprogress: () => undefined})
    assert.deepEqual(await contractViolations('cli/transcribe.v1', heard), [])
    assert.equal(heard.path, join(cwd, 'hello.wav'))
    const {stdout} = await svcInTurn(['transcribe', 'hello.wav', '--json', '--model', starter, '--threads', '1'], {
      cwd,
    })
    assert.equal(heard.text, JSON.parse(stdout).text)
    assert.ok(events.length > 0)
    assert.ok((events[0]?.total ?? 0) > 0)
    const again = await hear({path: join(cwd, 'hello.wav')})
    assert.deepEqual([again.text, again.timings?.load_ms], [heard.text, 0], 'the model is still loaded')
    assert.notEqual(again.correlation_id, heard.correlation_id)
  })

  it('refine a text according to the profile and return the original', async () => {
    const {hear, cwd} = await server()
    await writeFile(join(cwd, 'note.md'), 'create  a a function called  main')
    const texts = []
    for (const profile of ['conservative', 'balanced', 'aggressive'])
      texts.push(await hear({path: 'note.md', profile, debug_parser_payload: true}))
    assert.deepEqual(
      texts.map(({confidence}) => confidence > 0 && confidence < 1),
      [true, true, true],
    )
    assert.equal(new Set(texts.map(({confidence}) => confidence)).size, 3)
    const [first] = texts
    assert.ok((first?.correction_trace ?? []).length > 0)
    assert.ok(first?.runtime_config?.refine)
    const plain = await hear({path: 'note.md'})
    assert.deepEqual([plain.correction_trace, plain.runtime_config], [undefined, undefined])
    assert.equal(plain.raw_text, 'create  a a function called  main')
  })

  it('transcribe one recording at a time', async () => {
    const {hear} = await server()
    const [first, second] = await Promise.all([hear({path: 'hello.wav'}), hear({path: 'hello.wav'})])
    assert.equal(first?.text, second?.text)
    assert.equal(second?.timings?.load_ms, 0)
  })

  it('read only recordings inside the workspace, even through links', async (t) => {
    const {hear, fails, cwd} = await server()
    const outside = await workspace(t)
    await copyFile(hello, join(outside, 'secret.wav'))
    await symlink(join(outside, 'secret.wav'), join(cwd, 'link.wav'))
    await symlink(outside, join(cwd, 'folder'))
    await symlink(join(cwd, 'hello.wav'), join(cwd, 'own.wav'))
    for (const path of [
      '../x.wav',
      join(outside, 'secret.wav'),
      join(outside, 'missing.wav'),
      'link.wav',
      'folder/secret.wav',
      `${cwd}-other/x.wav`,
      '.',
    ])
      await fails('path_denied', 'svc_speech_transcribe', {path})
    await fails('file_not_found', 'svc_speech_transcribe', {path: 'missing.wav'})
    assert.match((await hear({path: 'own.wav'})).text, /\w/)
  })

  it('read recordings from the configured folder', async (t) => {
    const recordings = await workspace(t)
    await writeFile(join(recordings, 'a.md'), 'a text that was said')
    const {hear, fails} = await listening(t, {SVC_SPEECH_WORKSPACE: recordings})
    assert.equal((await hear({path: 'a.md'})).path, join(recordings, 'a.md'))
    await fails('file_not_found', 'svc_speech_transcribe', {path: 'hello.wav'})
  })

  it('write a program in the code domain', async (t) => {
    const {hear, cwd} = await listening(t, {SVC_SPEECH_DOMAIN_MODE: 'code'})
    const spoken = 'fn go open paren close paren open brace close brace'
    await writeFile(join(cwd, 'note.md'), spoken)
    const {text, n_best: readings} = await hear({path: 'note.md'})
    assert.deepEqual([text, readings], ['fn go() { }', ['fn go() { }', spoken]])
  })

  it('transcribe a recording as a session, with its limits and settings', async () => {
    const {cwd, call} = await server()
    const heard = await call<ListenV1>('svc_speech_listen', {
      path: 'hello.wav',
      session_id: 'my-session',
      inference_deadline_ms: 60_000,
      route_mode: 'none',
      debug_parser_payload: true,
    })
    assert.deepEqual(await contractViolations('cli/listen.v1', heard), [])
    const {session, route, runtime_config: runtime} = heard
    assert.deepEqual(
      [session.session_id, session.text, session.state, session.path],
      ['my-session', 'hello and welcome to your own machine', 'completed', join(cwd, 'hello.wav')],
    )
    assert.deepEqual(
      session.deadline_diagnostics.map(({phase, limit_ms: limit, taxonomy}) => [phase, limit, taxonomy]),
      [['transcribe', 60_000, 'ok']],
    )
    assert.equal(session.timings.capture_timeout_ms, 12_000)
    assert.equal(route.status, 'no_route')
    assert.ok(runtime)
  })

  it('transcribe a text as a session', async () => {
    const {cwd, call} = await server()
    await writeFile(join(cwd, 'memo.md'), 'so  hello')
    const heard = await call<ListenV1>('svc_speech_listen', {path: 'memo.md', language_hint: 'english'})
    const {session} = heard
    assert.equal(session.text, 'so hello')
    assert.deepEqual(
      [heard.n_best, session.n_best],
      [
        ['so hello', 'so  hello'],
        ['so hello', 'so  hello'],
      ],
    )
    assert.deepEqual(session.language_diagnostics.notes, ['language_hint_name_mapped'])
    await writeFile(join(cwd, 'memo.md'), 'hello')
    const sure = await call<ListenV1>('svc_speech_listen', {path: 'memo.md'})
    assert.ok(!('n_best' in sure) && !('n_best' in sure.session))
  })

  it('use a text as a command, a task or a chat', async () => {
    const {cwd, call} = await server()
    const use = async (text: string, request: object) => {
      await writeFile(join(cwd, 'said.txt'), text)
      const heard = await call<ListenV1>('svc_speech_listen', {path: 'said.txt', ...request})
      assert.deepEqual(await contractViolations('cli/listen.v1', heard), [])
      return heard
    }
    const queued = await use('fix the login page', {route_mode: 'orchestrator', emit_asr_refine_path: 'pairs.jsonl'})
    assert.deepEqual([queued.route.action, queued.route.status], ['orchestrator.enqueue', 'queued'])
    assert.equal(await readFile(join(cwd, 'pairs.jsonl'), 'utf8'), `${JSON.stringify(pairOf('fix the login page'))}\n`)
    const {task_id: id} = queued.route.payload as {task_id: number}
    const shown = await use(`show task ${id}`, {route_mode: 'tool'})
    assert.deepEqual([shown.route.action, shown.route.status], ['speech.operation.get_task', 'executed'])
    assert.equal(
      (shown.route.payload as {result: {task: {description: string}}}).result.task.description,
      'fix the login page',
    )
    assert.equal(shown.intent_envelope?.action, 'operation')
    const asked = await use('submit a task write the docs', {route_mode: 'tool'})
    assert.deepEqual(
      [asked.route.status, (asked.route.payload as {needs_confirmation: boolean}).needs_confirmation],
      ['intent_matched', true],
    )
    const unclear = await use('create a function', {route_mode: 'tool'})
    assert.deepEqual(
      [unclear.intent_slot_gaps, unclear.slot_clarification],
      [['target_path_or_symbol'], 'Which file or function do you mean?'],
    )
  })

  it('obey limits', async () => {
    const {fails, hear} = await server()
    for (const tool of ['svc_speech_listen', 'svc_speech_transcribe'])
      await fails('speech_inference_timeout', tool, {path: 'hello.wav', inference_deadline_ms: 1})
    await fails('speech_deadline_exceeded', 'svc_speech_transcribe', {path: 'hello.wav', max_duration_ms: 1})
    const {deadline_diagnostics: diagnostics} = await hear({
      path: 'hello.wav',
      route_mode: 'tool',
      max_duration_ms: 60_000,
    })
    assert.deepEqual(
      diagnostics?.map(({phase}) => phase),
      ['session_total'],
    )
  })

  it('report invalid recordings and languages', async () => {
    const {fails, cwd} = await server()
    await writeFile(join(cwd, 'noise.wav'), 'this is no sound')
    await fails('audio_unrecognized', 'svc_speech_transcribe', {path: 'noise.wav'})
    await mkdir(join(cwd, 'sub'))
    const {success} = await fails('file_unreadable', 'svc_speech_transcribe', {path: 'sub'})
    assert.equal(success, false)
    await fails('invalid_arguments', 'svc_speech_transcribe', {path: 'hello.wav', profile: 'wild'})
  })

  it('stop transcribing when the call is cancelled', async () => {
    const {client, hear} = await server()
    const controller = new AbortController()
    const wanted = client.callTool(
      {name: 'svc_speech_transcribe', arguments: {path: 'hello.wav'}},
      {
        signal: controller.signal,
      },
    )
    const refused = assert.rejects(wanted)
    controller.abort()
    await refused
    assert.match((await hear({path: 'hello.wav'})).text, /\w/)
  })

  it('report the same status as the command line', async () => {
    const {call, cwd} = await server()
    const status = await call('svc_speech_status')
    assert.deepEqual(await contractViolations('cli/speech-status.v1', status), [])
    const {stdout} = await svcInTurn(['speech', 'status', '--json'], {cwd, env: {SVC_SPEECH_MODEL: starter, HOME: cwd}})
    assert.deepEqual(status, JSON.parse(stdout))
  })
})
