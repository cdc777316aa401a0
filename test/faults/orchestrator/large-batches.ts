import {describe, it} from 'node:test'
import {writeFiles} from '../../support/temporary.js'
import {lines, takingIn} from './taking.js'

/** Tests of batches in files of so many bytes. */
export function describeLargeBatches(root: string, bytes: number): void {
  const {orch, refused, accepted} = takingIn(root)
  const size = `${bytes / 1_000_000} MB`

  describe('a batch in a file', () => {
    it(`of ${size} is taken whole`, async () => {
      const length = 131_000
      const count = Math.round(bytes / length)
      const tasks = Array.from({length: count}, (_, i) => ({description: `${i} ${'x'.repeat(length)}`}))
      await writeFiles(root, {'large.jsonl': lines(tasks)})
      await accepted(() => orch(['submit', '--batch', 'large.jsonl', '--json']), count)
    })

    it(`of one line of ${size} that is no task is refused in a short sentence`, async () => {
      await writeFiles(root, {'line.jsonl': `{"description": "${'x'.repeat(bytes)}"}\n`})
      await refused(() => orch(['submit', '--batch', 'line.jsonl', '--json']), 'task_invalid', 2, /description/)
    })
  })
}
