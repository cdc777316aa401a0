import type {Evidence, StoredAgent, StoredTask} from './evidence.js'
import type {JournalLine} from './journal.js'

type Oracle = (evidence: Evidence) => string[]

/** Conditions that must hold after any number of kills. Each returns a message per violation. */
export const oracles = {
  'accepted tasks are stored': ({accepted, tasks}) => {
    const there = new Set(tasks.map(({id}) => id))
    return accepted.filter(({id}) => !there.has(id)).map(({id, key}) => `task ${id} (${key}) is lost`)
  },

  'each key has one task': ({accepted, tasks}) => {
    const stored = tasks.map(({id, idempotency_key: key}) => ({id, key}))
    return [...grouped([...stored, ...accepted], ({key}) => key)].flatMap(([key, all]) => {
      const ids = [...new Set(all.map(({id}) => id))]
      return ids.length === 1 ? [] : [`${key} has the tasks ${ids.join(', ')}`]
    })
  },

  'every task is completed': ({tasks}) =>
    tasks.filter(({status}) => status !== 'Completed').map(({id, status}) => `task ${id} is ${status}`),

  'each task is completed once': ({tasks, events}) => {
    const completions = grouped(
      events.filter(({type}) => type === 'task_completed'),
      (event) => event.task_id,
    )
    return tasks.flatMap(({id}) => {
      const count = completions.get(id)?.length ?? 0
      return count === 1 ? [] : [`task ${id} was completed ${count} times`]
    })
  },

  'each attempt starts once': ({journal}) =>
    [...grouped(starts(journal), ({task, attempt}) => `${task}/${attempt}`)].flatMap(([attempt, lines]) =>
      lines.length === 1 ? [] : [`attempt ${attempt} started ${lines.length} times`],
    ),

  'no completed task starts again': ({journal, events, tasks}) => {
    const counted = new Map(tasks.map(({id, claim_generation: attempt}) => [id, attempt]))
    const over = new Set<number>()
    const worked = journal.flatMap(({what, task, attempt}) => {
      if (what === 'end' && counted.get(task) === attempt) over.add(task)
      return what === 'start' && over.has(task) ? [`attempt ${attempt} at task ${task} started after its end`] : []
    })
    const completed = new Set<number | null>()
    const started = events.flatMap(({type, task_id: task}) => {
      if (type === 'task_completed') completed.add(task)
      return type === 'task_started' && completed.has(task) ? [`task ${task} was started after its completion`] : []
    })
    return [...worked, ...started]
  },

  'attempts of a task do not overlap': ({journal}) => {
    const latest = new Map<number, number>()
    return journal.flatMap(({what, task, attempt}) => {
      if (what === 'start') latest.set(task, attempt)
      const current = latest.get(task)
      // An attempt that ends after the next one has started overlapped with it.
      return current === attempt ? [] : [`attempt ${attempt} at task ${task} still ran when ${current} had started`]
    })
  },

  'the recorded attempt is the last one': ({journal, events, tasks}) => {
    const lines = grouped(journal, ({task}) => task)
    const begun = grouped(
      events.filter(({type}) => type === 'task_started'),
      (event) => event.task_id,
    )
    return tasks.flatMap(({id, claim_generation: counted}) => {
      const last = lines.get(id)?.at(-1)
      const faults: string[] = []
      if (last?.what !== 'end' || last.attempt !== counted)
        faults.push(`task ${id} counts attempt ${counted}, and its journal ends with ${last?.what} ${last?.attempt}`)
      const generation = begun.get(id)?.at(-1)?.generation
      if (generation !== counted) faults.push(`task ${id} counts attempt ${counted}, and ${generation} began last`)
      return faults
    })
  },

  'dependencies end first': ({journal, tasks, dependencies}) => {
    const counted = new Map(tasks.map(({id, claim_generation: attempt}) => [id, attempt]))
    const endedAt = new Map(
      journal.flatMap(({what, task, attempt}, at) =>
        what === 'end' && counted.get(task) === attempt ? [[task, at] as const] : [],
      ),
    )
    const startedAt = new Map(
      journal.flatMap(({what, task}, at) => (what === 'start' ? [[task, at] as const] : [])).reverse(),
    )
    return dependencies
      .filter(({task_id, depends_on}) => (startedAt.get(task_id) ?? 0) < (endedAt.get(depends_on) ?? Infinity))
      .map(({task_id, depends_on}) => `task ${task_id} started before task ${depends_on} had ended`)
  },

  'agent counters are correct': ({agents, tasks}) =>
    agents
      .map((agent) => [agent, recounted(agent.id, tasks)] as const)
      .filter(([kept, found]) => JSON.stringify(kept) !== JSON.stringify(found))
      .map(([kept, found]) => `${JSON.stringify(kept)} should be ${JSON.stringify(found)}`),

  'events are printed once and in order': ({printed, followed, events}) => {
    const stored = new Set(events.map(({id}) => id))
    const lists = printed.map((ids, i) => [`daemon ${i + 1}`, ids] as const)
    const printedWrong = [...lists, ['the follower', followed] as const].flatMap(([who, ids]) => {
      const at = ids.findIndex((id, i) => id <= (ids[i - 1] ?? 0) || !stored.has(id))
      return at === -1 ? [] : [`${who} printed ${ids[at]} after ${ids[at - 1]}`]
    })
    const missed = events.length - followed.length
    return missed === 0 ? printedWrong : [...printedWrong, `the follower missed ${missed} events`]
  },

  'only kills cause further attempts': ({events, tasks, agents, kills, journal}) => {
    const begun = grouped(
      events.filter(({type}) => type === 'task_started'),
      (event) => event.task_id,
    )
    const again = events.filter(({type}) => type === 'task_requeued')
    const requeued = grouped(again, (event) => event.task_id)
    const known = new Set(events.map(({task_id, generation}) => `${task_id}/${generation}`))
    return [
      ...again
        .filter(({reason}) => reason !== 'daemon_restarted')
        .map(({task_id, reason}) => `task ${task_id} was queued again: ${reason}`),
      ...tasks
        .filter(({id}) => (begun.get(id)?.length ?? 0) !== (requeued.get(id)?.length ?? 0) + 1)
        .map(({id}) => `task ${id} has attempts without a reason`),
      ...starts(journal)
        .filter(({task, attempt}) => !known.has(`${task}/${attempt}`))
        .map(({task, attempt}) => `attempt ${attempt} at task ${task} is in no event`),
      ...(again.length > kills * agents.length ? [`${kills} kills do not explain ${again.length} attempts`] : []),
    ]
  },

  'one of two daemons gets the lease': ({contests, events, kills}) => {
    const terms = events.filter(({type}) => type === 'daemon_started').length
    return [
      ...contests
        .filter(
          ({winners, losers}) =>
            winners !== 1 || losers.some(({exitCode, code}) => exitCode !== 4 || code !== 'daemon_running'),
        )
        .map((contest) => `two daemons: ${JSON.stringify(contest)}`),
      ...(terms > kills + 1 ? [`${terms} terms, ${kills} kills`] : []),
    ]
  },

  'the database is intact after each kill': ({integrity, kills}) => [
    ...integrity.filter((answer) => answer !== 'ok'),
    ...(integrity.length < kills ? ['a check is missing'] : []),
  ],

  'no process is left running': ({leftover}) => leftover.map((pid) => `process ${pid} is still running`),
} satisfies Readonly<Record<string, Oracle>>

export type OracleName = keyof typeof oracles

/** All violations, each with the name of its oracle. */
export const faultsOf = (evidence: Evidence): string[] =>
  Object.entries(oracles).flatMap(([name, oracle]) => oracle(evidence).map((fault) => `${name}: ${fault}`))

const starts = (journal: readonly JournalLine[]) => journal.filter(({what}) => what === 'start')

function grouped<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

/** Load per point of complexity, in units of 1/25: background, normal, urgent. */
const weights = [2, 5, 15]

function recounted(id: number, tasks: readonly StoredTask[]): StoredAgent {
  const own = tasks.filter(({agent_id: agent}) => agent === id)
  const count = (status: string, priority?: number) =>
    own.filter((task) => task.status === status && (priority ?? task.priority) === task.priority).length
  const open = own.filter(({status}) => status === 'Queued' || status === 'InProgress')
  return {
    id,
    queued_background: count('Queued', 0),
    queued_normal: count('Queued', 1),
    queued_urgent: count('Queued', 2),
    running: count('InProgress'),
    doubted: count('Doubted'),
    completed: count('Completed'),
    load: open.reduce((sum, {complexity, priority}) => sum + complexity * (weights[priority] ?? 0), 0),
  }
}
