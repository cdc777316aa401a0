import assert from 'node:assert/strict'
import {mkdir, readdir, readFile, symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {isErrorOf} from '../../src/errors/index.js'
import {executePlan, findPlanFile, newPlan, planMarkdown, replan, writePlanFile} from '../../src/plans/index.js'
import {temporaryFolder} from '../support/temporary.js'
import {doNext, openUnattended} from './support.js'

describe('a plan as Markdown', () => {
  it('is a task list', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = newPlan(orchestrator, {goal: 'Add paging to src/inbox.ts; run the test suite'})
    executePlan(orchestrator, id)
    doNext(orchestrator)
    const made = replan(orchestrator, id, {delta: 'Explain it in docs/inbox.md'})
    assert.equal(
      planMarkdown(made),
      `# Plan

> Add paging to src/inbox.ts; run the test suite
>
> ## Replan context
> Explain it in docs/inbox.md

Version 2 of \`${id}\`.

## Steps

- [x] 1. Add paging to src/inbox.ts (writes \`src/inbox.ts\`)
- [ ] 2. run the test suite (after 1)
- [ ] 3. Explain it in docs/inbox.md (after 2; reads \`docs/inbox.md\`)
`,
    )
  })
})

describe('the plan file', () => {
  it('replaces an existing file atomically', async (t) => {
    const root = await temporaryFolder(t)
    await writeFile(join(root, 'PLAN.md'), 'x'.repeat(1000))
    const path = await findPlanFile(root)
    await writePlanFile(path, 'short\n')
    assert.equal(await readFile(join(root, 'PLAN.md'), 'utf8'), 'short\n')
    assert.deepEqual(await readdir(root), ['PLAN.md'])
  })

  it('follows a link within the workspace', async (t) => {
    const root = await temporaryFolder(t)
    await mkdir(join(root, 'docs'))
    await writeFile(join(root, 'docs', 'plan.md'), 'old')
    await symlink('docs/plan.md', join(root, 'PLAN.md'))
    await writePlanFile(await findPlanFile(root), 'new')
    assert.equal(await readFile(join(root, 'docs', 'plan.md'), 'utf8'), 'new')
  })

  it('does not follow a link out of the workspace or to nothing', async (t) => {
    const [root, outside] = [await temporaryFolder(t), await temporaryFolder(t)]
    await writeFile(join(outside, 'kept.md'), 'kept')
    for (const target of [join(outside, 'kept.md'), join(outside, 'new.md'), 'gone.md', '..', '.']) {
      const folder = join(root, String(target.length))
      await mkdir(folder)
      await symlink(target, join(folder, 'PLAN.md'))
      await assert.rejects(findPlanFile(folder), (error) => isErrorOf(error, 'plan_file_escapes'), target)
    }
    assert.deepEqual(await readdir(outside), ['kept.md'])
  })

  it('leaves nothing behind if it cannot be written', async (t) => {
    const root = await temporaryFolder(t)
    await mkdir(join(root, 'PLAN.md', 'sub'), {recursive: true})
    await assert.rejects(writePlanFile(await findPlanFile(root), 'new'))
    assert.deepEqual(await readdir(root), ['PLAN.md'])
  })
})
