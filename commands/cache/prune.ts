import {Flags} from '@oclif/core'
import {cacheEntryRow, durationFlag, formatCache, SvcCommand} from '../../src/cli/index.js'
import type {CachePruneV1} from '../../src/contracts/index.js'

const defaultAgeMs = 30 * 86_400_000

export default class CachePrune extends SvcCommand<typeof CachePrune> {
  static override summary = 'Delete cached files that were not used lately.'
  static override description =
    `Deletes weights of 8 or 4 bits and converted models that no command has loaded for 30 days, and the partial files of
commands that were interrupted. The next command that needs deleted files creates them again. Downloaded models and files
that svc has not created are kept.

A running command that has loaded its model is not affected. A command that is just loading it may fail; run it again.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --older-than 7d --dry-run',
    '<%= config.bin %> <%= command.id %> --all --json | jq .bytes',
  ]
  static override flags = {
    'older-than': durationFlag({
      description: 'Minimum time since the last use, such as 7d. (default: 30d)',
      exclusive: ['all'],
    }),
    all: Flags.boolean({description: 'Delete all cached files.'}),
    'dry-run': Flags.boolean({description: 'List the files without deleting them.'}),
  }

  async run(): Promise<void> {
    const {derivedFolder, pruneCache} = await import('../../src/weights/index.js')
    const {all, 'older-than': age = defaultAgeMs, 'dry-run': dryRun = false} = this.flags
    const folder = derivedFolder(process.env)
    const olderThanMs = all ? Number.NEGATIVE_INFINITY : age
    const removed = (await pruneCache(folder, {olderThanMs, dryRun})).map(cacheEntryRow)
    const bytes = removed.reduce((sum, entry) => sum + entry.bytes, 0)
    const result: CachePruneV1 = {folder, dry_run: dryRun, bytes, removed}
    await this.output.result(result, () =>
      formatCache(removed, dryRun ? 'would be deleted' : 'deleted', process.stdout.columns),
    )
  }
}
