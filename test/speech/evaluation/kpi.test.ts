import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {contractViolations} from '../../../src/contracts/index.js'
import {checkKpis, kpisOf, readKpis, requireKpis} from '../../../src/speech/index.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'

const atLimits = {compile_pass_at_1: 0.65, compile_pass_at_k: 0.72, latency_ms_p95: 12_000, wer: 0.35, cer: 0.15}
const file = (values: object) =>
  JSON.stringify({schema_version: '1', captured_at_utc: '2026-01-15T10:00:00Z', ...values})

describe('the limits of quality', () => {
  it('accept values at the limits, and no values', () => {
    assert.deepEqual(
      checkKpis(atLimits, undefined).map(({ok, value, limit}) => [ok, value === limit]),
      Array.from({length: 5}, () => [true, true]),
    )
    assert.deepEqual(checkKpis({}, {wer: 0.1}), [])
  })

  for (const [metric, value] of [
    ['compile_pass_at_1', 0.649],
    ['compile_pass_at_k', 0.719],
    ['latency_ms_p95', 12_001],
    ['wer', 0.351],
    ['cer', 0.151],
  ] as const)
    it(`reject ${metric} ${value}`, () => {
      const failed = checkKpis({...atLimits, [metric]: value}, undefined).filter(({ok}) => !ok)
      assert.deepEqual(failed, [{metric, value, limit: atLimits[metric], ok: false}])
    })

  it('are reported with the values of the baseline', () => {
    assert.deepEqual(checkKpis({wer: 0.2}, {wer: 0.1, cer: 0.1}), [
      {metric: 'wer', value: 0.2, limit: 0.35, ok: true, baseline: 0.1},
    ])
  })
})

describe('a file of measured quality', () => {
  it('is accepted within the limits, and rejected with all violations otherwise', async (test) => {
    const folder = await temporaryFolder(test)
    await writeFiles(folder, {'good.json': file(atLimits), 'bad.json': file({wer: 0.5, cer: 0.2, notes: 'tiny'})})
    assert.equal((await requireKpis(join(folder, 'good.json'))).length, 5)
    const path = join(folder, 'bad.json')
    await assert.rejects(requireKpis(path), {
      code: 'speech_kpi_violated',
      message: `The measurements in ${path} are not good enough: wer is 0.5, and the limit is 0.35; cer is 0.2, and the limit is 0.15.`,
    })
  })

  for (const [what, text, code] of [
    ['no time', '{"schema_version":"1"}', 'contract_violation'],
    ['a rate above 1', file({wer: 1.5}), 'contract_violation'],
    ['a negative time', file({latency_ms_p95: -1}), 'contract_violation'],
    ['a text as rate', file({cer: '0.1'}), 'contract_violation'],
    ['no JSON', 'wer: 0.1', 'document_unparsable'],
  ] as const)
    it(`is rejected with ${what}`, async (test) => {
      const folder = await temporaryFolder(test)
      await writeFiles(folder, {'kpi.json': text})
      await assert.rejects(readKpis(join(folder, 'kpi.json')), {code})
    })

  it('is rejected if it does not exist', async () => {
    await assert.rejects(readKpis('/nowhere/kpi.json'), {code: 'file_not_found', message: /\/nowhere\/kpi\.json/})
  })

  it('is made from an evaluation', async () => {
    const rates = {errors: 3, words: 2, substitutions: 0, insertions: 3, deletions: 0}
    const measured = {normalized: {...rates, wer: 1.5, cer: 0.1}, median_latency_ms: 10, p95_latency_ms: 20}
    const kpis = kpisOf(measured, new Date(0))
    assert.deepEqual(await contractViolations('speech-to-code/kpi-baseline', kpis), [])
    assert.deepEqual(
      [kpis.captured_at_utc, kpis.wer, kpis.cer, kpis.latency_ms_median, kpis.latency_ms_p95],
      ['1970-01-01T00:00:00.000Z', 1, 0.1, 10, 20],
    )
  })
})
