import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {compileGrammar, schemaGrammar} from '../../src/grammar/index.js'
import {readSteps, stepsSchema} from '../../src/plans/model/read-steps.js'
import {taskCategories} from '../../src/workspace/index.js'

const options = {root: '/work', limit: 10}
const one = {description: 'Add a part'}

const fault = (text: string): string => {
  const read = readSteps(text, options)
  return 'fault' in read ? read.fault : 'none'
}

describe('the answer of a model', () => {
  const array = JSON.stringify([one])
  for (const [what, text] of [
    ['an array', array],
    ['between tags', `Sure.\n<execute>${array}</execute>\nDone [all of it].`],
    ['between tags without a closing tag', `<EXECUTE>\n${array}`],
    ['in a fence', `Sure:\n\`\`\`json\n${array}\n\`\`\`\n`],
    ['surrounded by text', `The steps are ${array}, I think.`],
  ] as const)
    it(`is parsed ${what}`, () => {
      const read = readSteps(text, options)
      assert.deepEqual('steps' in read && read.steps.map(({description}) => description), ['Add a part'])
    })

  for (const [what, value, why] of [
    ['text that is not JSON', undefined, 'it is not JSON'],
    ['an object', {steps: 1}, 'it is not a JSON array'],
    ['no steps', [], 'the array has no steps'],
    ['a word', ['x'], 'element 1 is not an object'],
    ['a list', [[]], 'element 1 is not an object'],
    ['no description', [one, {}], 'step 2 has no description'],
    ['a blank description', [{description: ' '}], 'step 1 has no description'],
    [
      'a very long description',
      [{description: 'x'.repeat(4001)}],
      'step 1 has a description of more than 4000 characters',
    ],
    ['a file that is a number', [{...one, files: [1]}], 'step 1 has an invalid list of files'],
    ['a file outside', [{...one, files: ['../x']}], 'step 1 has a file outside the workspace'],
    ['an absolute file outside', [{...one, files: ['/etc/passwd']}], 'step 1 has a file outside the workspace'],
    ['an unknown category', [{...one, category: 'magic'}], 'step 1 has an unknown category'],
    ['a complexity of 11', [{...one, estimated_complexity: 11}], 'step 1 has a complexity that is not from 1 to 10'],
    ['an id that is a string', [{...one, id: 'a'}], 'the id of step 1 is not a whole number'],
    ['a duplicate id', [one, {...one, id: 1}], 'two steps have the id 1'],
    [
      'a dependency that is a string',
      [{...one, depends_on: ['1']}],
      'step 1 has dependencies that are not a list of ids',
    ],
    ['an unknown dependency', [{...one, depends_on: [7]}], 'step 1 depends on 7, which is not a step'],
    [
      'a cycle',
      [
        {...one, id: 1, depends_on: [2]},
        {...one, id: 2, depends_on: [1]},
      ],
      'the dependencies of its steps form a cycle',
    ],
    ['a step that depends on itself', [{...one, depends_on: [1]}], 'the dependencies of its steps form a cycle'],
  ] as const)
    it(`is invalid if it has ${what}`, () => assert.equal(fault(JSON.stringify(value) ?? '[1, 2'), why))

  it('can omit everything except descriptions', () => {
    const read = readSteps(JSON.stringify([{...one, priority: 'high'}, {description: ' Fix src/a.ts '}]), options)
    assert.deepEqual('steps' in read && read.steps, [
      {description: 'Add a part', dependsOn: [], files: [], category: 'codegen', complexity: 2, triggers: []},
      {description: 'Fix src/a.ts', dependsOn: [0], files: [], category: 'debugging', complexity: 2, triggers: []},
    ])
  })

  it('can have arbitrary ids and steps in any order', () => {
    const steps = [
      {...one, id: 20, depends_on: [10, 10]},
      {...one, id: 10, depends_on: [], files: ['src/./a.ts', 'src/a.ts']},
    ]
    const read = readSteps(JSON.stringify(steps), options)
    assert.deepEqual('steps' in read && read.steps.map(({dependsOn, files}) => [dependsOn, files]), [
      [[1], []],
      [[], [{path: 'src/a.ts', access: 'write'}]],
    ])
  })

  it('is cut to the maximum number of steps, without dependencies on the others', () => {
    const steps = [{...one, depends_on: [3]}, one, {...one, depends_on: []}]
    const read = readSteps(JSON.stringify(steps), {...options, limit: 2})
    assert.deepEqual('steps' in read && read.steps.map(({dependsOn}) => dependsOn), [[], [0]])
  })
})

describe('the schema of an answer', () => {
  const grammar = compileGrammar(schemaGrammar(stepsSchema))
  const matches = (value: unknown): boolean => {
    const matcher = grammar.matcher()
    return matcher.accept(Buffer.from(JSON.stringify(value))) && matcher.isAccepting()
  }
  const step = {id: 1, description: 'Add a part', files: ['src/a.ts'], category: 'codegen', estimated_complexity: 4}

  it('is enforced as a whole, and allows what is accepted', () => {
    for (const category of taskCategories) {
      const steps = [
        {...step, category},
        {...step, id: 2, depends_on: [1]},
      ]
      assert.ok(matches(steps), category)
      assert.ok('steps' in readSteps(JSON.stringify(steps), options), category)
    }
  })

  it('refuses what is not', () => {
    for (const wrong of [[], [{...step, category: 'x'}], [{...step, estimated_complexity: 11}], [{id: 1}], step])
      assert.equal(matches(wrong), false, JSON.stringify(wrong))
  })
})
