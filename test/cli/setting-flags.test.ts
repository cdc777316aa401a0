import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {Parser} from '@oclif/core'
import {settingFlags} from '../../src/cli/index.js'
import {speechAudioSettings, speechRefineSettings, speechSettings} from '../../src/config/index.js'
import {isErrorOf} from '../../src/errors/index.js'

const flags = {
  ...settingFlags(speechSettings),
  ...settingFlags(speechRefineSettings),
  ...settingFlags(speechAudioSettings),
}
const parse = async (...argv: string[]) => {
  const {flags: parsed} = await Parser.parse(argv, {flags})
  return Object.fromEntries(Object.entries(parsed as object).filter(([, value]) => value !== undefined))
}

describe('the flags of settings', () => {
  it('have no default, so that the other sources of the setting apply', async () => {
    assert.deepEqual(await parse(), {})
  })

  it('parse values like the settings', async () => {
    assert.deepEqual(await parse('--beam', '5', '--domain', 'code', '--hotwords', 'get user, MESH'), {
      beam: 5,
      domain: 'code',
      hotwords: ['get user', 'MESH'],
    })
  })

  it('accept no value if they are boolean', async () => {
    assert.deepEqual(await parse('--word-timestamps'), {'word-timestamps': true})
    assert.deepEqual(await parse('--no-word-timestamps'), {'word-timestamps': false})
  })

  it('refuse a value that the setting does not accept', async () => {
    await assert.rejects(
      parse('--beam', 'many'),
      (error: Error) =>
        isErrorOf(error, 'flag_value') &&
        /--beam must be a whole number from 1 to 64, not "many"\./.test(error.message),
    )
  })

  for (const value of ['-1', '4.9', '28.1', '1e9', 'nan', 'Infinity'])
    it(`refuse ${value} for --chunk-sec, although a variable out of range is clamped`, async () => {
      await assert.rejects(parse(`--chunk-sec=${value}`), (error: Error) => {
        assert.ok(error.message.includes(`--chunk-sec must be 0, or a number from 5 to 28, not "${value}".`))
        return isErrorOf(error, 'flag_value')
      })
    })

  it('accept a number within the range, and 0 to turn a feature off', async () => {
    assert.deepEqual(await parse('--chunk-sec=28'), {'chunk-sec': 28})
    assert.deepEqual(await parse('--chunk-sec=0'), {'chunk-sec': 0})
  })

  it('describe their purpose, default and environment variable', () => {
    assert.match(flags.beam?.description ?? '', /\. \(default: 1; env: SVC_SPEECH_BEAM_SIZE\)$/)
    assert.match(flags.language?.description ?? '', /\. \(default: detected; env: SVC_SPEECH_LANGUAGE\)$/)
    assert.match(flags['word-timestamps']?.description ?? '', /\. \(default: off; env: SVC_SPEECH_WORD_TIMESTAMPS\)$/)
    assert.match(flags.hotwords?.description ?? '', /\. \(env: SVC_SPEECH_SESSION_HOTWORDS\)$/)
  })

  it('can be limited to some settings of a table', () => {
    assert.deepEqual(Object.keys(settingFlags(speechSettings, 'model', 'beamSize')), ['model', 'beam'])
  })
})
