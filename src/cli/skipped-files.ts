import {relative} from 'node:path'
import {counted} from '../errors/index.js'
import type {SkippedFiles} from '../speech/index.js'

/** Number of skipped files that are named. */
const maxNamed = 3

/** Notices of the files of a directory that are not transcribed. */
export const skippedNotices = ({folder, withoutAudio, unreadable}: SkippedFiles): string[] => [
  ...noticeOf(folder, withoutAudio, 'without audio'),
  ...noticeOf(folder, unreadable, 'that cannot be read'),
]

function noticeOf(folder: string, files: readonly string[], kind: string): string[] {
  if (files.length === 0) return []
  const names = files.slice(0, maxNamed).map((file) => relative(folder, file))
  const list = [...names, ...(files.length > maxNamed ? ['…'] : [])].join(', ')
  return [`Skipped ${counted(files.length, 'file')} ${kind} in ${folder}: ${list}`]
}
