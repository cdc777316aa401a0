import {Flags} from '@oclif/core'
import {SvcCommand} from '../src/cli/index.js'

export default class Lsp extends SvcCommand<typeof Lsp> {
  static override summary = 'Start the language server.'
  static override description =
    `Editors start this command and use the Language Server Protocol over its standard input and output. Provides
diagnostics, quick fixes, completion, hover, go to definition, document symbols and formatting for the data language.

In Neovim: vim.lsp.start({name = 'svc', cmd = {'svc', 'lsp'}})

Exits on the exit notification, when standard input closes, and on SIGTERM.`
  static override examples = ['<%= config.bin %> <%= command.id %>']
  static override flags = {
    stdio: Flags.boolean({
      description: 'Use standard input and output (always on; accepted for editor compatibility).',
    }),
  }

  async run(): Promise<void> {
    const {configureLog} = await import('../src/log/index.js')
    configureLog(this.logOptions())
    const {startLanguageServer} = await import('../src/lsp/index.js')
    const status = await startLanguageServer({
      input: process.stdin,
      output: process.stdout,
      signal: this.signal,
      version: this.config.version,
    })
    if (status !== 0) this.exit(status)
  }
}
