import {SvcError} from '../../errors/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {readWorkflows} from '../definition/read.js'
import {lastScheduledRun, type RunSummary} from '../report.js'
import {nextStart, scheduledFiles} from './scheduled.js'

/** When the daemon starts a workflow. Times are Unix ms. */
export interface ScheduleSummary {
  workflow: string
  /** Absolute path. */
  file: string
  /** Minute, hour, day, month and weekday. */
  cron: string
  /** Name of the IANA database. */
  time_zone: string
  /** What happens after times at which no daemon ran. */
  missed: 'skip' | 'once'
  /** In the past if the start is late; absent if there is none. */
  next_at_ms?: number
  /** The newest run that the schedule has started. */
  last_run?: Pick<RunSummary, 'run_id' | 'status' | 'started_at_ms'>
}

export interface ScheduleList {
  schedules: ScheduleSummary[]
  /** Files that cannot be read now. The daemon uses their last valid content. */
  faults: {file: string; error: string}[]
}

/** The schedules of the configured files, the next start first. */
export async function listSchedules(context: WorkspaceContext): Promise<ScheduleList> {
  const faults: ScheduleList['faults'] = []
  const read = async (file: string): Promise<ScheduleSummary[]> => {
    try {
      return (await readWorkflows(file)).flatMap((workflow) => {
        const {name, schedule} = workflow
        if (schedule === undefined) return []
        const {cron, timeZone = localTimeZone(), missed} = schedule
        const next = nextStart(context, workflow, file)
        const last = lastScheduledRun(context, name, file)
        return {
          workflow: name,
          file,
          cron,
          time_zone: timeZone,
          missed,
          ...(next === undefined ? {} : {next_at_ms: next}),
          ...(last === undefined ? {} : {last_run: onlyState(last)}),
        }
      })
    } catch (error) {
      faults.push({file, error: SvcError.from(error).message})
      return []
    }
  }
  const schedules = (await Promise.all(scheduledFiles(context).map(read))).flat()
  const at = ({next_at_ms: next = Number.POSITIVE_INFINITY}: ScheduleSummary) => next
  return {schedules: schedules.sort((a, b) => (at(a) < at(b) ? -1 : Number(at(a) > at(b)))), faults}
}

const localTimeZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone

const onlyState = ({run_id, status, started_at_ms}: RunSummary) => ({run_id, status, started_at_ms})
