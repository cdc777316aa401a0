import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {resolveSettings, telemetrySettings} from '../../src/config/index.js'

const resolve = (env: Readonly<Record<string, string>>) => resolveSettings(telemetrySettings, {env})

describe('SVC_SYNTAX_K_TELEMETRY and SVC_BENCHMARK_TELEMETRY', () => {
  const cases: readonly [syntaxK: string | undefined, benchmark: string | undefined, records: boolean][] = [
    [undefined, undefined, false],
    [undefined, '1', true],
    [undefined, 'TRUE', true],
    [undefined, '0', false],
    [undefined, 'yes', false],
    ['1', undefined, true],
    ['1', '1', true],
    ['1', '0', true],
    ['true', undefined, true],
    ['true', '1', true],
    ['true', '0', true],
    ['0', undefined, false],
    ['0', '1', false],
    ['0', '0', false],
    ['yes', '1', false],
    ['', '1', false],
  ]
  for (const [syntaxK, benchmark, records] of cases)
    it(`${syntaxK ?? 'unset'} and ${benchmark ?? 'unset'} ${records ? 'record' : 'do not record'} syntax-K`, () => {
      const {values, warnings} = resolve({
        ...(syntaxK === undefined ? {} : {SVC_SYNTAX_K_TELEMETRY: syntaxK}),
        ...(benchmark === undefined ? {} : {SVC_BENCHMARK_TELEMETRY: benchmark}),
      })
      assert.equal(values.syntaxK, records)
      assert.equal(values.benchmark, /^(1|true)$/i.test(benchmark ?? ''))
      assert.deepEqual(warnings, [])
    })
})

describe('the limit of syntax-K', () => {
  it('is unset by default, and only observed', () => {
    const {syntaxKGate, syntaxKMaxBytes} = resolve({}).values
    assert.deepEqual([syntaxKGate, syntaxKMaxBytes], ['observe', undefined])
  })

  it('is read from the environment', () => {
    const env = {SVC_SYNTAX_K_GATE: 'Enforce', SVC_SYNTAX_K_MAX_BYTES: '0'}
    const {syntaxKGate, syntaxKMaxBytes} = resolve(env).values
    assert.deepEqual([syntaxKGate, syntaxKMaxBytes], ['enforce', 0])
  })

  it('is ignored with a warning if it is invalid', () => {
    const {values, warnings} = resolve({SVC_SYNTAX_K_GATE: 'fail', SVC_SYNTAX_K_MAX_BYTES: '-1'})
    assert.deepEqual([values.syntaxKGate, values.syntaxKMaxBytes], ['observe', undefined])
    assert.deepEqual(
      warnings.map(({subject}) => subject),
      ['SVC_SYNTAX_K_GATE', 'SVC_SYNTAX_K_MAX_BYTES'],
    )
  })
})
