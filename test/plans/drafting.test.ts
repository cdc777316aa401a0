import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type AdequacyCode, assess, type Gap} from '../../src/plans/drafting/adequacy.js'
import {clausesOf} from '../../src/plans/drafting/clauses.js'
import {filesOf, pathsIn, scopeOf} from '../../src/plans/drafting/files.js'
import {type GoalRequest, stepsFromGoal} from '../../src/plans/drafting/from-goal.js'
import {categoryOf, complexityOf} from '../../src/plans/drafting/kind.js'
import {type QualityFinding, qualityOf} from '../../src/plans/drafting/quality.js'
import type {DraftStep} from '../../src/plans/drafting/step.js'
import {triggerMet, triggersOf} from '../../src/plans/drafting/triggers.js'

const words = (count: number): string => Array.from({length: count}, (_, i) => `w${i + 1}`).join(' ')

describe('the clauses of a goal', () => {
  const cases: readonly (readonly [goal: string, clauses: readonly string[]])[] = [
    ['Add paging to inbox reads; update the docs', ['Add paging to inbox reads', 'update the docs']],
    ['Add retry to the upload client and write tests', ['Add retry to the upload client', 'write tests']],
    ['Stop the server, then wipe it AND then start', ['Stop the server', 'wipe it', 'start']],
    ['Fix a.\r\n\r\nFix b.\n', ['Fix a', 'Fix b']],
    ['1. Fix a\n2) Fix b\n(3) Fix c', ['Fix a', 'Fix b', 'Fix c']],
    ['1. Fix a 2. Fix b 3. Fix c', ['Fix a', 'Fix b', 'Fix c']],
    ['Update to version 2. Say so', ['Update to version 2. Say so']],
    ['- Fix a\n* Fix b\n- [ ] Fix c\n- [x] Fix d', ['Fix a', 'Fix b', 'Fix c', 'Fix d']],
    ['# The parser\nFix it\n## Replan context\nKeep comments', ['Fix it', 'Keep comments']],
    ['# Fix the parser', ['Fix the parser']],
    ['Handle andesite; thence', ['Handle andesite', 'thence']],
    ['---\n***', ['--- ***']],
    ['...', ['...']],
    ['Ändere die Grüße; prüfe sie', ['Ändere die Grüße', 'prüfe sie']],
    [words(36), [words(36)]],
    [
      `${words(20)}. Do five more words here. Really so. ${words(12)}`,
      [`${words(20)}`, 'Do five more words here. Really so', words(12)],
    ],
  ]
  for (const [goal, clauses] of cases)
    it(`of ${JSON.stringify(goal.slice(0, 60))} are ${clauses.length}`, () =>
      assert.deepEqual(clausesOf(goal), clauses))

  it('of one long sentence are pieces of 16 words', () => {
    const pieces = clausesOf(words(37))
    assert.deepEqual(
      pieces.map((piece) => piece.split(' ').length),
      [16, 16, 5],
    )
    assert.equal(pieces.join(' '), words(37))
  })

  // A backtracking search would take minutes.
  it('are found quickly in a long goal', () => {
    for (const unit of [' ', ',', ';', '\n', '#', '# ', '1. ', ' and', '(', '`', '/', '.', 'a/']) {
      const goal = `${unit.repeat(65_000 / unit.length)}x`
      assert.ok(stepsFromGoal({goal}).length > 0, JSON.stringify(unit))
      assert.ok(stepsFromGoal({goal: `${goal} ${goal.slice(0, 100)}`, direct: true}).length > 0, JSON.stringify(unit))
    }
  })

  it('with many files ignore ambiguous file names', () => {
    const goal = Array.from({length: 1900}, (_, i) => `Add part number ${i} to the page about index`).join('\n')
    const scope = Array.from({length: 4096}, (_, i) => `src/folder-${i}/${i % 2 === 0 ? 'index' : `file-${i}`}.ts`)
    const steps = stepsFromGoal({goal, scope, limit: 2000})
    assert.deepEqual([steps.length, steps[0]?.files], [1901, []])
  })
})

describe('the paths in a text', () => {
  const cases: readonly (readonly [text: string, paths: readonly string[]])[] = [
    ['Fix src/a.ts, "lib/b.js" and (docs/c.md).', ['src/a.ts', 'lib/b.js', 'docs/c.md']],
    ['see other/place/x.yaml:12:3 and ./test/run.ts', ['other/place/x.yaml', 'test/run.ts']],
    ['everything in src/mesh/ and src/mesh', ['src/mesh']],
    ['either/or, 1/2, http://x.org/a.ts, /etc/a.conf, ~/a.ts, ../a.ts, src/../../a.ts', []],
    ['README.md has no folder', []],
  ]
  for (const [text, paths] of cases) it(`${text} are ${paths.length}`, () => assert.deepEqual(pathsIn(text), paths))
})

describe('the files of a step', () => {
  const scope = ['src/mesh/inbox.ts', 'README.md']
  const cases: readonly (readonly [text: string, scope: readonly string[], files: readonly string[]])[] = [
    ['Add retry to src/up.ts', [], ['src/up.ts:write']],
    ['Refactoring src/up.ts', [], ['src/up.ts:write']],
    ['Explain src/up.ts', [], ['src/up.ts:read']],
    ['Add paging to Inbox reads', scope, ['src/mesh/inbox.ts:write']],
    ['Explain `README.md`.', scope, ['README.md:read']],
    ['Explain src/up.ts with inbox', scope, ['src/up.ts:read']],
    ['Update the pages', scope, ['src/mesh/inbox.ts:read', 'README.md:read']],
    ['Update file-3, and index', ['b/index.ts', 'a/file-3.ts'], ['b/index.ts:write', 'a/file-3.ts:write']],
    ['Update the pages', Array.from({length: 65}, (_, i) => `src/${i}.ts`), []],
  ]
  for (const [text, known, files] of cases)
    it(`${text}, of ${known.length}, are ${files.join(' ') || 'none'}`, () =>
      assert.deepEqual(
        filesOf(text, scopeOf(known)).map(({path, access}) => `${path}:${access}`),
        files,
      ))
})

describe('the complexity and category of a text', () => {
  for (const [count, complexity] of [
    [1, 2],
    [6, 2],
    [7, 5],
    [16, 5],
    [17, 7],
    [30, 7],
    [31, 9],
  ] as const)
    it(`with ${count} words is of complexity ${complexity}`, () => assert.equal(complexityOf(words(count)), complexity))

  for (const [text, category] of [
    ['Write tests for the parser', 'testing'],
    ['Fix the crash at start', 'debugging'],
    ['Review the change', 'review'],
    ['Investigate the slow query', 'research'],
    ['Add a button', 'codegen'],
    ['Say hello', 'general'],
  ] as const)
    it(`"${text}" is ${category}`, () => assert.equal(categoryOf(text), category))
})

describe('the triggers of a step', () => {
  for (const [text, triggers] of [
    ['Run the tests', ['test_failure_new_regression']],
    ['Build and test it', ['test_failure_new_regression', 'compiler_error_unresolved']],
    ['Compile the parser', ['compiler_error_unresolved']],
    ['Contest the rebuild', []],
  ] as const)
    it(`"${text}" are ${triggers.join(' and ') || 'none'}`, () => assert.deepEqual(triggersOf(text), triggers))

  for (const [trigger, failure, isMet] of [
    ['compiler_error_unresolved', 'error: unresolved import', true],
    ['compiler_error_unresolved', 'Compilation failed', true],
    ['compiler_error_unresolved', 'timeout', false],
    ['test_failure_new_regression', '2 tests failed', true],
    ['test_failure_new_regression', 'flaky', true],
    ['test_failure_new_regression', 'the latest one', false],
    ['scope_denied', 'outside of its scope', true],
    ['lock_conflict_persistent', 'src/a.ts is locked by core', true],
    ['lock_conflict_persistent', 'blocked', false],
    ['missing_capability', 'needs the capability gpu', true],
    ['external_dependency_unreachable', 'it is independent', false],
    ['external_dependency_unreachable', 'a dependency is gone', true],
    ['custom:Out of Paper', 'printer out of paper!', true],
    ['custom:out of paper', 'printer on fire', false],
  ] as const)
    it(`${trigger} is ${isMet ? '' : 'not '}met by "${failure}"`, () =>
      assert.equal(triggerMet([trigger], failure), isMet ? trigger : undefined))
})

describe('the steps of a goal', () => {
  const stepTexts = (request: GoalRequest) =>
    stepsFromGoal(request).map(({description, dependsOn, workflow}) => [
      description,
      ...dependsOn,
      ...(workflow === undefined ? [] : [workflow]),
    ])

  it('are sequential and end with a verification', () => {
    assert.deepEqual(stepTexts({goal: 'Add retry to the upload client and write tests'}), [
      ['Add retry to the upload client'],
      ['write tests', 0],
      [
        'Verify that the goal is met, and that nothing else broke: Add retry to the upload client',
        1,
        'verification_stack',
      ],
    ])
  })

  for (const word of ['verify', 'Validation', 'regression', 'test'])
    it(`have no extra verification if the goal contains ${word}`, () =>
      assert.deepEqual(stepTexts({goal: `Fix it; ${word} it`}), [['Fix it'], [`${word} it`, 0]]))

  it('are limited to the maximum', () => {
    const goal = Array.from({length: 50}, (_, i) => `Fix ${i}`).join('\n')
    assert.equal(stepsFromGoal({goal}).length, 30)
    assert.equal(stepsFromGoal({goal, limit: 2}).length, 2)
    assert.equal(stepsFromGoal({goal, limit: 2000}).length, 51)
  })

  it('are a single one in direct mode', () => {
    const goal = ' 1. Fix src/a.ts and src/b.ts;\n2. test them '
    const [step, ...more] = stepsFromGoal({goal, direct: true})
    assert.deepEqual(more, [])
    assert.equal(step?.description, goal.trim())
    assert.deepEqual(
      step?.files.map(({path}) => path),
      ['src/a.ts', 'src/b.ts'],
    )
  })
})

const step = (description: string, more: Partial<DraftStep> = {}): DraftStep => ({
  description,
  dependsOn: [],
  files: [],
  category: 'general',
  complexity: 2,
  triggers: [],
  ...more,
})

describe('the quality of a step', () => {
  const cases: readonly (readonly [text: string, findings: readonly QualityFinding[]])[] = [
    ['Add paging to inbox reads', []],
    ['Carefully and slowly, adding paging here', []],
    ['write tests', ['vague_short']],
    ['Do it now please', ['vague_phrase']],
    ['The cursor of all pages must be opaque', ['vague_phrase']],
    ['stuff', ['vague_short', 'vague_phrase']],
    ['Run rm -rf on the build folder', ['risk_destructive']],
    ['Drop table users and create it anew', ['risk_destructive']],
    ['Take a backup, then drop table users', []],
    ['Wipe the cache after a dry-run', []],
    ['Truncate the log with rollback', []],
    ['Force-push the branch to main', ['risk_destructive']],
    ['Add the handler, TBD which one', ['tbd_placeholder']],
    ['Add something here ???', ['tbd_placeholder']],
  ]
  for (const [text, findings] of cases)
    it(`"${text}" is ${findings.join(' and ') || 'good'}`, () => assert.deepEqual(qualityOf(step(text)), findings))

  it('is flagged for a file without a name', () =>
    assert.deepEqual(qualityOf(step('Add paging to reads', {files: [{path: ' ', access: 'read'}]})), [
      'manifest_empty_path',
    ]))

  it('is not checked for the verification step', () =>
    assert.deepEqual(qualityOf(step('stuff', {workflow: 'verification_stack'})), []))
})

describe('the adequacy of a plan', () => {
  const file = (path: string) => ({files: [{path, access: 'write' as const}]})
  const good = (count: number) =>
    Array.from({length: count}, (_, i) =>
      step(`Add part ${i} of it`, {dependsOn: i === 0 ? [] : [i - 1], ...file(`src/${i}.ts`)}),
    )
  const short = 'Add all parts'
  const long = words(40)
  const mega = `Add ${words(35)}`

  interface Case {
    what: string
    goal?: string
    steps: readonly DraftStep[]
    score: number
    tooThin: boolean
    codes?: readonly AdequacyCode[]
    gaps?: readonly Gap[]
  }
  const cases: readonly Case[] = [
    {what: 'enough steps', steps: good(3), score: 1, tooThin: false},
    {what: 'one step for little', steps: good(1), score: 1, tooThin: false},
    // 1 - 0.45 * 4/6
    {what: 'two steps for much', goal: long, steps: good(2), score: 0.7, tooThin: true, codes: ['too_few_steps']},
    // 1 - 0.45 * 1/6
    {what: 'five steps for much', goal: long, steps: good(5), score: 0.925, tooThin: false, codes: ['too_few_steps']},
    {
      what: 'two steps that want to be several',
      steps: [step(mega, file('src/a.ts')), step(`Also ${mega}`, file('src/b.ts'))],
      score: 0.78,
      tooThin: true,
      codes: ['mega_steps'],
      gaps: ['mega_step'],
    },
    {
      what: 'four steps that wait for nothing',
      steps: good(4).map((each) => ({...each, dependsOn: []})),
      score: 0.85,
      tooThin: false,
      codes: ['flat_dependencies'],
    },
    {
      what: 'a file of the goal that no step has',
      goal: 'Add src/0.ts src/9.ts',
      steps: good(2),
      score: 0.8,
      tooThin: true,
      codes: ['goal_paths_unlinked'],
    },
    {
      what: 'steps that name no files',
      steps: good(3).map((each) => ({...each, files: []})),
      score: 0.86,
      tooThin: false,
      codes: ['low_surface'],
      gaps: ['no_files'],
    },
    {
      what: 'steps that begin alike',
      steps: [step('Add a new test for a', file('src/a.ts')), step('Add a new test for b', file('src/b.ts'))],
      score: 0.88,
      tooThin: false,
      codes: ['repeated_phrasing'],
    },
    {
      what: 'several faults',
      goal: long,
      steps: good(3).map(() => step('Add one more part')),
      // (1 - 0.45 * 3/6) * 0.86 * 0.88
      score: 0.587,
      tooThin: true,
      codes: ['too_few_steps', 'low_surface', 'repeated_phrasing'],
      gaps: ['no_files'],
    },
    {
      what: 'steps that nobody understands',
      steps: [step('stuff'), step('things')],
      score: 1,
      tooThin: true,
      gaps: ['vague_short', 'vague_phrase'],
    },
  ]
  for (const {what, goal = short, steps, score, tooThin, codes = [], gaps = []} of cases)
    it(`${what}: ${score}${tooThin ? ', too thin' : ''}`, () => {
      const found = assess(goal, steps)
      assert.deepEqual([found.score, found.tooThin, found.codes], [score, tooThin, codes])
      assert.deepEqual([...new Set(found.gaps.flatMap((each) => each.gaps))], gaps)
    })

  it('has the mean risk of its steps', () => {
    // 1 - (1 - 0.5) * (1 - 0.4) = 0.7 for the second of two
    const {meanRisk, gaps} = assess(short, [...good(1), step('stuff')])
    assert.equal(meanRisk, 0.35)
    assert.deepEqual(gaps, [{step: 2, risk: 0.7, gaps: ['vague_short', 'vague_phrase']}])
  })
})
