import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import {confidencePolicy} from '../../src/workspace/policy.js'
import {projectFile} from '../support/project.js'
import {codeOf} from '../support/setting-reads.js'

const folders = ['src/tasks', 'src/scheduler', 'src/plans', 'src/assistant', 'src/operations']
const policyFile = 'src/workspace/policy.ts'
const thresholds = new Set(Object.values(confidencePolicy({})))

/** Statements that continue on the next line are joined. */
const statementsOf = (source: string): string[] =>
  codeOf(source)
    .replaceAll(/([=<>?:&|+*/-])[ \t]*\n\s*/g, '$1 ')
    .replaceAll(/\n\s*([<>?:&|+*/=])/g, ' $1')
    .split(/[\n;]/)

/** Parts of names that stand for a confidence or contradiction. */
const word = /confiden|contradict|abstain|ask_?for_?help/i
const literal = /(?<![\w.])(?:\d[\d_]*)?\.?\d+(?![\w.])/g

/** Statements in which the value of a threshold and a confidence or contradiction occur. */
const literalThresholds = (source: string): string[] =>
  statementsOf(source).filter(
    (statement) =>
      word.test(statement) &&
      [...statement.matchAll(literal)].some(([text]) => thresholds.has(Number(text.replaceAll('_', '')))),
  )

describe('the confidence thresholds', () => {
  it('have no literal outside their policy', () => {
    const files = folders.flatMap((folder) =>
      readdirSync(projectFile(folder), {recursive: true, encoding: 'utf8'})
        .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
        .filter((file) => file.endsWith('.ts') && file !== policyFile),
    )
    assert.ok(files.length > 100)
    const found = files.flatMap((file) =>
      literalThresholds(readFileSync(projectFile(file), 'utf8')).map((statement) => `${file}: ${statement.trim()}`),
    )
    assert.deepEqual(found, [])
  })

  it('are found in their policy', () => {
    assert.ok(literalThresholds(readFileSync(projectFile(policyFile), 'utf8')).length >= thresholds.size)
  })

  const planted = [
    'if (confidence < 0.35) return',
    'const band = confidence_estimate<.55 ? 1 : 2',
    'const limit = contradiction > 0.40',
    'const minReviewFindingConfidence = 80',
    'const defaults = {abstainThreshold: 0.350}',
    'const askForHelp =\n  0.55',
    'const isLow =\n  confidence\n  < 0.6',
    'return 0.75 <= judgement.confidence',
  ]
  for (const source of planted)
    it(`are found in ${JSON.stringify(source)}`, () => assert.equal(literalThresholds(source).length, 1))

  const harmless = [
    'if (confidence < policy.abstainThreshold) return',
    'const reliability = 0.35',
    'const confidence = 0.355',
    'const confidence = 10.35',
    'const confidence = 1.80',
    'const confidence = x80',
    '// The confidence is 0.35.',
    '/** confidence 0.35 */',
    "const text = 'confidence 0.35'",
    'const weight = 0.75\nconst confidence = 1',
  ]
  for (const source of harmless)
    it(`are not found in ${JSON.stringify(source)}`, () => assert.deepEqual(literalThresholds(source), []))
})
