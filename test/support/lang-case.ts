import {readdirSync, readFileSync} from 'node:fs'
import {basename, join} from 'node:path'
import type {Transcription} from '../../src/lang/index.js'

export interface CaseRequest {
  /** `POST /api/mutation/add` */
  request: string
  body?: string
  status: number
  /** Absent for an empty body. */
  json?: unknown
  /** If present, only status, code and details are compared. */
  match?: string
}

/** Expected results of a case; all keys except the first two are optional. */
export interface Expectation {
  diagnostics: {
    code: string
    severity: string
    line: number
    col: number
    missing?: string[]
    expected_type?: string
    found_type?: string
  }[]
  exit_code: number
  ddl?: string[]
  plans?: object[]
  http?: CaseRequest[]
  change_log?: [string, string, string, string][]
  runtime_projection?: object
  routes?: [string, string][]
  client?: Record<string, string[]>
  typescript?: {file: string; must_contain: string[]; must_throw_when_called: string}
  tests?: {name: string; status: string}[]
  speech_stub?: Record<string, Transcription>
  previous_source?: string
  when_task_is_empty?: {migration_plan: object[]; exit_code: number}
  when_task_has_rows?: {changed_step: object; exit_code: number}
}

/** A program with its expected results. */
export interface LangCase {
  name: string
  path: string
  source: string
  expect: Expectation
}

/** The pairs `name.svc` and `name.expect.md` of a folder. */
export function readCases(folder: string): LangCase[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.expect.md'))
  return names.sort().map((file) => {
    const name = basename(file, '.expect.md')
    const path = join(folder, `${name}.svc`)
    const [, block = ''] = /```json\n([\s\S]*?)```/.exec(readFileSync(join(folder, file), 'utf8')) ?? []
    return {name, path, source: readFileSync(path, 'utf8'), expect: JSON.parse(block) as Expectation}
  })
}

/** The engine responses that a case replaces: by path, `*` for all others. */
export const stubbedSpeech =
  (stub: Record<string, Transcription>) =>
  async (path: string): Promise<Transcription> => {
    const answer = stub[path] ?? stub['*'] ?? {error: 'no answer'}
    return 'error' in answer ? {error: answer.error.replace('<path>', path)} : answer
  }
