import {Flags} from '@oclif/core'
import {DbCommand, programArg} from '../../src/cli/index.js'
import type {DbTestV1} from '../../src/contracts/index.js'
import type {FunctionType, Program} from '../../src/lang/index.js'

type TestResult = DbTestV1['tests'][number]

export default class DbTest extends DbCommand<typeof DbTest> {
  static override summary = 'Run the @test functions of a program.'
  static override description = 'Each on an empty database in memory. Ends with 1 when one fails.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> examples/library.svc',
    '<%= config.bin %> <%= command.id %> --filter loan --json',
  ]
  static override args = {file: programArg}
  static override flags = {
    filter: Flags.string({description: 'Only tests whose name holds this.', helpValue: 'WORD'}),
  }

  async run(): Promise<void> {
    const {program} = await this.readProgram(this.args.file)
    const {filter = ''} = this.flags
    const tests: TestResult[] = []
    for (const test of program.tests.filter(({name}) => name.includes(filter)))
      tests.push(await this.#run(program, test))
    const failed = tests.filter(({status}) => status === 'failed').length
    const result: DbTestV1 = {tests, passed: tests.length - failed, failed}
    await this.output.result(result, () =>
      [...tests.map(asText), `${tests.length - failed} passed, ${failed} failed`].join('\n'),
    )
    if (failed > 0) process.exitCode = 1
  }

  async #run(program: Program, test: FunctionType): Promise<TestResult> {
    const {Application, Failure} = await import('../../src/lang/index.js')
    const application = await Application.open(program, {path: ':memory:', ports: this.ports()})
    const started = performance.now()
    const took = () => Math.round(performance.now() - started)
    try {
      const {kind, value} = await application.call(test, [])
      if (kind === 'value') return {name: test.name, status: 'passed', duration_ms: took()}
      return {name: test.name, status: 'failed', reason: 'ERROR', message: JSON.stringify(value), duration_ms: took()}
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      return {name: test.name, status: 'failed', reason: error.reason, message: error.message, duration_ms: took()}
    } finally {
      application.close()
    }
  }
}

const asText = ({name, status, message, reason}: TestResult) =>
  `${status === 'passed' ? 'ok' : 'FAILED'}  ${name}${message === undefined ? '' : `: ${message} (${reason})`}`
