import {Flags} from '@oclif/core'
import {cacheEntryRow, durationFlag, formatCache, SvcCommand} from '../../src/cli/index.js'
import type {CachePruneV1} from '../../src/contracts/index.js'

const defaultAgeMs = 30 * 86_400_000

export default class CachePrune extends SvcCommand<typeof CachePrune> {
  static override summary = 'Delete cache files that are no longer used.'
  static override description =
    `Deletes weights of 8 or 4 bits and converted models that no command has loaded for 30 days, and the partial files of
commands that were interrupted. The next command that needs deleted files creates them again. Downloaded models and files
that svc has not created are kept.

Files that another process uses are kept, and the process is named. Processes of other users, machines or containers that
share the cache are not seen: a command that loads a model there may fail; run it again.`
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
    const {namesOf} = await import('../../src/process/index.js')
    const {all, 'older-than': age = defaultAgeMs, 'dry-run': dryRun = false} = this.flags
    const folder = derivedFolder(process.env)
    const olderThanMs = all ? Number.NEGATIVE_INFINITY : age
    const pruned = await pruneCache(folder, {olderThanMs, dryRun})
    const removed = pruned.removed.map(cacheEntryRow)
    const used = pruned.used.map(({id, model, users}) => ({id, model: model || null, users}))
    const bytes = removed.reduce((sum, entry) => sum + entry.bytes, 0)
    const result: CachePruneV1 = {folder, dry_run: dryRun, bytes, removed, used}
    for (const {model, id, users} of used)
      this.output.notice(`notice: The cached files of ${model ?? id} are in use by ${namesOf(users)} and were kept.`)
    await this.output.result(result, () => formatCache(removed, dryRun ? 'would be deleted' : 'deleted', this.view))
  }
}
