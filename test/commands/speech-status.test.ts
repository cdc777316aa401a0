import assert from 'node:assert/strict'
import {chmod, mkdir, realpath} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {contractViolations, type SpeechDoctorV1, type SpeechStatusV1} from '../../src/contracts/index.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

/** Creates a workspace with an empty home folder and an empty cache. */
async function workspace(test: TestContext, files: Record<string, string> = {}) {
  const cwd = await realpath(await temporaryFolder(test))
  await writeFiles(cwd, files)
  const home = {HOME: cwd, HF_HUB_CACHE: join(cwd, 'hub')}
  return {
    cwd,
    run: (args: string[], env: Record<string, string> = {}) => svcInTurn(args, {cwd, env: {...home, ...env}}),
  }
}

async function status(run: Awaited<ReturnType<typeof workspace>>['run'], env: Record<string, string> = {}) {
  const {stdout, stderr, exitCode} = await run(['speech', 'status', '--json'], env)
  assert.equal(exitCode, 0, stderr)
  const result = JSON.parse(stdout) as SpeechStatusV1
  assert.deepEqual(await contractViolations('cli/speech-status.v1', result), [])
  return {result, stderr}
}

async function doctor(run: Awaited<ReturnType<typeof workspace>>['run'], env: Record<string, string> = {}) {
  const {stdout, stderr, exitCode} = await run(['speech', 'doctor', '--json'], env)
  const result = JSON.parse(stdout) as SpeechDoctorV1
  assert.deepEqual(await contractViolations('cli/speech-doctor.v1', result), [])
  assert.equal(exitCode, result.result === 'ok' ? 0 : 1)
  const check = (name: string) => {
    const found = result.checks.find((candidate) => candidate.name === name)
    assert.ok(found, name)
    return found
  }
  return {result, check, stderr}
}

describe('svc speech status', () => {
  it('shows the defaults on a machine without settings', async (test) => {
    const {result, stderr} = await status((await workspace(test)).run)
    assert.equal(stderr, '')
    assert.equal(result.summary, 'Speech: ONNX CTC on CPU; .txt/.md passthrough')
    assert.equal(result.engine.backend, 'onnx-ctc')
    assert.deepEqual([result.model, result.model_dir], [null, null])
    assert.equal(result.cuda_requested_via_env, false)
    assert.equal(result.engine.default_model, 'openai/whisper-tiny.en')
    assert.equal(result.engine.multilingual, false)
    assert.deepEqual(result.runtime, {
      session_timing: {
        capture_timeout_ms: 12000,
        max_duration_ms: 120000,
        inference_deadline_ms: 0,
        heartbeat_ms: 3000,
      },
      refine: {
        conservative_base: 0.82,
        balanced_base: 0.87,
        aggressive_base: 0.9,
        penalty_per_trace: 0.015,
        penalty_cap: 0.25,
        conf_min: 0.1,
        conf_max: 0.99,
      },
      routing: {
        tool_route_min_confidence: 0.55,
        chat_max_messages: 64,
        route_max_user_turns: 32,
        orchestrator_min_confidence: 0.45,
      },
      hf: {retry_attempts: 3, retry_delay_ms: 600},
      llm: {
        llm_refinement_default: false,
        llm_min_det_confidence: 0.82,
        llm_max_output_tokens: 512,
        llm_deadline_ms: 5000,
      },
      logit: {bias_strength: 0.8, bias_max_tokens: 256, constrained_trie: false, trie_stuck_steps: 2},
    })
    assert.equal(result.active_model?.name, 'starter')
    assert.doesNotMatch(JSON.stringify(result), /\bwss?:|\bhttps?:|\/api\//, 'nothing of it is served')
  })

  it('reads settings from the environment, the file of SVC_SPEECH_CONFIG and Svc.toml, in this order', async (test) => {
    const {run} = await workspace(test, {
      'speech.toml':
        'capture_timeout_ms = 5000\nchat_max_messages = 9\ntool_route_min_confidence = 0.6\nrefine_balanced_base = 0.88\n',
      'Svc.toml': '[speech]\ncapture_timeout_ms = 6000\nheartbeat_ms = 4000\nroute_max_user_turns = 9\n',
    })
    const env = {SVC_SPEECH_CONFIG: 'speech.toml', SVC_SPEECH_TOOL_ROUTE_MIN_CONFIDENCE: '0.71'}
    const {result, stderr} = await status(run, env)
    assert.equal(stderr, '')
    assert.equal(result.runtime.session_timing.capture_timeout_ms, 5000)
    assert.equal(result.runtime.session_timing.heartbeat_ms, 4000)
    assert.equal(result.runtime.routing.tool_route_min_confidence, 0.71)
    assert.equal(result.runtime.refine.balanced_base, 0.88)
  })

  it('also reads the download retries from these sources', async (test) => {
    const {run} = await workspace(test, {
      'speech.toml': 'hf_retry_attempts = 2\n',
      'Svc.toml': '[speech]\nhf_retry_attempts = 4\nhf_retry_delay_ms = 50\n',
    })
    const {result, stderr} = await status(run, {SVC_SPEECH_CONFIG: 'speech.toml'})
    assert.equal(stderr, '')
    assert.deepEqual(result.runtime.hf, {retry_attempts: 2, retry_delay_ms: 50})
    const {runtime} = (await status(run, {SVC_SPEECH_HF_RETRY_ATTEMPTS: '7'})).result
    assert.equal(runtime.hf.retry_attempts, 7)
  })

  it('finds a model in its folder or in the cache, and reports a missing one', async (test) => {
    const {cwd, run} = await workspace(test)
    await writeTinyModel(join(cwd, 'base'))
    await writeTinyModel(join(cwd, 'hub/models--acme--whisper/snapshots/main'))
    for (const [model, place] of [
      ['base', join(cwd, 'base')],
      ['acme/whisper', join(cwd, 'hub/models--acme--whisper/snapshots/main')],
      ['acme/other.en', null],
    ] as const) {
      const {result} = await status(run, {SVC_SPEECH_MODEL: model})
      assert.deepEqual([result.model, result.model_dir], [model, place])
      assert.deepEqual(result.active_model, place === null ? null : {name: model, dir: place})
      assert.equal(result.engine.multilingual, !model.endsWith('.en'))
    }
  })

  it('searches the folder of SVC_SPEECH_CACHE_DIR', async (test) => {
    const {cwd, run} = await workspace(test)
    const place = join(cwd, 'cache/models--acme--whisper/snapshots/main')
    await writeTinyModel(place)
    const env = {SVC_SPEECH_MODEL: 'acme/whisper', SVC_SPEECH_CACHE_DIR: join(cwd, 'cache')}
    assert.equal((await status(run, env)).result.model_dir, place)
  })

  it('distinguishes a GPU requested by the variable from one requested by a file', async (test) => {
    const {run} = await workspace(test, {'speech.toml': 'device = "cuda"\n'})
    const variable = (await status(run, {SVC_SPEECH_CUDA: '1'})).result
    assert.deepEqual([variable.device, variable.cuda_requested_via_env, variable.inference_note], ['cuda', true, null])
    const file = (await status(run, {SVC_SPEECH_CONFIG: 'speech.toml'})).result
    assert.deepEqual([file.device, file.cuda_requested_via_env], ['cuda', false])
  })

  it('prints plain text without the token', async (test) => {
    const {cwd, run} = await workspace(test)
    await writeTinyModel(join(cwd, 'base'))
    const env = {SVC_SPEECH_TOKEN: 'tok-1234567', SVC_SPEECH_MODEL: 'base', SVC_SPEECH_PRECISION: 'f32'}
    const {stdout} = await run(['speech', 'status'], env)
    const [summary, blank, header, model, device, precision] = stdout.split('\n')
    assert.equal(summary, 'Speech: ONNX Whisper on CPU; .txt/.md passthrough')
    assert.equal(blank, '')
    assert.match(header ?? '', /^WHAT +IS$/)
    assert.match(model ?? '', new RegExp(`^model +base in ${join(cwd, 'base')}$`))
    assert.match(device ?? '', /^device +cpu/)
    assert.match(precision ?? '', /^precision +f32$/)
    assert.doesNotMatch(stdout, /1234567|[{}]/)
    const absent = await run(['speech', 'status'], {SVC_SPEECH_MODEL: 'acme/whisper'})
    assert.match(absent.stdout, /^model +acme\/whisper \(not on this machine\)$/m)
  })
})

describe('svc speech doctor', () => {
  it('passes if a model is installed', async (test) => {
    const {cwd, run} = await workspace(test)
    await writeTinyModel(join(cwd, 'base'))
    const {result, check} = await doctor(run, {SVC_SPEECH_MODEL: 'base', SVC_ACTIVE_FILE: 'a.ts', SVC_ACTIVE_LINE: '7'})
    assert.equal(result.result, 'ok')
    assert.equal(check('engine').value, 'ONNX Runtime on cpu')
    assert.equal(check('model').value, `base in ${join(cwd, 'base')}`)
    assert.match(check('decoders').value, /^wav, flac, mp3, ogg opus, ogg vorbis$/)
    assert.equal(check('ide_context').value, 'a.ts:7')
    assert.equal(check('cache').value, join(cwd, 'hub'))
  })

  it('falls back to the starter model, and suggests one for real speech', async (test) => {
    const {run} = await workspace(test)
    const {result, check} = await doctor(run)
    assert.equal(result.result, 'ok')
    assert.equal(check('model').ok, true)
    assert.match(
      check('model').value,
      /^starter in .*, which recognises only synthetic voices and .* Run `svc speech pull tiny\.en`\.$/,
    )
  })

  it('fails if the configured model is missing, and suggests how to download it', async (test) => {
    const {run} = await workspace(test)
    const {result, check} = await doctor(run, {SVC_SPEECH_MODEL: 'acme/whisper'})
    assert.equal(result.result, 'failed')
    assert.deepEqual(check('model'), {
      name: 'model',
      ok: false,
      value: 'acme/whisper is not on this machine. Run `svc speech pull acme/whisper`.',
    })
    assert.deepEqual(
      result.checks.filter(({ok}) => !ok).map(({name}) => name),
      ['model'],
    )
  })

  it('fails if settings contradict each other', async (test) => {
    const {run} = await workspace(test)
    const {check} = await doctor(run, {SVC_SPEECH_MAX_DURATION_MS: '1000', SVC_SPEECH_REFINE_CONFIDENCE_MIN: '2'})
    assert.equal(check('runtime_config').ok, false)
    assert.match(
      check('runtime_config').value,
      /capture_timeout_ms \(12000\) must not exceed max_duration_ms \(1000\)\./,
    )
    assert.match(
      check('runtime_config').value,
      /refine_confidence_min \(2\) must not exceed refine_confidence_max \(0\.99\)\./,
    )
  })

  it('fails if the cache is not writable', async (test) => {
    const {run} = await workspace(test, {file: ''})
    const {check} = await doctor(run, {SVC_SPEECH_CACHE_DIR: 'file/deep'})
    assert.equal(check('cache').ok, false)
    assert.match(check('cache').value, /file\/deep is not writable\. Set SVC_SPEECH_CACHE_DIR/)
  })

  it('reports the path of ffmpeg, or that it is not installed', async (test) => {
    const {cwd, run} = await workspace(test, {'bin/ffmpeg': '#!/bin/sh\n'})
    await mkdir(join(cwd, 'empty'))
    await chmod(join(cwd, 'bin/ffmpeg'), 0o755)
    const found = (await doctor(run, {PATH: join(cwd, 'bin')})).check('ffmpeg')
    assert.deepEqual([found.ok, found.value], [true, join(cwd, 'bin/ffmpeg')])
    const none = (await doctor(run, {PATH: join(cwd, 'empty')})).check('ffmpeg')
    assert.deepEqual(
      [none.ok, none.value],
      [true, 'ffmpeg is not on the PATH; only WAV, FLAC, MP3 and Ogg can be read. Install ffmpeg.'],
    )
  })

  it('prints a table and the result', async (test) => {
    const {run} = await workspace(test)
    const {stdout, exitCode} = await run(['speech', 'doctor'], {SVC_SPEECH_MODEL: 'nowhere'})
    assert.match(stdout, /^CHECK +STATE +FOUND\nstatus_summary +ok +Speech: /)
    assert.match(stdout, /\nfailed\n$/)
    assert.equal(exitCode, 1)
  })
})

describe('svc config show with SVC_SPEECH_CONFIG', () => {
  it('shows values of the file, their sources, and overridden values', async (test) => {
    const {run} = await workspace(test, {
      'speech.toml': 'beam_size = 3\nvad = "passthrough"\n',
      'Svc.toml': '[speech]\nbeam_size = 2\n',
    })
    const env = {SVC_SPEECH_CONFIG: 'speech.toml', SVC_SPEECH_VAD: 'neural'}
    const {stdout, stderr} = await run(['config', 'show', '--json'], env)
    assert.equal(stderr, '')
    const result = JSON.parse(stdout)
    assert.deepEqual(await contractViolations('cli/config-show.v1', result), [])
    const setting = (name: string) => {
      const {value, origin, overridden} = result.settings.find((found: {name: string}) => found.name === name)
      return {value, origin, overridden}
    }
    assert.deepEqual(setting('speech.beam_size'), {
      value: 3,
      origin: {source: 'speech-config', name: 'beam_size'},
      overridden: [{source: 'file', name: 'speech.beam_size', value: 2}],
    })
    assert.deepEqual(setting('speech.vad'), {
      value: 'neural',
      origin: {source: 'env', name: 'SVC_SPEECH_VAD'},
      overridden: [{source: 'speech-config', name: 'vad', value: 'none'}],
    })
    const changed = await run(['config', 'show', '--changed'], env)
    assert.match(changed.stdout, /\nspeech\.beam_size +3 +speech-config beam_size +file speech\.beam_size = 2\n/)
  })

  it('resolves the path relative to the working directory', async (test) => {
    const {cwd, run} = await workspace(test, {'inner/speech.toml': 'beam_size = 3\n'})
    const args = ['config', 'show', '--changed', '-C', join(cwd, 'inner')]
    assert.match((await run(args, {SVC_SPEECH_CONFIG: 'speech.toml'})).stdout, /speech\.beam_size +3/)
  })

  it('warns once about an unreadable file, and continues', async (test) => {
    const {cwd, run} = await workspace(test, {'speech.toml': 'beam_size = "two"\n', 'odd.toml': 'beam_sise = 2\n'})
    for (const [file, says] of [
      ['speech.toml', `SVC_SPEECH_CONFIG is ignored: ${join(cwd, 'speech.toml')}: beam_size must be a whole number`],
      ['odd.toml', `${join(cwd, 'odd.toml')}: unknown setting beam_sise. Did you mean beam_size?`],
      ['missing.toml', 'SVC_SPEECH_CONFIG is ignored: '],
    ] as const)
      for (const command of [
        ['config', 'check'],
        ['config', 'show'],
        ['speech', 'status'],
        ['contracts', 'list'],
      ]) {
        const {stderr, exitCode} = await run(command, {SVC_SPEECH_CONFIG: file})
        assert.equal(exitCode, 0)
        assert.equal(stderr.split('\n').length, 2, stderr)
        assert.ok(stderr.startsWith(`warning: ${says}`), stderr)
        assert.ok(stderr.includes(file))
      }
    const checked = await run(['config', 'check', '--json'], {SVC_SPEECH_CONFIG: 'odd.toml'})
    assert.deepEqual(
      JSON.parse(checked.stdout).warnings.map(({subject}: {subject: string}) => subject),
      ['beam_sise'],
    )
  })

  it('stops every command on a wrong type in [speech] of Svc.toml', async (test) => {
    const {run} = await workspace(test, {'Svc.toml': '[speech]\nbeam_size = "two"\n'})
    const {stderr, exitCode} = await run(['speech', 'status'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /speech\.beam_size must be a whole number from 1 to 64, not "two"/)
  })
})
