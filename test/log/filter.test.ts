import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {parseLogFilter} from '../../src/log/index.js'

describe('parseLogFilter', () => {
  const cases: [filter: string, levels: Record<string, string>, invalid?: string[]][] = [
    ['', {llm: 'warn', '': 'warn'}],
    ['info', {llm: 'info', mesh: 'info'}],
    ['DEBUG', {llm: 'debug'}],
    ['off', {llm: 'silent'}],
    ['speech_gpu=info', {speech_gpu: 'info', llm: 'warn'}],
    ['info,llm=debug', {llm: 'debug', mesh: 'info'}],
    ['llm=debug,info', {llm: 'debug', mesh: 'info'}],
    [' info , llm = debug ,, ', {llm: 'debug', mesh: 'info'}],
    ['llm=debug', {'llm.scheduler': 'debug', llmx: 'warn', 'svc.llm': 'warn'}],
    ['llm=debug,llm.scheduler=error', {'llm.scheduler': 'error', 'llm.scheduler.slot': 'error', 'llm.cache': 'debug'}],
    ['llm.scheduler=error,llm=debug', {'llm.scheduler': 'error', llm: 'debug'}],
    ['debug,llm=off', {llm: 'silent', 'llm.cache': 'silent', mesh: 'debug'}],
    ['llm=debug,llm=error', {llm: 'error'}],
    ['info,warn', {llm: 'warn'}],
    ['loud', {llm: 'warn'}, ['loud']],
    ['info,llm=loud,mesh=debug', {llm: 'info', mesh: 'debug'}, ['llm=loud']],
    ['llm=', {llm: 'warn'}, ['llm=']],
    ['=debug', {llm: 'warn'}, ['=debug']],
  ]
  for (const [filter, levels, invalid = []] of cases)
    it(`"${filter}" logs ${Object.entries(levels)
      .map(([target, level]) => `${target || 'no target'} from ${level}`)
      .join(', ')}${invalid.length === 0 ? '' : ` and cannot read ${invalid}`}`, () => {
      const parsed = parseLogFilter(filter)
      for (const [target, level] of Object.entries(levels)) assert.equal(parsed.level(target), level, target)
      assert.deepEqual(parsed.invalid, invalid)
    })
})
