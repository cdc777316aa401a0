import {setTimeout as sleep} from 'node:timers/promises'
import {Args, Flags} from '@oclif/core'
import {DbCommand, databaseFlag, programArg, programFlag} from '../../src/cli/index.js'
import {nearest, SvcError} from '../../src/errors/index.js'

/** Interval at which the database is polled, ms. */
const pollMs = 100
const pageSize = 1000

export default class DbWatch extends DbCommand<typeof DbWatch> {
  static override summary = 'Watch a topic for changes.'
  static override description =
    `Prints one line per change, made by any process, until interrupted. By default, prints only new changes. With --json
each line is a JSON object.

The first line has the kind reset if the database was restored or reset after the change of --after, or if later changes
were pruned. What was read before must then be read again.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> todos',
    '<%= config.bin %> <%= command.id %> todos --after 0 --json | head -5',
  ]
  static override args = {
    topic: Args.string({description: 'Topic name, as in .live(topic).', required: true}),
    file: programArg,
  }
  static override flags = {
    ...databaseFlag,
    ...programFlag,
    after: Flags.integer({
      description: 'Also print past changes after this id; 0 prints all of them.',
      min: 0,
      helpValue: 'ID',
    }),
  }

  async run(): Promise<void> {
    const {changesAfter, connect, dataVersion, lastChange, resumePoint, topicsOf} = await import(
      '../../src/lang/index.js'
    )
    const {program} = await this.readProgram()
    const {topic} = this.args
    const topics = [...new Set([...topicsOf(program).values()].flat())]
    if (!topics.includes(topic)) throw new SvcError('topic_unknown', {topic, suggestion: nearest(topic, topics)})
    const connection = await connect(program, await this.prepareDatabase(program), true)
    try {
      let after = lastChange(connection)
      if (this.flags.after !== undefined) {
        const point = resumePoint(connection, {id: this.flags.after, mark: undefined})
        after = point.after
        if (point.isReset) await this.output.line({id: after, topic, change_kind: 'reset'}, `${after}\treset`)
      }
      let lastVersion = -1
      for (;;) {
        const version = dataVersion(connection)
        if (version !== lastVersion) {
          const changes = changesAfter(connection, topic, after, pageSize)
          for (const change of changes)
            await this.output.line(
              change,
              `${change.id}\t${change.change_kind}\t${change.entity_kind}\t${change.entity_id}`,
            )
          after = changes.at(-1)?.id ?? after
          if (changes.length < pageSize) lastVersion = version
          else continue
        }
        await sleep(pollMs, undefined, {signal: this.signal})
      }
    } finally {
      connection.close()
    }
  }
}
