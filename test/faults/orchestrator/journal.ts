import {readFileSync, readlinkSync} from 'node:fs'
import {join} from 'node:path'

/** A line that an attempt of a task writes to `journal.txt`. */
export interface JournalLine {
  what: 'start' | 'end'
  task: number
  /** Generation of the claim. */
  attempt: number
  /** Process id; set for a start. */
  pid: number
}

/** @throws Error if a line is incomplete */
export function parseJournal(text: string): JournalLine[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, what, task, attempt, pid = '0'] = /^(start|end) (\d+) (\d+)(?: (\d+))?$/.exec(line) ?? []
      if (what === undefined) throw new Error(`${JSON.stringify(line)} is not a line of a journal.`)
      return {what: what as JournalLine['what'], task: Number(task), attempt: Number(attempt), pid: Number(pid)}
    })
}

export const readJournal = (root: string): JournalLine[] =>
  parseJournal(readFileSync(join(root, 'journal.txt'), 'utf8'))

/** Processes of attempts that are still running in the workspace. Empty on systems without `/proc`. */
export const stillAtWork = (root: string, journal: readonly JournalLine[]): number[] =>
  journal.flatMap(({what, pid}) => (what === 'start' && worksIn(pid, root) ? [pid] : []))

function worksIn(pid: number, root: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === root
  } catch {
    return false
  }
}
