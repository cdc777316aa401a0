import type {Command} from '@oclif/core'
import {discoverWorkspace, workspaceSettings} from '../config/index.js'
import type {NewBenchmark} from '../telemetry/index.js'
import {SvcCommand} from './command.js'
import {withWorkspaceStore} from './open-workspace.js'

/** Base of benchmark commands, which can record their results in the workspace store. */
export abstract class BenchCommand<T extends typeof Command = typeof Command> extends SvcCommand<T> {
  /** Records a result in the workspace of `SVC_REPOSITORY_ROOT`; default: of this directory. Warns if it cannot. */
  protected async record(benchmark: NewBenchmark): Promise<void> {
    try {
      const {repositoryRoot} = this.settings(workspaceSettings)
      const {root} = repositoryRoot === undefined ? this.workspace : discoverWorkspace(repositoryRoot)
      const [{recordBenchmark}, {configureLog}] = await Promise.all([
        import('../telemetry/index.js'),
        import('../log/index.js'),
      ])
      configureLog(this.logOptions())
      const sources = this.settingSources()
      const onNotice = (text: string) => this.output.notice(text)
      await withWorkspaceStore({root, sources, onNotice}, (place) => recordBenchmark(place, benchmark))
    } catch (error) {
      this.output.notice(`warning: The result was not recorded. ${error instanceof Error ? error.message : error}`)
    }
  }
}
