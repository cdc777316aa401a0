import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import Subtitle from '../../commands/speech/subtitle.js'
import Transcribe from '../../commands/transcribe.js'
import {foreignFlags, refuseForeign} from '../../src/cli/foreign-flags.js'
import {fromOclif} from '../../src/cli/oclif-errors.js'

/** An error of the argument parser for an unknown flag of a command. */
class NonExistentFlagsError extends Error {
  oclif = {}
  flags: string[]
  parse: object

  constructor(flag: string, flags: object) {
    super(flag)
    this.flags = [flag]
    this.parse = {input: {flags}}
  }
}

describe('the flags of other speech programs', () => {
  for (const [foreign, own] of Object.entries(foreignFlags))
    it(`${foreign} leads to ${own}`, () => {
      const suggestions = [Transcribe, Subtitle].map(({flags}) => {
        const failure = fromOclif(
          new NonExistentFlagsError(foreign.replace(/(?<=\w)-/g, '_'), {...flags, ...Transcribe.baseFlags}),
        )
        return (failure?.params as {suggestion?: string} | undefined)?.suggestion
      })
      assert.ok(suggestions.includes(own), `${suggestions}`)
    })

  it('are refused before -osrt becomes an output directory', () => {
    for (const words of [
      ['talk.wav', '-osrt'],
      ['-ot', '500', 'talk.wav'],
      ['-ml', '40', '--', 'talk.wav'],
    ])
      assert.throws(() => refuseForeign(words), {code: 'flag_unknown'}, words.join(' '))
    assert.throws(() => refuseForeign(['-osrt']), {message: 'Unknown flag -osrt. Did you mean --format srt?'})
    for (const words of [['-o', 'srt'], ['-q', '-m', 'base', 'talk.wav'], ['--', '-osrt'], ['-osubtitles'], ['-t']])
      refuseForeign(words)
  })
})
