import {Flags} from '@oclif/core'
import {DbCommand, programArg, programFlag} from '../../src/cli/index.js'
import type {DbTestV1} from '../../src/contracts/index.js'
import type {FunctionType, Lines, Program} from '../../src/lang/index.js'

type TestResult = DbTestV1['tests'][number]

export default class DbTest extends DbCommand<typeof DbTest> {
  static override summary = 'Run the @test functions of a program.'
  static override description = 'Runs each test with an empty in-memory database. Exits with status 1 if a test fails.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> examples/apps/library.svc',
    '<%= config.bin %> <%= command.id %> --filter loan --json',
  ]
  static override args = {file: programArg}
  static override flags = {
    ...programFlag,
    filter: Flags.string({description: 'Run only tests whose name contains this text.', helpValue: 'TEXT'}),
  }

  async run(): Promise<void> {
    const {source, program} = await this.readProgram()
    const {Lines} = await import('../../src/lang/index.js')
    const lines = new Lines(source.text)
    const {filter = ''} = this.flags
    const tests: TestResult[] = []
    for (const test of program.tests.filter(({name}) => name.includes(filter)))
      tests.push(await this.#run(program, test, lines))
    const failed = tests.filter(({status}) => status === 'failed').length
    const result: DbTestV1 = {tests, passed: tests.length - failed, failed}
    await this.output.result(result, () =>
      [...tests.map((test) => asText(test, source.path)), `${tests.length - failed} passed, ${failed} failed`].join(
        '\n',
      ),
    )
    if (failed > 0) process.exitCode = 1
  }

  async #run(program: Program, test: FunctionType, lines: Lines): Promise<TestResult> {
    const {Application, Failure} = await import('../../src/lang/index.js')
    const application = await Application.open(program, {path: ':memory:', ports: this.ports()})
    const started = performance.now()
    const failed = (reason: string, message: string, span = test.span): TestResult => {
      const duration_ms = Math.round(performance.now() - started)
      return {name: test.name, status: 'failed', reason, message, line: lines.at(span.start).line, duration_ms}
    }
    try {
      const {kind, value} = await application.call(test, [])
      if (kind === 'value')
        return {name: test.name, status: 'passed', duration_ms: Math.round(performance.now() - started)}
      return failed('ERROR', JSON.stringify(value))
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      return failed(error.reason, error.message, error.span)
    } finally {
      application.close()
    }
  }
}

const asText = ({name, status, message, reason, line}: TestResult, path: string) =>
  status === 'passed' ? `ok  ${name}` : `FAILED  ${name}: ${message} (${reason}), ${path}:${line}`
