import assert from 'node:assert/strict'
import {truncate, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {readDataset} from '../../../src/speech/evaluation/dataset.js'
import {evaluate} from '../../../src/speech/evaluation/evaluate.js'
import {temporaryFolder} from '../../support/temporary.js'

async function datasetFile(test: TestContext, text: string): Promise<string> {
  const file = join(await temporaryFolder(test), 'clips.jsonl')
  await writeFile(file, text)
  return file
}

describe('a dataset', () => {
  it('lists recordings relative to its file', async (test) => {
    const lines = '\uFEFF{"path":"a.wav","expected":"one","language":"en"}\r\n\r\n{"path":"/b.wav","expected":""}\n'
    const file = await datasetFile(test, lines)
    assert.deepEqual(await readDataset(file), [
      {path: join(file, '../a.wav'), expected: 'one', language: 'en'},
      {path: '/b.wav', expected: '', language: undefined},
    ])
  })

  const good = '{"path":"a.wav","expected":"one"}\n'
  const cases: readonly [string, string, number, RegExp][] = [
    ['that is no JSON', `${good}\n{path: a}`, 3, /not JSON/],
    ['without a path', `${good}{"expected":"one"}`, 2, /path/],
    ['without a text', '{"path":"a.wav"}', 1, /expected/],
    ['with a language that is none', `{"path":"a.wav","expected":"","language":7}`, 1, /language/],
    ['that is a list', '[]', 1, /path/],
    ['that is null', 'null', 1, /path/],
    ['of nothing', '\n\n', 1, /no recordings/],
  ]
  for (const [title, text, line, reason] of cases)
    it(`with a line ${title} reports the line`, async (test) => {
      const file = await datasetFile(test, text)
      await assert.rejects(readDataset(file), (error: {code: string; params: {line: number; reason: string}}) => {
        assert.equal(error.code, 'dataset_invalid')
        assert.equal(error.params.line, line)
        assert.match(error.params.reason, reason)
        return true
      })
    })

  it('that does not exist is reported', async () => {
    await assert.rejects(readDataset('/nowhere/clips.jsonl'), {code: 'file_not_found'})
  })

  it('that is too large is not read completely', async (test) => {
    const file = await datasetFile(test, good)
    await truncate(file, 8 * 2 ** 30)
    await assert.rejects(readDataset(file), {code: 'dataset_invalid'})
  })
})

describe('an evaluation', () => {
  const sample = (expected: string, actual: string, latencyMs: number) => ({
    path: `${latencyMs}.wav`,
    expected,
    actual,
    confidence: 0.9,
    latencyMs,
  })
  const heard = [sample('Hello, world', 'hello world', 100), sample('one', 'two three', 500), sample('a b c', '', 300)]

  it('divides the errors of all recordings by the words of all', () => {
    const {raw, normalized} = evaluate(heard, 'basic')
    assert.deepEqual([raw.errors, raw.words, raw.wer], [6, 6, 1])
    assert.deepEqual([normalized.errors, normalized.words], [5, 6])
    assert.equal(normalized.wer, 5 / 6)
    assert.deepEqual([normalized.substitutions, normalized.insertions, normalized.deletions], [1, 1, 3])
  })

  it('reports each recording and the time', () => {
    const {samples, mean_latency_ms: mean, median_latency_ms: median} = evaluate(heard, 'basic')
    assert.deepEqual(
      samples.map(({wer, word_errors: errors}) => [wer, errors]),
      [
        [0, 0],
        [2, 2],
        [1, 3],
      ],
    )
    assert.deepEqual([mean, median], [300, 300])
  })

  it('without expected and recognised text has no errors', () => {
    assert.equal(evaluate([sample('', '', 1)], 'english').normalized.wer, 0)
  })
})
