/** Prints the results of a run of the test suite. */
import {spec} from 'node:test/reporters'
import type {FileResult, TestEvent} from './workers.js'

export interface Skipped {
  /** Titles of the file and of the test. */
  name: string
  reason: string
}

/** Prints files when they end: a line for each, and all tests of files that have failed, or of all files if `isVerbose`. */
export class Report {
  readonly counts = {tests: 0, pass: 0, fail: 0, skipped: 0}
  readonly skipped: Skipped[] = []
  readonly #isVerbose: boolean
  readonly #reporter = new spec()

  constructor({isVerbose}: {isVerbose: boolean}) {
    this.#isVerbose = isVerbose
    this.#reporter.pipe(process.stdout)
  }

  add({title, events, seconds, processorSeconds, hasFailed}: FileResult): void {
    const before = this.counts.tests
    for (const event of events) this.#count(title, event)
    if (this.#isVerbose || hasFailed) for (const event of events) this.#write(event)
    else {
      const processors = processorSeconds === undefined ? '' : `, ${processorSeconds.toFixed(1)} s of processor time`
      this.print(`✔ ${title} (${this.counts.tests - before} tests, ${seconds.toFixed(1)} s${processors})`)
    }
  }

  #count(title: string, {type, data}: TestEvent): void {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.details.type === 'suite') return
    this.counts.tests += 1
    if (data.skip === undefined || data.skip === false) this.counts[type === 'test:pass' ? 'pass' : 'fail'] += 1
    else {
      this.counts.skipped += 1
      this.skipped.push({name: `${title}: ${data.name}`, reason: data.skip === true ? 'no reason given' : data.skip})
    }
  }

  /** Prints a line. */
  print(line: string): void {
    this.#write({type: 'test:stdout', data: {message: `${line}\n`}})
  }

  /** Prints the counts, after the details of failed tests. */
  async end(): Promise<void> {
    for (const [name, count] of Object.entries(this.counts))
      this.#write({type: 'test:diagnostic', data: {nesting: 0, message: `${name} ${count}`}})
    const ended = new Promise((resolve) => this.#reporter.once('end', resolve))
    this.#reporter.end()
    await ended
  }

  #write(event: {type: string; data: unknown}): void {
    this.#reporter.write(event)
  }
}
