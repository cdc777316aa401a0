import {Cron} from 'croner'
import type {WorkflowDefinition} from '../../contracts/index.js'
import {ExpressionFailure} from './expression.js'

/** When the daemon starts a workflow. */
export interface Schedule {
  /** Identifies the schedule: the source in a canonical form. */
  readonly source: string
  /** Minute, hour, day, month and weekday. */
  readonly cron: string
  /** Name of the IANA database; undefined for that of the machine. */
  readonly timeZone: string | undefined
  /** What happens after times at which no daemon ran: nothing, or one run. */
  readonly missed: 'skip' | 'once'
  /** The first time after a time, Unix ms; undefined if there is none. */
  next(afterMs: number): number | undefined
}

/** @throws ExpressionFailure */
export function compileSchedule(source: NonNullable<WorkflowDefinition['cron']>): Schedule {
  const {schedule, time_zone: timezone, missed = 'skip'} = typeof source === 'string' ? {schedule: source} : source
  const fields = schedule.trim().split(/\s+/)
  if (fields.length !== 5) throw new ExpressionFailure(`cron has ${fields.length} fields instead of five: ${schedule}`)
  if (timezone !== undefined && !isTimeZone(timezone)) throw new ExpressionFailure(`there is no time zone ${timezone}`)
  const cron = fields.join(' ')
  const times = parsed(cron, timezone)
  const next = (afterMs: number) => times.nextRun(new Date(afterMs))?.getTime()
  if (next(Date.UTC(2000, 0)) === undefined) throw new ExpressionFailure(`cron has no time that occurs: ${schedule}`)
  return {source: JSON.stringify([cron, timezone ?? null, missed]), cron, timeZone: timezone, missed, next}
}

/** A time that a change to daylight saving time leaves out is moved to its end, and one that occurs twice counts once. */
function parsed(fields: string, timezone: string | undefined): Cron {
  try {
    return new Cron(fields, {mode: '5-part', paused: true, ...(timezone === undefined ? {} : {timezone})})
  } catch (error) {
    throw new ExpressionFailure((error as Error).message.replace(/^CronPattern: /, 'cron: '))
  }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', {timeZone: name}).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
