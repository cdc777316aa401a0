import {readFileSync, readlinkSync} from 'node:fs'
import {join} from 'node:path'

/** What the work itself says of an attempt at a task: a line of `journal.txt`. */
export interface JournalLine {
  what: 'start' | 'end'
  task: number
  /** Generation of the claim under which it runs. */
  attempt: number
  /** Of a start: the process. */
  pid: number
}

/** @throws Error where a line is not whole */
export function parseJournal(text: string): JournalLine[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, what, task, attempt, pid = '0'] = /^(start|end) (\d+) (\d+)(?: (\d+))?$/.exec(line) ?? []
      if (what === undefined) throw new Error(`${JSON.stringify(line)} is no line of a journal.`)
      return {what: what as JournalLine['what'], task: Number(task), attempt: Number(attempt), pid: Number(pid)}
    })
}

export const readJournal = (root: string): JournalLine[] =>
  parseJournal(readFileSync(join(root, 'journal.txt'), 'utf8'))

/**
 * Processes of attempts that work in the workspace still; none where the system does not tell where a process works.
 */
export const stillAtWork = (root: string, journal: readonly JournalLine[]): number[] =>
  journal.flatMap(({what, pid}) => (what === 'start' && worksIn(pid, root) ? [pid] : []))

function worksIn(pid: number, root: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === root
  } catch {
    return false
  }
}
