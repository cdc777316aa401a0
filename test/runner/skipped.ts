/** Summarizes the skipped tests of a run. */
import {existsSync} from 'node:fs'
import {packageOf} from '../support/programs.js'
import {projectFile} from '../support/project.js'
import type {Skipped} from './report.js'

/** Hardware that a machine of continuous integration may not have. */
const hardware = /\b(CUDA|microphone)\b/i
const sharedData = /^needs shared\//

/**
 * @param isCi if true, skipped tests are errors, except for missing hardware and for recorded data that is not there at all
 * @returns lines to print, and the number of tests that must not be skipped
 */
export function summarizeSkipped(
  skipped: readonly Skipped[],
  {isCi}: {isCi: boolean},
): {summary: string[]; errors: number} {
  const programs = new Map<string, number>()
  const lines: string[] = []
  let withoutData = 0
  let excused = 0
  for (const {name, reason} of skipped) {
    const program = reason.replace(/^needs /, '')
    if (packageOf(program) !== undefined) programs.set(program, (programs.get(program) ?? 0) + 1)
    else if (sharedData.test(reason)) withoutData += 1
    else lines.push(`Skipped ${name}: ${reason}`)
    if (hardware.test(reason)) excused += 1
  }
  if (withoutData > 0) lines.push(`Skipped ${withoutData} tests that need the recorded data in ../shared.`)
  if (programs.size > 0) {
    const count = [...programs.values()].reduce((sum, each) => sum + each)
    const names = [...programs.keys()].sort()
    const packages = [...new Set(names.map(packageOf))].join(' ')
    lines.push(`Skipped ${count} tests that need ${names.join(', ')}. On Debian: apt-get install ${packages}`)
  }
  const data = existsSync(projectFile('../shared')) ? 0 : withoutData
  return {summary: lines, errors: isCi ? skipped.length - excused - data : 0}
}
