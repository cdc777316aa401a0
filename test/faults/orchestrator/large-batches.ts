import {describe, it} from 'node:test'
import {writeFiles} from '../../support/temporary.js'
import {lines, takingIn} from './taking.js'

/** Tests of batch files with a given size. */
export function describeLargeBatches(root: string, bytes: number): void {
  const {orch, refused, accepted} = takingIn(root)
  const size = `${bytes / 1_000_000} MB`

  describe('a batch file', () => {
    it(`of ${size} is accepted`, async () => {
      const length = 131_000
      const count = Math.round(bytes / length)
      const tasks = Array.from({length: count}, (_, i) => ({description: `${i} ${'x'.repeat(length)}`}))
      await writeFiles(root, {'large.jsonl': lines(tasks)})
      await accepted(() => orch(['submit', '--batch', 'large.jsonl', '--json']), count)
    })

    it(`with an invalid line of ${size} is rejected with a short message`, async () => {
      await writeFiles(root, {'line.jsonl': `{"description": "${'x'.repeat(bytes)}"}\n`})
      await refused(() => orch(['submit', '--batch', 'line.jsonl', '--json']), 'task_invalid', 2, /description/)
    })
  })
}
