import {Flags} from '@oclif/core'
import {SvcCommand} from '../src/cli/index.js'

export default class Lsp extends SvcCommand<typeof Lsp> {
  static override summary = 'Help an editor with programs of the data language.'
  static override description =
    `A language server: an editor starts it and speaks the Language Server Protocol with it on standard input and output.
It shows what is wrong with a program while it is written, offers fixes and completions, says what a name means, goes
to its declaration, outlines and formats.

It ends when the editor says so, when standard input closes, and on SIGTERM.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    `vim.lsp.start({name = 'svc', cmd = {'svc', 'lsp'}})  -- in Neovim`,
  ]
  static override flags = {
    stdio: Flags.boolean({description: 'Use standard input and output, as it does anyway; editors ask for it.'}),
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
